//! Deficit weighted round robin between classes by DSCP (Shreedhar and Varghese, SIGCOMM 1995; the
//! driver of the ns-3 backend has a class of this name), any discipline inside each, within levels
//! of strict priority.
//!
//! Each level has a list of its classes that have packets; a class that gets its first goes to the
//! end with a deficit of one quantum.  A departure is from the highest level with a list.  The
//! class at its front
//!
//! - sends its packet if that has no more bytes than the deficit, which pays for it, and leaves the
//!   list when it has none left;
//! - otherwise gets another quantum and goes to the end.
//!
//! So the shares of classes that always have packets are as their quanta.

use std::collections::{BTreeMap, VecDeque};

use super::discipline::{Children, Contradiction, Discipline};
use super::priorities::{self, PRIORITIES};
use super::{BuildContext, Classes, Head, Qdisc, QdiscContext};
use crate::base::attributes::{Attributes, Kind, Spec, param};
use crate::packet::PacketId;

const QUANTA: &str = "Quanta";

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "DwrrQueueDisc",
        linux: &["DWRR"],
        is_in_linux: false,
        doc: "Deficit weighted round robin between classes by DSCP.",
        source: "Shreedhar and Varghese, ACM SIGCOMM 1995",
        departures: &[],
        params: &[
            param![QUANTA, "quanta"; Kind::Numbers { min: 1, max: 1 << 30 } => "1500 1500";
                "What each class may send in a round, in bytes; as many as there are classes."],
            PRIORITIES,
        ],
    },
    &[
        &[("Quanta", "3000 1500 1500")],
        &[("Quanta", "100 3000 40 1500"), ("Priorities", "0 1 0 1")],
    ],
)
.checked(check)
.with_children(Children::Listed { parameter: QUANTA, default: "FifoQueueDisc" });

fn check(a: &Attributes<'_>) -> Result<(), Contradiction> {
    priorities::check(a, QUANTA)
}

#[derive(Debug)]
pub struct Dwrr {
    classes: Classes,
    shares: Vec<Share>,
    /// The classes with packets, by priority.
    active: BTreeMap<u32, VecDeque<usize>>,
}

#[derive(Debug)]
struct Share {
    quantum: u32,
    deficit: u32,
    priority: u32,
    is_active: bool,
}

impl Dwrr {
    pub(super) fn new(cx: &mut BuildContext<'_>) -> Self {
        let quanta = cx.attributes.numbers(QUANTA);
        let priorities = priorities::of_classes(cx, quanta.len());
        let shares = quanta.into_iter().zip(priorities);
        let share = |(quantum, priority)| Share { quantum, deficit: 0, priority, is_active: false };
        Dwrr {
            classes: Classes::new(std::mem::take(&mut cx.children)),
            shares: shares.map(share).collect(),
            active: BTreeMap::new(),
        }
    }

    /// The class whose packet goes next, with that packet; it stays at the front of its list.
    fn next(&mut self, cx: &mut QdiscContext<'_>) -> Option<(usize, PacketId)> {
        loop {
            let list = self.active.values_mut().rev().find(|list| !list.is_empty())?;
            let class = list[0];
            let share = &mut self.shares[class];
            let Some(id) = self.classes.peek(class, cx) else {
                // The child has dropped what it had.
                list.pop_front();
                share.is_active = false;
                continue;
            };
            if cx.packets[id].ip_bytes <= share.deficit {
                return Some((class, id));
            }
            share.deficit += share.quantum;
            list.rotate_left(1);
        }
    }
}

impl Qdisc for Dwrr {
    fn attach(&mut self, cx: &mut QdiscContext<'_>) {
        self.classes.attach(cx);
    }

    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        self.classes.start(cx);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let class = priorities::classify(&self.classes, id, cx);
        let is_accepted = self.classes.enqueue(class, id, cx);
        let share = &mut self.shares[class];
        if is_accepted && !share.is_active {
            share.is_active = true;
            share.deficit = share.quantum;
            self.active.entry(share.priority).or_default().push_back(class);
        }
        is_accepted
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        loop {
            let (class, _) = self.next(cx)?;
            let sent = self.classes.dequeue(class, cx);
            let share = &mut self.shares[class];
            if let Some(id) = sent {
                share.deficit = share.deficit.saturating_sub(cx.packets[id].ip_bytes);
            }
            if self.classes.packets(class) == 0 {
                share.is_active = false;
                self.active.entry(share.priority).or_default().pop_front();
            }
            if sent.is_some() {
                return sent;
            }
        }
    }

    fn peek(&mut self, cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.next(cx).map(|(_, id)| id))
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.classes.timer(tag, cx)
    }
}

#[cfg(test)]
mod tests {
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    /// Bytes sent by each class while all always have packets.
    fn shares(given: &[(&str, &str)], sizes: [u32; 3]) -> [f64; 3] {
        let mut bench = Bench::new("DwrrQueueDisc", given);
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
        bytes.map(|bytes| bytes / all)
    }

    #[test]
    fn busy_classes_share_bytes_as_their_quanta() {
        for sizes in [[1500; 3], [1500, 700, 300], [40, 1500, 1500]] {
            let shares = shares(&[("Quanta", "3000 1500 1500")], sizes);
            for (share, quantum) in shares.iter().zip([0.5, 0.25, 0.25]) {
                assert!((share - quantum).abs() < 0.02, "{sizes:?}: {shares:?}");
            }
        }
    }

    #[test]
    fn a_quantum_below_a_packet_is_saved_up() {
        let shares = shares(&[("Quanta", "100 50 50")], [1500; 3]);
        assert!((shares[0] - 0.5).abs() < 0.02, "{shares:?}");
    }

    #[test]
    fn levels_are_strict() {
        let given = [("Quanta", "1500 1500 3000"), ("Priorities", "0 7 7")];
        let shares = shares(&given, [1500; 3]);
        assert_eq!(shares[0], 0.0);
        assert!((shares[2] - 2.0 / 3.0).abs() < 0.01, "{shares:?}");
    }

    /// The packets of a class that has nothing waiting do not wait for more than a round.
    #[test]
    fn an_idle_class_saves_nothing_up() {
        let mut bench = Bench::new("DwrrQueueDisc", &[("Quanta", "1500 1500")]);
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
        assert_eq!(order, [1, 0, 1, 0, 1, 0, 1, 0]);
    }
}
