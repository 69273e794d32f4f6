//! Illinois (Liu, Basar, Srikant, Performance Evaluation 2008; ns-3's `TcpIllinois`): AIMD whose parameters follow the
//! queueing delay.  Where the stack is Linux's, `illinois_linux.rs`.
//!
//! With d_a the mean and d_m the maximum queueing delay, once per round trip (section 3 of the
//! paper; d1 = 0.01 d_m, d2 = 0.1 d_m, d3 = 0.8 d_m):
//!
//! ```text
//! alpha = alpha_max                      d_a <= d1      beta = beta_min        d_a <= d2
//!         k1 / (k2 + d_a)                otherwise             k3 + k4 d_a     d2 < d_a < d3
//!                                                              beta_max        d_a >= d3
//! ```
//!
//! Per ACK cwnd += alpha / cwnd; on loss ssthresh = (1 - beta) FlightSize.  alpha returns to
//! alpha_max only after `Theta` rounds of low delay.

use super::{BuildContext, illinois_linux, new_reno};
use crate::base::attributes::{NOT_NEGATIVE, Spec, U32, param};
use crate::base::cpp;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::slow_start::slow_start;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpIllinois",
    linux: &["illinois"],
    is_in_linux: true,
    doc: "AIMD that grows more and reduces less the lower the queueing delay is.",
    source: "Liu, Basar, Srikant: TCP-Illinois (2008)",
    departures: &[
        "delays are whole milliseconds of the smoothed RTT",
        "`WinThresh`, meant in segments, is compared with cwnd in bytes, so alpha and beta \
         always adapt",
        "alpha starts at 10 and beta at 0.5 whatever `AlphaMax` and `BetaBase` are",
    ],
    params: &[
        param!["AlphaMin"; NOT_NEGATIVE => "0.3";
            "Least growth in segments per round trip, at the largest delay."],
        param!["AlphaMax"; NOT_NEGATIVE => "10"; "Most growth in segments per round trip, at low delay."],
        param!["AlphaBase"; NOT_NEGATIVE => "1"; "Growth in segments per round trip after a timeout."],
        param!["BetaMin"; NOT_NEGATIVE => "0.125";
            "Share of the window that a loss takes away at low delay."],
        param!["BetaMax"; NOT_NEGATIVE => "0.5";
            "Share of the window that a loss takes away at high delay."],
        param!["BetaBase"; NOT_NEGATIVE => "0.5";
            "Share of the window that a loss takes away after a timeout."],
        param!["WinThresh", "win_thresh"; U32 => "15";
            "Window below which alpha and beta keep their base (in bytes; meant as segments)."],
        param!["Theta", "theta"; U32 => "5";
            "Rounds of low delay before alpha returns to its maximum."],
    ],
};

#[derive(Debug)]
pub struct Illinois {
    alpha_min: f64,
    alpha_max: f64,
    alpha_base: f64,
    beta_min: f64,
    beta_max: f64,
    beta_base: f64,
    win_thresh: u32,
    theta: u32,
    alpha: f64,
    beta: f64,
    /// Of this round: sum and number of the RTT samples.
    sum_rtt: u64,
    samples: u32,
    /// Of the connection.
    base_rtt: Time,
    max_rtt: Time,
    /// SND.NXT when this round began.
    round_end: Seq,
    /// d_a has been above d1, and the rounds that it has been below since.
    was_above: bool,
    rounds_below: u8,
    /// Segments acknowledged, times alpha, towards the next segment of growth.
    acked: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    match cx.stack {
        TcpStack::Ns3 => of_ns3(cx).into(),
        TcpStack::Linux => illinois_linux::new(cx).into(),
    }
}

fn of_ns3(cx: &BuildContext<'_>) -> Illinois {
    let a = &cx.attributes;
    Illinois {
        alpha_min: a.f64("AlphaMin"),
        alpha_max: a.f64("AlphaMax"),
        alpha_base: a.f64("AlphaBase"),
        beta_min: a.f64("BetaMin"),
        beta_max: a.f64("BetaMax"),
        beta_base: a.f64("BetaBase"),
        win_thresh: a.u32("WinThresh"),
        theta: a.u32("Theta"),
        alpha: 10.0,
        beta: 0.5,
        sum_rtt: 0,
        samples: 0,
        base_rtt: Time::MAX,
        max_rtt: Time::ZERO,
        round_end: Seq(0),
        was_above: false,
        rounds_below: 0,
        acked: 0,
    }
}

impl Illinois {
    fn start_round(&mut self, tcb: &Tcb) {
        self.round_end = tcb.next_tx_seq;
        self.samples = 0;
        self.sum_rtt = 0;
    }

    fn adapt(&mut self, cwnd: u32) {
        if cwnd < self.win_thresh {
            self.alpha = self.alpha_base;
            self.beta = self.beta_base;
        } else if self.samples > 0 {
            let mean_rtt = Time(self.sum_rtt / u64::from(self.samples));
            let mean = (mean_rtt - self.base_rtt).ms() as f64;
            let most = (self.max_rtt - self.base_rtt).ms() as f64;
            self.adapt_alpha(mean, most);
            self.beta = self.beta_at(mean, most);
        }
    }

    /// Delays in ms: d_a and d_m.
    fn adapt_alpha(&mut self, mean: f64, most: f64) {
        let d1 = most / 100.0;
        if mean > d1 {
            self.was_above = true;
            let (most, mean) = (most - d1, mean - d1);
            let spread = self.alpha_max - self.alpha_min;
            self.alpha = (most * self.alpha_max) / (most + (mean * spread) / self.alpha_min);
            return;
        }
        if !self.was_above {
            self.alpha = self.alpha_max;
        }
        self.rounds_below = self.rounds_below.wrapping_add(1);
        if u32::from(self.rounds_below) >= self.theta {
            self.rounds_below = 0;
            self.was_above = false;
            self.alpha = self.alpha_max;
        }
    }

    fn beta_at(&self, mean: f64, most: f64) -> f64 {
        let d2 = most / 10.0;
        let d3 = (8.0 * most) / 10.0;
        if mean <= d2 {
            self.beta_min
        } else if mean < d3 {
            let spread = self.beta_max - self.beta_min;
            (self.beta_min * d3 - self.beta_max * d2 + spread * mean) / (d3 - d2)
        } else {
            self.beta_max
        }
    }
}

impl CongestionControl for Illinois {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        let flight = bytes_in_flight / tcb.segment_size;
        let left = (1.0 - self.beta) * f64::from(flight);
        cpp::to_u32(left.max(2.0)).wrapping_mul(tcb.segment_size)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if tcb.last_acked_seq >= self.round_end {
            self.adapt(tcb.cwnd);
            self.start_round(tcb);
        }
        if tcb.cwnd < tcb.ssthresh {
            slow_start(tcb, segments_acked);
        } else {
            let earned = f64::from(segments_acked) * self.alpha;
            self.acked = cpp::to_u32(f64::from(self.acked) + earned);
            new_reno::spend_acks(tcb, &mut self.acked);
        }
    }

    fn pkts_acked(&mut self, _tcb: &mut Tcb, _segments_acked: u32, rtt: Time) {
        if !rtt.is_zero() {
            self.base_rtt = self.base_rtt.min(rtt);
            self.max_rtt = self.max_rtt.max(rtt);
            self.samples += 1;
            self.sum_rtt += rtt.0;
        }
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        if state == CongState::Loss {
            self.alpha = self.alpha_base;
            self.beta = self.beta_base;
            self.rounds_below = 0;
            self.was_above = false;
            self.start_round(tcb);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, with_context};
    use super::*;

    fn adapted(mean: f64, most: f64) -> (f64, f64) {
        with_context(&SPEC, &[], |cx| {
            let mut illinois = of_ns3(cx);
            illinois.adapt_alpha(mean, most);
            (illinois.alpha, illinois.beta_at(mean, most))
        })
    }

    #[test]
    fn the_curves_meet_their_corners() {
        let close = |(alpha, beta): (f64, f64), a: f64, b: f64| {
            assert!((alpha - a).abs() < 1e-2 && (beta - b).abs() < 1e-9, "{alpha}, {beta}");
        };
        close(adapted(1.0, 100.0), 10.0, 0.125); // d1
        close(adapted(1.000_001, 100.0), 10.0, 0.125); // just above: no step
        close(adapted(80.0, 100.0), 0.373, 0.5); // d3
        close(adapted(100.0, 100.0), 0.3, 0.5);
        close(adapted(45.0, 100.0), 0.65, 0.3125); // the middle of beta's slope
    }

    #[test]
    fn alpha_falls_and_beta_rises_with_the_delay() {
        let points: Vec<_> = (0..=100).map(|ms| adapted(f64::from(ms), 100.0)).collect();
        assert!(points.windows(2).all(|pair| pair[0].0 >= pair[1].0 && pair[0].1 <= pair[1].1));
    }

    #[test]
    fn alpha_returns_to_its_maximum_only_after_theta_rounds_of_low_delay() {
        let mut d = Driver::new("TcpIllinois", &[]).with_cwnd(100).with_ssthresh(100);
        d.round();
        d.set_rtt(200);
        d.rounds(2);
        d.set_rtt(100);
        let growth: Vec<u32> = (0..8)
            .map(|_| {
                d.set_cwnd(100);
                d.acks(100, 1);
                d.cwnd() - 100
            })
            .collect();
        let slow = growth.iter().take_while(|&&segments| segments <= 1).count();
        // Five rounds of low delay, two of which were those before the delay rose.
        assert_eq!(slow, 3, "{growth:?}");
        assert!(growth[slow..].iter().all(|&segments| segments >= 9), "{growth:?}");
    }
}
