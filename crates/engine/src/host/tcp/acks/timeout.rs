//! How long an ACK may wait for more data: it adapts to how often data comes (Linux's ATO, in ticks of a millisecond).

use super::Answer;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::tcb::Tcb;
use crate::host::tcp::ticks::{in_ticks, in_whole_ticks, timer_end};

const LEAST: Time = Time::from_ms(40);
/// Data that comes within this time halves the distance to the least wait.
const OFTEN: Time = Time::from_ms(20);
/// The longest while nothing is known of round trips, and an inflated one.
const LONGEST: Time = Time::from_ms(500);
const LONGEST_INFLATED: Time = Time::from_ms(200);
const TICK: Time = Time::from_ms(1);

#[derive(Debug)]
pub struct AckTimeout {
    /// 0 before the first data.
    wait: Time,
    most: Time,
    /// When data came last, in ticks.
    last: Time,
    /// When an ACK that waits is due, in ticks.
    due: Option<Time>,
    /// When the kernel's timer ends: an ACK that leaves before does not stop it.
    end: Time,
}

impl AckTimeout {
    pub fn new(config: &Config) -> AckTimeout {
        let least_rto = config.min_rto.max(Time(2 * TICK.0));
        AckTimeout {
            wait: Time::ZERO,
            most: config.delayed_ack_timeout.min(least_rto - TICK),
            last: Time::ZERO,
            due: None,
            end: Time::ZERO,
        }
    }

    /// The connection is there: silence is reckoned from here.
    pub fn on_established(&mut self, now: Time) {
        self.last = in_whole_ticks(now);
    }

    /// Data has come in order, where a retransmission timeout is `rto`.  Returns whether it is the first, or came after a silence.
    pub fn on_data(&mut self, now: Time, rto: Time) -> bool {
        let now = in_whole_ticks(now);
        let since = now - self.last;
        self.last = now;
        if self.wait.is_zero() {
            self.wait = LEAST;
            return true;
        }
        if since <= OFTEN {
            self.wait = in_whole_ticks(Time(self.wait.0 / 2)) + OFTEN;
        } else if since < self.wait {
            let longer = in_whole_ticks(Time(self.wait.0 / 2)) + since;
            self.wait = longer.min(rto).min(LONGEST_INFLATED);
        } else {
            return since > rto;
        }
        false
    }

    /// As at first.
    pub fn deflate(&mut self) {
        self.wait = LEAST;
    }

    /// The ACK has waited for nothing.
    pub fn inflate(&mut self, rto: Time) {
        self.wait = Time(2 * self.wait.0).min(rto).min(LONGEST_INFLATED);
    }

    /// The ACK of what has just come may wait, but if one that waits is about to leave.
    pub fn begin(&mut self, tcb: &Tcb) -> Answer {
        let now = in_whole_ticks(tcb.now);
        // A round trip is enough, and LEAST at least.
        let bound = if tcb.srtt.is_zero() { LONGEST } else { LEAST.max(in_ticks(tcb.srtt)) };
        let wait = self.wait.min(bound).min(self.most);
        let due = now + wait;
        if let Some(before) = self.due {
            if before <= now + in_whole_ticks(Time(wait.0 / 4)) {
                return Answer::Now;
            }
            if before <= due {
                return Answer::WithLast;
            }
        }
        self.due = Some(due);
        self.end = timer_end(now, wait);
        Answer::After(wait)
    }

    pub fn on_ack_sent(&mut self) {
        self.due = None;
    }

    /// The end of the timer that has been set last, if it is still to come.
    pub fn end(&self, now: Time) -> Option<Time> {
        (self.end > now).then_some(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::bench;

    const RTO: Time = Time::from_ms(1000);

    fn timeout() -> AckTimeout {
        let mut timeout = AckTimeout::new(&bench::config(&[("MinRto", "1s")]));
        assert!(timeout.on_data(Time::ZERO, RTO), "the first");
        timeout
    }

    fn at(ms: u64, srtt: u64) -> Tcb {
        Tcb { now: Time::from_ms(ms), srtt: Time::from_ms(srtt), ..Tcb::default() }
    }

    #[test]
    fn an_ack_that_waited_for_nothing_waits_twice_as_long_at_most_for_a_timeout() {
        let waits = [RTO, RTO, RTO, Time::from_ms(170)].map(|rto| {
            let mut timeout = timeout();
            (0..3).for_each(|_| timeout.inflate(rto));
            timeout.begin(&at(0, 400))
        });
        let wait = |ms| Answer::After(Time::from_ms(ms));
        assert_eq!(waits, [wait(200), wait(200), wait(200), wait(170)]);
        let mut once = timeout();
        once.inflate(RTO);
        assert_eq!(once.begin(&at(0, 400)), wait(80));
        once.deflate();
        once.on_ack_sent();
        assert_eq!(once.begin(&at(0, 400)), wait(40));
    }

    #[test]
    fn a_round_trip_is_enough_and_40_ms_at_least() {
        for (srtt, wait) in [(0, 80), (20, 40), (60, 60), (400, 80)] {
            let mut timeout = timeout();
            timeout.inflate(RTO);
            assert_eq!(timeout.begin(&at(0, srtt)), Answer::After(Time::from_ms(wait)), "{srtt}");
        }
    }

    /// A quarter of the wait before its end.
    #[test]
    fn what_comes_shortly_before_an_ack_is_due_takes_it_along() {
        for (ms, answer) in [(10, Answer::WithLast), (29, Answer::WithLast), (30, Answer::Now)] {
            let mut timeout = timeout();
            timeout.begin(&at(0, 0));
            assert_eq!(timeout.begin(&at(ms, 0)), answer, "{ms}");
        }
    }

    #[test]
    fn a_timer_that_ends_sooner_takes_the_place_of_one_that_runs() {
        let mut timeout = timeout();
        timeout.inflate(RTO);
        timeout.begin(&at(0, 400));
        timeout.deflate();
        assert_eq!(timeout.begin(&at(20, 400)), Answer::After(Time::from_ms(40)));
        assert_eq!(timeout.end(Time::from_ms(60)), Some(Time::from_ms(61)));
        assert_eq!(timeout.end(Time::from_ms(61)), None);
    }
}
