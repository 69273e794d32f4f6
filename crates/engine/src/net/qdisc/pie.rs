//! Proportional integral controller enhanced (RFC 8033; ns-3's `PieQueueDisc`): drops or marks
//! arrivals with a probability that is computed periodically from the queueing delay.
//!
//! Every `Tupdate` (section 4.2):
//!
//! dp = A (delay - reference) + B (delay - old delay), divided by 2 to 2048 while p is small, and
//! at most 0.02 once p is 0.1 (section 5.5); p += dp, within 0 and 1; p *= 0.98 without any delay.
//!
//! Each arrival is dropped with probability p, with p size / mean size if the limit is in bytes,
//! but for the times when the old delay is below half the reference and p below 0.2, when two
//! packets or less are queued, and during a burst (sections 4.1 and 4.4).  With derandomization, p
//! is added up from drop to drop, and none happens before 0.85 or later than 8.5 (section 5.4).
//!
//! The delay is the sojourn time of the packet that left last, 0 once the queue is empty, or
//! backlog over departure rate (section 4.3).

use super::discipline::Discipline;
use super::flow_queue::Child;
use super::pie_params::{Params, SPEC as PIE_SPEC};
use super::reasons::{CE_THRESHOLD_MARK, FORCED_DROP, UNFORCED_DROP, UNFORCED_MARK};
use super::{BuildContext, PacketFifo, Qdisc, QdiscContext};
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::base::units::QueueSize;
use crate::packet::PacketId;

pub const SPEC: Discipline =
    Discipline::new(PIE_SPEC, &[&[("A", "100")], &[("MaxSize", "9000B"), ("B", "500")]]);

/// What the probability's step is divided by while it is below a bound (section 4.2).
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
/// From this probability on, steps are capped (section 5.5).
const CAPPED_FROM: f64 = 0.1;
const MAX_STEP: f64 = 0.02;
/// What is left of the probability after an update without delay (section 4.2).
const DECAY: f64 = 0.98;
/// No drop below this probability while the delay is below half the reference (section 4.1).
const LIGHT_PROBABILITY: f64 = 0.2;
/// No drop while no more than so many packets are queued (section 4.1).
const SHORT_QUEUE: u32 = 2;
/// Bounds of the sum of probabilities between two drops (section 5.4).
const MIN_ACCUMULATED: f64 = 0.85;
const MAX_ACCUMULATED: f64 = 8.5;
/// The departure rate is an average with this weight of the newest (section 5.3).
const RATE_WEIGHT: f64 = 0.5;

/// The burst allowance is renewed after this long without congestion, in seconds.
const BURST_RESET_TIMEOUT: f64 = 1.5;

/// Whether the burst allowance is unused, in use, or used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Burst {
    None,
    Protecting,
    /// Updates without congestion since it was used up.
    Over(u32),
}

/// Measures how fast packets leave (RFC 8033 section 5.3).
#[derive(Clone, Debug, Default)]
struct DepartureRate {
    /// Bytes per second; 0: not known.
    average: f64,
    /// A measurement is going on since then.
    is_measuring: bool,
    start: Time,
    /// Bytes in this measurement; wraps, since ns-3 resets it to -1.
    bytes: u64,
}

impl DepartureRate {
    fn begin(&mut self, now: Time) {
        self.is_measuring = true;
        self.start = now;
        self.bytes = 0;
    }

    /// A packet has left `backlog` bytes behind.
    fn update(&mut self, packet_bytes: u32, backlog: u32, threshold: u32, now: Time) {
        if !self.is_measuring && backlog >= threshold {
            self.begin(now);
        }
        if !self.is_measuring {
            return;
        }
        self.bytes = self.bytes.wrapping_add(packet_bytes.into());
        if self.bytes < threshold.into() {
            return;
        }
        if now > self.start {
            let rate = self.bytes as f64 / (now - self.start).secs_f64();
            self.average = if self.average == 0.0 {
                rate
            } else {
                (1.0 - RATE_WEIGHT) * self.average + RATE_WEIGHT * rate
            };
        }
        self.begin(now);
        self.is_measuring = backlog > threshold;
    }

    fn forget(&mut self) {
        self.bytes = u64::MAX;
        self.average = 0.0;
    }
}

#[derive(Clone, Debug)]
pub struct Pie {
    params: Params,
    queue: PacketFifo,
    /// Its random numbers: replication and stream.
    run: u64,
    stream: u64,
    rng: RngStream,
    timer_tag: u32,
    probability: f64,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
    delay: Time,
    /// The delay at the last update, and its value in seconds.
    old_delay: Time,
    old_delay_secs: f64,
    burst_allowance: Time,
    burst: Burst,
    departure_rate: DepartureRate,
    active: bool,
}

impl Pie {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        Pie::with(Params::new(&cx.attributes), cx)
    }

    /// The prototype of flow queueing's children.
    pub(super) fn for_flows(cx: &BuildContext<'_>) -> Self {
        Pie::with(Params::for_flows(&cx.attributes), cx)
    }

    fn with(params: Params, cx: &BuildContext<'_>) -> Self {
        Pie {
            params,
            queue: PacketFifo::default(),
            run: cx.run,
            stream: cx.stream,
            rng: RngStream::fixed(cx.run, cx.stream),
            timer_tag: 0,
            probability: 0.0,
            accumulated: 0.0,
            delay: Time::ZERO,
            old_delay: Time::ZERO,
            old_delay_secs: 0.0,
            burst_allowance: Time::ZERO,
            burst: Burst::None,
            departure_rate: DepartureRate { bytes: u64::MAX, ..DepartureRate::default() },
            active: false,
        }
    }

    fn is_active(&self) -> bool {
        self.params.active_threshold.is_none() || self.active
    }

    /// Whether an arriving packet is to be dropped or marked (RFC 8033 section 4.1).
    fn drops_early(&mut self, bytes: u32, cx: &QdiscContext<'_>) -> bool {
        if self.burst_allowance > Time::ZERO {
            return false;
        }
        if self.burst == Burst::None {
            self.burst = Burst::Protecting;
            self.burst_allowance = self.params.max_burst;
        }
        let mean = self.params.mean_packet_size;
        // A packet that was taken out to be looked at still counts.
        let held = cx.held_bytes();
        let (probability, is_short) = match self.params.limit {
            QueueSize::Packets(_) => {
                (self.probability, self.queue.len() + u32::from(held > 0) <= SHORT_QUEUE)
            }
            QueueSize::Bytes(_) => (
                self.probability * f64::from(bytes) / f64::from(mean),
                self.queue.bytes() + held <= mean.wrapping_mul(SHORT_QUEUE),
            ),
        };
        let is_light = self.old_delay_secs < 0.5 * self.params.reference
            && self.probability < LIGHT_PROBABILITY;
        if is_light || is_short {
            return false;
        }
        if self.params.derandomization {
            if self.probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += self.probability;
            if self.accumulated < MIN_ACCUMULATED {
                return false;
            }
            if self.accumulated >= MAX_ACCUMULATED {
                return true;
            }
        }
        self.rng.unit() <= probability
    }

    /// The probability's next value (RFC 8033 section 4.2).
    fn update_probability(&mut self, delay: f64) {
        let mut p = 0.0;
        if self.burst_allowance > Time::ZERO {
            self.probability = 0.0;
        } else {
            p = self.params.a * (delay - self.params.reference)
                + self.params.b * (delay - self.old_delay_secs);
            let scale = SCALES.iter().find(|(below, _)| self.probability < *below);
            p /= scale.map_or(1.0, |(_, divisor)| *divisor);
            let is_capped = self.params.cap_drop_adjustment && self.probability >= CAPPED_FROM;
            if is_capped && p > MAX_STEP {
                p = MAX_STEP;
            }
        }
        p += self.probability;
        if delay == 0.0 && self.old_delay_secs == 0.0 {
            p *= DECAY;
        }
        self.probability = p.clamp(0.0, 1.0);
    }

    /// The periodic update (RFC 8033 sections 4.2 to 4.4).
    fn update(&mut self) {
        let mut delay = self.delay;
        let mut is_rate_known = true;
        if self.params.rate_estimator {
            let rate = self.departure_rate.average;
            is_rate_known = rate > 0.0;
            delay = if is_rate_known {
                Time::from_secs_f64(f64::from(self.queue.bytes()) / rate)
            } else {
                Time::ZERO
            };
            self.delay = delay;
        }
        let delay_secs = delay.secs_f64();
        self.update_probability(delay_secs);

        let t_update = self.params.t_update;
        self.burst_allowance = if self.burst_allowance < t_update {
            Time::ZERO
        } else {
            self.burst_allowance - t_update
        };
        let half_reference = 0.5 * self.params.reference;
        let is_calm = delay_secs < half_reference
            && self.old_delay_secs < half_reference
            && self.probability == 0.0;
        if is_calm && is_rate_known {
            self.departure_rate.forget();
        }
        let limit = (BURST_RESET_TIMEOUT / t_update.secs_f64()) as u32;
        let is_calm = is_calm && self.burst_allowance.is_zero();
        self.burst = match self.burst {
            Burst::None => Burst::None,
            Burst::Protecting if is_calm => Burst::Over(0),
            Burst::Protecting => Burst::Protecting,
            Burst::Over(_) if !is_calm => Burst::Over(0),
            Burst::Over(updates) if updates + 1 > limit => Burst::None,
            Burst::Over(updates) => Burst::Over(updates + 1),
        };
        self.old_delay = delay;
        self.old_delay_secs = delay_secs;
    }

    /// Turns PIE on above its threshold and off after an idle time (RFC 8033 section 5.1).
    fn switch(&mut self, threshold: Time, now: Time) {
        if !self.active && self.delay >= threshold {
            self.active = true;
            self.old_delay = Time::ZERO;
            self.old_delay_secs = 0.0;
            self.probability = 0.0;
            self.accumulated = 0.0;
            self.burst_allowance = self.params.max_burst;
            self.departure_rate.average = 0.0;
            self.departure_rate.begin(now);
        }
        if self.probability == 0.0 && self.old_delay.ms() == 0 && self.delay.ms() == 0 {
            self.active = false;
            self.departure_rate.is_measuring = false;
        }
    }
}

impl Qdisc for Pie {
    fn attach(&mut self, cx: &mut QdiscContext<'_>) {
        cx.set_timer(Time::ZERO, self.timer_tag);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let bytes = cx.packets[id].ip_bytes;
        if !self.queue.has_room_with_held(self.params.limit, bytes, cx) {
            cx.drop_before_enqueue(id, FORCED_DROP);
            self.accumulated = 0.0;
            return false;
        }
        let is_exempt = self.params.use_l4s && cx.is_l4s(id);
        if self.is_active() && !is_exempt && self.drops_early(bytes, cx) {
            let may_mark = self.params.use_ecn && self.probability < self.params.mark_ecn_threshold;
            if !(may_mark && cx.mark(id, UNFORCED_MARK)) {
                cx.drop_before_enqueue(id, UNFORCED_DROP);
                self.accumulated = 0.0;
                return false;
            }
        }
        self.queue.push(id, cx);
        if let Some(threshold) = self.params.active_threshold {
            self.switch(threshold, cx.now);
        }
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        let id = self.queue.pop(cx)?;
        let sojourn = cx.sojourn(id);
        if self.params.use_l4s && cx.is_l4s(id) {
            if sojourn > self.params.ce_threshold {
                cx.mark(id, CE_THRESHOLD_MARK);
            }
        } else if self.params.rate_estimator {
            let (bytes, threshold) = (cx.packets[id].ip_bytes, self.params.dequeue_threshold);
            self.departure_rate.update(bytes, self.queue.bytes(), threshold, cx.now);
        } else {
            self.delay = if self.queue.is_empty() { Time::ZERO } else { sojourn };
        }
        Some(id)
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.update();
        cx.set_timer(self.params.t_update, tag);
        false
    }
}

impl Child for Pie {
    fn sibling(&self, index: u32) -> Self {
        let rng = RngStream::fixed(self.run, self.stream + u64::from(index));
        Pie { rng, timer_tag: index, ..self.clone() }
    }

    fn queue(&mut self) -> &mut PacketFifo {
        &mut self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::qdisc::AnyQdisc;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    fn pie(bench: &mut Bench) -> &mut Pie {
        let AnyQdisc::Pie(pie) = &mut bench.qdisc else { unreachable!() };
        pie
    }

    /// At a constant delay only the proportional term is left, scaled down while the probability is
    /// small (RFC 8033 section 4.2).
    #[test]
    fn the_probability_grows_by_the_scaled_deviation() {
        let mut bench = Bench::new("PieQueueDisc", &[]);
        let pie = pie(&mut bench);
        pie.old_delay_secs = 0.03;
        let step = 0.125 * (0.03 - 0.015);
        let mut expected = 0.0f64;
        for _ in 0..3000 {
            let scale = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1].iter().position(|&p| expected < p);
            let divisor = scale.map_or(1.0, |i| [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0][i]);
            expected = (expected + step / divisor).min(1.0);
            pie.update_probability(0.03);
            assert!((pie.probability - expected).abs() < 1e-12);
        }
        assert!(pie.probability > 0.5);
    }

    #[test]
    fn without_delay_the_probability_decays_by_a_fiftieth() {
        let mut bench = Bench::new("PieQueueDisc", &[("A", "0")]);
        let pie = pie(&mut bench);
        pie.probability = 0.5;
        pie.update_probability(0.0);
        assert_eq!(pie.probability, 0.49);
    }

    #[test]
    fn a_burst_is_spared() {
        let mut bench = Bench::new("PieQueueDisc", &[("MaxSize", "1000p")]);
        bench.wait(Time::from_ms(1));
        for _ in 0..900 {
            assert!(bench.arrive(0, 1500, Ecn::NotEct));
        }
    }

    /// A link of 1000 packets a second and arrivals of 1200: the delay settles at the reference.
    #[test]
    fn the_delay_settles_at_the_reference() {
        let mut bench = Bench::new("PieQueueDisc", &[("MaxSize", "2000p")]);
        let mut delays = Vec::new();
        for i in 0..200_000u64 {
            bench.wait(Time(1_000_000 / 6));
            if i % 5 == 0 {
                bench.arrive(0, 1500, Ecn::NotEct);
            }
            if i % 6 == 0 && bench.depart().is_some() && bench.now > Time::from_secs(10) {
                delays.push(bench.state.last_sojourn().unwrap().secs_f64());
            }
        }
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        assert!((mean - 0.015).abs() < 0.003, "{mean}");
    }
}
