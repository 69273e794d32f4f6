//! What a receiver takes for the round trip: that of timestamps, smoothed, or the shortest in which a whole window came (Linux's
//! `rcv_rtt_est`).

use crate::base::seq::Seq;
use crate::base::time::Time;

/// Of a microsecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Eighths(pub u64);

#[derive(Debug, Default)]
pub struct ReceiverRtt {
    /// In eighths of a microsecond; 0 before the first.
    estimate: u64,
    /// The last timestamp that came back.
    echo: Option<u32>,
    /// Since when a window is waited for, and where it ends.
    window: Option<(Time, Seq)>,
}

impl ReceiverRtt {
    /// A segment of at least the usual size has come, with this timestamp of ours.
    pub fn on_echo(&mut self, now: Time, echo: u32) {
        if self.echo.replace(echo) == Some(echo) {
            return;
        }
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

    /// One has come in order, of which `next` is the end, where so much is offered.
    pub fn on_next(&mut self, now: Time, next: Seq, window: u32) {
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

    /// That of an end that has measured `srtt` itself, if that is shorter.
    pub fn at_most(&self, srtt: Time) -> Eighths {
        let own = 8 * srtt.us();
        Eighths(if own == 0 { self.estimate } else { self.estimate.min(own) })
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

    #[test]
    fn the_shorter_one_of_both_ends_counts() {
        let mut rtt = ReceiverRtt::default();
        rtt.on_echo(at(10_000), 7);
        assert_eq!(rtt.at_most(at(3_088)), Eighths(8 * 3_000));
        assert_eq!(rtt.at_most(at(2_500)), Eighths(8 * 2_500));
        assert_eq!(rtt.at_most(Time::ZERO), Eighths(8 * 3_000));
    }
}
