//! A running maximum over the last `length` rounds (Kathleen Nichols' algorithm; Linux's
//! `lib/win_minmax.c`; ns-3's `WindowedFilter` with `MaxFilter`).
//!
//! Kept are the best sample of the window and the best since the second and the third part of it,
//! so that an expired maximum has a successor without a history of all samples.

use crate::base::time::Rate;

#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    rate: Rate,
    round: u32,
}

#[derive(Debug, Default)]
pub(super) struct MaxFilter {
    length: u32,
    /// The rate that stands for "no sample".
    unset: Rate,
    /// Best, second best, third best; times do not decrease.
    best: [Sample; 3],
}

/// Zero compares with nothing, as in ns-3.
fn at_least(new: Rate, old: Rate) -> bool {
    new.0 != 0 && old.0 != 0 && new >= old
}

impl MaxFilter {
    /// `unset` is also the maximum until the first sample.
    pub(super) fn new(length: u32, unset: Rate) -> MaxFilter {
        MaxFilter { length, unset, best: [Sample { rate: unset, round: 0 }; 3] }
    }

    pub(super) fn length(&self) -> u32 {
        self.length
    }

    pub(super) fn lengthen(&mut self, length: u32) {
        self.length = length;
    }

    pub(super) fn max(&self) -> Rate {
        self.best[0].rate
    }

    pub(super) fn update(&mut self, rate: Rate, round: u32) {
        let new = Sample { rate, round };
        let age = |sample: Sample| round.wrapping_sub(sample.round);
        let length = self.length;
        let best = &mut self.best;
        if best[0].rate == self.unset || at_least(rate, best[0].rate) || age(best[2]) > length {
            *best = [new; 3];
            return;
        }
        if at_least(rate, best[1].rate) {
            best[1] = new;
            best[2] = new;
        } else if at_least(rate, best[2].rate) {
            best[2] = new;
        }
        if age(best[0]) > length {
            *best = [best[1], best[2], new];
            if age(best[0]) > length {
                // The second best expired as well; the third is checked with the next sample.
                *best = [best[1], best[2], best[2]];
            }
        } else if best[1].rate == best[0].rate && age(best[1]) > length >> 2 {
            best[1] = new;
            best[2] = new;
        } else if best[2].rate == best[1].rate && age(best[2]) > length >> 1 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest of the last `length + 1` rounds.
    fn exact(samples: &[u64], length: usize) -> u64 {
        samples.iter().rev().take(length + 1).copied().max().unwrap()
    }

    #[test]
    fn never_above_the_exact_maximum_and_equal_to_it_right_after_a_new_one() {
        let mut filter = MaxFilter::new(10, Rate(1));
        let mut samples = Vec::new();
        let mut x = 12_345_u64;
        for round in 0..5000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            samples.push(1000 + (x >> 33) % 1000);
            filter.update(Rate(samples[round]), round as u32);
            let exact = exact(&samples, 10);
            assert!(filter.max().0 <= exact);
            if samples[round] == exact {
                assert_eq!(filter.max().0, exact);
            }
        }
    }

    #[test]
    fn an_old_maximum_expires() {
        let mut filter = MaxFilter::new(10, Rate(1));
        filter.update(Rate(100), 0);
        for round in 1..=10 {
            filter.update(Rate(50), round);
            assert_eq!(filter.max(), Rate(100), "round {round}");
        }
        filter.update(Rate(50), 11);
        assert_eq!(filter.max(), Rate(50));
    }
}
