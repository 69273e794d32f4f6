//! The send buffer with its SACK scoreboard (RFC 6675; ns-3's `TcpTxBuffer`).
//!
//! Segments stay as they were sent, in order.  ns-3 walks its whole list on most calls; here four
//! observations make every call constant time on average, with the same outcome:
//!
//! * segments are ordered, so a sequence number is found by bisection, mostly at the first guess;
//! * loss is monotone: below `lost_below` every segment is SACKed or lost, at or above it none is lost;
//! * what has been retransmitted or SACKed is not looked at again: `cursor` passes over it;
//! * SACK blocks repeat and grow, so the part of a block that was seen before is skipped.

use std::collections::VecDeque;

use super::profile::changes::{Change, Changes};
use super::rate::{RateEstimator, SentRate};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::packet::SackBlock;

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
    pub last_sent: Time,
    pub rate: SentRate,
}

impl Segment {
    fn new(start: Seq, len: u32) -> Self {
        Segment {
            start,
            len,
            sacked: false,
            lost: false,
            retransmitted: false,
            is_repeated: false,
            last_sent: Time::MAX,
            rate: SentRate::default(),
        }
    }

    pub fn end(&self) -> Seq {
        self.start + self.len
    }
}

/// Who is told of segments that are acknowledged or SACKed, the first time.
pub trait Deliveries {
    fn on_delivered(&mut self, now: Time, segment: &mut Segment);
}

impl Deliveries for RateEstimator {
    #[inline(always)]
    fn on_delivered(&mut self, now: Time, segment: &mut Segment) {
        let Segment { len, last_sent, is_repeated, .. } = *segment;
        self.on_delivered(now, len, last_sent, is_repeated, &mut segment.rate);
    }
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

/// How many already processed SACK blocks are remembered: as many as fit a header.
const SEEN_BLOCKS: usize = 4;

#[derive(Clone, Debug)]
pub struct Scoreboard {
    sent: VecDeque<Segment>,
    /// SND.UNA.
    head: Seq,
    /// Bytes in the buffer, sent and unsent.
    size: u32,
    sent_size: u32,
    limit: u32,
    segment_size: u32,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    /// Bytes ever marked lost.
    found_lost: u64,
    /// Start of the highest SACKed segment (ns-3: zero if there is none).
    highest_sack: Option<Seq>,
    sack_seen: bool,
    lost_below: Seq,
    /// Every segment before this index is SACKed or retransmitted.
    cursor: usize,
    /// A segment beyond `lost_below` has been marked lost.
    has_lost_beyond: bool,
    /// Losses are marked one by one, and may lie beyond the highest SACK.
    marks_one_by_one: bool,
    /// When that segment was sent that left last among those that the last ACK SACKed.
    newest_sacked: Time,
    /// A retransmission that is SACKed is in flight no longer ([`Change::SackedRetransmissions`]).
    sacked_leave_pipe: bool,
    /// None, until there was one.
    seen: Option<Box<Seen>>,
}

/// SACK blocks that have been processed, none of whose marks has been taken back.
#[derive(Clone, Debug, Default)]
struct Seen {
    blocks: [SackBlock; SEEN_BLOCKS],
    next: usize,
}

impl Scoreboard {
    pub fn new(limit: u32, segment_size: u32, changes: Changes) -> Self {
        Scoreboard {
            has_lost_beyond: false,
            marks_one_by_one: false,
            newest_sacked: Time::ZERO,
            sacked_leave_pipe: changes.has(Change::SackedRetransmissions),
            sent: VecDeque::new(),
            head: Seq(0),
            size: 0,
            sent_size: 0,
            limit,
            segment_size,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            found_lost: 0,
            highest_sack: None,
            sack_seen: false,
            lost_below: Seq(0),
            cursor: 0,
            seen: None,
        }
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
        self.sent_size / self.segment_size
    }

    /// Nothing is SACKed, deemed lost or sent again: all that was sent is in flight.
    #[inline]
    pub fn is_unmarked(&self) -> bool {
        self.sacked_out | self.lost_out | self.retrans_out == 0
    }

    /// Bytes that were sent and are not acknowledged cumulatively: the pipe, while nothing is marked.
    #[inline]
    pub fn sent_size(&self) -> u32 {
        self.sent_size
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
        self.sent_size
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
        let high = self.head + self.sent_size;
        let index = if high >= seq + len {
            self.retransmit(len, seq)
        } else if high <= seq {
            self.sent.push_back(Segment::new(seq, len));
            self.sent_size += len;
            self.sent.len() - 1
        } else {
            // Partly new: only the old part.
            len = (high - seq) as u32;
            self.retransmit(len, seq)
        };
        self.sent[index].last_sent = now;
        Some(index)
    }

    /// The next `len` bytes, which there are, are sent for the first time.  Returns where they begin.
    #[inline(always)]
    pub fn push_new(&mut self, len: u32, now: Time, rate: SentRate) -> Seq {
        let start = self.head + self.sent_size;
        self.sent.push_back(Segment { last_sent: now, rate, ..Segment::new(start, len) });
        self.sent_size += len;
        start
    }

    pub fn segment_mut(&mut self, index: usize) -> &mut Segment {
        &mut self.sent[index]
    }

    /// Gives the last segment back to the unsent data (a window probe).
    pub fn take_back_last(&mut self) {
        if let Some(segment) = self.sent.pop_back() {
            self.sent_size -= segment.len;
            if segment.retransmitted {
                self.retrans_out -= segment.len;
            }
            self.cursor = self.cursor.min(self.sent.len());
        }
    }

    /// Removes what `ack` acknowledges and tells whom it may concern of each whole segment.
    #[inline(always)] // on every acknowledgement
    pub fn discard_up_to(&mut self, ack: Seq, now: Time, whom: &mut impl Deliveries) {
        if self.head >= ack {
            return;
        }
        let is_unmarked = self.is_unmarked();
        if is_unmarked {
            self.discard_unmarked(ack, now, whom);
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
    }

    /// The whole segments of it, none of which counts as anything but sent.
    #[inline(always)]
    fn discard_unmarked(&mut self, ack: Seq, now: Time, whom: &mut impl Deliveries) {
        let (mut bytes, mut segments) = (0, 0);
        while let Some(front) = self.sent.front_mut()
            && front.end() <= ack
        {
            whom.on_delivered(now, front);
            bytes += front.len;
            segments += 1;
            self.sent.pop_front();
        }
        self.cursor = self.cursor.saturating_sub(segments);
        self.size -= bytes;
        self.sent_size -= bytes;
        self.head += bytes;
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
            if gone == front.len {
                whom.on_delivered(now, front);
                self.sent.pop_front();
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
                self.sacked_out -= gone;
            }
            if retransmitted {
                self.retrans_out -= gone;
            }
            if lost {
                self.lost_out -= gone;
            }
        }
        if self.size == 0 {
            self.head = ack; // the FIN
        }
    }

    /// The head cannot have been received: a wrong guess about duplicate ACKs.
    #[cold]
    fn unsack_head(&mut self) {
        let front = &mut self.sent[0];
        front.sacked = false;
        self.sacked_out -= front.len;
        self.cursor = 0;
        self.forget_seen();
        self.add_reno_sack();
        self.mark_head_lost();
    }

    /// Marks what the SACK blocks cover; returns the bytes that are newly SACKed.  Only segments that
    /// lie wholly in a block count (RFC 6675 section 4, Update).
    pub fn update(&mut self, blocks: &[SackBlock], now: Time, whom: &mut impl Deliveries) -> u32 {
        let mut sacked = 0;
        self.newest_sacked = Time::ZERO;
        for &(left, right) in blocks {
            if self.head + self.sent_size < left {
                return sacked;
            }
            sacked += self.mark_block(left, right, now, whom);
        }
        sacked
    }

    /// NextSeg of RFC 6675 section 4: where to send from, and how much at most.
    pub fn next_segment(&mut self, rule3: Rule3, window: u32) -> Option<(Seq, u32)> {
        if self.lost_out > 0
            && let Some(start) = self.first_lost_hole()
        {
            return Some((start, self.segment_size));
        }
        let high = self.head + self.sent_size;
        if self.size > self.sent_size {
            if self.sent_size >= window {
                return None;
            }
            return Some((high, self.segment_size.min(window - self.sent_size)));
        }
        let hole = if rule3 == Rule3::Applies { self.first_hole() } else { None };
        hole.map(|(start, _)| (start, self.segment_size))
    }

    /// Whether the segment at `seq` is marked lost and lies below the highest SACK.
    pub fn is_lost(&self, seq: Seq) -> bool {
        if seq >= self.highest_sack.unwrap_or(Seq(0)) {
            return false;
        }
        self.find(seq).is_some_and(|i| self.sent[i].lost)
    }

    /// Whether a segment that ends at `ack` was retransmitted (and is not SACKed).
    pub fn is_retransmission_acked(&self, ack: Seq) -> bool {
        self.find(ack - 1).is_some_and(|i| {
            let segment = &self.sent[i];
            segment.end() == ack && !segment.sacked && segment.retransmitted
        })
    }

    pub fn is_head_retransmitted(&self) -> bool {
        self.sent.front().is_some_and(|segment| segment.retransmitted)
    }

    /// SND.UNA is deemed lost, and to be sent again even if it was before.
    pub fn mark_head_lost(&mut self) {
        let Some(front) = self.sent.front_mut() else { return };
        if front.sacked {
            front.sacked = false;
            self.sacked_out -= front.len;
            self.forget_seen();
        }
        let front = &mut self.sent[0];
        if front.retransmitted || !front.lost {
            self.found_lost += u64::from(front.len);
        }
        if front.retransmitted {
            front.retransmitted = false;
            self.retrans_out -= front.len;
        }
        self.cursor = 0;
        if !front.lost {
            front.lost = true;
            self.lost_out += front.len;
            self.lost_below = self.lost_below.max(front.end());
        }
    }

    /// Without SACK a duplicate ACK says that one segment beyond the head has arrived; assume the
    /// first that is not yet accounted for (RFC 6675's pipe for Reno, as in Linux).
    pub fn add_reno_sack(&mut self) {
        let found = self.sent.iter_mut().skip(1).find(|segment| !segment.sacked);
        if let Some(segment) = found {
            segment.sacked = true;
            self.sacked_out += segment.len;
            self.sack_seen = true;
            self.highest_sack = Some(segment.start);
        }
    }

    pub fn reset_reno_sack(&mut self) {
        self.sacked_out = 0;
        for segment in &mut self.sent {
            segment.sacked = false;
        }
        self.cursor = 0;
        self.highest_sack = None;
        self.sack_seen = false;
        self.forget_seen();
    }

    /// A retransmission timeout: everything that is not SACKed is lost, nothing is retransmitted yet.
    pub fn mark_all_lost(&mut self, marks: SackMarks) {
        self.retrans_out = 0;
        self.lost_out = 0;
        if marks == SackMarks::Guessed {
            self.reset_reno_sack();
        }
        for segment in &mut self.sent {
            if !segment.sacked {
                if segment.retransmitted || !segment.lost {
                    self.found_lost += u64::from(segment.len);
                }
                segment.lost = true;
            }
            segment.retransmitted = false;
            if segment.lost {
                self.lost_out += segment.len;
            }
        }
        self.cursor = 0;
        self.lost_below = self.head + self.sent_size;
        self.has_lost_beyond = false;
    }

    /// Marks lost what the question says so of: it is asked of each segment that is in flight, with its place, in the order
    /// of their numbers.
    pub fn mark_lost_where(&mut self, mut is_lost: impl FnMut(usize, &Segment) -> bool) {
        let mut i = 0;
        self.mark_lost_while(|segment| {
            let answer = is_lost(i, segment);
            i += 1;
            Some(answer)
        });
    }

    /// The same until it is answered with none: of what follows nothing is lost.
    pub fn mark_lost_while(&mut self, mut is_lost: impl FnMut(&Segment) -> Option<bool>) {
        self.marks_one_by_one = true;
        for (i, segment) in self.sent.iter_mut().enumerate() {
            if segment.sacked || (segment.lost && !segment.retransmitted) {
                continue;
            }
            let Some(answer) = is_lost(segment) else { break };
            if !answer {
                continue;
            }
            self.found_lost += u64::from(segment.len);
            if segment.retransmitted {
                segment.retransmitted = false;
                self.retrans_out -= segment.len;
            }
            if !segment.lost {
                segment.lost = true;
                self.lost_out += segment.len;
            }
            self.cursor = self.cursor.min(i);
        }
    }

    /// What was marked lost is on its way after all.
    pub fn unmark_lost(&mut self) {
        for segment in &mut self.sent {
            segment.lost = false;
        }
        self.lost_out = 0;
        self.lost_below = self.head;
    }

    /// Start of the first segment that is neither SACKed nor retransmitted, if it lies below the highest
    /// SACK, and whether it is marked lost.
    fn first_hole(&mut self) -> Option<(Seq, bool)> {
        while let Some(segment) = self.sent.get(self.cursor) {
            if !segment.sacked && !segment.retransmitted {
                break;
            }
            self.cursor += 1;
        }
        let segment = self.sent.get(self.cursor)?;
        let below = !self.sack_seen || segment.start < self.highest_sack.unwrap_or(Seq(0));
        below.then_some((segment.start, segment.lost))
    }

    /// The first of them that is marked lost: the first of all, unless one beyond `lost_below` is.
    fn first_lost_hole(&mut self) -> Option<Seq> {
        if self.marks_one_by_one {
            return self.first_lost_of_all();
        }
        let (start, is_lost) = self.first_hole()?;
        if is_lost || !self.has_lost_beyond {
            return is_lost.then_some(start);
        }
        let highest = self.highest_sack.unwrap_or(Seq(0));
        let sent = self.sent.range(self.cursor..);
        let mut below = sent.take_while(|segment| !self.sack_seen || segment.start < highest);
        let found = below.find(|segment| segment.lost && !segment.sacked && !segment.retransmitted);
        found.map(|segment| segment.start)
    }

    /// Wherever it lies.
    fn first_lost_of_all(&mut self) -> Option<Seq> {
        self.first_hole();
        let mut sent = self.sent.range(self.cursor.min(self.sent.len())..);
        let found = sent.find(|segment| segment.lost && !segment.sacked && !segment.retransmitted);
        found.map(|segment| segment.start)
    }

    fn mark_block(&mut self, left: Seq, right: Seq, now: Time, whom: &mut impl Deliveries) -> u32 {
        if self.seen.as_ref().is_some_and(|seen| seen.blocks.contains(&(left, right))) {
            return 0; // as most are, which is what they are repeated for
        }
        let mut sacked = 0;
        let mut i = self.first_from(self.skip_seen(left, right));
        while let Some(segment) = self.sent.get_mut(i) {
            let end = segment.end();
            if end > right {
                break;
            }
            if !segment.sacked {
                if segment.lost {
                    segment.lost = false;
                    self.lost_out -= segment.len;
                }
                if segment.retransmitted && self.sacked_leave_pipe {
                    segment.retransmitted = false;
                    self.retrans_out -= segment.len;
                }
                segment.sacked = true;
                self.sacked_out += segment.len;
                sacked += segment.len;
                self.newest_sacked = self.newest_sacked.max(segment.last_sent);
                // "Highest" as ns-3 has it: a segment that ends where the highest one starts, or
                // beyond, replaces it, so that filling the hole just below moves it down.
                if self.highest_sack.is_none_or(|highest| highest <= end) {
                    self.sack_seen = true;
                    self.highest_sack = Some(segment.start);
                }
                whom.on_delivered(now, segment);
            }
            i += 1;
        }
        self.remember_seen(left, right);
        sacked
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

    /// Where to go on in a block of which a part was processed before: all segments that lie wholly
    /// in that part are SACKed, those that straddle its end are not.
    fn skip_seen(&self, left: Seq, right: Seq) -> Seq {
        for &(seen_left, seen_right) in self.seen.iter().flat_map(|seen| &seen.blocks) {
            if seen_left <= left && left < seen_right && seen_right <= right {
                return match self.find(seen_right) {
                    Some(i) => self.sent[i].start.max(left),
                    None => seen_right,
                };
            }
        }
        left
    }

    fn remember_seen(&mut self, left: Seq, right: Seq) {
        let Seen { blocks, next } = &mut **self.seen.get_or_insert_default();
        for seen in &mut *blocks {
            if seen.0 == left && seen.1 <= right {
                seen.1 = right;
                return;
            }
        }
        blocks[*next] = (left, right);
        *next = (*next + 1) % SEEN_BLOCKS;
    }

    /// Segment boundaries or marks have changed in a way that a repeated block would notice.
    fn forget_seen(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.blocks = Default::default();
        }
    }

    /// What has `threshold` SACKed segments above it is lost.
    pub fn mark_lost_below_sacked(&mut self, threshold: u32) {
        let Some(highest) = self.highest_sack else { return };
        let mut i = self.first_from(highest);
        let mut above = 0;
        let reached = loop {
            if i == 0 {
                return;
            }
            let segment = &self.sent[i];
            if segment.sacked {
                above += 1;
                if above == threshold {
                    break segment.start;
                }
            }
            if segment.start < self.lost_below {
                return; // everything below is marked already
            }
            i -= 1;
        };
        if reached <= self.lost_below {
            return;
        }
        for segment in self.sent.range_mut(..i).rev() {
            if segment.start < self.lost_below {
                break;
            }
            if !segment.sacked && !segment.lost {
                segment.lost = true;
                self.lost_out += segment.len;
                self.found_lost += u64::from(segment.len);
            }
        }
        self.lost_below = reached;
    }

    /// What was sent again, below the highest SACK, and before something that the last ACK SACKed is lost again: RFC
    /// 8985 section 6.2 without a reordering window.
    pub fn mark_retransmissions_lost(&mut self) {
        let Some(highest) = self.highest_sack else { return };
        let mut unseen = self.retrans_out;
        for (i, segment) in self.sent.iter_mut().enumerate() {
            if unseen == 0 || segment.start >= highest {
                break;
            }
            if !segment.retransmitted {
                continue;
            }
            unseen -= segment.len;
            if segment.sacked || segment.last_sent >= self.newest_sacked {
                continue;
            }
            segment.retransmitted = false;
            self.retrans_out -= segment.len;
            self.cursor = self.cursor.min(i);
            if !segment.lost {
                segment.lost = true;
                self.lost_out += segment.len;
                self.has_lost_beyond |= segment.start >= self.lost_below;
            }
        }
    }

    /// The segment at `seq` for sending again: `len` bytes if that takes no other joining than with
    /// the segment that follows, and only if both are lost or neither is.
    fn retransmit(&mut self, len: u32, seq: Seq) -> usize {
        let mut len = len;
        let mut i = self.find(seq).expect("a retransmission starts within what was sent");
        if self.sent[i].start == seq {
            let this = self.sent[i];
            let joined = match self.sent.get(i + 1) {
                Some(next) if !next.sacked && next.lost == this.lost => this.len + next.len,
                _ => this.len,
            };
            len = len.min(joined);
        } else {
            self.split(i, (seq - self.sent[i].start) as u32);
            i += 1;
        }
        while self.sent[i].len < len && i + 1 < self.sent.len() {
            self.join(i);
        }
        if self.sent[i].len > len {
            self.split(i, len);
        }
        let segment = &mut self.sent[i];
        segment.is_repeated = true;
        if !segment.retransmitted {
            segment.retransmitted = true;
            self.retrans_out += segment.len;
        }
        i
    }

    /// Cuts segment `i` after `len` bytes.  The first part is the new one: it has the marks, but no
    /// memory of the delivery rate.
    fn split(&mut self, i: usize, len: u32) {
        let first = Segment { len, rate: SentRate::default(), ..self.sent[i] };
        self.sent[i].start += len;
        self.sent[i].len -= len;
        self.sent.insert(i, first);
        self.cursor = self.cursor.min(i);
        self.forget_seen();
    }

    /// Joins segment `i` with the next.  If only one of them was retransmitted, the whole is not.
    fn join(&mut self, i: usize) {
        let next = self.sent.remove(i + 1).expect("there is a segment to join with");
        let this = &mut self.sent[i];
        if this.retransmitted != next.retransmitted {
            self.retrans_out -= if this.retransmitted { this.len } else { next.len };
            this.retransmitted = false;
        }
        this.last_sent = this.last_sent.max(next.last_sent);
        this.len += next.len;
        self.cursor = self.cursor.min(i);
        self.forget_seen();
    }
}
