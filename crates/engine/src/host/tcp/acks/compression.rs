//! ACKs beyond a hole: three leave one by one (so that a peer that counts them sees DupThresh), and then one stands for those of a
//! millisecond or a third of a round trip (Linux's compression of SACKs, `tcp_comp_sack_delay_ns`).

use super::Answer;
use super::receiver_rtt::Eighths;
use crate::base::seq::Seq;
use crate::base::time::Time;

/// ACKs that do not wait, and those that one which waits may stand for.
const AT_ONCE: u32 = 3;
const MOST: u32 = 44;
const LONGEST: Time = Time::from_ms(1);
/// In hundredths of a round trip.
const SHARE: u64 = 33;
/// By so much the kernel's timer is late (`tcp_comp_sack_slack_ns`).
const SLACK: Time = Time(10_000);

#[derive(Debug)]
pub struct Compression {
    /// RCV.NXT at the last segment beyond a hole, ACKs that left at it, and those that wait.
    next: Seq,
    sent: u32,
    waiting: u32,
}

impl Compression {
    pub fn new() -> Compression {
        Compression { next: Seq(0), sent: 0, waiting: 0 }
    }

    /// What becomes of the ACK of a segment that leaves `next` missing, after so long a round trip.
    pub fn on_gap(&mut self, rtt: Eighths, next: Seq) -> Answer {
        if self.waiting >= MOST {
            return Answer::Now;
        }
        if self.next != next {
            (self.next, self.sent) = (next, 0);
        }
        if self.sent < AT_ONCE {
            self.sent += 1;
            return Answer::Now;
        }
        self.waiting += 1;
        if self.waiting > 1 {
            return Answer::WithLast;
        }
        // Of an eighth of a microsecond, in nanoseconds.
        let part = Time((rtt.0 + rtt.0 / 4) * SHARE);
        Answer::After(part.min(LONGEST) + SLACK)
    }

    pub fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    pub fn on_ack_sent(&mut self) {
        self.waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of the ACKs of segments beyond a hole, with so long a round trip.
    fn beyond_a_hole(rtt: Time, nexts: impl IntoIterator<Item = u32>) -> Vec<Answer> {
        let mut compression = Compression::new();
        let each = |next| {
            let found = compression.on_gap(Eighths(8 * rtt.us()), Seq(next));
            if found == Answer::Now {
                compression.on_ack_sent();
            }
            found
        };
        nexts.into_iter().map(each).collect()
    }

    #[test]
    fn three_beyond_a_hole_are_acknowledged_at_once_and_one_ack_stands_for_44_more() {
        let found = beyond_a_hole(Time::from_ms(20), [1001; 49]);
        let wait = Answer::After(Time(1_010_000));
        assert_eq!(found[..5], [Answer::Now, Answer::Now, Answer::Now, wait, Answer::WithLast]);
        assert!(found[5..47].iter().all(|one| *one == Answer::WithLast));
        assert_eq!(found[47..], [Answer::Now, wait]);
    }

    /// Linux 7.3.4: a round trip of 3.088 ms of which timestamps say 3 makes an ACK wait for a millisecond.
    #[test]
    fn an_ack_is_late_by_the_timer_s_slack() {
        let found = beyond_a_hole(Time::from_ms(3), [1001; 4]);
        assert_eq!(found[3], Answer::After(Time(1_000_000)));
    }

    #[test]
    fn what_fills_a_hole_in_part_begins_anew_and_a_short_path_waits_for_a_third_of_it() {
        let found = beyond_a_hole(Time::from_ms(1), [1001, 1001, 1001, 2001, 2001, 2001, 2001]);
        assert_eq!(found[3..6], [Answer::Now; 3]);
        assert_eq!(found[6], Answer::After(Time(340_000)));
    }
}
