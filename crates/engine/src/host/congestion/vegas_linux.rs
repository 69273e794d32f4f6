//! Vegas as Linux has it (Brakmo and Peterson, JSAC 1995; Linux's `tcp_vegas.c`), in whole segments and microseconds.
//!
//! It hears samples of round trips, not their mean.  Once a round, with the smallest of them,
//!
//! ```text
//! diff = cwnd (minRTT - baseRTT) / baseRTT      target = cwnd baseRTT / minRTT
//! ```
//!
//! Slow start ends when diff exceeds gamma, at the target plus one; afterwards a segment more below alpha, one less
//! above beta.  Rounds of two samples or fewer are Reno's, and so is all that happens outside of Open.  What begins
//! with nothing in flight forgets all round trips before.

use super::linux_reno::{LinuxReno, half, window_of};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::control::{CaEvent, CongestionControl, EarlyAck};
use crate::host::tcp::{CongState, Tcb};

/// Of so many samples all may come from delayed ACKs.
const FEW: u32 = 2;
/// Before the first sample.
const NONE: u32 = i32::MAX as u32;

/// Of the backlog, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub alpha: u32,
    pub beta: u32,
    pub gamma: u32,
}

#[derive(Debug)]
pub struct VegasLinux {
    bounds: Bounds,
    reno: LinuxReno,
    /// In microseconds, of the connection and of this round.
    base_rtt: u32,
    min_rtt: u32,
    samples: u32,
    enabled: bool,
    /// SND.NXT when this round began.
    round_end: Seq,
}

pub(super) fn new(bounds: Bounds) -> VegasLinux {
    VegasLinux {
        bounds,
        reno: LinuxReno::new(true),
        base_rtt: NONE,
        min_rtt: NONE,
        samples: 0,
        enabled: true,
        round_end: Seq(0),
    }
}

/// Whether the window limits what is sent does not matter here.
fn slow_start(tcb: &mut Tcb, segments_acked: u32) {
    let more = segments_acked.saturating_mul(tcb.segment_size);
    tcb.cwnd = tcb.cwnd.saturating_add(more).min(tcb.ssthresh);
}

impl VegasLinux {
    fn begin_round(&mut self, tcb: &Tcb) {
        self.round_end = tcb.high_tx_mark;
        self.samples = 0;
        self.min_rtt = NONE;
    }

    fn end_round(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let (window, size) = (tcb.cwnd_segments(), tcb.segment_size);
        let target = u64::from(window) * u64::from(self.base_rtt) / u64::from(self.min_rtt);
        let diff = window.wrapping_mul(self.min_rtt - self.base_rtt) / self.base_rtt;
        let Bounds { alpha, beta, gamma } = self.bounds;
        if tcb.cwnd < tcb.ssthresh {
            if diff > gamma {
                tcb.cwnd = window.min(target as u32 + 1) * size;
                tcb.ssthresh = tcb.ssthresh.min(tcb.cwnd);
            } else {
                slow_start(tcb, segments_acked);
            }
        } else if diff > beta {
            tcb.cwnd = (window - 1) * size;
            tcb.ssthresh = tcb.ssthresh.min(tcb.cwnd);
        } else if diff < alpha {
            tcb.cwnd += size;
        }
        tcb.cwnd = tcb.cwnd.max(window_of(0, tcb));
        let window = tcb.cwnd_segments();
        tcb.ssthresh = tcb.ssthresh.max((window / 2 + window / 4) * size);
    }
}

impl CongestionControl for VegasLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        half(tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !self.enabled {
            self.reno.grow(tcb, segments_acked);
        } else if tcb.last_acked_seq > self.round_end {
            if self.samples <= FEW {
                self.reno.grow(tcb, segments_acked);
            } else {
                self.end_round(tcb, segments_acked);
            }
            self.begin_round(tcb);
        } else if tcb.cwnd < tcb.ssthresh {
            slow_start(tcb, segments_acked);
        }
    }

    fn pkts_acked(&mut self, _tcb: &mut Tcb, _segments_acked: u32, rtt: Time) {
        let us = (rtt.0 / 1000 + 1) as u32; // never 0
        self.min_rtt = self.min_rtt.min(us);
        self.base_rtt = self.base_rtt.min(us);
        self.samples += 1;
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        if event == CaEvent::TxStart {
            self.base_rtt = NONE;
            self.enabled = true;
            self.begin_round(tcb);
        }
        None
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        self.enabled = state == CongState::Open;
        if self.enabled {
            self.begin_round(tcb);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS};
    use super::*;
    use crate::host::tcp::control::TcpStack;

    fn vegas() -> Driver {
        Driver::on(TcpStack::Linux, "TcpVegas", &[])
    }

    /// Rounds over a path of 50 segments and 100 ms, whose RTT grows with what is queued.
    fn rounds(d: &mut Driver, count: u32) {
        for _ in 0..count {
            d.set_rtt(u64::from(d.cwnd().max(50)) * 100 / 50);
            d.round();
        }
    }

    #[test]
    fn the_backlog_settles_between_alpha_and_beta() {
        for start in [20, 52, 90] {
            let mut d = vegas().with_cwnd(10).with_ssthresh(10);
            d.rounds(2); // an empty queue: the base RTT
            d.set_cwnd(start);
            rounds(&mut d, 100);
            assert!((52..=54).contains(&d.cwnd()), "from {start}: {}", d.cwnd());
        }
    }

    #[test]
    fn slow_start_ends_above_gamma_at_the_target_and_one() {
        let mut d = vegas().with_cwnd(20);
        d.rounds(1);
        d.set_rtt(125); // four fifths of the window would be enough
        let mut most = d.cwnd();
        while d.tcb.cwnd < d.tcb.ssthresh {
            most = d.cwnd();
            d.ack(1);
        }
        let wanted = most * 4 / 5 + 1;
        assert_eq!((d.cwnd(), d.ssthresh()), (wanted, wanted));
    }

    #[test]
    fn few_samples_and_all_states_but_open_are_renos() {
        let mut d = vegas().with_cwnd(10).with_ssthresh(10);
        d.rounds(2);
        d.state(CongState::Disorder);
        let before = d.cwnd();
        d.set_rtt(200); // too much is queued
        d.rounds(2);
        assert_eq!(d.cwnd(), before + 2);
        d.state(CongState::Open);
        d.rounds(3);
        assert!(d.cwnd() < before + 2);
    }

    #[test]
    fn what_begins_with_nothing_in_flight_forgets_the_least_round_trip() {
        let mut d = vegas().with_cwnd(20).with_ssthresh(20);
        d.rounds(2);
        let before = d.cwnd();
        d.set_rtt(200);
        d.event(CaEvent::TxStart);
        d.rounds(4);
        assert!(d.cwnd() > before);
    }

    #[test]
    fn a_loss_leaves_half_and_windows_two_segments() {
        let mut d = vegas().with_cwnd(21).with_ssthresh(20);
        assert_eq!(d.ssthresh_on_loss(), 10);
        d.set_cwnd(2);
        assert_eq!(d.ssthresh_on_loss(), 2);
        d.rounds(5);
        d.set_rtt(1000);
        d.tcb.ssthresh = 2 * MSS;
        d.rounds(50);
        assert_eq!(d.cwnd(), 2);
    }
}
