//! Self-clocked fair queueing between classes by DSCP (Golestani, INFOCOM 1994; the driver of the
//! ns-3 backend has a class of this name), any discipline inside each, within levels of strict
//! priority.
//!
//! The packet at the head of class i has a finish time, and the smallest one goes first (at equal
//! ones, the first class):
//!
//! F_i = max(F_i, V) + bytes / weight_i
//!
//! where V is the finish time of the packet of the level that left last.  For a class that stays
//! busy that is F_i + bytes / weight_i; so busy classes share bytes as their weights.  Times are in
//! units of 2^-16 byte, rounded down.
//!
//! The ECN# authors' simulator sets V to each finish time that is given out, and divides whole
//! bytes.

use super::discipline::{Children, Contradiction, Discipline};
use super::priorities::{self, PRIORITIES};
use super::{BuildContext, Classes, Head, Qdisc, QdiscContext};
use crate::base::attributes::{Attributes, Kind, Spec, param};
use crate::packet::PacketId;

const WEIGHTS: &str = "Weights";

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "WfqQueueDisc",
        linux: &["WFQ"],
        is_in_linux: false,
        doc: "Self-clocked fair queueing between classes by DSCP, with weights.",
        source: "Golestani, IEEE INFOCOM 1994",
        departures: &[],
        params: &[
            param![WEIGHTS, "weights"; Kind::Numbers { min: 1, max: 1 << 16 } => "1 1";
                "The weight of each class; as many as there are classes."],
            PRIORITIES,
        ],
    },
    &[&[("Weights", "2 1 1")], &[("Weights", "1 5 2 1"), ("Priorities", "0 1 0 1")]],
)
.checked(check)
.with_children(Children::Listed { parameter: WEIGHTS, default: "FifoQueueDisc" });

fn check(a: &Attributes<'_>) -> Result<(), Contradiction> {
    priorities::check(a, WEIGHTS)
}

/// Fractional bits of a finish time.
const FRACTION_BITS: u32 = 16;

#[derive(Debug)]
pub struct Wfq {
    classes: Classes,
    shares: Vec<Share>,
    /// V, by priority.
    clocks: Vec<u64>,
}

#[derive(Debug)]
struct Share {
    weight: u32,
    priority: usize,
    /// Of the packet at the head, or of the last one.
    finish: u64,
    is_busy: bool,
}

impl Wfq {
    pub(super) fn new(cx: &mut BuildContext<'_>) -> Self {
        let weights = cx.attributes.numbers(WEIGHTS);
        let priorities = priorities::of_classes(cx, weights.len());
        let share = |(weight, priority)| Share {
            weight,
            priority: priority as usize,
            finish: 0,
            is_busy: false,
        };
        Wfq {
            classes: Classes::new(std::mem::take(&mut cx.children)),
            shares: weights.into_iter().zip(priorities).map(share).collect(),
            clocks: vec![0; usize::from(u8::MAX) + 1],
        }
    }

    /// The class whose packet goes next.
    fn next(&self) -> Option<usize> {
        let busy = (0..self.shares.len()).filter(|&class| self.shares[class].is_busy);
        busy.min_by_key(|&class| {
            let share = &self.shares[class];
            (std::cmp::Reverse(share.priority), share.finish, class)
        })
    }

    /// A packet of so many bytes comes to the head of the class.
    fn stamp(&mut self, class: usize, bytes: u32) {
        let share = &mut self.shares[class];
        let cost = (u64::from(bytes) << FRACTION_BITS) / u64::from(share.weight);
        share.finish = share.finish.max(self.clocks[share.priority]) + cost;
        share.is_busy = true;
    }
}

impl Qdisc for Wfq {
    fn attach(&mut self, cx: &mut QdiscContext<'_>) {
        self.classes.attach(cx);
    }

    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        self.classes.start(cx);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let class = priorities::classify(&self.classes, id, cx);
        let bytes = cx.packets[id].ip_bytes;
        let is_accepted = self.classes.enqueue(class, id, cx);
        if is_accepted && !self.shares[class].is_busy {
            self.stamp(class, bytes);
        }
        is_accepted
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        loop {
            let class = self.next()?;
            let sent = self.classes.dequeue(class, cx);
            let share = &mut self.shares[class];
            share.is_busy = false;
            if sent.is_some() {
                self.clocks[share.priority] = share.finish;
            }
            if let Some(next) = self.classes.peek(class, cx) {
                self.stamp(class, cx.packets[next].ip_bytes);
            }
            if sent.is_some() {
                return sent;
            }
        }
    }

    fn peek(&mut self, cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.next().and_then(|class| self.classes.peek(class, cx)))
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.classes.timer(tag, cx)
    }
}

#[cfg(test)]
mod tests {
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    #[test]
    fn busy_classes_share_bytes_as_their_weights() {
        for sizes in [[1500; 3], [1500, 700, 300], [40, 1500, 1500]] {
            let mut bench = Bench::new("WfqQueueDisc", &[("Weights", "2 1 1")]);
            let mut bytes = [0.0; 3];
            for class in 0..3 {
                for _ in 0..900 {
                    bench.arrive(class, sizes[class as usize], Ecn::NotEct);
                }
            }
            for _ in 0..900 {
                let packet = bench.depart().unwrap();
                bytes[packet.flow as usize] += f64::from(packet.ip_bytes);
            }
            let all: f64 = bytes.iter().sum();
            for (bytes, share) in bytes.iter().zip([0.5, 0.25, 0.25]) {
                assert!((bytes / all - share).abs() < 0.02, "{sizes:?}: {bytes} of {all}");
            }
        }
    }

    /// Golestani's order for two classes of equal weight: by bytes sent, not by turns.
    #[test]
    fn the_smaller_finish_time_goes_first() {
        let mut bench = Bench::new("WfqQueueDisc", &[("Weights", "1 1")]);
        for _ in 0..4 {
            bench.arrive(0, 1500, Ecn::NotEct);
            bench.arrive(1, 500, Ecn::NotEct);
        }
        let order: Vec<_> = std::iter::from_fn(|| bench.depart()).map(|p| p.flow).collect();
        // Finish times 1500, 3000, ... and 500, 1000, 1500, 2000.
        assert_eq!(order, [1, 1, 0, 1, 1, 0, 0, 0]);
    }

    #[test]
    fn an_idle_class_saves_nothing_up() {
        let mut bench = Bench::new("WfqQueueDisc", &[("Weights", "1 1")]);
        for _ in 0..50 {
            bench.arrive(0, 1500, Ecn::NotEct);
        }
        for _ in 0..20 {
            bench.depart();
        }
        for _ in 0..10 {
            bench.arrive(1, 1500, Ecn::NotEct);
        }
        let order: Vec<_> = (0..8).map(|_| bench.depart().unwrap().flow).collect();
        assert_eq!(order, [0, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn levels_are_strict() {
        let mut bench = Bench::new("WfqQueueDisc", &[("Weights", "9 1"), ("Priorities", "0 1")]);
        for class in [0, 1, 0, 1] {
            bench.arrive(class, 1500, Ecn::NotEct);
        }
        let order: Vec<_> = std::iter::from_fn(|| bench.depart()).map(|p| p.flow).collect();
        assert_eq!(order, [1, 1, 0, 0]);
    }
}
