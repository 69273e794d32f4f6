//! A segment per segment acknowledged, up to ssthresh (RFC 3465 with L = infinity, as in Linux); what is left is for
//! congestion avoidance.

use crate::host::tcp::Tcb;
use crate::host::tcp::slow_start::SlowStart;

#[derive(Debug)]
pub struct Counted;

impl SlowStart for Counted {
    fn on_ack(&mut self, tcb: &mut Tcb, segments_acked: u32) -> u32 {
        counted(tcb, segments_acked)
    }
}

/// A window that does not limit does not grow: more than half of it was in flight (RFC 7661's problem; Linux's test).
pub fn counted(tcb: &mut Tcb, segments_acked: u32) -> u32 {
    let is_half_used = tcb.bytes_in_flight + segments_acked * tcb.segment_size > tcb.cwnd / 2;
    let is_used = if tcb.most_outstanding > 0 { tcb.may_grow() } else { is_half_used };
    if !tcb.is_cwnd_limited && !is_used {
        return 0;
    }
    let size = tcb.segment_size.max(1);
    let room = (tcb.ssthresh - tcb.cwnd).div_ceil(size);
    let grown = segments_acked.min(room);
    tcb.cwnd = tcb.cwnd.saturating_add(grown * size).min(tcb.ssthresh);
    segments_acked - grown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_segment_acknowledged_counts_and_the_rest_beyond_ssthresh_is_handed_on() {
        let mut tcb = Tcb {
            cwnd: 10_000,
            ssthresh: 13_000,
            segment_size: 1000,
            is_cwnd_limited: true,
            ..Tcb::default()
        };
        assert_eq!((counted(&mut tcb, 2), tcb.cwnd), (0, 12_000));
        assert_eq!((counted(&mut tcb, 4), tcb.cwnd), (3, 13_000));
    }

    #[test]
    fn a_window_that_is_not_half_used_stays() {
        let mut tcb = Tcb { cwnd: 10_000, ssthresh: 1 << 30, segment_size: 1000, ..Tcb::default() };
        assert_eq!((counted(&mut tcb, 2), tcb.cwnd), (0, 10_000));
        tcb.bytes_in_flight = 4_000;
        assert_eq!((counted(&mut tcb, 2), tcb.cwnd), (0, 12_000));
    }
}
