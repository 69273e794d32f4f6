//! When a receiver acknowledges data that came in order.

mod compression;
mod delayed;
mod offered;
mod quick;
mod receiver_rtt;
mod timeout;

use std::fmt;

pub use delayed::Delayed;
pub use quick::Quick;

use super::config::Config;
use super::tcb::Tcb;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::packet::SackBlock;

/// What becomes of the ACK of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It leaves (RFC 5681 section 4.2).
    Now,
    /// It waits for so long, and stands for those that come meanwhile.
    After(Time),
    /// One that waits stands for it.
    WithLast,
}

/// A segment that leaves a hole or fills one in part.
#[derive(Clone, Copy, Debug)]
pub struct GapSegment {
    /// RCV.NXT with it, and what of that has not been acknowledged.
    pub next: Seq,
    pub unacked: u32,
    /// The memory of what waits beyond the hole, with it.
    pub held: u32,
}

/// A segment of which something is new.
#[derive(Clone, Copy, Debug)]
pub struct NewSegment {
    pub bytes: u32,
    /// Where it ends.
    pub end: Seq,
    /// Its memory, if it is in order, and that of what is so with it where it fills a hole.
    pub unread: u32,
    pub joined: u32,
    /// That of what waited beyond a hole before.
    pub held: u32,
    /// The retransmission timeout of the end that it has come to.
    pub rto: Time,
    /// It has PSH.
    pub is_pushed: bool,
}

/// All else is acknowledged at once (RFC 5681 section 4.2).
pub trait AckPolicy: fmt::Debug + Send {
    /// Whether it reports what comes twice (DSACK, RFC 2883).
    const REPORTS_DUPLICATES: bool = false;

    /// Whether ACKs of what comes beyond a hole ever wait.
    const COMPRESSES: bool = false;

    /// Whether what waits beyond a hole is counted in the memory that it takes.
    const COUNTS_MEMORY: bool = false;

    /// Whether what comes with a FIN waits for that of the application.
    const AWAITS_ANSWER: bool = false;

    fn new(config: &Config) -> Self;

    /// The connection is established.
    fn on_established(&mut self, now: Time);

    /// A segment of new data has come, whatever is to become of its ACK.
    #[inline(always)]
    fn on_new(&mut self, _tcb: &Tcb, _segment: NewSegment) {}

    /// It came in order, and leaves no hole.
    fn on_data(&mut self, tcb: &Tcb) -> Answer;

    /// An ACK has waited for as long as it might.
    fn on_timer(&mut self, _rto: Time) {}

    /// The window that a segment offers which acknowledges what is before `next`, while so much memory is held beyond it, in
    /// units of 2^`shift` bytes; `None`: all that there is room for.
    #[inline(always)]
    fn offer(&mut self, _next: Seq, _held: u32, _shift: u8) -> Option<u32> {
        None
    }

    /// The ACK of what came before leaves while a segment of so many bytes is received, which takes so much memory.
    fn on_arrival(&mut self, _bytes: u32, _memory: u32) {}

    /// The ACK of the segment that comes is not to wait, not beyond a hole either: it has CWR, or another mark than the last.
    fn on_due(&mut self) {}

    /// The peer has closed, and the application is to hear of it; `is_filled`: the last hole is.  Returns whether an ACK is due
    /// before.
    fn on_fin(&mut self, _is_filled: bool) -> bool {
        false
    }

    /// A FIN without data has come beyond a hole, and follows what is held there.
    fn on_held_fin(&mut self, _held: u32) {}

    /// The connection is in TIME_WAIT: what it still answers offers what was offered last.
    fn on_time_wait(&mut self) {}

    /// The segment that comes has a mark that the peer does not know of yet, or has been sent again.
    fn on_mark(&mut self) {}

    /// A hole is left, perhaps by what fills it in part.
    fn on_gap(&mut self, _tcb: &Tcb, _segment: GapSegment) -> Answer {
        Answer::Now
    }

    /// The application has read.  Returns whether the peer is to hear at once how much more may come from `next` on.
    #[inline(always)]
    fn has_opened(&mut self, _next: Seq, _held: u32) -> bool {
        false
    }

    /// An ACK of those waits.
    fn is_compressing(&self) -> bool {
        false
    }

    /// An ACK leaves, by itself or with data.
    fn on_ack_sent(&mut self);

    /// This block has come before; `next`: RCV.NXT.
    fn on_duplicate(&mut self, _block: SackBlock, _next: Seq) {}

    /// What the next ACK is to report so, once.
    fn take_duplicate(&mut self) -> Option<SackBlock> {
        None
    }
}
