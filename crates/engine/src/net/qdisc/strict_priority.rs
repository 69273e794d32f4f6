//! Strict priority between classes by DSCP (the driver of the ns-3 backend has a class of this
//! name), any discipline inside each.
//!
//! A departure is from the class with the largest priority that has packets; at equal ones, from
//! the first. Unlike `PrioQueueDisc`, classes are told apart by DSCP and not by what the type of
//! service asks for, and there are as many as one likes.

use super::discipline::{Children, Discipline};
use super::priorities::{self, PRIORITIES};
use super::{BuildContext, Classes, Head, Qdisc, QdiscContext};
use crate::base::attributes::{Param, Spec};
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "StrictPriorityQueueDisc",
        linux: &["StrictPriority", "SP"],
        is_in_linux: false,
        doc: "Strict priority between classes by DSCP.",
        source: "The simulator of Zhang, Bai and Chen, ACM CoNEXT 2019",
        departures: &[],
        params: &[Param {
            default: "1 0",
            doc: "The priority of each class; the largest goes first.",
            ..PRIORITIES
        }],
    },
    &[&[("Priorities", "10 8 6 0")], &[("Priorities", "1 1 3")]],
)
.with_children(Children::Listed { parameter: PRIORITIES.ns3, default: "FifoQueueDisc" });

#[derive(Debug)]
pub struct StrictPriority {
    classes: Classes,
    /// All classes, the most urgent first.
    order: Vec<usize>,
}

impl StrictPriority {
    pub(super) fn new(cx: &mut BuildContext<'_>) -> Self {
        let priorities = cx.attributes.numbers(PRIORITIES.ns3);
        let mut order: Vec<_> = (0..priorities.len()).collect();
        order.sort_by_key(|&class| std::cmp::Reverse(priorities[class]));
        StrictPriority { classes: Classes::new(std::mem::take(&mut cx.children)), order }
    }
}

impl Qdisc for StrictPriority {
    fn attach(&mut self, cx: &mut QdiscContext<'_>) {
        self.classes.attach(cx);
    }

    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        self.classes.start(cx);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let class = priorities::classify(&self.classes, id, cx);
        self.classes.enqueue(class, id, cx)
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        self.order.iter().find_map(|&class| self.classes.dequeue(class, cx))
    }

    fn peek(&mut self, cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.order.iter().find_map(|&class| self.classes.peek(class, cx)))
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
    fn the_largest_priority_goes_first_and_unknown_classes_to_the_last() {
        let given = [("Priorities", "1 7 0")];
        let mut bench = Bench::new("StrictPriorityQueueDisc", &given);
        for class in [2, 0, 1, 9, 0, 1] {
            bench.arrive(class, 100, Ecn::NotEct);
        }
        let order: Vec<_> = std::iter::from_fn(|| bench.depart()).map(|p| p.flow).collect();
        assert_eq!(order, [1, 1, 0, 0, 2, 9]);
    }
}
