//! Hybrid slow start with the thresholds of the paper and of Linux (Ha and Rhee, "Taming the elephants: new TCP slow start",
//! 2011): an unbroken train of ACKs of half the minimum RTT, or a round whose least RTT is an eighth above the minimum.
//!
//! Both are told from samples, not from their mean.  An eighth means 4 to 16 ms.

use super::counted::counted;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::slow_start::SlowStart;
use crate::host::tcp::{LARGEST_BURST, Tcb};

/// Segments of cwnd from which on the end is looked for.
const LOW_WINDOW: u32 = 16;
/// Samples of a round before its delay is judged.
const SAMPLES: u32 = 8;
/// The largest gap between two ACKs of one train.
const ACK_DELTA: Time = Time::from_ms(2);
/// Bursts of the sender's may hold an ACK up: by as long as so many of the largest last, and by this time at most.
const BURSTS: u64 = 4;
const MOST_DELAY: Time = Time::from_ms(1);
const LEAST_RISE: Time = Time::from_ms(4);
const MOST_RISE: Time = Time::from_ms(16);

#[derive(Debug, Default)]
pub struct HyStartLinux {
    found: bool,
    round_start: Time,
    round_end: Seq,
    last_ack: Time,
    least_of_round: Time,
    samples: u32,
}

impl SlowStart for HyStartLinux {
    fn init(&mut self, tcb: &Tcb) {
        self.start_round(tcb);
    }

    fn on_ack(&mut self, tcb: &mut Tcb, segments_acked: u32) -> u32 {
        counted(tcb, segments_acked)
    }

    fn on_round_trip(&mut self, tcb: &mut Tcb, rtt: Time, least: Time) {
        if self.found || tcb.cwnd >= tcb.ssthresh {
            return;
        }
        if tcb.last_acked_seq > self.round_end {
            self.start_round(tcb);
        }
        if tcb.cwnd < LOW_WINDOW * tcb.segment_size {
            return;
        }
        self.found = self.has_train(tcb, least) || self.has_risen(rtt, least);
        if self.found {
            tcb.ssthresh = tcb.cwnd;
        }
    }

    fn on_timeout(&mut self, tcb: &Tcb) {
        self.found = false;
        self.start_round(tcb);
    }
}

impl HyStartLinux {
    fn start_round(&mut self, tcb: &Tcb) {
        self.round_start = tcb.now;
        self.last_ack = tcb.now;
        self.round_end = tcb.high_tx_mark;
        self.least_of_round = Time::MAX;
        self.samples = 0;
    }

    /// Where segments are paced the train is spread over the round trip, and the whole of it counts.
    fn has_train(&mut self, tcb: &Tcb, least: Time) -> bool {
        if tcb.now - self.last_ack > ACK_DELTA {
            return false;
        }
        self.last_ack = tcb.now;
        let whole = least + delay_of_bursts(tcb);
        let enough = if tcb.pacing { whole } else { Time(whole.0 / 2) };
        tcb.now - self.round_start > enough
    }

    fn has_risen(&mut self, rtt: Time, least: Time) -> bool {
        self.least_of_round = self.least_of_round.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = Time(least.0 / 8).clamp(LEAST_RISE, MOST_RISE);
        self.least_of_round > least + rise
    }
}

fn delay_of_bursts(tcb: &Tcb) -> Time {
    match tcb.window_rate() {
        None | Some(0) => Time::ZERO,
        Some(rate) => {
            Time(BURSTS * u64::from(LARGEST_BURST) * 1_000_000_000 / rate).min(MOST_DELAY)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;
    const LEAST: Time = Time::from_ms(40);

    /// After how many ACKs slow start ends, if they come so far apart with these round trips; a round is 100 segments.
    fn ends_after(apart: Time, rtt: impl Fn(u32) -> Time) -> Option<u32> {
        let mut tcb = Tcb {
            cwnd: 100 * MSS,
            ssthresh: u32::MAX,
            segment_size: MSS,
            srtt: LEAST,
            ..Tcb::default()
        };
        tcb.high_tx_mark = Seq(1000 * MSS);
        let mut start = HyStartLinux::default();
        start.init(&tcb);
        (1..500).find(|&i| {
            tcb.now += apart;
            tcb.last_acked_seq = Seq(i * MSS);
            start.on_round_trip(&mut tcb, rtt(i), LEAST);
            tcb.ssthresh == tcb.cwnd
        })
    }

    /// A timeout makes nine samples necessary again.
    #[test]
    fn a_timeout_begins_a_round() {
        let mut tcb =
            Tcb { cwnd: 100 * MSS, ssthresh: u32::MAX, segment_size: MSS, ..Tcb::default() };
        tcb.high_tx_mark = Seq(1000 * MSS);
        let mut start = HyStartLinux::default();
        start.init(&tcb);
        for _ in 0..2 {
            for sample in 1..=9 {
                tcb.now += Time::from_ms(3);
                start.on_round_trip(&mut tcb, Time::from_ms(46), LEAST);
                assert_eq!(tcb.ssthresh == tcb.cwnd, sample == 9, "{sample}");
            }
            tcb.ssthresh = u32::MAX;
            start.on_timeout(&tcb);
        }
    }

    #[test]
    fn a_train_of_half_the_minimum_rtt_and_a_millisecond_ends_it() {
        assert_eq!(ends_after(Time(500_000), |_| LEAST), Some(42));
        assert_eq!(ends_after(Time::from_ms(3), |_| LEAST), None);
    }

    /// 40 ms and an eighth are 45; the samples of a round are judged from the ninth on.
    #[test]
    fn a_round_whose_least_rtt_is_an_eighth_longer_ends_it() {
        let apart = Time::from_ms(3);
        assert_eq!(ends_after(apart, |_| Time::from_ms(46)), Some(9));
        assert_eq!(ends_after(apart, |_| Time::from_ms(45)), None);
        assert_eq!(ends_after(apart, |i| if i == 3 { LEAST } else { Time::from_ms(60) }), None);
    }
}
