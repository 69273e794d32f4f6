//! The send buffer with its SACK scoreboard (RFC 6675; ns-3's `TcpTxBuffer`).
//!
//! Segments stay as they were sent, in order.  ns-3 walks its whole list on most calls; here four
//! observations make every call constant time on average, with the same outcome:
//!
//! * segments are ordered, so a sequence number is found by bisection, mostly at the first guess;
//! * loss is monotone: below `lost_below` every segment is SACKed or lost, at or above it none is lost;
//! * what has been retransmitted or SACKed is not looked at again: `cursor` passes over it;
//! * SACK blocks repeat and grow, so the part of a block that was seen before is skipped.

mod losses;
mod pieces;
mod sacks;
mod sizes;

use std::collections::VecDeque;
use std::mem::offset_of;

use sacks::Seen;

use super::profile::changes::{Change, Changes};
use super::rate::SentRate;
use crate::base::fetch::fetch;
use crate::base::seq::Seq;
use crate::base::time::Time;

/// One segment that has been sent and not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub start: Seq,
    pub len: u32,
    pub sacked: bool,
    pub lost: bool,
    /// Retransmitted since it was marked lost last.
    pub retransmitted: bool,
    /// Ever sent again.
    pub is_repeated: bool,
    /// Its delivery is yet to be counted.  Not that of what has not been sent as it is.
    pub counts: bool,
    /// It was overdue ([`Scoreboard::mark_overdue`]), and has not left since.
    pub was_overdue: bool,
    /// It was the last of those that left together, where the profile has bursts: what is lost of them is sent again together.
    pub ends_burst: bool,
    /// It has PSH whenever it is sent: the application's write ended with it, or half of a window.
    pub is_pushed: bool,
    pub last_sent: Time,
}

impl Segment {
    /// It is in flight, and was not found overdue before.
    fn may_be_overdue(&self) -> bool {
        let waits = self.lost && !self.retransmitted;
        !self.sacked && !self.was_overdue && !waits
    }

    fn new(start: Seq, len: u32) -> Self {
        Segment {
            start,
            len,
            sacked: false,
            lost: false,
            retransmitted: false,
            is_repeated: false,
            counts: false,
            was_overdue: false,
            ends_burst: false,
            is_pushed: false,
            last_sent: Time::MAX,
        }
    }

    pub fn end(&self) -> Seq {
        self.start + self.len
    }

    /// What it is in windows, of which a segment takes `least` bytes.
    #[inline(always)]
    fn counted(&self, least: u32) -> u32 {
        self.len.max(least)
    }
}

/// Who is told of segments that are acknowledged or SACKed, the first time.
pub trait Deliveries {
    /// `rate`: what the segment remembers, if it does; it counts as `bytes`.
    fn on_delivered(
        &mut self,
        now: Time,
        segment: &mut Segment,
        bytes: u32,
        rate: Option<&SentRate>,
    );
}

/// Tests of the scoreboard alone tell nobody.
#[cfg(test)]
pub struct Nobody;

#[cfg(test)]
impl Deliveries for Nobody {
    fn on_delivered(&mut self, _: Time, _: &mut Segment, _: u32, _: Option<&SentRate>) {}
}

/// Rule (3) of RFC 6675's NextSeg: in recovery, what is not known to be lost may be sent again when
/// nothing else is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule3 {
    Applies,
    Skipped,
}

/// What becomes of the SACK marks at a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackMarks {
    /// The peer has set them, and stands by them.
    Kept,
    /// Without SACK they were guesses, and go.
    Guessed,
}

/// What each segment and each ACK asks for is in front.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Scoreboard {
    /// SND.UNA.
    head: Seq,
    /// Bytes in the buffer, sent and unsent.
    size: u32,
    sent_size: u32,
    /// What the segments that were sent count as beyond their bytes.
    padding: u32,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    limit: u32,
    segment_size: u32,
    /// The least that a segment counts as in all of these: 0, or a whole segment.
    least: u32,
    lost_below: Seq,
    sack_seen: bool,
    /// A segment beyond `lost_below` has been marked lost.
    has_lost_beyond: bool,
    /// Losses are marked one by one, and may lie beyond the highest SACK.
    marks_one_by_one: bool,
    /// A retransmission that is SACKed is in flight no longer ([`Change::SackedRetransmissions`]).
    sacked_leave_pipe: bool,
    /// Start of the highest SACKed segment (ns-3: zero if there is none).
    highest_sack: Option<Seq>,
    /// Every segment before this index is SACKed or retransmitted.
    cursor: usize,
    sent: VecDeque<Segment>,
    /// What each of them remembers, if delivery rates are sampled: beside them, since mostly they are not.
    rates: Option<VecDeque<SentRate>>,
    /// Bytes ever marked lost.
    found_lost: u64,
    /// When that segment was sent that left last among those that the last ACK SACKed.
    newest_sacked: Time,
    /// None, until there was one.
    seen: Option<Box<Seen>>,
    /// Segments that end a piece of the kernel's, where the profile has those.
    pieces: u32,
}

impl Scoreboard {
    /// So many bytes of it does each segment or ACK ask for.
    pub const HOT: usize = offset_of!(Scoreboard, newest_sacked);

    pub fn new(limit: u32, segment_size: u32, changes: Changes) -> Self {
        Scoreboard {
            has_lost_beyond: false,
            marks_one_by_one: false,
            newest_sacked: Time::ZERO,
            sacked_leave_pipe: changes.has(Change::SackedRetransmissions),
            sent: VecDeque::new(),
            rates: None,
            head: Seq(0),
            size: 0,
            sent_size: 0,
            padding: 0,
            limit,
            segment_size,
            least: 0,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            found_lost: 0,
            highest_sack: None,
            sack_seen: false,
            lost_below: Seq(0),
            cursor: 0,
            pieces: 0,
            seen: None,
        }
    }

    /// Segments count, however short, and not their bytes (Linux's `packets_out` and what it compares with cwnd).
    pub fn count_segments(&mut self) {
        self.least = self.segment_size;
    }

    /// From now on segments remember what had been delivered when they left.
    pub fn remember_rates(&mut self) {
        self.rates = Some(VecDeque::new());
    }

    /// They do not any more.
    pub fn forget_rates(&mut self) {
        self.rates = None;
    }

    /// The segments that are acknowledged next will be needed soon.
    pub fn fetch(&self) {
        let ends = [self.sent.front(), self.sent.back()];
        ends.into_iter().flatten().for_each(fetch);
    }

    /// SND.UNA.
    pub fn head(&self) -> Seq {
        self.head
    }

    /// One beyond the last byte in the buffer.
    pub fn tail(&self) -> Seq {
        self.head + self.size
    }

    pub fn size(&self) -> u32 {
        self.size
    }

    pub fn available(&self) -> u32 {
        self.limit - self.size
    }

    pub fn lost_out(&self) -> u32 {
        self.lost_out
    }

    pub fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    pub fn retrans_out(&self) -> u32 {
        self.retrans_out
    }

    /// Bytes found lost so far; what is retransmitted and lost again counts again.
    #[inline]
    pub fn found_lost(&self) -> u64 {
        self.found_lost
    }

    /// FlightSize of RFC 5681, in full segments.
    pub fn sent_segments(&self) -> u32 {
        self.outstanding() / self.segment_size
    }

    /// Nothing is SACKed, deemed lost or sent again: all that was sent is in flight.
    #[inline]
    pub fn is_unmarked(&self) -> bool {
        self.sacked_out | self.lost_out | self.retrans_out == 0
    }

    /// Bytes that were sent and are not acknowledged cumulatively.
    #[inline]
    pub fn sent_size(&self) -> u32 {
        self.sent_size
    }

    /// The same as windows count it: the pipe, while nothing is marked.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.sent_size.wrapping_add(self.padding)
    }

    /// What the segments that were sent count as beyond their bytes.
    #[inline]
    pub fn padding(&self) -> u32 {
        self.padding
    }

    /// What so many bytes in one segment count as.
    #[inline]
    pub fn counted(&self, bytes: u32) -> u32 {
        bytes.max(self.least)
    }

    /// Something was sent again that is not acknowledged cumulatively: it is still in flight, or the first segment.
    pub fn has_retransmissions(&self) -> bool {
        self.retrans_out > 0 || self.sent.front().is_some_and(|first| first.is_repeated)
    }

    /// When the first segment left last that is not acknowledged cumulatively.
    pub fn oldest_departure(&self) -> Option<Time> {
        self.sent.front().map(|segment| segment.last_sent)
    }

    /// One beyond the last byte that was sent.
    #[inline]
    pub fn high(&self) -> Seq {
        self.head + self.sent_size
    }

    /// Where the last segment begins that was sent.
    pub fn last_sent(&self) -> Option<Seq> {
        self.sent.back().map(|segment| segment.start)
    }

    /// Bytes that were never sent.
    #[inline]
    pub fn unsent(&self) -> u32 {
        self.size - self.sent_size
    }

    /// RFC 6675's pipe.
    #[inline]
    pub fn bytes_in_flight(&self) -> u32 {
        self.outstanding()
            .wrapping_sub(self.sacked_out.wrapping_add(self.lost_out))
            .wrapping_add(self.retrans_out)
    }

    /// Bytes in the buffer from `seq` on.
    pub fn size_from(&self, seq: Seq) -> u32 {
        (self.tail() - seq).max(0) as u32
    }

    /// The connection is established: data begins at `seq`.
    pub fn set_head(&mut self, seq: Seq) {
        self.head = seq;
        self.lost_below = seq;
        self.highest_sack = None;
        self.sack_seen = false;
    }

    /// The application writes `bytes`; they must fit.
    pub fn add(&mut self, bytes: u32) {
        self.size += bytes;
    }

    /// The segment to be sent from `seq`, at most `max` bytes: the one that was sent before, cut or
    /// joined to fit, or a new one.  Returns its index, or `None` if there is no data.
    pub fn take(&mut self, max: u32, seq: Seq, now: Time) -> Option<usize> {
        let mut len = max.min(self.size_from(seq));
        if len == 0 {
            return None;
        }
        let high = self.high();
        let index = if high >= seq + len {
            self.retransmit(len, seq)
        } else if high <= seq {
            self.sent.push_back(Segment::new(seq, len));
            if let Some(rates) = &mut self.rates {
                rates.push_back(SentRate::default());
            }
            self.count_new(len);
            self.sent.len() - 1
        } else {
            // Partly new: only the old part.
            len = (high - seq) as u32;
            self.retransmit(len, seq)
        };
        self.sent[index].last_sent = now;
        self.sent[index].was_overdue = false;
        Some(index)
    }

    /// The last segment has left as a probe: it is in flight once.
    pub fn forget_probe(&mut self) {
        if let Some(last) = self.sent.back_mut()
            && std::mem::take(&mut last.retransmitted)
        {
            self.retrans_out -= last.counted(self.least);
            self.cursor = self.cursor.min(self.sent.len() - 1);
        }
    }

    /// The next `len` bytes, which there are, are sent for the first time, as a segment that remembers `rate`, if it
    /// does.  Returns where they begin.
    #[inline(always)]
    pub fn push_new(&mut self, len: u32, now: Time, rate: impl FnOnce() -> SentRate) -> Seq {
        let start = self.high();
        self.sent.push_back(Segment { last_sent: now, counts: true, ..Segment::new(start, len) });
        if let Some(rates) = &mut self.rates {
            rates.push_back(rate());
        }
        self.count_new(len);
        start
    }

    #[inline(always)]
    fn count_new(&mut self, len: u32) {
        self.sent_size += len;
        if len < self.least {
            self.padding += self.least - len;
        }
    }

    /// The segment that was taken leaves, and remembers `rate`, if it does.
    pub fn send(&mut self, index: usize, rate: impl FnOnce() -> SentRate) -> Segment {
        if let Some(rates) = &mut self.rates {
            rates[index] = rate();
        }
        let segment = &mut self.sent[index];
        segment.counts = true;
        *segment
    }

    /// A burst ends with the segment that was taken, and perhaps a piece of the write queue that has PSH.
    pub fn end_burst(&mut self, index: usize, is_pushed: bool) {
        self.set_end(index, true);
        self.sent[index].is_pushed |= is_pushed;
    }

    /// The same of the last one.
    #[inline(always)]
    pub fn end_burst_here(&mut self, is_pushed: bool) {
        if let Some(last) = self.sent.len().checked_sub(1) {
            self.end_burst(last, is_pushed);
        }
    }

    /// Those that begin at `seq` or later.
    pub fn from(&self, seq: Seq) -> impl Iterator<Item = &Segment> {
        let is_before = |segment: &Segment| segment.start < seq;
        let has_before = self.sent.front().is_some_and(is_before);
        let before = if has_before { self.sent.partition_point(is_before) } else { 0 };
        self.sent.range(before..)
    }

    /// The first segment goes.
    #[inline(always)]
    fn pop_front(&mut self) {
        if self.sent.pop_front().is_some_and(|first| first.ends_burst) {
            self.pieces -= 1;
        }
        if let Some(rates) = &mut self.rates {
            rates.pop_front();
        }
    }

    /// Gives the last segment back to the unsent data (a window probe).
    pub fn take_back_last(&mut self) {
        if let Some(segment) = self.sent.pop_back() {
            if let Some(rates) = &mut self.rates {
                rates.pop_back();
            }
            let counted = segment.counted(self.least);
            self.pieces -= u32::from(segment.ends_burst);
            self.sent_size -= segment.len;
            self.padding -= counted - segment.len;
            if segment.retransmitted {
                self.retrans_out -= counted;
            }
            self.cursor = self.cursor.min(self.sent.len());
        }
    }

    /// Removes what `ack` acknowledges and tells whom it may concern of each whole segment.  Returns when the first and
    /// the last of these left, of those that were removed while nothing was marked.
    #[inline(always)] // on every acknowledgement
    pub fn discard_up_to(
        &mut self,
        ack: Seq,
        now: Time,
        whom: &mut impl Deliveries,
    ) -> Option<[Time; 2]> {
        if self.head >= ack {
            return None;
        }
        let is_unmarked = self.is_unmarked();
        let mut left = None;
        if is_unmarked && self.padding == 0 {
            left = self.discard_unmarked(ack, now, whom);
        }
        if self.head < ack {
            self.discard_one_by_one(ack, now, whom);
        }
        self.lost_below = self.lost_below.max(self.head);
        if !is_unmarked
            && let Some(front) = self.sent.front()
            && front.sacked
        {
            self.unsack_head();
        }
        if self.highest_sack.unwrap_or(Seq(0)) <= self.head {
            self.sack_seen = false;
            self.highest_sack = None;
        }
        left
    }

    /// The whole segments of it, none of which counts as anything but sent, or for more than its bytes.
    #[inline(always)]
    fn discard_unmarked(
        &mut self,
        ack: Seq,
        now: Time,
        whom: &mut impl Deliveries,
    ) -> Option<[Time; 2]> {
        let (mut bytes, mut segments) = (0, 0);
        let [mut first, mut last] = [Time::MAX; 2];
        while let Some(front) = self.sent.front_mut()
            && front.end() <= ack
        {
            let rate = self.rates.as_ref().and_then(VecDeque::front);
            whom.on_delivered(now, front, front.len, rate);
            bytes += front.len;
            segments += 1;
            last = front.last_sent;
            first = first.min(last);
            self.pop_front();
        }
        self.cursor = self.cursor.saturating_sub(segments);
        self.size -= bytes;
        self.sent_size -= bytes;
        self.head += bytes;
        (segments > 0).then_some([first, last])
    }

    #[inline(never)]
    fn discard_one_by_one(&mut self, ack: Seq, now: Time, whom: &mut impl Deliveries) {
        let mut left = (ack - self.head) as u32;
        while self.size > 0 && left > 0 {
            let Some(front) = self.sent.front_mut() else {
                // Acknowledged before it was sent as a segment: a window probe's byte.
                self.take(left, self.head, now);
                continue;
            };
            let gone = left.min(front.len);
            let (sacked, retransmitted, lost) = (front.sacked, front.retransmitted, front.lost);
            let mut counted = gone;
            if self.least > 0 {
                let left = front.len - gone;
                counted = front.counted(self.least) - if left > 0 { self.least } else { 0 };
                self.padding = self.padding + gone - counted;
            }
            if gone == front.len {
                let rate = self.rates.as_ref().and_then(VecDeque::front);
                whom.on_delivered(now, front, counted, rate);
                self.pop_front();
                self.cursor = self.cursor.saturating_sub(1);
            } else {
                front.start += gone;
                front.len -= gone;
            }
            self.size -= gone;
            self.sent_size -= gone;
            self.head += gone;
            left -= gone;
            if sacked {
                self.sacked_out -= counted;
            }
            if retransmitted {
                self.retrans_out -= counted;
            }
            if lost {
                self.lost_out -= counted;
            }
        }
        if self.size == 0 {
            self.head = ack; // the FIN
        }
    }

    /// Whether a segment that ends at `ack` was retransmitted (and is not SACKed).
    pub fn is_retransmission_acked(&self, ack: Seq) -> bool {
        self.find(ack - 1).is_some_and(|i| {
            let segment = &self.sent[i];
            segment.end() == ack && !segment.sacked && segment.retransmitted
        })
    }

    /// Index of the first segment that starts at `seq` or later.
    fn first_from(&self, seq: Seq) -> usize {
        let guess = ((seq - self.head).max(0) as u32 / self.segment_size) as usize;
        if self.sent.get(guess).is_some_and(|segment| segment.start == seq) {
            return guess;
        }
        self.sent.partition_point(|segment| segment.start < seq)
    }

    /// Index of the segment that contains `seq`.
    fn find(&self, seq: Seq) -> Option<usize> {
        if seq < self.head {
            return None;
        }
        let guess = ((seq - self.head) as u32 / self.segment_size) as usize;
        let holds = |segment: &Segment| segment.start <= seq && seq < segment.end();
        if self.sent.get(guess).is_some_and(holds) {
            return Some(guess);
        }
        let i = self.sent.partition_point(|segment| segment.start <= seq).checked_sub(1)?;
        holds(&self.sent[i]).then_some(i)
    }
}
