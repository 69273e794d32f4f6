//! Reno as Linux counts it (RFC 5681; Linux's `tcp_cong.c`; ns-3's `TcpLinuxReno`).
//!
//! Slow start (section 3.1) adds every segment acknowledged, up to ssthresh.  Congestion avoidance
//! counts acknowledged segments and adds one segment for each cwnd of them, so that the window
//! stays a whole number of segments and delayed ACKs do not slow it down (RFC 3465).  On loss,
//! ssthresh = max(cwnd / 2, 2 SMSS).

use super::BuildContext;
use super::betas::{BETA_ECN, BETA_LOSS, Betas};
use crate::base::attributes::Spec;
use crate::host::slow_start::counted;
use crate::host::tcp::Tcb;
use crate::host::tcp::control::{CongestionControl, TcpStack};

pub const SPEC: Spec = Spec {
    ns3: "TcpLinuxReno",
    linux: &["reno"],
    is_in_linux: true,
    doc: "AIMD as Linux counts it: by segments acknowledged, halving cwnd on loss.",
    source: "RFC 5681, RFC 3465",
    departures: &[
        "what an ACK acknowledges beyond ssthresh in slow start is not carried into congestion \
         avoidance (Linux does)",
        "ssthresh is half of cwnd, not of the FlightSize (RFC 5681 equation 4; Linux, too, uses cwnd)",
    ],
    params: &[BETA_LOSS, BETA_ECN],
};

/// The growth alone, which other algorithms have, too.
#[derive(Debug)]
pub struct LinuxReno {
    /// Segments acknowledged towards the next segment of growth (Linux's `snd_cwnd_cnt`).
    pub(super) acked: u32,
    /// Grow in congestion avoidance only while cwnd is what limits the flow (RFC 7661's problem).
    only_if_cwnd_limited: bool,
}

/// The algorithm: this growth, and how far it backs off.
#[derive(Debug)]
pub struct Whole {
    reno: LinuxReno,
    betas: Betas,
    stack: TcpStack,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Whole {
    let betas = Betas::new(&cx.attributes);
    Whole { reno: LinuxReno::new(true), betas, stack: cx.stack }
}

impl CongestionControl for Whole {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        let ssthresh = self.betas.ssthresh(tcb, tcb.cwnd);
        if self.stack == TcpStack::Ns3 {
            return ssthresh;
        }
        ssthresh / tcb.segment_size * tcb.segment_size // as it counts in them
    }

    fn forget_credits(&mut self) {
        if self.stack == TcpStack::Linux {
            self.reno.forget();
        }
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        self.reno.cong_avoid(tcb, segments_acked);
    }
}

impl LinuxReno {
    pub(super) fn new(only_if_cwnd_limited: bool) -> LinuxReno {
        LinuxReno { acked: 0, only_if_cwnd_limited }
    }

    /// The window is reduced.
    pub(super) fn forget(&mut self) {
        self.acked = 0;
    }

    fn congestion_avoidance(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if self.only_if_cwnd_limited && !tcb.is_cwnd_limited {
            return;
        }
        let window = tcb.cwnd_segments().max(1);
        grow_by_credits(tcb, &mut self.acked, segments_acked, window);
    }
}

/// One segment for each `count` acknowledged; `credits` have been before.
pub(super) fn grow_by_credits(tcb: &mut Tcb, credits: &mut u32, segments_acked: u32, count: u32) {
    // Credits earned at a larger count: worth one segment, however many they are.
    if *credits >= count {
        *credits = 0;
        tcb.cwnd = tcb.cwnd.wrapping_add(tcb.segment_size);
    }
    *credits = credits.wrapping_add(segments_acked);
    let grown = *credits / count;
    *credits -= grown * count;
    tcb.cwnd = tcb.cwnd.wrapping_add(grown.wrapping_mul(tcb.segment_size));
}

/// Of Linux's windows, in segments.
const LEAST_WINDOW: u32 = 2;

/// So many segments in bytes, but two at least.
pub(super) fn window_of(segments: u32, tcb: &Tcb) -> u32 {
    segments.max(LEAST_WINDOW) * tcb.segment_size
}

/// What a loss leaves (RFC 5681 equation 4, of cwnd), in bytes.
pub(super) fn half(tcb: &Tcb) -> u32 {
    window_of(tcb.cwnd_segments() / 2, tcb)
}

/// An ACK in slow start has done its work there; what is left of it is lost.
pub(super) fn is_slow_start(tcb: &mut Tcb, segments_acked: u32) -> bool {
    let is_starting = tcb.cwnd < tcb.ssthresh;
    if is_starting {
        counted(tcb, segments_acked);
    }
    is_starting
}

/// What of an ACK is for congestion avoidance; none if slow start takes all of it.
pub(super) fn beyond_slow_start(tcb: &mut Tcb, segments_acked: u32) -> Option<u32> {
    let is_starting = tcb.cwnd < tcb.ssthresh;
    let left = if is_starting { counted(tcb, segments_acked) } else { segments_acked };
    (left > 0).then_some(left)
}

impl LinuxReno {
    /// One segment for each `count` acknowledged.
    pub(super) fn grow_by_count(&mut self, tcb: &mut Tcb, segments_acked: u32, count: u32) {
        grow_by_credits(tcb, &mut self.acked, segments_acked, count);
    }

    /// Both phases as Linux has them, where no other slow start goes before.
    pub(super) fn grow(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if let Some(left) = beyond_slow_start(tcb, segments_acked) {
            self.congestion_avoidance(tcb, left);
        }
    }

    /// Both phases as ns-3 has them: an ACK is of one of them.
    pub(super) fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if tcb.cwnd < tcb.ssthresh {
            let acked_bytes = segments_acked.wrapping_mul(tcb.segment_size);
            if segments_acked > 0 {
                tcb.cwnd = tcb.cwnd.wrapping_add(acked_bytes).min(tcb.ssthresh);
            }
        } else {
            self.congestion_avoidance(tcb, segments_acked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use super::TcpStack;
    use crate::host::tcp::CongState;

    #[test]
    fn slow_start_doubles_per_round_and_stops_at_ssthresh() {
        let mut d = Driver::new("TcpLinuxReno", &[]).with_cwnd(10).with_ssthresh(35);
        d.round();
        assert_eq!(d.cwnd(), 20);
        d.round();
        assert_eq!(d.cwnd(), 35);
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_per_round_with_delayed_acks_too() {
        for segments_per_ack in [1, 2, 5] {
            let mut d = Driver::new("TcpLinuxReno", &[]).with_cwnd(20).with_ssthresh(20);
            d.acks(20 / segments_per_ack, segments_per_ack);
            assert_eq!(d.cwnd(), 21, "{segments_per_ack} segments per ACK");
        }
    }

    /// Linux counts them in the stack (`snd_cwnd_cnt`), ns-3 in the algorithm.
    #[test]
    fn a_reduction_forgets_the_credits_in_linux_alone() {
        // Nine of ten are not enough if none is left from before, one is if 19 are.
        for (stack, acks, wanted) in [(TcpStack::Linux, 9, 10), (TcpStack::Ns3, 1, 11)] {
            for cc in ["TcpLinuxReno", "TcpNewReno"] {
                if (stack, cc) == (TcpStack::Ns3, "TcpNewReno") {
                    continue; // it counts bytes
                }
                let mut d = Driver::on(stack, cc, &[]).with_cwnd(20).with_ssthresh(20);
                d.acks(19, 1);
                assert_eq!(d.ssthresh_on_loss(), 10);
                d.set_cwnd(10);
                d = d.with_ssthresh(10);
                d.acks(acks, 1);
                assert_eq!(d.cwnd(), wanted, "{cc}");
            }
        }
    }

    /// Where it reduces no window, too: the count is the stack's.
    #[test]
    fn a_timeout_forgets_the_credits_of_all_that_linux_has() {
        let after_a_timeout = |d: &mut Driver| {
            d.state(CongState::Loss);
            d.state(CongState::Open);
            d.set_cwnd(20);
        };
        let all = ["Bic", "HighSpeed", "Htcp", "Scalable", "Veno", "Yeah", "WestwoodPlus"];
        for cc in all.map(|name| format!("Tcp{name}")) {
            let mut d = Driver::on(TcpStack::Linux, &cc, &[]).with_ssthresh(2);
            after_a_timeout(&mut d);
            let mut acks = 0;
            while d.cwnd() == 20 {
                d.ack(1);
                acks += 1;
            }
            after_a_timeout(&mut d);
            d.acks(acks - 1, 1);
            assert_eq!(d.cwnd(), 20, "{cc}");
            after_a_timeout(&mut d);
            d.acks(acks - 1, 1);
            assert_eq!(d.cwnd(), 20, "{cc} remembers what was earned before");
        }
    }

    #[test]
    fn no_growth_while_the_application_limits_the_flow() {
        let mut d = Driver::new("TcpLinuxReno", &[]).with_cwnd(20).with_ssthresh(20);
        d.tcb.is_cwnd_limited = false;
        d.acks(100, 1);
        assert_eq!(d.cwnd(), 20);
    }

    #[test]
    fn loss_halves_cwnd_with_a_floor_of_two_segments() {
        let mut d = Driver::new("TcpLinuxReno", &[]).with_cwnd(20).with_ssthresh(20);
        assert_eq!(d.ssthresh_on_loss(), 10);
        d.set_cwnd(3);
        assert_eq!(d.ssthresh_on_loss(), 2);
    }
}
