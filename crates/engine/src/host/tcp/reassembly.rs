//! The receive buffer: puts segments in order and keeps the list of SACK blocks (RFC 9293 section
//! 3.10.7.4, RFC 2018; ns-3's `TcpRxBuffer`).

mod held_memory;

use std::collections::VecDeque;

use held_memory::{HeldMemory, Pending};

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
    memory: HeldMemory,
    /// Most recent first.
    sacks: Vec<SackBlock>,
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
        self.held.as_ref().map_or(0, |held| held.memory.all())
    }

    /// What of it the segment that has just come has put in order, where so much was held before.
    pub fn joined_memory(&self, before: u32) -> u32 {
        self.held.as_ref().map_or(0, |held| held.memory.joined(before))
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
        held.memory.hold_fin(seq, held.pending.back())
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
            let mut new = Pending::new(head, stored);
            if self.counts_memory {
                let before = at.checked_sub(1).and_then(|before| held.pending.get(before));
                new = held.memory.hold(new, before);
            }
            held.pending.insert(at, new);
            self.held_bytes += stored;
            held.report(head, tail);
            self.is_waiting = true;
            return Some(0);
        }
        let before = self.next;
        self.next = tail;
        let filler = Pending::new(head, stored);
        let mut last = self.counts_memory.then(|| held.memory.begin_joining(filler));
        while let Some(&first) = held.pending.front() {
            if first.start != self.next {
                break;
            }
            held.pending.pop_front();
            self.held_bytes -= first.size;
            self.next += first.size;
            last = last.map(|last| held.memory.join(first, &held.pending, last));
        }
        let delivered = (self.next - before) as u32;
        if self.fin == Some(self.next) {
            self.next += 1;
            held.memory.release_fin();
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
                    self.memory.release(one);
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
