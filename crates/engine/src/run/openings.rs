//! When transfers begin: one event is pending, not one for each of them.

use crate::base::event::{Event, EventQueue, FlowEvent, Key};

/// The beginnings of transfers, under the numbers that they drew when their nodes came up.
#[derive(Debug, Default)]
pub struct Openings {
    /// The last one first, once they are in order.
    rest: Vec<(Key, u32)>,
}

impl Openings {
    pub fn add(&mut self, key: Key, flow: u32) {
        self.rest.push((key, flow));
    }

    /// All nodes are up: the first one is due.
    pub fn begin(&mut self, events: &mut EventQueue) {
        self.rest.sort_unstable_by(|a, b| b.cmp(a));
        self.queue_next(events);
    }

    /// The one that was due runs.
    pub fn queue_next(&mut self, events: &mut EventQueue) {
        if let Some((key, flow)) = self.rest.pop() {
            events.insert(key, Event::Flow(FlowEvent::Open, flow));
        }
    }
}
