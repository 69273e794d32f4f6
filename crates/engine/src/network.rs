//! Links, devices and forwarding: from the host that sends a packet to the host that receives it.
//!
//! The rules are those of ns-3's traffic control layer, `PointToPointNetDevice` and
//! `PointToPointChannel`.
//!
//! Few events are queued.  Packets on the wire wait in [`lanes`], of which only the heads have an
//! event.  The end of a transmission and the wake-up of the queue discipline are queued only when
//! somebody has come to wait for them; until then their keys are kept, so that they take their place
//! in the order that ns-3 would have given them.

mod common;
mod lanes;
mod port;

use crate::event::EventQueue;
use crate::packet::{PPP_HEADER, Packet, PacketId, SackBlock, SackBlocks};
use crate::qdisc::FlowKey;
use crate::rng::RngStream;
use crate::time::Time;
use crate::trace::{PacketEvent, PacketTrace};
use common::Common;
use lanes::Flight;

pub use port::{Device, DeviceFifo, Loss, Port, Several, Single, Transmitter};

/// The ports each packet of a flow passes, forward and back.
pub type Routes = Vec<[Vec<u32>; 2]>;

/// All links, and all packets on them.
#[derive(Debug)]
pub struct Network {
    pub ports: Vec<Port>,
    common: Common,
    /// Random numbers for losses; ports may share a stream.
    loss_streams: Vec<RngStream>,
    routes: Routes,
    /// The SACK blocks of the packet that was taken out last, of those that had some.
    arrived_sacks: SackBlocks,
}

impl Network {
    pub fn new(
        ports: Vec<Port>,
        loss_streams: Vec<RngStream>,
        routes: Routes,
        flow_keys: Vec<[FlowKey; 2]>,
        trace: Option<PacketTrace>,
    ) -> Self {
        let common = Common::new(flow_keys, trace);
        Network { ports, common, loss_streams, routes, arrived_sacks: SackBlocks::default() }
    }

    /// From now on no shortcuts are taken.
    #[cfg(test)]
    pub fn queue_every_event(&mut self) {
        self.common.events.plain = true;
        for port in &mut self.ports {
            port.transmitter.is_plain = true;
        }
    }

    pub fn now(&self) -> Time {
        self.common.now()
    }

    /// As [`EventQueue::check_numbers`].
    pub fn check_numbers(&self) {
        self.common.events.check_numbers();
    }

    pub fn events(&mut self) -> &mut EventQueue {
        &mut self.common.events
    }

    /// A host sends a packet; flow and direction are set.
    #[inline(always)] // so that it is written where it stays, not copied there
    pub fn send(&mut self, packet: Packet) {
        let route = &self.routes[packet.flow as usize][usize::from(packet.backward)];
        let port = route[0];
        let id = self.common.packets.insert(packet);
        self.ports[port as usize].enter(id, &mut self.common);
    }

    /// The same for a packet with SACK blocks.
    pub fn send_with_sacks(&mut self, packet: Packet, blocks: &[SackBlock]) {
        let port = self.routes[packet.flow as usize][usize::from(packet.backward)][0];
        let id = self.common.packets.insert(packet);
        self.common.packets.set_sacks(id, blocks);
        self.ports[port as usize].enter(id, &mut self.common);
    }

    /// Those of the packet that was taken out of the network last, if it had some.
    pub fn arrived_sacks(&self) -> &SackBlocks {
        &self.arrived_sacks
    }

    /// From now on the packets of the flows `first`, `first` + 1, ... are counted, `count` of them.
    pub fn watch(&mut self, first: u32, count: usize) {
        self.common.packets.watch(first, count);
    }

    /// Whether a packet of a flow that is watched is somewhere in the network.
    pub fn is_under_way(&self, flow: u32) -> bool {
        self.common.packets.is_under_way(flow)
    }

    /// The queue disciplines have been made.
    pub fn attach_disciplines(&mut self) {
        for port in &mut self.ports {
            port.attach_disciplines(&mut self.common);
        }
    }

    /// The queue disciplines of a port start.
    pub fn start_disciplines(&mut self, port: u32) {
        self.ports[port as usize].start_disciplines(&mut self.common);
    }

    /// A queue discipline's timer fires.
    pub fn on_qdisc_timer(&mut self, index: u32) {
        let timer = self.common.timers.take(index);
        let port = &mut self.ports[timer.port as usize];
        port.on_timer(timer.discipline, timer.tag, &mut self.common);
    }

    /// The head of a lane arrives.  Returns the packet if this was its last hop.
    #[inline]
    pub fn on_arrival(&mut self, lane: u32) -> Option<PacketId> {
        let common = &mut self.common;
        let Flight { id, port, .. } = common.lanes.arrive(lane, &mut common.events)?;
        if self.ports[port as usize].loss.takes_next(&mut self.loss_streams) {
            common.record(port, PacketEvent::Drop, id, "Link loss");
            common.packets.remove(id);
            return None;
        }
        common.record(port, PacketEvent::Rx, id, "");
        let packet = &mut common.packets[id];
        let hop = packet.hop + 1;
        let route = &self.routes[packet.flow as usize][usize::from(packet.backward)];
        // The packet of a last hop is copied next: a byte written to it now would hold that up.
        let Some(&next) = route.get(hop as usize) else { return Some(id) };
        packet.hop = hop;
        self.ports[next as usize].enter(id, common);
        None
    }

    /// Takes a packet that has arrived out of the network.
    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet {
        let packet = self.common.packets[id];
        if packet.sacks > 0 {
            self.arrived_sacks = self.common.packets.sacks(id);
        }
        self.common.packets.remove(id);
        packet
    }

    /// The transmitter of a port is free again.
    pub fn on_tx_complete(&mut self, port: u32) {
        self.ports[port as usize].on_tx_complete(&mut self.common);
    }

    /// A device looks whether its queue has room, and lets the queue discipline go on.
    pub fn on_wake(&mut self, port: u32) {
        self.ports[port as usize].on_wake(&mut self.common);
    }

    /// Packets are recorded from now on.
    #[cfg(test)]
    pub fn record_packets(&mut self, trace: PacketTrace) {
        self.common.trace = Some(trace);
    }

    /// The packet trace, if there is one, ends.
    pub fn take_trace(&mut self) -> Option<PacketTrace> {
        self.common.trace.take()
    }
}

const _: () = assert!(PPP_HEADER == 2, "wire sizes and ns-3's device queue count the same bytes");
