//! What waits in an event queue: the soonest in a sorted array, the rest in a calendar, and what that does not take in a
//! heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::calendar::Calendar;
use super::{Entry, NEVER};

/// How many of the soonest events are kept sorted.
pub(super) const SOON: u8 = 128;

/// The same where many are expected, and lanes have their first events beside the array.
const MOST_OF_MANY: u8 = 48;

/// How many of the sorted ones are looked at one by one for a new event's place.
const NEAR: usize = 8;

/// How many of those at the same time.
const TIES: u8 = 4;

/// A timer that fires after so many other events is asked for.
pub(super) const LOOKAHEAD: usize = 16;

/// As many as a `u8` can count with those that are looked at, and one more, so that no index needs a check.
const PLACES: usize = (1 << u8::BITS) + NEAR + 1;

/// Where the last of them is.
const FIRST: usize = NEAR + 1;

/// Entries by their order: the soonest in a sorted array, the rest in a calendar.
///
/// A dumbbell has a dozen pending events, and then all of them are in the array, where taking one costs
/// nothing and placing one costs a single branch that cannot be predicted, in place of one a level.
/// What is due now or in a nanosecond, the commonest delays, belongs at the array's very end.
#[derive(Debug)]
pub(super) struct Pending {
    /// In descending order, so that the soonest is the last, at `NEAR` + `len`.  In front of them are `NEVER`s,
    /// which end every search, as many as are looked at one by one.
    soon: [Entry; PLACES],
    pub(super) len: u8,
    /// So many are in there at most.
    most: u8,
    /// Nothing in here is sooner than anything in `soon`.
    rest: BinaryHeap<Reverse<Entry>>,
    /// Nor in here, by whole days; there as soon as something does not fit the array.
    calendar: Option<Box<Calendar>>,
    /// The first of them, or the beginning of its day.
    pub(super) rest_first: Entry,
}

impl Default for Pending {
    fn default() -> Self {
        Pending {
            soon: [NEVER; PLACES],
            len: 0,
            most: SOON,
            rest: BinaryHeap::new(),
            calendar: None,
            rest_first: NEVER,
        }
    }
}

impl Pending {
    /// Many are to come, of which few are kept sorted.
    pub(super) fn expect_many(&mut self) {
        self.most = MOST_OF_MANY;
    }

    /// One of the sorted ones that is soon taken.
    pub(super) fn soon(&self) -> Option<Entry> {
        self.soon[FIRST..].get(usize::from(self.len).checked_sub(LOOKAHEAD)?).copied()
    }

    #[inline(always)] // on every hop
    pub(super) fn push(&mut self, entry: Entry) {
        if self.len >= self.most || self.rest_first.time <= entry.time {
            return self.push_late(entry);
        }
        let base = usize::from(self.len);
        self.len += 1;
        if self.soon[base].time < entry.time {
            return self.place_by_halving(base + NEAR, entry);
        }
        // The last ones, and the place behind them.  The first of these ends the search.
        let near = self.soon[base..].first_chunk_mut::<{ NEAR + 2 }>().expect("`len` is a `u8`");
        let mut at = 0;
        for i in (1..=NEAR).rev() {
            if near[i].time >= entry.time {
                at = i;
                break;
            }
            near[i + 1] = near[i];
        }
        if near[at].time == entry.time {
            return self.place_among_ties(base + at, entry);
        }
        near[at + 1] = entry;
    }

    /// There are others at the same time, from `at` down.  What is above has made room.
    #[inline(never)]
    fn place_among_ties(&mut self, mut at: usize, entry: Entry) {
        for _ in 0..TIES {
            if self.soon[at] > entry {
                self.soon[at + 1] = entry;
                return;
            }
            self.soon[at + 1] = self.soon[at];
            at -= 1;
        }
        self.place_by_halving(at, entry);
    }

    /// The place of this entry is some way down from `at`.  What is above has made room.
    #[inline(never)]
    fn place_by_halving(&mut self, at: usize, entry: Entry) {
        let place = self.soon[..=at].partition_point(|&later| later > entry);
        self.soon.copy_within(place..=at, place + 1);
        self.soon[place] = entry;
    }

    /// The array is full, or this entry may belong elsewhere.
    #[cold]
    fn push_late(&mut self, entry: Entry) {
        if self.rest_first <= entry {
            return self.put_off(entry);
        }
        if self.len >= self.most {
            let (now, span) = (self.first().time, self.soon[FIRST].time - self.first().time);
            let day = Calendar::day(self.len.into(), span);
            self.calendar.get_or_insert_with(|| Box::new(Calendar::new(day, now, 0)));
            // The later half of the array moves.
            const HALF: usize = SOON as usize / 2;
            let half = usize::from(self.most / 2);
            let mut later = [NEVER; HALF];
            later[..half].copy_from_slice(&self.soon[FIRST..][..half]);
            self.soon.copy_within(FIRST + half..FIRST + usize::from(self.len), FIRST);
            self.len -= half as u8;
            later[..half].iter().for_each(|&entry| self.put_off(entry));
            return self.push_late(entry);
        }
        self.len += 1;
        self.place_by_halving(NEAR + usize::from(self.len) - 1, entry);
    }

    /// This entry is later than all in the array.
    fn put_off(&mut self, entry: Entry) {
        let last = if self.len > 0 { self.soon[FIRST] } else { Entry::default() };
        let day = self.calendar.as_mut().and_then(|calendar| calendar.put(entry, last));
        if day.is_none() {
            self.rest.push(Reverse(entry));
        }
        self.rest_first = self.rest_first.min(day.unwrap_or(entry));
    }

    /// The soonest entry; `NEVER` if there is none, or if the array has to be refilled.
    #[inline]
    pub(super) fn first(&self) -> Entry {
        self.soon[NEAR + usize::from(self.len)]
    }

    /// Takes what [`Pending::first`] has just returned.
    #[inline]
    pub(super) fn take_first(&mut self) {
        self.len -= 1;
    }

    /// Fills the empty array.  Returns false if there is nothing.
    #[cold]
    pub(super) fn refill(&mut self) -> bool {
        let until = |rest: &BinaryHeap<Reverse<Entry>>, end: Entry| {
            rest.peek().is_some_and(|first| first.0 < end)
        };
        let mut day = NEVER;
        while let Some(calendar) = &mut self.calendar {
            day = calendar.first();
            if day == NEVER || until(&self.rest, day) || !calendar.deal_out_first() {
                break;
            }
        }
        if let Some(calendar) = &mut self.calendar
            && day != NEVER
            && !until(&self.rest, day)
        {
            let mut all = calendar.take_first();
            while until(&self.rest, calendar.end()) {
                all.extend(self.rest.pop().map(|entry| entry.0));
            }
            all.sort_unstable_by(|one, other| other.cmp(one));
            let (later, soon) = all.split_at(all.len().saturating_sub(SOON.into()));
            self.soon[FIRST..][..soon.len()].copy_from_slice(soon);
            self.len = soon.len() as u8;
            self.rest.extend(later.iter().map(|&entry| Reverse(entry)));
            calendar.give_back(all);
        } else {
            while self.len < SOON / 2
                && until(&self.rest, day)
                && let Some(entry) = self.rest.pop()
            {
                self.len += 1;
                self.soon[NEAR + usize::from(self.len)] = entry.0;
            }
            self.soon[FIRST..][..usize::from(self.len)].reverse();
        }
        self.note_rest();
        self.keep_pace();
        self.len > 0
    }

    fn note_rest(&mut self) {
        let day = self.calendar.as_ref().map_or(NEVER, |calendar| calendar.first());
        self.rest_first = self.rest.peek().map_or(NEVER, |entry| entry.0).min(day);
    }

    /// The array has been filled: days of another length are made if those that there are have far too much, or too
    /// little.
    fn keep_pace(&mut self) {
        let Some(calendar) = &mut self.calendar else { return };
        let Some(day) = calendar.note(self.len.into(), self.soon[FIRST].time) else { return };
        let mut all: Vec<_> = self.rest.drain().map(|entry| entry.0).collect();
        all.extend(calendar.all());
        // To ask again takes as long as to take what there is.
        **calendar = Calendar::new(day, self.soon[FIRST].time, all.len() as u64);
        all.into_iter().for_each(|entry| self.put_off(entry));
        self.note_rest();
    }

    pub(super) fn is_empty(&self) -> bool {
        let later = self.calendar.as_ref().is_some_and(|calendar| calendar.first() != NEVER);
        self.len == 0 && self.rest.is_empty() && !later
    }

    /// Everything, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = Entry> {
        let soon = self.soon[FIRST..].iter().take(self.len.into());
        let later = self.calendar.iter().flat_map(|calendar| calendar.all());
        soon.chain(self.rest.iter().map(|entry| &entry.0)).chain(later).copied()
    }
}
