//! What a link loses: at random, in bursts, by a list, and what was on its wire when it failed.

use std::collections::VecDeque;

use ccperf_schema::lowered;

use super::Fault;
use super::gilbert_elliott::GilbertElliott;
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::net::network::common::LINK_DOWN;
use crate::packet::{PacketId, PacketPool};

const LINK_LOSS: &str = "Link loss";

/// Loss at the receiving device.
#[derive(Debug)]
pub struct Loss {
    /// Which of the network's streams it draws from.
    stream: u32,
    /// From the first rate above 0, list, channel with bursts or failure on: most links have none.
    losses: Option<Box<Losses>>,
}

#[derive(Debug, Default)]
struct Losses {
    /// The probability, for each packet alike.
    rate: f64,
    bursts: Option<GilbertElliott>,
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
        let is_lossy = rate > 0.0 || bursts.is_some() || !listed.is_empty();
        let losses = is_lossy.then(|| {
            listed.sort_unstable();
            let (bursts, listed) = (bursts.map(GilbertElliott::new), listed.into());
            Box::new(Losses { rate, bursts, listed, ..Losses::default() })
        });
        Loss { stream: stream as u32, losses }
    }

    fn losses(&mut self) -> &mut Losses {
        self.losses.get_or_insert_default()
    }

    /// The node at the other end has another fault.
    pub fn add_fault(&mut self, fault: Fault) {
        self.losses().faults.push(fault);
    }

    pub fn set_rate(&mut self, rate: f64) {
        if rate > 0.0 || self.is_lossy() {
            self.losses().rate = rate;
        }
    }

    /// Whether it has to be asked.
    pub fn is_lossy(&self) -> bool {
        self.losses.is_some()
    }

    /// Packets lost so far.
    pub fn lost(&self) -> u64 {
        self.losses.as_ref().map_or(0, |losses| losses.lost)
    }

    /// Packets lost because of failures so far.
    pub fn failed(&self) -> u64 {
        self.losses.as_ref().map_or(0, |losses| losses.failed)
    }

    /// The receiving device has lost another one, for want of room.
    pub fn count_lost(&mut self) {
        self.losses().lost += 1;
    }

    /// Another one.
    pub fn count_failed(&mut self) {
        self.losses().failed += 1;
    }

    /// The link fails with these packets on its wire.
    pub fn doom(&mut self, packets: impl Iterator<Item = PacketId>) {
        self.losses().doomed.extend(packets);
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
        self.losses.as_mut()?.take(id, packets, now, streams, self.stream)
    }
}

impl Losses {
    fn take(
        &mut self,
        id: PacketId,
        packets: &PacketPool,
        now: Time,
        streams: &mut [RngStream],
        stream: u32,
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
        let stream = &mut streams[stream as usize];
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
