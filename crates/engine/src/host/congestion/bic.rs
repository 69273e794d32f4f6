//! BIC (Xu, Harfoush, Rhee, INFOCOM 2004; ns-3's `TcpBic`): binary search for the window at which the last loss
//! happened.  Where the stack is Linux's, `bic_linux.rs`.
//!
//! Below W_max the window grows per round trip by the distance to it divided by
//! `BinarySearchCoefficient`, at most `MaxIncr`, and slowly (`SmoothPart`) when nearly there; above
//! it the same in reverse (max probing).  Loss leaves beta of the window; fast convergence lowers
//! W_max if it happens below the last one.

use super::{BuildContext, bic_linux, new_reno};
use crate::base::attributes::{FRACTION, Kind, Spec, U32, param};
use crate::base::cpp;
use crate::host::tcp::Tcb;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};

pub const SPEC: Spec = Spec {
    ns3: "TcpBic",
    linux: &["bic"],
    is_in_linux: true,
    doc: "Binary search for the window of the last loss, then max probing.",
    source: "Xu, Harfoush, Rhee: BIC (INFOCOM 2004)",
    departures: &[
        "the distance is an integer quotient",
        "the counter of acknowledged segments must exceed, not reach, the target and then \
         restarts at 0",
        "fast convergence sets W_max to beta cwnd (Linux: (1 + beta) / 2 cwnd)",
        "no window clamp",
        "below `LowWnd` ssthresh is half of the FlightSize",
        "an ACK of no segment in slow start wraps the count of segments left",
    ],
    params: &[
        param!["FastConvergence", "fast_convergence"; Kind::Bool => "true";
            "Give up bandwidth faster when the maximum window shrinks."],
        param!["Beta", "beta"; FRACTION => "0.8";
            "What is left of the window after a loss, as a fraction (Linux writes 819/1024)."],
        param!["MaxIncr", "max_increment"; Kind::Uint { min: 1, max: u32::MAX as u64 } => "16";
            "Largest growth in segments per round trip."],
        param!["LowWnd", "low_window"; U32 => "14"; "Window in segments below which it is Reno."],
        param!["SmoothPart", "smooth_part"; Kind::Uint { min: 1, max: u32::MAX as u64 } => "5";
            "Round trips to cover the last BinarySearchCoefficient segments to the maximum."],
        param!["BinarySearchCoefficient"; Kind::Uint { min: 2, max: u8::MAX as u64 } => "4";
            "The search covers the share 1/coefficient of the distance per round trip."],
    ],
};

#[derive(Debug)]
pub struct Bic {
    fast_convergence: bool,
    beta: f64,
    max_increment: u32,
    low_window: u32,
    smooth_part: u32,
    coefficient: u32,
    /// Segments acknowledged towards the next segment of growth.
    acked: u32,
    /// W_max in segments; 0 before the first loss.
    w_max: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    match cx.stack {
        TcpStack::Ns3 => of_ns3(cx).into(),
        TcpStack::Linux => bic_linux::new(cx).into(),
    }
}

fn of_ns3(cx: &BuildContext<'_>) -> Bic {
    let a = &cx.attributes;
    Bic {
        fast_convergence: a.bool("FastConvergence"),
        beta: a.f64("Beta"),
        max_increment: a.u32("MaxIncr"),
        low_window: a.u32("LowWnd"),
        smooth_part: a.u32("SmoothPart"),
        coefficient: a.u32("BinarySearchCoefficient"),
        acked: 0,
        w_max: 0,
    }
}

impl Bic {
    /// Segments to be acknowledged per segment of growth.
    fn acks_per_segment(&self, window: u32) -> u32 {
        if window < self.low_window {
            return window;
        }
        let slowly = window.wrapping_mul(self.smooth_part) / self.coefficient;
        let fastest = window / self.max_increment;
        let count = if window < self.w_max {
            match (self.w_max - window) / self.coefficient {
                distance if distance > self.max_increment => fastest,
                0 | 1 => slowly,
                distance => window / distance,
            }
        } else {
            let above = self.coefficient - 1;
            let reach = self.max_increment.wrapping_mul(above);
            if window < self.w_max.wrapping_add(self.coefficient) {
                slowly
            } else if window < self.w_max.wrapping_add(reach) {
                window.wrapping_mul(above) / (window - self.w_max)
            } else {
                fastest
            }
        };
        // Before the first loss grow by at least 5 % per round trip.
        let count = if self.w_max == 0 { count.min(20) } else { count };
        count.max(1)
    }
}

impl CongestionControl for Bic {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        let window = tcb.cwnd_segments();
        let left = self.beta * f64::from(window);
        let converge = window < self.w_max && self.fast_convergence;
        self.w_max = if converge { cpp::to_u32(left) } else { window };
        if window < self.low_window {
            new_reno::half_of_flight(tcb, bytes_in_flight)
        } else {
            cpp::to_u32(left.max(2.0) * f64::from(tcb.segment_size))
        }
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let mut left = segments_acked;
        if tcb.cwnd < tcb.ssthresh {
            tcb.cwnd = tcb.cwnd.wrapping_add(tcb.segment_size);
            left = left.wrapping_sub(1);
        }
        if tcb.cwnd >= tcb.ssthresh && left > 0 {
            self.acked = self.acked.wrapping_add(left);
            if self.acked > self.acks_per_segment(tcb.cwnd_segments()) {
                tcb.cwnd = tcb.cwnd.wrapping_add(tcb.segment_size);
                self.acked = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;

    #[test]
    fn growth_per_round_is_a_quarter_of_the_distance_within_bounds() {
        // W_max = 1000 after the loss.
        for (window, grown) in [(800, 16), (960, 10), (980, 5)] {
            let mut d = Driver::new("TcpBic", &[]).with_cwnd(1000).with_ssthresh(1000);
            d.fast_recovery();
            assert_eq!(d.cwnd(), 800);
            d.set_cwnd(window);
            d.acks(window, 1);
            let got = d.cwnd() - window;
            // The distance shrinks on the way, and the count must be exceeded, not reached.
            assert!(got <= grown && 10 * got >= 8 * grown, "from {window}: {got}");
        }
    }

    #[test]
    fn the_last_four_segments_take_five_round_trips() {
        let mut d = Driver::new("TcpBic", &[]).with_cwnd(1000).with_ssthresh(1000);
        d.fast_recovery();
        d.set_cwnd(996);
        d.rounds(5);
        assert!((999..=1000).contains(&d.cwnd()), "{}", d.cwnd());
    }

    #[test]
    fn beyond_the_maximum_it_probes_slowly_then_linearly() {
        let mut d = Driver::new("TcpBic", &[]).with_cwnd(1000).with_ssthresh(1000);
        d.fast_recovery();
        d.set_cwnd(1000);
        d.acks(1000, 1);
        let slowly = d.cwnd() - 1000;
        d.set_cwnd(2000);
        d.acks(2000, 1);
        let linearly = d.cwnd() - 2000;
        assert!(slowly <= 1 && (15..=17).contains(&linearly), "{slowly}, {linearly}");
    }

    #[test]
    fn small_windows_are_reno() {
        let mut d = Driver::new("TcpBic", &[]).with_cwnd(10).with_ssthresh(10);
        assert_eq!(d.ssthresh_on_loss(), 5);
    }
}
