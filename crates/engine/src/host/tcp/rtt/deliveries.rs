//! Samples of round trips from what an ACK delivers (Linux's `tcp_ack_update_rtt`): what it acknowledges in order, or else what it
//! SACKs, or else what its timestamp echoes.
//!
//! What was sent again gives no sample (Karn's algorithm, RFC 6298 section 3), nor does anything else that is acknowledged in
//! order with it.

use crate::base::time::Time;
use crate::host::tcp::scoreboard::Segment;

/// The clock's step, in ns.
const US: u64 = 1000;

/// The time since something left.
pub fn by_clock(left: Time, now: Time) -> Time {
    Time((now.0 / US - left.0 / US) * US)
}

/// Of one ACK; times are those at which segments left.
#[derive(Debug, Default)]
pub struct DeliveryTimes {
    /// Of the first and the last in order, of those that were not SACKed before.
    acked: Option<[Time; 2]>,
    has_acked: bool,
    has_repeated: bool,
    /// The same of those SACKed, by their numbers.
    sacked: Option<[(u32, Time); 2]>,
}

/// What an ACK says of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrip {
    /// For the estimate.
    pub sample: Option<Time>,
    /// Of what left last.
    pub newest: Option<Time>,
    /// It acknowledges something in order.
    pub has_acked: bool,
    /// Of the first that was SACKed.
    pub sacked: Option<Time>,
}

impl DeliveryTimes {
    /// Also of a segment that was SACKed before.
    #[inline(always)]
    pub fn on_delivered(&mut self, segment: &Segment) {
        let left = segment.last_sent;
        let is_first_time = segment.counts;
        if segment.sacked && is_first_time {
            if !segment.is_repeated {
                let new = (segment.start.0, left);
                let [first, last] = self.sacked.unwrap_or([new; 2]);
                self.sacked = Some([first.min(new), last.max(new)]);
            }
            return;
        }
        self.has_acked = true;
        self.has_repeated |= segment.is_repeated;
        if is_first_time && !segment.is_repeated {
            let [first, _] = self.acked.unwrap_or([left; 2]);
            self.acked = Some([first, left]);
        }
    }

    /// The ACK comes `now`; `of_echo`: the time since what its timestamp echoes.
    pub fn take(&mut self, now: Time, of_echo: Option<Time>) -> RoundTrip {
        let DeliveryTimes { acked, has_acked, has_repeated, sacked } = std::mem::take(self);
        let acked = acked.filter(|_| !has_repeated);
        let since = |left| by_clock(left, now);
        let [first, last] = [0, 1].map(|i| acked.map(|times| since(times[i])));
        let [sacked, last_sacked] = [0, 1].map(|i| sacked.map(|sacked| since(sacked[i].1)));
        let of_echo = of_echo.filter(|_| has_acked);
        let sample = first.or(sacked);
        RoundTrip {
            sample: sample.or(of_echo),
            newest: if sample.is_some() { last_sacked.or(last) } else { of_echo },
            has_acked,
            sacked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::seq::Seq;

    const NOW: Time = Time::from_ms(100);

    fn segment(number: u32, left_ms: u64) -> Segment {
        Segment {
            start: Seq(number),
            len: 1,
            sacked: false,
            lost: false,
            retransmitted: false,
            is_repeated: false,
            counts: true,
            was_overdue: false,
            ends_burst: false,
            is_pushed: false,
            last_sent: Time::from_ms(left_ms),
        }
    }

    fn round_trip(segments: &[Segment], of_echo: Option<Time>) -> [Option<u64>; 2] {
        let mut times = DeliveryTimes::default();
        segments.iter().for_each(|segment| times.on_delivered(segment));
        let RoundTrip { sample, newest, .. } = times.take(NOW, of_echo);
        assert_eq!(times.take(NOW, of_echo), RoundTrip::default());
        [sample, newest].map(|time| time.map(|time| time.ms()))
    }

    #[test]
    fn the_first_in_order_is_for_the_estimate_and_the_last_for_the_algorithm() {
        assert_eq!(round_trip(&[segment(1, 40), segment(2, 60)], None), [Some(60), Some(40)]);
    }

    #[test]
    fn what_is_sacked_gives_samples_in_order_of_its_numbers() {
        let sacked = |number, left| Segment { sacked: true, ..segment(number, left) };
        let three = [sacked(9, 90), sacked(5, 50), sacked(6, 60)];
        assert_eq!(round_trip(&three, None), [Some(50), Some(10)]);
        let with_order = [sacked(9, 90), segment(2, 20)];
        assert_eq!(round_trip(&with_order, None), [Some(80), Some(10)]);
    }

    #[test]
    fn what_was_sent_again_leaves_the_echo_and_that_only_where_something_is_acknowledged() {
        let repeated = Segment { is_repeated: true, ..segment(2, 70) };
        let echo = Some(Time::from_ms(31));
        assert_eq!(round_trip(&[segment(1, 10), repeated], echo), [Some(31); 2]);
        assert_eq!(round_trip(&[segment(1, 10), repeated], None), [None; 2]);
        assert_eq!(round_trip(&[], echo), [None; 2]);
    }

    #[test]
    fn what_was_sacked_before_gives_no_sample_when_it_is_acknowledged() {
        let before = Segment { sacked: true, counts: false, ..segment(1, 10) };
        assert_eq!(round_trip(&[before, segment(2, 20)], None), [Some(80); 2]);
        assert_eq!(round_trip(&[before], None), [None; 2]);
    }
}
