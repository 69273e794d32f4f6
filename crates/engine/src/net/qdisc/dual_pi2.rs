//! DualPI2 (RFC 9332, appendix A; Linux's `dualpi2`): a queue for L4S with marks at a millisecond and a
//! classic one under PI2, whose probabilities are coupled so that flows of both get alike rates.
//!
//! ECT(1) and CE go into the L queue, the rest into the C queue (section 2.3).  Every `Tupdate` the base
//! probability follows the sojourn time of the older of the two packets in front:
//!
//! p' += `Alpha` (delay - `Target`) + `Beta` (delay - delay of the last update), within 0 and 1.
//!
//! What leaves C is dropped, or marked if it is ECT(0), with p'^2; what leaves L is marked with
//! max(k p', 1 if its sojourn time is above `StepThreshold`), k being the `CouplingFactor` (section 2.1).
//! Neither happens while less than two MTUs are left behind.
//!
//! Once k p' is above 1 (overload, section 4.2) marks are no longer enough: C drops what could be
//! marked, too, and L drops with p'^2 and marks all else.  Without `DropOverload` p' stays at 1/k, and
//! the queues grow to their common limit.
//!
//! Who is next is a weighted round robin by credit in bytes (appendix A allows it for its time-shifted
//! FIFO): L goes first while the credit is not positive.  With packets in both, each byte from L adds
//! the weight of C, `ClassicProtection` %, each byte from C takes off that of L, the rest to 100 %.

use super::discipline::Discipline;
use super::reasons::LIMIT_EXCEEDED;
use super::{BuildContext, PacketFifo, Qdisc, QdiscContext};
use crate::base::attributes::{Kind, NOT_NEGATIVE, Spec, param};
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::base::units::QueueSize;
use crate::packet::{Ecn, PacketId};

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "DualPi2QueueDisc",
        linux: &["dualpi2"],
        is_in_linux: true,
        doc: "A queue for L4S and a classic one, with coupled marks and drops.",
        source: "RFC 9332",
        departures: &[
            "the scheduler is Linux's weighted round robin in place of appendix A's time-shifted FIFO",
            "the delay controlled is that of the older head of both queues, as in Linux; appendix A takes \
             the classic queue's",
            "coupled marks are drawn at random, as in Linux, where appendix A spaces them evenly",
            "the step is in time only and for every packet of L4S (Linux: also in packets, and from a length on)",
        ],
        params: &[
            param!["MaxSize", "limit"; Kind::QueueSize => "10000p";
                "How much both queues hold together, in packets or bytes."],
            param!["Target", "target"; Kind::Time => "15ms";
                "Queueing delay to aim at in the classic queue."],
            param!["Tupdate", "tupdate"; Kind::Period => "16ms";
                "Time between updates of the probability."],
            param!["Alpha", "alpha"; NOT_NEGATIVE => "0.16";
                "Gain of the deviation from the target, in 1/s (Linux: 41/256)."],
            param!["Beta", "beta"; NOT_NEGATIVE => "3.2";
                "Gain of the change of the delay, in 1/s (Linux: 819/256)."],
            param!["CouplingFactor", "coupling_factor"; Kind::Uint { min: 1, max: u8::MAX as u64 } => "2";
                "Marks of L4S are so many times the square root of the classic probability."],
            param!["StepThreshold", "step_thresh"; Kind::Threshold => "1ms";
                "Sojourn time above which every packet of L4S is marked."],
            param!["ClassicProtection", "classic_protection"; Kind::Uint { min: 0, max: 100 } => "10";
                "Share of the link, in per cent, that the classic queue has at least."],
            param!["DropOverload"; Kind::Bool => "true";
                "Drop under overload; if false, queues grow to their limit (tc: overflow)."],
            param!["DropEarly"; Kind::Bool => "false";
                "Decide when packets arrive, not when they leave (tc: drop_enqueue)."],
        ],
    },
    &[
        &[("MaxSize", "40p"), ("Beta", "100")],
        &[("MaxSize", "9000B"), ("StepThreshold", "1us")],
        &[("MaxSize", "60p"), ("Alpha", "5000"), ("Tupdate", "1ms"), ("DropEarly", "true")],
        &[("MaxSize", "60p"), ("Alpha", "5000"), ("DropOverload", "false")],
    ],
);

const CLASSIC_DROP: &str = "Classic drop";
const CLASSIC_MARK: &str = "Classic mark";
const COUPLED_MARK: &str = "Coupled mark";
const OVERLOAD_DROP: &str = "Overload drop";
const STEP_MARK: &str = "Step threshold exceeded mark";

/// The weights of both queues together.
const WEIGHTS: i64 = 100;

#[derive(Debug)]
pub struct DualPi2 {
    limit: QueueSize,
    /// In seconds.
    target: f64,
    t_update: Time,
    alpha: f64,
    beta: f64,
    coupling: f64,
    step: Time,
    drops_on_overload: bool,
    drops_early: bool,
    mtu: u32,
    rng: RngStream,
    l: PacketFifo,
    c: PacketFifo,
    /// p'.
    base: f64,
    /// Of the last update, in seconds.
    old_delay: f64,
    /// In bytes times per cent.
    credit: i64,
    classic_weight: i64,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Pass,
    Mark(&'static str),
    Drop(&'static str),
}

impl DualPi2 {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        let classic_weight = i64::from(a.u32("ClassicProtection"));
        let mut dual = DualPi2 {
            limit: a.queue_size("MaxSize"),
            target: a.time("Target").secs_f64(),
            t_update: a.time("Tupdate"),
            alpha: a.f64("Alpha"),
            beta: a.f64("Beta"),
            coupling: f64::from(a.u32("CouplingFactor")),
            step: a.time("StepThreshold"),
            drops_on_overload: a.bool("DropOverload"),
            drops_early: a.bool("DropEarly"),
            mtu: cx.mtu,
            rng: RngStream::fixed(cx.run, cx.stream),
            l: PacketFifo::default(),
            c: PacketFifo::default(),
            base: 0.0,
            old_delay: 0.0,
            credit: 0,
            classic_weight,
        };
        dual.reset_credit();
        dual
    }

    /// The queue with the larger weight goes first.
    fn reset_credit(&mut self) {
        self.credit = i64::from(self.mtu) * (2 * self.classic_weight - WEIGHTS);
    }

    fn has_room(&self, bytes: u32, cx: &QdiscContext<'_>) -> bool {
        // A packet that was taken out to be looked at still counts.
        let held = cx.held_bytes();
        match self.limit {
            QueueSize::Packets(n) => self.l.len() + self.c.len() + u32::from(held > 0) < n,
            QueueSize::Bytes(n) => self.l.bytes() + self.c.bytes() + held + bytes <= n,
        }
    }

    fn rolls(&mut self, probability: f64) -> bool {
        self.rng.unit() < probability
    }

    /// With the square of the base probability.
    fn rolls_twice(&mut self) -> bool {
        self.rolls(self.base) && self.rolls(self.base)
    }

    /// The coupled laws, but for the step.
    fn decide(&mut self, ecn: Ecn) -> Decision {
        if self.base == 0.0 || self.l.bytes() + self.c.bytes() < 2 * self.mtu {
            return Decision::Pass;
        }
        let coupled = self.coupling * self.base;
        let is_overloaded = coupled > 1.0;
        if is_l4s(ecn) {
            if is_overloaded && self.drops_on_overload && self.rolls_twice() {
                Decision::Drop(OVERLOAD_DROP)
            } else if is_overloaded || self.rolls(coupled) {
                Decision::Mark(COUPLED_MARK)
            } else {
                Decision::Pass
            }
        } else if !self.rolls_twice() {
            Decision::Pass
        } else if ecn == Ecn::NotEct || is_overloaded {
            Decision::Drop(CLASSIC_DROP)
        } else {
            Decision::Mark(CLASSIC_MARK)
        }
    }

    /// The packet of the queue whose turn it is, whether that is L, and what the credit gains if it is sent.
    fn next(&mut self, cx: &mut QdiscContext<'_>) -> Option<(PacketId, bool, i64)> {
        let (l, c) = (!self.l.is_empty(), !self.c.is_empty());
        let is_l = l && (!c || self.credit <= 0);
        let (queue, weight) = if is_l {
            (&mut self.l, if c { self.classic_weight } else { 0 })
        } else {
            (&mut self.c, if l { self.classic_weight - WEIGHTS } else { 0 })
        };
        let id = queue.pop(cx)?;
        Some((id, is_l, weight * i64::from(cx.packets[id].ip_bytes)))
    }

    /// The controller: `delay` in seconds.
    fn update(&mut self, delay: f64) {
        let change = self.alpha * (delay - self.target) + self.beta * (delay - self.old_delay);
        let most = if self.drops_on_overload { 1.0 } else { 1.0 / self.coupling };
        self.base = (self.base + change).clamp(0.0, most);
        self.old_delay = delay;
    }
}

fn is_l4s(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::Ect1 | Ecn::Ce)
}

impl Qdisc for DualPi2 {
    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        cx.set_timer(self.t_update, 0);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let (bytes, ecn) = (cx.packets[id].ip_bytes, cx.packets[id].ecn);
        if !self.has_room(bytes, cx) {
            cx.drop_before_enqueue(id, LIMIT_EXCEEDED);
            return false;
        }
        if self.drops_early {
            match self.decide(ecn) {
                Decision::Pass => {}
                Decision::Mark(why) => {
                    cx.mark(id, why);
                }
                Decision::Drop(why) => {
                    cx.drop_before_enqueue(id, why);
                    return false;
                }
            }
        }
        let queue = if is_l4s(ecn) { &mut self.l } else { &mut self.c };
        queue.push(id, cx);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        loop {
            let Some((id, is_l, gain)) = self.next(cx) else {
                self.reset_credit();
                return None;
            };
            if !self.drops_early {
                match self.decide(cx.packets[id].ecn) {
                    Decision::Pass => {}
                    Decision::Mark(why) => {
                        cx.mark(id, why);
                    }
                    Decision::Drop(why) => {
                        cx.drop_after_dequeue(id, why);
                        continue;
                    }
                }
            }
            if is_l && cx.sojourn(id) > self.step && cx.packets[id].ecn != Ecn::Ce {
                cx.mark(id, STEP_MARK);
            }
            self.credit += gain;
            return Some(id);
        }
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        let heads = [self.l.head(), self.c.head()];
        let delays = heads.into_iter().flatten().map(|id| cx.sojourn(id));
        self.update(delays.max().unwrap_or(Time::ZERO).secs_f64());
        cx.set_timer(self.t_update, tag);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::qdisc::AnyQdisc;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Packet;

    const NAME: &str = SPEC.spec.ns3;

    fn dual(bench: &mut Bench) -> &mut DualPi2 {
        let AnyQdisc::DualPi2(dual) = &mut bench.qdisc else { unreachable!() };
        dual
    }

    /// A bench with probability p' that no update changes.
    fn at(base: f64, given: &[(&str, &str)]) -> Bench {
        let mut bench = Bench::new(NAME, &[&[("Alpha", "0"), ("Beta", "0")], given].concat());
        dual(&mut bench).base = base;
        bench
    }

    /// What leaves a queue that never runs dry of `count` departures of a kind.
    fn departures(bench: &mut Bench, ecn: Ecn, count: usize) -> Vec<Packet> {
        (0..40).for_each(|_| {
            bench.arrive(0, 1500, ecn);
        });
        let one = |_| {
            while bench.state.packets < 40 {
                bench.arrive(0, 1500, ecn);
            }
            bench.depart().unwrap()
        };
        (0..count).map(one).collect()
    }

    fn share(packets: &[Packet], ecn: Ecn) -> f64 {
        packets.iter().filter(|packet| packet.ecn == ecn).count() as f64 / packets.len() as f64
    }

    /// Appendix A.1: after n updates at a constant delay d, p' = n alpha (d - target) + beta d, as the
    /// first one comes from an empty queue.
    #[test]
    fn at_a_constant_delay_the_probability_is_that_of_the_formula() {
        let mut bench = Bench::new(NAME, &[]);
        for n in 1..=200 {
            dual(&mut bench).update(0.025);
            let expected = f64::from(n) * 0.16 * 0.010 + 3.2 * 0.025;
            assert!((dual(&mut bench).base - expected).abs() < 1e-12, "{n}");
        }
        // Below the target it falls, and the change of the delay counts once.
        let before = dual(&mut bench).base;
        for n in 1..=10 {
            dual(&mut bench).update(0.005);
            let expected = before - f64::from(n) * 0.16 * 0.010 - 3.2 * 0.020;
            assert!((dual(&mut bench).base - expected).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn the_probability_stays_within_its_bounds() {
        for (given, most) in [("true", 1.0), ("false", 0.5)] {
            let mut bench = Bench::new(NAME, &[("DropOverload", given)]);
            dual(&mut bench).update(10.0);
            assert_eq!(dual(&mut bench).base, most);
            dual(&mut bench).update(0.0);
            assert_eq!(dual(&mut bench).base, 0.0);
        }
    }

    /// The older of the two heads counts, every `Tupdate`.
    #[test]
    fn updates_read_the_older_head() {
        for order in [[Ecn::Ect1, Ecn::Ect0], [Ecn::Ect0, Ecn::Ect1]] {
            let mut bench = Bench::new(NAME, &[("Alpha", "1"), ("Beta", "0"), ("Target", "0s")]);
            bench.arrive(0, 1500, order[0]);
            bench.wait(Time::from_ms(6));
            bench.arrive(1, 1500, order[1]);
            bench.wait(Time::from_ms(9));
            assert_eq!(dual(&mut bench).base, 0.0);
            bench.wait(Time::from_ms(1));
            assert!((dual(&mut bench).base - 0.016).abs() < 1e-12);
        }
    }

    /// It updates again and again: alpha d each time, at a delay that grows by 16 ms.
    #[test]
    fn updates_go_on() {
        let mut bench = Bench::new(NAME, &[("Alpha", "1"), ("Beta", "0"), ("Target", "0s")]);
        bench.arrive(0, 1500, Ecn::Ect0);
        bench.wait(Time::from_ms(50));
        let wanted = 0.016 + 0.032 + 0.048;
        assert!((dual(&mut bench).base - wanted).abs() < 1e-12, "{}", dual(&mut bench).base);
    }

    /// p_L = k p' and p_C = p'^2, so that p_C = (p_L / k)^2 (section 2.1).
    #[test]
    fn marks_are_coupled() {
        for k in ["1", "2", "3"] {
            let given = [("CouplingFactor", k), ("StepThreshold", "1s")];
            for base in [0.05, 0.2, 0.3] {
                let scalable = departures(&mut at(base, &given), Ecn::Ect1, 40_000);
                let wanted = k.parse::<f64>().unwrap() * base;
                assert!((share(&scalable, Ecn::Ce) - wanted).abs() < 0.012, "{k} {base}");
                let classic = departures(&mut at(base, &given), Ecn::Ect0, 40_000);
                assert!((share(&classic, Ecn::Ce) - base * base).abs() < 0.008, "{k} {base}");
            }
        }
    }

    #[test]
    fn what_cannot_be_marked_is_dropped_with_the_square() {
        for early in ["true", "false"] {
            let mut bench = at(0.3, &[("DropEarly", early)]);
            departures(&mut bench, Ecn::NotEct, 20_000);
            let lost = bench.state.decisions.dropped_packets as f64;
            assert!((lost / f64::from(bench.arrivals) - 0.09).abs() < 0.01, "{early}");
            assert_eq!(bench.state.decisions.marked_packets, 0);
        }
    }

    /// Every packet of L4S that waited longer than the threshold, none that did not, and no other.
    #[test]
    fn the_step_marks_from_the_threshold_on() {
        for (sojourn_ns, sent, left) in [
            (1_000_000, Ecn::Ect1, Ecn::Ect1),
            (1_000_001, Ecn::Ect1, Ecn::Ce),
            (1_000_001, Ecn::Ect0, Ecn::Ect0),
            (1_000_001, Ecn::NotEct, Ecn::NotEct),
        ] {
            let mut bench = Bench::new(NAME, &[]);
            bench.arrive(0, 1500, sent);
            bench.wait(Time(sojourn_ns));
            assert_eq!(bench.depart().unwrap().ecn, left);
        }
    }

    /// No decision while less than two MTUs are left behind.
    #[test]
    fn a_short_queue_is_spared() {
        for (packets, left) in [(3, Ecn::Ce), (2, Ecn::Ect1)] {
            let mut bench = at(0.5, &[]);
            (0..packets).for_each(|_| {
                bench.arrive(0, 1500, Ecn::Ect1);
            });
            // k p' = 1: all that is not spared is marked.
            assert_eq!(bench.depart().unwrap().ecn, left);
        }
    }

    /// Both queues full: C gets its weight in bytes, L the rest; and L, whose weight is larger, begins.
    #[test]
    fn the_scheduler_shares_by_weight() {
        for (protection, bytes_of_l) in [("10", 1500), ("10", 500), ("25", 1500), ("60", 1500)] {
            let mut bench = at(0.0, &[("ClassicProtection", protection)]);
            let (mut l, mut c) = (0, 0);
            for step in 0..5000 {
                bench.arrive(0, bytes_of_l, Ecn::Ect1);
                bench.arrive(1, 1500, Ecn::NotEct);
                let packet = bench.depart().unwrap();
                if step == 0 {
                    assert_eq!(packet.flow == 0, protection != "60");
                }
                *(if packet.flow == 0 { &mut l } else { &mut c }) += packet.ip_bytes;
            }
            let share = 100.0 * f64::from(c) / f64::from(l + c);
            let wanted: f64 = protection.parse().unwrap();
            assert!((share - wanted).abs() < 0.1 * wanted, "{protection} {bytes_of_l}: {share}");
        }
    }

    /// The credit is between the two: one queue alone changes nothing about it, and an empty one starts anew.
    #[test]
    fn turns_are_taken_only_where_both_have_packets() {
        let mut bench = at(0.0, &[]);
        departures(&mut bench, Ecn::Ect0, 500);
        bench.arrive(1, 1500, Ecn::Ect1);
        assert_eq!(bench.depart().unwrap().ecn, Ecn::Ect1);

        let mut bench = at(0.0, &[]);
        for round in 0..2 {
            bench.arrive(0, 1500, Ecn::Ect0);
            (0..9).for_each(|_| {
                bench.arrive(1, 1500, Ecn::Ect1);
            });
            // Nine packets of L are the share of L, then it would be the turn of C.
            let first = bench.depart().unwrap();
            assert_eq!(first.ecn, Ecn::Ect1, "{round}");
            while bench.depart().is_some() {}
        }
    }

    /// Before a packet is queued the laws are the same.
    #[test]
    fn marks_on_arrival_are_those_of_departures() {
        let given = [("DropEarly", "true"), ("StepThreshold", "1s")];
        let scalable = departures(&mut at(0.2, &given), Ecn::Ect1, 20_000);
        assert!((share(&scalable, Ecn::Ce) - 0.4).abs() < 0.012);
        let classic = departures(&mut at(0.2, &given), Ecn::Ect0, 20_000);
        assert!((share(&classic, Ecn::Ce) - 0.04).abs() < 0.008);
    }

    /// With k p' above 1 L drops with p'^2 and marks all else; C drops even ECT(0).  Without drops on
    /// overload L marks all, up to the limit.
    #[test]
    fn overload_drops_in_both_queues() {
        let mut bench = at(0.7, &[]);
        let scalable = departures(&mut bench, Ecn::Ect1, 20_000);
        assert_eq!(share(&scalable, Ecn::Ce), 1.0);
        let lost = bench.state.decisions.dropped_packets as f64 / f64::from(bench.arrivals);
        assert!((lost - 0.49).abs() < 0.01, "{lost}");

        let mut bench = at(0.7, &[]);
        let classic = departures(&mut bench, Ecn::Ect0, 20_000);
        assert_eq!(share(&classic, Ecn::Ect0), 1.0);
        let lost = bench.state.decisions.dropped_packets as f64 / f64::from(bench.arrivals);
        assert!((lost - 0.49).abs() < 0.01, "{lost}");

        let mut bench = at(0.7, &[("DropOverload", "false"), ("MaxSize", "60p")]);
        let scalable = departures(&mut bench, Ecn::Ect1, 1000);
        assert_eq!(share(&scalable, Ecn::Ce), 1.0);
        assert_eq!(bench.state.decisions.dropped_packets, 0);
        let got_in = (0..100).filter(|_| bench.arrive(0, 1500, Ecn::Ect1)).count();
        assert_eq!(got_in, 21); // 39 were queued
    }
}
