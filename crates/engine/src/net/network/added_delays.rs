//! Propagation that single flows have over others, on the first wire of their path.

use crate::base::time::Time;
use crate::packet::Packet;

/// Of one flow.
#[derive(Clone, Copy, Debug, Default)]
struct AddedDelay {
    /// Where its packets enter the network.
    port: u32,
    /// Where the last one flew.
    lane: u32,
    delay: Time,
}

/// By flow, from its source only; packets that come back have none.  It is no queue: packets of a flow
/// stay in their order, those of others overtake them.
#[derive(Debug, Default)]
pub struct AddedDelays {
    flows: Vec<AddedDelay>,
}

impl AddedDelays {
    /// The packets of `flow` take longer from `port` on.
    pub fn set(&mut self, flow: u32, port: u32, delay: Time) {
        let flow = flow as usize;
        if self.flows.len() <= flow {
            self.flows.resize(flow + 1, AddedDelay::default());
        }
        self.flows[flow] = AddedDelay { port, lane: 0, delay };
    }

    /// What is added on `port`, and the lane of the flow's last packet, to be kept up to date.
    #[inline]
    pub fn at(&mut self, port: u32, packet: &Packet) -> Option<(Time, &mut u32)> {
        let flow = self.flows.get_mut(packet.flow as usize)?;
        let is_added = flow.port == port && !packet.backward && !flow.delay.is_zero();
        is_added.then_some((flow.delay, &mut flow.lane))
    }
}
