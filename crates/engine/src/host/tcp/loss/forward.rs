//! F-RTO (RFC 5682 section 3.1, in the form for SACK and as Linux has it): after a timeout the first ACK that advances lets new
//! data leave in place of what is marked lost.  If something comes then that was sent once, before the timeout, the timeout was
//! spurious; if it is the new data that is SACKed, it was not.
//!
//! Departures from the RFC, all Linux's: what was sent once counts as soon as it is delivered, also with the first ACK; a timeout
//! that repeats one begins it anew, also within fast recovery.

use super::Flight;
use crate::base::seq::Seq;
use crate::host::tcp::scoreboard::Segment;

/// What an ACK says of the last timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing, or that it was right.
    Nothing,
    Spurious,
    /// New data is to leave, and its ACK will tell.
    Unsure,
}

#[derive(Debug, Default)]
pub struct ForwardRecovery {
    /// SND.NXT at the timeout; none while no timeout is in doubt.
    recover: Option<Seq>,
    /// Of this ACK: what was sent once before the timeout has come; something was SACKed.
    has_original: bool,
    has_sacked: bool,
}

impl ForwardRecovery {
    /// Step 1: the retransmission timer has fired.  `recover`: none where it says nothing, in fast recovery.
    pub fn begin(&mut self, recover: Option<Seq>) {
        *self = ForwardRecovery { recover, ..ForwardRecovery::default() };
    }

    /// New data could not leave (step 2b).
    pub fn give_up(&mut self) {
        self.recover = None;
    }

    pub fn on_delivered(&mut self, segment: &Segment) {
        self.has_original |= !segment.is_repeated
            && segment.counts
            && self.recover.is_some_and(|recover| segment.end() <= recover);
    }

    pub fn on_sacked(&mut self) {
        self.has_sacked = true;
    }

    /// An ACK has been taken in; `next`: SND.NXT.
    pub fn on_ack(&mut self, flight: &Flight<'_>, next: Seq, has_advanced: bool) -> Verdict {
        let has_original = std::mem::take(&mut self.has_original);
        let has_sacked = std::mem::take(&mut self.has_sacked);
        let Some(recover) = self.recover else { return Verdict::Nothing };
        let scoreboard = &*flight.scoreboard;
        if has_original {
            self.recover = None;
            return Verdict::Spurious;
        }
        let has_left = next > recover;
        if scoreboard.head() >= recover || (has_left && (has_sacked || !has_advanced)) {
            self.recover = None;
        } else if !has_left && has_advanced {
            return Verdict::Unsure;
        }
        Verdict::Nothing
    }
}
