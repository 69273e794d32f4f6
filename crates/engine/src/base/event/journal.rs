//! Which event has drawn which numbers: the order of events across the parts of a network.
//!
//! Among events of one nanosecond those come first that were scheduled first.  In one queue numbers say so.  Parts that run side by
//! side have numbers of their own, and so an event from another part has its place by what scheduled it, and that one by what
//! scheduled it, until times differ or both are of one part.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::Key;
use crate::base::mix::mix;
use crate::base::time::Time;

/// So many numbers are left out between those of two events: events of other parts have them that are due at one time.
pub const ROOM: u64 = 64;

/// No chapter is longer, so that its times and numbers fit 32 bits.
pub const LONGEST: Time = Time::from_secs(1);

/// So many of the last chapters are looked at one by one.
const RECENT: usize = 6;

/// So many orders of two events are known at a time, a power of two.
const KNOWN: usize = 1 << 14;

/// The numbers from `first` on to those of the next one; times and numbers count from those of their chapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drawn {
    /// When the event ran that has drawn them, and its number.
    time: u32,
    first: u32,
    number: u64,
}

/// What is noted at present.
#[derive(Debug, Default)]
pub(super) struct Journal {
    pub(super) chapter: Chapter,
    drawn: Vec<Drawn>,
}

impl Journal {
    /// The event that runs is another than the one before.  Returns from which number on it draws, if `next` is the next
    /// one.
    #[inline]
    pub(super) fn note(&mut self, now: Key, next: u64) -> u64 {
        let Chapter { first, start, .. } = self.chapter;
        let time = (now.time - start).0 as u32;
        if let Some(last) = self.drawn.last_mut()
            && u64::from(last.first) == next - first
        {
            // Nobody asks for an event that has drawn nothing.
            (last.time, last.number) = (time, now.number);
            return next;
        }
        let next = next + ROOM;
        self.drawn.push(Drawn { time, first: (next - first) as u32, number: now.number });
        next
    }

    /// Puts what has been noted before the number `end` into `history`, and begins a chapter with the next number.
    pub(super) fn end(&mut self, end: u64, history: &mut History) {
        history.add(Chapter { end, ..self.chapter }, &self.drawn);
        self.drawn.clear();
    }
}

/// What was noted in one window of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chapter {
    /// When it began.
    pub(super) start: Time,
    /// Its numbers are from here on, and those that other parts' events have after it are the [`ROOM`] from `end` on.
    pub(super) first: u64,
    end: u64,
    /// Where its rows begin, and those of what has come to its end from other parts.
    drawn: u64,
    foreign: u64,
}

impl Chapter {
    fn key(&self, drawn: &Drawn) -> Key {
        Key { time: self.start + Time(drawn.time.into()), number: drawn.number }
    }

    /// Where the numbers begin that events of other parts have before those of this one.
    fn room_before(&self, drawn: &Drawn) -> u64 {
        self.first + u64::from(drawn.first) - ROOM
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
    /// The event that ran in that part, and in which chapter.
    pub by: Key,
    pub chapter: usize,
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

/// The last of many rows, counted from the first there ever was.
#[derive(Debug, Default)]
struct Rows<T> {
    rows: Vec<T>,
    /// As many of them there are at most, a power of two.
    count: usize,
    next: u64,
}

impl<T: Copy> Rows<T> {
    /// Room for `count` rows, a power of two; it is in use only once they are written.
    fn new(count: usize) -> Self {
        Rows { rows: Vec::with_capacity(count), count, next: 0 }
    }

    fn at(&self, index: u64) -> &T {
        &self.rows[index as usize & (self.count - 1)]
    }

    fn add(&mut self, rows: &[T]) {
        for row in rows {
            match self.rows.get_mut(self.next as usize & (self.count - 1)) {
                Some(place) => *place = *row,
                None => self.rows.push(*row),
            }
            self.next += 1;
        }
    }

    /// The first of those from `first` to `end` for which `is_before` does not hold.
    fn partition_point(&self, first: u64, end: u64, is_before: impl Fn(&T) -> bool) -> u64 {
        let (mut low, mut high) = (first, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(self.at(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Whether those from `first` on are among the last `count`.
    fn reach(&self, first: u64, count: usize) -> bool {
        self.next - first <= count as u64
    }
}

/// What one part remembers.
#[derive(Debug, Default)]
pub struct History {
    /// Numbers below this are the same in all parts.
    common: u64,
    chapters: VecDeque<Chapter>,
    /// How many there have been before these.
    forgotten: usize,
    /// Of all there have been, the first that counts: others read what is here while this part is a chapter ahead of them,
    /// so that an eighth of the rows is kept for what they may still ask for.
    oldest: usize,
    /// By time and by number.
    drawn: Rows<Drawn>,
    /// By key.
    foreign: Rows<Foreign>,
}

impl History {
    /// `rows`: how many are kept, a power of two.
    pub fn new(common: u64, rows: usize) -> Self {
        let (drawn, foreign) = (Rows::new(rows), Rows::new(rows / 8));
        History { common, drawn, foreign, ..History::default() }
    }

    /// A window is over.
    fn add(&mut self, chapter: Chapter, drawn: &[Drawn]) {
        let (first, first_foreign) = (self.drawn.next, self.foreign.next);
        self.drawn.add(drawn);
        self.chapters.push_back(Chapter { drawn: first, foreign: first_foreign, ..chapter });
        while let Some(oldest) = self.chapters.front()
            && !self.reaches(oldest, 8)
        {
            self.chapters.pop_front();
            self.forgotten += 1;
        }
        self.oldest = self.oldest.max(self.forgotten);
        while let Some(oldest) = self.chapters.get(self.oldest - self.forgotten)
            && !self.reaches(oldest, 7)
        {
            self.oldest += 1;
        }
    }

    /// Whether all since the beginning of a chapter is among so many eighths of the rows.
    fn reaches(&self, chapter: &Chapter, eighths: usize) -> bool {
        self.drawn.reach(chapter.drawn, self.drawn.count / 8 * eighths)
            && self.foreign.reach(chapter.foreign, self.foreign.count / 8 * eighths)
    }

    /// What has come at the end of the last window.
    pub fn add_foreign(&mut self, foreign: &[Foreign]) {
        self.foreign.add(foreign);
    }

    /// Of all chapters there have been, the first that counts and the last.
    pub fn chapters(&self) -> [usize; 2] {
        [self.oldest, (self.forgotten + self.chapters.len()).saturating_sub(1)]
    }

    /// Who has scheduled the event with this key; none if that is forgotten, or was the same in all parts.
    pub fn origin(&self, part: usize, key: Key) -> Option<Origin> {
        if key.number < self.common {
            return None;
        }
        let at = self.chapter_of(key.number)?;
        let (chapter, next) = (&self.chapters[at], self.chapters.get(at + 1));
        let end = next.map_or(self.drawn.next, |next| next.drawn);
        let offset = key.number - chapter.first;
        let after =
            self.drawn.partition_point(chapter.drawn, end, |d| u64::from(d.first) <= offset);
        let limit =
            if after < end { chapter.room_before(self.drawn.at(after)) } else { chapter.end };
        if key.number < limit {
            let by = chapter.key(self.drawn.at(after - 1));
            return Some(Origin { part, by, chapter: self.forgotten + at, number: key.number });
        }
        let end = next.map_or(self.foreign.next, |next| next.foreign);
        let found = self.foreign.partition_point(chapter.foreign, end, |other| other.key < key);
        let foreign = (found < end).then(|| self.foreign.at(found))?;
        (foreign.key == key).then_some(foreign.origin)
    }

    /// Mostly it is one of the last.
    fn chapter_of(&self, number: u64) -> Option<usize> {
        let recent = self.chapters.iter().rev().take(RECENT);
        let ago = recent.take_while(|chapter| chapter.first > number).count();
        if ago < RECENT {
            return self.chapters.len().checked_sub(1 + ago);
        }
        self.chapters.partition_point(|chapter| chapter.first <= number).checked_sub(1)
    }
}

/// The order among events of all parts, as one of them asks for it.
#[derive(Debug)]
pub struct Ranks {
    own: usize,
    /// The first chapter that all parts remember.
    oldest: usize,
    /// What was asked for before: events that follow each other in one rhythm are asked for again by what they schedule.
    known: Vec<Known>,
    /// What is being found out.
    asked: Vec<[Place; 2]>,
}

/// Two events, by part and number, and their order.
#[derive(Clone, Copy, Debug)]
struct Known {
    events: [(usize, u64); 2],
    order: Ordering,
}

impl Ranks {
    pub fn new(own: usize) -> Self {
        let nothing = Known { events: [(usize::MAX, 0); 2], order: Ordering::Equal };
        Ranks { own, oldest: 0, known: vec![nothing; KNOWN], asked: Vec::new() }
    }

    /// All that came in one window gets its place among what is here.  Puts it in the order of its keys into `placed`, each
    /// with its position among the `arrivals`.  `oldest`: the first chapter that all parts remember.
    ///
    /// # Errors
    /// See [`Lost`].
    pub fn place(
        &mut self,
        arrivals: impl Iterator<Item = Arrival>,
        oldest: usize,
        all: &[&History],
        placed: &mut Vec<(usize, Foreign)>,
    ) -> Result<(), Lost> {
        self.oldest = oldest;
        placed.clear();
        for (i, arrival) in arrivals.enumerate() {
            let key = Key { time: arrival.time, number: self.position(&arrival, all)? };
            placed.push((i, Foreign { key, origin: arrival.origin }));
        }
        let mut lost = None;
        placed.sort_unstable_by(|(_, a), (_, b)| {
            a.key.cmp(&b.key).then_with(|| {
                let (a, b) = (a.origin, b.origin);
                if a.is_told_from(&b) {
                    return a.compare(&b);
                }
                self.order([a, b].map(Origin::event), [None; 2], all).unwrap_or_else(|error| {
                    lost = Some(error);
                    Ordering::Equal
                })
            })
        });
        if let Some(lost) = lost {
            return Err(lost);
        }
        let (mut last, mut rank) = (None, 0);
        for (_, Foreign { key, .. }) in placed {
            rank = if last == Some(*key) { rank + 1 } else { 0 };
            if rank == ROOM {
                return Err(Lost::Crowded);
            }
            last = Some(*key);
            key.number += rank;
        }
        Ok(())
    }

    /// The first of the numbers here that it may have: those before are of events that come before the one that has
    /// scheduled it, during the last window in another part.
    fn position(&mut self, arrival: &Arrival, all: &[&History]) -> Result<u64, Lost> {
        let own = self.own;
        let Some(last) = all[own].chapters.back() else { return Err(Lost::Forgotten) };
        let (rows, by) = (&all[own].drawn, arrival.origin.event());
        let time = (by.key.time - last.start).0 as u32;
        let mut at = rows.partition_point(last.drawn, rows.next, |drawn| drawn.time < time);
        while at < rows.next && rows.at(at).time == time {
            let here = Place { part: own, key: last.key(rows.at(at)) };
            if self.order([here, by], [None, arrival.before], all)? != Ordering::Less {
                break;
            }
            at += 1;
        }
        Ok(if at < rows.next { last.room_before(rows.at(at)) } else { last.end })
    }

    /// The order of two events at the same time; `before`: by whom they were scheduled, as far as that is known.
    fn order(
        &mut self,
        events: [Place; 2],
        before: [Option<Origin>; 2],
        all: &[&History],
    ) -> Result<Ordering, Lost> {
        let (mut events, [mut before_a, mut before_b]) = (events, before);
        let oldest = self.oldest;
        let order = loop {
            let [a, b] = events;
            if a.part == b.part || a.key.number.min(b.key.number) < all[a.part].common {
                break a.key.number.cmp(&b.key.number);
            }
            let known = self.known[slot(&events)];
            if known.events == events.map(|event| (event.part, event.key.number)) {
                break known.order;
            }
            self.asked.push(events);
            let find = |event: Place| all[event.part].origin(event.part, event.key);
            let origins =
                [before_a.take().or_else(|| find(a)), before_b.take().or_else(|| find(b))];
            match origins.map(|origin| origin.filter(|origin| origin.chapter >= oldest)) {
                [Some(a), Some(b)] if a.is_told_from(&b) => break a.compare(&b),
                [Some(a), Some(b)] => events = [a, b].map(Origin::event),
                [None, Some(_)] => break Ordering::Less,
                [Some(_), None] => break Ordering::Greater,
                [None, None] => return Err(Lost::Forgotten),
            }
        };
        for events in self.asked.drain(..) {
            let names = events.map(|event| (event.part, event.key.number));
            self.known[slot(&events)] = Known { events: names, order };
        }
        Ok(order)
    }
}

/// Where the order of two events is kept.
fn slot(events: &[Place; 2]) -> usize {
    let [a, b] = events.map(|event| mix(event.key.number << 8 | event.part as u64));
    (a.rotate_left(32) ^ b) as usize % KNOWN
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from one event to the next: one is drawn.
    const STEP: u32 = ROOM as u32 + 1;

    /// Chapter `n` has `rows` events, each of which draws one number.
    fn add(history: &mut History, n: u64, rows: u32) {
        let drawn: Vec<_> = (0..rows)
            .map(|i| Drawn { time: i, first: ROOM as u32 + i * STEP, number: u64::from(i) })
            .collect();
        let first = 1_000_000 * (n + 1);
        let end = first + u64::from(rows * STEP);
        history.add(Chapter { start: Time(1000 * n), first, end, ..Chapter::default() }, &drawn);
    }

    fn finds(history: &History, n: u64) -> bool {
        let number = 1_000_000 * (n + 1) + ROOM;
        let found = history.origin(0, Key { time: Time(9_999_999), number });
        found.is_some_and(|found| found.chapter == n as usize && found.by.time == Time(1000 * n))
    }

    /// Whoever is a chapter behind still finds all that counted then.
    #[test]
    fn what_counts_is_there_for_a_chapter_longer() {
        let mut history = History::new(0, 256);
        let (mut counted, mut x) = (0, 7_u64);
        for n in 0..500 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            add(&mut history, n, 1 + (x >> 33) as u32 % 30);
            assert!((counted..=n).all(|chapter| finds(&history, chapter)), "chapter {n}");
            let [oldest, last] = history.chapters();
            assert_eq!(last, n as usize);
            assert!(oldest as u64 >= counted);
            counted = oldest as u64;
        }
        assert!(counted > 480);
    }

    #[test]
    fn a_chapter_too_large_to_remember_counts_as_forgotten() {
        let mut history = History::new(0, 64);
        add(&mut history, 0, 3);
        add(&mut history, 1, 60);
        assert_eq!(history.chapters(), [2, 1]);
        assert!(finds(&history, 0));
        add(&mut history, 2, 100);
        assert_eq!(history.chapters()[0], 3);
        assert!(!(0..3).any(|n| finds(&history, n)));
    }
}
