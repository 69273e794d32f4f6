//! BBR version 1 (Cardwell et al., ACM Queue 2016; draft-cardwell-iccrg-bbr-congestion-control-00;
//! ns-3's `TcpBbr`).
//!
//! A model of the path, the maximum delivery rate of the last ten round trips and the minimum RTT
//! of the last ten seconds (sections 4.1.1 and 4.1.2 of the draft), gives pacing rate and window:
//!
//! ```text
//! pacing rate = pacing_gain * BtlBw * 0.99
//! cwnd       -> cwnd_gain * BtlBw * RTprop + 3 send quanta (+ extra acknowledged)
//! ```
//!
//! States (section 4.3): Startup at gain 2/ln 2 until three rounds in a row bring less than 25 %;
//! Drain at the inverse; ProbeBW, which cycles through the pacing gains 5/4, 3/4, 1 (six times), one
//! RTprop each; ProbeRTT at four segments for 200 ms whenever RTprop is ten seconds old.

mod control;
mod model;

use super::aggregation::Aggregation;
use super::max_filter::MaxFilter;
use super::{BuildContext, bbr_linux};
use crate::base::attributes::{Kind, Spec, U32, param};
use crate::base::cpp;
use crate::base::rng::RngStream;
use crate::base::time::{Rate, Time};
use crate::host::tcp::control::{CaEvent, CongestionControl, Control, EarlyAck, TcpStack};
use crate::host::tcp::profile::changes::{Change, Changes};
use crate::host::tcp::rate::{AckSample, RateSample};
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpBbr",
    linux: &["bbr"],
    is_in_linux: true,
    doc: "Paces at the measured bottleneck bandwidth and limits what is in flight by the BDP.",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00",
    departures: &[
        "the send quantum is one segment whatever the rate",
        "the initial window and rate are the filter's \"unset\" value, so the first rate sample \
         replaces them even if it is lower",
        "a smoothed RTT of 0 is a valid minimum",
        "ACK aggregation (as in Linux, not in the draft) is measured in whole *seconds* and its \
         epoch ends with 4096 bytes, so it adds about a window at most",
        "only ProbeRTT restores cwnd: when Recovery ends, ssthresh takes the place of what was \
         saved, and that is not set; the ends of Loss and CWR leave cwnd alone",
        "the phase of ProbeBW is drawn from stream 4 in every flow, so that all draw the same",
    ],
    params: &[
        param!["Stream"; U32 => "4"; "Random stream from which the phase of ProbeBW is drawn."],
        param!["HighGain"; Kind::Real { min: 1.0, max: 1000.0 } => "2.89";
            "Pacing and window gain of Startup."],
        param!["BwWindowLength"; U32 => "10";
            "Round trips over which the bandwidth's maximum is taken."],
        param!["RttWindowLength"; Kind::Time => "10s";
            "Time over which the RTT's minimum is taken."],
        param!["ProbeRttDuration"; Kind::Time => "200ms"; "Time spent in ProbeRTT."],
        param!["ExtraAckedRttWindowLength"; U32 => "5";
            "Round trips over which the maximum of ACK aggregation is taken, twice."],
        param!["AckEpochAckedResetThresh"; U32 => "4096";
            "Bytes acknowledged after which an epoch of ACK aggregation ends."],
    ],
};

/// Section 4.3.4.2: probe, drain what the probe queued, cruise.
const PACING_GAINS: [f64; 8] = [5.0 / 4.0, 3.0 / 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Pacing a little below the estimate keeps queues from building up.
const PACING_MARGIN: f64 = 0.01;
/// Section 4.3.2.2: growth per round below which the pipe counts as full, and for how many rounds.
const STARTUP_GROWTH: f64 = 1.25;
const FULL_PIPE_ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The rate at which segments leave, of a bandwidth.
#[derive(Debug, Default)]
struct Paced {
    bandwidth: Rate,
    gain: f64,
    rate: Rate,
}

#[derive(Debug)]
pub struct Bbr {
    high_gain: f64,
    bw_window: u32,
    min_rtt_window: i64,
    probe_rtt_duration: Time,
    rng: RngStream,

    initialized: bool,
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,

    // The path's model.
    max_bw: MaxFilter,
    /// `Time::MAX` before the first sample.
    min_rtt: Time,
    min_rtt_seconds: f64,
    min_rtt_stamp: Time,
    min_rtt_expired: bool,

    // Packet-timed rounds.
    delivered: u64,
    round: u32,
    round_starts: bool,
    /// The round ends with the ACK of a segment sent when this much had been delivered.
    round_end: u32,

    // Startup.
    pipe_is_full: bool,
    full_bw: Rate,
    full_bw_rounds: u32,

    // ProbeBW.
    phase: usize,
    phase_start: Time,

    // ProbeRTT.
    probe_rtt_end: Option<Time>,
    probe_rtt_round_done: bool,

    // The pacing rate and the window.
    paced: Paced,
    segment_size: u32,
    prior_cwnd: u32,
    packet_conservation: bool,
    idle_restart: bool,
    limit: AppLimit,
    aggregation: Aggregation,
    has_seen_rtt: bool,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    if cx.stack == TcpStack::Linux {
        return bbr_linux::new(cx);
    }
    let a = &cx.attributes;
    Control::rate(Bbr {
        high_gain: a.f64("HighGain"),
        bw_window: a.u32("BwWindowLength"),
        min_rtt_window: a.time("RttWindowLength").ns(),
        probe_rtt_duration: a.time("ProbeRttDuration"),
        rng: RngStream::fixed(cx.seed, u64::from(a.u32("Stream"))),
        initialized: false,
        mode: Mode::Startup,
        pacing_gain: 0.0,
        cwnd_gain: 0.0,
        max_bw: MaxFilter::default(),
        min_rtt: Time::MAX,
        min_rtt_seconds: Time::MAX.secs_f64(),
        min_rtt_stamp: Time::ZERO,
        min_rtt_expired: false,
        delivered: 0,
        round: 0,
        round_starts: false,
        round_end: 0,
        pipe_is_full: false,
        full_bw: Rate(0),
        full_bw_rounds: 0,
        phase: 0,
        phase_start: Time::ZERO,
        probe_rtt_end: None,
        probe_rtt_round_done: false,
        paced: Paced::default(),
        segment_size: 0,
        prior_cwnd: 0,
        packet_conservation: false,
        idle_restart: false,
        limit: AppLimit::new(cx.changes),
        aggregation: Aggregation::new(
            a.u32("ExtraAckedRttWindowLength"),
            a.u32("AckEpochAckedResetThresh"),
        ),
        has_seen_rtt: false,
    })
}

impl CongestionControl for Bbr {
    /// Leaves ssthresh alone; its call announces an episode, so the window is remembered.
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        self.save_cwnd(tcb);
        tcb.ssthresh
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        match state {
            CongState::Open if !self.initialized => self.start(tcb),
            CongState::Loss => {
                self.save_cwnd(tcb);
                self.round_starts = true;
            }
            CongState::Recovery => {
                self.save_cwnd(tcb);
                let acked = tcb.last_acked_sacked.max(tcb.segment_size);
                tcb.cwnd = tcb.bytes_in_flight.wrapping_add(acked);
                self.packet_conservation = true;
            }
            _ => {}
        }
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        match event {
            CaEvent::CompleteCwr => {
                self.packet_conservation = false;
                self.restore_cwnd(tcb);
            }
            CaEvent::TxStart if self.limit.is_on(tcb) => {
                self.idle_restart = true;
                self.aggregation.start_epoch(tcb.now);
                match self.mode {
                    Mode::ProbeBw => self.set_pacing_rate(tcb, 1.0),
                    Mode::ProbeRtt => self.leave_probe_rtt_if_done(tcb),
                    Mode::Startup | Mode::Drain => {}
                }
            }
            _ => {}
        }
        None
    }

    fn cong_control(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        let AckSample { connection: rc, rate: rs } = sample;
        self.limit.begin();
        self.delivered = rc.delivered;
        self.update_bandwidth(rs);
        let max_bw = self.max_bw.max();
        self.aggregation.update(tcb, rs, max_bw, self.round_starts);
        if self.mode == Mode::ProbeBw && self.phase_is_over(tcb, rs) {
            self.next_phase(tcb.now);
        }
        self.check_full_pipe(rs);
        self.check_drain(tcb);
        self.update_min_rtt(tcb);
        self.check_probe_rtt(tcb, rs);

        self.set_pacing_rate(tcb, self.pacing_gain);
        self.set_cwnd(tcb, rs);
    }

    fn limits_itself(&self) -> bool {
        self.limit == AppLimit::OfSampler { is_set_now: true }
    }
}

/// Who remembers that ProbeRTT kept low what is in flight (section 4.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AppLimit {
    /// BBR itself: from the first ProbeRTT on, for ever.
    Own(bool),
    /// The rate sampler, until what was in flight is delivered ([`Change::BbrAppLimited`]).
    OfSampler { is_set_now: bool },
}

impl AppLimit {
    fn new(changes: Changes) -> AppLimit {
        if changes.has(Change::BbrAppLimited) {
            AppLimit::OfSampler { is_set_now: false }
        } else {
            AppLimit::Own(false)
        }
    }

    /// An ACK has arrived.
    fn begin(&mut self) {
        if let AppLimit::OfSampler { is_set_now } = self {
            *is_set_now = false;
        }
    }

    fn set(&mut self) {
        let (AppLimit::Own(is_set) | AppLimit::OfSampler { is_set_now: is_set }) = self;
        *is_set = true;
    }

    fn is_on(self, tcb: &Tcb) -> bool {
        match self {
            AppLimit::Own(is_set) => is_set,
            AppLimit::OfSampler { .. } => tcb.is_app_limited,
        }
    }
}

/// Start-up of the connection, and the states.
impl Bbr {
    fn start(&mut self, tcb: &mut Tcb) {
        self.initialized = true;
        self.segment_size = tcb.segment_size;
        self.set_min_rtt(tcb.srtt, tcb.now);
        self.prior_cwnd = tcb.cwnd;
        tcb.ssthresh = tcb.initial_ssthresh;
        self.round = 0;
        self.round_starts = false;
        self.round_end = 0;
        self.pipe_is_full = false;
        self.full_bw = Rate(0);
        self.full_bw_rounds = 0;
        self.enter_startup();
        self.init_pacing_rate(tcb);
        self.aggregation.start_epoch(tcb.now);
    }

    /// Section 4.2.1: the initial window over the RTT, or over 1 ms while there is none.
    fn init_pacing_rate(&mut self, tcb: &mut Tcb) {
        tcb.pacing = true;
        let mut rtt_ms = 1;
        if tcb.min_rtt != Time::MAX {
            rtt_ms = tcb.min_rtt.ms().max(1);
            self.has_seen_rtt = true;
        }
        let bits = f64::from(tcb.cwnd.wrapping_mul(8));
        let nominal = Rate(cpp::to_u64(bits / Time::from_ms(rtt_ms).secs_f64()));
        tcb.pacing_rate = scaled(nominal, self.pacing_gain);
        self.max_bw = MaxFilter::new(self.bw_window, nominal);
    }

    fn enter_startup(&mut self) {
        self.mode = Mode::Startup;
        self.pacing_gain = self.high_gain;
        self.cwnd_gain = self.high_gain;
    }

    fn check_full_pipe(&mut self, rs: &RateSample) {
        if self.pipe_is_full || !self.round_starts || rs.is_app_limited {
            return;
        }
        let max_bw = self.max_bw.max();
        if max_bw.0 as f64 >= self.full_bw.0 as f64 * STARTUP_GROWTH {
            self.full_bw = max_bw;
            self.full_bw_rounds = 0;
            return;
        }
        self.full_bw_rounds += 1;
        self.pipe_is_full = self.full_bw_rounds >= FULL_PIPE_ROUNDS;
    }

    fn check_drain(&mut self, tcb: &mut Tcb) {
        if self.mode == Mode::Startup && self.pipe_is_full {
            self.mode = Mode::Drain;
            self.pacing_gain = 1.0 / self.high_gain;
            self.cwnd_gain = self.high_gain;
            tcb.ssthresh = self.inflight(tcb, 1.0);
        }
        if self.mode == Mode::Drain && tcb.bytes_in_flight <= self.inflight(tcb, 1.0) {
            self.enter_probe_bw(tcb.now);
        }
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cwnd_gain = 2.0;
        // Any phase but the one that drains, as there is nothing to drain.
        self.phase = PACING_GAINS.len() - 1 - self.rng.uniform(0.0, 6.0) as usize;
        self.next_phase(now);
    }

    fn next_phase(&mut self, now: Time) {
        self.phase_start = now;
        self.phase = (self.phase + 1) % PACING_GAINS.len();
        self.pacing_gain = PACING_GAINS[self.phase];
    }

    fn phase_is_over(&self, tcb: &Tcb, rs: &RateSample) -> bool {
        let lasted_min_rtt = tcb.now - self.phase_start > self.min_rtt;
        if self.pacing_gain > 1.0 {
            let is_probed = rs.prior_in_flight >= self.inflight(tcb, self.pacing_gain);
            lasted_min_rtt && (rs.bytes_loss > 0 || is_probed)
        } else if self.pacing_gain < 1.0 {
            lasted_min_rtt || rs.prior_in_flight <= self.inflight(tcb, 1.0)
        } else {
            lasted_min_rtt
        }
    }

    fn check_probe_rtt(&mut self, tcb: &mut Tcb, rs: &RateSample) {
        if self.mode != Mode::ProbeRtt && self.min_rtt_expired && !self.idle_restart {
            self.mode = Mode::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = 1.0;
            self.save_cwnd(tcb);
            self.probe_rtt_end = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.limit.set();
            if self.probe_rtt_end.is_some() {
                self.probe_rtt_round_done |= self.round_starts;
                self.leave_probe_rtt_if_done(tcb);
            } else if tcb.bytes_in_flight <= self.min_pipe_cwnd() {
                self.probe_rtt_end = Some(tcb.now + self.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.round_end = self.delivered as u32;
            }
        }
        if rs.delivered != 0 {
            self.idle_restart = false;
        }
    }

    fn leave_probe_rtt_if_done(&mut self, tcb: &mut Tcb) {
        let end = self.probe_rtt_end.unwrap_or(Time::ZERO);
        if !self.probe_rtt_round_done || tcb.now <= end {
            return;
        }
        self.min_rtt_stamp = tcb.now;
        self.restore_cwnd(tcb);
        if self.pipe_is_full {
            self.enter_probe_bw(tcb.now);
        } else {
            self.enter_startup();
        }
    }
}

fn scaled(rate: Rate, gain: f64) -> Rate {
    Rate(cpp::to_u64(gain * rate.0 as f64))
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS};
    use super::*;

    const BOTTLENECK: Rate = Rate(8_000_000); // a segment per ms; the BDP at 100 ms is 100 segments

    /// ACKs for a time, one a millisecond, with `in_flight` segments outstanding.
    fn run(d: &mut Driver, rate: Rate, ms: u32, in_flight: u32) {
        for _ in 0..ms {
            d.advance(Time::from_ms(1));
            d.rate_ack(rate, MSS, in_flight * MSS);
        }
    }

    fn gain(d: &Driver) -> f64 {
        d.tcb.pacing_rate.0 as f64 / (0.99 * BOTTLENECK.0 as f64)
    }

    fn in_probe_bw() -> Driver {
        let mut d = Driver::new("TcpBbr", &[]);
        run(&mut d, BOTTLENECK, 600, 150);
        run(&mut d, BOTTLENECK, 10, 90);
        d
    }

    #[test]
    fn startup_ends_after_three_rounds_without_growth_and_drains() {
        let mut d = Driver::new("TcpBbr", &[]);
        assert!(d.tcb.pacing);
        run(&mut d, Rate(1_000_000), 100, 100);
        run(&mut d, BOTTLENECK, 120, 150);
        assert!((gain(&d) - 2.89).abs() < 0.01, "{}", gain(&d));
        run(&mut d, BOTTLENECK, 500, 150);
        assert!((gain(&d) - 1.0 / 2.89).abs() < 0.01, "{}", gain(&d));
        // Down to the BDP (and the three segments that delayed ACKs may hold): ProbeBW.
        run(&mut d, BOTTLENECK, 5, 104);
        assert!((gain(&d) - 1.0 / 2.89).abs() < 0.01);
        run(&mut d, BOTTLENECK, 1, 103);
        assert!(gain(&d) >= 0.74);
    }

    #[test]
    fn probe_bw_cycles_through_the_eight_gains_one_rtt_each() {
        let mut d = in_probe_bw();
        let mut phases: Vec<(i64, u32)> = Vec::new();
        for _ in 0..2000 {
            let in_flight = if gain(&d) > 1.1 { 140 } else { 110 };
            run(&mut d, BOTTLENECK, 1, in_flight);
            let percent = (gain(&d) * 100.0).round() as i64;
            match phases.last_mut() {
                Some((last, ms)) if *last == percent => *ms += 1,
                _ => phases.push((percent, 1)),
            }
        }
        let cycle = &phases[phases.len() - 5..];
        let gains: Vec<i64> = cycle.iter().map(|&(gain, _)| gain).collect();
        let start = gains.iter().position(|&gain| gain == 125).expect("a probe");
        assert_eq!([gains[start + 1], gains[start + 2]], [75, 100]);
        for &(gain, ms) in &cycle[..4] {
            let rtts = if gain == 100 { 6 } else { 1 };
            assert!((100 * rtts..=102 * rtts).contains(&ms), "{gain}: {ms} ms");
        }
    }

    #[test]
    fn probe_rtt_takes_200_ms_at_four_segments_when_the_minimum_is_ten_seconds_old() {
        let mut d = in_probe_bw();
        d.set_rtt(120);
        let mut at_four = 0;
        let mut first = None;
        for ms in 0..11_000 {
            let in_flight = d.cwnd().min(110);
            run(&mut d, BOTTLENECK, 1, in_flight);
            if d.cwnd() == 4 {
                at_four += 1;
                first = first.or(Some(ms));
            }
        }
        assert!((10_000..10_010).contains(&first.expect("ProbeRTT")), "{first:?}");
        assert!((195..=310).contains(&at_four), "{at_four} ms");
        assert!(d.cwnd() > 100, "the window is restored");
    }

    #[test]
    fn the_window_tends_to_twice_the_bdp() {
        let mut d = in_probe_bw();
        run(&mut d, BOTTLENECK, 800, 110);
        // 2 * 100 segments, three quanta, two segments while probing, and the aggregation allowance.
        assert!((203..=215).contains(&d.cwnd()), "{}", d.cwnd());
    }
}
