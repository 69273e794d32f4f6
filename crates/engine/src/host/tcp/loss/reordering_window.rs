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
    /// The highest byte delivered, plus one, before this ACK and with it; a segment below it that comes with a later one, and
    /// was sent once, was reordered.
    highest: Seq,
    highest_now: Seq,
    has_reordering: bool,
    /// Of this ACK: the lowest of them.
    lowest: Option<Seq>,
    /// By so many bytes was the worst of them late.
    extent: u32,
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
            highest_now: Seq(0),
            has_reordering: false,
            lowest: None,
            extent: 0,
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
            if segment.end() < self.highest {
                self.has_reordering = true;
                self.lowest = Some(self.lowest.map_or(segment.start, |low| low.min(segment.start)));
            }
        }
        self.highest_now = self.highest_now.max(segment.end());
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
        self.highest = self.highest_now;
        if let Some(lowest) = self.lowest.take() {
            let last = self.highest - flight.tcb.segment_size;
            self.extent = self.extent.max((last - lowest).max(0) as u32);
        }
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

    /// DupThresh segments or more were once late, so that no SACK is a sign of a loss by itself.
    pub fn is_wide(&self) -> bool {
        self.extent > self.threshold
    }

    /// A timeout has come though so much was SACKed: the extent was overestimated (RFC 4653 has the same fear).
    pub fn on_timeout(&mut self, flight: &Flight<'_>) {
        if !is_in_episode(flight.tcb) && flight.scoreboard.sacked_out() >= self.threshold {
            self.extent = self.extent.min(self.threshold);
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
