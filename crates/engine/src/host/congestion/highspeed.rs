//! HighSpeed TCP (RFC 3649; ns-3's `TcpHighSpeed`): AIMD with parameters that depend on the window.  Where the stack
//! is Linux's, `highspeed_linux.rs`.
//!
//! From the response function of section 5, w = 0.12 / p^0.835, follow
//!
//! ```text
//! b(w) = (0.1 - 0.5) (log w - log 38) / (log 83000 - log 38) + 0.5
//! a(w) = w^2 p(w) 2 b(w) / (2 - b(w)),     p(w) = 0.078 / w^1.2
//! ```
//!
//! Per window acknowledged cwnd += a(w); on loss ssthresh = (1 - b(w)) FlightSize; both from the
//! table of appendix B.

use super::highspeed_table::TABLE;
use super::{BuildContext, highspeed_linux, new_reno};
use crate::base::attributes::Spec;
use crate::base::cpp;
use crate::host::tcp::Tcb;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};

pub const SPEC: Spec = Spec {
    ns3: "TcpHighSpeed",
    linux: &["highspeed"],
    is_in_linux: true,
    doc: "AIMD that grows faster and reduces less the larger the window is.",
    source: "RFC 3649",
    departures: &[
        "b is the table's, rounded to two digits",
        "a stays at 73 above 94717 segments",
        "acknowledged segments are counted, times a, so that delayed ACKs do not slow it down",
    ],
    params: &[],
};

/// a(w) and b(w).
fn parameters(window: u32) -> (u32, f64) {
    let row = TABLE.partition_point(|&(largest, _)| largest < window).min(TABLE.len() - 1);
    (row as u32 + 1, TABLE[row].1)
}

#[derive(Debug)]
pub struct HighSpeed {
    /// Segments acknowledged, times a(w), towards the next segment of growth.
    acked: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    match cx.stack {
        TcpStack::Ns3 => HighSpeed { acked: 0 }.into(),
        TcpStack::Linux => highspeed_linux::new().into(),
    }
}

impl CongestionControl for HighSpeed {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        let flight = bytes_in_flight / tcb.segment_size;
        let left = f64::from(flight) * (1.0 - parameters(flight).1);
        cpp::to_u32(left.max(2.0)).wrapping_mul(tcb.segment_size)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let (a, _) = parameters(tcb.cwnd_segments());
        self.acked = self.acked.wrapping_add(segments_acked.wrapping_mul(a));
        new_reno::spend_acks(tcb, &mut self.acked);
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;

    #[test]
    fn a_round_adds_a_and_a_loss_takes_b() {
        for (window, a, left) in [(38, 1, 19), (39, 2, 21), (1000, 8, 669), (100_000, 73, 91_000)] {
            let mut d = Driver::new("TcpHighSpeed", &[]).with_cwnd(window).with_ssthresh(window);
            assert_eq!(d.ssthresh_on_loss(), left);
            d.acks(window, 1);
            let grown = d.cwnd() - window;
            assert!(grown + 1 >= a && grown <= a + 1, "from {window}: {grown}");
        }
    }
}
