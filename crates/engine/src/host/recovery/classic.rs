//! Fast recovery at ssthresh (RFC 6582 as ns-3's `TcpClassicRecovery` has it: the window inflation
//! by duplicate ACKs shows in a trace variable only, the send window ignores it).

use crate::base::attributes::Spec;
use crate::host::tcp::Tcb;
use crate::host::tcp::profile::changes::Changes;
use crate::host::tcp::recovery::{AckKind, Episode, Recovery};

pub const SPEC: Spec = Spec {
    ns3: "TcpClassicRecovery",
    linux: &["classic"],
    is_in_linux: false,
    doc: "NewReno's fast recovery: cwnd = ssthresh for the whole episode.",
    source: "RFC 6582",
    departures: &[],
    params: &[],
};

#[derive(Debug)]
pub struct Classic;

pub(super) fn new(_changes: Changes) -> Classic {
    Classic
}

impl Recovery for Classic {
    fn enter(&mut self, tcb: &mut Tcb, _episode: Episode) {
        tcb.cwnd = tcb.ssthresh;
    }

    fn on_ack(&mut self, _tcb: &mut Tcb, _delivered_bytes: u32, _kind: AckKind) {}
}
