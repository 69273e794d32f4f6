//! Transfers of workloads: connections that are made when they begin and are gone when they are over.

use std::fmt;

use super::Connection;
use crate::tcp::Statistics;
use crate::time::Time;

/// Makes the connections of transfers.
pub trait Maker: fmt::Debug + Send {
    /// Of transfer `number`, counted from 0 through all workloads.
    fn make(&self, number: u32, flow: u32, slot: u32) -> Connection;
}

/// What is left of a transfer's sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    pub segments_sent: u64,
    pub acked_bytes: u64,
    pub retransmissions: u64,
    pub recovery_time: Time,
    pub rtos: u32,
    pub recovery_episodes: u32,
    /// When the last byte was acknowledged.
    pub completed: Option<Time>,
}

impl From<&Statistics> for Outcome {
    fn from(s: &Statistics) -> Self {
        Outcome {
            segments_sent: s.segments_sent,
            acked_bytes: s.acked_bytes,
            retransmissions: s.retransmissions,
            recovery_time: s.recovery_time,
            rtos: s.rtos as u32,
            recovery_episodes: s.recovery_episodes as u32,
            completed: s.completed,
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
    outcomes: Vec<Outcome>,
    /// Those whose state somebody samples stay.
    is_kept: Vec<bool>,
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
        Transfers { first, maker, outcomes: vec![Outcome::default(); count], is_kept }
    }

    pub fn make(&self, flow: u32, slot: u32) -> Connection {
        let number = flow - self.first;
        let mut connection = self.maker.make(number, flow, slot);
        connection.is_passing = !self.is_kept[number as usize];
        connection
    }

    pub fn note_end(&mut self, flow: u32, outcome: Outcome) {
        self.outcomes[(flow - self.first) as usize] = outcome;
    }

    /// Of a transfer that is not there: nothing, if it has not begun.
    pub fn outcome(&self, flow: u32) -> Outcome {
        self.outcomes[(flow - self.first) as usize]
    }
}
