//! Hosts that ask for packets: what their flows ask for leaves one by one, no faster than the packets can come (NDP's pull
//! queue; Handley et al., SIGCOMM 2017, section 3.2).
//!
//! A flow waits once, behind the others of its host, until it is its turn; if it then asks for a packet, the next turn is
//! a packet's time at the host's link later, and otherwise at once.  So flows that have more to ask for take turns.

use std::collections::VecDeque;

use super::Network;
use crate::base::event::{Event, NodeEvent};
use crate::base::time::Time;
use crate::packet::Packet;

#[derive(Debug, Default)]
pub(super) struct PullQueue {
    waiting: VecDeque<Event>,
    /// No turn is before.
    free: Time,
    /// The event of the next turn is queued.
    is_awaited: bool,
}

impl Network {
    /// The destination of `flow` would ask for a packet: `event` runs when it is its turn.
    pub fn await_pull(&mut self, flow: u32, event: Event) {
        let node = self.asking(flow);
        let now = self.now();
        let queue = self.pull_queues.entry(node).or_default();
        queue.waiting.push_back(event);
        if !queue.is_awaited {
            queue.is_awaited = true;
            let delay = queue.free.max(now) - now;
            self.common.events.schedule(delay, Event::Node(NodeEvent::Pull, node));
        }
    }

    /// It asks for a packet of so many bytes on the wire.
    pub fn pulled(&mut self, flow: u32, bytes: u32) {
        let node = self.asking(flow);
        // At the far end of its link.
        let port = self.common.forwarding.first_port(node) ^ 1;
        let time = self.ports[port as usize].transmitter.rate().tx_time(bytes);
        self.pull_queues.entry(node).or_default().free = self.now() + time;
    }

    /// It may be the turn of who waits longest.
    pub fn on_pull_turn(&mut self, node: u32) {
        let now = self.now();
        let queue = self.pull_queues.entry(node).or_default();
        let events = &mut self.common.events;
        if queue.free <= now
            && let Some(event) = queue.waiting.pop_front()
        {
            events.schedule(Time::ZERO, event);
        }
        queue.is_awaited = !queue.waiting.is_empty();
        if queue.is_awaited {
            // After it, if it asks for nothing; the wait for the next turn is known only then.
            let delay = queue.free.max(now) - now;
            events.schedule(delay, Event::Node(NodeEvent::Pull, node));
        }
    }

    /// The node that the destination of a flow is at.
    fn asking(&self, flow: u32) -> u32 {
        let answer = Packet { flow, backward: true, ..Packet::default() };
        self.common.forwarding.origin(&answer).node
    }
}
