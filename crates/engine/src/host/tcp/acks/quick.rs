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
//! What comes beyond a hole is acknowledged as `compression.rs` says.

use super::compression::Compression;
use super::offered::OfferedWindow;
use super::receiver_rtt::ReceiverRtt;
use super::timeout::AckTimeout;
use super::{AckPolicy, Answer, GapSegment, NewSegment};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::tcb::Tcb;
use crate::packet::SackBlock;

/// So many ACKs are not delayed when data begins to come, or comes again after a silence.
const MOST_QUICK: u32 = 16;
/// When a mark comes: the peer's window may be small.
const MARKED_QUICK: u32 = 2;

#[derive(Debug)]
pub struct Quick {
    /// Bytes that wait for an ACK.
    waiting: u32,
    /// ACKs that are not delayed.
    quick: u32,
    timeout: AckTimeout,
    compression: Compression,
    rtt: ReceiverRtt,
    /// Each segment is acknowledged at once (Linux's `quickack` of a route).
    is_always_quick: bool,
    window: OfferedWindow,
    /// Something with PSH has come since the last ACK.
    is_pushed: bool,
    /// What has come since the last ACK is not to wait for one (Linux's `ICSK_ACK_NOW`).
    is_due: bool,
    /// The segment that comes has a mark, or is what came with none (`tcp_ecn_check_ce`).
    is_marked: bool,
    /// What has come twice and is not reported yet.
    duplicate: Option<SackBlock>,
    /// What has come without being new in order is to be acknowledged: it uses up an ACK that is not delayed.
    is_other_due: bool,
}

impl AckPolicy for Quick {
    const REPORTS_DUPLICATES: bool = true;
    const COMPRESSES: bool = true;
    const COUNTS_MEMORY: bool = true;
    const AWAITS_ANSWER: bool = true;

    fn new(config: &Config) -> Quick {
        Quick {
            waiting: 0,
            quick: 0,
            timeout: AckTimeout::new(config),
            compression: Compression::new(),
            rtt: ReceiverRtt::default(),
            is_always_quick: config.delayed_ack_count == 1,
            window: OfferedWindow::new(config),
            is_pushed: false,
            is_due: false,
            is_marked: false,
            duplicate: None,
            is_other_due: false,
        }
    }

    fn on_established(&mut self, now: Time) {
        self.timeout.on_established(now);
    }

    fn on_new(&mut self, tcb: &Tcb, segment: NewSegment) {
        let NewSegment { bytes, end, unread, joined, held, rto, is_pushed } = segment;
        let is_in_order = unread > 0;
        let window = &mut self.window;
        self.is_pushed |= window.measure(bytes, is_pushed);
        if tcb.has_timestamps && bytes >= window.full_segment() {
            self.rtt.on_echo(tcb.now, tcb.rcv_timestamp_echo);
        }
        let offered = window.last();
        let grows = if is_in_order {
            window.on_next(bytes, unread, joined, held)
        } else {
            window.on_gap(bytes, held)
        };
        if is_in_order {
            self.rtt.on_next(tcb.now, end, offered);
            if self.timeout.on_data(tcb.now, rto) {
                self.quicken(MOST_QUICK);
            }
            self.waiting += bytes;
        }
        self.heed_mark();
        self.quick |= u32::from(grows);
    }

    fn on_data(&mut self, tcb: &Tcb) -> Answer {
        let is_enough = self.waiting > self.window.full_segment();
        if (is_enough && !self.narrows(0)) || self.is_quick() {
            return Answer::Now;
        }
        let answer = self.timeout.begin(tcb);
        if matches!(answer, Answer::Now) {
            return answer;
        }
        // It waits until the application has read, which is at once.
        self.window.on_read();
        if is_enough || self.is_pushed { Answer::Now } else { answer }
    }

    fn on_timer(&mut self, rto: Time) {
        if !self.compression.is_waiting() {
            self.timeout.inflate(rto);
        }
    }

    fn offer(&mut self, next: Seq, held: u32, shift: u8) -> Option<u32> {
        self.heed_room(held);
        Some(self.window.offer(next, held, shift))
    }

    fn on_arrival(&mut self, bytes: u32, memory: u32) {
        self.window.on_arrival(bytes, memory);
    }

    fn on_due(&mut self) {
        self.is_due = true;
    }

    /// As an answer is near, only what may never wait does not, and what is more than a segment (the FIN counts as a byte).
    fn on_fin(&mut self, is_filled: bool) -> bool {
        (self.quick, self.is_pushed) = (0, false);
        let is_at_once = is_filled || self.is_always_quick || self.is_due;
        let is_enough = self.waiting + 1 > self.window.full_segment();
        if !is_at_once && (!is_enough || self.narrows(0)) {
            self.window.on_read();
        }
        is_at_once || is_enough
    }

    fn on_held_fin(&mut self, held: u32) {
        self.quick |= u32::from(self.window.on_held_fin(held));
    }

    fn on_time_wait(&mut self) {
        self.window.on_time_wait();
    }

    fn on_mark(&mut self) {
        self.is_marked = true;
    }

    fn on_gap(&mut self, tcb: &Tcb, segment: GapSegment) -> Answer {
        let GapSegment { next, unacked, held } = segment;
        self.is_other_due = true;
        self.heed_mark(); // of what is held already
        let has_filled = unacked > self.window.full_segment() && !self.narrows(held);
        if has_filled || self.is_quick() {
            return Answer::Now;
        }
        match self.compression.on_gap(self.rtt.at_most(tcb.srtt), next) {
            // A timer that was set for an ACK which has left ends this wait, too.
            Answer::After(wait) => {
                let left = self.timeout.end(tcb.now).map_or(wait, |end| end - tcb.now);
                Answer::After(wait.min(left))
            }
            now_or_with_last => now_or_with_last,
        }
    }

    fn has_opened(&mut self, next: Seq, held: u32) -> bool {
        self.window.on_read();
        self.window.has_opened(next, held)
    }

    fn is_compressing(&self) -> bool {
        self.compression.is_waiting()
    }

    fn on_ack_sent(&mut self) {
        let was_due = std::mem::take(&mut self.is_other_due) || self.waiting > 0;
        if was_due && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.timeout.deflate();
            }
        }
        self.waiting = 0;
        self.compression.on_ack_sent();
        self.timeout.on_ack_sent();
        (self.is_pushed, self.is_due) = (false, false);
    }

    /// Of what is acknowledged the peer has not heard, and had better hear soon of what comes next, too.
    fn on_duplicate(&mut self, block: SackBlock, next: Seq) {
        self.duplicate = Some(block);
        if block.0 < next {
            self.quicken(MOST_QUICK);
            self.timeout.deflate();
            // What ends before it is no part of the window any more (`tcp_sequence`).
            self.is_other_due |= self.window.told().is_some_and(|told| block.1 >= told);
        }
    }

    fn take_duplicate(&mut self) -> Option<SackBlock> {
        self.duplicate.take()
    }
}

impl Quick {
    fn is_quick(&self) -> bool {
        self.quick > 0 || self.is_always_quick || self.is_due
    }

    fn heed_mark(&mut self) {
        if std::mem::take(&mut self.is_marked) {
            self.quicken(MARKED_QUICK);
            self.timeout.deflate();
        }
    }

    /// A peer that has filled half of the buffer is not to hear of each segment (`__tcp_select_window`).
    fn heed_room(&mut self, held: u32) {
        if self.window.is_half_full(held) {
            self.quick = 0;
        }
    }

    fn narrows(&mut self, held: u32) -> bool {
        self.heed_room(held);
        self.window.narrows(held)
    }

    fn quicken(&mut self, most: u32) {
        let fit = (self.window.last() / 2 / self.window.full_segment()).max(2);
        self.quick = self.quick.max(fit.min(most));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::host::tcp::memory::memory_of;

    fn with(buffer: u32, segment: u32) -> Quick {
        let sizes = [("RcvBufSize", buffer), ("SegmentSize", segment)];
        let sizes = sizes.map(|(name, bytes)| (name.to_owned(), bytes.to_string()));
        Quick::new(&Config::new(&BTreeMap::from(sizes), 0))
    }

    /// The same once the SYN-ACK has left.
    fn opened(buffer: u32, segment: u32) -> Quick {
        let mut acks = with(buffer, segment);
        acks.offer(Seq(0), 0, 0);
        acks
    }

    /// Of what receives only.
    const RTO: Time = Time::from_ms(1000);

    /// A segment in order.
    fn next(bytes: u32) -> NewSegment {
        let (end, unread) = (Seq(0), memory_of(bytes));
        NewSegment { bytes, end, unread, joined: 0, held: 0, rto: RTO, is_pushed: false }
    }

    /// A segment comes in order: how long its ACK may wait.
    fn data(acks: &mut Quick, tcb: &Tcb, bytes: u32) -> Option<Time> {
        taken(acks, tcb, next(bytes))
    }

    fn taken(acks: &mut Quick, tcb: &Tcb, segment: NewSegment) -> Option<Time> {
        acks.on_new(tcb, segment);
        match acks.on_data(tcb) {
            Answer::Now => None,
            Answer::After(wait) => Some(wait),
            Answer::WithLast => Some(Time::ZERO),
        }
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
        let mut acks = opened(buffer, segment);
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

    /// Nothing is offered beyond 64 KiB then, and nothing grows beyond that, as long as the share of memory that is data is not
    /// measured: segments of 536 B are what a receiver expects.
    #[test]
    fn without_a_scale_the_window_does_not_grow_beyond_its_field() {
        let settings =
            [("RcvBufSize", "4000000"), ("SegmentSize", "536"), ("WindowScaling", "false")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut acks = Quick::new(&Config::new(&BTreeMap::from(settings), 0));
        acks.offer(Seq(0), 0, 0);
        let one_by_one = |acks: &mut Quick| {
            let wait = data(acks, &Tcb::default(), 536);
            acks.on_ack_sent();
            wait.is_none()
        };
        assert_eq!((0..100).take_while(|_| one_by_one(&mut acks)).count(), 16);
    }

    /// How many segments are acknowledged one by one after `gaps` segments beyond a hole, each with what waits there when it comes.
    fn quick_after(gaps: impl IntoIterator<Item = u32>) -> usize {
        let mut acks = opened(400_000, 1448);
        let tcb = Tcb::default();
        assert_eq!(data(&mut acks, &tcb, 1448), None);
        acks.on_ack_sent();
        for held in gaps {
            acks.on_new(&tcb, NewSegment { unread: 0, held, ..next(1448) });
            acks.on_gap(&tcb, GapSegment { next: Seq(1449), unacked: 0, held: 0 });
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
        assert_eq!(quick_after([]) - quick_after((0..10).map(|n| n * memory_of(1448))), 10);
    }

    /// After 34 steps a third of a segment is left to grow by, which a segment in order fills; the first one beyond a hole does not.
    #[test]
    fn what_waits_in_the_buffer_leaves_no_room_to_grow() {
        let waiting = [139 * memory_of(1448); 20];
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
        let mut acks = with(131_072, 1000);
        let tcb = Tcb::default();
        acks.window.measure(1000, false);
        acks.timeout.on_data(Time::ZERO, RTO);
        let mut acked = Vec::new();
        for n in 1..=18 {
            let segment = NewSegment { is_pushed: n % 9 == 0, ..next(1000) };
            if taken(&mut acks, &tcb, segment).is_none() {
                acks.on_ack_sent();
                acked.push(n);
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

    #[test]
    fn an_ack_that_is_due_does_not_wait_beyond_a_hole_either() {
        let mut acks = with(131_072, 1000);
        acks.window.measure(1000, false);
        let tcb = Tcb { srtt: Time::from_ms(20), ..Tcb::default() };
        let hole = GapSegment { next: Seq(1), unacked: 0, held: 0 };
        let gap = |acks: &mut Quick| acks.on_gap(&tcb, hole);
        for _ in 0..3 {
            assert_eq!(gap(&mut acks), Answer::Now);
            acks.on_ack_sent();
        }
        assert_ne!(gap(&mut acks), Answer::Now);
        acks.on_due();
        assert_eq!(gap(&mut acks), Answer::Now);
        acks.on_ack_sent();
        assert_ne!(gap(&mut acks), Answer::Now);
        // One without ECT has been sent again, though what it brings is held.
        acks.on_mark();
        for _ in 0..2 {
            assert_eq!(gap(&mut acks), Answer::Now);
            acks.on_ack_sent();
        }
        assert_ne!(gap(&mut acks), Answer::Now);
    }

    /// What a kernel did (7.3.4): of an ACK that has left the timer is still there, and ends the wait of one beyond a hole.
    #[test]
    fn the_timer_of_an_ack_that_has_left_ends_a_wait_beyond_a_hole() {
        let mut acks = with(1000, 1000);
        let mut tcb = Tcb { now: Time::from_ms(100), ..Tcb::default() };
        (0..20).for_each(|_| {
            data(&mut acks, &tcb, 1000);
            acks.on_ack_sent();
        });
        assert_eq!(data(&mut acks, &tcb, 1000), Some(Time::from_ms(40)));
        acks.on_ack_sent();
        tcb.now = Time(140_990_000);
        let gap = |acks: &mut Quick| {
            let found = acks.on_gap(&tcb, GapSegment { next: Seq(1), unacked: 0, held: 0 });
            if found == Answer::Now {
                acks.on_ack_sent();
            }
            found
        };
        assert_eq!([(); 3].map(|()| gap(&mut acks)), [Answer::Now; 3]);
        assert_eq!(gap(&mut acks), Answer::After(Time(10_000)));
    }

    #[test]
    fn more_than_a_segment_in_order_does_not_wait_and_a_gap_uses_up_quick_acks() {
        let mut acks = with(131_072, 1000);
        acks.window.measure(1000, false);
        let tcb = Tcb { srtt: Time::from_ms(20), ..Tcb::default() };
        let gap = |acks: &mut Quick, unacked| {
            acks.on_gap(&tcb, GapSegment { next: Seq(1), unacked, held: 0 })
        };
        acks.quick = 2; // and then three
        for _ in 0..5 {
            assert_eq!(gap(&mut acks, 0), Answer::Now);
            acks.on_ack_sent();
        }
        assert_eq!(gap(&mut acks, 1001), Answer::Now);
        assert!(!acks.is_compressing());
        assert_ne!(gap(&mut acks, 1000), Answer::Now);
        assert!(acks.is_compressing());
        acks.on_ack_sent();
        assert!(!acks.is_compressing());
        let duplicate = |block| {
            let mut acks = opened(131_072, 1000);
            acks.on_duplicate(block, Seq(2001));
            acks.quick > 0
        };
        assert!(duplicate((Seq(1), Seq(1001))), "the peer has not heard of what is acknowledged");
        assert!(!duplicate((Seq(3001), Seq(4001))));
    }
    /// What a kernel did (7.3.4): where the first segment is lost no ACK behind it is quick.
    #[test]
    fn a_hole_at_the_start_uses_up_what_would_be_quick_and_an_early_start_is_no_silence() {
        let count = |is_lost: bool| {
            let mut acks = opened(400_000, 536); // whose window does not grow
            let mut tcb = Tcb { now: Time::from_ms(5000), ..Tcb::default() };
            acks.on_established(tcb.now);
            tcb.now = Time::from_ms(5010);
            if is_lost {
                acks.quick = 1; // as if it had grown with the one beyond the hole
                acks.on_gap(&tcb, GapSegment { next: Seq(1), unacked: 0, held: 0 });
                acks.on_ack_sent();
            }
            let one_by_one = |acks: &mut Quick| {
                let wait = data(acks, &tcb, 536);
                acks.on_ack_sent();
                wait.is_none()
            };
            (0..100).take_while(|_| one_by_one(&mut acks)).count()
        };
        assert_eq!((count(false), count(true)), (16, 0));
    }

    /// As many as half of the window holds, however large the buffer.
    #[test]
    fn quick_acks_are_bounded_by_half_of_the_window_that_is_offered() {
        let quick = |buffer| {
            let mut acks = opened(buffer, 1448);
            acks.window.measure(1448, false);
            acks.quicken(MOST_QUICK);
            acks.quick
        };
        assert_eq!([20_000, 40_000, 400_000].map(quick), [6, 13, 16]);
    }
}
