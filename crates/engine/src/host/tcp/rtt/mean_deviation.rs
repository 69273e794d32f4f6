//! Smoothed RTT and mean deviation (RFC 6298; ns-3's `RttMeanDeviation` with its gains of 1/8 and 1/4).

use super::RttEstimation;
use crate::base::time::Time;

/// Smoothed RTT and its mean deviation, in integer nanoseconds.
#[derive(Clone, Debug)]
pub struct MeanDeviation {
    srtt: i64,
    rttvar: i64,
    initial: Time,
    has_sample: bool,
}

impl RttEstimation for MeanDeviation {
    fn new(initial: Time, _min_rto: Time) -> Self {
        MeanDeviation { srtt: initial.ns(), rttvar: 0, initial, has_sample: false }
    }

    fn reset(&mut self) {
        *self = MeanDeviation::new(self.initial, Time::ZERO);
    }

    fn srtt(&self) -> Time {
        Time(self.srtt as u64)
    }

    /// RFC 6298 sections 2.2 and 2.3, in Jacobson's scaled integers.
    fn measure(&mut self, sample: Time) {
        let m = sample.ns();
        if !self.has_sample {
            self.has_sample = true;
            self.srtt = m;
            self.rttvar = m / 2;
            return;
        }
        let error = m - self.srtt;
        self.srtt = ((self.srtt << 3) + error) >> 3;
        self.rttvar = ((self.rttvar << 2) + (error.abs() - self.rttvar)) >> 2;
    }

    /// SRTT + max(G, 4 RTTVAR), without a lower bound.
    fn timeout(&self, granularity: Time) -> Time {
        Time((self.srtt + granularity.ns().max(self.rttvar * 4)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_sets_srtt_and_half_of_it_as_deviation() {
        let mut rtt = MeanDeviation::new(Time::from_secs(1), Time::ZERO);
        rtt.measure(Time::from_ms(100));
        assert_eq!(rtt.srtt(), Time::from_ms(100));
        assert_eq!(rtt.timeout(Time::from_ms(1)), Time::from_ms(300));
    }

    /// With the gains of RFC 6298.
    ///
    /// ns-3's rtt-estimator, 1 case.
    #[test]
    fn samples_of_1000_1200_and_900_ms_give_what_ns3_s_suite_expects() {
        let mut rtt = MeanDeviation::new(Time::from_secs(1), Time::ZERO);
        for (sample, estimate, variation) in [
            (1_000_000, 1_000_000, 500_000),
            (1_200_000, 1_025_000, 425_000),
            (900_000, 1_009_375, 350_000),
        ] {
            rtt.measure(Time(sample * 1000));
            assert_eq!(rtt.srtt(), Time(estimate * 1000));
            assert_eq!(rtt.timeout(Time::ZERO), Time((estimate + 4 * variation) * 1000));
        }
    }

    #[test]
    fn constant_samples_leave_srtt_and_let_the_deviation_decay() {
        let mut rtt = MeanDeviation::new(Time::from_secs(1), Time::ZERO);
        for _ in 0..200 {
            rtt.measure(Time::from_ms(40));
        }
        assert_eq!(rtt.srtt(), Time::from_ms(40));
        assert_eq!(rtt.timeout(Time::from_ms(1)), Time::from_ms(41));
    }
}
