//! The kernel's write queue: the pieces of what waits to be sent (`sk_buff`), and the memory that all pieces take of the send buffer.
//!
//! What is written fills the last one up before it begins another, and the first one takes of the next what a burst lacks
//! (`tcp_grow_skb`).  Each burst is a piece of its own, which is cut off the first one.  An application that has filled the send
//! buffer is told of room once a third of it is free (`sk_stream_is_writeable`).

use std::collections::VecDeque;

use super::Opening;
use super::burst::{LARGEST_BURST, burst, quota, waits};
use crate::host::tcp::memory::doubled;

/// The most that a SYN offers.
const FIRST_WINDOW: u32 = 65_535;
/// In bytes: what one takes beside what it holds (x86-64, 7.3.4).
const OVERHEAD: u32 = 832;

/// The piece of which the next segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of it that wait.
    pub left: u32,
    /// Another one waits behind it, so that it is not filled up any more.
    pub is_closed: bool,
    /// Its last segment has PSH.
    pub is_pushed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    /// In bytes from the first one that was sent on, as all places here.
    end: u32,
    is_pushed: bool,
}

#[derive(Debug, Default)]
pub struct WriteQueue {
    /// Those that wait to be sent.
    waiting: VecDeque<Piece>,
    /// What leaves within the last write, in bytes.
    bursts: VecDeque<u32>,
    /// The largest window that the peer has offered.
    largest_window: u32,
    /// Where PSH was last set.
    pushed: u32,
    /// The application waits for room.
    is_full: bool,
}

impl WriteQueue {
    /// So many bytes would an application write that has them.
    pub fn room(&mut self, opening: &Opening<'_>) -> u32 {
        self.follow(opening);
        let most = doubled(opening.send_buffer);
        let memory = self.memory(opening);
        if self.is_full && most.saturating_sub(memory) < memory / 2 {
            return 0;
        }
        self.is_full = false;
        let mut writing = Writing::new(self, opening);
        let mut bytes = 0;
        while let Some(taken) = writing.fill(u32::MAX, most) {
            bytes += u64::from(taken.bytes);
            if !writing.is_in_first() {
                break; // nothing leaves any more
            }
            writing.push(false, |_| {});
        }
        let left = most.saturating_sub(writing.memory);
        let whole = writing.whole;
        bytes += left.div_ceil((whole + OVERHEAD).into()) * u64::from(whole);
        bytes.try_into().unwrap_or(u32::MAX)
    }

    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// `bytes` are written behind what is unsent ([`WriteQueue::next_burst`]).
    pub fn add(&mut self, bytes: u32, fills: bool, opening: &Opening<'_>) {
        self.follow(opening);
        self.is_full = fills;
        self.bursts.clear();
        let mut writing = Writing::new(self, opening);
        let mut left = bytes;
        while left > 0
            && let Some(taken) = writing.fill(left, u64::MAX)
        {
            let goes_on = left == bytes; // the write before does not end there any more
            left -= taken.bytes;
            let is_pushed = writing.push(left == 0, |burst| self.bursts.push_back(burst));
            if taken.begins {
                self.waiting.push_back(Piece { end: writing.end, is_pushed });
            } else if let Some(last) = self.waiting.back_mut() {
                last.end = writing.end;
                last.is_pushed = is_pushed || last.is_pushed && !goes_on;
            }
        }
        self.pushed = writing.pushed;
    }

    /// Bytes of the next burst that leaves within the last write, if one does.
    pub fn next_burst(&mut self) -> Option<u32> {
        self.bursts.pop_front()
    }

    /// The first one, with what it takes of the next if it lacks some of a burst of so many segments.
    pub fn head(&mut self, opening: &Opening<'_>, together: u32) -> Head {
        self.follow(opening);
        self.grow(opening.sent, together * opening.tcb.segment_size);
        self.waiting.front().map_or(
            Head { left: opening.unsent, is_closed: false, is_pushed: true },
            |first| Head {
                left: first.end.wrapping_sub(opening.sent),
                is_closed: self.waiting.len() > 1,
                is_pushed: first.is_pushed,
            },
        )
    }

    fn grow(&mut self, sent: u32, burst: u32) {
        let (Some(&first), Some(&next)) = (self.waiting.front(), self.waiting.get(1)) else {
            return;
        };
        let lacks = burst.saturating_sub(first.end.wrapping_sub(sent));
        if lacks < next.end.wrapping_sub(first.end) {
            self.waiting[0].end = first.end.wrapping_add(lacks);
        } else {
            self.waiting.pop_front();
            self.waiting[0].is_pushed |= first.is_pushed;
        }
    }

    /// Those that have been sent go.
    fn follow(&mut self, opening: &Opening<'_>) {
        self.largest_window = self.largest_window.max(opening.peer_window);
        let is_sent = |first: &Piece| first.end.wrapping_sub(opening.sent) as i32 <= 0;
        while self.waiting.front().is_some_and(is_sent) {
            self.waiting.pop_front();
        }
    }

    /// What all of them take, with those that are sent and not acknowledged.
    fn memory(&self, opening: &Opening<'_>) -> u64 {
        let bytes = u64::from(opening.unsent) + u64::from(opening.unacked);
        let count = self.waiting.len() as u64 + u64::from(opening.pieces);
        bytes + count * u64::from(OVERHEAD)
    }

    /// Whole segments that one holds, of half the largest window.
    fn whole(&self, opening: &Opening<'_>) -> u32 {
        let size = opening.tcb.segment_size;
        let window = if self.largest_window > 0 { self.largest_window } else { FIRST_WINDOW };
        ((window / 2).min(LARGEST_BURST) / size).max(1) * size
    }
}

/// A write, piece by piece.  Where the first piece is full and more is written, a burst of it leaves (`tcp_push_one`), or with PSH all
/// bursts that do not wait for more; it takes as much again.
struct Writing<'a> {
    opening: &'a Opening<'a>,
    largest_window: u32,
    /// What a piece holds.
    whole: u32,
    /// What all pieces take.
    memory: u64,
    /// What the windows let leave.
    may_leave: u32,
    has_left: bool,
    pushed: u32,
    sent: u32,
    /// Of the last piece, what of it has not been sent.
    begin: u32,
    end: u32,
}

/// What a piece took of a write.
struct Taken {
    bytes: u32,
    /// It is another one than before.
    begins: bool,
}

impl<'a> Writing<'a> {
    fn new(queue: &WriteQueue, opening: &'a Opening<'a>) -> Self {
        let (sent, end) = (opening.sent, opening.sent.wrapping_add(opening.unsent));
        let before = queue.waiting.len().checked_sub(2).map(|at| queue.waiting[at].end);
        let begin = before.filter(|end| end.wrapping_sub(sent) as i32 > 0).unwrap_or(sent);
        Self {
            opening,
            largest_window: queue.largest_window,
            whole: queue.whole(opening),
            memory: queue.memory(opening),
            may_leave: leaving(opening),
            has_left: false,
            pushed: queue.pushed,
            sent,
            begin,
            end,
        }
    }

    /// The last piece is filled up, or if it is full another begins, for which less than `most` has to be taken.
    fn fill(&mut self, left: u32, most: u64) -> Option<Taken> {
        let held = self.end.wrapping_sub(self.begin);
        let begins = held == 0 || held >= self.whole;
        if begins {
            if self.memory >= most {
                return None;
            }
            self.memory += u64::from(OVERHEAD);
            self.begin = self.end;
        }
        let bytes = (self.whole - self.end.wrapping_sub(self.begin)).min(left);
        self.memory += u64::from(bytes);
        self.end = self.end.wrapping_add(bytes);
        Some(Taken { bytes, begins })
    }

    fn is_in_first(&self) -> bool {
        self.begin == self.sent
    }

    /// What has been written leaves where it is to make room.  Returns whether the last piece gets PSH: what ends a write does, and one
    /// of each half window (`forced_push`).
    fn push(&mut self, ends_write: bool, mut leave: impl FnMut(u32)) -> bool {
        let is_far = self.end.wrapping_sub(self.pushed) > self.largest_window / 2;
        let is_pushed = ends_write || is_far;
        if is_pushed {
            self.pushed = self.end;
        }
        let mut left = self.end.wrapping_sub(self.sent);
        if ends_write || left != self.whole || !self.is_in_first() {
            return is_pushed;
        }
        let opening = self.opening;
        let segments = burst(opening.tcb);
        let before = left;
        while self.may_leave > 0 && left > 0 && (is_pushed || left == before) {
            let room = self.may_leave;
            if is_pushed && waits(&Opening { room, ..*opening }, segments, self.has_left) {
                break;
            }
            let bytes = burst_of(opening).min(room).min(left);
            leave(bytes);
            self.may_leave -= bytes;
            self.sent = self.sent.wrapping_add(bytes);
            self.begin = self.sent;
            left -= bytes;
            self.memory += if left > 0 { OVERHEAD.into() } else { 0 };
            self.has_left = true;
        }
        is_pushed
    }
}

/// What leaves together, in bytes, a segment at least.
fn burst_of(opening: &Opening<'_>) -> u32 {
    quota(opening, burst(opening.tcb)).max(1) * opening.tcb.segment_size
}

/// Whole segments that the window lets leave, and a part of one where the peer's ends within a burst.
fn leaving(opening: &Opening<'_>) -> u32 {
    let size = opening.tcb.segment_size;
    let offered = opening.peer_window.saturating_sub(opening.unacked);
    let whole = opening.room.min(offered) / size;
    let is_within_burst = !(whole * size).is_multiple_of(burst_of(opening));
    let is_cut = opening.may_cut && offered / size == whole && is_within_burst;
    if is_cut { offered } else { whole * size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Time;
    use crate::host::tcp::tcb::Tcb;

    const SIZE: u32 = 1448;

    fn tcb() -> Tcb {
        Tcb { segment_size: SIZE, initial_cwnd: 10, least_burst: 2, ..Tcb::default() }
    }

    /// Of a peer that offers four segments: a piece holds two.
    fn opening(tcb: &Tcb, sent: u32, unsent: u32) -> Opening<'_> {
        Opening {
            tcb,
            window: 0,
            peer_window: 4 * SIZE,
            send_buffer: 1 << 20,
            room: 0,
            unsent,
            sent,
            unacked: 0,
            pieces: 0,
            is_closed: false,
            may_cut: true,
            oldest: None,
        }
    }

    /// What is left of the first one, and whether another waits behind it.
    type Left = (u32, bool);

    fn closed(left: u32) -> Left {
        (left, true)
    }

    fn open(left: u32) -> Left {
        (left, false)
    }

    fn head(queue: &mut WriteQueue, sent: u32, together: u32) -> Left {
        let head = queue.head(&opening(&tcb(), sent, 0), together);
        (head.left, head.is_closed)
    }

    /// 45 segments fit into a piece: the second write goes on in the first one, and ends in the next.
    #[test]
    fn psh_goes_where_another_write_goes_on() {
        let tcb = tcb();
        let large = Opening { peer_window: 1 << 20, ..opening(&tcb, 0, 0) };
        let mut queue = WriteQueue::default();
        queue.add(SIZE, false, &large);
        assert!(queue.head(&large, 0).is_pushed);
        let whole = 45 * SIZE;
        queue.add(whole, false, &Opening { unsent: SIZE, ..large });
        let first = queue.head(&large, 0);
        assert_eq!((first.left, first.is_pushed), (whole, false));
        assert!(queue.head(&Opening { sent: whole, ..large }, 0).is_pushed);
    }

    #[test]
    fn what_is_written_fills_the_last_one_up() {
        let tcb = tcb();
        let mut queue = WriteQueue::default();
        queue.add(SIZE, false, &opening(&tcb, 0, 0));
        assert_eq!(head(&mut queue, 0, 0), open(SIZE));
        queue.add(2 * SIZE, false, &opening(&tcb, 0, SIZE));
        assert_eq!(head(&mut queue, 0, 0), closed(2 * SIZE));
        assert_eq!(head(&mut queue, SIZE, 0), closed(SIZE));
        assert_eq!(head(&mut queue, 2 * SIZE, 0), open(SIZE));
    }

    /// The first one is full, and more comes: as much as there is room for leaves at once, and it takes as much again.  One that
    /// was full before stays as it is.
    #[test]
    fn what_a_full_one_lets_leave_makes_room_in_it() {
        let tcb = tcb();
        let with_room = |room: u32, unsent| Opening { room, ..opening(&tcb, 0, unsent) };
        for (room, leaving) in [(0, 0), (SIZE, SIZE), (SIZE + 1, SIZE), (9 * SIZE, 2 * SIZE)] {
            let mut queue = WriteQueue::default();
            queue.add(SIZE, false, &with_room(room, 0));
            assert_eq!(queue.next_burst(), None, "it is not full");
            queue.add(3 * SIZE, false, &with_room(room, SIZE));
            assert_eq!(std::iter::from_fn(|| queue.next_burst()).sum::<u32>(), leaving);
            let wanted = if leaving < 2 * SIZE { closed } else { open };
            assert_eq!(head(&mut queue, 0, 0), wanted(2 * SIZE + leaving));
        }
        let mut queue = WriteQueue::default();
        queue.add(2 * SIZE, false, &with_room(SIZE, 0));
        queue.add(SIZE, false, &with_room(SIZE, 2 * SIZE));
        assert_eq!(queue.next_burst(), None, "it was full before");
        assert_eq!(head(&mut queue, 0, 0), closed(2 * SIZE));
    }

    /// However wide cwnd is.
    #[test]
    fn nothing_leaves_a_full_one_where_the_peer_has_no_room() {
        let tcb = tcb();
        for (unacked, leaving) in [(0, 2 * SIZE), (3 * SIZE, SIZE), (4 * SIZE, 0)] {
            let full = Opening { room: 9 * SIZE, unacked, ..opening(&tcb, 0, SIZE) };
            let mut queue = WriteQueue::default();
            queue.add(SIZE, false, &Opening { unsent: 0, ..full });
            queue.add(3 * SIZE, false, &full);
            assert_eq!(std::iter::from_fn(|| queue.next_burst()).sum::<u32>(), leaving);
        }
    }

    /// With PSH, which comes here with the seventh segment, less than a burst of three waits for more of the window, as it does elsewhere.
    #[test]
    fn what_is_less_than_a_burst_waits_within_a_write() {
        let leaving = |srtt: Time, room: u32| {
            let now = Time::from_ms(100);
            let tcb = Tcb { now, srtt, least_burst: 3, cwnd: 60 * SIZE, ..tcb() };
            let oldest = Some(now - Time::from_ms(20));
            let wide = Opening { window: 60 * SIZE, peer_window: 8 * SIZE, ..opening(&tcb, 0, 0) };
            let wide = Opening { room: room * SIZE, oldest, ..wide };
            let mut queue = WriteQueue::default();
            queue.add(12 * SIZE, false, &wide);
            std::iter::from_fn(|| queue.next_burst()).map(|bytes| bytes / SIZE).collect::<Vec<_>>()
        };
        let [soon, late] = [20, 40].map(Time::from_ms);
        assert_eq!(leaving(soon, 6), [3, 3]);
        assert_eq!(leaving(soon, 4), [3]);
        assert_eq!(leaving(late, 4), [3, 1], "the next ACK is far away");
    }

    /// One of two segments, of which one is sent, takes one more.
    #[test]
    fn one_that_is_sent_in_part_takes_more() {
        let tcb = tcb();
        let mut queue = WriteQueue::default();
        queue.add(2 * SIZE, false, &opening(&tcb, 0, 0));
        queue.add(2 * SIZE, false, &opening(&tcb, SIZE, SIZE));
        assert_eq!(head(&mut queue, SIZE, 0), closed(2 * SIZE));
        // All is sent: another begins.
        queue.add(100, false, &opening(&tcb, 4 * SIZE, 0));
        assert_eq!(head(&mut queue, 4 * SIZE, 0), open(100));
    }

    #[test]
    fn the_first_one_takes_of_the_next_what_a_burst_lacks() {
        let tcb = tcb();
        let mut queue = WriteQueue::default();
        for sent in 0..3 {
            let unsent = 2 * sent * SIZE;
            queue.add(2 * SIZE, false, &opening(&tcb, 0, unsent));
        }
        assert_eq!(head(&mut queue, SIZE, 1), closed(SIZE), "it lacks nothing");
        assert_eq!(head(&mut queue, SIZE, 2), closed(2 * SIZE));
        assert_eq!(head(&mut queue, 3 * SIZE, 1), closed(SIZE));
        assert_eq!(head(&mut queue, 3 * SIZE, 4), open(3 * SIZE), "all of the next");
    }

    /// Half of 65,535 B is 22 segments, so that PSH comes with each second piece.
    #[test]
    fn psh_is_set_at_each_half_of_the_window_and_at_the_end() {
        let tcb = tcb();
        let of_syn = |sent: u32| Opening { peer_window: 65_535, ..opening(&tcb, sent * SIZE, 0) };
        let mut queue = WriteQueue::default();
        queue.add(130 * SIZE, false, &of_syn(0));
        let pushed = [0, 22, 44, 66, 88, 110].map(|sent| {
            let head = queue.head(&of_syn(sent), 1);
            (head.left / SIZE, head.is_pushed)
        });
        let with = |left| (left, true);
        let without = |left| (left, false);
        assert_eq!(pushed, [without(22), with(22), without(22), with(22), without(22), with(20)]);
    }

    /// Each piece takes 832 B beside its data, those on their way, too; once it is full it takes no more until a third is free.
    #[test]
    fn what_is_free_is_written_a_third_of_it_at_once() {
        let tcb = tcb();
        let large = |unsent, unacked, pieces| Opening {
            send_buffer: 500_000,
            peer_window: 1 << 22,
            unacked,
            pieces,
            ..opening(&tcb, unacked, unsent)
        };
        let whole = 45 * SIZE;
        let mut queue = WriteQueue::default();
        let room = queue.room(&large(0, 0, 0));
        assert_eq!(room, 16 * whole, "15 take 989,880 B");
        queue.add(room, true, &large(0, 0, 0));
        assert!(queue.is_full());
        // All of it has left in bursts of five segments, and is acknowledged as far as that.
        let left = |bursts: u32| large(0, bursts * 5 * SIZE, bursts);
        assert_eq!(queue.room(&Opening { sent: room, ..left(83) }), 0, "669,976 B");
        let some = queue.room(&Opening { sent: room, ..left(82) });
        assert_eq!(some, 6 * whole, "661,904 B, and five take 329,960 B");
        assert!(!queue.is_full());
    }

    #[test]
    fn a_send_buffer_may_be_larger_than_what_its_room_can_say() {
        let tcb = tcb();
        let large = Opening { send_buffer: u32::MAX, ..opening(&tcb, 0, 0) };
        assert_eq!(WriteQueue::default().room(&large), u32::MAX);
    }

    /// Beyond four gigabytes, too.
    #[test]
    fn ends_are_counted_modulo_two_to_the_32nd() {
        let tcb = tcb();
        let before = u32::MAX - SIZE;
        let mut queue = WriteQueue::default();
        queue.add(3 * SIZE, false, &opening(&tcb, before, 0));
        assert_eq!(head(&mut queue, before, 0).0, 2 * SIZE);
        let sent = before.wrapping_add(2 * SIZE);
        assert_eq!(head(&mut queue, sent, 0), open(SIZE));
    }
}
