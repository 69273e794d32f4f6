//! Scalable TCP (Kelly, CCR 2003; ns-3's `TcpScalable`): per ACK a fixed share of a segment, on loss a fixed share of
//! the window.  Where the stack is Linux's, `scalable_linux.rs`.
//!
//! Congestion avoidance adds one segment per min(cwnd, `AIFactor`) acknowledged; loss leaves
//! (1 - `MDFactor`) of the FlightSize (paper: a = 0.01, b = 0.125).

use super::{BuildContext, scalable_linux};
use crate::base::attributes::{FRACTION, Kind, Spec, param};
use crate::base::cpp;
use crate::host::tcp::Tcb;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};

pub const SPEC: Spec = Spec {
    ns3: "TcpScalable",
    linux: &["scalable"],
    is_in_linux: true,
    doc: "Multiplicative increase and decrease: recovery time independent of the window.",
    source: "Kelly: Scalable TCP (CCR 2003)",
    departures: &[
        "`AIFactor` is 50, which makes up for delayed ACKs (Kelly and Linux: 100)",
        "the remainder of acknowledged segments is dropped when the window grows",
        "ssthresh uses the FlightSize (Linux: cwnd)",
    ],
    params: &[
        param!["AIFactor"; Kind::Uint { min: 1, max: u32::MAX as u64 } => "50";
            "Segments acknowledged per segment of growth, if the window is not smaller."],
        param!["MDFactor"; FRACTION => "0.125"; "Share of the window that a loss takes away."],
    ],
};

#[derive(Debug)]
pub struct Scalable {
    ai_factor: u32,
    md_factor: f64,
    /// Segments acknowledged towards the next segment of growth.
    acked: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    let a = &cx.attributes;
    match cx.stack {
        TcpStack::Ns3 => Scalable::new(a.u32("AIFactor"), a.f64("MDFactor")).into(),
        TcpStack::Linux => scalable_linux::new(cx).into(),
    }
}

impl Scalable {
    pub(super) fn new(ai_factor: u32, md_factor: f64) -> Scalable {
        Scalable { ai_factor, md_factor, acked: 0 }
    }

    fn congestion_avoidance(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let before = tcb.cwnd_segments();
        let per_segment = before.min(self.ai_factor);
        let mut window = before;
        // Credits earned at a larger window: worth one segment, however many they are.
        if self.acked >= per_segment {
            self.acked = 0;
            window += 1;
        }
        self.acked = self.acked.wrapping_add(segments_acked);
        if self.acked >= per_segment {
            window = window.wrapping_add(self.acked / per_segment);
            self.acked = 0;
        }
        if window != before {
            tcb.cwnd = window.wrapping_mul(tcb.segment_size);
        }
    }
}

impl CongestionControl for Scalable {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        let flight = bytes_in_flight / tcb.segment_size;
        let left = f64::from(flight) * (1.0 - self.md_factor);
        cpp::to_u32(left.max(2.0)).wrapping_mul(tcb.segment_size)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        self.congestion_avoidance(tcb, segments_acked);
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;

    #[test]
    fn growth_and_loss_are_shares_of_the_window() {
        for window in [200, 1000, 5000] {
            let mut d = Driver::new("TcpScalable", &[]).with_cwnd(window).with_ssthresh(window);
            assert_eq!(d.ssthresh_on_loss(), window * 7 / 8);
            d.acks(window, 1);
            assert_eq!(d.cwnd(), window + window / 50);
        }
    }
}
