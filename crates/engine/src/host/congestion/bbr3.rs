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
//! Names are the draft's, in the order of its sections.
//!
//! Departures of the draft: losses are judged by the ACK that reveals them and the segment sent last that it
//! delivers, not segment by segment (section 5.5.10.2), which is the same unless detection waits, as RACK does; lost
//! ranges are counted as ACKs that reveal losses (section 5.3.1.3), as in Linux; segments leave one by one, so that the
//! quantum and the offload budget are 1 and 3 segments (sections 5.6.3 and 5.5.8).  ECN has no answer, as in the draft.

use super::BuildContext;
use super::max_filter::MaxFilter;
use crate::base::attributes::{Param, Spec, U32};
use crate::base::rng::RngStream;
use crate::base::time::{Rate, Time};
use crate::host::tcp::control::{CaEvent, CongestionControl, Control, EarlyAck};
use crate::host::tcp::rate::{AckSample, RateConnection, RateSample};
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpBbr3",
    linux: &["bbr3", "bbrv3"],
    doc: "BBR version 3: bandwidth and round trips as measured, bounded by what losses of probes allow.",
    source: "draft-ietf-ccwg-bbr-06",
    departures: &[],
    params: &[Param {
        ns3: "Stream",
        linux: "",
        kind: U32,
        default: "4",
        doc: "Random stream from which the time between probes is drawn.",
    }],
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

/// Section 5.5.10.2.
fn is_inflight_too_high(rs: &Rs) -> bool {
    f64::from(rs.lost) > f64::from(rs.tx_in_flight) * LOSS_THRESH
}

/// The volume in flight at which the losses crossed the threshold: InflightAtLoss of section 5.5.10.2, for all that the
/// ACK reveals.
fn inflight_at_loss(rs: &Rs) -> u32 {
    let previous = f64::from(rs.tx_in_flight.saturating_sub(rs.newly_lost));
    let lost = f64::from(rs.lost.saturating_sub(rs.newly_lost));
    let prefix = (LOSS_THRESH * previous - lost) / (1.0 - LOSS_THRESH);
    (previous + prefix).max(0.0) as u32
}

/// The states (sections 5.3.1 and 5.3.2).
impl Bbr3 {
    fn sample(&mut self, tcb: &Tcb, rate: &RateSample, connection: &RateConnection) -> Rs {
        self.delivered = connection.delivered;
        let is_new = rate.acked_sacked > 0 && rate.interval > Time::ZERO && rate.delivered > 0;
        let bits = f64::from(rate.delivered.max(0)) * 8.0;
        let delivery_rate =
            if is_new { Rate((bits / rate.interval.secs_f64()) as u64) } else { Rate(0) };
        let prior_delivered = u64::from(rate.prior_delivered);
        Rs {
            delivery_rate,
            delivered: if is_new { rate.delivered as u32 } else { 0 },
            prior_delivered,
            is_app_limited: rate.is_app_limited || prior_delivered < self.limited_until,
            newly_acked: rate.acked_sacked,
            newly_lost: rate.newly_lost,
            lost: rate.lost,
            tx_in_flight: rate.tx_in_flight.saturating_add(tcb.segment_size),
            rtt: rate.rtt,
            total_delivered: connection.delivered,
        }
    }

    fn max_bw(&self) -> Rate {
        self.max_bw[0].max(self.max_bw[1])
    }

    fn is_in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.pacing_gain = STARTUP_PACING_GAIN;
        self.cwnd_gain = DEFAULT_CWND_GAIN;
    }

    fn reset_full_bw(&mut self) {
        self.full_bw = Rate(0);
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    fn check_full_bw_reached(&mut self, rs: &Rs) {
        if self.full_bw_now || !self.round_start || rs.is_app_limited {
            return;
        }
        if rs.delivery_rate.0 as f64 >= self.full_bw.0 as f64 * FULL_BW_GROWTH {
            self.reset_full_bw();
            self.full_bw = rs.delivery_rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    fn check_startup_done(&mut self, tcb: &Tcb, rs: &Rs) {
        let is_round_of_losses = self.loss_round_start
            && is_in_recovery(tcb)
            && self.losses_in_round >= STARTUP_LOSSES
            && is_inflight_too_high(rs);
        if self.state == State::Startup && !self.full_bw_reached && is_round_of_losses {
            self.undo.state = Some(State::Startup);
            self.full_bw_now = true;
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp(self.bw, 1.0, tcb).max(self.inflight_latest);
        }
        if self.loss_round_start {
            self.losses_in_round = 0;
        }
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.pacing_gain = DRAIN_PACING_GAIN;
            self.cwnd_gain = DEFAULT_CWND_GAIN;
            self.drain_start_round = self.round_count;
        }
        if self.full_bw_reached && self.extra_acked.length() == 1 {
            self.extra_acked.lengthen(EXTRA_ACKED_ROUNDS);
        }
    }

    fn check_drain_done(&mut self, tcb: &mut Tcb, rs: &Rs) {
        let is_late = self.round_count > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain
            && (tcb.bytes_in_flight <= self.inflight(self.bw, 1.0, tcb) || is_late)
        {
            self.cwnd_gain = DEFAULT_CWND_GAIN;
            self.start_down(tcb, rs.total_delivered);
        }
    }
}

/// ProbeBW (section 5.3.3).
impl Bbr3 {
    fn start_down(&mut self, tcb: &Tcb, delivered: u64) {
        self.is_loss_in_round = false;
        self.bw_latest = Rate(0);
        self.inflight_latest = 0;
        self.probe_up_acked_per_inc = INFINITY;
        let (seed, now) = (self.seed, tcb.now);
        // Connections of one run differ by when they come here first.
        let rng = self.rng.get_or_insert_with(|| {
            RngStream::fixed(seed.wrapping_add(now.0) & 0xffff_ffff, self.stream)
        });
        self.rounds_since_probe_up = rng.uniform_integer(0, 1);
        self.bw_probe_wait = Time::from_secs_f64(2.0 + rng.unit());
        self.cycle_stamp = tcb.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.next_round_delivered = delivered;
        self.state = State::Down;
        self.pacing_gain = DOWN_PACING_GAIN;
        self.cwnd_gain = DEFAULT_CWND_GAIN;
    }

    fn start_cruise(&mut self) {
        self.state = State::Cruise;
        self.pacing_gain = 1.0;
        self.cwnd_gain = DEFAULT_CWND_GAIN;
    }

    fn start_refill(&mut self) {
        self.bw_shortterm = Rate(u64::MAX);
        self.inflight_shortterm = INFINITY;
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.next_round_delivered = self.delivered;
        self.state = State::Refill;
        self.pacing_gain = 1.0;
        self.cwnd_gain = DEFAULT_CWND_GAIN;
    }

    fn start_up(&mut self, tcb: &Tcb, rs: &Rs) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.next_round_delivered = rs.total_delivered;
        self.reset_full_bw();
        self.full_bw = rs.delivery_rate;
        self.state = State::Up;
        self.pacing_gain = UP_PACING_GAIN;
        self.cwnd_gain = UP_CWND_GAIN;
        self.raise_slope(tcb);
    }

    fn update_probe_bw_cycle_phase(&mut self, tcb: &mut Tcb, rs: &Rs) {
        if !self.full_bw_reached || self.adapt_long_term_model(tcb, rs) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if !self.is_time_to_probe(tcb) && self.is_time_to_cruise(tcb) => {
                self.start_cruise();
            }
            State::Cruise => {
                self.is_time_to_probe(tcb);
            }
            State::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up(tcb, rs);
            }
            State::Up if self.is_time_to_go_down(tcb, rs) => {
                self.prev_probe_too_high = false;
                self.start_down(tcb, rs.total_delivered);
            }
            _ => {}
        }
    }

    /// Section 5.3.3.8: then the pipe is refilled.
    fn is_time_to_probe(&mut self, tcb: &Tcb) -> bool {
        let target = self.target_inflight(tcb) / tcb.segment_size;
        let is_time = tcb.now > self.cycle_stamp + self.bw_probe_wait
            || self.rounds_since_probe_up >= target.min(MOST_RENO_ROUNDS);
        if is_time {
            self.start_refill();
        }
        is_time
    }

    fn target_inflight(&self, tcb: &Tcb) -> u32 {
        self.bdp(self.bw, 1.0, tcb).min(tcb.cwnd)
    }

    fn is_time_to_cruise(&self, tcb: &Tcb) -> bool {
        tcb.bytes_in_flight <= self.inflight_with_headroom(tcb)
            && tcb.bytes_in_flight <= self.inflight(self.max_bw(), 1.0, tcb)
    }

    fn is_time_to_go_down(&mut self, tcb: &Tcb, rs: &Rs) -> bool {
        if self.prev_probe_too_high && tcb.bytes_in_flight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if tcb.is_cwnd_limited && tcb.cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = rs.delivery_rate;
            return false;
        }
        self.full_bw_now
    }

    fn inflight_with_headroom(&self, tcb: &Tcb) -> u32 {
        if self.inflight_longterm == INFINITY {
            return INFINITY;
        }
        let headroom = times(HEADROOM, self.inflight_longterm).max(tcb.segment_size);
        self.inflight_longterm.saturating_sub(headroom).max(MIN_PIPE_SEGMENTS * tcb.segment_size)
    }

    fn raise_slope(&mut self, tcb: &Tcb) {
        let growth = 1_u32 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (tcb.cwnd / growth).max(tcb.segment_size);
    }

    fn probe_inflight_longterm_upward(&mut self, tcb: &Tcb, rs: &Rs) {
        if !tcb.is_cwnd_limited || tcb.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += rs.newly_acked;
        let increments = self.bw_probe_up_acked / self.probe_up_acked_per_inc;
        self.bw_probe_up_acked -= increments * self.probe_up_acked_per_inc;
        let grown = increments.saturating_mul(tcb.segment_size);
        self.inflight_longterm = self.inflight_longterm.saturating_add(grown);
        if self.round_start {
            self.raise_slope(tcb);
        }
    }

    /// Whether it has decided on the next state.
    fn adapt_long_term_model(&mut self, tcb: &Tcb, rs: &Rs) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_probe_bw() && !rs.is_app_limited && self.max_bw[1] > Rate(0) {
                self.max_bw = [self.max_bw[1], Rate(0)]; // AdvanceMaxBwFilter
            }
            if self.is_in_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if !is_inflight_too_high(rs) && self.inflight_longterm != INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(tcb, rs);
            }
        }
        false
    }

    fn handle_inflight_too_high(&mut self, tcb: &Tcb, rs: &Rs) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !rs.is_app_limited {
            let least = times(BETA, self.target_inflight(tcb));
            self.inflight_longterm = inflight_at_loss(rs).max(least);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(tcb, rs.total_delivered);
        }
    }
}

/// ProbeRTT (section 5.3.4).
impl Bbr3 {
    fn update_min_rtt(&mut self, tcb: &Tcb, rs: &Rs) {
        self.probe_rtt_expired = tcb.now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rs.rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = tcb.now;
        }
        let is_old = tcb.now > self.min_rtt_stamp + MIN_RTT_FILTER;
        if self.probe_rtt_min_delay < self.min_rtt || is_old {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    fn check_probe_rtt(&mut self, tcb: &mut Tcb, rs: &Rs) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(tcb);
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = PROBE_RTT_CWND_GAIN;
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.next_round_delivered = rs.total_delivered;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(tcb, rs);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, tcb: &mut Tcb, rs: &Rs) {
        self.limited_until = rs.total_delivered + u64::from(tcb.bytes_in_flight);
        if self.probe_rtt_done_stamp.is_none() {
            if tcb.bytes_in_flight <= self.probe_rtt_cwnd(tcb) {
                self.probe_rtt_done_stamp = Some(tcb.now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.next_round_delivered = rs.total_delivered;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(tcb);
        }
    }

    fn check_probe_rtt_done(&mut self, tcb: &mut Tcb) {
        if self.probe_rtt_done_stamp.is_none_or(|done| tcb.now <= done) {
            return;
        }
        self.probe_rtt_min_stamp = tcb.now;
        tcb.cwnd = tcb.cwnd.max(self.prior_cwnd);
        self.bw_shortterm = Rate(u64::MAX);
        self.inflight_shortterm = INFINITY;
        if self.full_bw_reached {
            self.start_down(tcb, self.delivered);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    fn probe_rtt_cwnd(&self, tcb: &Tcb) -> u32 {
        self.bdp(self.bw, PROBE_RTT_CWND_GAIN, tcb).max(MIN_PIPE_SEGMENTS * tcb.segment_size)
    }
}

/// The model (section 5.5).
impl Bbr3 {
    fn update_latest_delivery_signals(&mut self, rs: &Rs) {
        self.bw_latest = self.bw_latest.max(rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered);
        self.loss_round_start = rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = rs.total_delivered;
        }
    }

    fn update_congestion_signals(&mut self, tcb: &Tcb, rs: &Rs) {
        self.round_start = rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.next_round_delivered = rs.total_delivered;
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
        }
        let is_of_use = rs.delivery_rate >= self.max_bw() || !rs.is_app_limited;
        if rs.delivery_rate > Rate(0) && is_of_use {
            self.max_bw[1] = self.max_bw[1].max(rs.delivery_rate);
        }
        if !self.loss_round_start {
            return;
        }
        if self.is_loss_in_round && !self.is_probing_bw() {
            if self.bw_shortterm == Rate(u64::MAX) {
                self.bw_shortterm = self.max_bw();
            }
            if self.inflight_shortterm == INFINITY {
                self.inflight_shortterm = tcb.cwnd;
            }
            let slower = Rate((BETA * self.bw_shortterm.0 as f64) as u64);
            self.bw_shortterm = self.bw_latest.max(slower);
            let fewer = times(BETA, self.inflight_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(fewer);
        }
        self.is_loss_in_round = false;
    }

    fn update_ack_aggregation(&mut self, tcb: &Tcb, rs: &Rs) {
        let mut expected = self.bw.bits_in(tcb.now - self.extra_acked_start) / 8;
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0;
            self.extra_acked_start = tcb.now;
            expected = 0;
        }
        self.extra_acked_delivered += u64::from(rs.newly_acked);
        let extra = (self.extra_acked_delivered - expected).min(u64::from(tcb.cwnd));
        self.extra_acked.update(Rate(extra), self.round_count);
    }

    fn save_state_upon_loss(&mut self, tcb: &Tcb) {
        self.save_cwnd(tcb);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    fn save_cwnd(&mut self, tcb: &Tcb) {
        let is_good = !is_in_recovery(tcb) && self.state != State::ProbeRtt;
        self.prior_cwnd = if is_good { tcb.cwnd } else { self.prior_cwnd.max(tcb.cwnd) };
    }
}

/// Pacing rate and window (section 5.6).
impl Bbr3 {
    fn init_pacing_rate(&mut self, tcb: &mut Tcb) {
        let rtt = if tcb.srtt.is_zero() { Time::from_ms(1) } else { tcb.srtt };
        let window = f64::from(tcb.initial_cwnd) * f64::from(tcb.segment_size) * 8.0;
        let rate = Rate((STARTUP_PACING_GAIN * window / rtt.secs_f64()) as u64);
        tcb.pacing_rate = rate.clamp(Rate(1), tcb.max_pacing_rate);
    }

    fn set_pacing_rate(&mut self, tcb: &mut Tcb, gain: f64) {
        let rate = Rate((gain * self.bw.0 as f64 * (1.0 - PACING_MARGIN)) as u64);
        if rate > Rate(0) && (self.full_bw_reached || rate > tcb.pacing_rate) {
            tcb.pacing_rate = rate.min(tcb.max_pacing_rate);
        }
    }

    /// BDPMultiple of section 5.6.4.2.
    fn bdp(&self, bw: Rate, gain: f64, tcb: &Tcb) -> u32 {
        if self.min_rtt == Time::MAX {
            return tcb.initial_cwnd * tcb.segment_size;
        }
        (gain * bw.0 as f64 * self.min_rtt.secs_f64() / 8.0) as u32
    }

    fn inflight(&self, bw: Rate, gain: f64, tcb: &Tcb) -> u32 {
        self.quantized(self.bdp(bw, gain, tcb), tcb)
    }

    fn quantized(&self, cap: u32, tcb: &Tcb) -> u32 {
        let cap = cap.max(MIN_PIPE_SEGMENTS * tcb.segment_size);
        if self.state == State::Up { cap.saturating_add(2 * tcb.segment_size) } else { cap }
    }

    fn set_cwnd(&mut self, tcb: &mut Tcb, rs: &Rs) {
        let extra = self.extra_acked.max().0 as u32;
        let most = self.bdp(self.bw, self.cwnd_gain, tcb).saturating_add(extra);
        let most = self.quantized(most, tcb);
        let grown = tcb.cwnd.saturating_add(rs.newly_acked);
        let initial = u64::from(tcb.initial_cwnd * tcb.segment_size);
        if self.full_bw_reached {
            tcb.cwnd = grown.min(most);
        } else if tcb.cwnd < most || rs.total_delivered < initial {
            tcb.cwnd = grown;
        }
        let least = MIN_PIPE_SEGMENTS * tcb.segment_size;
        tcb.cwnd = tcb.cwnd.max(least);
        if self.state == State::ProbeRtt {
            tcb.cwnd = tcb.cwnd.min(self.probe_rtt_cwnd(tcb));
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(tcb),
            State::Startup | State::Drain => INFINITY,
        };
        tcb.cwnd = tcb.cwnd.min(cap.min(self.inflight_shortterm).max(least));
    }
}

/// What the draft's test cases ask (appendix A), as far as a driver without a path can; whole runs are in
/// `tests/scenario/test_bbr3.py`.
#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS, with_context};
    use super::*;

    /// A model whose pipe is full, in Up after a probe that was too high.
    fn probing() -> (Bbr3, Tcb, Rs) {
        let mut bbr = with_context(&SPEC, &[], made);
        bbr.full_bw_reached = true;
        bbr.max_bw = [Rate(8_000_000), Rate(8_000_000)];
        bbr.bw = Rate(8_000_000);
        bbr.min_rtt = Time::from_ms(100);
        bbr.state = State::Up;
        bbr.is_bw_probe_sample = true;
        bbr.inflight_longterm = 120 * MSS;
        let tcb = Tcb {
            cwnd: 120 * MSS,
            segment_size: MSS,
            bytes_in_flight: 100 * MSS,
            now: Time::from_secs(1),
            ..Tcb::default()
        };
        let rs = Rs {
            delivery_rate: Rate(8_000_000),
            delivered: 100 * MSS,
            prior_delivered: 0,
            is_app_limited: false,
            newly_acked: MSS,
            newly_lost: MSS,
            lost: 3 * MSS,
            tx_in_flight: 110 * MSS,
            rtt: None,
            total_delivered: 1_000_000,
        };
        (bbr, tcb, rs)
    }

    /// A.21: more than 2 % lost in Up lowers the long-term bound to where they began, at most by a third, and ends the
    /// probe; the next one stops there (section 5.3.3.6).
    #[test]
    fn losses_in_up_lower_the_long_term_bound_and_go_down() {
        let (mut bbr, mut tcb, rs) = probing();
        assert!(is_inflight_too_high(&rs));
        bbr.handle_inflight_too_high(&tcb, &rs);
        assert_eq!(bbr.state, State::Down);
        // 2 % of 109 segments are 2.18, of which 2 were lost before this one.
        assert_eq!(bbr.inflight_longterm / MSS, 109);
        bbr.state = State::Up;
        tcb.bytes_in_flight = bbr.inflight_longterm;
        assert!(bbr.is_time_to_go_down(&tcb, &rs) && bbr.prev_probe_precautionary);
    }

    /// A.18 and A.19: what a spurious episode took comes back, and the probe begins anew.
    #[test]
    fn a_spurious_episode_is_undone() {
        let (mut bbr, tcb, rs) = probing();
        bbr.save_state_upon_loss(&tcb);
        bbr.handle_inflight_too_high(&tcb, &rs);
        bbr.bw_shortterm = Rate(1_000_000);
        assert_eq!(bbr.undo(&tcb, 0), 120 * MSS);
        assert_eq!(bbr.inflight_longterm, 120 * MSS);
        assert_eq!(bbr.bw_shortterm, Rate(u64::MAX));
        assert_eq!(bbr.state, State::Refill);
    }

    /// A.7: rounds that the application limits say nothing of the pipe.
    #[test]
    fn application_limited_rounds_do_not_fill_the_pipe() {
        let (mut bbr, _, mut rs) = probing();
        bbr.reset_full_bw();
        bbr.round_start = true;
        rs.is_app_limited = true;
        (0..10).for_each(|_| bbr.check_full_bw_reached(&rs));
        assert!(!bbr.full_bw_now);
        rs.is_app_limited = false;
        (0..3).for_each(|_| bbr.check_full_bw_reached(&rs));
        assert!(!bbr.full_bw_now);
        bbr.check_full_bw_reached(&rs);
        assert!(bbr.full_bw_now);
    }

    /// A.15: the steps by which the long-term bound rises double each round.
    #[test]
    fn the_slope_of_a_probe_doubles_each_round() {
        let (mut bbr, tcb, _) = probing();
        let steps = [(); 4].map(|()| {
            bbr.raise_slope(&tcb);
            tcb.cwnd / bbr.probe_up_acked_per_inc
        });
        assert_eq!(steps, [1, 2, 4, 8]);
    }

    #[test]
    fn it_has_the_window_alone() {
        assert!(Driver::new("TcpBbr3", &[]).control.is_rate_control());
    }
}
