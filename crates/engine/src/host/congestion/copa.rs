//! Copa (Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018): steers its
//! rate to one that falls as the queue grows, and holds its own beside flows that fill it.
//!
//! ```text
//! target rate = 1 / (delta d_q), in segments      d_q = RTT_standing - RTT_min
//! rate        = W / RTT_standing
//! each ACK of n segments:   W += n v / (delta W)  if rate <= target, else W -= n v / (delta W)
//! pacing at 2 W / RTT_standing
//! ```
//!
//! RTT_standing is the least round trip of half an SRTT, RTT_min of ten seconds (section 2.1).  The velocity v doubles once
//! a window while W goes on in one direction, from the third such window on, and is 1 again after a turn.  W
//! doubles each round trip until the rate first exceeds the target.  So a queue holds between 0 and 2.5 / delta segments
//! of a flow, 1.25 / delta on average, and empties every five round trips (section 3).
//!
//! Competition (section 2.2): if the queue has not been nearly empty for five round trips, d_q below a tenth of what round trips
//! of the last four vary by, somebody else fills it.  Then 1 / delta grows by one a round trip and is halved by a loss,
//! as a window of NewReno, but stays at least the default; it is the default again as soon as the queue empties.
//!
//! Out of competition losses mean nothing (section 2.4); they are retransmitted by the rules of TCP.
//!
//! Departures: W at most doubles or halves in a round trip: n more or n / 2 less with an ACK, however large v.  (What a window
//! in the wrong direction costs shows a round trip late.)  W is at least two segments.  After a timeout, of which the paper says
//! nothing, W begins there, in slow start.

use std::collections::VecDeque;

use super::BuildContext;
use crate::base::attributes::{Kind, Spec, param};
use crate::base::time::{Rate, Time};
use crate::host::tcp::control::{CongestionControl, Control};
use crate::host::tcp::rate::AckSample;
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpCopa",
    linux: &["copa"],
    is_in_linux: false,
    doc: "A delay-based algorithm whose rate is inversely proportional to the queueing delay; competes with loss-based flows.",
    source: "Arun and Balakrishnan, NSDI 2018",
    departures: &[
        "the window at most doubles or halves in a round trip, however large the velocity",
        "after a timeout the window begins anew at two segments",
    ],
    params: &[
        param!["Delta", "delta"; Kind::Real { min: 1e-3, max: 1.0 } => "0.5";
            "How much delay counts for against throughput, where it does not compete."],
        param!["ModeSwitching"; Kind::Bool => "true"; "Compete with flows that fill the queue."],
    ],
};

const LEAST_WINDOW: f64 = 2.0;
const RTT_MIN_WINDOW: Time = Time::from_secs(10);
/// In round trips.
const VARIATION_WINDOW: u64 = 4;
const EMPTY_WITHIN: u64 = 5;
/// Windows in one direction before the velocity doubles.
const STEADY_WINDOWS: u32 = 3;

#[derive(Debug)]
pub struct Copa {
    /// delta, where it does not compete.
    least_delta: f64,
    switches: bool,
    has_started: bool,
    /// W, in segments.
    window: f64,
    is_in_slow_start: bool,
    rtt_min: Extreme,
    rtt_standing: Extreme,
    rtt_max: Extreme,
    /// When the queue was nearly empty last.
    emptied_at: Time,
    /// 1 / delta while it competes.
    competing: Option<f64>,
    has_lost: bool,
    velocity: f64,
    is_rising: bool,
    /// Windows that have ended in that direction.
    steady: u32,
    /// The present window of data: what is delivered when it ends, in bytes, and W when it began.
    round_end: u64,
    round_window: f64,
}

/// The least value of a sliding window of time, or the largest.
#[derive(Debug)]
struct Extreme {
    largest: bool,
    /// When they came; each is to be the extreme once those before are too old.
    kept: VecDeque<(Time, Time)>,
}

impl Extreme {
    fn new(largest: bool) -> Extreme {
        Extreme { largest, kept: VecDeque::new() }
    }

    fn update(&mut self, now: Time, value: Time, window: Time) -> Time {
        while let Some(&(_, last)) = self.kept.back()
            && (if self.largest { last <= value } else { last >= value })
        {
            self.kept.pop_back();
        }
        self.kept.push_back((now, value));
        while self.kept[0].0 + window < now {
            self.kept.pop_front();
        }
        self.kept[0].1
    }
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    Control::rate(made(cx))
}

fn made(cx: &BuildContext<'_>) -> Copa {
    Copa {
        least_delta: cx.attributes.f64("Delta"),
        switches: cx.attributes.bool("ModeSwitching"),
        has_started: false,
        window: 0.0,
        is_in_slow_start: true,
        rtt_min: Extreme::new(false),
        rtt_standing: Extreme::new(false),
        rtt_max: Extreme::new(true),
        emptied_at: Time::ZERO,
        competing: None,
        has_lost: false,
        velocity: 1.0,
        is_rising: true,
        steady: 0,
        round_end: 0,
        round_window: 0.0,
    }
}

impl CongestionControl for Copa {
    fn init(&mut self, tcb: &mut Tcb) {
        tcb.pacing = true;
    }

    /// What the socket makes the window when an episode of recovery is over.
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        tcb.cwnd.max(2 * tcb.segment_size)
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        match state {
            CongState::Open if !self.has_started => {
                self.has_started = true;
                self.window = f64::from(tcb.cwnd_segments());
                self.round_window = self.window;
                self.emptied_at = tcb.now;
            }
            CongState::Loss => {
                self.window = LEAST_WINDOW;
                self.is_in_slow_start = true;
            }
            _ => {}
        }
    }

    fn cong_control(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        self.has_lost |= sample.rate.newly_lost > 0;
        // What was retransmitted has no round trip (Karn's algorithm).
        let Some(rtt) = sample.rate.rtt.filter(|_| sample.rate.acked_sacked > 0) else { return };
        let acked = f64::from(sample.rate.acked_sacked) / f64::from(tcb.segment_size);
        let srtt = if tcb.srtt.is_zero() { rtt } else { tcb.srtt };
        let least = self.rtt_min.update(tcb.now, rtt, RTT_MIN_WINDOW);
        let standing = self.rtt_standing.update(tcb.now, rtt, Time(srtt.0 / 2));
        let most = self.rtt_max.update(tcb.now, rtt, Time(srtt.0 * VARIATION_WINDOW));
        let queueing = standing - least;
        self.switch_mode(tcb.now, srtt, queueing, most - least);
        if sample.rate.prior_delivered >= self.round_end {
            self.end_window();
            self.round_end = sample.connection.delivered;
        }
        self.move_window(acked, standing, queueing);
        tcb.cwnd = (self.window * f64::from(tcb.segment_size)) as u32;
        let bits = 2.0 * 8.0 * f64::from(tcb.cwnd);
        tcb.pacing_rate = Rate((bits / standing.secs_f64()) as u64).min(tcb.max_pacing_rate);
    }

    /// Losses change the window only by delta.
    fn undo(&mut self, tcb: &Tcb, prior_cwnd: u32) -> u32 {
        self.window = self.window.max(f64::from(prior_cwnd) / f64::from(tcb.segment_size));
        tcb.cwnd.max(prior_cwnd)
    }
}

impl Copa {
    fn delta(&self) -> f64 {
        self.competing.map_or(self.least_delta, |inverse| 1.0 / inverse)
    }

    /// Section 2.2.
    fn switch_mode(&mut self, now: Time, srtt: Time, queueing: Time, variation: Time) {
        if queueing.0 * 10 <= variation.0 {
            self.emptied_at = now;
            self.competing = None;
        } else if self.switches
            && self.competing.is_none()
            && now > self.emptied_at + Time(srtt.0 * EMPTY_WITHIN)
        {
            self.competing = Some(1.0 / self.least_delta);
        }
    }

    /// A window of data has been acknowledged.
    fn end_window(&mut self) {
        let is_rising = self.window > self.round_window;
        self.steady = if is_rising == self.is_rising { self.steady + 1 } else { 0 };
        self.is_rising = is_rising;
        self.velocity = if self.steady >= STEADY_WINDOWS { self.velocity * 2.0 } else { 1.0 };
        self.round_window = self.window;
        let has_lost = std::mem::take(&mut self.has_lost);
        if let Some(inverse) = &mut self.competing {
            let next = if has_lost { *inverse / 2.0 } else { *inverse + 1.0 };
            *inverse = next.max(1.0 / self.least_delta);
        }
    }

    /// Section 2.1, steps 1 to 4.
    fn move_window(&mut self, acked: f64, standing: Time, queueing: Time) {
        let delta = self.delta();
        let is_below = delta * self.window * queueing.secs_f64() <= standing.secs_f64();
        self.is_in_slow_start &= is_below;
        if self.is_in_slow_start {
            self.window += acked;
            return;
        }
        if is_below != self.is_rising && self.velocity > 1.0 {
            (self.velocity, self.steady, self.is_rising) = (1.0, 0, is_below);
        }
        let change = acked * self.velocity / (delta * self.window);
        self.window += if is_below { change.min(acked) } else { -change.min(acked / 2.0) };
        self.window = self.window.max(LEAST_WINDOW);
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS, with_context};
    use super::super::path::{Path, Run};
    use super::*;

    /// Out of slow start, with ten segments.
    fn copa() -> Copa {
        let fresh = with_context(&SPEC, &[], made);
        let (window, is_in_slow_start) = (10.0, false);
        Copa { has_started: true, window, round_window: window, is_in_slow_start, ..fresh }
    }

    /// Alone on a link of 2,000 segments a second and 50 ms, a BDP of 100 segments, with room for 400.
    fn alone(delta: f64) -> Run<Copa> {
        let link =
            Path { rate: Rate(16_000_000), rtt: Time::from_ms(50), buffer: 400, ..Path::default() };
        let fresh = Copa { least_delta: delta, ..with_context(&SPEC, &[], made) };
        Run::new(fresh, link)
    }

    fn ack(d: &mut Driver, rtt: Time, newly_lost: u32) {
        d.delivery.delivered += u64::from(MSS);
        let prior = d.delivery.delivered.saturating_sub(u64::from(d.tcb.cwnd));
        let rate = crate::host::tcp::rate::RateSample {
            prior_delivered: prior,
            acked_sacked: MSS,
            newly_lost,
            rtt: Some(rtt),
            ..Default::default()
        };
        let sample = AckSample { connection: &d.delivery, rate: &rate };
        d.control.algorithm().cong_control(&mut d.tcb, sample);
    }

    /// Section 2.1: v / (delta W) a segment, up where W / RTT_standing is at most 1 / (delta d_q).
    #[test]
    fn an_ack_moves_the_window_by_its_law() {
        let ms = Time::from_ms;
        for (delta, window, velocity, queueing, moves) in [
            (0.5, 10.0, 1.0, 0, 0.2),
            (0.5, 10.0, 1.0, 20, 0.2), // 10 / 100 ms = 1 / (0.5 * 20 ms): the target
            (0.5, 10.0, 1.0, 21, -0.2),
            (0.1, 50.0, 1.0, 20, 0.2),
            (0.5, 10.0, 4.0, 0, 0.8),
            (0.5, 10.0, 64.0, 0, 1.0), // no more than what is acknowledged
            (0.5, 10.0, 64.0, 99, -0.5),
        ] {
            let mut copa = copa();
            (copa.least_delta, copa.window, copa.velocity) = (delta, window, velocity);
            copa.is_rising = moves > 0.0;
            copa.move_window(1.0, ms(100), ms(queueing));
            assert!((copa.window - window - moves).abs() < 1e-9, "{}", copa.window);
        }
        let mut least = copa();
        least.window = 2.0;
        least.move_window(1.0, ms(100), ms(199));
        assert_eq!(least.window, 2.0);
    }

    /// The velocity doubles from the third window in one direction on, and a turn makes it 1.
    #[test]
    fn the_velocity_doubles_after_three_windows_in_one_direction() {
        let mut copa = copa();
        let mut velocities = vec![];
        for _ in 0..6 {
            copa.window += 1.0;
            copa.end_window();
            velocities.push(copa.velocity);
        }
        assert_eq!(velocities, [1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
        copa.move_window(1.0, Time::from_ms(100), Time::from_ms(99));
        assert_eq!((copa.velocity, copa.steady, copa.is_rising), (1.0, 0, false));
        // The window in which it turns is none of the three.
        copa.is_rising = true;
        let falling = [(); 4].map(|()| {
            copa.window -= 1.0;
            copa.end_window();
            copa.velocity
        });
        assert_eq!(falling, [1.0, 1.0, 1.0, 2.0]);
    }

    /// Section 2.1: RTT_standing is the least round trip of half an SRTT, by which it paces.
    #[test]
    fn it_paces_at_twice_the_rate_of_the_standing_round_trip() {
        let mut d = Driver::new(SPEC.ns3, &[]);
        d.tcb.max_pacing_rate = Rate(u64::MAX);
        for (wait, rtt, standing) in [(0, 100, 100), (10, 120, 100), (41, 150, 120), (51, 140, 140)]
        {
            d.advance(Time::from_ms(wait));
            d.tcb.srtt = Time::from_ms(100);
            ack(&mut d, Time::from_ms(rtt), 0);
            let wanted = 2 * 8 * u64::from(d.tcb.cwnd) * 1000 / standing;
            assert!(
                d.tcb.pacing_rate.0.abs_diff(wanted) <= 1,
                "{wait} {rtt}: {:?}",
                d.tcb.pacing_rate
            );
        }
    }

    /// Slow start: twice the window a round trip, until the rate exceeds the target, which it hears of a round trip late.
    #[test]
    fn it_doubles_until_the_rate_exceeds_the_target() {
        let mut run = alone(0.5);
        let mut windows = vec![];
        for _ in 0..3 {
            run.run(Time(50_500_000), |_| {});
            windows.push(run.control.window);
        }
        let doubles = windows.windows(2).all(|pair| pair[1] > 1.8 * pair[0]);
        assert!(doubles && windows[0] > 10.0, "{windows:?}");
        let mut most = 0.0_f64;
        run.run(Time::from_secs(2), |run| most = most.max(run.control.window));
        assert!(!run.control.is_in_slow_start && (100.0..300.0).contains(&most), "{most}");
    }

    /// Section 3: 1.25 / delta segments wait on average, now and then none does, and the link is in use.
    #[test]
    fn the_queue_is_that_of_the_analysis() {
        for inverse in [2.0, 4.0, 10.0] {
            let mut run = alone(1.0 / inverse);
            run.run(Time::from_secs(10), |_| {});
            let (mut sum, mut acks, mut least) = (0.0, 0.0, f64::INFINITY);
            let before = run.connection.delivered;
            run.run(Time::from_secs(30), |run| {
                // What is in flight beyond the path.
                let queued = f64::from(run.tcb.bytes_in_flight) / f64::from(MSS) - 100.0;
                (sum, acks) = (sum + queued.max(0.0), acks + 1.0);
                least = least.min(queued);
            });
            let mean = sum / acks;
            assert!(
                (0.5..2.0).contains(&(mean / (1.25 * inverse))),
                "{inverse}: {mean} on average"
            );
            assert!(least < 1.5, "{inverse}: {least} at least");
            let share = (run.connection.delivered - before) as f64 / (30.0 * 2_000_000.0);
            assert!(share > 0.97, "{inverse}: {share}");
            assert!(run.control.competing.is_none());
        }
    }

    /// Section 2.2: a queue that does not empty for five round trips makes it compete, one that does ends that; 1 / delta grows
    /// by one a window, and is halved by a loss.
    #[test]
    fn a_queue_that_others_fill_makes_it_compete() {
        let (mut copa, ms) = (copa(), Time::from_ms);
        copa.switch_mode(ms(1000), ms(100), ms(9), ms(100));
        for (at, competes) in [(1100, false), (1500, false), (1501, true)] {
            copa.switch_mode(ms(at), ms(100), ms(50), ms(100));
            assert_eq!(copa.competing.is_some(), competes, "{at}");
        }
        assert_eq!(copa.delta(), 0.5);
        (0..6).for_each(|_| copa.end_window());
        assert_eq!(copa.competing, Some(8.0));
        copa.has_lost = true;
        copa.end_window();
        assert_eq!((copa.competing, copa.has_lost), (Some(4.0), false));
        for _ in 0..3 {
            copa.has_lost = true;
            copa.end_window();
        }
        assert_eq!(copa.competing, Some(2.0));
        copa.switch_mode(ms(2000), ms(100), ms(10), ms(100));
        assert_eq!((copa.competing, copa.delta()), (None, 0.5));
        copa.switches = false;
        copa.switch_mode(ms(9000), ms(100), ms(50), ms(100));
        assert_eq!(copa.competing, None);
    }

    /// Losses alone change nothing, but a timeout begins anew.
    #[test]
    fn losses_mean_nothing_and_timeouts_begin_anew() {
        let mut d = Driver::new(SPEC.ns3, &[]).with_cwnd(50);
        for _ in 0..40 {
            ack(&mut d, Time::from_ms(100), 0);
        }
        let before = d.cwnd();
        d.fast_recovery();
        ack(&mut d, Time::from_ms(100), MSS);
        assert!(d.cwnd() >= before, "{}", d.cwnd());
        d.timeout();
        ack(&mut d, Time::from_ms(100), 0);
        assert_eq!(d.cwnd(), 3);
    }

    /// The window of a minimum is in time, its ends included.
    #[test]
    fn extremes_expire() {
        let (mut least, mut most) = (Extreme::new(false), Extreme::new(true));
        let values = [5, 7, 3, 8, 6, 6, 9, 4];
        for (i, _) in values.iter().enumerate() {
            let now = Time(i as u64);
            let of = &values[i.saturating_sub(2)..=i];
            let value = Time(values[i]);
            assert_eq!(least.update(now, value, Time(2)).0, *of.iter().min().unwrap());
            assert_eq!(most.update(now, value, Time(2)).0, *of.iter().max().unwrap());
        }
    }
}
