//! A multiple of cwnd / sRTT, larger in early slow start (Linux's `tcp_update_pacing_rate`, ns-3's
//! `UpdatePacingRate`).

use super::Pacing;
use crate::base::cpp;
use crate::base::time::{Rate, Time};
use crate::host::tcp::tcb::Tcb;

/// The gap that was asked for last.
#[derive(Debug, Default)]
pub struct CwndOverSrtt {
    rate: Rate,
    bytes: u32,
    gap: Time,
}

impl Pacing for CwndOverSrtt {
    const BY_BURSTS: bool = false;

    #[inline(always)]
    fn is_active(&self, tcb: &Tcb) -> bool {
        let initial = tcb.initial_cwnd.wrapping_mul(tcb.segment_size);
        tcb.pacing && (tcb.pace_initial_window || tcb.high_tx_mark.0 > initial)
    }

    #[inline]
    fn update_rate(&mut self, tcb: &mut Tcb) {
        let factor = f64::from(tcb.pacing_ratio()) / 100.0;
        let bits = f64::from(tcb.cwnd.max(tcb.bytes_in_flight).wrapping_mul(8));
        let rate = Rate(cpp::to_u64(bits * factor / tcb.srtt.secs_f64()));
        tcb.pacing_rate = rate.min(tcb.max_pacing_rate);
    }

    fn gap(&mut self, tcb: &mut Tcb, bytes: u32, _ends: bool) -> Option<Time> {
        let rate = tcb.pacing_rate;
        if (self.rate, self.bytes) != (rate, bytes) {
            // An empty window, no round trip, or a product that wraps at 32 bits: ns-3 divides by it.
            let gap = if rate == Rate(0) { Time::ZERO } else { rate.tx_time(bytes) };
            *self = CwndOverSrtt { rate, bytes, gap };
        }
        Some(self.gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty window, one over a path without delay, whose rate no number holds, and one of 2^32 bits.
    #[test]
    fn a_rate_of_nothing_is_taken_and_makes_nobody_wait() {
        for (cwnd, srtt) in [(0, Time::from_ms(10)), (1000, Time::ZERO), (1 << 29, Time(1))] {
            let mut tcb = Tcb { cwnd, srtt, segment_size: 1000, ..Tcb::default() };
            let mut pacing = CwndOverSrtt::default();
            pacing.update_rate(&mut tcb);
            let gap = pacing.gap(&mut tcb, 1000, true);
            assert_eq!((tcb.pacing_rate, gap), (Rate(0), Some(Time::ZERO)));
        }
    }
}
