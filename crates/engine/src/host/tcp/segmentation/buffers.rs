//! The kernel's buffers of what waits to be sent (`sk_buff`): what is written fills the last one up before it begins another,
//! and the first one takes of the next what a burst lacks (`tcp_grow_skb`).

use std::collections::VecDeque;

use super::{LARGEST_BURST, Opening};
use crate::host::tcp::memory::doubled;

/// The most that a SYN offers.
const FIRST_WINDOW: u32 = 65_535;
/// In bytes: the most that one holds, and what it counts beside that (x86-64, 7.3.4).
const LARGEST: u32 = 65_343;
const OVERHEAD: u32 = 832;

/// The buffer of which the next segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of it that wait.
    pub left: u32,
    /// Another one waits behind it, so that it is not filled up any more.
    pub is_closed: bool,
    /// A write ended where it does, so that its last segment has PSH.  Where a write of who is ahead ends is not known.
    pub is_pushed: bool,
}

#[derive(Debug)]
pub enum Buffers {
    Ahead(Ahead),
    AsWritten(AsWritten),
}

impl Buffers {
    /// The application that writes so much is not always ahead: all that it wrote before has left, or its first write does not
    /// fill a buffer.
    pub fn are_waited_for(bytes: u32, opening: &Opening<'_>) -> bool {
        let holds = whole(opening, FIRST_WINDOW).min(opening.send_buffer);
        opening.unsent == 0 && (opening.sent > 0 || bytes < holds)
    }

    /// Those of an application that has not been seen to wait for what it sends.
    pub fn ahead(opening: &Opening<'_>) -> Buffers {
        Buffers::Ahead(Ahead::new(opening))
    }

    /// As many segments may leave `together`.
    pub fn head(&mut self, opening: &Opening<'_>, together: u32) -> Head {
        let burst = together * opening.tcb.segment_size;
        match self {
            Buffers::Ahead(ahead) => {
                Head { left: ahead.left(opening, burst), is_closed: true, is_pushed: false }
            }
            Buffers::AsWritten(written) => written.head(opening.sent, burst),
        }
    }
}

/// Those of an application that is always ahead: of half the window that the peer has offered.  When the connection opens as
/// many are filled as the send buffer has room for, twice what was asked for; all others are written once the peer has offered
/// more, and the last of the first ones is filled up then.
#[derive(Debug)]
pub struct Ahead {
    /// In bytes.
    small: u32,
    /// Of all small ones together, without the last.
    all_small: u32,
    /// What the first window lets leave as it is written.
    first: u32,
    /// Where the one ends that took of the next what a burst lacked, in bytes from the first one that was sent on.
    grown: u32,
}

impl Ahead {
    fn new(opening: &Opening<'_>) -> Self {
        let small = whole(opening, FIRST_WINDOW);
        let first = opening.tcb.cwnd;
        let room = doubled(opening.send_buffer).saturating_sub((first + OVERHEAD).into());
        let count = (room / u64::from(small + OVERHEAD)) as u32;
        Ahead { small, all_small: count.saturating_mul(small), first, grown: 0 }
    }

    /// Bytes until the present buffer ends, which takes of the next what a burst of so many lacks.
    fn left(&mut self, opening: &Opening<'_>, burst: u32) -> u32 {
        let left_of_grown = self.grown.wrapping_sub(opening.sent);
        let has_left = u64::from(left_of_grown) > LARGEST_BURST; // it ends behind what was sent
        let grown = if has_left { burst } else { left_of_grown.max(burst) };
        self.grown = opening.sent.wrapping_add(grown);
        self.left_as_written(opening).max(grown)
    }

    fn left_as_written(&self, opening: &Opening<'_>) -> u32 {
        let sent = opening.sent.wrapping_sub(self.first);
        if sent < self.all_small {
            return self.small - sent % self.small;
        }
        let large = whole(opening, u32::MAX);
        large - (sent - self.all_small) % large
    }
}

/// Those of an application that is not: one after another, by what it wrote since it was seen to wait.
#[derive(Debug, Default)]
pub struct AsWritten {
    /// Where each ends that waits, in bytes from the first one that was sent on.
    ends: VecDeque<u32>,
}

impl AsWritten {
    /// `bytes` are written behind what is unsent.  Returns how many of all leave at once: where the first one is full and more
    /// is written, what the window lets leave of it does (`tcp_push_one`), and it takes as much again.
    pub fn add(&mut self, bytes: u32, opening: &Opening<'_>) -> u32 {
        self.forget(opening.sent);
        let whole = whole(opening, u32::MAX);
        let size = opening.tcb.segment_size;
        // What is left of one that has been sent in part takes as much as a new one.
        let mut end = self.ends.pop_back().unwrap_or(opening.sent.wrapping_add(opening.unsent));
        let mut leaving = 0;
        let mut left = bytes;
        while left > 0 {
            let begin = self.ends.back().copied().unwrap_or(opening.sent);
            let more = whole.saturating_sub(end.wrapping_sub(begin)).min(left);
            left -= more;
            end = end.wrapping_add(more);
            if self.ends.is_empty() && more > 0 && left > 0 {
                leaving = (opening.room / size * size).min(left);
                left -= leaving;
                end = end.wrapping_add(leaving);
            }
            self.ends.push_back(end);
        }
        leaving
    }

    /// The first one, with what it takes of the next if it lacks some of a burst of so many bytes.
    fn head(&mut self, sent: u32, burst: u32) -> Head {
        self.forget(sent);
        self.grow(sent, burst);
        let left = self.ends.front().map_or(0, |end| end.wrapping_sub(sent));
        Head { left, is_closed: self.ends.len() > 1, is_pushed: true }
    }

    fn grow(&mut self, sent: u32, burst: u32) {
        let (Some(&first), Some(&next)) = (self.ends.front(), self.ends.get(1)) else { return };
        let lacks = burst.saturating_sub(first.wrapping_sub(sent));
        if lacks < next.wrapping_sub(first) {
            self.ends[0] = first.wrapping_add(lacks);
        } else {
            self.ends.pop_front();
        }
    }

    /// Those that have been sent go.
    fn forget(&mut self, sent: u32) {
        let is_sent = |end: &u32| (end.wrapping_sub(sent) as i32) <= 0;
        while self.ends.front().is_some_and(is_sent) {
            self.ends.pop_front();
        }
    }
}

/// Whole segments that one holds, of a window that the peer offers, in bytes.
fn whole(opening: &Opening<'_>, most: u32) -> u32 {
    let size = opening.tcb.segment_size;
    let half = opening.peer_window.min(most) / 2;
    (half.min(LARGEST) / size).max(1) * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::tcb::Tcb;

    const SIZE: u32 = 1448;

    fn tcb() -> Tcb {
        Tcb { segment_size: SIZE, initial_cwnd: 10, ..Tcb::default() }
    }

    /// Of a peer that offers four segments: a buffer holds two.
    fn opening(tcb: &Tcb, sent: u32, unsent: u32) -> Opening<'_> {
        Opening {
            tcb,
            window: 0,
            peer_window: 4 * SIZE,
            send_buffer: 1 << 20,
            room: 0,
            unsent,
            sent,
            is_closed: false,
            may_cut: true,
            oldest: None,
        }
    }

    fn closed(left: u32) -> Head {
        Head { left, is_closed: true, is_pushed: true }
    }

    fn open(left: u32) -> Head {
        Head { left, is_closed: false, is_pushed: true }
    }

    #[test]
    fn what_is_written_fills_the_last_one_up() {
        let tcb = tcb();
        let mut buffers = AsWritten::default();
        buffers.add(SIZE, &opening(&tcb, 0, 0));
        assert_eq!(buffers.head(0, 0), open(SIZE));
        buffers.add(2 * SIZE, &opening(&tcb, 0, SIZE));
        assert_eq!(buffers.head(0, 0), closed(2 * SIZE));
        assert_eq!(buffers.head(SIZE, 0), closed(SIZE));
        assert_eq!(buffers.head(2 * SIZE, 0), open(SIZE));
    }

    /// The first one is full, and more comes: as much as there is room for leaves at once, and it takes as much again.  One that
    /// was full before stays as it is.
    #[test]
    fn what_a_full_one_lets_leave_makes_room_in_it() {
        let tcb = tcb();
        let with_room = |room: u32, unsent| Opening { room, ..opening(&tcb, 0, unsent) };
        for (room, leaving) in [(0, 0), (SIZE, SIZE), (SIZE + 1, SIZE), (9 * SIZE, 2 * SIZE)] {
            let mut buffers = AsWritten::default();
            assert_eq!(buffers.add(SIZE, &with_room(room, 0)), 0, "it is not full");
            assert_eq!(buffers.add(3 * SIZE, &with_room(room, SIZE)), leaving);
            let wanted = if leaving < 2 * SIZE { closed } else { open };
            assert_eq!(buffers.head(0, 0), wanted(2 * SIZE + leaving));
        }
        let mut buffers = AsWritten::default();
        assert_eq!(buffers.add(2 * SIZE, &with_room(SIZE, 0)), 0);
        assert_eq!(buffers.add(SIZE, &with_room(SIZE, 2 * SIZE)), 0, "it was full before");
        assert_eq!(buffers.head(0, 0), closed(2 * SIZE));
    }

    /// One of two segments, of which one is sent, takes one more.
    #[test]
    fn one_that_is_sent_in_part_takes_more() {
        let tcb = tcb();
        let mut buffers = AsWritten::default();
        buffers.add(2 * SIZE, &opening(&tcb, 0, 0));
        buffers.add(2 * SIZE, &opening(&tcb, SIZE, SIZE));
        assert_eq!(buffers.head(SIZE, 0), closed(2 * SIZE));
        // All is sent: another begins.
        buffers.add(100, &opening(&tcb, 4 * SIZE, 0));
        assert_eq!(buffers.head(4 * SIZE, 0), open(100));
    }

    #[test]
    fn the_first_one_takes_of_the_next_what_a_burst_lacks() {
        let tcb = tcb();
        let mut buffers = AsWritten::default();
        buffers.add(6 * SIZE, &opening(&tcb, 0, 0));
        assert_eq!(buffers.head(SIZE, SIZE), closed(SIZE), "it lacks nothing");
        assert_eq!(buffers.head(SIZE, 2 * SIZE), closed(2 * SIZE));
        assert_eq!(buffers.head(3 * SIZE, SIZE), closed(SIZE));
        assert_eq!(buffers.head(3 * SIZE, 4 * SIZE), open(3 * SIZE), "all of the next");
    }

    /// One of two segments, of which one is sent: a burst of three takes two of the next, which is as much shorter.
    #[test]
    fn one_of_who_is_ahead_takes_of_the_next_what_a_burst_lacks() {
        let tcb = tcb();
        let mut ahead = Ahead { small: 2 * SIZE, all_small: 100 * SIZE, first: 0, grown: 0 };
        let mut left =
            |sent: u32, burst: u32| ahead.left(&opening(&tcb, sent * SIZE, 0), burst * SIZE) / SIZE;
        assert_eq!([left(1, 0), left(1, 3), left(1, 0)], [1, 3, 3]);
        assert_eq!([left(2, 1), left(4, 1), left(5, 1)], [2, 2, 1]);
        // Two and three gigabytes later.
        assert!([1_500_000, 2_000_000].map(|sent| left(sent, 1)).iter().all(|left| *left <= 45));
    }

    /// Beyond four gigabytes, too.
    #[test]
    fn ends_are_counted_modulo_two_to_the_32nd() {
        let tcb = tcb();
        let before = u32::MAX - SIZE;
        let mut buffers = AsWritten::default();
        buffers.add(3 * SIZE, &opening(&tcb, before, 0));
        assert_eq!(buffers.head(before, 0), closed(2 * SIZE));
        let sent = before.wrapping_add(2 * SIZE);
        assert_eq!(buffers.head(sent, 0), open(SIZE));
    }
}
