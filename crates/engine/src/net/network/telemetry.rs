//! Packets that collect what switches say of their links: see [`crate::packet::telemetry`].

use super::Network;
use super::common::Common;
use super::port::Transmitter;
use crate::net::routing::Next;
use crate::packet::PacketId;
use crate::packet::telemetry::{Hop, Hops};

impl Network {
    /// What the packet that was taken out of the network last has collected, until another one is sent; it must be one
    /// that was sent with some.
    pub fn arrived_hops(&self) -> &Hops {
        self.common.packets.hops_freed_last()
    }
}

impl Common {
    /// A packet that collects leaves over a port before which so many bytes wait: a switch writes that into it, its host
    /// does not.
    pub(super) fn write_hop(&mut self, id: PacketId, transmitter: &Transmitter, queue: u32) {
        let origin = self.forwarding.origin(&self.packets[id]);
        let first = self.forwarding.usual_first_hop(origin);
        if first == Next::Port(transmitter.port) {
            return;
        }
        let (at, rate) = (self.now(), transmitter.rate());
        let hop = Hop { queue, sent: transmitter.tx_bytes, at, rate };
        self.packets.hops_mut(id).push(transmitter.port, hop);
    }
}
