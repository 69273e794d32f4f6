//! Proportional rate reduction as in ns-3 3.43 and later (RFC 6937bis; ns-3's `TcpPrrRecovery`).

use crate::base::attributes::Spec;
use crate::base::cpp;
use crate::host::tcp::Tcb;
use crate::host::tcp::recovery::{AckKind, Recovery};

pub const SPEC: Spec = Spec {
    ns3: "TcpPrrRecovery",
    linux: &["prr"],
    doc: "Proportional rate reduction, conservative unless the ACK covers retransmitted data.",
    source: "RFC 9937, as implemented in ns-3 3.44",
    params: &[],
};

/// All quantities are unsigned 32-bit numbers that wrap, as in ns-3: on long fat pipes the product
/// `prr_delivered * ssthresh` does exceed 2^32, and the packets depend on it.
#[derive(Debug, Default)]
pub struct Prr {
    /// Bytes sent in this episode.
    prr_out: u32,
    /// Bytes delivered in this episode.
    prr_delivered: u32,
    /// FlightSize at the start of the episode.
    recover_fs: u32,
}

pub(super) fn new() -> Prr {
    Prr::default()
}

impl Recovery for Prr {
    fn enter(&mut self, tcb: &mut Tcb, _unacked_bytes: u32, delivered_bytes: u32) {
        *self = Prr { recover_fs: tcb.bytes_in_flight, ..Prr::default() };
        self.on_ack(tcb, delivered_bytes, AckKind::Duplicate);
    }

    fn on_ack(&mut self, tcb: &mut Tcb, mut delivered_bytes: u32, kind: AckKind) {
        // A duplicate ACK without SACK still says that one segment has left the network.
        if kind == AckKind::Duplicate && self.prr_delivered < self.recover_fs {
            delivered_bytes = delivered_bytes.wrapping_add(tcb.segment_size);
        }
        if delivered_bytes == 0 {
            return;
        }
        self.prr_delivered = self.prr_delivered.wrapping_add(delivered_bytes);
        let count = if tcb.bytes_in_flight > tcb.ssthresh {
            proportional(self.prr_delivered, tcb.ssthresh, self.recover_fs, self.prr_out)
        } else {
            // Conservative reduction bound; one segment more while recovery makes good progress.
            let bound = self.prr_delivered.wrapping_sub(self.prr_out).max(delivered_bytes) as i32;
            let more = if tcb.is_retrans_data_acked { tcb.segment_size as i32 } else { 0 };
            bound.wrapping_add(more).min(tcb.ssthresh.wrapping_sub(tcb.bytes_in_flight) as i32)
        };
        set_cwnd(tcb, count, self.prr_out);
    }

    fn on_sent(&mut self, bytes: u32) {
        self.prr_out = self.prr_out.wrapping_add(bytes);
    }
}

/// RFC 6937 section 3.1: sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out.
pub(super) fn proportional(delivered: u32, ssthresh: u32, recover_fs: u32, out: u32) -> i32 {
    let share = f64::from(delivered.wrapping_mul(ssthresh)) / f64::from(recover_fs);
    // The difference is one of doubles, made an int.  With nothing in flight at the start of the episode
    // it does not fit one.
    cpp::to_i32(share.ceil() - f64::from(out))
}

/// At least one segment goes out on entering the episode.
pub(super) fn set_cwnd(tcb: &mut Tcb, count: i32, prr_out: u32) {
    let least = if prr_out > 0 { 0 } else { tcb.segment_size as i32 };
    tcb.cwnd = tcb.bytes_in_flight.wrapping_add(count.max(least) as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_that_begins_with_nothing_in_flight_gives_no_share_to_send() {
        for (delivered, out) in [(1448, 0), (1448, 2896), (0, 0)] {
            assert_eq!(proportional(delivered, 2896, 0, out), i32::MIN);
        }
        assert_eq!(proportional(3_000_000, 1000, 1, 0), i32::MIN);
        assert_eq!(proportional(1448, 2896, 4344, 100), 866);
    }
}
