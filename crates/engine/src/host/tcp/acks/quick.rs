//! Quick at first, then every second segment (as Linux acknowledges): the first segments of a transfer one by one, so that
//! slow start is not held up, then more than a segment at once, or after a time that adapts to how often data comes.
//!
//! While the offered window still grows, a segment is always acknowledged quickly.  How far it grows is measured: the kernel has
//! twice the buffer that was asked for, and offers the share of it that data takes of the memory of a full segment.  What waits
//! in the buffer counts, too.  Each segment lets it grow by two, the first by one: with buffers of 0.4, 1 and 4 MB, Linux 7.3.4
//! acknowledges the first 51, 103 and 362 segments of 1448 B one by one, [`MOST_QUICK`] of them afterwards.
//!
//! A segment with PSH, as the last of a burst of the sender's has it, is acknowledged as soon as it is read, which is at once here
//! (`tcp_cleanup_rbuf`).
//!
//! Beyond a hole three segments are acknowledged one by one (so that a peer that counts them sees DupThresh), and then one ACK
//! stands for those of a millisecond or a third of a round trip (Linux's compression of SACKs, `tcp_comp_sack_delay_ns`).

use super::offered::OfferedWindow;
use super::{AckPolicy, GapAck, GapSegment, NewSegment};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::tcb::Tcb;
use crate::packet::SackBlock;

/// So many ACKs are not delayed when data begins to come, or comes again after a silence.
const MOST_QUICK: u32 = 16;
/// When a mark comes: the peer's window may be small.
const MARKED_QUICK: u32 = 2;
const LEAST_WAIT: Time = Time::from_ms(40);
/// ACKs beyond a hole that do not wait, and those that one which waits may stand for.
const GAP_ACKS: u32 = 3;
const MOST_COMPRESSED: u32 = 44;
const LONGEST_GAP_WAIT: Time = Time::from_ms(1);
/// In hundredths of a round trip.
const GAP_WAIT: u64 = 33;
/// By so much the kernel's timer is late: measured (7.3.4).
const SLACK: Time = Time(10_000);
/// Data that comes within this time halves the distance to the least wait.
const OFTEN: Time = Time::from_ms(20);

#[derive(Debug)]
pub struct Quick {
    /// Bytes that wait for an ACK.
    waiting: u32,
    /// ACKs that are not delayed.
    quick: u32,
    /// How long an ACK may wait; 0 before the first data.
    wait: Time,
    most: Time,
    /// Each segment is acknowledged at once (Linux's `quickack` of a route).
    is_always_quick: bool,
    window: OfferedWindow,
    /// Something with PSH has come since the last ACK.
    is_pushed: bool,
    /// What has come since the last ACK is not to wait for one (Linux's `ICSK_ACK_NOW`).
    is_due: bool,
    /// The segment that comes has a mark, or is what came with none (`tcp_ecn_check_ce`).
    is_marked: bool,
    last: Time,
    /// What has come twice and is not reported yet.
    duplicate: Option<SackBlock>,
    /// RCV.NXT at the last segment beyond a hole, ACKs that left at it, and those that wait.
    gap: Seq,
    gap_acks: u32,
    compressed: u32,
    /// A segment beyond a hole is to be acknowledged.
    is_gap_due: bool,
}

impl AckPolicy for Quick {
    const REPORTS_DUPLICATES: bool = true;
    const COMPRESSES: bool = true;
    const HEEDS_PUSH: bool = true;
    const AWAITS_ANSWER: bool = true;

    fn new(config: &Config) -> Quick {
        Quick {
            waiting: 0,
            quick: 0,
            wait: Time::ZERO,
            most: config.delayed_ack_timeout,
            is_always_quick: config.delayed_ack_count == 1,
            window: OfferedWindow::new(config),
            is_pushed: false,
            is_due: false,
            is_marked: false,
            last: Time::ZERO,
            duplicate: None,
            gap: Seq(0),
            gap_acks: 0,
            compressed: 0,
            is_gap_due: false,
        }
    }

    fn on_established(&mut self) {}

    fn on_new(&mut self, tcb: &Tcb, segment: NewSegment) {
        let NewSegment { bytes, in_order, held } = segment;
        let window = &mut self.window;
        let grows = if in_order > 0 {
            window.on_next(bytes, in_order, held)
        } else {
            window.on_gap(bytes, held)
        };
        if in_order > 0 {
            self.adapt(tcb);
            self.waiting += bytes;
        }
        if std::mem::take(&mut self.is_marked) {
            self.quicken(MARKED_QUICK);
            self.wait = LEAST_WAIT;
        }
        self.quick |= u32::from(grows);
    }

    fn on_data(&mut self, tcb: &Tcb) -> Option<Time> {
        if self.quick > 0 || self.is_always_quick || self.is_due {
            return None;
        }
        if self.waiting > self.window.largest() {
            self.window.on_ack_due();
            return None;
        }
        self.window.on_read();
        if self.is_pushed {
            return None;
        }
        // An eighth of a round trip is enough, and LEAST_WAIT at least.
        let bound =
            if tcb.srtt.is_zero() { self.most } else { LEAST_WAIT.max(Time(tcb.srtt.0 / 8)) };
        Some(self.wait.min(bound).min(self.most))
    }

    fn on_pushed(&mut self) {
        self.is_pushed = true;
    }

    fn offer(&mut self, next: Seq, held: u32, shift: u8) -> Option<u32> {
        Some(self.window.offer(next, held, shift))
    }

    fn on_due(&mut self) {
        self.is_due = true;
    }

    /// As an answer is near, only what may never wait does not, and what is more than a segment (the FIN counts as a byte).
    fn on_fin(&mut self, is_filled: bool) -> bool {
        (self.quick, self.is_pushed) = (0, false);
        is_filled || self.is_always_quick || self.waiting + 1 > self.window.largest()
    }

    fn on_mark(&mut self) {
        self.is_marked = true;
    }

    fn on_gap(&mut self, tcb: &Tcb, segment: GapSegment) -> GapAck {
        let GapSegment { next, unacked } = segment;
        self.is_gap_due = true;
        let is_quick = self.quick > 0 || self.is_always_quick || self.is_due;
        if is_quick || unacked > self.window.largest() || self.compressed >= MOST_COMPRESSED {
            return GapAck::Now;
        }
        if self.gap != next {
            (self.gap, self.gap_acks) = (next, 0);
        }
        if self.gap_acks < GAP_ACKS {
            self.gap_acks += 1;
            return GapAck::Now;
        }
        self.compressed += 1;
        if self.compressed > 1 {
            return GapAck::WithLast;
        }
        GapAck::After(Time(tcb.srtt.0 * GAP_WAIT / 100).min(LONGEST_GAP_WAIT) + SLACK)
    }

    fn is_compressing(&self) -> bool {
        self.compressed > 0
    }

    fn on_ack_sent(&mut self) {
        if std::mem::take(&mut self.is_gap_due) || self.waiting > 0 {
            self.quick = self.quick.saturating_sub(1);
        }
        self.waiting = 0;
        self.compressed = 0;
        (self.is_pushed, self.is_due) = (false, false);
    }

    /// Of what is acknowledged the peer has not heard, and had better hear soon of what comes next, too.
    fn on_duplicate(&mut self, block: SackBlock, next: Seq) {
        self.duplicate = Some(block);
        if block.0 < next {
            self.quicken(MOST_QUICK);
        }
    }

    fn take_duplicate(&mut self) -> Option<SackBlock> {
        self.duplicate.take()
    }
}

impl Quick {
    fn adapt(&mut self, tcb: &Tcb) {
        let since = tcb.now - self.last;
        self.last = tcb.now;
        if self.wait.is_zero() {
            self.wait = LEAST_WAIT;
            self.quicken(MOST_QUICK);
        } else if since <= OFTEN {
            self.wait = Time(self.wait.0 / 2) + OFTEN;
        } else if since < self.wait {
            self.wait = Time(self.wait.0 / 2) + since;
        } else if since > self.most {
            self.quicken(MOST_QUICK);
        }
    }

    fn quicken(&mut self, most: u32) {
        let fit = (self.window.buffer() / 2 / self.window.largest().max(1)).max(2);
        self.quick = self.quick.max(fit.min(most));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn with_buffer(bytes: u32) -> Quick {
        let size = ("RcvBufSize".to_owned(), bytes.to_string());
        Quick::new(&Config::new(&BTreeMap::from([size]), 0))
    }

    /// A segment comes in order.
    fn data(acks: &mut Quick, tcb: &Tcb, bytes: u32) -> Option<Time> {
        acks.on_new(tcb, NewSegment { bytes, in_order: bytes, held: 0 });
        acks.on_data(tcb)
    }

    /// How long each ACK waits if a segment comes at each of these times, in ms; the window grows with five.
    fn waits(times: impl IntoIterator<Item = u64>) -> Vec<Option<Time>> {
        waits_of(50_000, 1448, times)
    }

    fn waits_of(
        buffer: u32,
        segment: u32,
        times: impl IntoIterator<Item = u64>,
    ) -> Vec<Option<Time>> {
        let mut acks = with_buffer(buffer);
        let mut tcb = Tcb::default();
        let wait = |ms| {
            tcb.now = Time::from_ms(ms);
            let wait = data(&mut acks, &tcb, segment);
            if wait.is_none() {
                acks.on_ack_sent();
                acks.on_ack_sent(); // the ACK itself says so, too
            }
            wait
        };
        times.into_iter().map(wait).collect()
    }

    /// What a kernel did (7.3.4), one flow at 100 Mbps.
    #[test]
    fn as_many_segments_are_acknowledged_one_by_one_as_by_linux() {
        for (buffer, segments) in [(400_000, 51), (1_000_000, 103), (4_000_000, 362)] {
            let waits = waits_of(buffer, 1448, 0..500);
            assert_eq!(waits.iter().take_while(|wait| wait.is_none()).count(), segments);
        }
    }

    #[test]
    fn sixteen_segments_more_are_acknowledged_one_by_one_and_then_every_second() {
        let waits = waits(0..40);
        let quick = waits.iter().take_while(|wait| wait.is_none()).count();
        assert_eq!(quick, 5 + 16);
        assert!(waits[21..].iter().step_by(2).all(|wait| *wait == Some(Time::from_ms(40))));
        assert!(waits[22..].iter().step_by(2).all(Option::is_none));
    }

    /// How many segments are acknowledged one by one after `gaps` segments beyond a hole, each with what waits there when it comes.
    fn quick_after(gaps: impl IntoIterator<Item = u32>) -> usize {
        let mut acks = with_buffer(400_000);
        let tcb = Tcb::default();
        assert_eq!(data(&mut acks, &tcb, 1448), None);
        acks.on_ack_sent();
        for held in gaps {
            acks.on_new(&tcb, NewSegment { bytes: 1448, in_order: 0, held });
            acks.on_gap(&tcb, GapSegment { next: Seq(1449), unacked: 0 });
            acks.on_ack_sent();
        }
        let one_by_one = |acks: &mut Quick| {
            let wait = data(acks, &tcb, 1448);
            acks.on_ack_sent();
            wait.is_none()
        };
        (0..100).take_while(|_| one_by_one(&mut acks)).count()
    }

    /// Each segment beyond a hole takes its two segments of growth, too, and so of the quick ones there are fewer.
    #[test]
    fn the_offered_window_grows_beyond_a_hole_as_well() {
        assert_eq!(quick_after([]) - quick_after((0..10).map(|n| 1448 * n)), 10);
    }

    /// After 34 steps a third of a segment is left to grow by, which a segment in order fills; the first one beyond a hole does not.
    #[test]
    fn what_waits_in_the_buffer_leaves_no_room_to_grow() {
        let waiting = [200_000; 20];
        assert_eq!(
            quick_after([]) - quick_after(waiting),
            16,
            "those that do not depend on growth"
        );
        let full = (0..34).map(|_| 0).chain(waiting).chain([0]);
        assert_eq!(quick_after(full), 0);
    }

    /// What a kernel did (7.3.4): of segments of 1,000 B the memory is less than half data.
    #[test]
    fn the_offered_window_does_not_grow_where_segments_fill_less_than_half_of_their_memory() {
        for (segment, quick) in [(536, 16), (1000, 16), (1300, 36), (2000, 16), (4000, 16)] {
            let waits = waits_of(400_000, segment, 0..100);
            assert_eq!(waits.iter().take_while(|wait| wait.is_none()).count(), quick, "{segment}");
        }
    }

    /// What a kernel did (7.3.4): of bursts of nine segments the last is acknowledged alone.
    #[test]
    fn a_segment_with_psh_does_not_wait_and_counts_begin_anew() {
        let mut acks = Quick::new(&Config::new(&BTreeMap::new(), 0));
        let tcb = Tcb::default();
        acks.window.on_next(1000, 1000, 0);
        acks.wait = LEAST_WAIT;
        let mut acked = Vec::new();
        for segment in 1..=18 {
            if segment % 9 == 0 {
                acks.on_pushed();
            }
            if data(&mut acks, &tcb, 1000).is_none() {
                acks.on_ack_sent();
                acked.push(segment);
            }
        }
        assert_eq!(acked, [2, 4, 6, 8, 9, 11, 13, 15, 17, 18]);
    }

    #[test]
    fn data_that_comes_rarely_lets_an_ack_wait_longer_and_after_a_silence_it_is_quick_again() {
        let rare = waits((0..21).chain((0..20).map(|i| 100 + 36 * i)));
        let longest = rare[21..].iter().flatten().max().expect("some wait");
        assert!(*longest > Time::from_ms(55) && *longest <= Time::from_ms(80));
        let silent = waits((0..22).chain([1000]));
        assert_eq!((silent[21].is_some(), silent[22]), (true, None));
    }

    /// What becomes of ACKs of segments beyond a hole, one every 100 us, after the window has ceased to grow.
    fn beyond_a_hole(srtt: Time, nexts: impl IntoIterator<Item = u32>) -> Vec<GapAck> {
        let mut acks = Quick::new(&Config::new(&BTreeMap::new(), 0));
        acks.window.on_next(1000, 1000, 0);
        let tcb = Tcb { srtt, ..Tcb::default() };
        let each = |next| {
            let found = acks.on_gap(&tcb, GapSegment { next: Seq(next), unacked: 0 });
            if found == GapAck::Now {
                acks.on_ack_sent();
            }
            found
        };
        nexts.into_iter().map(each).collect()
    }

    #[test]
    fn three_beyond_a_hole_are_acknowledged_at_once_and_one_ack_stands_for_44_more() {
        let found = beyond_a_hole(Time::from_ms(20), [1001; 49]);
        let wait = GapAck::After(Time(1_010_000));
        assert_eq!(found[..5], [GapAck::Now, GapAck::Now, GapAck::Now, wait, GapAck::WithLast]);
        assert!(found[5..47].iter().all(|one| *one == GapAck::WithLast));
        assert_eq!(found[47..], [GapAck::Now, wait]);
    }

    #[test]
    fn an_ack_that_is_due_does_not_wait_beyond_a_hole_either() {
        let mut acks = Quick::new(&Config::new(&BTreeMap::new(), 0));
        acks.window.on_next(1000, 1000, 0);
        let tcb = Tcb { srtt: Time::from_ms(20), ..Tcb::default() };
        let gap = |acks: &mut Quick| acks.on_gap(&tcb, GapSegment { next: Seq(1), unacked: 0 });
        for _ in 0..3 {
            assert_eq!(gap(&mut acks), GapAck::Now);
            acks.on_ack_sent();
        }
        assert_ne!(gap(&mut acks), GapAck::Now);
        acks.on_due();
        assert_eq!(gap(&mut acks), GapAck::Now);
        acks.on_ack_sent();
        assert_ne!(gap(&mut acks), GapAck::Now);
    }

    #[test]
    fn what_fills_a_hole_in_part_begins_anew_and_a_short_path_waits_for_a_third_of_it() {
        let found = beyond_a_hole(Time::from_ms(1), [1001, 1001, 1001, 2001, 2001, 2001, 2001]);
        assert_eq!(found[3..6], [GapAck::Now; 3]);
        assert_eq!(found[6], GapAck::After(Time(340_000)));
    }

    #[test]
    fn more_than_a_segment_in_order_does_not_wait_and_a_gap_uses_up_quick_acks() {
        let mut acks = Quick::new(&Config::new(&BTreeMap::new(), 0));
        acks.window.on_next(1000, 1000, 0);
        let tcb = Tcb { srtt: Time::from_ms(20), ..Tcb::default() };
        let gap =
            |acks: &mut Quick, unacked| acks.on_gap(&tcb, GapSegment { next: Seq(1), unacked });
        acks.quick = 2; // and then three
        for _ in 0..5 {
            assert_eq!(gap(&mut acks, 0), GapAck::Now);
            acks.on_ack_sent();
        }
        assert_eq!(gap(&mut acks, 1001), GapAck::Now);
        assert!(!acks.is_compressing());
        assert_ne!(gap(&mut acks, 1000), GapAck::Now);
        assert!(acks.is_compressing());
        acks.on_ack_sent();
        assert!(!acks.is_compressing());
        let duplicate = |block| {
            let mut acks = Quick::new(&Config::new(&BTreeMap::new(), 0));
            acks.on_duplicate(block, Seq(2001));
            acks.quick > 0
        };
        assert!(duplicate((Seq(1), Seq(1001))), "the peer has not heard of what is acknowledged");
        assert!(!duplicate((Seq(3001), Seq(4001))));
    }
}
