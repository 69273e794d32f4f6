//! What a link loses: at random, in bursts, by a list, and what was on its wire when it failed.

use std::collections::VecDeque;

use super::Fault;
use super::gilbert_elliott::GilbertElliott;
use crate::lowered;
use crate::network::common::LINK_DOWN;
use crate::packet::{PacketId, PacketPool};
use crate::rng::RngStream;
use crate::time::Time;

const LINK_LOSS: &str = "Link loss";

/// Loss at the receiving device.
#[derive(Debug)]
pub struct Loss {
    /// There is or was a rate above 0, a list, a channel with bursts, or a failure: all that most links
    /// ever look at.
    is_lossy: bool,
    losses: Box<Losses>,
}

#[derive(Debug)]
struct Losses {
    /// The probability, for each packet alike.
    rate: f64,
    bursts: Option<GilbertElliott>,
    /// Which of the network's streams it draws from.
    stream: usize,
    /// Arrivals to lose, by number, in increasing order.
    listed: VecDeque<u64>,
    arrivals: u64,
    lost: u64,
    /// Packets that were on the wire when the link failed.
    doomed: Vec<PacketId>,
    /// Packets lost because of failures.
    failed: u64,
    /// Of the node at the other end.
    faults: Vec<Fault>,
}

impl Loss {
    /// `stream`: which of the network's; `listed`: arrivals to lose, by number from 0, in any order.
    pub fn new(
        rate: f64,
        bursts: Option<lowered::GilbertElliott>,
        stream: usize,
        mut listed: Vec<u64>,
    ) -> Self {
        listed.sort_unstable();
        let is_lossy = rate > 0.0 || bursts.is_some() || !listed.is_empty();
        let losses = Losses {
            rate,
            bursts: bursts.map(GilbertElliott::new),
            stream,
            listed: listed.into(),
            arrivals: 0,
            lost: 0,
            doomed: Vec::new(),
            failed: 0,
            faults: Vec::new(),
        };
        Loss { is_lossy, losses: Box::new(losses) }
    }

    /// The node at the other end has another fault.
    pub fn add_fault(&mut self, fault: Fault) {
        self.losses.faults.push(fault);
        self.is_lossy = true;
    }

    pub fn set_rate(&mut self, rate: f64) {
        self.losses.rate = rate;
        self.is_lossy |= rate > 0.0;
    }

    /// Whether it has to be asked.
    pub fn is_lossy(&self) -> bool {
        self.is_lossy
    }

    /// Packets lost so far.
    pub fn lost(&self) -> u64 {
        self.losses.lost
    }

    /// Packets lost because of failures so far.
    pub fn failed(&self) -> u64 {
        self.losses.failed
    }

    /// Another one.
    pub fn count_failed(&mut self) {
        self.losses.failed += 1;
    }

    /// The link fails with these packets on its wire.
    pub fn doom(&mut self, packets: impl Iterator<Item = PacketId>) {
        self.losses.doomed.extend(packets);
        self.is_lossy = true;
    }

    /// Why the packet that arrives now is lost, if it is.
    #[inline]
    pub fn takes(
        &mut self,
        id: PacketId,
        packets: &PacketPool,
        now: Time,
        streams: &mut [RngStream],
    ) -> Option<&'static str> {
        if self.is_lossy { self.losses.take(id, packets, now, streams) } else { None }
    }
}

impl Losses {
    fn take(
        &mut self,
        id: PacketId,
        packets: &PacketPool,
        now: Time,
        streams: &mut [RngStream],
    ) -> Option<&'static str> {
        if let Some(i) = self.doomed.iter().position(|&doomed| doomed == id) {
            self.doomed.swap_remove(i);
            self.failed += 1;
            return Some(LINK_DOWN);
        }
        let number = self.arrivals;
        self.arrivals += 1;
        let is_listed = self.listed.front() == Some(&number);
        if is_listed {
            self.listed.pop_front();
        }
        let stream = &mut streams[self.stream];
        // A listed packet draws nothing; one that a burst takes draws nothing for the rate.
        let is_lost = is_listed
            || self.bursts.as_mut().is_some_and(|bursts| bursts.takes(stream))
            || self.rate > 0.0 && stream.unit() < self.rate;
        let mut faults = self.faults.iter();
        let reason = if is_lost {
            Some(LINK_LOSS)
        } else {
            faults.find_map(|fault| fault.takes(&packets[id], now, streams))
        };
        self.lost += u64::from(reason.is_some());
        reason
    }
}
