//! A wire on which packets do not all take the same time: jitter and reordering.
//!
//! For each packet, when its transmission starts, jitter draws what comes on top of the wire's delay;
//! then reordering draws whether the packet is late, and by how much more.  With jitter that keeps the
//! order no packet arrives before the one that was sent before it (but it may at the same
//! nanosecond), as through a queue that nobody sees; a late packet holds nobody up.
//! (ns-3 has no class for this: the driver of its backend brings a channel.)

use ccperf_schema::lowered;

use crate::base::rng::{RandomVariable, RngStream};
use crate::base::time::Time;

#[derive(Debug)]
pub struct DelayVariation {
    jitter: Option<Jitter>,
    reordering: Option<Reordering>,
}

#[derive(Debug)]
struct Jitter {
    delay: RandomVariable,
    keeps_order: bool,
    /// When the packet sent last arrives, if it is not late.
    last_arrival: Time,
}

#[derive(Debug)]
struct Reordering {
    probability: f64,
    choice: RngStream,
    delay: RandomVariable,
}

impl DelayVariation {
    /// None if the direction has neither.  `run`: ns-3's `RngRun`.
    pub fn new(direction: &lowered::Direction, run: u64) -> Option<Self> {
        let jitter = direction.jitter.as_ref().map(|jitter| Jitter {
            delay: RandomVariable::new(jitter.delay_s, run, jitter.stream),
            keeps_order: jitter.keeps_order,
            last_arrival: Time::ZERO,
        });
        let reordering = direction.reordering.as_ref().map(|reordering| Reordering {
            probability: reordering.probability,
            choice: RngStream::fixed(run, reordering.stream),
            delay: RandomVariable::new(reordering.delay_s, run, reordering.stream + 1),
        });
        (jitter.is_some() || reordering.is_some()).then_some(DelayVariation { jitter, reordering })
    }

    /// How long the packet whose transmission starts now takes to arrive; `plain`: without all this.
    pub fn flight(&mut self, now: Time, plain: Time) -> Time {
        let mut flight = plain;
        if let Some(jitter) = &mut self.jitter {
            let mut arrival = now + plain + Time::from_secs_f64(jitter.delay.draw());
            if jitter.keeps_order {
                arrival = arrival.max(jitter.last_arrival);
                jitter.last_arrival = arrival;
            }
            flight = arrival - now;
        }
        if let Some(reordering) = &mut self.reordering
            && reordering.choice.unit() < reordering.probability
        {
            flight += Time::from_secs_f64(reordering.delay.draw());
        }
        flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ccperf_schema::lowered::Distribution;

    fn arrivals(jitter: Option<Jitter>, reordering: Option<Reordering>) -> Vec<u64> {
        let mut variation = DelayVariation { jitter, reordering };
        let times = (0..1000).map(|i| Time(i * 100_000));
        times.map(|now| (now + variation.flight(now, Time(1_000_000))).0).collect()
    }

    fn jitter(keeps_order: bool) -> Jitter {
        let delay = Distribution::Uniform { min: 0.0, max: 5e-3 };
        let delay = RandomVariable::new(delay, 1, 7);
        Jitter { delay, keeps_order, last_arrival: Time::ZERO }
    }

    #[test]
    fn jitter_that_keeps_the_order_gives_each_packet_the_largest_arrival_so_far() {
        let mut largest = 0;
        let kept = arrivals(Some(jitter(false)), None).into_iter().map(|arrival| {
            largest = largest.max(arrival);
            largest
        });
        let kept: Vec<_> = kept.collect();
        assert!(kept.windows(2).any(|pair| pair[0] == pair[1]));
        assert_eq!(arrivals(Some(jitter(true)), None), kept);
    }

    #[test]
    fn late_packets_come_by_as_much_later_and_the_others_as_ever() {
        let reordering = Reordering {
            probability: 0.1,
            choice: RngStream::fixed(1, 8),
            delay: RandomVariable::new(Distribution::Constant(2e-3), 1, 9),
        };
        let plain = (0..1000).map(|i| i * 100_000 + 1_000_000);
        let extra = arrivals(None, Some(reordering)).into_iter().zip(plain).map(|(a, b)| a - b);
        let extra: Vec<_> = extra.collect();
        assert!(extra.iter().all(|&extra| extra == 0 || extra == 2_000_000));
        // Four standard deviations of a binomial number.
        let late = extra.iter().filter(|&&extra| extra > 0).count() as f64;
        assert!((late - 100.0).abs() < 4.0 * (1000.0f64 * 0.1 * 0.9).sqrt());
    }
}
