//! How long an ACK may wait for more data: it adapts to how often data comes (Linux's ATO, in ticks of a millisecond).

use super::Answer;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::tcb::Tcb;
use crate::host::tcp::ticks::{in_ticks, timer_end};

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

/// Without the part of a tick.
fn in_whole_ticks(time: Time) -> Time {
    Time::from_ms(time.ms())
}
