//! Proportional rate reduction as in ns-3 until September 2024 (RFC 6937): the development version
//! that the published ccperf tables were made with.

use super::prr::{proportional, set_cwnd};
use crate::base::attributes::Spec;
use crate::host::tcp::Tcb;
use crate::host::tcp::profile::changes::Changes;
use crate::host::tcp::recovery::{AckKind, Episode, Recovery};

pub const SPEC: Spec = Spec {
    ns3: "PrrRfc6937",
    linux: &["prr_rfc6937"],
    is_in_linux: false,
    doc: "Proportional rate reduction of RFC 6937, as ns-3 had it until September 2024.",
    source: "RFC 6937",
    departures: &[],
    params: &[],
};

/// Unsigned 32-bit numbers that wrap, as in ns-3 (see `TcpPrrRecovery`).
#[derive(Debug, Default)]
pub struct PrrRfc6937 {
    prr_out: u32,
    prr_delivered: u32,
    recover_fs: u32,
}

pub(super) fn new(_changes: Changes) -> PrrRfc6937 {
    PrrRfc6937::default()
}

impl Recovery for PrrRfc6937 {
    fn enter(&mut self, tcb: &mut Tcb, episode: Episode) {
        *self = PrrRfc6937 { recover_fs: episode.unacked, ..PrrRfc6937::default() };
        self.on_ack(tcb, episode.delivered, AckKind::Advance);
    }

    fn on_ack(&mut self, tcb: &mut Tcb, delivered_bytes: u32, _kind: AckKind) {
        self.prr_delivered = self.prr_delivered.wrapping_add(delivered_bytes);
        let count = if tcb.bytes_in_flight > tcb.ssthresh {
            proportional(self.prr_delivered, tcb.ssthresh, self.recover_fs, self.prr_out)
        } else {
            // Slow start reduction bound if retransmitted data was acknowledged, else what arrived.
            let limit = if tcb.is_retrans_data_acked {
                let banked = self.prr_delivered.wrapping_sub(self.prr_out).max(delivered_bytes);
                (banked as i32).wrapping_add(tcb.segment_size as i32)
            } else {
                delivered_bytes as i32
            };
            limit.min(tcb.ssthresh.wrapping_sub(tcb.bytes_in_flight) as i32)
        };
        set_cwnd(tcb, count, self.prr_out);
    }

    fn on_sent(&mut self, bytes: u32) {
        self.prr_out = self.prr_out.wrapping_add(bytes);
    }
}
