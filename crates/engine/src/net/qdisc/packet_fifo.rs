//! The internal queue of disciplines.

use super::{QdiscContext, QdiscState};
use crate::base::time::Time;
use crate::base::units::QueueSize;
use crate::packet::{PacketId, PacketList, PacketPool};

/// A first-in first-out list of packets that knows its bytes and reports to the context (ns-3's
/// `DropTailQueue<QueueDiscItem>`, without the limit).
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct PacketFifo {
    list: PacketList,
    bytes: u32,
}

impl PacketFifo {
    /// Appends a packet, which is thereby enqueued.
    pub fn push(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) {
        self.append(id, cx.packets);
        cx.enqueued(id);
    }

    /// The same but for the report.
    #[inline(always)]
    pub fn append(&mut self, id: PacketId, packets: &mut PacketPool) {
        self.bytes += packets[id].ip_bytes;
        self.list.push(id, packets);
    }

    /// Appends a packet where nobody looks.
    #[inline(always)]
    pub fn enter(
        &mut self,
        id: PacketId,
        now: Time,
        packets: &mut PacketPool,
        state: &mut QdiscState,
    ) {
        self.append(id, packets);
        state.count_enqueued(&mut packets[id], now);
    }

    /// Takes the oldest packet where nobody looks.
    #[inline(always)]
    pub fn leave(
        &mut self,
        now: Time,
        packets: &PacketPool,
        state: &mut QdiscState,
    ) -> Option<PacketId> {
        let id = self.take_first(packets)?;
        state.count_dequeued(&packets[id], now);
        Some(id)
    }

    /// Takes the oldest packet, which is thereby dequeued.
    pub fn pop(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        let id = self.take_first(cx.packets)?;
        cx.dequeued(id);
        Some(id)
    }

    /// The same but for the report.
    #[inline(always)]
    pub fn take_first(&mut self, packets: &PacketPool) -> Option<PacketId> {
        let id = self.list.pop(packets)?;
        self.bytes -= packets[id].ip_bytes;
        Some(id)
    }

    /// The packet that was taken last is the oldest again.
    pub fn put_back(&mut self, id: PacketId, packets: &mut PacketPool) {
        self.list.put_back(id, packets);
        self.bytes += packets[id].ip_bytes;
    }

    pub fn head(&self) -> Option<PacketId> {
        self.list.first()
    }

    /// Whether a packet of `ip_bytes` fits under `limit`.
    pub fn has_room(&self, limit: QueueSize, ip_bytes: u32) -> bool {
        match limit {
            QueueSize::Packets(n) => self.len() < n,
            QueueSize::Bytes(n) => self.bytes + ip_bytes <= n,
        }
    }

    /// The same for the queue of a discipline that may have to give its head to be looked at, which
    /// still counts.
    pub fn has_room_with_held(
        &self,
        limit: QueueSize,
        ip_bytes: u32,
        cx: &QdiscContext<'_>,
    ) -> bool {
        match (limit, cx.held_bytes()) {
            (QueueSize::Packets(n), 1..) => self.len() + 1 < n,
            (_, held) => self.has_room(limit, held + ip_bytes),
        }
    }

    /// The length in the unit of `limit`.
    pub fn measured_as(&self, limit: QueueSize) -> u32 {
        match limit {
            QueueSize::Packets(_) => self.len(),
            QueueSize::Bytes(_) => self.bytes,
        }
    }

    pub fn len(&self) -> u32 {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn bytes(&self) -> u32 {
        self.bytes
    }
}
