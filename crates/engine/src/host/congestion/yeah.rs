//! YeAH (Baiocchi, Castellani, Vacirca, PFLDnet 2007; ns-3's `TcpYeah`): Scalable TCP while the queue is short, Reno
//! when it is not.  Where the stack is Linux's, `yeah_linux.rs`.
//!
//! Once per round trip the queue is estimated as Q = (RTT_min - RTT_base) cwnd / RTT_min and the
//! congestion as L = (RTT_min - RTT_base) / RTT_base (section 3 of the paper).  Q > alpha or
//! L > 1/phy selects slow (Reno) mode, in which Q > alpha also takes Q / gamma segments off the
//! window, at most cwnd / 2^epsilon and never below what competing Reno flows would have.  On loss,
//! fast mode takes away Q, at least flight / 2^delta and at most half; after rho rounds in slow
//! mode it is half.

use super::scalable::Scalable;
use super::yeah_linux::{self, Settings};
use super::{BuildContext, new_reno};
use crate::base::attributes::{Kind, Spec, U32, param};
use crate::base::cpp;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::slow_start::slow_start;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};
use crate::host::tcp::{CongState, Tcb};

/// A divisor: zero would stop ns-3.
const DIVISOR: Kind = Kind::Uint { min: 1, max: u32::MAX as u64 };

pub const SPEC: Spec = Spec {
    ns3: "TcpYeah",
    linux: &["yeah"],
    is_in_linux: true,
    doc: "Scalable TCP while the estimated queue is short, Reno otherwise.",
    source: "Baiocchi, Castellani, Vacirca: YeAH-TCP (PFLDnet 2007)",
    departures: &[
        "1/phy is an integer quotient, so that every `Phy` above 1 means L > 0",
        "the Scalable part is created before attributes are set, so that `StcpAiFactor` has no \
         effect (it is 100)",
        "the samples are the smoothed RTT",
    ],
    params: &[
        param!["Alpha"; U32 => "80"; "Longest queue in segments that fast mode tolerates."],
        param!["Gamma"; DIVISOR => "1";
            "The share 1/Gamma of the queue is removed per round trip."],
        param!["Delta"; U32 => "3"; "A loss takes away at least the share 2^-Delta of the window."],
        param!["Epsilon"; U32 => "1";
            "Early decongestion takes away at most the share 2^-Epsilon of the window."],
        param!["Phy"; DIVISOR => "8";
            "Fast mode tolerates queueing up to 1/Phy of the base RTT (an integer quotient)."],
        param!["Rho"; U32 => "16";
            "Rounds in slow mode after which a loss counts as competition with Reno flows."],
        param!["Zeta"; U32 => "50";
            "Rounds in fast mode after which competing Reno flows are forgotten."],
        param!["StcpAiFactor"; U32 => "100";
            "Segments per segment of growth in fast mode; without effect in ns-3 3.44."],
    ],
};

#[derive(Debug)]
pub struct Yeah {
    settings: Settings,
    fast: Scalable,
    base_rtt: Time,
    min_rtt: Time,
    samples: u32,
    round_end: Seq,
    /// Last estimate of the queue, in segments.
    queue: u32,
    /// Rounds in slow mode without a break, and in fast mode.
    slow_rounds: u32,
    fast_rounds: u32,
    /// What competing Reno flows' windows are taken to be, in segments.
    reno_window: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    let a = &cx.attributes;
    let settings = Settings {
        alpha: a.u32("Alpha"),
        gamma: a.u32("Gamma"),
        delta: a.u32("Delta"),
        epsilon: a.u32("Epsilon"),
        phy: a.u32("Phy"),
        rho: a.u32("Rho"),
        zeta: a.u32("Zeta"),
        ai_factor: a.u32("StcpAiFactor"),
    };
    match cx.stack {
        TcpStack::Ns3 => of_ns3(settings).into(),
        TcpStack::Linux => yeah_linux::new(settings).into(),
    }
}

fn of_ns3(settings: Settings) -> Yeah {
    Yeah {
        settings,
        fast: Scalable::new(100, 0.125),
        base_rtt: Time::MAX,
        min_rtt: Time::MAX,
        samples: 0,
        round_end: Seq(0),
        queue: 0,
        slow_rounds: 0,
        fast_rounds: 0,
        reno_window: 2,
    }
}

impl Yeah {
    fn choose_mode(&mut self, tcb: &mut Tcb) {
        let window = tcb.cwnd_segments();
        let queueing = (self.min_rtt - self.base_rtt).secs_f64();
        let bandwidth = f64::from(window) / self.min_rtt.secs_f64();
        self.queue = cpp::to_u32(bandwidth * queueing);
        let congestion = queueing / self.base_rtt.secs_f64();
        if self.queue > self.settings.alpha || congestion > f64::from(1 / self.settings.phy) {
            self.slow_mode(tcb, window);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > self.settings.zeta {
                self.reno_window = 2;
                self.fast_rounds = 0;
            }
            self.slow_rounds = 0;
        }
    }

    fn slow_mode(&mut self, tcb: &mut Tcb, mut window: u32) {
        if self.queue > self.settings.alpha && window > self.reno_window {
            let most = window.wrapping_shr(self.settings.epsilon);
            window = (window - (self.queue / self.settings.gamma).min(most)).max(self.reno_window);
            tcb.cwnd = window.wrapping_mul(tcb.segment_size);
            tcb.ssthresh = tcb.cwnd;
        }
        if self.reno_window <= 2 {
            self.reno_window = (window >> 1).max(2);
        } else {
            self.reno_window += 1;
        }
        self.slow_rounds += 1;
    }

    fn start_round(&mut self, tcb: &Tcb) {
        self.round_end = tcb.next_tx_seq;
        self.samples = 0;
        self.min_rtt = Time::MAX;
    }
}

impl CongestionControl for Yeah {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        let flight = bytes_in_flight / tcb.segment_size;
        let half = (flight >> 1).max(2);
        let reduction = if self.slow_rounds < self.settings.rho {
            self.queue.max(flight.wrapping_shr(self.settings.delta)).min(half)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_window = (self.reno_window >> 1).max(2);
        let left = bytes_in_flight.wrapping_sub(reduction.wrapping_mul(tcb.segment_size));
        left.max(2 * tcb.segment_size)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if tcb.cwnd < tcb.ssthresh {
            slow_start(tcb, segments_acked);
        } else if self.slow_rounds == 0 {
            self.fast.cong_avoid(tcb, segments_acked);
        } else {
            new_reno::congestion_avoidance(tcb, segments_acked);
        }
        if tcb.last_acked_seq >= self.round_end {
            // With fewer samples all may come from delayed ACKs.
            if self.samples > 2 {
                self.choose_mode(tcb);
            }
            self.start_round(tcb);
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
        if state == CongState::Open {
            self.start_round(tcb);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;

    fn queued(window: u32, rtt: u64) -> Driver {
        let mut d = Driver::new("TcpYeah", &[]).with_cwnd(window).with_ssthresh(window);
        d.round();
        d.set_rtt(rtt);
        d
    }

    #[test]
    fn an_empty_queue_selects_scalable_growth() {
        let mut d = queued(1000, 100);
        d.set_cwnd(1000);
        d.acks(1000, 1);
        assert!((1009..=1011).contains(&d.cwnd()), "{}", d.cwnd());
    }

    #[test]
    fn a_queue_above_alpha_is_removed_early() {
        let mut d = queued(500, 125);
        d.rounds(2);
        // A fifth of the window is queued: about 100 segments, more than alpha = 80.
        assert!((395..=415).contains(&d.ssthresh()), "{}", d.ssthresh());
        assert!(d.cwnd() < 420, "{}", d.cwnd());
    }

    #[test]
    fn a_loss_takes_the_estimated_queue_but_an_eighth_at_least() {
        let mut d = queued(400, 100);
        assert_eq!(d.ssthresh_on_loss() + d.cwnd() / 8, d.cwnd());
        let mut d = queued(200, 150);
        d.rounds(2);
        // A third of the window is queued (67 segments: below alpha, so it is not removed early).
        let taken = d.cwnd() - d.ssthresh_on_loss();
        assert!((64..=70).contains(&taken), "{taken}");
    }
}
