//! The receive buffer: puts segments in order and keeps the list of SACK blocks (RFC 9293 section
//! 3.10.7.4, RFC 2018; ns-3's `TcpRxBuffer`).

use std::collections::VecDeque;

use super::memory::{free_of, memory_of};
use crate::base::seq::Seq;
use crate::packet::SackBlock;

/// More blocks never fit into a TCP header.
const MAX_SACK_BLOCKS: usize = 4;

/// The receiving half of a socket whose application reads everything at once: in-order data never
/// stays, so only what arrived out of order is held.
#[derive(Clone, Debug)]
#[repr(C)] // what each segment asks for is in front
pub struct Reassembly {
    /// RCV.NXT.
    next: Seq,
    /// Buffer size in bytes.
    limit: u32,
    fin: Option<Seq>,
    /// Something is held, or to be reported.
    is_waiting: bool,
    /// What is held is counted in Linux's memory, too.
    counts_memory: bool,
    held_bytes: u32,
    /// From the first segment on that came out of order.
    held: Option<Box<Held>>,
}

#[derive(Clone, Debug, Default)]
struct Held {
    /// Segments beyond RCV.NXT, in order of sequence number, not overlapping, not merged.
    pending: VecDeque<Pending>,
    /// What they take of Linux's memory, and what those do that the last segment has put in order.
    memory: u32,
    joined: u32,
    /// What of the former a FIN does that came alone, beyond a hole.
    fin: u32,
    /// Most recent first.
    sacks: Vec<SackBlock>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    start: Seq,
    /// In bytes.
    size: u32,
    /// What it takes of Linux's memory, and what is free of that: what follows at once and fits takes no more.
    memory: u32,
    free: u32,
}

impl Pending {
    fn new(start: Seq, size: u32) -> Pending {
        Pending { start, size, memory: memory_of(size), free: free_of(size) }
    }

    /// The same once all before it is there.
    fn behind(self, before: &Pending) -> Pending {
        let joins = before.end() == self.start && self.size <= before.free;
        if joins { Pending { memory: 0, free: before.free - self.size, ..self } } else { self }
    }

    fn end(&self) -> Seq {
        self.start + self.size
    }
}

impl Reassembly {
    pub fn new(limit: u32) -> Self {
        Reassembly {
            next: Seq(0),
            limit,
            fin: None,
            is_waiting: false,
            counts_memory: false,
            held_bytes: 0,
            held: None,
        }
    }

    /// The same, which may count what it holds in Linux's memory.
    pub fn counting_memory(self, counts_memory: bool) -> Self {
        Reassembly { counts_memory, ..self }
    }

    pub fn next_rx(&self) -> Seq {
        self.next
    }

    pub fn set_next_rx(&mut self, next: Seq) {
        self.next = next;
    }

    /// Buffer size in bytes.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    pub fn has_gap(&self) -> bool {
        self.held_bytes > 0
    }

    /// What waits beyond a hole, in Linux's memory.
    pub fn held_memory(&self) -> u32 {
        self.held.as_ref().map_or(0, |held| held.memory)
    }

    /// What of it the segment that has just come has put in order, where so much was held before.
    pub fn joined_memory(&self, before: u32) -> u32 {
        let filled = self.held.as_ref().filter(|held| held.memory < before);
        filled.map_or(0, |held| held.joined)
    }

    pub fn got_fin(&self) -> bool {
        self.fin.is_some()
    }

    /// The FIN and everything before it has arrived.
    pub fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| fin < self.next)
    }

    /// The first sequence number that cannot be accepted.
    pub fn max_rx(&self) -> Seq {
        self.fin.unwrap_or(self.next + self.limit)
    }

    #[inline]
    pub fn sack_blocks(&self) -> &[SackBlock] {
        match &self.held {
            Some(held) if self.is_waiting => &held.sacks,
            _ => &[],
        }
    }

    /// The first bytes of `[seq, seq + len)` that have come before (RFC 2883 section 4).
    pub fn duplicate(&self, seq: Seq, len: u32) -> Option<SackBlock> {
        let end = seq + len;
        if seq < self.next {
            return Some((seq, end.min(self.next)));
        }
        let pending = &self.held.as_ref()?.pending;
        let at = pending.partition_point(|one| one.end() <= seq);
        let one = pending.get(at)?;
        (one.start < end).then(|| (one.start.max(seq), end.min(one.end())))
    }

    /// The place of the first block that a segment would extend, or the one beyond the last.
    pub fn touched_block(&self, seq: Seq, len: u32) -> usize {
        let touches = |&(start, end): &SackBlock| seq <= end && start <= seq + len;
        let sacks = self.sack_blocks();
        sacks.iter().position(touches).unwrap_or(sacks.len())
    }

    /// That block reaches as far as the segment, but stays where it is.
    pub fn extend_block(&mut self, place: usize, seq: Seq, len: u32) {
        if let Some((start, end)) = self.held.as_mut().and_then(|held| held.sacks.get_mut(place)) {
            (*start, *end) = ((*start).min(seq), (*end).max(seq + len));
        }
    }

    /// The block with what has come again comes first (RFC 2883 section 4), also if there was no room left to remember it.
    pub fn report_again(&mut self, (head, tail): SackBlock) {
        if head > self.next {
            self.held.get_or_insert_default().report(head, tail);
            self.is_waiting = true;
        }
    }

    /// The peer's FIN stands at `seq`.
    pub fn set_fin(&mut self, seq: Seq) {
        self.fin = Some(seq);
        if self.next == seq {
            self.next += 1;
        }
    }

    /// A FIN without data has come beyond a hole: it takes of Linux's memory, unless it follows what is held.  Returns whether it does.
    pub fn hold_fin(&mut self, seq: Seq) -> bool {
        let held = &mut **self.held.get_or_insert_default();
        let follows = held.pending.back().is_some_and(|last| last.end() == seq);
        if !follows {
            held.fin = memory_of(0);
            held.memory += held.fin;
        }
        follows
    }

    /// Whether a segment at `seq` is what is expected, and nothing waits behind it, not even a FIN.
    #[inline]
    pub fn is_next(&self, seq: Seq) -> bool {
        seq == self.next && seq < self.next + self.limit && !self.is_waiting && self.fin.is_none()
    }

    /// Takes `len` bytes that are next.
    #[inline]
    pub fn advance(&mut self, len: u32) {
        self.next += len;
    }

    /// Takes the segment `[seq, seq + len)`.  Returns `None` if nothing of it is new, else the number
    /// of bytes that are in order now and go to the application.
    #[inline]
    pub fn add(&mut self, seq: Seq, len: u32) -> Option<u32> {
        // Mostly it is what is expected, and nothing waits behind it.
        if seq == self.next && len > 0 && !self.is_waiting {
            self.next += len;
            if self.fin == Some(self.next) {
                self.next += 1;
            }
            return Some(len);
        }
        self.add_out_of_order(seq, len)
    }

    fn add_out_of_order(&mut self, seq: Seq, len: u32) -> Option<u32> {
        let held = &mut **self.held.get_or_insert_default();
        let mut head = seq.max(self.next);
        let mut tail = seq + len;
        if let Some(first) = held.pending.front() {
            let max = first.start + self.limit;
            if max < tail {
                tail = max;
            }
            if tail < head {
                head = tail;
            }
        }
        let (at, dropped) = held.trim(&mut head, &mut tail);
        self.held_bytes -= dropped;
        if head >= tail {
            return None;
        }
        let stored = (tail - head) as u32;
        if head > self.next {
            let new = Pending { start: head, size: stored, memory: 0, free: 0 };
            let new = if self.counts_memory { held.count(new, at) } else { new };
            held.pending.insert(at, new);
            self.held_bytes += stored;
            held.report(head, tail);
            self.is_waiting = true;
            return Some(0);
        }
        let before = self.next;
        self.next = tail;
        let mut last = self.counts_memory.then(|| held.begin_joining(head, stored));
        while let Some(&first) = held.pending.front() {
            if first.start != self.next {
                break;
            }
            held.pending.pop_front();
            self.held_bytes -= first.size;
            self.next += first.size;
            last = last.map(|last| held.join(first, last));
        }
        let delivered = (self.next - before) as u32;
        if self.fin == Some(self.next) {
            self.next += 1;
            held.release_fin();
        }
        let next = self.next;
        held.sacks.retain(|block| block.1 > next);
        self.is_waiting = !held.pending.is_empty() || !held.sacks.is_empty();
        Some(delivered)
    }
}

impl Held {
    /// Cuts off what is already held; returns where the rest belongs in `pending`, and how many bytes it replaces.
    fn trim(&mut self, head: &mut Seq, tail: &mut Seq) -> (usize, u32) {
        // Mostly it goes behind all that waits, or ends where that begins.
        if self.pending.back().is_none_or(|last| last.end() <= *head) {
            return (self.pending.len(), 0);
        }
        if self.pending.front().is_some_and(|first| *tail <= first.start) {
            return (0, 0);
        }
        let mut i = self.pending.partition_point(|one| one.end() <= *head);
        let mut replaced = 0;
        while let Some(&one) = self.pending.get(i) {
            let (start, end) = (one.start, one.end());
            if start > *tail {
                break;
            }
            if end > *head {
                if start > *head && end < *tail {
                    // Wholly inside the new segment, which replaces it.
                    self.pending.remove(i);
                    self.memory -= one.memory;
                    replaced += one.size;
                    continue;
                }
                if start <= *head {
                    *head = end;
                }
                if end >= *tail {
                    *tail = start;
                }
            }
            i += 1;
        }
        (self.pending.partition_point(|one| one.start < *head), replaced)
    }

    /// One of this place and size is held, before what is `at` that place.
    fn count(&mut self, new: Pending, at: usize) -> Pending {
        let alone = Pending::new(new.start, new.size);
        let before = at.checked_sub(1).and_then(|before| self.pending.get(before));
        let counted = before.map_or(alone, |before| alone.behind(before));
        self.memory += counted.memory;
        counted
    }

    /// A segment has filled a hole.
    fn begin_joining(&mut self, start: Seq, size: u32) -> Pending {
        self.joined = 0;
        Pending::new(start, size)
    }

    /// What was the first one is in order, behind `last`.  Returns what the next one comes behind.
    fn join(&mut self, first: Pending, last: Pending) -> Pending {
        self.memory -= first.memory;
        if first.memory == 0 {
            return last; // which it is a part of
        }
        let one = self.with_followers(first).behind(&last);
        self.joined += one.memory;
        one
    }

    fn release_fin(&mut self) {
        self.memory -= std::mem::take(&mut self.fin);
    }

    /// What was the first one, with those that have joined it.
    fn with_followers(&self, first: Pending) -> Pending {
        let followers = self.pending.iter().take_while(|one| one.memory == 0);
        followers.fold(first, |all, one| Pending {
            size: all.size + one.size,
            free: one.free,
            ..all
        })
    }

    /// RFC 2018 section 4: the block with the segment that has just arrived comes first, merged with
    /// those it touches.
    fn report(&mut self, head: Seq, tail: Seq) {
        let mut first = (head, tail);
        let mut i = 0;
        while i < self.sacks.len() {
            let (start, end) = self.sacks[i];
            if first.0 > end || start > first.1 {
                i += 1;
                continue;
            }
            first = (first.0.min(start), first.1.max(end));
            self.sacks.remove(i);
            i = 0;
        }
        self.sacks.reserve_exact(MAX_SACK_BLOCKS + 1 - self.sacks.len());
        self.sacks.insert(0, first);
        self.sacks.truncate(MAX_SACK_BLOCKS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u32) -> Seq {
        Seq(n)
    }

    #[test]
    fn in_order_data_is_delivered_at_once() {
        let mut rx = Reassembly::new(10_000);
        rx.set_next_rx(at(1));
        assert_eq!(rx.add(at(1), 100), Some(100));
        assert_eq!(rx.next_rx(), at(101));
        assert_eq!(rx.add(at(1), 100), None, "an old segment has nothing new");
    }

    /// Linux 7.3.4: 785 B leave 827 free of the memory that they take, so that as many follow there, and 42 are left.
    #[test]
    fn what_fits_behind_a_segment_takes_no_memory_of_its_own() {
        let held = |count: u32| {
            let mut rx = Reassembly::new(100_000).counting_memory(true);
            for i in 1..=count {
                rx.add(at(785 * i), 785);
            }
            (rx.held_memory(), rx)
        };
        assert_eq!([1, 2, 3, 4].map(|count| held(count).0), [2304, 2304, 4608, 4608]);
        // One fits behind what fills the hole, two that are one already do not; what comes behind them fits.
        for (count, joined) in [(1, 0), (2, 2304), (3, 4608)] {
            let (before, mut rx) = held(count);
            rx.add(at(0), 785);
            assert_eq!((rx.joined_memory(before), rx.held_memory()), (joined, 0), "{count}");
            assert_eq!(rx.joined_memory(0), 0, "nothing was held");
        }
        let mut rx = Reassembly::new(100_000).counting_memory(true);
        rx.add(at(785), 785);
        rx.add(at(2000), 500);
        rx.add(at(1570), 43);
        assert_eq!(rx.held_memory(), 2304 + 1280, "43 B fit behind 785");
        rx.add(at(3000), 785);
        rx.add(at(3785), 828);
        assert_eq!(rx.held_memory(), 2304 + 1280 + 2 * 2304, "and 828 do not");
    }

    /// Linux 7.3.4: 832 B, as all that has no more than 140 B of data.
    #[test]
    fn a_fin_beyond_a_hole_takes_memory_unless_it_follows_what_is_held() {
        let mut rx = Reassembly::new(10_000).counting_memory(true);
        rx.add(at(1000), 500);
        rx.set_fin(at(1500));
        assert!(rx.hold_fin(at(1500)));
        assert_eq!(rx.held_memory(), 1280);
        let mut rx = Reassembly::new(10_000).counting_memory(true);
        rx.add(at(1000), 140);
        rx.set_fin(at(1500));
        rx.report_again((at(1500), at(1501)));
        assert!(!rx.hold_fin(at(1500)));
        assert_eq!(rx.held_memory(), 832 + 832);
        rx.add(at(0), 1000);
        assert_eq!(rx.held_memory(), 832);
        rx.add(at(1140), 360);
        assert_eq!((rx.held_memory(), rx.finished()), (0, true));
    }

    #[test]
    fn the_newest_block_is_reported_first_and_touching_blocks_merge() {
        let mut rx = Reassembly::new(10_000);
        rx.set_next_rx(at(0));
        rx.add(at(200), 100);
        rx.add(at(400), 100);
        assert_eq!(rx.sack_blocks(), [(at(400), at(500)), (at(200), at(300))]);
        rx.add(at(300), 100);
        assert_eq!(rx.sack_blocks(), [(at(200), at(500))]);
        assert_eq!(rx.add(at(0), 200), Some(500));
        assert!(rx.sack_blocks().is_empty() && !rx.has_gap());
    }

    /// As Linux shows it in the ACK that is due before it is put first.
    #[test]
    fn a_block_can_be_extended_where_it_stands() {
        let mut rx = Reassembly::new(10_000);
        for n in [200, 400, 600] {
            rx.add(at(n), 100);
        }
        assert_eq!(rx.touched_block(at(300), 100), 1);
        rx.extend_block(1, at(300), 100);
        let [first, last] = [(at(600), at(700)), (at(200), at(300))];
        assert_eq!(rx.sack_blocks(), [first, (at(300), at(500)), last]);
        rx.add(at(300), 100);
        assert_eq!(rx.sack_blocks(), [(at(200), at(500)), first]);
        rx.extend_block(rx.touched_block(at(900), 100), at(900), 100);
        assert_eq!(rx.sack_blocks(), [(at(200), at(500)), first]);
    }

    /// Linux's order: what has come again is the newest, too, and of a block that was forgotten it is all that is known.
    #[test]
    fn what_comes_again_is_reported_first() {
        let mut rx = Reassembly::new(10_000);
        rx.set_next_rx(at(0));
        for seq in [900, 100, 300, 500, 700] {
            rx.add(at(seq), 50);
        }
        rx.add(at(950), 50);
        rx.report_again((at(300), at(350)));
        let [a, b, c, d] = [300, 950, 700, 500].map(at);
        assert_eq!(rx.sack_blocks(), [(a, a + 50), (b, b + 50), (c, c + 50), (d, d + 50)]);
        rx.report_again((at(900), at(950)));
        assert_eq!(rx.sack_blocks()[0], (at(900), at(1000)));
        rx.report_again((at(0), at(50)));
        assert_eq!(rx.sack_blocks()[0], (at(900), at(1000)), "what is in order is in no block");
    }

    #[test]
    fn every_byte_is_delivered_once_whatever_the_order() {
        // A fixed permutation with overlaps.
        let mut rx = Reassembly::new(100_000);
        let mut total = 0;
        let mut x = 7_u32;
        for _ in 0..5_000 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (seq, len) = ((x >> 8) % 20_000, 1 + (x >> 24) % 200);
            total += rx.add(at(seq), len).unwrap_or(0);
            assert_eq!(total, rx.next_rx().0);
        }
    }
}
