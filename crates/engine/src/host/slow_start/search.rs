//! SEARCH, "slow start exit at right chokepoint" (draft-chung-ccwg-search-09): slow start ends when what is delivered falls behind
//! what was sent a round trip before.
//!
//! Both are counted in bins, and compared over a window of W bins, the earlier one interpolated between bins:
//!
//! ```text
//! WINDOW_SIZE = 3.5 INITIAL_RTT,  BIN_DURATION = WINDOW_SIZE / W
//! norm_diff = (sent in the window that ended an RTT ago - delivered in this one) / the former
//! when norm_diff >= THRESH:  ssthresh = delivered in INITIAL_RTT, to which cwnd drains
//! ```
//!
//! Losses and jitter of single round trips hardly change sums over 3.5 of them, so that neither ends slow start; the price is a queue
//! that has grown for a round trip or two.  An RTT of more than EXTRA_BINS bins cannot be looked back to, and decides nothing.
//!
//! Departures: how fast the window drains is ours, a byte for two that are delivered, and a loss ends it; the interpolation takes the
//! bin before, not the one after, which would be nearer than an RTT; counters are whole, not shifted into 16 bits.  The draft's reset after
//! missed bins is optional, and left out.

use super::counted::counted;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::rate::AckSample;
use crate::host::tcp::slow_start::SlowStart;
use crate::host::tcp::{CongState, Tcb};

/// In halves of INITIAL_RTT.
const WINDOW_HALVES: u64 = 7;
const W: usize = 10;
const EXTRA_BINS: usize = 15;
const NUM_BINS: usize = W + EXTRA_BINS + 1;
/// In percent.
const THRESH: u64 = 26;
/// INITIAL_RTT in bins, rounded up.
const ROUND_TRIP: usize = 3;
const DELIVERED_PER_DRAINED: u32 = 2;

/// Bytes until the end of a bin, modulo 2^32.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    sent: u32,
    delivered: u32,
}

#[derive(Debug, Default)]
pub struct Search {
    /// None before the first round trip.
    bins: Option<Box<Bins>>,
    rtt: Time,
    is_draining: bool,
}

#[derive(Debug)]
struct Bins {
    ring: [Bin; NUM_BINS],
    /// BIN_DURATION.
    duration: Time,
    /// How many have ended since the first one, and when the next does.
    current: usize,
    end: Time,
}

impl SlowStart for Search {
    fn wants_samples(&self) -> bool {
        true
    }

    fn on_ack(&mut self, tcb: &mut Tcb, segments_acked: u32) -> u32 {
        counted(tcb, segments_acked)
    }

    fn on_sample(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        if self.is_draining {
            self.drain(tcb, sample.rate.acked_sacked);
        }
        if tcb.cwnd >= tcb.ssthresh {
            return;
        }
        self.rtt = sample.rate.rtt.unwrap_or(self.rtt);
        let now = Bin {
            sent: (tcb.high_tx_mark - Seq(0)) as u32,
            delivered: sample.connection.delivered as u32,
        };
        match &mut self.bins {
            None if self.rtt.is_zero() => {}
            None => self.bins = Some(Box::new(Bins::new(tcb.now, self.rtt, now))),
            Some(bins) => {
                if tcb.now > bins.end && bins.advance(tcb.now, now).has_fallen_behind(self.rtt) {
                    let least = 2 * tcb.segment_size;
                    tcb.ssthresh = bins.delivered_in(ROUND_TRIP).max(least).min(tcb.cwnd);
                    self.is_draining = true;
                }
            }
        }
    }

    fn on_timeout(&mut self, _tcb: &Tcb) {
        *self = Search::default();
    }
}

impl Search {
    fn drain(&mut self, tcb: &mut Tcb, delivered: u32) {
        let less = tcb.cwnd.saturating_sub(delivered / DELIVERED_PER_DRAINED);
        self.is_draining = tcb.cong_state < CongState::Cwr && less > tcb.ssthresh;
        if tcb.cong_state < CongState::Cwr {
            tcb.cwnd = less.max(tcb.ssthresh);
        }
    }
}

impl Bins {
    fn new(now: Time, initial_rtt: Time, first: Bin) -> Bins {
        let duration = Time((initial_rtt.0 * WINDOW_HALVES / 2 / W as u64).max(1));
        Bins { ring: [first; NUM_BINS], duration, current: 0, end: now + duration }
    }

    /// Some bins have ended, all but the last of them without an ACK.
    fn advance(&mut self, now: Time, last: Bin) -> &Bins {
        let passed = (now - self.end).0 / self.duration.0 + 1;
        let before = self.at(self.current);
        for missed in 1..(passed as usize).min(NUM_BINS) {
            self.ring[(self.current + missed) % NUM_BINS] = before;
        }
        self.current += passed as usize;
        self.ring[self.current % NUM_BINS] = last;
        self.end += Time(passed * self.duration.0);
        self
    }

    fn has_fallen_behind(&self, rtt: Time) -> bool {
        let back = (rtt.0 / self.duration.0) as usize;
        if back >= EXTRA_BINS || self.current <= W + back {
            return false;
        }
        let rest = u128::from(rtt.0 % self.duration.0);
        let whole = u128::from(self.duration.0);
        let earlier = self.current - back;
        let sent = |end: usize| u128::from(self.at(end).sent.wrapping_sub(self.at(end - W).sent));
        let sent = ((sent(earlier - 1) * rest + sent(earlier) * (whole - rest)) / whole) as u64;
        let delivered = self.delivered_in(W);
        sent > 0 && 100 * sent.saturating_sub(u64::from(delivered)) >= THRESH * sent
    }

    /// In so many bins until the present one.
    fn delivered_in(&self, bins: usize) -> u32 {
        self.at(self.current).delivered.wrapping_sub(self.at(self.current - bins).delivered)
    }

    fn at(&self, index: usize) -> Bin {
        self.ring[index % NUM_BINS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::rate::{RateConnection, RateSample};

    const MSS: u32 = 1000;
    /// INITIAL_RTT, of which a bin is 0.35: 35 ms.
    const RTT: u64 = 100;

    struct Flow {
        start: Search,
        tcb: Tcb,
        connection: RateConnection,
    }

    impl Flow {
        /// With the first sample taken.
        fn new() -> Flow {
            let tcb =
                Tcb { cwnd: 10 * MSS, ssthresh: u32::MAX, segment_size: MSS, ..Tcb::default() };
            let connection = RateConnection::default();
            let mut flow = Flow { start: Search::default(), tcb, connection };
            flow.ack(0, 0, RTT);
            flow
        }

        fn ack(&mut self, sent: u32, delivered: u32, rtt_ms: u64) {
            self.tcb.high_tx_mark += sent;
            self.connection.delivered += u64::from(delivered);
            let rate = RateSample {
                acked_sacked: delivered,
                rtt: Some(Time::from_ms(rtt_ms)),
                ..RateSample::default()
            };
            let sample = AckSample { connection: &self.connection, rate: &rate };
            self.start.on_sample(&mut self.tcb, sample);
        }

        fn has_ended(&self) -> bool {
            self.tcb.ssthresh < u32::MAX
        }

        /// In which of the bins it ends, if in bin i so many bytes are sent and delivered, with this RTT.
        fn ends_in(&mut self, rtt_ms: u64, bytes: impl Fn(u64) -> (u32, u32)) -> Option<u64> {
            (1..100).find(|&bin| {
                self.tcb.now += Time::from_ms(35);
                if bin == 1 {
                    self.tcb.now += Time(1); // a bin has ended when its end is over
                }
                let (sent, delivered) = bytes(bin);
                self.ack(sent, delivered, rtt_ms);
                self.has_ended()
            })
        }
    }

    /// 35 ms a bin: 100 ms are two bins and a rest.  The twelfth is the first with more than W = 10 bins before it, and the exit
    /// is in the first that has one more, since the earlier window ends two bins before.
    #[test]
    fn it_looks_back_a_window_and_a_round_trip() {
        assert_eq!(Flow::new().ends_in(RTT, |_| (1000, 500)), Some(13));
        assert_eq!(Flow::new().ends_in(3 * RTT, |_| (1000, 500)), Some(19));
    }

    #[test]
    fn a_quarter_behind_goes_on_and_26_percent_end_it() {
        assert_eq!(Flow::new().ends_in(RTT, |_| (1000, 741)), None);
        assert_eq!(Flow::new().ends_in(RTT, |_| (1000, 740)), Some(13));
    }

    /// Bytes sent double every three bins and are delivered after 105 ms, which are three: exactly what was sent.
    #[test]
    fn doubling_has_no_difference_until_the_link_is_full() {
        let sent = |bin: u64| 100 << (bin / 3).min(20);
        let free = |bin: u64| (sent(bin), if bin > 3 { sent(bin - 3) } else { 0 });
        assert_eq!(Flow::new().ends_in(105, free), None);
        // From bin 24 on no more than 6400.  Missing of the sum of ten bins: 14 %, 22 %, 28 %.
        let full = |bin: u64| (sent(bin), free(bin).1.min(6400));
        assert_eq!(Flow::new().ends_in(105, full), Some(26));
    }

    /// Bin 11 has 5000 bytes and the others 500, so that windows up to bins 10 and 11 have 5000 and 9500.  With r of its 35 ms
    /// in the earlier one, norm_diff in bin 13 is 1 - 5000 / (9500 - 4500 r / 35): 26.5 % with 21 ms, 25 % with 22.
    #[test]
    fn between_two_bins_the_earlier_window_is_interpolated() {
        let bytes = |bin: u64| (if bin == 11 { 5000 } else { 500 }, 500);
        for (rtt, expected) in [(2 * 35 + 21, 13), (2 * 35 + 22, 14)] {
            assert_eq!(Flow::new().ends_in(rtt, bytes), Some(expected), "{rtt}");
        }
    }

    #[test]
    fn round_trips_of_fifteen_bins_decide_nothing() {
        assert_eq!(Flow::new().ends_in(15 * 35, |_| (1000, 0)), None);
        assert_eq!(Flow::new().ends_in(15 * 35 - 1, |_| (1000, 0)), Some(25));
    }

    /// Without an ACK for three bins, what the bin before had is theirs.
    #[test]
    fn missed_bins_are_empty() {
        let mut flow = Flow::new();
        flow.tcb.now += Time(1);
        for _ in 0..12 {
            flow.tcb.now += Time::from_ms(35);
            flow.ack(1000, 900, RTT);
        }
        flow.tcb.now += Time::from_ms(3 * 35);
        flow.ack(3000, 2700, RTT);
        let bins = flow.start.bins.as_ref().unwrap();
        assert_eq!((bins.current, bins.end), (15, Time::from_ms(16 * 35)));
        assert_eq!(bins.at(14).sent, bins.at(12).sent);
        assert_eq!(bins.at(15).sent - bins.at(12).sent, 3000);
        assert!(!flow.has_ended());
    }

    #[test]
    fn a_silence_of_any_length_is_taken_in() {
        let mut flow = Flow::new();
        flow.tcb.now += Time::from_secs(1000);
        flow.ack(1000, 1000, RTT);
        assert!(!flow.has_ended());
    }

    /// Three bins are 1.05 INITIAL_RTT.
    #[test]
    fn it_drains_to_what_an_initial_rtt_delivered() {
        let mut flow = Flow::new();
        flow.tcb.cwnd = 20 * MSS;
        assert!(flow.ends_in(RTT, |_| (10_000, 5000)).is_some());
        assert_eq!((flow.tcb.cwnd, flow.tcb.ssthresh), (20 * MSS, 15 * MSS));
        for expected in [19_000, 18_000, 17_000, 16_000, 15_000, 15_000] {
            flow.ack(0, 2000, RTT);
            assert_eq!(flow.tcb.cwnd, expected);
        }
        assert!(!flow.start.is_draining);
    }

    #[test]
    fn it_drains_to_two_segments_at_least_and_never_grows() {
        for (cwnd, ssthresh) in [(10 * MSS, 2 * MSS), (MSS, MSS)] {
            let mut flow = Flow::new();
            flow.tcb.cwnd = cwnd;
            assert!(flow.ends_in(RTT, |_| (1000, 500)).is_some());
            assert_eq!(flow.tcb.ssthresh, ssthresh);
        }
    }

    #[test]
    fn a_loss_ends_the_drain() {
        let mut flow = Flow::new();
        flow.tcb.cwnd = 20 * MSS;
        assert!(flow.ends_in(RTT, |_| (10_000, 5000)).is_some());
        flow.tcb.cong_state = CongState::Recovery;
        flow.ack(0, 2000, RTT);
        flow.tcb.cong_state = CongState::Open;
        flow.ack(0, 2000, RTT);
        assert_eq!(flow.tcb.cwnd, 20 * MSS);
    }

    #[test]
    fn a_timeout_begins_anew() {
        let mut flow = Flow::new();
        assert_eq!(flow.ends_in(RTT, |bin| (1000, if bin < 12 { 1000 } else { 900 })), None);
        flow.start.on_timeout(&flow.tcb);
        flow.ack(0, 0, RTT);
        let anew = flow.tcb.now;
        assert_eq!(flow.ends_in(RTT, |_| (1000, 0)), Some(13));
        assert_eq!(flow.tcb.now - anew, Time(13 * 35_000_000 + 1));
    }
}
