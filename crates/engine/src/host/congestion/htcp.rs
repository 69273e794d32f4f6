//! H-TCP (Leith and Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06; ns-3's `TcpHtcp`).  Where the stack is Linux's,
//! `htcp_linux.rs`.
//!
//! With Delta the time since the last congestion event (sections 2 and 3 of the draft):
//!
//! ```text
//! alpha = 1                                                        Delta <= Delta_L
//!         1 + 10 (Delta - Delta_L) + ((Delta - Delta_L) / 2)^2     otherwise
//! alpha = max(1, 2 (1 - beta) alpha)
//! beta  = RTT_min / RTT_max  if the throughput changed little since the last event, else 0.5
//! ```

use super::{BuildContext, htcp_linux};
use crate::base::attributes::{FRACTION, Kind, NOT_NEGATIVE, Spec, param};
use crate::base::cpp;
use crate::base::time::{Time, seconds};
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpHtcp",
    linux: &["htcp"],
    is_in_linux: true,
    doc: "Grows faster the longer the last congestion event is past.",
    source: "draft-leith-tcp-htcp-06",
    departures: &[
        "alpha enters congestion avoidance as *bytes* per ACK beside the segment per round of \
         NewReno, so its growth is alpha bytes per ACK faster, not alpha segments per round",
        "beta adapts only when the throughput rose, by an integer quotient (less than twice the \
         last one counts as a little)",
        "RTT_min / RTT_max has no bounds (the draft: 0.5 to 0.8) and is -1 if no RTT was sampled \
         since the last event",
    ],
    params: &[
        param!["DefaultBackoff"; FRACTION => "0.5";
            "What is left of the window after a loss when the throughput varies."],
        param!["ThroughputRatio"; NOT_NEGATIVE => "0.2";
            "Relative change of throughput up to which the backoff adapts to the RTTs."],
        param!["DeltaL"; Kind::Time => "1s";
            "Time after a congestion event during which growth is Reno's."],
    ],
};

#[derive(Debug)]
pub struct Htcp {
    default_backoff: f64,
    throughput_ratio: f64,
    delta_l: i64,
    alpha: f64,
    beta: f64,
    last_congestion: Time,
    /// Signed ns; ns-3's `Time::Max()` and `Time::Min()` while there is no sample.
    min_rtt: i64,
    max_rtt: i64,
    /// Bytes per second since the last congestion event, and before it.
    throughput: u32,
    last_throughput: u32,
    /// Bytes acknowledged in the Open state since the last congestion event.
    acked: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    match cx.stack {
        TcpStack::Ns3 => of_ns3(cx).into(),
        TcpStack::Linux => htcp_linux::new(cx).into(),
    }
}

fn of_ns3(cx: &BuildContext<'_>) -> Htcp {
    let a = &cx.attributes;
    Htcp {
        default_backoff: a.f64("DefaultBackoff"),
        throughput_ratio: a.f64("ThroughputRatio"),
        delta_l: a.time("DeltaL").ns(),
        alpha: 0.0,
        beta: 0.0,
        last_congestion: Time::ZERO,
        min_rtt: i64::MAX,
        max_rtt: i64::MIN,
        throughput: 0,
        last_throughput: 0,
        acked: 0,
    }
}

impl Htcp {
    fn update_alpha(&mut self, now: Time) {
        let past = now.ns() - self.last_congestion.ns() - self.delta_l;
        let base = if past <= 0 {
            1.0
        } else {
            let s = seconds(past);
            1.0 + 10.0 * s + 0.25 * (s * s)
        };
        let alpha = 2.0 * (1.0 - self.beta) * base;
        self.alpha = if alpha < 1.0 { 1.0 } else { alpha };
    }

    fn update_beta(&mut self) {
        self.beta = self.default_backoff;
        if self.throughput > self.last_throughput && self.last_throughput > 0 {
            let rise = (self.throughput - self.last_throughput) / self.last_throughput;
            if f64::from(rise) <= self.throughput_ratio {
                self.beta = self.min_rtt as f64 / self.max_rtt as f64;
            }
        }
    }
}

impl CongestionControl for Htcp {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        self.last_congestion = tcb.now;
        self.update_beta();
        self.update_alpha(tcb.now);
        self.min_rtt = i64::MAX;
        self.max_rtt = i64::MIN;
        self.last_throughput = self.throughput;
        self.throughput = 0;
        self.acked = 0;
        let left = cpp::to_u32(f64::from(bytes_in_flight) * self.beta);
        left.max(2 * tcb.segment_size)
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let alpha = self.alpha;
        if segments_acked > 0 {
            let product = f64::from(tcb.segment_size.wrapping_mul(tcb.segment_size));
            let cwnd = f64::from(tcb.cwnd);
            let adder = (product + cwnd * alpha) / cwnd;
            tcb.cwnd = tcb.cwnd.wrapping_add(cpp::to_u32(adder.max(1.0)));
        }
    }

    fn pkts_acked(&mut self, tcb: &mut Tcb, segments_acked: u32, rtt: Time) {
        if tcb.cong_state == CongState::Open {
            let bytes = segments_acked.wrapping_mul(tcb.segment_size);
            self.acked = self.acked.wrapping_add(bytes);
        }
        let elapsed = tcb.now.secs_f64() - self.last_congestion.secs_f64();
        self.throughput = cpp::to_u32(f64::from(self.acked) / elapsed);
        self.update_alpha(tcb.now);
        self.min_rtt = self.min_rtt.min(rtt.ns());
        self.max_rtt = self.max_rtt.max(rtt.ns());
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use crate::base::time::Time;

    #[test]
    fn alpha_grows_with_the_time_since_the_last_congestion() {
        let mut d = Driver::new("TcpHtcp", &[]).with_cwnd(100).with_ssthresh(100);
        d.fast_recovery();
        for (seconds, alpha) in [(0.5, 1.0), (1.0, 1.0), (2.0, 11.25), (5.0, 45.0)] {
            d.tcb.now = Time::from_secs(1) + Time::from_secs_f64(seconds);
            let cwnd = 50_000.0;
            d.set_cwnd(50);
            d.ack(1);
            // alpha is in bytes per ACK beside NewReno's segment per window.
            let wanted = (1_000_000.0 + cwnd * alpha) / cwnd;
            assert_eq!(d.tcb.cwnd - 50_000, wanted as u32, "after {seconds} s");
        }
    }

    #[test]
    fn the_backoff_adapts_to_the_rtts_when_the_throughput_is_steady() {
        let mut d = Driver::new("TcpHtcp", &[]).with_cwnd(100).with_ssthresh(100);
        assert_eq!(d.ssthresh_on_loss(), 50);
        for (rtt, wanted) in [(100, 50), (125, 80)] {
            d.set_cwnd(100);
            d.set_rtt(100);
            d.ack(1);
            d.set_rtt(rtt);
            // Each period brings a little more than the one before.
            let acks = if rtt == 100 { 500 } else { 550 };
            for _ in 0..acks {
                d.set_cwnd(100);
                d.ack(1);
            }
            d.advance(Time::from_secs(1));
            d.ack(1);
            d.set_cwnd(100);
            assert_eq!(d.ssthresh_on_loss(), wanted);
        }
    }
}
