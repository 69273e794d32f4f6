//! RFC 6675 as ns-3's `TcpTxBuffer` and `TcpSocketBase` have it; without SACK, RFC 6582 with the guess
//! that each duplicate ACK stands for the next segment beyond the head (as Linux's Reno).

use super::{Disorder, Feedback, Flight, LossDetection, Timeout};
use crate::host::tcp::config::Config;
use crate::host::tcp::profile::changes::Change;
use crate::host::tcp::scoreboard::{SackMarks, Scoreboard};

/// With FACK, the distance of the highest SACK beyond which something is lost.
const FORWARD_SEGMENTS: u32 = 3;

#[derive(Debug)]
pub struct Rfc6675 {
    /// DupThresh, in segments.
    threshold: u32,
    /// It grows with what is outstanding (RFC 4653).
    is_tolerant: bool,
    /// [`Change::LostRetransmissions`].
    finds_lost_retransmissions: bool,
}

impl Rfc6675 {
    /// RFC 4653 section 3: `max(LT_F x FlightSize / SMSS, 3)`, with LT_F = 1/2 since each segment that is
    /// SACKed lets one leave (the aggressive variant of extended limited transmit).
    fn threshold(&self, scoreboard: &Scoreboard) -> u32 {
        if self.is_tolerant {
            self.threshold.max(scoreboard.sent_segments() / 2)
        } else {
            self.threshold
        }
    }
}

impl LossDetection for Rfc6675 {
    fn new(config: &Config) -> Rfc6675 {
        Rfc6675 {
            threshold: config.dup_ack_threshold,
            is_tolerant: config.reordering_tolerance,
            finds_lost_retransmissions: config.changes.has(Change::LostRetransmissions),
        }
    }

    /// IsLost of section 4.
    #[inline]
    fn on_sacked(&mut self, Flight { scoreboard, .. }: Flight<'_>) {
        if self.finds_lost_retransmissions {
            scoreboard.mark_retransmissions_lost();
        }
        scoreboard.mark_lost_below_sacked(self.threshold(scoreboard));
    }

    fn on_duplicate(&mut self, Flight { scoreboard, feedback, .. }: Flight<'_>) {
        guess(scoreboard, feedback);
    }

    /// Section 5, steps (1) and (2).
    fn begins_recovery(&mut self, flight: Flight<'_>, disorder: Disorder) -> bool {
        let Flight { scoreboard, tcb, .. } = flight;
        if disorder.forward > FORWARD_SEGMENTS * tcb.segment_size {
            return true;
        }
        let threshold = self.threshold(scoreboard);
        let is_there = disorder.duplicates == threshold;
        let is_beyond = self.is_tolerant && disorder.duplicates > threshold;
        let enough = (is_there || is_beyond) && disorder.is_past_recovery;
        enough || scoreboard.is_lost(disorder.highest_ack)
    }

    /// Section 5, step (4): the first segment counts as lost, whatever IsLost says of it.
    fn on_recovery(&mut self, Flight { scoreboard, feedback, .. }: Flight<'_>) {
        guess(scoreboard, feedback);
        if feedback == Feedback::DuplicateAcks || !scoreboard.is_lost(scoreboard.head()) {
            scoreboard.mark_head_lost();
        }
    }

    fn on_partial_ack(&mut self, Flight { scoreboard, feedback, .. }: Flight<'_>) {
        if feedback == Feedback::DuplicateAcks {
            scoreboard.mark_head_lost();
        }
    }

    /// Section 5.1; SACK marks are kept (errata 1610), the head counts as lost.
    fn on_timeout(&mut self, flight: Flight<'_>, _timeout: Timeout) {
        let Flight { scoreboard, feedback, .. } = flight;
        let marks = match feedback {
            Feedback::Sack => SackMarks::Kept,
            Feedback::DuplicateAcks => SackMarks::Guessed,
        };
        scoreboard.mark_all_lost(marks);
    }
}

/// Which segment a duplicate ACK stands for.
fn guess(scoreboard: &mut Scoreboard, feedback: Feedback) {
    if feedback == Feedback::DuplicateAcks {
        scoreboard.add_reno_sack();
    }
}
