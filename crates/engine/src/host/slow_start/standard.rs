//! A segment per ACK, however many it covers (RFC 5681 section 3.1 would allow min(N, SMSS) bytes; ns-3's
//! `TcpNewReno::SlowStart`).

use crate::host::tcp::Tcb;
use crate::host::tcp::slow_start::SlowStart;

#[derive(Debug)]
pub struct Standard;

impl SlowStart for Standard {
    fn on_ack(&mut self, tcb: &mut Tcb, segments_acked: u32) -> u32 {
        slow_start(tcb, segments_acked)
    }
}

/// Adds one segment for an ACK and counts one as used; returns the segments that are left.
pub fn slow_start(tcb: &mut Tcb, segments_acked: u32) -> u32 {
    if segments_acked == 0 {
        return 0;
    }
    tcb.cwnd = tcb.cwnd.wrapping_add(tcb.segment_size);
    segments_acked - 1
}
