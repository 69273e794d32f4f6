//! Transfers that wait for others: each begins a delay after the last of those has come to its destination.

use crate::base::event::{Event, EventQueue, FlowEvent};
use crate::base::time::Time;

/// By the number of a transfer, counted from 0 through all workloads.
#[derive(Debug)]
pub struct Dependents {
    transfers: Vec<Waiting>,
}

/// What a transfer waits for, and who waits for it.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// Those that begin after it.
    pub before: Vec<u32>,
    /// How many that it waits for have not arrived.
    pub missing: u32,
    pub delay: Time,
    /// None of one that begins by the clock.
    begun: Option<Time>,
    arrived: Option<Time>,
}

impl Dependents {
    pub fn new(transfers: Vec<Waiting>) -> Self {
        Dependents { transfers }
    }

    /// The last byte of `number` has come.  `first`: the flow number of the first transfer.
    pub fn on_arrival(&mut self, number: u32, first: u32, events: &mut EventQueue) {
        let transfer = &mut self.transfers[number as usize];
        if transfer.arrived.is_some() {
            return;
        }
        transfer.arrived = Some(events.now().time);
        for next in std::mem::take(&mut transfer.before) {
            let waiting = &mut self.transfers[next as usize];
            waiting.missing -= 1;
            if waiting.missing == 0 {
                waiting.begun = Some(events.now().time + waiting.delay);
                events.schedule(waiting.delay, Event::Flow(FlowEvent::Open, first + next));
            }
        }
    }

    /// When the last byte of `number` came.
    pub fn arrived(&self, number: u32) -> Option<Time> {
        self.transfers[number as usize].arrived
    }

    /// When it began, or will; of one that waits for what has not come, [`Time::MAX`].  None: by the clock.
    pub fn begun(&self, number: u32) -> Option<Time> {
        let transfer = &self.transfers[number as usize];
        if transfer.missing > 0 { Some(Time::MAX) } else { transfer.begun }
    }
}
