//! How much later than a later one a segment may come before it is lost (RFC 8985 section 6.2, step 4), and by how much segments
//! were late.
//!
//! Linux's measure of that (`tcp_check_sack_reordering`): from the segment that was sent once and fills a hole to the end of the
//! highest one that is SACKed.

use super::{Flight, in_us};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::scoreboard::{Scoreboard, Segment};
use crate::host::tcp::tcb::{CongState, Tcb};

/// After so many episodes without a duplicate the window is the least again.
const PATIENT_EPISODES: u32 = 16;
/// In segments (Linux's `tcp_max_reordering`).
const MOST_REORDERED: u32 = 300;
const MOST_QUARTERS: u32 = 255;

#[derive(Debug)]
pub struct ReorderingWindow {
    /// In segments.
    threshold: u32,
    segment_size: u32,
    /// The end of the highest segment that was ever SACKed, with this ACK.
    highest: Seq,
    /// Before this ACK: the end of the highest one that is, or SND.UNA.
    edge: Seq,
    /// Of this ACK: the lowest that was sent once and lies below that, of those SACKed and of those acknowledged in order.
    sacked: Option<Seq>,
    acked: Option<Seq>,
    has_reordering: bool,
    /// Segments that the worst of them was late by; DupThresh at least.
    extent: u32,
    /// In quarters of the minimum RTT.
    quarters: u32,
    /// When it grew last: it grows once a round trip.
    grown: Time,
    /// When what this ACK delivers had left, the last of it.
    newest: Option<Time>,
    episodes_left: u32,
    has_duplicate: bool,
}

impl ReorderingWindow {
    pub fn new(config: &Config) -> ReorderingWindow {
        ReorderingWindow {
            threshold: config.dup_ack_threshold,
            segment_size: config.segment_size,
            highest: Seq(0),
            edge: Seq(0),
            sacked: None,
            acked: None,
            has_reordering: false,
            extent: config.dup_ack_threshold,
            quarters: 1,
            grown: Time::ZERO,
            newest: None,
            episodes_left: 0,
            has_duplicate: false,
        }
    }

    pub fn on_delivered(&mut self, segment: &Segment) {
        self.newest = self.newest.max(Some(segment.last_sent));
        if segment.sacked {
            self.highest = self.highest.max(segment.end());
        }
        if !segment.is_repeated && segment.start < self.edge {
            let lowest = if segment.sacked { &mut self.sacked } else { &mut self.acked };
            *lowest = Some(lowest.map_or(segment.start, |low| low.min(segment.start)));
        }
    }

    /// A retransmission was for nothing.  Without reordering that says nothing of this window.
    pub fn on_duplicate_delivery(&mut self) {
        self.has_duplicate |= self.has_reordering;
    }

    /// What was sent again from `low` on, and is SACKed, has come twice: the original was only late.
    pub fn on_spurious_retransmission(&mut self, low: Seq) {
        self.sacked = Some(self.sacked.map_or(low, |before| before.min(low)));
    }

    /// An ACK has come.  `heeds_sacks`: not in an episode after a timeout that cannot be undone.
    pub fn on_ack(&mut self, flight: &Flight<'_>, heeds_sacks: bool) {
        let (sacked, acked) = (self.sacked.take(), self.acked.take());
        if let Some(low) = sacked.filter(|_| heeds_sacks) {
            self.note_late(low, self.highest);
        }
        let scoreboard = &flight.scoreboard;
        self.edge = if scoreboard.sacked_out() > 0 { self.highest } else { scoreboard.head() };
        if let Some(low) = acked {
            self.note_late(low, self.edge);
        }
        self.highest = self.highest.max(scoreboard.head());
        self.grow(flight.tcb.now);
    }

    /// The hole above `una` was filled by what was only late.
    pub fn on_late_original(&mut self, una: Seq) {
        self.note_late(una, self.edge);
    }

    fn note_late(&mut self, low: Seq, edge: Seq) {
        if low < edge {
            self.has_reordering = true;
            let late = ((edge - low) as u32).div_ceil(self.segment_size);
            self.extent = self.extent.max(late.min(MOST_REORDERED));
        }
    }

    /// The duplicates of one round trip count once: those that are reported by ACKs of what had left before it grew
    /// do not.
    fn grow(&mut self, now: Time) {
        let Some(newest) = self.newest.take() else { return };
        if std::mem::take(&mut self.has_duplicate) && newest >= self.grown {
            self.quarters = (self.quarters + 1).min(MOST_QUARTERS);
            self.grown = now;
            self.episodes_left = PATIENT_EPISODES;
        } else if self.episodes_left == 0 {
            self.quarters = 1;
        }
    }

    /// An episode has ended that was right.
    pub fn on_repaired(&mut self) {
        self.episodes_left = self.episodes_left.saturating_sub(1);
    }

    /// Duplicates have shown that one was for nothing.
    pub fn on_all_duplicate(&mut self) {
        self.episodes_left = (self.episodes_left + 1).min(PATIENT_EPISODES);
    }

    /// DupThresh segments or more were once late, so that no SACK is a sign of a loss by itself.
    pub fn is_wide(&self) -> bool {
        self.extent > self.threshold
    }

    /// A timeout has come though so much was SACKed: the extent was overestimated (RFC 4653 has the same fear).
    pub fn on_timeout(&mut self, flight: &Flight<'_>) {
        let is_first =
            !matches!(flight.tcb.cong_state, CongState::Cwr) && !super::is_in_episode(flight.tcb);
        if is_first && self.has_many(flight.scoreboard) {
            self.extent = self.threshold;
        }
    }

    fn has_many(&self, scoreboard: &Scoreboard) -> bool {
        scoreboard.sacked_out() >= self.threshold * self.segment_size
    }

    /// `is_in_episode`: of fast recovery or after a timeout.
    pub fn length(&self, tcb: &Tcb, scoreboard: &Scoreboard, is_in_episode: bool) -> Time {
        let is_ready = is_in_episode || self.has_many(scoreboard);
        if (!self.has_reordering && is_ready) || tcb.min_rtt == Time::MAX {
            return Time::ZERO;
        }
        let window = Time(in_us(Time(tcb.min_rtt.0 / 4)).0 * u64::from(self.quarters));
        window.min(in_us(tcb.srtt))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::host::tcp::loss::Feedback;
    use crate::host::tcp::profile::changes::Changes;
    use crate::host::tcp::scoreboard::Nobody;

    const SIZE: u32 = 1000;
    const QUARTER: Time = Time::from_ms(10);

    struct Path {
        window: ReorderingWindow,
        tcb: Tcb,
        scoreboard: Scoreboard,
    }

    impl Path {
        /// With a minimum RTT of 40 ms, and a hundred segments in flight.
        fn new() -> Path {
            let given = BTreeMap::from([("SegmentSize".to_owned(), SIZE.to_string())]);
            let mut scoreboard = Scoreboard::new(1_000_000, SIZE, Changes::NONE);
            scoreboard.set_head(Seq(1));
            scoreboard.add(100 * SIZE);
            for i in 0..100 {
                scoreboard.take(SIZE, Seq(1 + i * SIZE), Time::ZERO);
            }
            let tcb =
                Tcb { min_rtt: Time::from_ms(40), srtt: Time::from_secs(9), ..Tcb::default() };
            Path { window: ReorderingWindow::new(&Config::new(&given, 0)), tcb, scoreboard }
        }

        /// An ACK at `ms` delivers this segment, which left at `left_ms`.
        fn ack(&mut self, ms: u64, number: u32, left_ms: u64) -> &mut Path {
            self.deliver(number, left_ms, true, false);
            self.end(ms)
        }

        fn deliver(&mut self, number: u32, left_ms: u64, sacked: bool, is_repeated: bool) {
            self.window.on_delivered(&Segment {
                start: Seq(1 + number * SIZE),
                len: SIZE,
                sacked,
                lost: false,
                retransmitted: false,
                is_repeated,
                counts: true,
                was_overdue: false,
                ends_burst: false,
                is_pushed: false,
                last_sent: Time::from_ms(left_ms),
            });
            if sacked {
                let block = (Seq(1 + number * SIZE), Seq(1 + (number + 1) * SIZE));
                self.scoreboard.update(&[block], Time::ZERO, &mut Nobody);
            }
        }

        fn end(&mut self, ms: u64) -> &mut Path {
            self.tcb.now = Time::from_ms(ms);
            let flight = Flight {
                tcb: &self.tcb,
                scoreboard: &mut self.scoreboard,
                feedback: Feedback::Sack,
                rto: Time::ZERO,
                restarts_rto: false,
                recover: Seq(0),
            };
            self.window.on_ack(&flight, true);
            self
        }

        fn quarters(&self) -> u64 {
            self.window.length(&self.tcb, &self.scoreboard, false).0 / QUARTER.0
        }
    }

    /// Segments that fill a hole below so many more have been late by them, in whole segments.
    #[test]
    fn a_path_is_wide_once_a_segment_was_late_by_more_than_three() {
        for (highest, is_wide) in [(3, false), (4, true)] {
            let mut path = Path::new();
            path.ack(50, highest, 0).ack(51, 1, 0);
            assert!(path.window.has_reordering);
            assert_eq!(path.window.is_wide(), is_wide, "{highest}");
        }
    }

    #[test]
    fn what_was_sent_again_or_stands_above_all_was_not_late() {
        let mut path = Path::new();
        path.ack(50, 9, 0).ack(51, 10, 0);
        path.deliver(1, 40, true, true);
        path.end(52);
        assert!(!path.window.has_reordering && !path.window.is_wide());
    }

    /// Numbers begin anew after four gigabytes: a SACK of long ago is not one of what comes.
    #[test]
    fn what_was_sacked_gigabytes_ago_is_not_above_anything() {
        let mut path = Path::new();
        path.ack(50, 9, 0);
        for step in 1..=3 {
            let head = Seq(1 + step * (1 << 30));
            path.scoreboard = Scoreboard::new(1_000_000, SIZE, Changes::NONE);
            path.scoreboard.set_head(head);
            path.end(50 + u64::from(step));
        }
        path.scoreboard.add(10 * SIZE);
        let head = path.scoreboard.head();
        let segments = (0..10).map(|i| path.scoreboard.take(SIZE, head + i * SIZE, Time::ZERO));
        assert_eq!(segments.flatten().count(), 10);
        path.deliver(((head - Seq(1)) as u32) / SIZE + 5, 0, true, false);
        path.end(60);
        assert!(!path.window.has_reordering);
    }

    /// A first duplicate says nothing where nothing was ever late; then each round trip with one adds a quarter.
    #[test]
    fn the_window_grows_once_a_round_trip_with_duplicates() {
        let mut path = Path::new();
        path.window.on_duplicate_delivery();
        path.ack(50, 9, 0).ack(51, 2, 0);
        assert_eq!(path.quarters(), 1);
        path.window.on_duplicate_delivery();
        path.end(52);
        assert_eq!(path.quarters(), 1, "an ACK that delivers nothing waits for one that does");
        path.ack(53, 11, 3);
        assert_eq!(path.quarters(), 2);
        path.window.on_duplicate_delivery();
        path.ack(60, 12, 52);
        assert_eq!(path.quarters(), 2, "it had left before");
        path.ack(61, 13, 60);
        assert_eq!(path.quarters(), 2, "and the duplicate is forgotten");
        path.window.on_duplicate_delivery();
        path.ack(90, 14, 53);
        assert_eq!(path.quarters(), 3, "what left with that ACK belongs to the next round");
    }

    /// RFC 8985: after 16 recoveries without one.
    #[test]
    fn sixteen_episodes_that_were_right_make_it_the_least_again() {
        let mut path = Path::new();
        path.ack(50, 9, 0).ack(51, 2, 0);
        path.window.on_duplicate_delivery();
        path.ack(52, 10, 1);
        for _ in 0..15 {
            path.window.on_repaired();
        }
        path.window.on_all_duplicate();
        path.window.on_repaired();
        path.ack(53, 11, 53);
        assert_eq!(path.quarters(), 2);
        path.window.on_repaired();
        path.ack(54, 12, 54);
        assert_eq!(path.quarters(), 1);
    }

    #[test]
    fn a_timeout_with_three_sacked_takes_the_extent_back() {
        let mut path = Path::new();
        path.ack(50, 9, 0).ack(51, 1, 0);
        for (number, is_wide) in [(20, true), (21, false)] {
            let flight = Flight {
                tcb: &path.tcb,
                scoreboard: &mut path.scoreboard,
                feedback: Feedback::Sack,
                rto: Time::ZERO,
                restarts_rto: false,
                recover: Seq(0),
            };
            path.window.on_timeout(&flight);
            assert_eq!(path.window.is_wide(), is_wide, "two are SACKed, and then three");
            path.ack(52, number, 0);
        }
    }

    /// Without any reordering three SACKed segments leave no time, as an episode does.
    /// SACKed twice: the retransmission was for nothing, so the original was late by that much.
    #[test]
    fn a_retransmission_of_what_is_sacked_shows_reordering() {
        let mut path = Path::new();
        path.deliver(8, 0, true, false);
        path.end(50);
        assert_eq!(path.window.extent, 3);
        path.window.on_spurious_retransmission(Seq(1 + 3 * SIZE));
        path.end(60);
        assert_eq!((path.window.extent, path.quarters()), (6, 1));
    }

    #[test]
    fn there_is_no_window_where_nothing_was_late_and_three_are_sacked() {
        let mut path = Path::new();
        path.ack(50, 2, 0).ack(51, 3, 0);
        assert_eq!(path.quarters(), 1);
        assert_eq!(path.window.length(&path.tcb, &path.scoreboard, true), Time::ZERO);
        path.ack(52, 4, 0);
        assert_eq!(path.quarters(), 0);
        path.ack(53, 1, 0);
        assert_eq!(path.quarters(), 1, "but where something was");
        path.tcb.srtt = Time::from_ms(3);
        let length = path.window.length(&path.tcb, &path.scoreboard, true);
        assert_eq!(length, Time::from_ms(3), "no more than the smoothed RTT");
    }
}
