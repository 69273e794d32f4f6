//! Quick at first, then every second segment (as Linux acknowledges): the first segments of a transfer one by one, so that
//! slow start is not held up, then more than a segment at once, or after a time that adapts to how often data comes.
//!
//! While the offered window still grows towards the receive buffer, a segment is always acknowledged quickly.  How fast it grows
//! is measured: with buffers of 0.4, 1 and 4 MB, Linux 7.3.4 acknowledges the first 52, 103 and 362 segments of 1448 B one by
//! one, which is 8 segments of growth with each but the first, from 4 on, and [`MOST_QUICK`] more.

use super::AckPolicy;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::tcb::Tcb;
use crate::packet::SackBlock;

/// So many ACKs are not delayed when data begins to come, or comes again after a silence.
const MOST_QUICK: u32 = 16;
const LEAST_WAIT: Time = Time::from_ms(40);
/// Segments that the offered window grows by with each segment, and those that the first one lacks.
const GROWTH: u32 = 8;
const FIRST_GROWTH: u32 = 4;
/// Data that comes within this time halves the distance to the least wait.
const OFTEN: Time = Time::from_ms(20);

#[derive(Debug)]
pub struct Quick {
    /// Bytes that wait for an ACK, and the largest segment of them.
    waiting: u32,
    largest: u32,
    /// ACKs that are not delayed.
    quick: u32,
    /// How long an ACK may wait; 0 before the first data.
    wait: Time,
    most: Time,
    /// Each segment is acknowledged at once (Linux's `quickack` of a route).
    is_always_quick: bool,
    receive_buffer: u32,
    /// By so many bytes the offered window may grow yet.
    growth_left: i64,
    last: Time,
    /// What has come twice and is not reported yet.
    duplicate: Option<SackBlock>,
}

impl AckPolicy for Quick {
    const REPORTS_DUPLICATES: bool = true;

    fn new(config: &Config) -> Quick {
        Quick {
            waiting: 0,
            largest: 0,
            quick: 0,
            wait: Time::ZERO,
            most: config.delayed_ack_timeout,
            is_always_quick: config.delayed_ack_count == 1,
            receive_buffer: config.receive_buffer,
            growth_left: 0,
            last: Time::ZERO,
            duplicate: None,
        }
    }

    fn on_established(&mut self) {}

    fn on_data(&mut self, tcb: &Tcb, bytes: u32) -> Option<Time> {
        self.largest = self.largest.max(bytes);
        self.adapt(tcb);
        if self.growth_left > 0 {
            self.growth_left -= i64::from(GROWTH * bytes);
            self.quick |= 1;
        }
        self.waiting += bytes;
        if self.quick > 0 || self.waiting > self.largest || self.is_always_quick {
            return None;
        }
        // An eighth of a round trip is enough, and LEAST_WAIT at least.
        let bound =
            if tcb.srtt.is_zero() { self.most } else { LEAST_WAIT.max(Time(tcb.srtt.0 / 8)) };
        Some(self.wait.min(bound).min(self.most))
    }

    fn on_ack_sent(&mut self) {
        if self.waiting > 0 {
            self.quick = self.quick.saturating_sub(1);
        }
        self.waiting = 0;
    }

    /// The peer had better hear soon of what comes next, too.
    fn on_duplicate(&mut self, block: SackBlock) {
        self.duplicate = Some(block);
        self.quicken();
    }

    fn take_duplicate(&mut self) -> Option<SackBlock> {
        self.duplicate.take()
    }
}

impl Quick {
    fn adapt(&mut self, tcb: &Tcb) {
        let since = tcb.now - self.last;
        self.last = tcb.now;
        if self.wait.is_zero() {
            self.wait = LEAST_WAIT;
            self.growth_left =
                i64::from(self.receive_buffer) + i64::from(FIRST_GROWTH * self.largest);
            self.quicken();
        } else if since <= OFTEN {
            self.wait = Time(self.wait.0 / 2) + OFTEN;
        } else if since < self.wait {
            self.wait = Time(self.wait.0 / 2) + since;
        } else if since > self.most {
            self.quicken();
        }
    }

    fn quicken(&mut self) {
        let fit = (self.receive_buffer / 2 / self.largest.max(1)).max(2);
        self.quick = self.quick.max(fit.min(MOST_QUICK));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// How long each ACK waits if a segment comes at each of these times, in ms; the window grows with five.
    fn waits(times: impl IntoIterator<Item = u64>) -> Vec<Option<Time>> {
        waits_of(32_000, 1000, times)
    }

    fn waits_of(
        buffer: u32,
        segment: u32,
        times: impl IntoIterator<Item = u64>,
    ) -> Vec<Option<Time>> {
        let mut acks = Quick::new(&Config::new(&BTreeMap::new(), 0));
        acks.receive_buffer = buffer;
        let mut tcb = Tcb::default();
        let wait = |ms| {
            tcb.now = Time::from_ms(ms);
            let wait = acks.on_data(&tcb, segment);
            if wait.is_none() {
                acks.on_ack_sent();
                acks.on_ack_sent(); // the ACK itself says so, too
            }
            wait
        };
        times.into_iter().map(wait).collect()
    }

    /// What a kernel did (7.3.4), one flow at 100 Mbps.
    #[test]
    fn as_many_segments_are_acknowledged_one_by_one_as_by_linux() {
        for (buffer, segments) in [(400_000, 52), (1_000_000, 103), (4_000_000, 362)] {
            let waits = waits_of(buffer, 1448, 0..500);
            assert_eq!(waits.iter().take_while(|wait| wait.is_none()).count(), segments);
        }
    }

    #[test]
    fn sixteen_segments_more_are_acknowledged_one_by_one_and_then_every_second() {
        let waits = waits(0..40);
        let quick = waits.iter().take_while(|wait| wait.is_none()).count();
        assert_eq!(quick, 5 + 16);
        assert!(waits[21..].iter().step_by(2).all(|wait| *wait == Some(Time::from_ms(40))));
        assert!(waits[22..].iter().step_by(2).all(Option::is_none));
    }

    #[test]
    fn data_that_comes_rarely_lets_an_ack_wait_longer_and_after_a_silence_it_is_quick_again() {
        let rare = waits((0..21).chain((0..20).map(|i| 100 + 36 * i)));
        let longest = rare[21..].iter().flatten().max().expect("some wait");
        assert!(*longest > Time::from_ms(55) && *longest <= Time::from_ms(80));
        let silent = waits((0..22).chain([1000]));
        assert_eq!((silent[21].is_some(), silent[22]), (true, None));
    }
}
