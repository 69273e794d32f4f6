//! ACKs beyond a hole: three leave one by one (so that a peer that counts them sees DupThresh), and then one stands for those of a
//! millisecond or a third of a round trip (Linux's compression of SACKs, `tcp_comp_sack_delay_ns`).

use super::Answer;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::tcb::Tcb;

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
    rtt: ReceiverRtt,
}

impl Compression {
    pub fn new() -> Compression {
        Compression { next: Seq(0), sent: 0, waiting: 0, rtt: ReceiverRtt::default() }
    }

    /// What becomes of the ACK of a segment that leaves `next` missing.
    pub fn on_gap(&mut self, tcb: &Tcb, next: Seq) -> Answer {
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
        Answer::After(self.rtt.part(tcb).min(LONGEST) + SLACK)
    }

    pub fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    pub fn on_ack_sent(&mut self) {
        self.waiting = 0;
    }

    /// A segment of at least the usual size has come.
    pub fn on_echo(&mut self, tcb: &Tcb) {
        self.rtt.on_echo(tcb.now, tcb.rcv_timestamp_echo);
    }

    /// One has come in order, of which `next` is the end, where so much is offered.
    pub fn on_next(&mut self, now: Time, next: Seq, window: u32) {
        self.rtt.on_next(now, next, window);
    }
}

/// What a receiver takes for the round trip: that of timestamps, smoothed, or the shortest in which a whole window came (Linux's
/// `rcv_rtt_est`).
#[derive(Debug, Default)]
struct ReceiverRtt {
    /// In eighths of a microsecond; 0 before the first.
    estimate: u64,
    /// The last timestamp that came back.
    echo: u32,
    /// Since when a window is waited for, and where it ends.
    window: Option<(Time, Seq)>,
}

impl ReceiverRtt {
    fn on_echo(&mut self, now: Time, echo: u32) {
        if echo == self.echo {
            return;
        }
        self.echo = echo;
        let sample = Time::from_ms(u64::from((now.ms() as u32).wrapping_sub(echo))).us();
        if sample == 0 {
            return;
        }
        if self.estimate == 0 || 8 * sample < self.estimate {
            self.estimate = 8 * sample;
        } else {
            self.estimate = self.estimate - self.estimate / 8 + sample;
        }
    }

    fn on_next(&mut self, now: Time, next: Seq, window: u32) {
        if let Some((since, end)) = self.window {
            if next < end {
                return;
            }
            let sample = 8 * (now.us() - since.us()).max(1);
            if self.estimate == 0 || sample < self.estimate {
                self.estimate = sample;
            }
        }
        self.window = Some((now, next + window));
    }

    /// The part of it for which an ACK waits.
    fn part(&self, tcb: &Tcb) -> Time {
        let of_sender = 8 * tcb.srtt.us();
        let rtt = match of_sender {
            0 => self.estimate,
            _ => self.estimate.min(of_sender),
        };
        // Of an eighth of a microsecond, in nanoseconds.
        Time((rtt + rtt / 4) * SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time(us * 1000)
    }

    #[test]
    fn a_sample_is_of_an_echo_that_is_new_and_a_shorter_one_counts_at_once() {
        let mut rtt = ReceiverRtt::default();
        rtt.on_echo(at(20_500), 5);
        assert_eq!(rtt.estimate, 8 * 15_000);
        rtt.on_echo(at(30_500), 5);
        assert_eq!(rtt.estimate, 8 * 15_000);
        rtt.on_echo(at(31_000), 8);
        assert_eq!(rtt.estimate, 8 * 15_000 - 15_000 + 23_000);
        rtt.on_echo(at(32_000), 29);
        assert_eq!(rtt.estimate, 8 * 3_000);
    }

    #[test]
    fn without_timestamps_the_shortest_time_of_a_window_counts() {
        let mut rtt = ReceiverRtt::default();
        rtt.on_next(at(1_000), Seq(1449), 2896);
        rtt.on_next(at(1_500), Seq(2897), 2896);
        assert_eq!(rtt.estimate, 0);
        rtt.on_next(at(2_000), Seq(4345), 2896);
        assert_eq!(rtt.estimate, 8 * 1_000);
        rtt.on_next(at(9_000), Seq(7241), 2896);
        assert_eq!(rtt.estimate, 8 * 1_000);
        rtt.on_next(at(9_400), Seq(10_137), 2896);
        assert_eq!(rtt.estimate, 8 * 400);
    }

    /// What becomes of the ACKs of segments beyond a hole, with so long a round trip.
    fn beyond_a_hole(rtt: Time, nexts: impl IntoIterator<Item = u32>) -> Vec<Answer> {
        let mut compression = Compression::new();
        compression.rtt.estimate = 8 * rtt.us();
        let each = |next| {
            let found = compression.on_gap(&Tcb::default(), Seq(next));
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

    #[test]
    fn what_fills_a_hole_in_part_begins_anew_and_a_short_path_waits_for_a_third_of_it() {
        let found = beyond_a_hole(Time::from_ms(1), [1001, 1001, 1001, 2001, 2001, 2001, 2001]);
        assert_eq!(found[3..6], [Answer::Now; 3]);
        assert_eq!(found[6], Answer::After(Time(340_000)));
    }

    /// Linux 7.3.4: a round trip of 3.088 ms of which timestamps say 3 makes an ACK wait for a millisecond.
    #[test]
    fn an_ack_waits_for_a_third_of_the_shorter_estimate() {
        let mut compression = Compression::new();
        let tcb = Tcb { now: at(10_000), srtt: at(3_088), rcv_timestamp_echo: 7, ..Tcb::default() };
        compression.on_echo(&tcb);
        let found = [(); 5].map(|()| compression.on_gap(&tcb, Seq(1)));
        let wait = Answer::After(Time(1_000_000));
        assert_eq!(found, [Answer::Now, Answer::Now, Answer::Now, wait, Answer::WithLast]);
    }
}
