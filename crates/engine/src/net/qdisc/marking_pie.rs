//! PIE that marks by the sojourn time, in the form of the ECN# authors' simulator (the driver of
//! the ns-3 backend has a class of this name), which follows a draft of RFC 8033.
//!
//! Every `Tupdate`, from time 0 on, with delay the time that the packet at the head has been queued
//! so far, or 0 without any:
//!
//! p += A (delay - reference) + B (delay - old delay), A and B divided by 8 while p < 0.01 and by 2
//! while p < 0.1; then p *= 0.98 if both delays are 0, p += 0.02 if the delay is above 200 ms;
//! never below 0.
//!
//! An arrival is marked with probability p, unless the old delay is below half the reference and p
//! below 0.2, or two packets or less are queued.  What cannot be marked passes unmarked; only a
//! full queue drops.
//!
//! Unlike `PieQueueDisc`: no burst allowance, coarser steps, no cap on them and none on p at 1.

use super::discipline::Discipline;
use super::marking::{Law, MAX_SIZE, Marking};
use super::pie_params::{A, B, REFERENCE, T_UPDATE};
use super::reasons::UNFORCED_MARK;
use super::{BuildContext, PacketFifo, QdiscContext};
use crate::base::attributes::{Kind, Param, Spec};
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "MarkingPieQueueDisc",
        linux: &["MarkingPIE", "marking_pie"],
        is_in_linux: false,
        doc: "PIE that marks by the time in the queue, and lets pass what cannot be marked.",
        source: "The simulator of Zhang, Bai and Chen, ACM CoNEXT 2019",
        departures: &[],
        params: &[
            MAX_SIZE,
            A,
            B,
            Param { default: "30ms", ..T_UPDATE },
            Param { kind: Kind::Threshold, default: "20ms", ..REFERENCE },
        ],
    },
    &[&[("A", "100"), ("Tupdate", "1ms"), ("QueueDelayReference", "1ms")]],
);

/// What the probability's step is divided by while it is below a bound.
const SCALES: [(f64, f64); 2] = [(0.01, 8.0), (0.1, 2.0)];
const DECAY: f64 = 0.98;
/// A delay above which the probability grows by a step of its own.
const LONG_DELAY_SECS: f64 = 0.2;
const LONG_DELAY_STEP: f64 = 0.02;
/// No mark below this probability while the delay is below half the reference.
const LIGHT_PROBABILITY: f64 = 0.2;
/// No mark while no more than so many packets are queued.
const SHORT_QUEUE: u32 = 2;

pub type MarkingPie = Marking<Probability>;

#[derive(Debug)]
pub struct Probability {
    a: f64,
    b: f64,
    t_update: Time,
    reference_secs: f64,
    rng: RngStream,
    probability: f64,
    old_delay_secs: f64,
}

impl MarkingPie {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        let law = Probability {
            a: a.f64(A.ns3),
            b: a.f64(B.ns3),
            t_update: a.time(T_UPDATE.ns3),
            reference_secs: a.time(REFERENCE.ns3).secs_f64(),
            rng: RngStream::fixed(cx.run, cx.stream),
            probability: 0.0,
            old_delay_secs: 0.0,
        };
        Marking::by(law, cx)
    }
}

impl Probability {
    fn update(&mut self, delay: f64) {
        let step = self.a * (delay - self.reference_secs) + self.b * (delay - self.old_delay_secs);
        let scale = SCALES.iter().find(|(below, _)| self.probability < *below);
        let mut p = self.probability + step / scale.map_or(1.0, |(_, divisor)| *divisor);
        if delay == 0.0 && self.old_delay_secs == 0.0 {
            p *= DECAY;
        } else if delay > LONG_DELAY_SECS {
            p += LONG_DELAY_STEP;
        }
        self.probability = p.max(0.0);
        self.old_delay_secs = delay;
    }

    fn marks_next(&mut self, queued: u32) -> bool {
        let is_light =
            self.old_delay_secs < 0.5 * self.reference_secs && self.probability < LIGHT_PROBABILITY;
        !is_light && queued > SHORT_QUEUE && self.rng.unit() <= self.probability
    }
}

/// An empty queue is too short to be marked.
impl Law for Probability {
    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        cx.set_timer(Time::ZERO, 0);
    }

    fn at_enqueue(&mut self, id: PacketId, queue: &PacketFifo, cx: &mut QdiscContext<'_>) {
        if self.marks_next(queue.len()) {
            cx.mark(id, UNFORCED_MARK);
        }
    }

    fn timer(&mut self, tag: u32, queue: &PacketFifo, cx: &mut QdiscContext<'_>) {
        let delay = queue.head().map_or(Time::ZERO, |id| cx.sojourn(id));
        self.update(delay.secs_f64());
        cx.set_timer(self.t_update, tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::qdisc::AnyQdisc;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    fn pie(bench: &mut Bench) -> &mut Probability {
        let AnyQdisc::MarkingPie(pie) = &mut bench.qdisc else { unreachable!() };
        &mut pie.law
    }

    /// At a constant delay only the proportional term is left, divided by 8, then 2, then 1.
    #[test]
    fn the_probability_grows_by_the_scaled_deviation() {
        let mut bench = Bench::new("MarkingPieQueueDisc", &[]);
        let pie = pie(&mut bench);
        pie.old_delay_secs = 0.1;
        let mut expected = 0.0;
        for _ in 0..200 {
            let divisor = [8.0, 2.0, 1.0][[0.01, 0.1].iter().filter(|&&p| expected >= p).count()];
            expected += 0.125 * 0.08 / divisor;
            pie.update(0.1);
            assert!((pie.probability - expected).abs() < 1e-12);
        }
        assert!(pie.probability > 1.0);
        pie.update(0.201);
        assert!((pie.probability - expected - 0.125 * 0.181 - 1.25 * 0.101 - 0.02).abs() < 1e-12);
    }

    #[test]
    fn without_delay_the_probability_decays_by_a_fiftieth() {
        let mut bench = Bench::new("MarkingPieQueueDisc", &[("A", "0")]);
        let pie = pie(&mut bench);
        pie.probability = 0.5;
        pie.update(0.0);
        assert_eq!(pie.probability, 0.49);
    }

    /// At p = 1/2 and a delay above half the reference, every other packet is marked; none when two
    /// are queued.
    #[test]
    fn arrivals_are_marked_with_the_probability() {
        let mut bench = Bench::new("MarkingPieQueueDisc", &[]);
        pie(&mut bench).probability = 0.5;
        pie(&mut bench).old_delay_secs = 0.02;
        let mut marked = 0;
        for i in 0..20_000 {
            bench.arrive(0, 1500, Ecn::Ect0);
            if i >= 3 {
                marked += u32::from(bench.depart().unwrap().ecn == Ecn::Ce);
            }
        }
        assert!((9_700..10_300).contains(&marked), "{marked}");
        while bench.state.packets > 2 {
            bench.depart();
        }
        let before = bench.state.decisions.marked_packets;
        for _ in 0..100 {
            bench.arrive(0, 1500, Ecn::Ect0);
            bench.depart();
        }
        assert_eq!(bench.state.decisions.marked_packets, before);
    }
}
