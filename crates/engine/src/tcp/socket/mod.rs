//! One end of a connection.

mod ack;
mod close;
mod congestion;
mod input;
mod output;
mod timers;

use std::collections::VecDeque;

use super::config::Config;
use super::control::Control;
use super::rate::RateEstimator;
use super::reassembly::Reassembly;
use super::recovery::Recovery;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::tcb::{CongState, EcnState, Tcb};
use crate::packet::{Flags, Packet};
use crate::seq::Seq;
use crate::time::Time;
use congestion::Congestion;

/// What a socket may set; each at most once at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Timer {
    /// Retransmission of data, SYN or FIN.
    Retransmit,
    DelayedAck,
    /// Zero window probe.
    Persist,
    /// Repetition of the FIN in LAST_ACK.
    LastAck,
    TimeWait,
    /// Data was written: send it in the next nanosecond.
    SendPending,
    /// The pacing gap is over.
    Pacing,
    /// Answer the SYN that has just been accepted.
    CompleteFork,
    /// Tell the application that the connection is established.
    Connected,
}

impl Timer {
    pub const COUNT: usize = 9;
    pub const ALL: [Timer; Timer::COUNT] = [
        Timer::Retransmit,
        Timer::DelayedAck,
        Timer::Persist,
        Timer::LastAck,
        Timer::TimeWait,
        Timer::SendPending,
        Timer::Pacing,
        Timer::CompleteFork,
        Timer::Connected,
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
    /// Hands a segment to the network.  Flow, direction and hop are not the socket's business.
    fn transmit(&mut self, segment: Packet);

    /// Sets a timer that is not pending.
    fn arm(&mut self, timer: Timer, at: Time);

    /// The timer will not fire.
    fn disarm(&mut self, timer: Timer);

    /// The connection is established.
    fn connected(&mut self);

    /// The application may write up to `free` bytes; says what it does.
    fn writable(&mut self, free: u32) -> Write;

    /// `bytes` in order for the application, which reads them at once.
    fn readable(&mut self, bytes: u32);
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

/// A segment that has not yet given an RTT sample.
#[derive(Clone, Copy, Debug)]
struct RttHistory {
    seq: Seq,
    len: u32,
    time: Time,
    retransmitted: bool,
}

/// Counters for the recording.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    pub segments_sent: u64,
    /// Payload of all data segments sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload of all data segments that arrived, duplicates included.
    pub received_bytes: u64,
    /// Data segments that begin below the highest sequence number sent before.
    pub retransmissions: u64,
    /// Entries into the Loss state.
    pub rtos: u64,
    /// Advance of the highest cumulative acknowledgement received.
    pub acked_bytes: u64,
    pub written_bytes: u64,
    /// Finished recovery episodes, and their length in all.
    pub recovery_episodes: u64,
    pub recovery_time: Time,
    recovery_start: Option<Time>,
    last_departure: Option<Time>,
    /// EWMA of the gaps between data segments sent, weight 0.05 for the new gap, in ns.
    pub departure_gap: Option<f64>,
    /// When the last byte of a closed transfer was acknowledged.
    pub completed: Option<Time>,
}

/// One end of a TCP connection.
#[derive(Debug)]
pub struct Socket {
    pub tcb: Tcb,
    pub statistics: Statistics,
    config: Config,
    congestion: Congestion,
    state: State,
    /// False once the end point is gone: nothing is sent or received any more.
    open: bool,
    pending_timers: u16,
    retransmit_action: RetransmitAction,

    // Sending half.
    scoreboard: Scoreboard,
    rate: RateEstimator,
    rtt: RttEstimator,
    history: VecDeque<RttHistory>,
    /// No entry of it is longer.
    history_longest: u32,
    pub(crate) rto: Time,
    syn_left: u32,
    data_retries_left: u32,
    dup_acks: u32,
    /// The recovery point: the episode ends when it is acknowledged.
    recover: Seq,
    recover_active: bool,
    first_partial_ack: bool,
    /// Bytes acknowledged that do not make a segment yet.
    acked_remainder: u32,
    peer_window: u32,
    highest_ack_received: Seq,
    highest_seq_received: Seq,
    close_on_empty: bool,
    application_closed: bool,
    connected: bool,

    // Receiving half.
    reassembly: Reassembly,
    delayed_acks: u32,
    highest_ack_sent: Seq,
    advertised: u32,
    persist_timeout: Time,
    is_sink: bool,
    /// The port accepts connections, besides the one that there is.
    is_listening: bool,

    // Negotiated options.
    sack: bool,
    timestamps: bool,
    window_scaling: bool,
    send_shift: u8,
    receive_shift: u8,
    timestamp_to_echo: u32,

    // ECN: the last sequence numbers of an echo received, a CE mark received, a CWR sent.
    ecn_echo_seq: Seq,
    ecn_ce_seq: Seq,
    ecn_cwr_seq: Seq,
    /// The SYN that was accepted asked for ECN.
    peer_asks_ecn: bool,
}

impl Socket {
    /// A closed socket; `initial_rtt` is the RTT estimate before the first sample.
    pub fn new(
        config: Config,
        control: Control,
        recovery: Box<dyn Recovery>,
        initial_rtt: Time,
    ) -> Self {
        let tcb = Tcb {
            initial_cwnd: config.initial_cwnd,
            initial_ssthresh: config.initial_ssthresh,
            segment_size: config.segment_size,
            use_ecn: config.use_ecn,
            pacing: config.pacing,
            pacing_rate: config.max_pacing_rate,
            max_pacing_rate: config.max_pacing_rate,
            pacing_ss_ratio: config.pacing_ss_ratio,
            pacing_ca_ratio: config.pacing_ca_ratio,
            pace_initial_window: config.pace_initial_window,
            ..Tcb::default()
        };
        Socket {
            statistics: Statistics::default(),
            congestion: Congestion::new(control, recovery),
            state: State::Closed,
            open: true,
            pending_timers: 0,
            retransmit_action: RetransmitAction::Data,
            scoreboard: Scoreboard::new(
                config.send_buffer,
                config.segment_size,
                config.dup_ack_threshold,
            ),
            rate: RateEstimator::default(),
            rtt: RttEstimator::new(initial_rtt),
            history: VecDeque::new(),
            history_longest: 0,
            rto: Time::ZERO,
            syn_left: config.connect_count,
            data_retries_left: config.data_retries,
            dup_acks: 0,
            recover: Seq(0),
            recover_active: false,
            first_partial_ack: true,
            acked_remainder: 0,
            peer_window: 0,
            highest_ack_received: Seq(0),
            highest_seq_received: Seq(0),
            close_on_empty: false,
            application_closed: false,
            connected: false,
            reassembly: Reassembly::new(config.receive_buffer),
            delayed_acks: 0,
            highest_ack_sent: Seq(0),
            advertised: 0,
            persist_timeout: config.persist_timeout,
            is_sink: false,
            is_listening: false,
            sack: config.sack,
            timestamps: config.timestamps,
            window_scaling: config.window_scaling,
            send_shift: 0,
            receive_shift: 0,
            timestamp_to_echo: 0,
            ecn_echo_seq: Seq(0),
            ecn_ce_seq: Seq(0),
            ecn_cwr_seq: Seq(0),
            peer_asks_ecn: false,
            config,
            tcb,
        }
    }

    /// Waits for a SYN, as the receiving application's socket; it never sends data, so that it
    /// answers the peer's FIN with its own.
    pub fn listen(&mut self) {
        self.state = State::Listen;
        self.is_sink = true;
        self.is_listening = true;
        self.close_on_empty = true;
    }

    /// Opens the connection: sends the SYN.
    pub fn connect<E: Environment>(&mut self, now: Time, env: &mut E) {
        self.tcb.now = now;
        self.congestion.algorithm().init(&mut self.tcb);
        self.rtt.reset();
        self.syn_left = self.config.connect_count;
        self.data_retries_left = self.config.data_retries;
        self.send_syn(env);
        self.state = State::SynSent;
        self.tcb.ecn_state = EcnState::Disabled; // until the peer has agreed
    }

    /// The peer has acknowledged more than ever before.  A closed transfer may be complete by that.
    #[inline]
    fn count_acked(&mut self, bytes: u64) {
        let statistics = &mut self.statistics;
        // A FIN has a sequence number, too, but is no data.
        statistics.acked_bytes = (statistics.acked_bytes + bytes).min(statistics.written_bytes);
        if self.application_closed
            && statistics.acked_bytes == statistics.written_bytes
            && statistics.written_bytes > 0
        {
            statistics.completed.get_or_insert(self.tcb.now);
        }
    }

    fn is_pending(&self, timer: Timer) -> bool {
        self.pending_timers & (1 << timer as u16) != 0
    }

    fn arm<E: Environment>(&mut self, timer: Timer, delay: Time, env: &mut E) {
        self.pending_timers |= 1 << timer as u16;
        env.arm(timer, self.tcb.now + delay);
    }

    fn disarm<E: Environment>(&mut self, timer: Timer, env: &mut E) {
        if self.is_pending(timer) {
            self.pending_timers &= !(1 << timer as u16);
            env.disarm(timer);
        }
    }

    /// Replaces the congestion state and keeps account of recovery episodes.
    fn set_cong_state(&mut self, state: CongState) {
        let old = self.tcb.cong_state;
        self.tcb.cong_state = state;
        let statistics = &mut self.statistics;
        if state == CongState::Loss && old != CongState::Loss {
            statistics.rtos += 1;
        }
        match (state, statistics.recovery_start) {
            (CongState::Recovery, None) => statistics.recovery_start = Some(self.tcb.now),
            (CongState::Recovery | CongState::Loss, _) | (_, None) => {}
            (_, Some(start)) => {
                statistics.recovery_episodes += 1;
                statistics.recovery_time += self.tcb.now - start;
                statistics.recovery_start = None;
            }
        }
    }

    /// Evaluates the pipe and publishes it.
    fn bytes_in_flight(&mut self) -> u32 {
        self.tcb.bytes_in_flight = self.scoreboard.bytes_in_flight();
        self.tcb.bytes_in_flight
    }

    fn unacked_bytes(&self) -> u32 {
        (self.tcb.high_tx_mark - self.scoreboard.head()) as u32
    }

    fn rto_estimate(&self) -> Time {
        self.rtt.rto(self.config.clock_granularity, self.config.min_rto)
    }

    fn sync_rx(&mut self) {
        self.tcb.next_rx_seq = self.reassembly.next_rx();
    }
}
