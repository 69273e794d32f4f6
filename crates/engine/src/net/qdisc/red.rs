//! Random early detection (Floyd and Jacobson 1993; ns-3's `RedQueueDisc`, after ns-2's `red.cc`):
//! drops or marks arrivals with a probability that grows with an average of the queue's length.
//!
//! At each arrival (section 4), with m packets of mean size that the link could have sent while
//! idle:
//!
//! average = (1 - QW)^(m + 1) average + QW queue
//! p_b = (average - MinTh) / (MaxTh - MinTh) / LInterm       between the thresholds
//! p_a = p_b / (1 - count p_b)                               count: arrivals since the last drop
//!
//! and with `Wait` p_a = p_b / (2 - count p_b), after 1 / p_b arrivals without any.  If the limit
//! is in bytes, so are queue and thresholds, and p_a is multiplied by size / mean size.  From MaxTh
//! on every arrival is dropped (or marked, without `UseHardDrop`).
//!
//! Variants: gentle RED (Floyd 2000), p_b from 1 / LInterm at MaxTh to 1 at twice MaxTh; adaptive
//! RED (Floyd, Gummadi and Shenker 2001) moves 1 / LInterm so that the average stays in the middle
//! fifth between the thresholds; the self-configuring RED of Feng et al. (1999) moves it whenever
//! the average leaves them; nonlinear RED (Zhou et al. 2006), 1.5 times the square of the fraction.

use super::discipline::{Contradiction, Discipline};
use super::reasons::{FORCED_DROP, UNFORCED_DROP, UNFORCED_MARK};
use super::red_params::{Params, SPEC as RED_SPEC};
use super::{BuildContext, Head, PacketFifo, Qdisc, QdiscContext, QdiscState};
use crate::base::attributes::Attributes;
use crate::base::math;
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::base::units::QueueSize;
use crate::packet::{PacketId, PacketPool};

pub const SPEC: Discipline =
    Discipline::new(RED_SPEC, &[&[("QW", "0.1")], &[("QW", "0.1"), ("UseEcn", "true")]])
        .checked(check);

const FORCED_MARK: &str = "Forced mark";
const INTERNAL_QUEUE_DROP: &str = "Dropped by internal queue";

fn check(a: &Attributes<'_>) -> Result<(), Contradiction> {
    let (min, max) = (a.f64("MinTh"), a.f64("MaxTh"));
    if !a.bool("ARED") && min > max {
        return Err(("MinTh", format!("{min} is above MaxTh, {max}")));
    }
    let weight = a.f64("QW");
    if weight < 0.0 && ![-1.0, -2.0].contains(&weight) {
        return Err(("QW", format!("{weight} is no weight; write one from 0 to 1, or -1 or -2")));
    }
    Ok(())
}

/// Adaptive RED leaves the average alone if it is at least this fraction of the span away from both
/// thresholds (Floyd, Gummadi and Shenker, section 4.1).
const ADAPTIVE_MARGIN: f64 = 0.4;
/// Bound of adaptive RED's step upwards, as a fraction of the probability (ibid.).
const MAX_INCREASE: f64 = 0.25;
/// Where gentle RED reaches 1, in multiples of MaxTh (Floyd 2000).
const GENTLE_CEILING: f64 = 2.0;
/// Keeps nonlinear RED's mean probability that of the straight line (Zhou et al., section 3).
const NONLINEAR_FACTOR: f64 = 1.5;

/// What becomes of an arriving packet.
enum Fate {
    Enter,
    /// Dropped or marked by chance.
    Unforced,
    /// Dropped, or marked where allowed, because the average is too high.
    Forced,
}

/// Where the average was last seen, for Feng's adaptation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    Below,
    Between,
    Above,
}

/// In the order in which a packet needs it: see [`crate::net::network::Port`].
#[derive(Debug)]
#[repr(C)]
pub struct Red {
    pub(super) queue: PacketFifo,
    average: f64,
    /// [`NOT_IDLE`], or since when there is no packet.
    idle_since: Time,
    /// Packets and bytes since the last early drop or mark.
    count: u32,
    count_bytes: u32,
    /// The average was above the lower threshold at the last arrival.
    is_above: bool,
    zone: Zone,
    params: Params,
    /// The probability at the upper threshold.
    max_p: f64,
    /// The line from the lower threshold (0) to the upper one (1).
    slope: f64,
    offset: f64,
    /// The line from the upper threshold (`max_p`) to twice that (1), for gentle RED.
    gentle_slope: f64,
    gentle_offset: f64,
    last_adapted: Time,
    rng: RngStream,
}

const NOT_IDLE: Time = Time(u64::MAX);

impl Red {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let params = Params::new(&cx.attributes);
        let span = params.max_th - params.min_th;
        let span = if span == 0.0 { 1.0 } else { span };
        let max_p = 1.0 / params.l_interm;
        Red {
            queue: PacketFifo::default(),
            rng: RngStream::fixed(cx.run, cx.stream),
            max_p,
            slope: 1.0 / span,
            offset: -params.min_th / span,
            gentle_slope: (1.0 - max_p) / params.max_th,
            gentle_offset: 2.0 * max_p - 1.0,
            average: 0.0,
            count: 0,
            count_bytes: 0,
            is_above: false,
            idle_since: Time::ZERO,
            last_adapted: params.last_set,
            zone: Zone::Above,
            params,
        }
    }

    fn counts_bytes(&self) -> bool {
        matches!(self.params.limit, QueueSize::Bytes(_))
    }

    /// Moves the average towards the present length; an idle time counts as arrivals of small
    /// packets at an empty queue.
    #[inline]
    fn update_average(&mut self, queued: u32, now: Time) {
        let since = std::mem::replace(&mut self.idle_since, NOT_IDLE);
        let idle = if since == NOT_IDLE { Time::ZERO } else { now - since };
        if idle < self.params.forgets_for {
            self.average = f64::from(queued);
        } else {
            self.move_average(queued, idle, now);
        }
    }

    #[inline(never)]
    fn move_average(&mut self, queued: u32, idle: Time, now: Time) {
        let idle = idle.secs_f64();
        let arrivals = ((self.params.packets_per_second * idle) as u32).wrapping_add(1);
        let keep = match arrivals {
            1 => 1.0 - self.params.weight,
            n => math::pow(1.0 - self.params.weight, n.into()),
        };
        self.average = self.average * keep + self.params.weight * f64::from(queued);
        if self.params.adapts && now > self.last_adapted + self.params.interval {
            self.adapt(now);
        } else if self.params.feng {
            self.adapt_as_feng();
        }
    }

    /// Adaptive RED: keeps the average in the middle between the thresholds by additive increase
    /// and multiplicative decrease of the probability.
    fn adapt(&mut self, now: Time) {
        let p = &self.params;
        let margin = ADAPTIVE_MARGIN * (p.max_th - p.min_th);
        if self.average < p.min_th + margin && self.max_p > p.bottom {
            self.max_p *= p.beta;
        } else if self.average > p.max_th - margin && p.top > self.max_p {
            self.max_p += p.alpha.min(MAX_INCREASE * self.max_p);
        } else {
            return;
        }
        self.last_adapted = now;
    }

    /// Feng's adaptation: multiplicative both ways, each time the average leaves the band.
    fn adapt_as_feng(&mut self) {
        let p = &self.params;
        if p.min_th < self.average && self.average < p.max_th {
            self.zone = Zone::Between;
        } else if self.average < p.min_th && self.zone != Zone::Below {
            self.zone = Zone::Below;
            self.max_p /= p.feng_alpha;
        } else if self.average > p.max_th && self.zone != Zone::Above {
            self.zone = Zone::Above;
            self.max_p *= p.feng_beta;
        }
    }

    fn judge(&mut self, queued: u32, bytes: u32) -> Fate {
        if self.average < self.params.min_th || queued <= 1 {
            self.is_above = false;
            return Fate::Enter;
        }
        let ceiling = if self.params.gentle { GENTLE_CEILING } else { 1.0 } * self.params.max_th;
        if self.average >= ceiling {
            return Fate::Forced;
        }
        if !self.is_above {
            self.is_above = true;
            self.count = 1;
            self.count_bytes = bytes;
            return Fate::Enter;
        }
        let probability = self.spread(self.probability(), bytes);
        if self.rng.unit() > probability {
            return Fate::Enter;
        }
        self.count = 0;
        self.count_bytes = 0;
        Fate::Unforced
    }

    /// The probability that belongs to the average.
    fn probability(&self) -> f64 {
        if self.average >= self.params.max_th {
            // Without `gentle` such an average forces a drop before anybody asks.
            return (self.gentle_slope * self.average + self.gentle_offset).min(1.0);
        }
        let mut p = self.slope * self.average + self.offset;
        if self.params.nonlinear {
            p = p * (p * NONLINEAR_FACTOR);
        }
        (p * self.max_p).min(1.0)
    }

    /// Spreads drops evenly: raises the probability with the packets since the last one.
    fn spread(&self, p: f64, bytes: u32) -> f64 {
        let mean = self.params.mean_packet_size;
        let count = if self.counts_bytes() { self.count_bytes / mean } else { self.count };
        let due = f64::from(count) * p;
        let p = match (self.params.wait, due) {
            (true, due) if due < 1.0 => 0.0,
            (true, due) if due < 2.0 => p / (2.0 - due),
            (false, due) if due < 1.0 => p / (1.0 - due),
            _ => 1.0,
        };
        let p =
            if self.counts_bytes() && p < 1.0 { p * f64::from(bytes) / f64::from(mean) } else { p };
        p.min(1.0)
    }
}

impl Red {
    /// As `enqueue` where nobody looks and the average is the length.  Returns false, and has done nothing, where the
    /// packet does not just enter.
    #[inline(always)] // in one place
    pub fn append(
        &mut self,
        id: PacketId,
        now: Time,
        packets: &mut PacketPool,
        state: &mut QdiscState,
    ) -> bool {
        let bytes = packets[id].ip_bytes;
        let queued = self.queue.measured_as(self.params.limit);
        let idle = if self.idle_since == NOT_IDLE { Time::ZERO } else { now - self.idle_since };
        let is_short = f64::from(queued) < self.params.min_th || queued <= 1;
        let enters = is_short
            && idle < self.params.forgets_for
            && self.queue.has_room(self.params.limit, bytes);
        if enters {
            self.idle_since = NOT_IDLE;
            self.average = f64::from(queued);
            self.count = self.count.wrapping_add(1);
            self.count_bytes = self.count_bytes.wrapping_add(bytes);
            self.is_above = false;
            self.queue.enter(id, now, packets, state);
        }
        enters
    }

    /// As `dequeue` where nobody looks.
    #[inline(always)] // in one place
    pub fn take_first(
        &mut self,
        now: Time,
        packets: &PacketPool,
        state: &mut QdiscState,
    ) -> Option<PacketId> {
        let id = self.queue.leave(now, packets, state);
        self.idle_since = if id.is_none() { now } else { NOT_IDLE };
        id
    }
}

impl Qdisc for Red {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let bytes = cx.packets[id].ip_bytes;
        let queued = self.queue.measured_as(self.params.limit);
        self.update_average(queued, cx.now);
        self.count = self.count.wrapping_add(1);
        self.count_bytes = self.count_bytes.wrapping_add(bytes);
        let ecn = self.params.use_ecn;
        match self.judge(queued, bytes) {
            Fate::Enter => {}
            Fate::Unforced => {
                if !(ecn && cx.mark(id, UNFORCED_MARK)) {
                    cx.drop_before_enqueue(id, UNFORCED_DROP);
                    return false;
                }
            }
            Fate::Forced => {
                if self.params.hard_drop || !(ecn && cx.mark(id, FORCED_MARK)) {
                    cx.drop_before_enqueue(id, FORCED_DROP);
                    if self.params.ns1_compat {
                        self.count = 0;
                        self.count_bytes = 0;
                    }
                    return false;
                }
            }
        }
        if !self.queue.has_room(self.params.limit, bytes) {
            cx.drop_before_enqueue(id, INTERNAL_QUEUE_DROP);
            return false;
        }
        self.queue.push(id, cx);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        let packet = self.queue.pop(cx);
        self.idle_since = if packet.is_none() { cx.now } else { NOT_IDLE };
        packet
    }

    fn peek(&mut self, _cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.queue.head())
    }

    fn passes(&mut self, ip_bytes: u32, now: Time) -> bool {
        if !self.queue.has_room(self.params.limit, ip_bytes) {
            return false;
        }
        // As in `enqueue`: whoever finds no queue enters.
        self.update_average(0, now);
        self.count = self.count.wrapping_add(1);
        self.count_bytes = self.count_bytes.wrapping_add(ip_bytes);
        self.is_above = false;
        true
    }

    fn found_empty(&mut self, at: Time) {
        self.idle_since = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::qdisc::AnyQdisc;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    fn average(bench: &Bench) -> f64 {
        let AnyQdisc::Red(red) = &bench.qdisc else { unreachable!() };
        red.average
    }

    /// Arrivals at a queue of constant length q bring the average from 0 to q (1 - (1 - w)^n).
    #[test]
    fn the_average_is_exponential() {
        let mut bench = Bench::new("RedQueueDisc", &[("QW", "0.01"), ("MinTh", "14")]);
        for _ in 0..10 {
            bench.arrive(0, 500, Ecn::NotEct);
        }
        let start = average(&bench);
        for n in 1..200 {
            bench.depart();
            bench.arrive(0, 500, Ecn::NotEct);
            let law = 9.0 + (start - 9.0) * math::pow(0.99, n.into());
            assert!((average(&bench) - law).abs() < 1e-12, "{n}");
        }
    }

    /// An idle time counts as many arrivals as the link could have sent packets of mean size.
    #[test]
    fn the_average_decays_while_idle() {
        let given = [("QW", "0.01"), ("LinkBandwidth", "4Mbps"), ("MinTh", "14")];
        let mut bench = Bench::new("RedQueueDisc", &given);
        for _ in 0..20 {
            bench.arrive(0, 500, Ecn::NotEct);
        }
        while bench.depart().is_some() {}
        let before = average(&bench);
        // 1000 packets of 500 B per second: 200 in 0.2 s, and the one that arrives.
        bench.wait(Time::from_ms(200));
        bench.arrive(0, 500, Ecn::NotEct);
        assert!((average(&bench) - before * math::pow(0.99, 201.0)).abs() < 1e-12);
    }

    /// However long it was idle, also so long that the arrivals are beyond what is counted.
    #[test]
    fn with_weight_1_the_short_cut_and_the_formula_have_the_same_average() {
        let given = [("QW", "1"), ("LinkBandwidth", "100Gbps"), ("MeanPktSize", "100")];
        let [mut short, mut long] = [(); 2].map(|()| Bench::new("RedQueueDisc", &given));
        let AnyQdisc::Red(short) = &mut short.qdisc else { unreachable!() };
        let AnyQdisc::Red(long) = &mut long.qdisc else { unreachable!() };
        assert!(short.params.forgets_for > Time::from_ms(30_000));
        long.params.forgets_for = Time::ZERO;
        let mut now = Time::ZERO;
        for (queued, idle_ms) in [0, 1, 20, 31_000, 32_000, 33_000, 34_000, 35_000, 36_000, 100_000]
            .into_iter()
            .flat_map(|idle_ms| [(7, 0), (0, idle_ms), (3, idle_ms)])
        {
            now += Time::from_ms(idle_ms);
            for red in [&mut *short, &mut *long] {
                if idle_ms > 0 {
                    red.idle_since = now - Time::from_ms(idle_ms);
                }
                red.update_average(queued, now);
            }
            assert_eq!(short.average.to_bits(), long.average.to_bits(), "{queued} {idle_ms}");
        }
    }

    /// The curve gives p = 0.02 (15 - 5) / 20 = 0.01; without `Wait` the gaps between drops are
    /// then uniform on 1 to 1/p (Floyd and Jacobson, section 7).
    #[test]
    fn early_drops_are_as_frequent_as_the_curve_says() {
        let mut bench = Bench::new(
            "RedQueueDisc",
            &[("QW", "1"), ("MaxSize", "100p"), ("MaxTh", "25"), ("Wait", "false")],
        );
        while bench.state.packets < 15 {
            bench.arrive(0, 500, Ecn::NotEct);
        }
        let (mut gap, mut gaps) = (0, Vec::new());
        while gaps.len() < 2000 {
            gap += 1;
            if bench.arrive(0, 500, Ecn::NotEct) {
                bench.depart();
            } else {
                gaps.push(f64::from(gap));
                gap = 0;
            }
        }
        let mean = gaps.iter().sum::<f64>() / 2000.0;
        assert!((mean - 50.5).abs() < 2.0, "{mean}");
        assert!(gaps.iter().all(|&gap| gap <= 100.0));
    }
}
