//! Three bands of strict priority (ns-3's `PfifoFastQueueDisc`, Linux's `pfifo_fast`).

use super::discipline::Discipline;
use super::reasons::LIMIT_EXCEEDED;
use super::{BuildContext, Head, PacketFifo, Qdisc, QdiscContext, packet_limit};
use crate::base::attributes::{Kind, Spec, param};
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "PfifoFastQueueDisc",
        linux: &["pfifo_fast"],
        is_in_linux: true,
        doc: "Three bands of strict priority, chosen by the packet's priority.",
        source: "tc-pfifo_fast(8)",
        departures: &[],
        params: &[param!["MaxSize", "limit"; Kind::PacketLimit => "1000p";
                "How much all bands hold together, in packets."]],
    },
    &[&[("MaxSize", "20p")]],
);

/// The band of each priority.
const BANDS: [usize; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

#[derive(Debug)]
pub struct PfifoFast {
    bands: [PacketFifo; 3],
    limit: u32,
}

impl PfifoFast {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        PfifoFast { bands: Default::default(), limit: packet_limit(&cx.attributes) }
    }
}

impl Qdisc for PfifoFast {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let queued: u32 = self.bands.iter().map(PacketFifo::len).sum();
        if queued >= self.limit {
            cx.drop_before_enqueue(id, LIMIT_EXCEEDED);
            return false;
        }
        let priority = cx.priority(id) & 15;
        self.bands[BANDS[usize::from(priority)]].push(id, cx);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        self.bands.iter_mut().find_map(|band| band.pop(cx))
    }

    fn peek(&mut self, _cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.bands.iter().find_map(PacketFifo::head))
    }
}
