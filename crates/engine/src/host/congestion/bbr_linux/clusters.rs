//! How many segments more than the bandwidth says are acknowledged at a time, since links and receivers aggregate: the window is
//! wider by the most of the last rounds.

use super::model::{Bandwidth, Model};
use super::{Ack, in_us};
use crate::base::time::Time;

/// In segments.
const LONGEST_EPOCH: u64 = 1 << 20;
/// The most that is granted is what the bandwidth carries in so long.
const MOST: Time = Time::from_ms(100);

#[derive(Debug)]
pub(super) struct Clusters {
    /// In rounds: of each of two windows.
    length: u32,
    /// Of the present one.
    rounds: u32,
    /// The most of each, in segments.
    most: [u32; 2],
    present: usize,
    epoch: Epoch,
}

/// Since the ACKs last came no faster than the bandwidth says; in us, and in segments.
#[derive(Debug, Default)]
struct Epoch {
    start: u64,
    acked: u64,
}

impl Clusters {
    pub(super) fn new(length: u32) -> Clusters {
        Clusters { length, rounds: 0, most: [0; 2], present: 0, epoch: Epoch::default() }
    }

    pub(super) fn restart(&mut self, now: u64) {
        self.epoch = Epoch { start: now, acked: 0 };
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, model: &Model, bandwidth: Bandwidth, cwnd: u32) {
        if ack.acked == 0 || ack.sample.is_none() {
            return;
        }
        if model.rounds.starts {
            self.rounds += 1;
            if self.rounds >= self.length {
                self.rounds = 0;
                self.present = 1 - self.present;
                self.most[self.present] = 0;
            }
        }
        let age = model.delivered_at.saturating_sub(self.epoch.start);
        let mut expected = bandwidth.segments_in(age);
        let acked = u64::from(ack.acked);
        if self.epoch.acked <= expected || self.epoch.acked + acked >= LONGEST_EPOCH {
            self.restart(model.delivered_at);
            expected = 0;
        }
        self.epoch.acked = (self.epoch.acked + acked).min(LONGEST_EPOCH - 1);
        let extra = (self.epoch.acked.saturating_sub(expected) as u32).min(cwnd);
        self.most[self.present] = self.most[self.present].max(extra);
    }

    /// By how many segments the window is wider.
    pub(super) fn extra(&self, bandwidth: Bandwidth) -> u32 {
        let most = bandwidth.segments_in(in_us(MOST)) as u32;
        self.most[0].max(self.most[1]).min(most)
    }
}
