//! The device's own queue, below the queue discipline.

use ccperf_schema::lowered::DeviceQueue;

use crate::packet::{PacketId, PacketList, PacketPool};

/// First in, first out, up to a number of packets or bytes; what does not fit is dropped.
#[derive(Debug)]
#[repr(C)]
pub struct DeviceFifo {
    limit: DeviceQueue,
    /// The largest packet: a queue without room for one is full.
    mtu: u32,
    bytes: u32,
    list: PacketList,
}

impl DeviceFifo {
    pub fn new(limit: DeviceQueue, mtu: u32) -> Self {
        DeviceFifo { list: PacketList::default(), bytes: 0, limit, mtu }
    }

    /// Whether one packet fills it, whatever its size.
    pub fn has_one_place(&self) -> bool {
        matches!(self.limit, DeviceQueue::Packets(1))
    }

    /// Whether its limit is in packets, of which one fits at least.
    pub fn counts_packets(&self) -> bool {
        matches!(self.limit, DeviceQueue::Packets(1..))
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// A packet of `bytes`, which fits.
    #[inline]
    pub fn push(&mut self, id: PacketId, bytes: u32, packets: &mut PacketPool) {
        self.list.push(id, packets);
        self.bytes += bytes;
    }

    /// The packet that goes next.
    #[inline]
    pub fn pop(&mut self, packets: &PacketPool) -> Option<PacketId> {
        let id = self.list.pop(packets)?;
        self.bytes -= packets[id].wire_bytes();
        Some(id)
    }

    /// Whether it would overflow with another packet of `bytes`.
    #[inline]
    pub fn is_full_for(&self, bytes: u32) -> bool {
        match self.limit {
            DeviceQueue::Packets(limit) => self.list.len() >= limit,
            DeviceQueue::Bytes(limit) => self.bytes + bytes > limit,
        }
    }

    /// The same for a packet of the largest size: the test of the flow control.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.is_full_for(self.mtu)
    }

    /// Whether one packet of `bytes` would fill it, were it empty.
    #[inline]
    pub fn is_filled_by(&self, bytes: u32) -> bool {
        match self.limit {
            DeviceQueue::Packets(limit) => limit <= 1,
            DeviceQueue::Bytes(limit) => bytes + self.mtu > limit,
        }
    }
}
