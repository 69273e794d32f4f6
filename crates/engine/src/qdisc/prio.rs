//! Strict priority between child disciplines (ns-3's `PrioQueueDisc`, Linux's `prio`).  As ns-3 makes
//! them by itself: two bands, each a FIFO of 1000 packets.

use super::fifo::Fifo;
use super::{BuildContext, Qdisc, QdiscContext};
use crate::attributes::{Kind, Param, Spec};
use crate::packet::PacketId;
use crate::units::QueueSize;

pub const SPEC: Spec = Spec {
    ns3: "PrioQueueDisc",
    linux: &["prio"],
    doc: "Strict priority between FIFO bands, chosen by the packet's priority.",
    source: "tc-prio(8)",
    params: &[Param {
        ns3: "Priomap",
        linux: "priomap",
        kind: Kind::Priomap,
        default: "1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
        doc: "The band of each of the sixteen priorities; band 0 is served first.",
    }],
};

const BANDS: usize = 2;
const BAND_LIMIT: QueueSize = QueueSize::Packets(1000);

#[derive(Debug)]
pub struct Prio {
    bands: [Fifo; BANDS],
    priority_map: [u16; 16],
}

impl Prio {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let mut priority_map = [0; 16];
        let words = cx.attributes.text("Priomap").split_whitespace();
        for (band, word) in priority_map.iter_mut().zip(words) {
            *band = word.parse().expect("a Priomap is sixteen numbers");
        }
        Prio { bands: [(); BANDS].map(|()| Fifo::with_limit(BAND_LIMIT)), priority_map }
    }
}

impl Qdisc for Prio {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let priority = cx.priority(id) & 15;
        // The default map names a third band, which ns-3 3.44 does not make: a packet sent there
        // aborts its run.  Here it goes to the last band.
        let band = usize::from(self.priority_map[usize::from(priority)]).min(BANDS - 1);
        cx.child(|cx| self.bands[band].enqueue(id, cx))
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        cx.child(|cx| self.bands.iter_mut().find_map(|band| band.dequeue(cx)))
    }
}

#[cfg(test)]
mod tests {
    use crate::packet::Ecn;
    use crate::qdisc::bench::Bench;

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
