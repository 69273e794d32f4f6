//! Loss detection: which segments count as lost, and when that begins fast recovery.

mod forward;
mod rack;
mod reordering_window;
mod rfc6675;
mod tail_probe;
mod undo;

use std::fmt;

pub use rack::Rack;
pub use rfc6675::Rfc6675;

use super::config::Config;
use super::scoreboard::{Scoreboard, Segment};
use super::tcb::{CongState, Tcb};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::packet::SackBlock;

/// What the peer says of data beyond a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// SACK blocks.
    Sack,
    /// Nothing but that something has arrived: duplicate ACKs.
    DuplicateAcks,
}

/// A duplicate ACK in Disorder, as the socket sees it.
#[derive(Clone, Copy, Debug)]
pub struct Disorder {
    /// Duplicate ACKs in a row.
    pub duplicates: u32,
    /// The highest acknowledgement number received.
    pub highest_ack: Seq,
    /// The recovery point of the last episode is acknowledged, or there was none.
    pub is_past_recovery: bool,
    /// With FACK, bytes from SND.UNA to the highest SACK; else 0.
    pub forward: u32,
}

/// What loss detection sees of its connection during a call.
#[derive(Debug)]
pub struct Flight<'a> {
    /// With the time of the call, and the RTT.
    pub tcb: &'a Tcb,
    pub scoreboard: &'a mut Scoreboard,
    pub feedback: Feedback,
    /// The retransmission timeout.
    pub rto: Time,
    /// The ACK in hand restarts the timer.
    pub restarts_rto: bool,
    /// Where the episode ends, in one.
    pub recover: Seq,
}

impl Flight<'_> {
    /// The point at which the episode ends is acknowledged.
    fn has_recovered(&self) -> bool {
        self.scoreboard.head() >= self.recover
    }

    /// In an episode that goes on.
    fn is_within_episode(&self) -> bool {
        is_in_episode(self.tcb) && !self.has_recovered()
    }
}

/// What becomes of the marks of what is lost, if an episode is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossMarks {
    Stand,
    Go,
}

/// What loss detection asks of the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    Nothing,
    /// Segments have been marked lost: an episode begins, unless there is one.
    Lost,
    /// The same where an episode is at its end, or where retransmissions are lost: another one begins then, after a timeout, too.
    LostAgain,
    /// A segment is to be sent that makes the peer say what has come (RFC 8985 section 7.3): one of new data, or the
    /// last one again.
    Probe,
    /// What was marked lost had only been late: the last reduction of the window is undone.
    Spurious(LossMarks),
    /// What is marked lost may only be late: new data leaves with this ACK, and nothing again.
    Doubtful,
    /// The next to leave is new data, in place of what is marked lost (RFC 5682 section 3.1, step 2b).
    Forward,
    /// A probe has repaired a loss that nothing else showed (RFC 8985 section 7.4.2): the window is reduced, and no
    /// episode begins.
    Repaired,
}

/// A timeout, as the socket sees it.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// It reduces the window: what went before is what may be restored.
    pub reduces: bool,
    /// Another one came before, and nothing has been acknowledged since.
    pub is_repeated: bool,
}

fn is_in_episode(tcb: &Tcb) -> bool {
    matches!(tcb.cong_state, CongState::Recovery | CongState::Loss)
}

/// In the steps of Linux's clock.
fn in_us(time: Time) -> Time {
    Time(time.0 / 1000 * 1000)
}

/// Has state of its own; reads and sets the marks of the scoreboard.  What a detection does not implement, it does
/// without.
pub trait LossDetection: fmt::Debug + Send {
    /// Whether it ever has a [`LossDetection::deadline`].
    const HAS_TIMER: bool = false;
    /// Whether a timeout leaves segments in flight that may still come (RFC 8985 section 6.3); otherwise all are lost.
    const LEAVES_IN_FLIGHT: bool = false;

    /// Whether its deadlines stand in for the retransmission timer, which then runs from when the first segment left.
    const REPLACES_RTO: bool = false;

    /// Whether it ever finds [`Finding::Forward`].
    const FORWARDS: bool = false;

    /// Whether it heeds what the peer has received twice (DSACK, RFC 2883).
    const HEEDS_DUPLICATES: bool = false;

    fn new(config: &Config) -> Self;

    /// A segment of `len` bytes has left.
    #[inline(always)]
    fn on_sent(&mut self, _flight: Flight<'_>, _seq: Seq, _len: u32) {}

    /// A segment is acknowledged or SACKed for the first time; it still has its marks and the time when it was sent.
    #[inline(always)]
    fn on_delivered(&mut self, _now: Time, _segment: &Segment) {}

    /// An ACK is about to be taken, whose headers have been read.
    #[inline(always)]
    fn on_ack_begins(&mut self, _tcb: &Tcb) {}

    /// It says that this has come twice.  Returns how many segments that were sent again have been delivered so.
    fn on_duplicate_delivery(
        &mut self,
        _segment_size: u32,
        _block: SackBlock,
        _scoreboard: &Scoreboard,
    ) -> u32 {
        0
    }

    /// An ACK has been taken into the scoreboard.
    #[inline(always)]
    fn on_ack(&mut self, _flight: Flight<'_>) -> Finding {
        Finding::Nothing
    }

    /// When it wants to be called again; asked after each of its calls.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// When the retransmission timer ends that is set now, where deadlines stand in for it: both are one timer.
    #[inline(always)]
    fn timeout_end(&mut self, _now: Time, _rto: Time) -> Option<Time> {
        None
    }

    /// All timers are set that run until something happens again.
    fn on_timers_settled(&mut self) {}

    /// One of them has ended.
    #[inline(always)]
    fn on_timer_end(&mut self, _now: Time) {}

    /// The deadline has come.
    fn on_timer(&mut self, _flight: Flight<'_>) -> Finding {
        Finding::Nothing
    }

    /// SACK blocks have marked segments that were not marked before.
    fn on_sacked(&mut self, flight: Flight<'_>);

    /// A duplicate ACK that does not begin an episode, in Recovery or, with limited transmit, before.
    fn on_duplicate(&mut self, flight: Flight<'_>);

    /// Whether a duplicate ACK in Disorder begins fast recovery.
    fn begins_recovery(&mut self, flight: Flight<'_>, disorder: Disorder) -> bool;

    /// Fast recovery begins: what is sent first must be marked lost.
    fn on_recovery(&mut self, flight: Flight<'_>);

    /// An ACK in Recovery acknowledges new data below the recovery point.
    fn on_partial_ack(&mut self, flight: Flight<'_>);

    /// The retransmission timer has fired.
    fn on_timeout(&mut self, flight: Flight<'_>, timeout: Timeout);

    /// An episode has been undone.
    fn on_undone(&mut self, _flight: Flight<'_>) -> Finding {
        Finding::Nothing
    }

    /// Whether the window grows with what is SACKed, too: the path reorders so much that this is no sign of a loss.
    fn takes_sacks_for_order(&self) -> bool {
        false
    }

    /// All has left that [`Finding::Probe`] asked for.
    fn on_probe_sent(&mut self) {}

    /// Nothing new could leave after [`Finding::Forward`].
    fn on_forward_failed(&mut self) {}
}
