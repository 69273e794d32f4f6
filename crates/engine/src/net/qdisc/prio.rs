//! Strict priority between child disciplines (ns-3's `PrioQueueDisc`, Linux's `prio`).  If none are
//! given, as ns-3 makes them by itself: two bands, each a FIFO of 1000 packets.

use super::discipline::{Children, Discipline};
use super::fifo::Fifo;
use super::{AnyQdisc, BuildContext, Classes, Head, Qdisc, QdiscContext};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::units::QueueSize;
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "PrioQueueDisc",
        linux: &["prio"],
        is_in_linux: true,
        doc: "Strict priority between FIFO bands, chosen by the packet's priority.",
        source: "tc-prio(8)",
        departures: &[],
        params: &[param!["Priomap", "priomap"; Kind::Priomap => "1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1";
                "The band of each of the sixteen priorities; band 0 is served first."]],
    },
    &[&[]],
)
.with_children(Children::Optional { least: 2, most: 16 });

const BANDS: usize = 2;
const BAND_LIMIT: QueueSize = QueueSize::Packets(1000);

#[derive(Debug)]
pub struct Prio {
    bands: Classes,
    priority_map: [u16; 16],
}

impl Prio {
    pub(super) fn new(cx: &mut BuildContext<'_>) -> Self {
        let mut priority_map = [0; 16];
        let words = cx.attributes.text("Priomap").split_whitespace();
        for (band, word) in priority_map.iter_mut().zip(words) {
            *band = word.parse().expect("a Priomap is sixteen numbers");
        }
        let mut bands = std::mem::take(&mut cx.children);
        if bands.is_empty() {
            bands.resize_with(BANDS, || AnyQdisc::Fifo(Fifo::with_limit(BAND_LIMIT)));
        }
        Prio { bands: Classes::new(bands), priority_map }
    }
}

impl Qdisc for Prio {
    fn attach(&mut self, cx: &mut QdiscContext<'_>) {
        self.bands.attach(cx);
    }

    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        self.bands.start(cx);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let priority = cx.priority(id) & 15;
        // The default map names a third band, which ns-3 3.44 does not make: a packet sent there
        // aborts its run.  Here it goes to the last band.
        let band = usize::from(self.priority_map[usize::from(priority)]).min(self.bands.len() - 1);
        self.bands.enqueue(band, id, cx)
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        (0..self.bands.len()).find_map(|band| self.bands.dequeue(band, cx))
    }

    fn peek(&mut self, cx: &mut QdiscContext<'_>) -> Head {
        Head::Known((0..self.bands.len()).find_map(|band| self.bands.peek(band, cx)))
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.bands.timer(tag, cx)
    }
}

#[cfg(test)]
mod tests {
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    #[test]
    fn band_0_goes_first() {
        for ns3 in ["PrioQueueDisc", "PfifoFastQueueDisc"] {
            let mut bench = Bench::new(ns3, &[]);
            // By the default maps priority 0 is in band 1, priority 6 in band 0.
            for flow in [0, 6, 0, 6] {
                bench.arrive(flow, 100, Ecn::NotEct);
            }
            let order: Vec<_> = std::iter::from_fn(|| bench.depart()).map(|p| p.flow).collect();
            assert_eq!(order, [6, 6, 0, 0], "{ns3}");
        }
    }
}
