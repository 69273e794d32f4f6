//! The shortcuts that a network takes: decided once all is known of what can happen in it, and of who looks.

use super::{Network, Place, Wire};

/// From so many links between routers on, many packets arrive at once in a large network.  Where many hosts share a few
/// links, one comes after another.
const MESHED: usize = 16;

impl Network {
    /// Nothing else is to come that could change what is done with packets that arrive.  `may_fail`: links.
    pub fn settle(&mut self, may_fail: bool) {
        let is_noticed = self.common.is_arrival_noticed || self.common.forwarding.is_steered();
        self.is_arrival_plain = !is_noticed
            && !may_fail
            && self.common.forwarding.is_lasting()
            && !self.wires.iter().any(|wire| wire.loss.is_lossy());
        self.looks_ahead |= self.is_large && self.is_arrival_plain;
        if self.is_large && self.is_meshed() {
            self.expect_many();
        }
        self.attend();
        if self.is_arrival_plain {
            let wires = &self.wires;
            let is_carried = self.common.forwarding.lay_paths(|port| wires[port as usize].leads_to);
            for (port, wire) in self.ports.iter_mut().zip(wires) {
                port.transmitter.decide_for(wire.leads_to, is_carried);
                port.hurry();
            }
        }
    }

    fn is_meshed(&self) -> bool {
        let is_router = |wire: &Wire| matches!(wire.leads_to, Place::Row(_));
        self.wires.chunks(2).filter(|ends| ends.iter().all(is_router)).count() >= MESHED
    }

    /// So much happens at once as in the network of a data centre.
    pub fn expect_many(&mut self) {
        self.common.events.expect_many();
    }

    /// So many endpoints have come that [`Self::arriving_soon`] is worth its time, where memory can be asked for.
    pub fn crowd(&mut self) {
        if !self.is_crowded {
            self.is_crowded = cfg!(target_arch = "x86_64");
            self.looks_ahead |= self.is_crowded;
        }
    }

    /// Ports learn whether somebody looks.
    pub(super) fn attend(&mut self) {
        self.ports.iter_mut().for_each(|port| port.attend(self.common.is_observed));
    }

    /// From now on no shortcuts are taken.
    #[cfg(test)]
    pub fn queue_every_event(&mut self) {
        self.common.events.plain = true;
        for port in &mut self.ports {
            port.transmitter.is_plain = true;
        }
        self.attend();
    }

    /// No shortcuts are taken.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.common.events.plain
    }
}
