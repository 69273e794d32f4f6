//! What a switch loses of the packets that reach it.

use std::sync::Arc;

use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::packet::Packet;

const BLACK_HOLE: &str = "Black hole";
const RANDOM_DROP: &str = "Random drop";

/// A fault of a switch, which all links into it have in common.
#[derive(Clone, Debug)]
pub struct Fault {
    pub start: Time,
    pub stop: Time,
    /// The probability that a packet that is hit is lost.
    pub loss: f64,
    /// Which of the network's streams it draws from, for a probability below 1.
    pub stream: usize,
    /// Packets of which flows are hit, there and back; `None`: of all.
    pub hit: Option<Arc<[[bool; 2]]>>,
}

impl Fault {
    /// Why the packet is lost, if it is.
    pub fn takes(
        &self,
        packet: &Packet,
        now: Time,
        streams: &mut [RngStream],
    ) -> Option<&'static str> {
        let is_on = self.start <= now && now < self.stop;
        let direction = usize::from(packet.backward);
        let is_hit = self.hit.as_ref().is_none_or(|hit| {
            // Routers, which are among the flows of none, send what has no number here.
            hit.get(packet.flow as usize).is_some_and(|both| both[direction])
        });
        if !is_on || !is_hit {
            None
        } else if self.loss >= 1.0 {
            Some(BLACK_HOLE)
        } else {
            (streams[self.stream].unit() < self.loss).then_some(RANDOM_DROP)
        }
    }
}
