//! First in, first out, with a limit in packets or bytes (ns-3's `FifoQueueDisc`, Linux's `pfifo`
//! and `bfifo`).

use super::discipline::Discipline;
use super::reasons::LIMIT_EXCEEDED;
use super::{BuildContext, Head, PacketFifo, Qdisc, QdiscContext, QdiscState};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::time::Time;
use crate::base::units::QueueSize;
use crate::packet::{PacketId, PacketPool};

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "FifoQueueDisc",
        linux: &["pfifo", "bfifo", "fifo"],
        is_in_linux: true,
        doc: "First in, first out; drops what arrives at a full queue.",
        source: "tc-bfifo(8)",
        departures: &[],
        params: &[param!["MaxSize", "limit"; Kind::QueueSize => "1000p";
                "How much the queue holds, in packets or bytes."]],
    },
    &[&[("MaxSize", "20p")], &[("MaxSize", "9000B")]],
);

#[derive(Debug)]
pub struct Fifo {
    pub(super) queue: PacketFifo,
    limit: QueueSize,
}

impl Fifo {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        Fifo::with_limit(cx.attributes.queue_size("MaxSize"))
    }

    pub(super) fn with_limit(limit: QueueSize) -> Self {
        Fifo { queue: PacketFifo::default(), limit }
    }

    /// Whatever comes while it is empty passes.
    pub fn passes_all(&self) -> bool {
        matches!(self.limit, QueueSize::Packets(1..))
    }

    /// As `enqueue` where nobody looks.  Returns false, and has done nothing, if the packet does not fit.
    #[inline(always)] // in one place
    pub fn append(
        &mut self,
        id: PacketId,
        now: Time,
        packets: &mut PacketPool,
        state: &mut QdiscState,
    ) -> bool {
        let has_room = self.queue.has_room(self.limit, packets[id].ip_bytes);
        if has_room {
            self.queue.enter(id, now, packets, state);
        }
        has_room
    }

    /// As `dequeue`.
    #[inline(always)] // in one place
    pub fn take_first(
        &mut self,
        now: Time,
        packets: &PacketPool,
        state: &mut QdiscState,
    ) -> Option<PacketId> {
        self.queue.leave(now, packets, state)
    }
}

impl Qdisc for Fifo {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        if !self.queue.has_room(self.limit, cx.packets[id].ip_bytes) {
            cx.drop_before_enqueue(id, LIMIT_EXCEEDED);
            return false;
        }
        self.queue.push(id, cx);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        self.queue.pop(cx)
    }

    fn peek(&mut self, _cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.queue.head())
    }

    fn passes(&mut self, ip_bytes: u32, _now: Time) -> bool {
        self.queue.has_room(self.limit, ip_bytes)
    }
}
