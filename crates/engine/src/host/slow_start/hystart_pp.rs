//! HyStart++ (RFC 9406): when round trips become longer, slow start goes on at a quarter of its pace, and ends after five rounds
//! unless it was jitter.
//!
//! ```text
//! threshold = clamp(minimum of the last round / 8, 4 ms, 16 ms)              (section 4.2)
//! slow start:               cwnd += min(N, 8 SMSS)
//! conservative slow start:  cwnd += min(N, 8 SMSS) / 4
//! ```
//!
//! A round's minimum counts from its eighth sample on.  It is for the first slow start; after a timeout the window grows as
//! before.  Samples are those of the ACKs, not smoothed.

use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::Tcb;
use crate::host::tcp::rate::AckSample;
use crate::host::tcp::slow_start::SlowStart;

const LEAST_THRESHOLD: Time = Time::from_ms(4);
const LARGEST_THRESHOLD: Time = Time::from_ms(16);
const DIVISOR: u64 = 8;
const SAMPLES: u32 = 8;
const GROWTH_DIVISOR: u32 = 4;
const ROUNDS: u32 = 5;
/// Segments per ACK; none where the window is paced (section 4.3).
const LIMIT: u32 = 8;

#[derive(Debug)]
pub struct HyStartPlusPlus {
    /// A round ends when this is acknowledged.
    window_end: Option<Seq>,
    last_round: Time,
    this_round: Time,
    samples: u32,
    conservative: Option<Conservative>,
    /// The first slow start is over.
    is_over: bool,
}

/// Conservative slow start.
#[derive(Debug)]
struct Conservative {
    baseline: Time,
    rounds: u32,
}

impl Default for HyStartPlusPlus {
    fn default() -> Self {
        HyStartPlusPlus {
            window_end: None,
            last_round: Time::MAX,
            this_round: Time::MAX,
            samples: 0,
            conservative: None,
            is_over: false,
        }
    }
}

impl HyStartPlusPlus {
    /// Section 4.2, and what follows a round in section 4.3.
    fn end_round(&mut self, tcb: &mut Tcb) {
        let end = *self.window_end.get_or_insert(tcb.high_tx_mark);
        if tcb.last_acked_seq < end {
            return;
        }
        self.window_end = Some(tcb.high_tx_mark);
        self.last_round = self.this_round;
        self.this_round = Time::MAX;
        self.samples = 0;
        if let Some(conservative) = &mut self.conservative {
            conservative.rounds += 1;
            if conservative.rounds >= ROUNDS {
                tcb.ssthresh = tcb.cwnd;
                self.is_over = true;
            }
        }
    }

    fn judge(&mut self) {
        if self.samples < SAMPLES {
            return;
        }
        match &self.conservative {
            Some(conservative) if self.this_round < conservative.baseline => {
                self.conservative = None; // it was jitter
            }
            None if self.last_round != Time::MAX => {
                let threshold =
                    Time(self.last_round.0 / DIVISOR).clamp(LEAST_THRESHOLD, LARGEST_THRESHOLD);
                if self.this_round >= self.last_round + threshold {
                    self.conservative = Some(Conservative { baseline: self.this_round, rounds: 0 });
                }
            }
            _ => {}
        }
    }
}

impl SlowStart for HyStartPlusPlus {
    fn wants_samples(&self) -> bool {
        true
    }

    fn on_ack(&mut self, tcb: &mut Tcb, segments_acked: u32) -> u32 {
        let bytes = segments_acked.wrapping_mul(tcb.segment_size);
        let limit = if tcb.pacing { u32::MAX } else { LIMIT.wrapping_mul(tcb.segment_size) };
        let grown = bytes.min(limit);
        let grown = if self.conservative.is_some() && !self.is_over {
            grown / GROWTH_DIVISOR
        } else {
            grown
        };
        tcb.cwnd = tcb.cwnd.saturating_add(grown);
        0
    }

    fn on_sample(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        if self.is_over || tcb.cwnd >= tcb.ssthresh {
            return;
        }
        if let Some(rtt) = sample.rate.rtt {
            self.this_round = self.this_round.min(rtt);
            self.samples += 1;
            self.judge();
        }
        self.end_round(tcb);
    }

    fn on_timeout(&mut self, _tcb: &Tcb) {
        self.is_over = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::rate::{RateConnection, RateSample};

    const MSS: u32 = 1_000;

    struct Flow {
        start: HyStartPlusPlus,
        tcb: Tcb,
    }

    impl Flow {
        fn new() -> Flow {
            let tcb = Tcb {
                cwnd: 10 * MSS,
                ssthresh: u32::MAX,
                segment_size: MSS,
                high_tx_mark: Seq(10 * MSS),
                ..Tcb::default()
            };
            Flow { start: HyStartPlusPlus::default(), tcb }
        }

        /// A window of ACKs, one segment each, whose round trips take so long.
        fn round(&mut self, rtt_ms: u64) {
            for _ in 0..self.tcb.cwnd / MSS {
                self.ack(rtt_ms);
            }
        }

        fn ack(&mut self, rtt_ms: u64) {
            let rate = RateSample { rtt: Some(Time::from_ms(rtt_ms)), ..RateSample::default() };
            let connection = RateConnection::default();
            self.tcb.last_acked_seq += MSS;
            if self.tcb.cwnd < self.tcb.ssthresh {
                self.start.on_ack(&mut self.tcb, 1);
            }
            let sample = AckSample { connection: &connection, rate: &rate };
            self.start.on_sample(&mut self.tcb, sample);
            self.tcb.high_tx_mark = self.tcb.last_acked_seq + self.tcb.cwnd;
        }

        fn segments(&self) -> u32 {
            self.tcb.cwnd / MSS
        }
    }

    #[test]
    fn it_doubles_while_round_trips_stay_as_they_are() {
        let mut flow = Flow::new();
        for _ in 0..4 {
            flow.round(40);
        }
        assert_eq!(flow.segments(), 160);
    }

    /// An eighth of 40 ms: 45 ms is a rise, 44 ms is none.
    #[test]
    fn a_rise_of_an_eighth_slows_it_down_to_a_quarter() {
        let mut flow = Flow::new();
        flow.round(40);
        flow.round(44);
        assert!(flow.start.conservative.is_none());
        flow.round(40);
        flow.round(45);
        assert!(flow.start.conservative.is_some());
        let before = flow.segments();
        flow.round(45);
        let factor = f64::from(flow.segments()) / f64::from(before);
        assert!((1.2..1.3).contains(&factor), "{factor}");
    }

    /// Section 4.2: N_RTT_SAMPLE is 8.
    #[test]
    fn the_eighth_sample_of_a_round_is_the_first_that_decides() {
        let mut flow = Flow::new();
        flow.round(40);
        for sample in 1..=8 {
            flow.ack(60);
            assert_eq!(flow.start.conservative.is_some(), sample == 8, "{sample}");
        }
    }

    /// The one in which the rise is found counts (section 4.3).
    #[test]
    fn five_slow_rounds_end_it() {
        let mut flow = Flow::new();
        flow.round(40);
        for _ in 0..4 {
            flow.round(60);
        }
        assert_eq!(flow.tcb.ssthresh, u32::MAX);
        flow.round(60);
        let ssthresh = flow.tcb.ssthresh;
        assert!(ssthresh <= flow.tcb.cwnd && ssthresh < u32::MAX, "{ssthresh}");
    }

    #[test]
    fn round_trips_that_fall_again_were_jitter() {
        let mut flow = Flow::new();
        flow.round(40);
        flow.round(60);
        assert!(flow.start.conservative.is_some());
        flow.round(50);
        assert!(flow.start.conservative.is_none());
        let before = flow.segments();
        flow.round(50);
        assert!(flow.segments() > 19 * before / 10);
    }
}
