//! Proportional rate reduction as in ns-3 3.43 and later (RFC 6937bis; ns-3's `TcpPrrRecovery`), and with
//! the corrections that made it RFC 9937's.

use crate::base::attributes::Spec;
use crate::base::cpp;
use crate::host::tcp::Tcb;
use crate::host::tcp::profile::changes::{Change, Changes};
use crate::host::tcp::recovery::{AckKind, Episode, Recovery};

pub const SPEC: Spec = Spec {
    ns3: "TcpPrrRecovery",
    linux: &["prr"],
    is_in_linux: true,
    doc: "Proportional rate reduction, conservative unless the ACK covers retransmitted data.",
    source: "RFC 9937, as implemented in ns-3 3.44",
    departures: &[],
    params: &[],
};

#[derive(Debug)]
pub struct Prr {
    /// [`Change::PrrArithmetic`], [`Change::PrrDelivered`] and [`Change::PrrRecoverFs`] correct it.
    changes: Changes,
    /// Bytes sent in this episode.
    prr_out: u32,
    /// Bytes delivered in this episode.
    prr_delivered: u32,
    /// FlightSize at the start of the episode.
    recover_fs: u32,
    /// The peer sends SACK blocks.
    has_sack: bool,
    /// What it counts in: bytes, or segments where cwnd is what is shared.
    unit: u32,
}

pub(super) fn new(changes: Changes) -> Prr {
    Prr { changes, prr_out: 0, prr_delivered: 0, recover_fs: 0, has_sack: false, unit: 1 }
}

impl Recovery for Prr {
    fn enter(&mut self, tcb: &mut Tcb, episode: Episode) {
        let recover_fs = match episode.window {
            Some(window) => window,
            None if self.changes.has(Change::PrrRecoverFs) => recover_fs(episode, tcb.segment_size),
            None => tcb.bytes_in_flight,
        };
        let unit = if episode.window.is_some() { tcb.segment_size } else { 1 };
        *self = Prr { recover_fs, has_sack: episode.has_sack, unit, ..new(self.changes) };
        self.on_ack(tcb, episode.delivered, AckKind::Duplicate);
    }

    fn on_ack(&mut self, tcb: &mut Tcb, mut delivered_bytes: u32, kind: AckKind) {
        // A duplicate ACK without SACK still says that one segment has left the network.
        let is_all_said = self.has_sack && self.changes.has(Change::PrrDelivered);
        if kind == AckKind::Duplicate && !is_all_said && self.prr_delivered < self.recover_fs {
            delivered_bytes = delivered_bytes.wrapping_add(tcb.segment_size);
        }
        if delivered_bytes == 0 {
            return;
        }
        self.prr_delivered = self.prr_delivered.wrapping_add(delivered_bytes);
        if self.changes.has(Change::PrrArithmetic) {
            let least = if self.prr_out > 0 { 0 } else { i64::from(tcb.segment_size) };
            let count = self.may_send(tcb, delivered_bytes).max(least);
            tcb.cwnd = tcb.bytes_in_flight.wrapping_add(count as u32);
        } else {
            set_cwnd(tcb, self.may_send_in_32_bits(tcb, delivered_bytes), self.prr_out);
        }
    }

    fn on_sent(&mut self, bytes: u32) {
        self.prr_out = self.prr_out.wrapping_add(bytes);
    }
}

impl Prr {
    /// sndcnt of RFC 9937 section 6.2, in bytes: in proportion while the pipe is above ssthresh, then
    /// bounded by what is delivered, and one segment more while recovery makes good progress.
    fn may_send(&self, tcb: &Tcb, delivered_bytes: u32) -> i64 {
        let sent = i64::from(self.prr_out);
        let ssthresh = tcb.ssthresh - tcb.ssthresh % self.unit;
        if tcb.bytes_in_flight > ssthresh {
            let product = u64::from(self.prr_delivered) * u64::from(ssthresh);
            let share = product.div_ceil(u64::from(self.recover_fs.max(1)));
            return share.next_multiple_of(u64::from(self.unit)) as i64 - sent;
        }
        let bound = (i64::from(self.prr_delivered) - sent).max(i64::from(delivered_bytes));
        let more = if tcb.is_retrans_data_acked { i64::from(tcb.segment_size) } else { 0 };
        (bound + more).min(i64::from(ssthresh) - i64::from(tcb.bytes_in_flight))
    }

    /// The same in unsigned 32-bit numbers that wrap: on long fat pipes the product
    /// `prr_delivered * ssthresh` does exceed 2^32, and the packets depend on it.
    fn may_send_in_32_bits(&self, tcb: &Tcb, delivered_bytes: u32) -> i32 {
        if tcb.bytes_in_flight > tcb.ssthresh {
            return proportional(self.prr_delivered, tcb.ssthresh, self.recover_fs, self.prr_out);
        }
        let bound = self.prr_delivered.wrapping_sub(self.prr_out).max(delivered_bytes) as i32;
        let more = if tcb.is_retrans_data_acked { tcb.segment_size as i32 } else { 0 };
        bound.wrapping_add(more).min(tcb.ssthresh.wrapping_sub(tcb.bytes_in_flight) as i32)
    }
}

/// RFC 9937 section 6.1: what is unacknowledged, without what was SACKed before this ACK; at least a
/// segment.
fn recover_fs(episode: Episode, segment_size: u32) -> u32 {
    if !episode.has_sack {
        return episode.unacked;
    }
    let [unacked, sacked, delivered] =
        [episode.unacked, episode.sacked, episode.delivered].map(i64::from);
    (unacked - sacked + delivered).max(i64::from(segment_size)) as u32
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

    /// RFC 9937 section 6.2: a share is sent only while the pipe is above ssthresh; at ssthresh nothing is left to send.
    #[test]
    fn at_ssthresh_a_pipe_keeps_its_size() {
        let [size, ssthresh] = [1000, 10_000];
        for (in_flight, wanted) in [(11_000, 12_000), (10_000, 10_000), (9_000, 10_000)] {
            let changes = Changes::NONE.with(Change::PrrArithmetic);
            let mut prr =
                Prr { prr_delivered: 8000, prr_out: 5000, recover_fs: 20_000, ..new(changes) };
            let mut tcb =
                Tcb { segment_size: size, ssthresh, bytes_in_flight: in_flight, ..Tcb::default() };
            prr.on_ack(&mut tcb, 4000, AckKind::Advance);
            assert_eq!(tcb.cwnd, wanted, "{in_flight}");
        }
    }

    #[test]
    fn an_episode_that_begins_with_nothing_in_flight_gives_no_share_to_send() {
        for (delivered, out) in [(1448, 0), (1448, 2896), (0, 0)] {
            assert_eq!(proportional(delivered, 2896, 0, out), i32::MIN);
        }
        assert_eq!(proportional(3_000_000, 1000, 1, 0), i32::MIN);
        assert_eq!(proportional(1448, 2896, 4344, 100), 866);
    }
}
