//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-01): LEDBAT by round trips, that shares with others of its kind and is slower than
//! Reno everywhere.
//!
//! With `delay` the least of the last four round trips less `base`, the least of ten minutes, in segments each round trip:
//!
//! ```text
//! GAIN = 1 / min(16, ceil(2 TARGET / base))                          (section 4.2)
//! slow start:        W += GAIN W;  the first ends at delay > 3/4 TARGET  (section 4.1)
//! delay <= TARGET:   W += GAIN
//! beyond:            W += max(GAIN - W (delay / TARGET - 1), -W / 2)  (section 4.3)
//! ```
//!
//! Slowdowns (section 4.4) show every flow the empty queue: the first two round trips after slow start.  ssthresh becomes W, and W two
//! segments for two round trips; then slow start brings it back.  The next one begins after nine times as long as that took.
//!
//! Above the target it settles at delay = TARGET (1 + GAIN / W).
//!
//! What is per round trip is spread over its ACKs.  Departure: a loss during a slowdown halves what it returns to, which the draft leaves
//! open.

use super::{BuildContext, new_reno};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::time::Time;
use crate::host::tcp::Tcb;
use crate::host::tcp::control::CongestionControl;
use crate::host::tcp::rate::AckSample;

pub const SPEC: Spec = Spec {
    ns3: "TcpLedbatPlusPlus",
    linux: &["ledbat++"],
    is_in_linux: false,
    doc: "Background transfer: a bounded queueing delay, equal shares, and less than Reno.",
    source: "draft-irtf-iccrg-ledbat-plus-plus-01",
    departures: &["a loss during a slowdown halves the window to which it returns"],
    params: &[
        param!["TargetDelay", "target"; Kind::Period => "60ms";
            "TARGET: queueing delay that the flow may add."],
        param!["Slowdowns"; Kind::Bool => "true"; "Initial and periodic slowdowns."],
    ],
};

/// In segments: at first, in a slowdown, and at least.
const LEAST_WINDOW: u32 = 2;
const LARGEST_DIVISOR: u64 = 16;
/// Of each round trip, that much of an excess of TARGET is taken off the window.
const CONSTANT: f64 = 1.0;
const LARGEST_DECREASE: f64 = 0.5;
/// Of TARGET, at which the first slow start ends.
const EXIT_DELAY: f64 = 0.75;
/// From slow start to the first slowdown, and how long a slowdown lasts; in round trips.
const BEFORE_FIRST: u64 = 2;
const FROZEN: u64 = 2;
/// From one slowdown to the next: so many times what the last one took.
const PAUSE: u64 = 9;

const FILTER: usize = 4;
const MINUTES: usize = 10;
const MINUTE: Time = Time::from_secs(60);

#[derive(Debug)]
pub struct LedbatPlusPlus {
    target: Time,
    slowdowns: bool,
    current: Least<FILTER>,
    base: Least<MINUTES>,
    /// When the present minute of `base` began.
    minute: Time,
    /// Growth that is less than a byte.
    rest: f64,
    phase: Phase,
    /// Never, in a slow start and where there are none.
    next_slowdown: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first slow start.
    Start,
    Steady,
    /// cwnd is two segments; then slow start to `ssthresh`.
    Frozen {
        since: Time,
        until: Time,
        ssthresh: u32,
    },
    /// That slow start.
    Return {
        since: Time,
    },
}

/// The least of the last N values.
#[derive(Debug)]
struct Least<const N: usize> {
    values: [Time; N],
    next: usize,
}

impl<const N: usize> Least<N> {
    const EMPTY: Least<N> = Least { values: [Time::MAX; N], next: 0 };

    fn push(&mut self, value: Time) {
        self.values[self.next] = value;
        self.next = (self.next + 1) % N;
    }

    fn lower_newest(&mut self, value: Time) {
        let newest = &mut self.values[(self.next + N - 1) % N];
        *newest = value.min(*newest);
    }

    fn get(&self) -> Time {
        self.values.into_iter().min().unwrap_or(Time::MAX)
    }
}

pub(super) fn new(cx: &BuildContext<'_>) -> LedbatPlusPlus {
    LedbatPlusPlus {
        target: cx.attributes.time("TargetDelay"),
        slowdowns: cx.attributes.bool("Slowdowns"),
        current: Least::EMPTY,
        base: Least::EMPTY,
        minute: Time::ZERO,
        rest: 0.0,
        phase: Phase::Start,
        next_slowdown: Time::MAX,
    }
}

impl LedbatPlusPlus {
    fn gain(&self) -> f64 {
        let base = self.base.get().0.max(1);
        1.0 / (2 * self.target.0).div_ceil(base).clamp(1, LARGEST_DIVISOR) as f64
    }

    /// Over TARGET.
    fn delay(&self) -> f64 {
        let queueing = self.current.get().0.saturating_sub(self.base.get().0);
        queueing as f64 / self.target.0 as f64
    }

    /// Grows or shrinks by so many bytes, down to the least window.
    fn change(&mut self, tcb: &mut Tcb, bytes: f64, most: u32) {
        let window = f64::from(tcb.cwnd) + self.rest + bytes;
        // A scenario's first ssthresh may be below the least window.
        let window = window.min(f64::from(most)).max(f64::from(LEAST_WINDOW * tcb.segment_size));
        tcb.cwnd = window as u32;
        self.rest = window - f64::from(tcb.cwnd);
    }

    /// A slow start is over.
    fn settle(&mut self, tcb: &mut Tcb) {
        let pause = match self.phase {
            Phase::Start => BEFORE_FIRST * tcb.srtt.0,
            Phase::Return { since } => PAUSE * (tcb.now - since).0,
            _ => return,
        };
        self.phase = Phase::Steady;
        if self.slowdowns {
            self.next_slowdown = tcb.now + Time(pause);
        }
    }

    fn avoid(&mut self, tcb: &mut Tcb, bytes: f64) {
        let delay = self.delay();
        let size = f64::from(tcb.segment_size);
        let window = f64::from(tcb.cwnd);
        let mut per_round = self.gain() * size;
        if delay > 1.0 {
            per_round -= CONSTANT * window * (delay - 1.0);
            per_round = per_round.max(-LARGEST_DECREASE * window);
        }
        self.change(tcb, per_round * bytes / window, u32::MAX);
        // Below ssthresh would be slow start.
        tcb.ssthresh = tcb.ssthresh.min(tcb.cwnd);
    }

    /// ssthresh is put aside, so that no slow start acts.
    fn slow_down(&mut self, tcb: &mut Tcb) {
        let until = tcb.now + Time(FROZEN * tcb.srtt.0);
        self.phase = Phase::Frozen { since: tcb.now, until, ssthresh: tcb.cwnd };
        self.next_slowdown = Time::MAX;
        tcb.cwnd = LEAST_WINDOW * tcb.segment_size;
        tcb.ssthresh = tcb.cwnd;
    }
}

impl CongestionControl for LedbatPlusPlus {
    fn init(&mut self, tcb: &mut Tcb) {
        tcb.initial_cwnd = tcb.initial_cwnd.min(LEAST_WINDOW);
        tcb.cwnd = tcb.cwnd.min(LEAST_WINDOW * tcb.segment_size);
    }

    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        if let Phase::Frozen { ssthresh, .. } = &mut self.phase {
            *ssthresh = (*ssthresh / 2).max(LEAST_WINDOW * tcb.segment_size);
            return LEAST_WINDOW * tcb.segment_size;
        }
        new_reno::half_of_flight(tcb, bytes_in_flight)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let bytes = f64::from(segments_acked) * f64::from(tcb.segment_size);
        if let Phase::Frozen { since, until, ssthresh } = self.phase {
            tcb.cwnd = LEAST_WINDOW * tcb.segment_size;
            if tcb.now < until {
                return;
            }
            tcb.ssthresh = ssthresh;
            self.phase = Phase::Return { since };
        }
        if tcb.cwnd < tcb.ssthresh {
            let gain = self.gain();
            self.change(tcb, gain * bytes, tcb.ssthresh);
        } else if tcb.now >= self.next_slowdown {
            self.slow_down(tcb);
        } else {
            self.settle(tcb);
            self.avoid(tcb, bytes);
        }
    }

    fn on_ack(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        let Some(rtt) = sample.rate.rtt else { return };
        self.current.push(rtt);
        if tcb.now - self.minute >= MINUTE {
            self.minute = tcb.now;
            self.base.push(rtt);
        } else {
            self.base.lower_newest(rtt);
        }
        if self.phase == Phase::Start && self.delay() > EXIT_DELAY {
            tcb.ssthresh = tcb.ssthresh.min(tcb.cwnd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS};
    use super::*;
    use crate::host::tcp::rate::{RateConnection, RateSample};

    const BASE: u64 = 60; // GAIN = 1 / 2

    fn ack(d: &mut Driver, rtt_ms: u64) {
        let rate = RateSample { rtt: Some(Time::from_ms(rtt_ms)), ..RateSample::default() };
        let connection = RateConnection::default();
        d.tcb.srtt = Time::from_ms(rtt_ms);
        let sample = AckSample { connection: &connection, rate: &rate };
        d.control.algorithm().on_ack(&mut d.tcb, sample);
        d.ack(1);
    }

    /// A window of ACKs, over this round trip.
    fn round(d: &mut Driver, rtt_ms: u64) {
        let window = u64::from(d.cwnd());
        for _ in 0..window {
            d.advance(Time(rtt_ms * 1_000_000 / window));
            ack(d, rtt_ms);
        }
    }

    /// Out of slow start, and without slowdowns.
    fn steady(segments: u32, base_ms: u64) -> Driver {
        let mut d = Driver::new("TcpLedbatPlusPlus", &[("Slowdowns", "false")])
            .with_cwnd(segments)
            .with_ssthresh(segments);
        for _ in 0..FILTER {
            ack(&mut d, base_ms);
        }
        d.set_cwnd(segments);
        d
    }

    fn change(d: &mut Driver, rtt_ms: u64) -> f64 {
        let before = f64::from(d.tcb.cwnd);
        round(d, rtt_ms);
        (f64::from(d.tcb.cwnd) - before) / f64::from(MSS)
    }

    #[test]
    fn it_begins_with_two_segments() {
        assert_eq!(Driver::new("TcpLedbatPlusPlus", &[]).cwnd(), 2);
    }

    /// ceil(120 ms / base), at most 16.
    #[test]
    fn it_grows_by_gain_a_round_trip() {
        for (base, divisor) in [(200, 1.0), (120, 1.0), (119, 2.0), (60, 2.0), (40, 3.0), (5, 16.0)]
        {
            let grown = change(&mut steady(50, base), base);
            assert!((grown - 1.0 / divisor).abs() < 0.02, "{base}: {grown}");
        }
    }

    /// Beyond the target by 10 %: a tenth less; the filter lags by three ACKs.
    #[test]
    fn beyond_the_target_it_falls_with_the_excess_and_by_half_at_most() {
        for (queueing, left) in [(60, 1.0), (66, 0.9), (72, 0.8), (90, 0.5), (600, 0.5)] {
            let mut d = steady(200, BASE);
            let fallen = change(&mut d, BASE + queueing) / 200.0;
            assert!((fallen - (left - 1.0)).abs() < 0.015, "{queueing} ms: {fallen}");
        }
    }

    /// One segment a millisecond: W = 60 + delay, and delay = TARGET (1 + GAIN / W).
    #[test]
    fn the_queue_settles_at_the_target() {
        let mut d = steady(80, BASE);
        for _ in 0..400 {
            let rtt = u64::from(d.cwnd()).max(BASE);
            round(&mut d, rtt);
        }
        assert!((119..=121).contains(&d.cwnd()), "{}", d.cwnd());
    }

    #[test]
    fn the_least_window_is_two_segments() {
        let mut d = steady(10, BASE);
        for _ in 0..20 {
            round(&mut d, BASE + 1000);
        }
        assert_eq!(d.cwnd(), 2);
    }

    /// GAIN 1/2: a half more each round trip, until the delay is above 45 ms.
    #[test]
    fn the_first_slow_start_ends_at_three_quarters_of_the_target() {
        let mut d = Driver::new("TcpLedbatPlusPlus", &[]).with_cwnd(20);
        round(&mut d, BASE);
        assert!((29..=30).contains(&d.cwnd()), "{}", d.cwnd());
        round(&mut d, BASE + 45);
        assert!(d.tcb.cwnd < d.tcb.ssthresh);
        for _ in 0..FILTER {
            ack(&mut d, BASE + 46);
        }
        assert!(d.tcb.cwnd >= d.tcb.ssthresh);
    }

    /// Two round trips after slow start, for two, then back by a half each round trip; nine times that until the next.
    #[test]
    fn slowdowns_follow_their_timetable() {
        let mut d = Driver::new("TcpLedbatPlusPlus", &[]).with_cwnd(32).with_ssthresh(32);
        ack(&mut d, BASE);
        let begin = d.tcb.now;
        let rtts = |d: &Driver, since: Time| (d.tcb.now - since).0 as f64 / (BASE as f64 * 1e6);
        let until = |d: &mut Driver, is_there: fn(&Driver) -> bool| {
            for _ in 0..10_000 {
                if is_there(d) {
                    return;
                }
                d.advance(Time::from_ms(BASE).min(Time(BASE * 1_000_000 / u64::from(d.cwnd()))));
                ack(d, BASE);
            }
            panic!("it never comes");
        };
        until(&mut d, |d| d.cwnd() == 2);
        assert!((2.0..2.1).contains(&rtts(&d, begin)), "{}", rtts(&d, begin));
        let slowed = d.tcb.now;
        until(&mut d, |d| d.tcb.cwnd > 2 * MSS);
        assert!((2.0..2.6).contains(&rtts(&d, slowed)), "{}", rtts(&d, slowed));
        until(&mut d, |d| d.cwnd() >= 32);
        let took = rtts(&d, slowed);
        // 2 segments to 33: log(16.5) / log(1.5) round trips if growth came once in each, spread over ACKs log(16.5) / 0.5.
        assert!((7.0..9.0).contains(&took), "{took}");
        let returned = d.tcb.now;
        until(&mut d, |d| d.cwnd() == 2);
        let ratio = rtts(&d, returned) / took;
        assert!((8.9..9.2).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_loss_in_a_slowdown_halves_what_it_returns_to() {
        let mut d = Driver::new("TcpLedbatPlusPlus", &[]).with_cwnd(32).with_ssthresh(32);
        for _ in 0..100 {
            d.advance(Time::from_ms(2));
            ack(&mut d, BASE);
            if d.cwnd() == 2 {
                break;
            }
        }
        assert_eq!((d.cwnd(), d.ssthresh()), (2, 2));
        assert_eq!(d.ssthresh_on_loss(), 2);
        d.fast_recovery();
        d.advance(Time::from_secs(1));
        ack(&mut d, BASE);
        assert_eq!(d.ssthresh(), 8); // 33 segments, halved twice
    }

    /// A base delay is forgotten after ten minutes.
    #[test]
    fn a_longer_path_is_learned_in_ten_minutes() {
        let mut d = steady(50, BASE);
        for minute in 1..=11 {
            d.advance(MINUTE);
            for _ in 0..FILTER {
                ack(&mut d, BASE + 120);
            }
            let before = d.tcb.cwnd;
            ack(&mut d, BASE + 120);
            assert_eq!(d.tcb.cwnd > before, minute >= 10, "{minute}");
        }
    }
}
