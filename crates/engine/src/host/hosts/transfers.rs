//! Transfers of workloads: endpoints that are made when they begin and are gone when they are over.

use std::collections::HashMap;

use super::dependents::Dependents;
use super::persistent::{Beginning, Persistent, Released};
use super::{Address, AnyEndpoint, Outcome};
use crate::base::event::{Event, EventQueue, FlowEvent};
use crate::base::time::Time;
use crate::net::network::Network;

/// Makes the endpoints of transfers.
pub trait Maker: Send {
    /// Of transfer `number`, counted from 0 through all workloads.
    fn make(&self, number: u32, address: Address) -> AnyEndpoint;
}

crate::opaque!(Maker);

/// What is left of transfers that are over: 20 bytes of each that lost nothing, as most.
#[derive(Debug)]
struct Outcomes {
    /// [`Time::MAX`] if it was not.
    completed: Vec<Time>,
    acked_bytes: Vec<u64>,
    segments_sent: Vec<u32>,
    /// Of those of which there is more to say.
    others: HashMap<u32, Outcome>,
}

impl Outcomes {
    fn new(count: usize) -> Self {
        Outcomes {
            completed: vec![Time::MAX; count],
            acked_bytes: vec![0; count],
            segments_sent: vec![0; count],
            others: HashMap::new(),
        }
    }

    fn put(&mut self, number: u32, outcome: Outcome) {
        let at = number as usize;
        self.completed[at] = outcome.completed.unwrap_or(Time::MAX);
        self.acked_bytes[at] = outcome.acked_bytes;
        self.segments_sent[at] = outcome.segments_sent as u32;
        if self.plain(number) != outcome {
            self.others.insert(number, outcome);
        }
    }

    fn get(&self, number: u32) -> Outcome {
        self.others.get(&number).copied().unwrap_or_else(|| self.plain(number))
    }

    /// As the columns tell it.
    fn plain(&self, number: u32) -> Outcome {
        let at = number as usize;
        Outcome {
            segments_sent: self.segments_sent[at].into(),
            acked_bytes: self.acked_bytes[at],
            completed: Some(self.completed[at]).filter(|&time| time < Time::MAX),
            ..Outcome::default()
        }
    }
}

/// All transfers of a run.
#[derive(Debug)]
pub struct Transfers {
    /// Flow number of the first one.
    first: u32,
    maker: Box<dyn Maker>,
    /// Of those that are over.
    outcomes: Outcomes,
    /// Those whose state somebody samples stay.
    is_kept: Vec<bool>,
    /// None: all begin by the clock, and each over a connection of its own.
    related: Option<Box<Related>>,
}

/// Transfers that have to do with others.
#[derive(Debug)]
struct Related {
    dependents: Dependents,
    persistent: Persistent,
}

impl Transfers {
    /// `kept`: flow numbers of those that stay when they are over.
    pub fn new(
        first: u32,
        count: usize,
        kept: impl Iterator<Item = u32>,
        maker: Box<dyn Maker>,
    ) -> Self {
        let mut is_kept = vec![false; count];
        for flow in kept {
            if let Some(is_kept) = is_kept.get_mut(flow.wrapping_sub(first) as usize) {
                *is_kept = true;
            }
        }
        Transfers { first, maker, outcomes: Outcomes::new(count), is_kept, related: None }
    }

    /// Some of them wait for others, or go over connections of others.
    pub fn relate(&mut self, dependents: Dependents, persistent: Persistent) {
        self.related = Some(Box::new(Related { dependents, persistent }));
    }

    fn number(&self, flow: u32) -> Option<u32> {
        let number = flow.checked_sub(self.first)?;
        ((number as usize) < self.is_kept.len()).then_some(number)
    }

    /// What becomes of a transfer that begins; flows have their numbers among all flows.
    pub fn begin(&mut self, flow: u32, outcome: impl Fn(u32) -> Outcome) -> Beginning {
        let first = self.first;
        let Some(related) = &mut self.related else { return Beginning::Opens };
        match related.persistent.begin(flow - first, |opener| outcome(first + opener)) {
            Beginning::Follows(opener, member) => Beginning::Follows(first + opener, member),
            other => other,
        }
    }

    /// Something has come to the ends of `flow`, which may be no transfer.
    #[inline]
    pub fn note_arrival(&mut self, flow: u32, endpoint: &AnyEndpoint, network: &mut Network) {
        if self.related.is_some() {
            self.relate_arrival(flow, endpoint, network);
        }
    }

    #[inline(never)]
    fn relate_arrival(&mut self, flow: u32, endpoint: &AnyEndpoint, network: &mut Network) {
        let number = self.number(flow);
        let (Some(related), Some(opener), Some(ends)) = (&mut self.related, number, endpoint.get())
        else {
            return;
        };
        let Related { dependents, persistent } = &mut **related;
        let Some(transfer) = persistent.carried(opener) else { return };
        if ends.has_arrived() {
            dependents.on_arrival(transfer, self.first, network.events());
        }
        if persistent.is_member(opener) {
            let released = persistent.settle(opener, &ends.outcome(), network.now());
            self.release(released, network.events());
        }
    }

    /// What a connection carried is over, and who has waited for it begins.
    fn release(&mut self, released: Option<Released>, events: &mut EventQueue) {
        let Some(Released { transfer, next }) = released else { return };
        if let Some((transfer, own)) = transfer {
            self.outcomes.put(transfer, own);
        }
        if let Some(next) = next {
            events.schedule(Time::ZERO, Event::Flow(FlowEvent::Open, self.first + next));
        }
    }

    /// As [`Dependents::begun`]; of a flow that is no transfer: none.
    pub fn begun(&self, flow: u32) -> Option<Time> {
        self.related.as_ref()?.dependents.begun(self.number(flow)?)
    }

    /// When the last byte of a transfer came; known where some have to do with others.
    pub fn arrived(&self, flow: u32) -> Option<Time> {
        self.related.as_ref()?.dependents.arrived(self.number(flow)?)
    }

    /// Whether it may go over another one's connection.
    pub fn is_shared(&self, flow: u32) -> bool {
        let (Some(related), Some(number)) = (&self.related, self.number(flow)) else {
            return false;
        };
        related.persistent.is_member(number)
    }

    /// Whether it went over a connection that another one had opened.
    pub fn found_open(&self, flow: u32) -> bool {
        let (Some(related), Some(number)) = (&self.related, self.number(flow)) else {
            return false;
        };
        related.persistent.found_open(number)
    }

    pub fn make(&self, flow: u32, place: u32) -> AnyEndpoint {
        let number = flow - self.first;
        let is_passing = !self.is_kept[number as usize];
        self.maker.make(number, Address { flow, place, is_passing })
    }

    /// The endpoint of a flow is gone.
    pub fn note_end(&mut self, flow: u32, outcome: Outcome, events: &mut EventQueue) {
        let number = flow - self.first;
        let related = self.related.as_mut();
        match related.and_then(|related| related.persistent.lose(number, &outcome)) {
            None => self.outcomes.put(number, outcome),
            released => self.release(released, events),
        }
    }

    /// Of a transfer that is not there, or over another one's connection: nothing, if it has not begun.  `outcome`: of the
    /// endpoint of a flow.
    pub fn outcome(&self, flow: u32, outcome: impl Fn(u32) -> Outcome) -> Outcome {
        let number = flow - self.first;
        let of = |opener| outcome(self.first + opener);
        let related = self.related.as_ref();
        let under_way = related.and_then(|related| related.persistent.under_way(number, of));
        under_way.unwrap_or_else(|| self.outcomes.get(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_what_was_noted_however_much_there_is_to_say() {
        let plain = Outcome { segments_sent: 7, acked_bytes: 10_000, ..Outcome::default() };
        let completed = Some(Time(5));
        let all = [
            Outcome::default(),
            plain,
            Outcome { completed, ..plain },
            Outcome { retransmissions: 1, completed, ..plain },
            Outcome { rtos: 2, ..plain },
            Outcome { recovery_episodes: 1, recovery_time: Time(9), ..plain },
            Outcome { segments_sent: 1 << 33, ..plain },
        ];
        let mut outcomes = Outcomes::new(all.len());
        (0..).zip(all).for_each(|(number, outcome)| outcomes.put(number, outcome));
        for (number, outcome) in (0..).zip(all) {
            assert_eq!(outcomes.get(number), outcome);
        }
        assert_eq!(outcomes.others.len(), 4);
    }
}
