//! BBRv3 (draft-ietf-ccwg-bbr-06): paces at the bandwidth that the path has delivered, and keeps in flight what that
//! bandwidth, the least round trip and the losses of the last probe allow.
//!
//! ```text
//! bw = min(max_bw, bw_shortterm)                    pacing rate = 0.99 pacing_gain bw
//! bdp = bw min_rtt                                  cwnd <= cwnd_gain bdp + extra_acked,
//!                                                           inflight_longterm, inflight_shortterm
//! ```
//!
//! | state | pacing gain | cwnd gain | until |
//! |---|---|---|---|
//! | Startup | 2.77 | 2 | three rounds grow by less than a quarter, or a round loses more than 2 % |
//! | Drain | 0.5 | 2 | in flight <= bdp, or three rounds |
//! | ProbeBW_DOWN | 0.90 | 2 | in flight <= bdp, with headroom |
//! | ProbeBW_CRUISE | 1 | 2 | 2 to 3 s, or 62 to 63 rounds, since the last probe |
//! | ProbeBW_REFILL | 1 | 2 | one round |
//! | ProbeBW_UP | 1.25 | 2.25 | the bandwidth does not grow, or more than 2 % are lost |
//! | ProbeRTT | 1 | 0.5 | 200 ms and a round |
//!
//! Random losses: the draft's goal is full throughput with up to 1 % lost on average (section 2.1).  At 2 % both its
//! answers are at work all the time.  While it cruises, each round with a loss takes 1 % for the pacing margin and what the
//! best sample of the round lacks off `bw_shortterm` (section 5.5.10.3), for up to 63 rounds; and half of the probes
//! lose more than 2 % of a window by chance, which ends them and lowers `inflight_longterm`.  How far the rate falls depends on
//! the rounds between probes.  `tests/scenario/test_bbr3.py` has figures.
//!
//! Names are the draft's; the files are its sections.
//!
//! Departures of the draft: losses are judged by the ACK that reveals them and the segment sent last that it
//! delivers, not segment by segment (section 5.5.10.2), which is the same unless detection waits, as RACK does; lost
//! ranges are counted as ACKs that reveal losses (section 5.3.1.3), as in Linux; segments leave one by one, so that the
//! quantum and the offload budget are 1 and 3 segments (sections 5.6.3 and 5.5.8).  ECN has no answer, as in the draft.

mod control;
mod losses;
mod model;
#[cfg(test)]
mod path_tests;
mod probe_bw;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;

use losses::is_inflight_too_high;

use super::BuildContext;
use super::max_filter::MaxFilter;
use crate::base::attributes::{Spec, U32, param};
use crate::base::rng::RngStream;
use crate::base::time::{Rate, Time};
use crate::host::tcp::control::{CaEvent, CongestionControl, Control, EarlyAck};
use crate::host::tcp::rate::{AckSample, RateConnection, RateSample};
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpBbr3",
    linux: &["bbr3", "bbrv3"],
    is_in_linux: false,
    doc: "BBR version 3: bandwidth and round trips as measured, bounded by what losses of probes allow.",
    source: "draft-ietf-ccwg-bbr-06",
    departures: &[],
    params: &[
        param!["Stream"; U32 => "4"; "Random stream from which the time between probes is drawn."],
    ],
};

// Section 2.5.
const STARTUP_PACING_GAIN: f64 = 2.77;
const DRAIN_PACING_GAIN: f64 = 0.5;
const DOWN_PACING_GAIN: f64 = 0.90;
const UP_PACING_GAIN: f64 = 1.25;
const DEFAULT_CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
const PACING_MARGIN: f64 = 0.01;
const LOSS_THRESH: f64 = 0.02;
const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;
const MIN_PIPE_SEGMENTS: u32 = 4;
const STARTUP_LOSSES: u32 = 6;
const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 3;
const DRAIN_ROUNDS: u32 = 3;
const EXTRA_ACKED_ROUNDS: u32 = 10;
const MIN_RTT_FILTER: Time = Time::from_secs(10);
const PROBE_RTT_INTERVAL: Time = Time::from_secs(5);
const PROBE_RTT_DURATION: Time = Time::from_ms(200);
const MOST_RENO_ROUNDS: u32 = 63;

/// No bound.
const INFINITY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// Which samples the ACKs bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// What an ACK says, as the draft's RS and C.
#[derive(Clone, Copy, Debug)]
struct Rs {
    /// 0 without a sample.
    delivery_rate: Rate,
    delivered: u32,
    prior_delivered: u64,
    is_app_limited: bool,
    newly_acked: u32,
    newly_lost: u32,
    lost: u32,
    tx_in_flight: u32,
    rtt: Option<Time>,
    total_delivered: u64,
}

#[derive(Debug)]
pub struct Bbr3 {
    seed: u64,
    stream: u64,
    rng: Option<RngStream>,
    has_started: bool,

    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,

    // Rounds (section 5.5.1).
    next_round_delivered: u64,
    round_start: bool,
    round_count: u32,

    // The long-term model.
    max_bw: [Rate; 2],
    bw: Rate,
    inflight_longterm: u32,
    min_rtt: Time,
    min_rtt_stamp: Time,
    extra_acked: MaxFilter,
    extra_acked_start: Time,
    extra_acked_delivered: u64,

    // The short-term model (section 5.5.10.3).
    bw_shortterm: Rate,
    inflight_shortterm: u32,
    bw_latest: Rate,
    inflight_latest: u32,
    loss_round_delivered: u64,
    loss_round_start: bool,
    is_loss_in_round: bool,
    losses_in_round: u32,

    // Full pipe (section 5.3.1.2).
    full_bw: Rate,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u32,

    // Probes (section 5.3.3).
    ack_phase: AckPhase,
    cycle_stamp: Time,
    bw_probe_wait: Time,
    rounds_since_probe_up: u32,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: u32,
    probe_up_acked_per_inc: u32,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,

    // ProbeRTT (section 5.3.4).
    probe_rtt_min_delay: Time,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    /// Samples of what was sent before so much was delivered are taken as limited by the application.
    limited_until: u64,
    delivered: u64,

    // Recovery (sections 5.5.11 and 5.6.4.4).
    prior_cwnd: u32,
    undo: Undo,
}

/// What a spurious episode gives back.
#[derive(Clone, Copy, Debug)]
struct Undo {
    state: Option<State>,
    bw_shortterm: Rate,
    inflight_shortterm: u32,
    inflight_longterm: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    Control::rate(made(cx))
}

fn made(cx: &BuildContext<'_>) -> Bbr3 {
    Bbr3 {
        seed: cx.seed,
        stream: u64::from(cx.attributes.u32("Stream")),
        rng: None,
        has_started: false,
        state: State::Startup,
        pacing_gain: STARTUP_PACING_GAIN,
        cwnd_gain: DEFAULT_CWND_GAIN,
        next_round_delivered: 0,
        round_start: false,
        round_count: 0,
        max_bw: [Rate(0); 2],
        bw: Rate(0),
        inflight_longterm: INFINITY,
        min_rtt: Time::MAX,
        min_rtt_stamp: Time::ZERO,
        extra_acked: MaxFilter::new(1, Rate(0)),
        extra_acked_start: Time::ZERO,
        extra_acked_delivered: 0,
        bw_shortterm: Rate(u64::MAX),
        inflight_shortterm: INFINITY,
        bw_latest: Rate(0),
        inflight_latest: 0,
        loss_round_delivered: 0,
        loss_round_start: false,
        is_loss_in_round: false,
        losses_in_round: 0,
        full_bw: Rate(0),
        full_bw_count: 0,
        full_bw_now: false,
        full_bw_reached: false,
        drain_start_round: 0,
        ack_phase: AckPhase::Init,
        cycle_stamp: Time::ZERO,
        bw_probe_wait: Time::ZERO,
        rounds_since_probe_up: 0,
        bw_probe_up_rounds: 0,
        bw_probe_up_acked: 0,
        probe_up_acked_per_inc: INFINITY,
        is_bw_probe_sample: false,
        prev_probe_too_high: false,
        prev_probe_precautionary: false,
        probe_rtt_min_delay: Time::MAX,
        probe_rtt_min_stamp: Time::ZERO,
        probe_rtt_expired: false,
        probe_rtt_done_stamp: None,
        probe_rtt_round_done: false,
        idle_restart: false,
        limited_until: 0,
        delivered: 0,
        prior_cwnd: 0,
        undo: Undo {
            state: None,
            bw_shortterm: Rate(0),
            inflight_shortterm: 0,
            inflight_longterm: 0,
        },
    }
}

/// What the socket calls (section 5.2).
impl CongestionControl for Bbr3 {
    fn init(&mut self, tcb: &mut Tcb) {
        tcb.pacing = true;
        self.min_rtt_stamp = tcb.now;
        self.probe_rtt_min_stamp = tcb.now;
        self.extra_acked_start = tcb.now;
    }

    /// Once an episode is over the socket takes this for the window: RestoreCwnd.
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        self.save_cwnd(tcb);
        self.prior_cwnd.max(MIN_PIPE_SEGMENTS * tcb.segment_size)
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        match state {
            CongState::Open if !self.has_started => {
                self.has_started = true;
                self.init_pacing_rate(tcb);
            }
            CongState::Open if is_in_recovery(tcb) => tcb.cwnd = tcb.cwnd.max(self.prior_cwnd),
            CongState::Recovery | CongState::Loss => self.save_state_upon_loss(tcb),
            _ => {}
        }
    }

    /// HandleRestartFromIdle of section 5.4.1.
    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        if event == CaEvent::TxStart && self.has_started && self.round_count > 0 {
            self.idle_restart = true;
            self.extra_acked_start = tcb.now;
            if self.is_in_probe_bw() {
                self.set_pacing_rate(tcb, 1.0);
            } else if self.state == State::ProbeRtt {
                self.check_probe_rtt_done(tcb);
            }
        }
        None
    }

    fn on_loss(&mut self, tcb: &mut Tcb, _bytes: u32) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.delivered;
            self.save_state_upon_loss(tcb);
        }
        self.is_loss_in_round = true;
    }

    fn cong_control(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        let rs = self.sample(tcb, sample.rate, sample.connection);
        if rs.newly_acked == 0 {
            return;
        }
        if rs.newly_lost > 0 {
            self.losses_in_round += 1;
            if self.is_bw_probe_sample && is_inflight_too_high(&rs) {
                self.handle_inflight_too_high(tcb, &rs);
            }
        }
        self.update_latest_delivery_signals(&rs);
        self.update_congestion_signals(tcb, &rs);
        self.update_ack_aggregation(tcb, &rs);
        self.check_full_bw_reached(&rs);
        self.check_startup_done(tcb, &rs);
        self.check_drain_done(tcb, &rs);
        self.update_probe_bw_cycle_phase(tcb, &rs);
        self.update_min_rtt(tcb, &rs);
        self.check_probe_rtt(tcb, &rs);
        if self.loss_round_start {
            self.bw_latest = rs.delivery_rate;
            self.inflight_latest = rs.delivered;
        }
        self.bw = self.max_bw().min(self.bw_shortterm);
        self.set_pacing_rate(tcb, self.pacing_gain);
        self.set_cwnd(tcb, &rs);
    }

    /// HandleSpuriousLossDetection of section 5.5.11.2.
    fn undo(&mut self, tcb: &Tcb, prior_cwnd: u32) -> u32 {
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_refill();
            }
            _ => {}
        }
        tcb.cwnd.max(self.prior_cwnd).max(prior_cwnd)
    }
}

fn is_in_recovery(tcb: &Tcb) -> bool {
    matches!(tcb.cong_state, CongState::Recovery | CongState::Loss)
}

fn times(gain: f64, bytes: u32) -> u32 {
    (gain * f64::from(bytes)) as u32
}
