//! Losses in bursts: the channel of E. N. Gilbert ("Capacity of a burst-noise channel", 1960) and
//! E. O. Elliott ("Estimates of error rates for codes on burst-noise channels", 1963), per packet.
//!
//! The channel is good or bad, good at first.  Each packet that arrives first moves it, from good to bad
//! with one probability and back with another, and is then lost with the probability of the state
//! that it finds: two numbers are drawn for it, whatever comes of them.  The share of packets that find
//! it bad is to_bad / (to_bad + to_good), in runs of 1 / to_good packets on average.
//! (The driver of the ns-3 backend does this in its error model; ns-3's own `BurstErrorModel` is another
//! law.)

use ccperf_schema::lowered;

use crate::base::rng::RngStream;

#[derive(Debug)]
pub struct GilbertElliott {
    law: lowered::GilbertElliott,
    is_bad: bool,
}

impl GilbertElliott {
    pub fn new(law: lowered::GilbertElliott) -> Self {
        GilbertElliott { law, is_bad: false }
    }

    /// Whether the packet that arrives now is lost.
    pub fn takes(&mut self, stream: &mut RngStream) -> bool {
        let leaves = if self.is_bad { self.law.to_good } else { self.law.to_bad };
        self.is_bad ^= stream.unit() < leaves;
        let loss = if self.is_bad { self.law.loss_in_bad } else { self.law.loss_in_good };
        stream.unit() < loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(law: lowered::GilbertElliott, packets: usize) -> Vec<bool> {
        let mut stream = RngStream::fixed(1, 7);
        let mut channel = GilbertElliott::new(law);
        (0..packets).map(|_| channel.takes(&mut stream)).collect()
    }

    /// The stationary share of the bad state is 0.02 / (0.02 + 0.18) = 0.1; a run in it has a geometric
    /// length of mean 1 / 0.18.  Bounds: four standard deviations, of the share that of a two-state
    /// chain, p (1 - p) (1 + r) / (1 - r) / n with r = 1 - 0.02 - 0.18, of the run's length
    /// sqrt(1 - 0.18) / 0.18 / sqrt(runs).
    #[test]
    fn share_and_length_of_bursts_are_those_of_the_chain() {
        let law = lowered::GilbertElliott {
            to_bad: 0.02,
            to_good: 0.18,
            loss_in_good: 0.0,
            loss_in_bad: 1.0,
        };
        let packets = 1_000_000;
        let lost = losses(law, packets);
        let count = lost.iter().filter(|&&lost| lost).count() as f64;
        let share = count / packets as f64;
        let deviation = (0.1 * 0.9 * (1.8 / 0.2) / packets as f64).sqrt();
        assert!((share - 0.1).abs() < 4.0 * deviation, "{share}");
        let runs = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let (length, mean) = (count / runs, 1.0 / 0.18);
        let deviation = 0.82f64.sqrt() / 0.18 / runs.sqrt();
        assert!((length - mean).abs() < 4.0 * deviation, "{length}");
    }

    #[test]
    fn equal_losses_in_both_states_are_those_of_a_plain_rate() {
        let law = lowered::GilbertElliott {
            to_bad: 0.3,
            to_good: 0.3,
            loss_in_good: 0.2,
            loss_in_bad: 0.2,
        };
        let mut stream = RngStream::fixed(1, 7);
        let plain = (0..1000).map(|_| {
            stream.unit(); // the state's
            stream.unit() < 0.2
        });
        assert_eq!(losses(law, 1000), plain.collect::<Vec<_>>());
    }
}
