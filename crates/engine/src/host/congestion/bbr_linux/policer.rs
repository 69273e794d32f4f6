//! A path that a token bucket polices: where losses stay high over two intervals of the same rate, that is the rate (Linux's
//! "long-term bandwidth sampling").

use super::Ack;
use super::model::{Bandwidth, GAIN, Model};

/// In rounds: the least interval, the longest, and for how long the rate is used.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
const ROUNDS_OF_USE: u32 = 48;
/// In 256ths: lost, of what is delivered, and how far two intervals may be apart.
const LOSSES: u64 = 50;
const APART: u64 = 32;
/// The same in bytes a second.
const APART_BYTES: u64 = 500;

#[derive(Debug, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    is_used: bool,
    /// Of the last interval, or in use.
    rate: Bandwidth,
    rounds: u32,
    start: Start,
}

/// What an ACK changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policing {
    Goes,
    /// The path is known to be policed.
    Begins,
    /// Its rate has been used for long enough, and it is to be probed again.
    Ends,
}

/// Of an interval: what was delivered and lost, in segments, and when, in ms.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    delivered: u64,
    lost: u64,
    ms: u64,
}

impl Policer {
    /// What the path is policed to.
    pub(super) fn rate(&self) -> Option<Bandwidth> {
        self.is_used.then_some(self.rate)
    }

    pub(super) fn reset(&mut self, model: &Model) {
        *self = Policer::default();
        self.start_interval(model);
    }

    fn start_interval(&mut self, model: &Model) {
        let Model { delivered, lost, delivered_at, .. } = *model;
        self.start = Start { delivered, lost, ms: delivered_at / 1000 };
        self.rounds = 0;
    }

    /// A timeout is a loss, and the end of a round.
    pub(super) fn on_timeout(&mut self, model: &Model) {
        if !self.is_used {
            self.sample(true, false, model);
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, model: &Model, is_probing: bool) -> Policing {
        if !self.is_used {
            self.sample(ack.losses > 0, ack.is_app_limited, model);
            return if self.is_used { Policing::Begins } else { Policing::Goes };
        }
        self.rounds += u32::from(is_probing && model.rounds.starts);
        if self.rounds < ROUNDS_OF_USE {
            return Policing::Goes;
        }
        self.reset(model);
        Policing::Ends
    }

    fn sample(&mut self, has_lost: bool, is_app_limited: bool, model: &Model) {
        if !self.is_sampling {
            if !has_lost {
                return;
            }
            self.start_interval(model);
            self.is_sampling = true;
        }
        self.rounds += u32::from(model.rounds.starts);
        if is_app_limited || self.rounds > MOST_ROUNDS {
            self.reset(model);
        } else if has_lost && self.rounds >= LEAST_ROUNDS {
            self.judge(model);
        }
    }

    /// Whether the interval has lost enough to tell a rate.
    fn judge(&mut self, model: &Model) {
        let lost = model.lost - self.start.lost;
        let delivered = model.delivered - self.start.delivered;
        let ms = model.delivered_at / 1000 - self.start.ms;
        if delivered > 0 && lost * u64::from(GAIN) >= LOSSES * delivered && ms > 0 {
            self.end_interval(Bandwidth::of(delivered, ms * 1000), model);
        }
    }

    fn end_interval(&mut self, rate: Bandwidth, model: &Model) {
        if self.rate != Bandwidth::default() {
            let apart = Bandwidth(rate.0.abs_diff(self.rate.0));
            let is_same = apart.0 * u64::from(GAIN) <= APART * self.rate.0
                || apart.bytes_a_second(model.segment_size, GAIN) <= APART_BYTES;
            if is_same {
                self.rate = Bandwidth(u64::midpoint(rate.0, self.rate.0));
                self.is_used = true;
                self.rounds = 0;
                return;
            }
        }
        self.rate = rate;
        self.start_interval(model);
    }
}
