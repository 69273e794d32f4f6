//! DCTCP that answers losses as NewReno does, and grows like it: RFC 8257 with its section 3.5, as the
//! simulator of ECN# has it (J. Zhang et al., CoNEXT 2019), and not as ns-3's `TcpDctcp`.
//!
//! On ECE, and after a timeout, ssthresh = max(cwnd (1 - alpha / 2), FlightSize / 2); on a loss that
//! duplicate ACKs tell, max(FlightSize / 2, 2 SMSS) (RFC 5681 equation 4).  Slow start adds a segment for
//! each ACK, congestion avoidance SMSS * SMSS / cwnd.  Alpha, and what the receiver does, are DCTCP's.

use super::dctcp::{self, Dctcp};
use super::{BuildContext, new_reno};
use crate::base::attributes::Spec;
use crate::base::time::Time;
use crate::host::tcp::control::{CaEvent, CongestionControl, EarlyAck};
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpDctcpReno",
    linux: &["dctcp_reno"],
    is_in_linux: false,
    doc: "DCTCP that halves on loss and grows as NewReno does.",
    source: "RFC 8257",
    departures: &[],
    params: dctcp::SPEC.params,
};

#[derive(Debug)]
pub struct DctcpReno {
    marks: Dctcp,
}

pub(super) fn new(cx: &BuildContext<'_>) -> DctcpReno {
    DctcpReno { marks: dctcp::of_ns3(cx) }
}

impl CongestionControl for DctcpReno {
    fn init(&mut self, tcb: &mut Tcb) {
        self.marks.init(tcb);
    }

    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        if tcb.cong_state == CongState::Recovery {
            return new_reno::half_of_flight(tcb, bytes_in_flight);
        }
        self.marks.ssthresh(tcb, bytes_in_flight).max(bytes_in_flight / 2)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        new_reno::congestion_avoidance(tcb, segments_acked);
    }

    fn pkts_acked(&mut self, tcb: &mut Tcb, segments_acked: u32, rtt: Time) {
        self.marks.pkts_acked(tcb, segments_acked, rtt);
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        self.marks.cwnd_event(tcb, event)
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS};
    use super::*;

    #[test]
    fn a_loss_halves_what_is_in_flight_and_a_mark_goes_by_alpha() {
        let given = [("DctcpAlphaOnInit", "0.2")];
        let mut d = Driver::new("TcpDctcpReno", &given).with_ssthresh(100).with_cwnd(100);
        let ssthresh = |d: &mut Driver| d.control.algorithm().ssthresh(&d.tcb, 80 * MSS);
        assert_eq!(ssthresh(&mut d), 90 * MSS);
        d.tcb.cong_state = CongState::Recovery;
        assert_eq!(ssthresh(&mut d), 40 * MSS);
    }

    #[test]
    fn it_grows_as_new_reno() {
        let mut d = Driver::new("TcpDctcpReno", &[]).with_cwnd(10).with_ssthresh(20);
        d.acks(10, 1);
        assert_eq!(d.cwnd(), 20);
        d.acks(20, 1);
        assert!(d.tcb.cwnd < 21 * MSS && d.tcb.cwnd > 20 * MSS + MSS * 9 / 10);
    }
}
