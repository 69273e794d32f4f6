//! What a link loses: at random, and by a list.

use std::collections::VecDeque;

use crate::rng::RngStream;

/// Loss at the receiving device.
#[derive(Debug)]
pub struct Loss {
    /// There is or was a rate above 0, or a list: all that most links ever look at.
    is_lossy: bool,
    losses: Box<Losses>,
}

#[derive(Debug)]
struct Losses {
    /// The probability, for each packet alike.
    rate: f64,
    /// Which of the network's streams it draws from.
    stream: usize,
    /// Arrivals to lose, by number, in increasing order.
    listed: VecDeque<u64>,
    arrivals: u64,
    lost: u64,
}

impl Loss {
    /// `stream`: which of the network's; `listed`: arrivals to lose, by number from 0, in any order.
    pub fn new(rate: f64, stream: usize, mut listed: Vec<u64>) -> Self {
        listed.sort_unstable();
        let is_lossy = rate > 0.0 || !listed.is_empty();
        let losses = Losses { rate, stream, listed: listed.into(), arrivals: 0, lost: 0 };
        Loss { is_lossy, losses: Box::new(losses) }
    }

    pub fn set_rate(&mut self, rate: f64) {
        self.losses.rate = rate;
        self.is_lossy |= rate > 0.0;
    }

    /// Packets lost so far.
    pub fn lost(&self) -> u64 {
        self.losses.lost
    }

    /// Whether the packet that arrives now is lost.
    #[inline]
    pub fn takes_next(&mut self, streams: &mut [RngStream]) -> bool {
        self.is_lossy && self.losses.take_next(streams)
    }
}

impl Losses {
    fn take_next(&mut self, streams: &mut [RngStream]) -> bool {
        let number = self.arrivals;
        self.arrivals += 1;
        let is_listed = self.listed.front() == Some(&number);
        if is_listed {
            self.listed.pop_front();
        }
        let is_lost = is_listed || self.rate > 0.0 && streams[self.stream].unit() < self.rate;
        self.lost += u64::from(is_lost);
        is_lost
    }
}
