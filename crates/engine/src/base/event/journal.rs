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
    /// Of these the first `len` are in use.
    drawn: Vec<Drawn>,
    len: usize,
    /// The first number of the last of them.
    last_first: u64,
}

impl Journal {
    /// A window of time begins at `start`, and `first` is the next number.
    pub(super) fn begin(&mut self, start: Time, first: u64) {
        (self.chapter.start, self.chapter.first) = (start, first);
        (self.len, self.last_first) = (0, 0);
    }

    /// The event that runs is another than the one before.  Returns from which number on it draws, if `next` is the next
    /// one; none if there is no room to note it.
    #[inline(always)] // on every event, where it is called at all
    pub(super) fn note(&mut self, now: Key, next: u64) -> Option<u64> {
        // Nobody asks for an event that has drawn nothing: this one takes its place.  (Computed, for it is hard to predict.)
        let has_drawn = u64::from(self.last_first != next);
        let len = self.len + has_drawn as usize;
        let row = self.drawn.get_mut(len.wrapping_sub(1))?;
        let next = next + ROOM * has_drawn;
        let time = (now.time.0 - self.chapter.start.0) as u32;
        *row = Drawn { time, first: (next - self.chapter.first) as u32, number: now.number };
        (self.len, self.last_first) = (len, next);
        Some(next)
    }

    /// Makes room for more.
    pub(super) fn grow(&mut self) {
        self.drawn.resize(2 * self.len + 1, Drawn::default());
    }

    /// Puts what has been noted before the number `end` into `history`, and begins a chapter with the next number.
    pub(super) fn end(&mut self, end: u64, history: &mut History) {
        history.add(Chapter { end, ..self.chapter }, &self.drawn[..self.len]);
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
    /// How many there are of each.
    count: u32,
    foreign_count: u32,
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

    /// Adds these side by side, so that [`Rows::slice`] has them.  Returns where the first of them is; they are not
    /// [within reach](Rows::reach) if they are too many.
    fn add(&mut self, rows: &[T]) -> u64 {
        let mut at = self.next as usize & (self.count - 1);
        if at + rows.len() > self.count {
            self.next += (self.count - at) as u64;
            at = 0;
        }
        let first = self.next;
        if rows.len() > self.count {
            self.next = (first + 1 + rows.len() as u64).next_multiple_of(self.count as u64);
            return first;
        }
        let there = (self.rows.len() - at).min(rows.len());
        self.rows[at..at + there].copy_from_slice(&rows[..there]);
        self.rows.extend_from_slice(&rows[there..]);
        self.next += rows.len() as u64;
        first
    }

    /// So many that were added together.
    fn slice(&self, first: u64, rows: usize) -> &[T] {
        let at = first as usize & (self.count - 1);
        &self.rows[at..at + rows]
    }

    /// Whether those from `first` on are among the last `count`.
    fn reach(&self, first: u64, count: usize) -> bool {
        self.next - first <= count as u64
    }
}

/// The first of `rows` for which `is_before` does not hold, probably not far from `near`.
#[inline]
fn point_near<T>(rows: &[T], near: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let near = near.min(rows.len());
    let (mut low, mut high, mut step) = (0, rows.len(), 1);
    if rows.get(near).is_some_and(&is_before) {
        low = near + 1;
        while let Some(row) = rows.get(low + step) {
            if !is_before(row) {
                high = low + step;
                break;
            }
            (low, step) = (low + step + 1, 2 * step);
        }
    } else {
        high = near;
        while high >= step {
            if is_before(&rows[high - step]) {
                low = high - step + 1;
                break;
            }
            (high, step) = (high - step, 2 * step);
        }
    }
    low + rows[low..high].partition_point(is_before)
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
    /// so that a quarter of the rows is kept for what they may still ask for.
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
        let (first, count) = (self.drawn.add(drawn), drawn.len() as u32);
        self.chapters.push_back(Chapter {
            drawn: first,
            count,
            foreign: self.foreign.next,
            ..chapter
        });
        while let Some(oldest) = self.chapters.front()
            && !self.reaches(oldest, 8)
        {
            self.chapters.pop_front();
            self.forgotten += 1;
        }
        self.oldest = self.oldest.max(self.forgotten);
        while let Some(oldest) = self.chapters.get(self.oldest - self.forgotten)
            && !self.reaches(oldest, 6)
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
        let first = self.foreign.add(foreign);
        if let Some(last) = self.chapters.back_mut() {
            (last.foreign, last.foreign_count) = (first, foreign.len() as u32);
        }
    }

    fn drawn_in(&self, chapter: &Chapter) -> &[Drawn] {
        self.drawn.slice(chapter.drawn, chapter.count as usize)
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
        let chapter = &self.chapters[at];
        let (rows, offset) = (self.drawn_in(chapter), key.number - chapter.first);
        // Few events draw more than two numbers, which is little beside the room between them.
        let near = (offset * rows.len() as u64).checked_div(chapter.end - chapter.first);
        let is_before = |drawn: &Drawn| u64::from(drawn.first) <= offset;
        let after = point_near(rows, near.unwrap_or(0) as usize, is_before);
        let limit = rows.get(after).map_or(chapter.end, |drawn| chapter.room_before(drawn));
        if key.number < limit {
            let by = chapter.key(&rows[after - 1]);
            return Some(Origin { part, by, chapter: self.forgotten + at, number: key.number });
        }
        let foreign = self.foreign.slice(chapter.foreign, chapter.foreign_count as usize);
        let found = foreign.binary_search_by_key(&key, |foreign| foreign.key).ok()?;
        Some(foreign[found].origin)
    }

    /// Mostly it is one of the last.
    fn chapter_of(&self, number: u64) -> Option<usize> {
        let count = self.chapters.len();
        for at in (0..count).rev().take(RECENT) {
            if self.chapters[at].first <= number {
                return Some(at);
            }
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
    /// Where the event that has come last was sent among those here.
    near: usize,
    /// What was asked for before: events that follow each other in one rhythm are asked for again by what they schedule.
    known: Vec<Known>,
    /// What is being found out.
    asked: Vec<[Place; 2]>,
    /// Memory to be used again.
    keys: Vec<(Key, u32)>,
    origins: Vec<Origin>,
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
        Ranks {
            own,
            oldest: 0,
            near: 0,
            known: vec![nothing; KNOWN],
            asked: Vec::new(),
            keys: Vec::new(),
            origins: Vec::new(),
        }
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
        self.near = 0;
        placed.clear();
        let (mut keys, mut origins) =
            (std::mem::take(&mut self.keys), std::mem::take(&mut self.origins));
        keys.clear();
        origins.clear();
        for (i, arrival) in arrivals.enumerate() {
            let key = Key { time: arrival.time, number: self.position(&arrival, all)? };
            keys.push((key, i as u32));
            origins.push(arrival.origin);
        }
        let mut lost = None;
        keys.sort_unstable_by(|(key, a), (other, b)| {
            key.cmp(other).then_with(|| {
                let [a, b] = [a, b].map(|&i| origins[i as usize]);
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
        for &(mut key, i) in &keys {
            rank = if last == Some(key) { rank + 1 } else { 0 };
            if rank == ROOM {
                return Err(Lost::Crowded);
            }
            last = Some(key);
            key.number += rank;
            placed.push((i as usize, Foreign { key, origin: origins[i as usize] }));
        }
        (self.keys, self.origins) = (keys, origins);
        Ok(())
    }

    /// The first of the numbers here that it may have: those before are of events that come before the one that has
    /// scheduled it, during the last window in another part.
    fn position(&mut self, arrival: &Arrival, all: &[&History]) -> Result<u64, Lost> {
        let own = self.own;
        let Some(last) = all[own].chapters.back() else { return Err(Lost::Forgotten) };
        let (rows, by) = (all[own].drawn_in(last), arrival.origin.event());
        let time = (by.key.time - last.start).0 as u32;
        // Those that come from one part are in the order in which they were sent.
        let mut at = point_near(rows, self.near, |drawn| drawn.time < time);
        self.near = at;
        while let Some(row) = rows.get(at).filter(|row| row.time == time) {
            let here = Place { part: own, key: last.key(row) };
            if self.order([here, by], [None, arrival.before], all)? != Ordering::Less {
                break;
            }
            at += 1;
        }
        Ok(rows.get(at).map_or(last.end, |row| last.room_before(row)))
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
            let find = |event: Place| all[event.part].origin(event.part, event.key);
            let origins =
                [before_a.take().or_else(|| find(a)), before_b.take().or_else(|| find(b))];
            match origins.map(|origin| origin.filter(|origin| origin.chapter >= oldest)) {
                [Some(a), Some(b)] if a.is_told_from(&b) => break a.compare(&b),
                [Some(a), Some(b)] => {
                    // Only what takes more than a step is worth its place.
                    let known = self.known[slot(&events)];
                    if known.events == events.map(|event| (event.part, event.key.number)) {
                        break known.order;
                    }
                    self.asked.push(events);
                    events = [a, b].map(Origin::event);
                }
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

    /// From wherever the search begins, and beyond the end.
    #[test]
    fn a_search_nearby_finds_what_one_from_the_middle_does() {
        for len in 0..40 {
            let rows: Vec<_> = (0..len).map(|i| i / 3).collect();
            for wanted in 0..15 {
                let expected = rows.partition_point(|&row| row < wanted);
                for near in 0..len + 3 {
                    let found = point_near(&rows, near, |&row| row < wanted);
                    assert_eq!(found, expected, "{len} rows, {wanted} from {near}");
                }
            }
        }
    }

    /// At the end of the ring, too: then some places before it stay empty.
    #[test]
    fn rows_that_were_added_together_lie_side_by_side() {
        let mut rows = Rows::new(16);
        for n in 0..200_u64 {
            let added: Vec<_> = (0..n % 9).map(|i| 100 * n + i).collect();
            let first = rows.add(&added);
            assert_eq!(rows.slice(first, added.len()), added);
            assert!(rows.reach(first, 16));
        }
        let first = rows.add(&[0; 17]);
        assert!(!rows.reach(first, 16));
        let next = rows.add(&[1, 2]);
        assert_eq!(rows.slice(next, 2), [1, 2]);
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
