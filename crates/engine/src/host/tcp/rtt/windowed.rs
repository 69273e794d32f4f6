//! Smoothed RTT and the largest mean deviation of a round (as Linux has it): the retransmission timeout is the smoothed
//! RTT and at least the least timeout more.
//!
//! Departures from RFC 6298: the variation is the largest mean deviation that a round has seen, and falls by a quarter of the
//! difference a round, so that a timeout forgets a peak over some rounds, not over some ACKs; a sample that is shorter than
//! expected, and more so than usual, counts an eighth; the least timeout bounds the term for the variation, not the sum.

use super::RttEstimation;
use crate::base::time::Time;
use crate::host::tcp::ticks::in_ticks;

/// It counts in them.
const US: i64 = 1000;

#[derive(Clone, Debug)]
pub struct Windowed {
    initial: Time,
    /// In us, as all that follows.
    least: i64,
    /// 8 SRTT; 0 before the first sample.
    srtt_8: i64,
    /// 4 times the mean deviation.
    deviation_4: i64,
    /// Its largest value in this round, and what past rounds have left of it.
    round_4: i64,
    variation_4: i64,
}

impl RttEstimation for Windowed {
    const HAS_ROUNDS: bool = true;
    const OF_DELIVERIES: bool = true;

    fn new(initial: Time, min_rto: Time) -> Self {
        let least = min_rto.ns() / US;
        Windowed { initial, least, srtt_8: 0, deviation_4: 0, round_4: least, variation_4: least }
    }

    fn reset(&mut self) {
        *self = Windowed::new(self.initial, time(self.least));
    }

    fn measure(&mut self, sample: Time) {
        let sample = (sample.ns() / US).max(1);
        if self.srtt_8 == 0 {
            self.srtt_8 = sample * 8;
            self.deviation_4 = sample * 2;
            self.variation_4 = self.deviation_4.max(self.least);
            self.round_4 = self.variation_4;
            return;
        }
        let error = sample - self.srtt_8 / 8;
        self.srtt_8 += error;
        let beyond = error.abs() - self.deviation_4 / 4;
        self.deviation_4 += if error < 0 && beyond > 0 { beyond / 8 } else { beyond };
        self.round_4 = self.round_4.max(self.deviation_4);
        self.variation_4 = self.variation_4.max(self.round_4);
    }

    fn on_round(&mut self) {
        if self.round_4 < self.variation_4 {
            self.variation_4 -= (self.variation_4 - self.round_4) / 4;
        }
        self.round_4 = self.least;
    }

    /// With the eighths of a microsecond that it counts.
    fn srtt(&self) -> Time {
        if self.srtt_8 == 0 { self.initial } else { Time((self.srtt_8 * US / 8) as u64) }
    }

    fn timeout(&self, _granularity: Time) -> Time {
        if self.srtt_8 == 0 { self.initial } else { time(self.srtt_8 / 8 + self.variation_4) }
    }

    /// The least timeout is in it.  In ticks of the kernel's.
    fn rto(&self, granularity: Time, _min_rto: Time) -> Time {
        in_ticks(self.timeout(granularity))
    }
}

fn time(us: i64) -> Time {
    Time((us * US) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Time = Time::from_ms(200);

    fn measured(samples: &[u64]) -> Windowed {
        let mut rtt = Windowed::new(Time::from_secs(1), LEAST);
        samples.iter().for_each(|&ms| rtt.measure(Time::from_ms(ms)));
        rtt
    }

    fn rto(rtt: &Windowed) -> Time {
        rtt.rto(Time::from_ms(1), LEAST)
    }

    /// RFC 6298 section 2.2 with K = 4: twice the first sample more, or the least timeout.
    #[test]
    fn the_first_sample_waits_for_three_of_its_kind_and_at_least_200_ms_more() {
        assert_eq!(rto(&measured(&[])), Time::from_secs(1));
        assert_eq!(rto(&measured(&[300])), Time::from_ms(900));
        assert_eq!(rto(&measured(&[20])), Time::from_ms(220));
    }

    /// However constant the path, the timeout is never below the round trip and the least timeout: ns-3's would be 200 ms.
    #[test]
    fn a_constant_round_trip_keeps_the_least_timeout_as_distance() {
        let mut rtt = measured(&[150; 100]);
        (0..50).for_each(|_| rtt.on_round());
        assert_eq!(rtt.srtt(), Time::from_ms(150));
        // A quarter of three microseconds is none, and they begin another tick.
        assert_eq!(rto(&rtt).ms(), 351);
    }

    /// 8 SRTT is a whole number of microseconds; the timeout counts in those of SRTT.
    #[test]
    fn the_estimate_has_eighths_of_a_microsecond() {
        let mut rtt = measured(&[100]);
        rtt.measure(Time(100_003_000));
        assert_eq!(rtt.srtt(), Time(100_000_375));
        assert_eq!(rtt.timeout(Time::ZERO).0 % 1000, 0);
    }

    /// The peak stays for its round, and a quarter of it goes with each round that has none.
    #[test]
    fn a_peak_is_forgotten_over_rounds_and_not_over_samples() {
        let mut rtt = measured(&[100]);
        rtt.on_round();
        rtt.measure(Time::from_ms(900));
        // A quarter of 200 ms is left of the first deviation, and 750 ms more are missing to 800.
        let peak = rto(&rtt) - rtt.srtt();
        assert_eq!(peak, Time::from_ms(950));
        (0..20).for_each(|_| rtt.measure(rtt.srtt()));
        assert_eq!(rto(&rtt) - rtt.srtt(), peak);
        (0..20).for_each(|_| rtt.on_round());
        assert!(rto(&rtt) - rtt.srtt() < Time::from_ms(205));
    }

    #[test]
    fn a_round_trip_that_is_suddenly_shorter_adds_an_eighth_to_the_deviation() {
        let [shorter, longer] = [20, 180].map(|ms| {
            let mut rtt = measured(&[100; 60]);
            rtt.measure(Time::from_ms(ms));
            rtt.deviation_4
        });
        assert!(shorter * 7 < longer, "{shorter} {longer}");
    }
}
