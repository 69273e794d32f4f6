//! Transfers of workloads: endpoints that are made when they begin and are gone when they are over.

use std::collections::HashMap;
use std::fmt;

use super::dependents::Dependents;
use super::{Address, AnyEndpoint, Outcome};
use crate::base::time::Time;
use crate::net::network::Network;

/// Makes the endpoints of transfers.
pub trait Maker: fmt::Debug + Send {
    /// Of transfer `number`, counted from 0 through all workloads.
    fn make(&self, number: u32, address: Address) -> AnyEndpoint;
}

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
    /// None: all begin by the clock.
    dependents: Option<Dependents>,
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
        Transfers { first, maker, outcomes: Outcomes::new(count), is_kept, dependents: None }
    }

    /// Some of them wait for others.
    pub fn wait(&mut self, dependents: Dependents) {
        self.dependents = Some(dependents);
    }

    /// Something has come to the ends of `flow`, which may be no transfer.
    #[inline]
    pub fn note_arrival(&mut self, flow: u32, endpoint: &AnyEndpoint, network: &mut Network) {
        if let Some(dependents) = &mut self.dependents
            && (flow.wrapping_sub(self.first) as usize) < self.is_kept.len()
            && endpoint.get().is_some_and(|ends| ends.has_arrived())
        {
            dependents.on_arrival(flow - self.first, self.first, network.events());
        }
    }

    /// As [`Dependents::begun`]; of a flow that is no transfer: none.
    pub fn begun(&self, flow: u32) -> Option<Time> {
        let dependents = self.dependents.as_ref()?;
        let number = flow.checked_sub(self.first)?;
        ((number as usize) < self.is_kept.len()).then(|| dependents.begun(number))?
    }

    pub fn make(&self, flow: u32, place: u32) -> AnyEndpoint {
        let number = flow - self.first;
        let is_passing = !self.is_kept[number as usize];
        self.maker.make(number, Address { flow, place, is_passing })
    }

    pub fn note_end(&mut self, flow: u32, outcome: Outcome) {
        self.outcomes.put(flow - self.first, outcome);
    }

    /// Of a transfer that is not there: nothing, if it has not begun.
    pub fn outcome(&self, flow: u32) -> Outcome {
        self.outcomes.get(flow - self.first)
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
