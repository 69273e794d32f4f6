//! What a socket counts for the recording.

use std::mem::offset_of;

use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::departures::Departures;
use crate::host::tcp::tcb::{CongState, Tcb};

/// What each segment changes is in front, in one cache line.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Statistics {
    pub segments_sent: u64,
    /// Payload of all data segments sent, retransmissions included, in bytes.
    pub sent_bytes: u64,
    /// Advance of the highest cumulative acknowledgement received, in bytes.
    pub acked_bytes: u64,
    pub written_bytes: u64,
    /// Of data segments.
    pub departures: Departures,
    /// The application will write no more.
    is_closed: bool,
    /// Data segments that begin below the highest sequence number sent before.
    pub retransmissions: u64,
    /// Entries into the Loss state.
    pub rtos: u64,
    /// Finished recovery episodes, and their length in all.
    pub recovery_episodes: u64,
    pub recovery_time: Time,
    recovery_start: Option<Time>,
    /// When the last byte of a closed transfer was acknowledged.
    pub completed: Option<Time>,
}

impl Statistics {
    /// So many bytes of it do segments change.
    pub(super) const HOT: usize = offset_of!(Statistics, is_closed);

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
        self.departures.note(tcb.now);
    }
}
