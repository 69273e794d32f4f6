//! BBR version 1 as Linux has it (`tcp_bbr.c` of 7.3; Cardwell et al., ACM Queue 2016; draft-cardwell-iccrg-bbr-congestion-control-00),
//! for the profile `linux`.
//!
//! Windows are whole segments, times microseconds, gains 256ths and bandwidths 2^-24 segments a microsecond, so that each number is
//! the kernel's.  What ns-3's class lacks of it: a window that recovery conserves and that is restored afterwards, samples of round
//! trips in place of their mean, bursts that grow with the rate, a policed path's rate ([`policer`]), and how much acknowledgements
//! come in clusters ([`clusters`]).

mod clusters;
mod model;
mod policer;
mod window;

use clusters::Clusters;
use model::{Bandwidth, GAIN, Model};
use policer::{Policer, Policing};

use super::BuildContext;
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::host::tcp::control::{CaEvent, CongestionControl, Control, EarlyAck};
use crate::host::tcp::rate::{AckSample, RateSample};
use crate::host::tcp::{CongState, Tcb};

/// Section 4.3.4.2 of the draft: probe, drain what the probe queued, cruise; in 256ths.
const PACING_GAINS: [u32; 8] = [320, 192, GAIN, GAIN, GAIN, GAIN, GAIN, GAIN];
const CWND_GAIN: u32 = 2 * GAIN;
/// Section 4.3.2.2: growth in a round below which the pipe counts as full, and in how many.
const STARTUP_GROWTH: u32 = GAIN * 5 / 4;
const FULL_PIPE_ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// ProbeRTT, once there is little in flight.
#[derive(Clone, Copy, Debug)]
struct Probing {
    /// In ms.
    end: u64,
    is_round_over: bool,
}

#[derive(Debug)]
pub(super) struct LinuxBbr {
    high_gain: u32,
    probe_rtt_duration: Time,
    stream: u64,
    seed: u64,

    is_open: bool,
    mode: Mode,
    pacing_gain: u32,
    cwnd_gain: u32,
    model: Model,
    policer: Policer,
    clusters: Clusters,

    pipe_is_full: bool,
    full_bw: Bandwidth,
    full_bw_rounds: u32,

    phase: usize,
    /// When it began, in us.
    phase_start: u64,

    probing: Option<Probing>,
    idle_restart: bool,
    /// With the ACK in hand.
    limits_itself: bool,

    has_seen_rtt: bool,
    /// In segments.
    prior_cwnd: u32,
    prior_state: CongState,
    conserves: bool,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    let a = &cx.attributes;
    let high_gain = (a.f64("HighGain") * f64::from(GAIN)) as u32;
    Control::rate(LinuxBbr {
        high_gain,
        probe_rtt_duration: a.time("ProbeRttDuration"),
        stream: u64::from(a.u32("Stream")),
        seed: cx.seed,
        is_open: false,
        mode: Mode::Startup,
        pacing_gain: high_gain,
        cwnd_gain: high_gain,
        model: Model::new(a.u32("BwWindowLength"), a.time("RttWindowLength")),
        policer: Policer::default(),
        clusters: Clusters::new(a.u32("ExtraAckedRttWindowLength")),
        pipe_is_full: false,
        full_bw: Bandwidth::default(),
        full_bw_rounds: 0,
        phase: 0,
        phase_start: 0,
        probing: None,
        idle_restart: false,
        limits_itself: false,
        has_seen_rtt: false,
        prior_cwnd: 0,
        prior_state: CongState::Open,
        conserves: false,
    })
}

/// What an ACK says, in the kernel's units.
#[derive(Clone, Copy, Debug)]
struct Ack {
    /// All in segments: in flight before it and after it.
    prior_in_flight: u32,
    in_flight: u32,
    /// What it delivers, and what is lost by it.
    acked: u32,
    losses: u32,
    is_app_limited: bool,
    sample: Option<Delivery>,
}

/// A sample of the rate.
#[derive(Clone, Copy, Debug)]
struct Delivery {
    /// In segments, of how many us, and how many were delivered before that.
    delivered: u32,
    interval: u64,
    prior_delivered: u64,
}

impl Ack {
    fn new(tcb: &Tcb, AckSample { connection, rate }: AckSample<'_>) -> Ack {
        let size = tcb.segment_size;
        Ack {
            prior_in_flight: rate.prior_in_flight.div_ceil(size),
            in_flight: tcb.bytes_in_flight.div_ceil(size),
            acked: rate.acked_sacked.div_ceil(size),
            losses: rate.newly_lost.div_ceil(size),
            is_app_limited: rate.is_app_limited,
            sample: Delivery::new(connection.delivered, rate, size),
        }
    }
}

impl Delivery {
    fn new(so_far: u64, rate: &RateSample, size: u32) -> Option<Delivery> {
        let delivered = u32::try_from(rate.delivered).ok()?;
        (!rate.interval.is_zero()).then(|| Delivery {
            delivered: delivered.div_ceil(size),
            interval: in_us(rate.interval),
            prior_delivered: so_far.saturating_sub(u64::from(delivered)).div_ceil(u64::from(size)),
        })
    }
}

fn in_us(time: Time) -> u64 {
    time.0 / 1000
}

impl CongestionControl for LinuxBbr {
    /// Leaves ssthresh alone; its call announces an episode, so the window is remembered.
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        self.save_cwnd(tcb);
        tcb.ssthresh
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        match state {
            CongState::Open if !self.is_open => self.open(tcb),
            CongState::Loss => {
                self.prior_state = state;
                self.full_bw = Bandwidth::default();
                self.model.rounds.starts = true;
                self.policer.on_timeout(&self.model);
            }
            _ => {}
        }
    }

    fn undo(&mut self, tcb: &Tcb, _cwnd: u32) -> u32 {
        self.full_bw = Bandwidth::default();
        self.full_bw_rounds = 0;
        self.policer.reset(&self.model);
        tcb.cwnd
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        if event == CaEvent::TxStart && tcb.is_app_limited {
            self.idle_restart = true;
            self.clusters.restart(in_us(tcb.now));
            match self.mode {
                Mode::ProbeBw => self.set_pacing_rate(tcb, GAIN),
                Mode::ProbeRtt => self.leave_probe_rtt_if_done(tcb),
                Mode::Startup | Mode::Drain => {}
            }
        }
        None
    }

    fn pkts_acked(&mut self, _tcb: &mut Tcb, _segments: u32, rtt: Time) {
        self.model.rtt_of_ack = Some(in_us(rtt));
    }

    fn cong_control(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        let ack = Ack::new(tcb, sample);
        self.model.hear(sample.connection);
        self.update_bandwidth(tcb, &ack);
        self.clusters.on_ack(&ack, &self.model, self.bandwidth(), tcb.cwnd_segments());
        self.update_phase(tcb, &ack);
        self.check_full_pipe(&ack);
        self.check_drain(tcb, &ack);
        self.update_min_rtt(tcb, &ack);
        self.update_gains();

        self.set_pacing_rate(tcb, self.pacing_gain);
        self.set_cwnd(tcb, &ack);
    }

    fn limits_itself(&self) -> bool {
        self.limits_itself
    }
}

/// The states.
impl LinuxBbr {
    fn open(&mut self, tcb: &mut Tcb) {
        self.is_open = true;
        tcb.pacing = true;
        tcb.ssthresh = tcb.initial_ssthresh;
        self.model.open(tcb);
        self.init_pacing_rate(tcb);
        self.clusters.restart(in_us(tcb.now));
    }

    fn bandwidth(&self) -> Bandwidth {
        self.policer.rate().unwrap_or(self.model.max_bw.get())
    }

    fn update_bandwidth(&mut self, tcb: &Tcb, ack: &Ack) {
        let rounds = &mut self.model.rounds;
        rounds.starts = false;
        let Some(sample) = ack.sample else { return };
        if sample.prior_delivered >= rounds.end {
            rounds.end = self.model.delivered;
            rounds.count += 1;
            rounds.starts = true;
            self.conserves = false;
        }
        match self.policer.on_ack(ack, &self.model, self.mode == Mode::ProbeBw) {
            Policing::Goes => {}
            Policing::Begins => self.pacing_gain = GAIN,
            Policing::Ends => self.enter_probe_bw(tcb),
        }
        let bandwidth = Bandwidth::of(u64::from(sample.delivered), sample.interval);
        self.model.take(bandwidth, ack.is_app_limited);
    }

    fn update_phase(&mut self, tcb: &Tcb, ack: &Ack) {
        if self.mode == Mode::ProbeBw && self.phase_is_over(tcb, ack) {
            self.next_phase();
        }
    }

    fn phase_is_over(&self, tcb: &Tcb, ack: &Ack) -> bool {
        let age = self.model.delivered_at.saturating_sub(self.phase_start);
        let lasted = age > self.model.min_rtt.us;
        let gain = self.pacing_gain;
        if gain == GAIN {
            return lasted;
        }
        let in_flight = self.in_network(tcb, ack.prior_in_flight);
        let most = self.model.max_bw.get();
        if gain > GAIN {
            lasted && (ack.losses > 0 || in_flight >= self.wanted(tcb, most, gain))
        } else {
            lasted || in_flight <= self.wanted(tcb, most, GAIN)
        }
    }

    /// What will be in flight when the next segment may leave.
    fn in_network(&self, tcb: &Tcb, in_flight: u32) -> u32 {
        let wait = in_us(tcb.next_departure.max(tcb.now) - tcb.now);
        let delivered = self.bandwidth().segments_in(wait);
        let burst = if self.pacing_gain > GAIN { window::burst(tcb) } else { 0 };
        u64::from(in_flight + burst).saturating_sub(delivered) as u32
    }

    fn next_phase(&mut self) {
        self.phase = (self.phase + 1) % PACING_GAINS.len();
        self.phase_start = self.model.delivered_at;
    }

    /// In any phase but the one that drains, as there is nothing to drain.
    fn enter_probe_bw(&mut self, tcb: &Tcb) {
        self.mode = Mode::ProbeBw;
        // Connections of one run differ by when they come here.
        let seed = self.seed.wrapping_add(in_us(tcb.now)) & 0xffff_ffff;
        let drawn = RngStream::fixed(seed, self.stream).uniform(0.0, 7.0) as usize;
        self.phase = PACING_GAINS.len() - 1 - drawn;
        self.next_phase();
    }

    fn check_full_pipe(&mut self, ack: &Ack) {
        if self.pipe_is_full || !self.model.rounds.starts || ack.is_app_limited {
            return;
        }
        let most = self.model.max_bw.get();
        if most >= self.full_bw.scaled(STARTUP_GROWTH) {
            self.full_bw = most;
            self.full_bw_rounds = 0;
            return;
        }
        self.full_bw_rounds += 1;
        self.pipe_is_full = self.full_bw_rounds >= FULL_PIPE_ROUNDS;
    }

    fn check_drain(&mut self, tcb: &mut Tcb, ack: &Ack) {
        let most = self.model.max_bw.get();
        if self.mode == Mode::Startup && self.pipe_is_full {
            self.mode = Mode::Drain;
            tcb.ssthresh = self.wanted(tcb, most, GAIN).saturating_mul(tcb.segment_size);
        }
        let is_left = self.mode == Mode::Drain
            && self.in_network(tcb, ack.in_flight) <= self.wanted(tcb, most, GAIN);
        if is_left {
            self.enter_probe_bw(tcb);
        }
    }

    fn update_min_rtt(&mut self, tcb: &mut Tcb, ack: &Ack) {
        let is_expired = self.model.hear_round_trip(tcb);
        if is_expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd(tcb);
            self.mode = Mode::ProbeRtt;
            self.probing = None;
        }
        self.limits_itself = self.mode == Mode::ProbeRtt;
        if self.limits_itself {
            self.probe_rtt(tcb, ack);
        }
        if ack.sample.is_some_and(|sample| sample.delivered > 0) {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, tcb: &mut Tcb, ack: &Ack) {
        match &mut self.probing {
            None if ack.in_flight <= window::LEAST => {
                let end = tcb.now.ms() + self.probe_rtt_duration.ms();
                self.probing = Some(Probing { end, is_round_over: false });
                self.model.rounds.end = self.model.delivered;
            }
            None => {}
            Some(probing) => {
                probing.is_round_over |= self.model.rounds.starts;
                if probing.is_round_over {
                    self.leave_probe_rtt_if_done(tcb);
                }
            }
        }
    }

    fn leave_probe_rtt_if_done(&mut self, tcb: &mut Tcb) {
        let is_done = self.probing.is_some_and(|probing| tcb.now.ms() > probing.end);
        if !is_done {
            return;
        }
        self.model.min_rtt.renew(tcb);
        tcb.cwnd = tcb.cwnd.max(self.prior_cwnd * tcb.segment_size);
        if self.pipe_is_full {
            self.enter_probe_bw(tcb);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        let high = self.high_gain;
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (high, high),
            Mode::Drain => ((GAIN * GAIN / high).max(1), high),
            Mode::ProbeBw if self.policer.rate().is_some() => (GAIN, CWND_GAIN),
            Mode::ProbeBw => (PACING_GAINS[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (GAIN, GAIN),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS};
    use crate::base::time::Time;
    use crate::host::tcp::CongState;
    use crate::host::tcp::control::{CaEvent, TcpStack};
    use crate::host::tcp::rate::{AckSample, RateSample};

    /// 100 ms, 10 segments; the path carries a segment in a millisecond.
    fn driver() -> Driver {
        Driver::on(TcpStack::Linux, "TcpBbr", &[])
    }

    /// A millisecond later the ACK of a segment comes, with the sample of a round trip: `delivered` segments, a hundred on this path.
    fn sample(d: &mut Driver, delivered: u32, in_flight: u32, lost: u32) {
        d.advance(Time::from_ms(1));
        d.control.pkts_acked(&mut d.tcb, 1, d.rtt);
        d.tcb.bytes_in_flight = in_flight * MSS;
        d.delivery.delivered += u64::from(MSS);
        d.delivery.lost += u64::from(lost * MSS);
        d.delivery.delivered_time = d.tcb.now;
        let rate = RateSample {
            interval: d.rtt,
            delivered: (delivered * MSS) as i32,
            prior_in_flight: (in_flight + 1) * MSS,
            acked_sacked: MSS,
            newly_lost: lost * MSS,
            ..RateSample::default()
        };
        let sample = AckSample { connection: &d.delivery, rate: &rate };
        d.control.algorithm().cong_control(&mut d.tcb, sample);
    }

    fn ack(d: &mut Driver, in_flight: u32) {
        sample(d, in_flight.min(100), in_flight, 0);
    }

    fn acks(d: &mut Driver, count: u32, in_flight: u32) {
        (0..count).for_each(|_| ack(d, in_flight));
    }

    /// Three rounds that bring nothing more, and what is in flight has drained.
    fn in_probe_bw() -> Driver {
        let mut d = driver();
        acks(&mut d, 1000, 100);
        d
    }

    fn pacing(d: &Driver) -> u64 {
        d.tcb.pacing_rate.0 / 8
    }

    #[test]
    fn it_begins_with_the_initial_window_a_round_trip_times_the_high_gain() {
        // 10 segments in 100 ms, 739 / 256 of it, less 1 %, in the kernel's steps.
        let bandwidth = 10 * (1 << 24) / 100_000_u64;
        let expected = (bandwidth * 1000 * 739 / 256 * 990_000) >> 24;
        assert_eq!(pacing(&driver()), expected);
    }

    #[test]
    fn the_window_grows_by_what_is_acknowledged_until_the_pipe_is_full() {
        let mut d = driver();
        acks(&mut d, 5, 10);
        assert_eq!(d.cwnd(), 15);
        let high = pacing(&d);
        acks(&mut d, 600, 100);
        assert!(pacing(&d) > high);
    }

    /// Twice the BDP and three bursts of two, whatever was before.
    #[test]
    fn a_full_pipe_has_a_window_of_two_bdps() {
        let d = in_probe_bw();
        assert!((200..=215).contains(&d.cwnd()), "{}", d.cwnd());
        let gain = pacing(&d) as f64 / 990_000.0;
        assert!([1.25, 0.75, 1.0].iter().any(|wanted| (gain - wanted).abs() < 0.01), "{gain}");
    }

    #[test]
    fn the_gains_change_once_a_round_trip() {
        let mut d = in_probe_bw();
        let mut gains = Vec::new();
        for n in 0..1600 {
            // What the probe has queued is there for a round trip.
            ack(&mut d, if n / 130 % 2 == 0 { 140 } else { 100 });
            let gain = pacing(&d) / 10_000;
            if gains.last() != Some(&gain) {
                gains.push(gain);
            }
        }
        for wanted in [123, 74, 98] {
            assert!(gains.iter().any(|&gain| gain.abs_diff(wanted) <= 1), "{gains:?}");
        }
    }

    #[test]
    fn recovery_conserves_what_is_in_flight_and_gives_the_window_back() {
        let mut d = in_probe_bw();
        let before = d.cwnd();
        d.control.algorithm().ssthresh(&d.tcb, 0);
        d.tcb.cong_state = CongState::Recovery;
        ack(&mut d, 40);
        assert_eq!(d.cwnd(), 41);
        d.tcb.cong_state = CongState::Open;
        ack(&mut d, 40);
        assert!(d.cwnd() >= before, "{} of {before}", d.cwnd());
    }

    #[test]
    fn a_round_trip_of_ten_seconds_ago_is_measured_anew_with_four_segments() {
        let mut d = in_probe_bw();
        d.set_rtt(110);
        d.advance(Time::from_secs(10));
        ack(&mut d, 100);
        assert_eq!(d.cwnd(), 4);
        assert!(d.control.limits_itself());
        acks(&mut d, 250, 4);
        assert!(d.cwnd() > 4, "a round, and 200 ms, are over");
        assert!(!d.control.limits_itself());
    }

    /// A fifth is lost in four rounds, and in four more, while as much is delivered: that is the policer's rate, half of what a
    /// burst had shown.
    #[test]
    fn the_rate_of_a_policed_path_is_used_in_place_of_the_maximum() {
        let mut d = in_probe_bw();
        let before = pacing(&d);
        for n in 0..1500 {
            d.advance(Time::from_ms(1)); // a segment in two
            sample(&mut d, 50, 50, u32::from(n % 4 == 0));
        }
        // The path carries more for ten rounds, and nobody asks.
        (0..1000).for_each(|_| sample(&mut d, 100, 140, 0));
        assert!((pacing(&d) as f64 / 495_000.0 - 1.0).abs() < 0.02, "{} of {before}", pacing(&d));
        // It is probed again after 48.
        (0..5000).for_each(|_| sample(&mut d, 100, 140, 0));
        assert!(pacing(&d) > 700_000, "{}", pacing(&d));
    }

    #[test]
    fn what_begins_after_a_silence_is_paced_at_the_bandwidth() {
        let mut d = in_probe_bw();
        d.tcb.is_app_limited = true;
        d.control.algorithm().cwnd_event(&mut d.tcb, CaEvent::TxStart);
        assert!((pacing(&d) as f64 / 990_000.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn slow_paths_have_bursts_of_one_segment() {
        let mut d = in_probe_bw();
        assert_eq!(d.tcb.least_burst, 2);
        // A tenth of the rate, until the maximum is forgotten.
        for _ in 0..20 {
            d.advance(Time::from_secs(1));
            acks(&mut d, 10, 10);
        }
        assert_eq!(d.tcb.least_burst, 1);
    }
}
