//! How much later than a later one a segment may come before it is lost (RFC 8985 section 6.2, step 4).

use super::{Flight, is_in_episode};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::scoreboard::{Scoreboard, Segment};
use crate::host::tcp::tcb::Tcb;

/// After so many episodes without a duplicate the window is the least again.
const PATIENT_EPISODES: u32 = 16;

#[derive(Debug)]
pub struct ReorderingWindow {
    /// DupThresh in bytes.
    threshold: u32,
    least_rtt: Time,
    /// The highest byte delivered, plus one; a segment below it that comes later, and was sent once, was reordered.
    highest: Seq,
    has_reordering: bool,
    /// In quarters of the minimum RTT.
    quarters: u32,
    /// SND.NXT when it grew last: it grows once a round trip.
    round_end: Option<Seq>,
    episodes_left: u32,
    was_in_episode: bool,
    has_duplicate: bool,
}

impl ReorderingWindow {
    pub fn new(config: &Config) -> ReorderingWindow {
        ReorderingWindow {
            threshold: config.dup_ack_threshold * config.segment_size,
            least_rtt: Time::MAX,
            highest: Seq(0),
            has_reordering: false,
            quarters: 1,
            round_end: None,
            episodes_left: 0,
            was_in_episode: false,
            has_duplicate: false,
        }
    }

    /// Returns whether it was the segment itself that has come, not the original of one sent again.
    pub fn on_delivered(&mut self, segment: &Segment, rtt: Time) -> bool {
        if segment.is_repeated && rtt < self.least_rtt {
            return false; // most likely
        }
        if !segment.is_repeated {
            self.least_rtt = self.least_rtt.min(rtt);
            self.has_reordering |= segment.end() < self.highest;
        }
        self.highest = self.highest.max(segment.end());
        true
    }

    /// A hole was filled by what was only late.
    pub fn on_late_original(&mut self) {
        self.has_reordering = true;
    }

    /// A retransmission was for nothing.  Without reordering that says nothing of this window.
    pub fn on_duplicate_delivery(&mut self) {
        self.has_duplicate |= self.has_reordering;
    }

    /// An ACK has come; `next`: SND.NXT.
    pub fn on_ack(&mut self, flight: &Flight<'_>, next: Seq) {
        if self.round_end.is_some_and(|end| flight.scoreboard.head() >= end) {
            self.round_end = None;
        }
        let is_in = is_in_episode(flight.tcb);
        let has_left = std::mem::replace(&mut self.was_in_episode, is_in) && !is_in;
        if std::mem::take(&mut self.has_duplicate) && self.round_end.is_none() {
            self.quarters += 1;
            self.round_end = Some(next);
            self.episodes_left = PATIENT_EPISODES;
        } else if has_left {
            self.episodes_left = self.episodes_left.saturating_sub(1);
            if self.episodes_left == 0 {
                self.quarters = 1;
            }
        }
    }

    pub fn length(&self, tcb: &Tcb, scoreboard: &Scoreboard) -> Time {
        let has_many = scoreboard.sacked_out() >= self.threshold;
        if !self.has_reordering && (is_in_episode(tcb) || has_many) || self.least_rtt == Time::MAX {
            return Time::ZERO;
        }
        Time(self.least_rtt.0 / 4 * u64::from(self.quarters)).min(tcb.srtt)
    }
}
