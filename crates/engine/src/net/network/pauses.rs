//! What switches and the ends of their links have to do with pauses; see [`crate::packet::ingress`].

use super::Network;
use super::common::{Common, HEADROOM_FULL};
use crate::base::event::Event;
use crate::base::time::Time;
use crate::net::routing::{Next, Origin};
use crate::packet::ingress::{Account, Ingress, Rules, priority_of};
use crate::packet::trace::PacketEvent;
use crate::packet::{FlowKey, Options, Packet, PacketId};

/// What pauses have done to one priority of a direction.
#[derive(Clone, Copy, Debug)]
pub struct Paused {
    pub port: u32,
    pub priority: usize,
    pub account: Account,
    /// How long it could not send.
    pub time: Time,
    /// Pause frames that were sent to it, about any priority.
    pub frames: u64,
}

impl Network {
    /// Switches hold senders back from now on.  `rules`: by port, of what comes over its wire.
    pub fn hold_back(&mut self, rules: Vec<Option<Rules>>, nodes: usize) {
        self.common.packets.set_ingress(Ingress::new(rules, nodes));
        self.common.is_arrival_noticed = true;
        self.common.holds_back = true;
        // A frame ends where its wire does.
        let nowhere = Origin { node: 0, destination: 0, hash: 0 };
        let frames = self.common.add_flow(FlowKey::default(), nowhere);
        for (device, _) in self.ports.iter_mut().filter_map(|port| port.pausable()) {
            device.number_frames(frames);
        }
    }

    /// A pause frame has come over the wire of `port`: the way back pauses.
    #[inline(never)]
    pub(super) fn pause(&mut self, port: u32, id: PacketId) {
        let common = &mut self.common;
        let (packets, now) = (&common.packets, common.events.now().time);
        let loss = &mut self.wires[port as usize].loss;
        let lost = loss.takes(id, packets, now, &mut self.loss_streams);
        let event = if lost.is_some() { PacketEvent::Drop } else { PacketEvent::Rx };
        common.record(port, event, id, lost.unwrap_or_default());
        let pause = common.packets[id].pause();
        common.packets.remove(id);
        if lost.is_none()
            && let Some(pause) = pause
            && let Some((device, transmitter)) = self.ports[port as usize ^ 1].pausable()
        {
            device.on_pause(pause, transmitter, common);
        }
    }

    /// A packet that has come over the wire of `port` is lost: the switch has no room for it.
    #[cold]
    pub(super) fn refuse(&mut self, port: u32, id: PacketId) {
        self.wires[port as usize].loss.count_lost();
        self.common.record(port, PacketEvent::Drop, id, HEADROOM_FULL);
        self.common.packets.remove(id);
    }

    /// The source of `flow` would send.  Returns whether its link has its turn for it; if not, `event` runs when it has.
    pub fn take_turn(&mut self, flow: u32, event: Event) -> bool {
        let probe = Packet { flow, options: Options::new(false), ..Packet::default() };
        let common = &mut self.common;
        let priority = priority_of(common.flow_keys.dscp(&probe));
        let Next::Port(port) = common.forwarding.usual_first_hop(common.forwarding.origin(&probe))
        else {
            return true;
        };
        match self.ports[port as usize].pausable() {
            Some((device, transmitter)) => device.take_turn(priority, event, transmitter, common),
            None => true,
        }
    }

    /// A pause frame that came some time ago has its effect.
    pub fn on_pause_effect(&mut self, port: u32) {
        if let Some((device, transmitter)) = self.ports[port as usize].pausable() {
            device.on_effect(transmitter, &mut self.common);
        }
    }

    /// Pauses that a port has asked for may have to be renewed.
    pub fn on_pause_renewal(&mut self, port: u32) {
        if let Some((device, transmitter)) = self.ports[port as usize].pausable() {
            device.on_renewal(transmitter, &mut self.common);
        }
    }

    /// What pauses have done until now, by port and priority.
    pub fn pauses(&self) -> impl Iterator<Item = Paused> {
        let now = self.now();
        let ports = 0..self.ports.len();
        self.common.packets.ingress().into_iter().flat_map(move |ingress| {
            ports.clone().flat_map(move |port| {
                ingress.accounts(port).map(move |(priority, &account)| {
                    let device = |port: usize| self.ports[port].as_pausable();
                    let time = device(port).map_or(Time::ZERO, |own| own.paused(priority, now));
                    let frames = device(port ^ 1).map_or(0, |other| other.frames());
                    Paused { port: port as u32, priority, account, time, frames }
                })
            })
        })
    }
}

impl Common {
    /// Whether the switch has room for a packet that has come over the wire of `port` and goes on.
    pub(super) fn has_room(&mut self, port: u32, id: PacketId) -> bool {
        let packet = &self.packets[id];
        let (dscp, bytes) = (self.flow_keys.dscp(packet), packet.wire_bytes());
        let has_room = self
            .packets
            .ingress_mut()
            .is_none_or(|ingress| ingress.admit(id.0 as usize, port, priority_of(dscp), bytes));
        self.tell_upstream();
        has_room
    }
}
