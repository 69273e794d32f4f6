//! What a socket counts for the recording.

use crate::seq::Seq;
use crate::tcp::tcb::{CongState, Tcb};
use crate::time::Time;

/// Of the new gap in the average of the gaps between departures.
const GAP_WEIGHT: f64 = 0.05;

#[derive(Clone, Debug, Default)]
pub struct Statistics {
    pub segments_sent: u64,
    /// Payload of all data segments sent, retransmissions included, in bytes.
    pub sent_bytes: u64,
    /// Payload of all data segments that arrived, duplicates included, in bytes.
    pub received_bytes: u64,
    /// Data segments that begin below the highest sequence number sent before.
    pub retransmissions: u64,
    /// Entries into the Loss state.
    pub rtos: u64,
    /// Advance of the highest cumulative acknowledgement received, in bytes.
    pub acked_bytes: u64,
    pub written_bytes: u64,
    /// Finished recovery episodes, and their length in all.
    pub recovery_episodes: u64,
    pub recovery_time: Time,
    recovery_start: Option<Time>,
    last_departure: Option<Time>,
    /// EWMA of the gaps between data segments sent, weight 0.05 for the new gap, in ns.
    pub departure_gap: Option<f64>,
    /// When the last byte of a closed transfer was acknowledged.
    pub completed: Option<Time>,
    /// The application will write no more.
    is_closed: bool,
}

impl Statistics {
    /// The peer has acknowledged `bytes` more than ever before.
    #[inline]
    pub(super) fn count_acked(&mut self, bytes: u64, now: Time) {
        // A FIN has a sequence number, too, but is no data.
        self.acked_bytes = (self.acked_bytes + bytes).min(self.written_bytes);
        self.note_completion(now);
    }

    /// The application closes.
    pub(super) fn close(&mut self, now: Time) {
        self.is_closed = true;
        self.note_completion(now);
    }

    #[inline]
    fn note_completion(&mut self, now: Time) {
        if self.is_closed && self.acked_bytes == self.written_bytes && self.written_bytes > 0 {
            self.completed.get_or_insert(now);
        }
    }

    /// The congestion state becomes `state`; `tcb` still has the old one.
    pub(super) fn count_state(&mut self, tcb: &Tcb, state: CongState) {
        if state == CongState::Loss && tcb.cong_state != CongState::Loss {
            self.rtos += 1;
        }
        match (state, self.recovery_start) {
            (CongState::Recovery, None) => self.recovery_start = Some(tcb.now),
            (CongState::Recovery | CongState::Loss, _) | (_, None) => {}
            (_, Some(start)) => {
                self.recovery_episodes += 1;
                self.recovery_time += tcb.now - start;
                self.recovery_start = None;
            }
        }
    }

    /// A data segment leaves; `tcb.high_tx_mark` does not count it yet.
    #[inline]
    pub(super) fn count_departure(&mut self, tcb: &Tcb, seq: Seq, len: u32) {
        self.segments_sent += 1;
        self.sent_bytes += u64::from(len);
        if seq < tcb.high_tx_mark {
            self.retransmissions += 1;
        }
        if let Some(last) = self.last_departure.replace(tcb.now) {
            let gap = (tcb.now - last).0 as f64;
            self.departure_gap = Some(match self.departure_gap {
                Some(mean) => mean + GAP_WEIGHT * (gap - mean),
                None => gap,
            });
        }
    }
}
