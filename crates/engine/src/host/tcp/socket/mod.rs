//! One end of a connection.

mod acceptance;
mod ack;
mod close;
mod congestion;
mod ecn;
mod episode;
mod handshake;
mod input;
mod output;
mod parts;
mod round_trips;
mod segments;
mod statistics;
mod steady;
mod timers;
mod writing;

use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use super::config::Config;
use super::control::{Callback, CongestionControl, Control};
use super::loss::{Flight, LossDetection};
use super::profile::{Ns3, Profile, SynAttempts};
use super::rate::RateEstimator;
use super::recovery::Recovery;
use super::rtt::RttEstimation;
use super::tcb::{CongState, EcnState, Tcb};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::packet::{Beside, Flags, Packet};
use congestion::Congestion;
use parts::{Agreed, EcnMarks, Receiving, Sending};
use round_trips::RoundTrips;
pub use statistics::Statistics;

/// What a socket may set; each at most once at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Timer {
    DelayedAck,
    /// Retransmission of data, SYN or FIN.
    Retransmit,
    /// Data was written: send it in the next nanosecond.
    SendPending,
    /// The pacing gap is over.
    Pacing,
    /// The connection opens: answer the SYN that has just been accepted, or tell the application that it is
    /// established.  Set without a delay, and never taken back.
    Opening,
    // From here on those that few connections set, or that are set at the end.
    /// Zero window probe.
    Persist,
    /// Repetition of the FIN in LAST_ACK.
    LastAck,
    TimeWait,
    /// Data that came out of order has been held back long enough.
    Resequencing,
    /// Loss detection wants to be called.
    Loss,
}

impl Timer {
    pub const COUNT: usize = 10;
    /// So many of them are those that most connections set.
    pub const USUAL: usize = Timer::Opening as usize;
    pub const ALL: [Timer; Timer::COUNT] = [
        Timer::DelayedAck,
        Timer::Retransmit,
        Timer::SendPending,
        Timer::Pacing,
        Timer::Opening,
        Timer::Persist,
        Timer::LastAck,
        Timer::TimeWait,
        Timer::Resequencing,
        Timer::Loss,
    ];
}

/// What an application does when it may write: several writes of `size` bytes (the last may be
/// shorter), and perhaps a close.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Write {
    pub bytes: u32,
    pub size: u32,
    pub close: bool,
}

/// The world around a socket.
pub trait Environment {
    /// Hands a segment to the network.  Flow, direction and destination are not the socket's business.
    fn transmit(&mut self, segment: Packet);

    /// The same for a segment with SACK blocks or the option of accurate ECN.
    fn transmit_with_options(&mut self, segment: Packet, beside: &Beside);

    /// Those of the segment that has arrived, if it has some.
    fn options(&self) -> &Beside;

    /// Sets a timer that is not pending.
    fn arm(&mut self, timer: Timer, at: Time);

    /// The timer will not fire.
    fn disarm(&mut self, timer: Timer);

    /// The connection is established.
    fn connected(&mut self);

    /// The application may write up to `free` bytes; says what it does.
    fn writable(&mut self, free: u32) -> Write;

    /// The same where a write may be taken in parts, as by a socket that does not block.
    fn fill(&mut self, free: u32) -> Write {
        self.writable(free)
    }

    /// `bytes` in order for the application, which reads them at once.
    fn readable(&mut self, bytes: u32);

    /// No shortcuts: what the tests compare the steady state's with.
    fn is_plain(&self) -> bool {
        false
    }
}

/// RFC 9293 section 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Closed,
    Listen,
    SynSent,
    SynRcvd,
    Established,
    CloseWait,
    LastAck,
    FinWait1,
    FinWait2,
    Closing,
    TimeWait,
}

/// What the retransmission timer does when it fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RetransmitAction {
    Data,
    /// Repeats a SYN or FIN with these flags.
    Control(Flags),
}

/// One end of a TCP connection.  What segments ask for lies together.
#[derive(Debug)]
#[repr(C)]
pub struct Socket<P: Profile = Ns3> {
    congestion: Congestion,
    receiving: Receiving<P::Acks>,
    config: Arc<Config>,
    pending_timers: u16,
    state: State,
    /// False once the end point is gone: nothing is sent or received any more.
    open: bool,
    /// The shortcuts of `steady.rs` are right here: nothing is held back, FACK does not count what is in flight, ECN is
    /// not accurate, and the end point is there.
    has_shortcuts: bool,
    /// The last look for something to send found nothing, and nothing has been written since.
    found_nothing: bool,
    retransmit_action: RetransmitAction,
    agreed: Agreed,
    pub tcb: Tcb,
    sending: Sending<P>,
    round_trips: RoundTrips<P::Rtt>,
    pub statistics: Statistics,
    ecn: EcnMarks,
}

impl<P: Profile> Socket<P> {
    /// The bytes of it that a data segment asks for, at an end that only receives.
    pub const OF_RECEIVERS: [Range<usize>; 2] = {
        // Where the algorithm is lies last in `congestion`.
        let begin = offset_of!(Socket<P>, receiving) - size_of::<Box<dyn CongestionControl>>();
        let sending = offset_of!(Socket<P>, sending);
        let round_trips = offset_of!(Socket<P>, round_trips);
        let behind = round_trips..round_trips + RoundTrips::<P::Rtt>::OF_RECEIVERS;
        [begin..sending + Sending::<P>::OF_RECEIVERS, behind]
    };

    /// The same of an ACK, at an end that sends.
    pub const OF_SENDERS: [Range<usize>; 2] = {
        let (begin, sending) = (offset_of!(Congestion, control), offset_of!(Socket<P>, sending));
        let (behind, statistics) =
            (offset_of!(Socket<P>, round_trips), offset_of!(Socket<P>, statistics));
        [begin..sending + Sending::<P>::HOT, behind..statistics + Statistics::HOT]
    };

    /// A closed socket.
    pub fn new(config: Arc<Config>, control: Control, recovery: Box<dyn Recovery>) -> Self {
        let tcb = Tcb {
            initial_cwnd: config.initial_cwnd,
            initial_ssthresh: config.initial_ssthresh,
            segment_size: config.segment_size,
            use_ecn: config.use_ecn,
            ecn_mode: config.ecn_mode,
            uses_abe: config.abe,
            pacing: config.pacing,
            pacing_rate: config.max_pacing_rate,
            max_pacing_rate: config.max_pacing_rate,
            pacing_ss_ratio: config.pacing_ss_ratio,
            pacing_ca_ratio: config.pacing_ca_ratio,
            pace_initial_window: config.pace_initial_window,
            ..Tcb::default()
        };
        let congestion = Congestion::new(control, recovery, config.changes);
        Socket {
            statistics: Statistics::default(),
            state: State::Closed,
            open: true,
            has_shortcuts: !config.fack && config.resequencing_timeout == Time::ZERO,
            pending_timers: 0,
            found_nothing: false,
            retransmit_action: RetransmitAction::Data,
            sending: Sending::new(&config, congestion.rate_estimator(P::STACK)),
            round_trips: RoundTrips::new(&config, P::INITIAL_RTT),
            receiving: Receiving::new(&config, P::largest_window(&config)),
            agreed: Agreed::new(&config),
            ecn: EcnMarks::default(),
            congestion,
            config,
            tcb,
        }
    }

    /// The oldest of what it has sent will be needed soon.
    pub fn fetch_sent(&self) {
        self.sending.scoreboard.fetch();
    }

    /// Waits for a SYN, as the receiving application's socket; it never sends data, so that it
    /// answers the peer's FIN with its own.
    pub fn listen(&mut self) {
        self.state = State::Listen;
        self.receiving.is_sink = true;
        self.receiving.is_listening = true;
        self.sending.close_on_empty = true;
        // It sends nothing of which a rate could be sampled.  What users have written may see each call.
        if self.congestion.control.is_ours() {
            self.sending.rate = RateEstimator::default();
            self.sending.scoreboard.forget_rates();
        }
    }

    /// Payload of all data segments that arrived, duplicates included, in bytes.
    pub fn received_bytes(&self) -> u64 {
        self.receiving.received_bytes
    }

    /// Opens the connection: sends the SYN.
    pub fn connect<E: Environment>(&mut self, now: Time, env: &mut E) {
        self.tcb.now = now;
        self.congestion.init(&mut self.tcb);
        self.round_trips.reset();
        self.sending.syns = SynAttempts::default();
        self.sending.retries_left = self.config.data_retries;
        self.send_syn(env);
        self.state = State::SynSent;
        self.tcb.ecn_state = EcnState::Disabled; // until the peer has agreed
    }

    /// Nothing will happen here unless a packet comes, and then nothing that anybody sees: no timer is
    /// pending but the one that ends TIME_WAIT.
    pub fn is_over(&self) -> bool {
        let is_silent =
            !self.open || matches!(self.state, State::Closed | State::Listen | State::TimeWait);
        is_silent && self.pending_timers & !(1 << Timer::TimeWait as u16) == 0
    }

    /// The retransmission timeout, doubled by those that have happened since the last sample.
    pub fn rto(&self) -> Time {
        self.round_trips.rto
    }

    /// Closed once the end point is gone.
    #[cfg(test)]
    pub fn state_name(&self) -> String {
        format!("{:?}", if self.open { self.state } else { State::Closed })
    }

    /// Another look for something to send would find nothing and change nothing, until somebody calls.
    pub fn found_nothing_to_send(&self) -> bool {
        self.found_nothing
    }

    /// `timer` has run, and there was nothing to do.
    pub fn forget(&mut self, timer: Timer) {
        self.pending_timers &= !(1 << timer as u16);
    }

    fn is_pending(&self, timer: Timer) -> bool {
        self.pending_timers & (1 << timer as u16) != 0
    }

    #[inline(always)] // with a timer that the compiler knows it is a few stores
    fn arm<E: Environment>(&mut self, timer: Timer, delay: Time, env: &mut E) {
        self.pending_timers |= 1 << timer as u16;
        env.arm(timer, self.tcb.now + delay);
    }

    /// The same for a timer that ends on a tick, if the profile has ticks.
    #[inline(always)]
    fn arm_ticking<E: Environment>(&mut self, timer: Timer, delay: Time, env: &mut E) {
        self.pending_timers |= 1 << timer as u16;
        let now = self.tcb.now;
        let shared = match timer {
            Timer::DelayedAck => None,
            _ => self.sending.loss.timeout_end(now, delay),
        };
        env.arm(timer, shared.unwrap_or_else(|| P::timer_end(now, delay)));
    }

    #[inline(always)]
    fn disarm<E: Environment>(&mut self, timer: Timer, env: &mut E) {
        if self.is_pending(timer) {
            self.pending_timers &= !(1 << timer as u16);
            env.disarm(timer);
        }
    }

    /// Replaces the congestion state and keeps account of recovery episodes.
    fn set_cong_state(&mut self, state: CongState) {
        self.statistics.count_state(&self.tcb, state);
        self.tcb.cong_state = state;
    }

    /// Asks loss detection, and passes on what it has found lost.
    #[inline(always)]
    fn detect<R>(&mut self, call: impl FnOnce(&mut P::Loss, Flight<'_>) -> R) -> R {
        let answer = self.ask(call);
        if self.congestion.hears(Callback::OnLoss) {
            self.tell_losses();
        }
        answer
    }

    #[inline(always)]
    fn ask<R>(&mut self, call: impl FnOnce(&mut P::Loss, Flight<'_>) -> R) -> R {
        let Sending { loss, scoreboard, restarts_rto, recover, .. } = &mut self.sending;
        let (feedback, rto) = (self.agreed.feedback(), self.round_trips.rto);
        let (restarts_rto, recover) = (*restarts_rto, *recover);
        call(loss, Flight { tcb: &self.tcb, scoreboard, feedback, rto, restarts_rto, recover })
    }

    #[cold]
    fn tell_losses(&mut self) {
        let lost = self.sending.scoreboard.found_lost();
        let bytes = (lost - std::mem::replace(&mut self.sending.told_lost, lost)) as u32;
        if bytes > 0 {
            self.bytes_in_flight();
            self.congestion.algorithm().on_loss(&mut self.tcb, bytes);
        }
    }

    /// A segment has left: loss detection and the algorithm are told.
    #[inline(always)]
    fn note_departure(&mut self, seq: Seq, len: u32, is_retransmission: bool) {
        self.ask(|loss, flight| loss.on_sent(flight, seq, len));
        if self.congestion.hears(Callback::OnSent) {
            self.congestion.algorithm().on_sent(&mut self.tcb, len, is_retransmission);
        }
    }

    /// So many segments are acknowledged.  Where samples are of deliveries, the algorithm is told with each of them.
    #[inline(always)]
    fn tell_acked(&mut self, segments: u32) {
        if P::Rtt::OF_DELIVERIES {
            return;
        }
        let rtt = P::told_rtt(&self.tcb);
        self.congestion.pkts_acked(&mut self.tcb, segments, rtt);
    }

    /// Evaluates the pipe and publishes it.
    #[inline]
    fn bytes_in_flight(&mut self) -> u32 {
        self.tcb.bytes_in_flight = self.sending.scoreboard.bytes_in_flight();
        self.tcb.bytes_in_flight
    }

    fn unacked_bytes(&self) -> u32 {
        (self.tcb.high_tx_mark - self.sending.scoreboard.head()) as u32
    }

    fn sync_rx(&mut self) {
        self.tcb.next_rx_seq = self.receiving.reassembly.next_rx();
    }
}
