//! Hybla (Caini and Firrincieli, 2004; ns-3's `TcpHybla`): a flow over a long path grows as one with the reference RTT
//! would.  Where the stack is Linux's, `hybla_linux.rs`.
//!
//! With rho = max(RTT_min / RTT_0, 1) (section 3.1 of the paper), per ACK:
//!
//! ```text
//! slow start             cwnd += 2^rho - 1
//! congestion avoidance   cwnd += rho^2 / cwnd      (segments)
//! ```

use super::{BuildContext, hybla_linux, new_reno};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::cpp;
use crate::base::math;
use crate::base::time::Time;
use crate::host::tcp::Tcb;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};

pub const SPEC: Spec = Spec {
    ns3: "TcpHybla",
    linux: &["hybla"],
    is_in_linux: true,
    doc: "Removes the disadvantage of long round-trip times: grows as at a reference RTT.",
    source: "Caini, Firrincieli: TCP Hybla (2004)",
    departures: &[
        "rho is evaluated in whole milliseconds, when the smoothed RTT equals the minimum",
        "the initial window and ssthresh are not multiplied by rho (Linux scales cwnd), and an \
         ACK counts once in slow start however many segments it covers",
    ],
    params: &[param!["RRTT", "rtt0"; Kind::Time => "50ms"; "Reference RTT."]],
};

#[derive(Debug)]
pub struct Hybla {
    reference_rtt: Time,
    rho: f64,
    /// Fraction of a segment that congestion avoidance has earned.
    earned: f64,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    match cx.stack {
        TcpStack::Ns3 => of_ns3(cx).into(),
        TcpStack::Linux => hybla_linux::new(cx).into(),
    }
}

fn of_ns3(cx: &BuildContext<'_>) -> Hybla {
    Hybla { reference_rtt: cx.attributes.time("RRTT"), rho: 1.0, earned: 0.0 }
}

impl Hybla {
    fn slow_start(&self, tcb: &mut Tcb) {
        let increment = (math::pow(2.0, self.rho) - 1.0) * f64::from(tcb.segment_size);
        tcb.cwnd = tcb.cwnd.wrapping_add(cpp::to_u32(increment)).min(tcb.ssthresh);
    }

    fn congestion_avoidance(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let per_segment = self.rho * self.rho / f64::from(tcb.cwnd_segments());
        for _ in 0..segments_acked {
            self.earned += per_segment; // one by one: rounding is part of ns-3's result
        }
        if self.earned >= 1.0 {
            let whole = cpp::to_u32(self.earned);
            self.earned -= f64::from(whole);
            tcb.cwnd = tcb.cwnd.wrapping_add(whole.wrapping_mul(tcb.segment_size));
        }
    }
}

impl CongestionControl for Hybla {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        new_reno::backed_off(tcb, bytes_in_flight)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let mut left = segments_acked;
        if tcb.cwnd < tcb.ssthresh && left > 0 {
            self.slow_start(tcb);
            left -= 1;
        }
        if tcb.cwnd >= tcb.ssthresh {
            self.congestion_avoidance(tcb, left);
        }
    }

    fn pkts_acked(&mut self, tcb: &mut Tcb, _segments_acked: u32, rtt: Time) {
        if rtt == tcb.min_rtt {
            let rho = tcb.min_rtt.ms() as f64 / self.reference_rtt.ms() as f64;
            self.rho = rho.max(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;

    #[test]
    fn slow_start_adds_two_to_the_rho_minus_one_per_ack() {
        let mut d = Driver::new("TcpHybla", &[("RRTT", "25ms")]).with_cwnd(10);
        d.ack(1); // rho = 100 ms / 25 ms
        assert_eq!(d.cwnd(), 10 + 15);
    }

    #[test]
    fn congestion_avoidance_adds_rho_squared_segments_per_round() {
        for (reference, rho) in [("100ms", 1), ("50ms", 2), ("25ms", 4)] {
            let mut d = Driver::new("TcpHybla", &[("RRTT", reference)]);
            d = d.with_cwnd(1000).with_ssthresh(1000);
            d.acks(1000, 1);
            let grown = d.cwnd() - 1000;
            assert!((rho * rho - 1..=rho * rho).contains(&grown), "{reference}: {grown}");
        }
    }
}
