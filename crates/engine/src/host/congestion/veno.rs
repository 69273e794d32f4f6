//! Veno (Fu and Liew, JSAC 2003; ns-3's `TcpVeno`): Reno that uses Vegas's backlog to tell random loss from congestion.
//! Where the stack is Linux's, `veno_linux.rs`.
//!
//! N = cwnd - cwnd * baseRTT / minRTT as in Vegas.  A loss with N < beta is taken for random and
//! leaves 4/5 of the FlightSize, else half (section III.B); with N >= beta congestion avoidance
//! grows on every other ACK only (section III.A).

use super::vegas::target_window;
use super::{BuildContext, new_reno, veno_linux};
use crate::base::attributes::{Spec, U32, param};
use crate::base::cpp;
use crate::base::time::Time;
use crate::host::slow_start::slow_start;
use crate::host::tcp::control::{CongestionControl, Control, TcpStack};
use crate::host::tcp::{CongState, Tcb};

pub const SPEC: Spec = Spec {
    ns3: "TcpVeno",
    linux: &["veno"],
    is_in_linux: true,
    doc: "Reno that reduces less when the backlog says that a loss was random.",
    source: "Fu, Liew: TCP Veno (JSAC 2003)",
    departures: &[
        "the samples are the smoothed RTT",
        "counters restart with every ACK that grows the window, not with every round, so more \
         than two samples are seen only after ACKs that do not (recovery, or several per call). \
         On most paths it therefore grows as NewReno does",
    ],
    params: &[param!["Beta", "beta"; U32 => "3";
            "Backlog in segments from which on a loss counts as congestion."]],
};

#[derive(Debug)]
pub struct Veno {
    beta: u32,
    base_rtt: Time,
    min_rtt: Time,
    samples: u32,
    enabled: bool,
    /// Backlog N in segments.
    backlog: u32,
    /// The next ACK at a filled path grows the window.
    grow_next: bool,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    match cx.stack {
        TcpStack::Ns3 => of_ns3(cx).into(),
        TcpStack::Linux => veno_linux::new(cx).into(),
    }
}

fn of_ns3(cx: &BuildContext<'_>) -> Veno {
    Veno {
        beta: cx.attributes.u32("Beta"),
        base_rtt: Time::MAX,
        min_rtt: Time::MAX,
        samples: 0,
        enabled: true,
        backlog: 0,
        grow_next: true,
    }
}

impl Veno {
    fn congestion_avoidance(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let path_is_filled = self.backlog >= self.beta;
        if !path_is_filled || self.grow_next {
            new_reno::congestion_avoidance(tcb, segments_acked);
        }
        if path_is_filled {
            self.grow_next = !self.grow_next;
        }
    }
}

impl CongestionControl for Veno {
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        if self.backlog < self.beta {
            let most = cpp::to_u32(f64::from(bytes_in_flight) * (4.0 / 5.0));
            most.max(2 * tcb.segment_size)
        } else {
            new_reno::backed_off(tcb, bytes_in_flight)
        }
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let window = tcb.cwnd_segments();
        self.backlog = window.wrapping_sub(target_window(window, self.base_rtt, self.min_rtt));
        if !self.enabled {
            new_reno::grow(tcb, segments_acked);
            return;
        }
        if self.samples <= 2 {
            new_reno::grow(tcb, segments_acked);
        } else if tcb.cwnd < tcb.ssthresh {
            slow_start(tcb, segments_acked);
        } else {
            self.congestion_avoidance(tcb, segments_acked);
        }
        self.samples = 0;
        self.min_rtt = Time::MAX;
    }

    fn pkts_acked(&mut self, _tcb: &mut Tcb, _segments_acked: u32, rtt: Time) {
        if !rtt.is_zero() {
            self.min_rtt = self.min_rtt.min(rtt);
            self.base_rtt = self.base_rtt.min(rtt);
            self.samples += 1;
        }
    }

    fn set_state(&mut self, _tcb: &mut Tcb, state: CongState) {
        self.enabled = state == CongState::Open;
        if self.enabled {
            self.min_rtt = Time::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;

    fn with_backlog(segments: u64) -> Driver {
        let mut d = Driver::new("TcpVeno", &[]).with_cwnd(100).with_ssthresh(100);
        d.ack(1);
        d.set_cwnd(100);
        d.set_rtt(100 * 100 / (100 - segments));
        d.ack(1);
        d.set_cwnd(100);
        d
    }

    #[test]
    fn a_loss_with_a_short_queue_counts_as_random() {
        assert_eq!(with_backlog(1).ssthresh_on_loss(), 80);
        assert_eq!(with_backlog(10).ssthresh_on_loss(), 50);
    }

    #[test]
    fn a_filled_path_grows_on_every_other_ack() {
        let growth = |backlog| {
            let mut d = with_backlog(backlog);
            let before = d.tcb.cwnd;
            for _ in 0..100 {
                for _ in 0..2 {
                    d.control.algorithm().pkts_acked(&mut d.tcb, 0, d.rtt);
                }
                d.ack(1);
            }
            d.tcb.cwnd - before
        };
        let (free, filled) = (growth(1), growth(10));
        assert!((2 * filled).abs_diff(free) < free / 20, "{free} and {filled}");
    }
}
