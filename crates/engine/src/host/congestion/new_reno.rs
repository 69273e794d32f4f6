//! NewReno (RFC 5681 sections 3.1 and 3.2; ns-3's `TcpNewReno`), and the pieces of it that other
//! algorithms build on.

use super::betas::{BETA_ECN, BETA_LOSS, Betas};
use super::{BuildContext, linux_reno};
use crate::base::attributes::Spec;
use crate::base::cpp;
use crate::host::slow_start::slow_start;
use crate::host::tcp::Tcb;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};

pub const SPEC: Spec = Spec {
    ns3: "TcpNewReno",
    linux: &["newreno"],
    is_in_linux: false,
    doc: "AIMD: slow start, then one segment per round trip; halves on loss.",
    source: "RFC 5681, RFC 6582",
    departures: &[],
    params: &[BETA_LOSS, BETA_ECN],
};

#[derive(Debug)]
pub struct NewReno {
    betas: Betas,
}

/// Linux has one Reno.
pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    match cx.stack {
        TcpStack::Ns3 => NewReno { betas: Betas::new(&cx.attributes) }.into(),
        TcpStack::Linux => linux_reno::new(cx).into(),
    }
}

impl CongestionControl for NewReno {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        self.betas.ssthresh(tcb, bytes_in_flight)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        congestion_avoidance(tcb, segments_acked);
    }
}

/// RFC 5681 equation 4: ssthresh = max(FlightSize / 2, 2 SMSS).
pub(super) fn half_of_flight(tcb: &Tcb, bytes_in_flight: u32) -> u32 {
    (2 * tcb.segment_size).max(bytes_in_flight / 2)
}

/// The same, or 0.7 of it after a mark with ABE: what the algorithms have that ns-3 derives from NewReno.
pub(super) fn backed_off(tcb: &Tcb, bytes_in_flight: u32) -> u32 {
    Betas::DEFAULT.ssthresh(tcb, bytes_in_flight)
}

/// For algorithms that are NewReno some of the time: slow start below ssthresh, congestion avoidance at or above it, for
/// the segments that are left.
pub(super) fn grow(tcb: &mut Tcb, segments_acked: u32) {
    let mut left = segments_acked;
    if tcb.cwnd < tcb.ssthresh {
        left = slow_start(tcb, left);
    }
    if tcb.cwnd >= tcb.ssthresh {
        congestion_avoidance(tcb, left);
    }
}

/// RFC 5681 equation 3: cwnd += SMSS * SMSS / cwnd per ACK, at least one byte.  The product is one
/// of 32-bit numbers, as in ns-3; so is the share, of which nothing is left of an empty window.
pub(super) fn congestion_avoidance(tcb: &mut Tcb, segments_acked: u32) {
    if segments_acked > 0 {
        let product = tcb.segment_size.wrapping_mul(tcb.segment_size);
        let adder = f64::from(product) / f64::from(tcb.cwnd);
        tcb.cwnd = tcb.cwnd.wrapping_add(cpp::to_u32(adder.max(1.0)));
    }
}

/// Spends counted ACKs on growth, one segment for every cwnd of them (a/cwnd per ACK, kept as an
/// integer), and sets the window to whole segments if it grew.
pub(super) fn spend_acks(tcb: &mut Tcb, acks: &mut u32) {
    let before = tcb.cwnd_segments();
    let mut segments = before;
    while *acks >= segments {
        *acks -= segments;
        segments += 1;
    }
    if segments != before {
        tcb.cwnd = segments.wrapping_mul(tcb.segment_size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DCTCP's ssthresh may be 0, from which a window grows only after a timeout.
    #[test]
    fn an_empty_window_stays_empty() {
        let mut tcb = Tcb { cwnd: 0, ssthresh: 0, segment_size: 1448, ..Tcb::default() };
        grow(&mut tcb, 1);
        assert_eq!(tcb.cwnd, 0);
    }
}
