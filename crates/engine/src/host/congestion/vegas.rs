//! Vegas (Brakmo and Peterson, JSAC 1995; ns-3's `TcpVegas`).  Where the stack is Linux's, `vegas_linux.rs`.
//!
//! Once per round trip, with the smallest RTT of the round, the backlog at the bottleneck is
//!
//! ```text
//! diff = cwnd - cwnd * baseRTT / minRTT      (segments)
//! ```
//!
//! Congestion avoidance (section 3.2 of the paper): one segment more below alpha, one less above
//! beta.  Slow start (section 3.3) ends when diff exceeds gamma; cwnd then drops to the target
//! plus one.  Outside of the Open state, and in rounds with two RTT samples or fewer, it is NewReno.

use super::vegas_linux::{self, Bounds};
use super::{BuildContext, new_reno};
use crate::base::attributes::{Spec, U32, param};
use crate::base::cpp;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::slow_start::slow_start;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpVegas",
    linux: &["vegas"],
    is_in_linux: true,
    doc: "Keeps between alpha and beta segments queued at the bottleneck, judged by the RTT.",
    source: "Brakmo, Peterson: TCP Vegas (JSAC 1995)",
    departures: &[
        "the samples are the smoothed RTT (what the socket hands over), slow start does not \
         pause every other round, no growth between the end of a round and the next in \
         congestion avoidance, and ssthresh is at least 3/4 cwnd after each round, as in Linux",
    ],
    params: &[
        param!["Alpha", "alpha"; U32 => "2"; "Backlog in segments below which the window grows."],
        param!["Beta", "beta"; U32 => "4"; "Backlog in segments above which the window shrinks."],
        param!["Gamma", "gamma"; U32 => "1"; "Backlog in segments above which slow start ends."],
    ],
};

#[derive(Debug)]
pub struct Vegas {
    bounds: Bounds,
    /// Smallest RTT of the connection and of this round.
    base_rtt: Time,
    min_rtt: Time,
    /// RTT samples in this round.
    samples: u32,
    enabled: bool,
    /// SND.NXT when this round began.
    round_end: Seq,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    let a = &cx.attributes;
    let bounds = Bounds { alpha: a.u32("Alpha"), beta: a.u32("Beta"), gamma: a.u32("Gamma") };
    match cx.stack {
        TcpStack::Ns3 => of_ns3(bounds).into(),
        TcpStack::Linux => vegas_linux::new(bounds).into(),
    }
}

fn of_ns3(bounds: Bounds) -> Vegas {
    Vegas {
        bounds,
        base_rtt: Time::MAX,
        min_rtt: Time::MAX,
        samples: 0,
        enabled: true,
        round_end: Seq(0),
    }
}

/// The window that would fill the path without a queue: cwnd * baseRTT / minRTT, in segments.
pub(super) fn target_window(window: u32, base_rtt: Time, min_rtt: Time) -> u32 {
    cpp::to_u32(f64::from(window) * (base_rtt.secs_f64() / min_rtt.secs_f64()))
}

fn ssthresh(tcb: &Tcb) -> u32 {
    let less_one_segment = tcb.cwnd.wrapping_sub(tcb.segment_size);
    tcb.ssthresh.min(less_one_segment).max(2 * tcb.segment_size)
}

impl Vegas {
    fn end_of_round(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let window = tcb.cwnd_segments();
        let target = target_window(window, self.base_rtt, self.min_rtt);
        let diff = window.wrapping_sub(target);
        if tcb.cwnd < tcb.ssthresh {
            if diff > self.bounds.gamma {
                tcb.cwnd = window.min(target + 1).wrapping_mul(tcb.segment_size);
                tcb.ssthresh = ssthresh(tcb);
            } else {
                slow_start(tcb, segments_acked);
            }
        } else if diff > self.bounds.beta {
            tcb.cwnd = window.wrapping_sub(1).wrapping_mul(tcb.segment_size);
            tcb.ssthresh = ssthresh(tcb);
        } else if diff < self.bounds.alpha {
            tcb.cwnd = window.wrapping_add(1).wrapping_mul(tcb.segment_size);
        }
        tcb.ssthresh = tcb.ssthresh.max(tcb.cwnd.wrapping_mul(3) / 4);
    }
}

impl CongestionControl for Vegas {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        ssthresh(tcb)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !self.enabled {
            new_reno::grow(tcb, segments_acked);
        } else if tcb.last_acked_seq >= self.round_end {
            self.round_end = tcb.next_tx_seq;
            // With fewer samples all may come from delayed ACKs.
            if self.samples <= 2 {
                new_reno::grow(tcb, segments_acked);
            } else {
                self.end_of_round(tcb, segments_acked);
            }
            self.samples = 0;
            self.min_rtt = Time::MAX;
        } else if tcb.cwnd < tcb.ssthresh {
            slow_start(tcb, segments_acked);
        }
    }

    fn pkts_acked(&mut self, _tcb: &mut Tcb, _segments_acked: u32, rtt: Time) {
        if !rtt.is_zero() {
            self.min_rtt = self.min_rtt.min(rtt);
            self.base_rtt = self.base_rtt.min(rtt);
            self.samples += 1;
        }
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        self.enabled = state == CongState::Open;
        if self.enabled {
            self.round_end = tcb.next_tx_seq;
            self.samples = 0;
            self.min_rtt = Time::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;

    /// Rounds over a path of 50 segments and 100 ms, whose RTT grows with what is queued.
    fn settle(attributes: &[(&str, &str)], start: u32) -> u32 {
        let mut d = Driver::new("TcpVegas", attributes).with_cwnd(10).with_ssthresh(10);
        d.rounds(2); // an empty queue: the base RTT
        d.set_cwnd(start);
        for _ in 0..100 {
            d.set_rtt(u64::from(d.cwnd().max(50)) * 100 / 50);
            d.round();
        }
        d.cwnd() - 50
    }

    #[test]
    fn the_backlog_settles_between_alpha_and_beta() {
        for start in [20, 52, 90] {
            let backlog = settle(&[], start);
            assert!((2..=4).contains(&backlog), "from {start}: {backlog}");
            let backlog = settle(&[("Alpha", "8"), ("Beta", "10")], start);
            assert!((8..=10).contains(&backlog), "from {start}: {backlog}");
        }
    }

    #[test]
    fn slow_start_ends_above_gamma() {
        let mut d = Driver::new("TcpVegas", &[]).with_cwnd(20);
        d.rounds(2);
        let before = d.cwnd();
        d.set_rtt(200);
        d.rounds(2);
        assert!(d.tcb.cwnd >= d.tcb.ssthresh);
        // The round in which the RTT doubled still doubled the window; then half of it was queued.
        assert!((before..before + 3).contains(&d.cwnd()), "{before} -> {}", d.cwnd());
    }
}
