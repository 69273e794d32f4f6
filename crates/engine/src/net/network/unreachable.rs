//! A router without a route for a packet tells its sender (RFC 792, destination unreachable; RFC 1812 section
//! 5.2.7.1), as ns-3's `Ipv4L3Protocol` does since July 2026.  The sender does nothing about it: what the message
//! changes is the queues on its path.
//!
//! Messages are few and their senders many, so they have flow numbers of their own, beyond all others, from the
//! first one on.  None is sent about a message, as RFC 1812 section 4.3.2.7 wants it (ns-3 sends one, to a router).

use std::collections::HashMap;
use std::net::Ipv4Addr;

use super::common::Common;
use crate::net::routing::balance::flow_hash;
use crate::net::routing::{Next, Origin, Place};
use crate::packet::{FlowKey, ICMP_HEADER, IP_HEADER, PROTOCOL_ICMP, Packet};

/// What a message quotes of the packet: its IP header and eight bytes.
const QUOTED: u32 = IP_HEADER + 8;

/// Where a message leaves a router.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    pub router: u32,
    pub address: Ipv4Addr,
}

/// Messages of all routers.
#[derive(Debug)]
pub struct Unreachable {
    /// By port.
    exits: Vec<Exit>,
    /// The number of the first of them.
    first: u32,
    /// By the port that they leave by, and the address that they are for.
    numbers: HashMap<(u32, u32), u32>,
}

impl Unreachable {
    pub fn new(exits: Vec<Exit>, common: &Common) -> Self {
        let first = common.flow_keys.keys.len() as u32;
        Unreachable { exits, first, numbers: HashMap::new() }
    }

    /// What the router at `place` says about a packet, and where it sends that: as everything of its own, over the
    /// first of several equal-cost paths.
    pub fn message_about(
        &mut self,
        lost: &Packet,
        place: Place,
        common: &mut Common,
    ) -> Option<(Packet, Origin, u32)> {
        let Place::Row(row) = place else { return None };
        if lost.flow >= self.first {
            return None;
        }
        let Origin { destination, .. } = common.forwarding.answering(lost);
        let Next::Port(port) = common.forwarding.first_of(row, destination) else { return None };
        let Exit { router, address } = self.exits[port as usize];
        let to = common.flow_keys.of(lost).source;
        let addresses = [address.into(), to];
        let hash = flow_hash(addresses, PROTOCOL_ICMP, [0, 0]);
        let origin = Origin { node: router, destination, hash };
        let flow = *self.numbers.entry((port, to)).or_insert_with(|| {
            let [source, destination] = addresses;
            let protocol = PROTOCOL_ICMP;
            common.add_flow(FlowKey { source, destination, protocol, ..FlowKey::default() }, origin)
        });
        let message = Packet {
            ip_bytes: IP_HEADER + ICMP_HEADER + QUOTED,
            payload: QUOTED as u16,
            flow,
            backward: true,
            destination,
            ..Packet::default()
        };
        Some((message, origin, port))
    }
}
