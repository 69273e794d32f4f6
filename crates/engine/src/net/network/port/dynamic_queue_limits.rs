//! Byte queue limits: how many bytes a queue discipline may hand to the device.

use crate::base::time::Time;

/// A limit that follows what the device needs in order not to starve: Linux's dynamic queue limits
/// (`lib/dynamic_queue_limits.c`), as ns-3's `DynamicQueueLimits` has them, without bounds.
///
/// Counters are of bytes and wrap at 32 bits; differences are signed.
#[derive(Debug, Default)]
pub struct DynamicQueueLimits {
    /// Slack must have lasted this long before the limit goes down.
    hold_time: Time,
    limit: u32,
    queued: u32,
    completed: u32,
    /// Bytes up to which packets may be queued: the limit beyond what is completed.
    allowed: u32,
    last_queued: u32,
    /// As of the completion before.
    previous: Previous,
    lowest_slack: u32,
    slack_since: Time,
}

#[derive(Debug, Default)]
struct Previous {
    queued: u32,
    last_queued: u32,
    over_limit: u32,
}

impl DynamicQueueLimits {
    pub fn new(hold_time: Time) -> Self {
        DynamicQueueLimits { hold_time, lowest_slack: u32::MAX, ..Self::default() }
    }

    /// A packet goes into the device queue.
    pub fn on_queued(&mut self, bytes: u32) {
        self.last_queued = bytes;
        self.queued = self.queued.wrapping_add(bytes);
    }

    /// Whether another packet may follow.
    pub fn is_available(&self) -> bool {
        difference(self.allowed, self.queued) >= 0
    }

    /// A packet has left the device queue.
    pub fn on_completed(&mut self, bytes: u32, now: Time) {
        let completed = self.completed.wrapping_add(bytes);
        let mut over_limit = excess(self.queued.wrapping_sub(self.completed), self.limit);
        let in_progress = self.queued != completed;
        let was_in_progress = self.previous.queued != self.completed;
        let all_previous_completed = difference(completed, self.previous.queued) >= 0;
        let mut limit = self.limit;
        if (over_limit > 0 && !in_progress)
            || (self.previous.over_limit > 0 && all_previous_completed)
        {
            // Starved: more by what was both queued and completed since, and by the excess before.
            let since = excess(completed, self.previous.queued);
            limit = limit.wrapping_add(since).wrapping_add(self.previous.over_limit);
            self.restart(now);
        } else if in_progress && was_in_progress && !all_previous_completed {
            // Busy all the time: what it had to spare may go, once that has lasted.
            let doubled = 2 * completed.wrapping_sub(self.completed);
            let slack = excess(limit.wrapping_add(self.previous.over_limit), doubled);
            let of_last = match self.previous.over_limit {
                0 => 0,
                over => excess(self.previous.last_queued, over),
            };
            self.lowest_slack = self.lowest_slack.min(slack.max(of_last));
            if now > self.slack_since + self.hold_time {
                limit = excess(limit, self.lowest_slack);
                self.restart(now);
            }
        }
        limit = limit.min(MAX_LIMIT);
        if limit != self.limit {
            self.limit = limit;
            over_limit = 0;
        }
        self.allowed = limit.wrapping_add(completed);
        self.completed = completed;
        self.previous = Previous { queued: self.queued, last_queued: self.last_queued, over_limit };
    }

    fn restart(&mut self, now: Time) {
        self.slack_since = now;
        self.lowest_slack = u32::MAX;
    }
}

/// Half the range of the counters, less the largest packet (`DQL_MAX_LIMIT`).
const MAX_LIMIT: u32 = u32::MAX / 2 - u32::MAX / 16;

fn difference(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b) as i32
}

fn excess(a: u32, b: u32) -> u32 {
    difference(a, b).max(0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The device may always take the next packet while one is on its way out, and not much more.
    #[test]
    fn the_limit_settles_at_what_keeps_a_device_busy() {
        let mut limits = DynamicQueueLimits::new(Time::from_ms(1));
        let mut inside = std::collections::VecDeque::new();
        let mut starved = 0;
        for packet in 0..2_000u64 {
            while limits.is_available() {
                limits.on_queued(1502);
                inside.push_back(1502);
            }
            if let Some(bytes) = inside.pop_front() {
                limits.on_completed(bytes, Time(packet * 120_000));
            }
            if packet > 100 && inside.is_empty() {
                starved += 1;
            }
        }
        assert_eq!(starved, 0);
        assert!((1502..=3 * 1502).contains(&limits.limit), "{}", limits.limit);
    }
}
