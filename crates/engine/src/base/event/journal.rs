//! Which event has drawn which numbers: the order of events across the parts of a network.
//!
//! Among events of one nanosecond those come first that were scheduled first.  In one queue numbers say so.  Parts that run side by
//! side have numbers of their own, and so an event from another part has its place by what scheduled it, and that one by what
//! scheduled it, until times differ or both are of one part.

mod history;
mod ranks;
mod rows;

pub use history::History;
pub use ranks::Ranks;

use std::cmp::Ordering;

use super::{Key, NUMBER_BITS};
use crate::base::time::Time;

/// Each event that draws numbers has those of one block, or of several that follow each other.
const BLOCK: u64 = 64;

/// So many are left out at the beginning of the first: events of other parts have them that come before what this one schedules
/// and are due at the same time.
const ROOM: u64 = 48;

/// What is left for the event itself.
const OWN: u64 = BLOCK - ROOM;

/// No window is longer, so that 32 bits tell the times in one.
pub const LONGEST: Time = Time::from_secs(1);

/// Whose the numbers of a block are: when an event ran, in the upper half, as far as it fits, and in the lower half a
/// [`Link`] to what has scheduled it.
#[derive(Clone, Copy, Debug, Default)]
struct Row(u64);

/// The number of the event that has drawn a block's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// So many before the end of the block.
    Before(u64),
    /// It is the same in all parts.
    Common(u64),
    /// It was drawn longer ago than anybody remembers.
    Old,
    /// The block continues the one that is so many before it.
    Rest(u64),
}

/// No distance is as long: what is from here on is a link of another kind, with a number below half of [`SMALL`].
const FAR: u64 = 3 * SMALL;
const SMALL: u64 = 1 << 30;

impl Row {
    #[inline(always)]
    fn new(time: Time, link: Link) -> Self {
        let link = match link {
            Link::Before(distance) => distance,
            Link::Common(number) => FAR + number,
            Link::Rest(blocks) => FAR + SMALL / 2 + blocks,
            Link::Old => FAR + SMALL - 1,
        };
        Row(time.0 << 32 | link)
    }

    /// Of the same event, so many blocks later.
    fn continued(self, blocks: u64) -> Self {
        Row::new(Time(self.0 >> 32), Link::Rest(blocks))
    }

    fn link(self) -> Link {
        match self.0 & u64::from(u32::MAX) {
            link if link < FAR => Link::Before(link),
            link if link < FAR + SMALL / 2 => Link::Common(link - FAR),
            link if link < FAR + SMALL - 1 => Link::Rest(link - FAR - SMALL / 2),
            _ => Link::Old,
        }
    }

    /// The number of the event whose block this is, which has `block` as its number; none if it continues another.
    #[inline]
    fn number(self, block: u64, common: u64) -> Option<u64> {
        match self.link() {
            Link::Before(distance) => Some((block + 1) * BLOCK - distance),
            Link::Common(number) => Some(number),
            // That one is forgotten, too.
            Link::Old => Some(common),
            Link::Rest(_) => None,
        }
    }

    /// When the event ran, after `start` and within 32 bits of it.
    #[inline]
    fn time_after(self, start: Time) -> Time {
        start + Time(u64::from(((self.0 >> 32) as u32).wrapping_sub(start.0 as u32)))
    }
}

/// What is noted at present: the blocks of one window of time.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// Numbers below this are the same in all parts.
    common: u64,
    start: Time,
    /// The first block.
    first: u64,
    /// Of these the first `len` are in use.
    rows: Vec<Row>,
    len: usize,
    /// The first number that the event has drawn which runs, or would have.
    own: u64,
}

impl Journal {
    /// `next`: the next number.
    pub(super) fn new(next: u64) -> Self {
        Journal { common: next.next_multiple_of(BLOCK), ..Journal::default() }
    }

    pub(super) fn common(&self) -> u64 {
        self.common
    }

    /// A window of time begins at `start`, and `next` is the next number, with which a block begins.
    pub(super) fn begin(&mut self, start: Time, next: u64) {
        (self.start, self.first, self.len) = (start, next / BLOCK, 0);
        // As if an event had drawn one number.
        self.own = next - 1;
    }

    /// The event that runs is another than the one before.  Returns from which number on it draws, if `next` is the next
    /// one; none if that is to be [noted slowly](Self::note_slowly).
    #[inline(always)] // on every event, where it is called at all
    pub(super) fn note(&mut self, now: Key, next: u64) -> Option<u64> {
        // Nobody asks for an event that has drawn nothing: this one takes its place.  (Computed, for it is hard to predict.)
        let drawn = next - self.own;
        let len = self.len + usize::from(drawn > 0);
        let end = (self.first + len as u64) * BLOCK;
        let distance = end - now.number;
        let row = self.rows.get_mut(len.wrapping_sub(1))?;
        if drawn > OWN || distance >= FAR {
            return None;
        }
        *row = Row::new(now.time, Link::Before(distance));
        (self.len, self.own) = (len, end - OWN);
        Some(self.own)
    }

    /// The same where there is no row for it yet, the event before has drawn more than a block has, or this one was scheduled
    /// long ago.
    #[cold]
    pub(super) fn note_slowly(&mut self, now: Key, next: u64) -> u64 {
        self.close(next);
        self.len += usize::from(next > self.own);
        let end = (self.first + self.len as u64) * BLOCK;
        let link = match end - now.number {
            distance if distance < FAR => Link::Before(distance),
            _ if now.number < self.common.min(SMALL / 2) => Link::Common(now.number),
            _ => Link::Old,
        };
        self.put(self.len - 1, Row::new(now.time, link));
        self.own = end - OWN;
        self.own
    }

    /// The event that ran last has drawn the numbers before `next`: more blocks may be its own.
    fn close(&mut self, next: u64) {
        let Some(head) = self.len.checked_sub(1) else { return };
        let end = (self.first + self.len as u64) * BLOCK;
        for block in 1..=next.saturating_sub(end).div_ceil(BLOCK) {
            self.put(self.len, self.rows[head].continued(block));
            self.len += 1;
        }
    }

    fn put(&mut self, at: usize, row: Row) {
        if at >= self.rows.len() {
            self.rows.resize(2 * at + 1, Row::default());
        }
        self.rows[at] = row;
    }

    /// The window is over, and `next` the next number.  Puts what has been noted into `history`, and returns the first number
    /// of another block.
    pub(super) fn end(&mut self, next: u64, history: &mut History) -> u64 {
        self.close(next);
        // What others have sent after all this has the room of a block of its own.
        self.put(self.len, Row::default());
        history.add(self);
        (self.first + self.len as u64 + 1) * BLOCK
    }
}

/// An event that another part has scheduled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Foreign {
    /// Its key here.
    pub key: Key,
    pub origin: Origin,
}

/// What the part tells of it that has scheduled it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub time: Time,
    pub origin: Origin,
    /// By whom the event was scheduled that has scheduled this one; none if that is forgotten, or the same in all parts.  To
    /// ask for it is to read another core's memory.
    pub before: Option<Origin>,
}

/// By whom an event was scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub part: usize,
    /// The event that ran in that part.
    pub by: Key,
    /// What it has drawn there.
    pub number: u64,
}

impl Origin {
    fn event(self) -> Place {
        Place { part: self.part, key: self.by }
    }

    /// Whether what was scheduled here and there has an order that does not depend on that of events at the same time.
    fn is_told_from(&self, other: &Origin) -> bool {
        self.part == other.part || self.by.time != other.by.time
    }

    fn compare(&self, other: &Origin) -> Ordering {
        if self.part == other.part {
            return self.number.cmp(&other.number);
        }
        self.by.time.cmp(&other.by.time)
    }
}

/// An event, and in whose numbers its key is.
#[derive(Clone, Copy, Debug)]
struct Place {
    part: usize,
    key: Key,
}

/// Bits of a [`Place::name`].
const NAME_BITS: u32 = 62;

impl Place {
    fn name(self) -> u64 {
        (self.part as u64) << NUMBER_BITS | self.key.number
    }
}

/// Why parts cannot go on by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The order of two events was decided longer ago than anybody remembers.
    Forgotten,
    /// More than [`ROOM`] events from other parts at one time.
    Crowded,
    /// Numbers no longer fit beside their events.
    Numbers,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_it_was_made_of() {
        let (far, small) = ([0, 1, FAR - 1], [0, 1, SMALL / 2 - 2]);
        let kinds = [far.map(Link::Before), small.map(Link::Common), small.map(Link::Rest)];
        for link in kinds.into_iter().flatten().chain([Link::Old]) {
            for time in [0, 1, u64::from(u32::MAX), 7 << 32 | 5].map(Time) {
                let row = Row::new(time, link);
                assert_eq!(row.link(), link);
                assert_eq!(row.time_after(Time(time.0.saturating_sub(LONGEST.0))), time);
            }
        }
    }

    #[test]
    fn a_row_says_what_is_left_of_an_event_that_was_scheduled_long_ago() {
        let next = 2 * FAR;
        let end = next + BLOCK;
        let common = end - FAR;
        for (number, link) in [
            (end - FAR + 1, Link::Before(FAR - 1)),
            (end - FAR, Link::Old),
            (7, Link::Common(7)),
            (SMALL / 2, Link::Old),
        ] {
            let mut journal = Journal::new(common);
            journal.rows = vec![Row::default(); 4];
            journal.begin(Time(5), next);
            let now = Key { time: Time(6), number };
            let draws_from = journal.note(now, next);
            assert_eq!(draws_from.is_some(), link == Link::Before(FAR - 1));
            assert_eq!(draws_from.unwrap_or_else(|| journal.note_slowly(now, next)), end - OWN);
            assert_eq!((journal.len, journal.rows[0].link()), (1, link));
        }
    }
}
