//! The event queue: what happens next, in ns-3's order.
//!
//! ns-3 numbers every `Schedule` call and runs events by (time, number).  So does this queue, but
//! numbers are also drawn for events that are not queued (yet), because mostly nobody would notice
//! them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::journal::{History, Journal, ROOM};
use super::{EVENT_BITS, Entry, Event, Key};
use crate::base::time::Time;

const NEVER: Entry = Entry { time: u64::MAX, word: u64::MAX };

/// How many of the soonest events are kept sorted.
const SOON: u8 = 128;

/// How many of them are looked at one by one for a new event's place.
const NEAR: usize = 8;

/// How many of those at the same time.
const TIES: u8 = 4;

/// As many as a `u8` can count with those that are looked at, and one more, so that no index needs a check.
const PLACES: usize = (1 << u8::BITS) + NEAR + 1;

/// Where the last of them is.
const FIRST: usize = NEAR + 1;

/// From here on events are better kept in rows of their own, if they can.
const CROWD: u8 = 12;

/// Entries by their order: the soonest in a sorted array, the rest in a heap.
///
/// A dumbbell has a dozen pending events, and then all of them are in the array, where taking one costs
/// nothing and placing one costs a single branch that cannot be predicted, in place of one a level.
/// What is due now or in a nanosecond, the commonest delays, belongs at the array's very end.
#[derive(Debug)]
struct Pending {
    /// In descending order, so that the soonest is the last, at `NEAR` + `len`.  In front of them are `NEVER`s,
    /// which end every search, as many as are looked at one by one.
    soon: [Entry; PLACES],
    len: u8,
    /// Nothing in here is sooner than anything in `soon`.
    rest: BinaryHeap<Reverse<Entry>>,
    /// The first of them.
    rest_first: Entry,
}

impl Default for Pending {
    fn default() -> Self {
        Pending { soon: [NEVER; PLACES], len: 0, rest: BinaryHeap::new(), rest_first: NEVER }
    }
}

impl Pending {
    #[inline(always)] // on every hop
    fn push(&mut self, entry: Entry) {
        if self.len >= SOON || self.rest_first.time <= entry.time {
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

    /// The array is full, or this entry may belong into the heap.
    #[cold]
    fn push_late(&mut self, entry: Entry) {
        if self.rest_first < entry {
            return self.rest.push(Reverse(entry));
        }
        if self.len >= SOON {
            // The later half of the array moves into the heap.
            const HALF: usize = SOON as usize / 2;
            self.rest.extend(self.soon[FIRST..][..HALF].iter().map(|&entry| Reverse(entry)));
            self.soon.copy_within(FIRST + HALF..FIRST + SOON as usize, FIRST);
            self.len = SOON / 2;
            self.note_first();
            return self.push_late(entry);
        }
        self.len += 1;
        self.place_by_halving(NEAR + usize::from(self.len) - 1, entry);
    }

    /// The soonest entry; `NEVER` if there is none, or if the array has to be refilled.
    #[inline]
    fn first(&self) -> Entry {
        self.soon[NEAR + usize::from(self.len)]
    }

    /// Takes what [`Pending::first`] has just returned.
    #[inline]
    fn take_first(&mut self) {
        self.len -= 1;
    }

    /// Fills the empty array from the heap.  Returns false if there is nothing.
    #[cold]
    fn refill(&mut self) -> bool {
        while self.len < SOON / 2
            && let Some(entry) = self.rest.pop()
        {
            self.len += 1;
            self.soon[NEAR + usize::from(self.len)] = entry.0;
        }
        self.soon[FIRST..][..usize::from(self.len)].reverse();
        self.note_first();
        self.len > 0
    }

    fn note_first(&mut self) {
        self.rest_first = self.rest.peek().map_or(NEVER, |entry| entry.0);
    }
}

#[derive(Debug, Default)]
pub struct EventQueue {
    now: Key,
    next_number: u64,
    pending: Pending,
    /// Which event has drawn which numbers, where a network is run in parts.
    journal: Option<Box<Journal>>,
    /// Queue every event that ns-3 would queue: what the tests compare the shortcuts with.
    pub plain: bool,
}

impl EventQueue {
    /// The event that is running.
    pub fn now(&self) -> Key {
        self.now
    }

    /// Draws the number that ns-3's `Schedule(delay, ...)` would draw at this point.
    #[inline]
    pub fn reserve(&mut self, delay: Time) -> Key {
        let number = self.next_number;
        self.next_number += 1;
        Key { time: self.now.time + delay, number }
    }

    /// Draws `count` numbers in a row and returns the first.
    #[inline]
    pub fn draw(&mut self, count: u64) -> u64 {
        let first = self.next_number;
        self.next_number += count;
        first
    }

    #[inline]
    pub fn schedule(&mut self, delay: Time, event: Event) -> Key {
        let key = self.reserve(delay);
        self.insert(key, event);
        key
    }

    /// Queues an event under a key that was reserved before.
    #[inline]
    pub fn insert(&mut self, key: Key, event: Event) {
        self.pending.push(Entry::new(key, event));
    }

    #[inline]
    pub fn insert_entry(&mut self, entry: Entry) {
        self.pending.push(entry);
    }

    /// As [`EventQueue::next`], and says at once what it is.
    #[cfg(test)]
    pub fn pop(&mut self, until: Time) -> Option<Event> {
        self.next(until).map(Entry::event)
    }

    /// Takes the next event if it is due by `until`, and advances the clock to it.
    #[inline(always)]
    pub fn next(&mut self, until: Time) -> Option<Entry> {
        loop {
            let entry = self.pending.first();
            if entry.time <= until.0 {
                let key = entry.key();
                debug_assert!(key >= self.now, "time goes back");
                self.pending.take_first();
                self.now = key;
                return Some(entry);
            }
            if self.pending.len > 0 || !self.pending.refill() {
                return None;
            }
        }
    }

    /// Everything that is queued, in no order: when it is due, and what it is.
    pub fn pending(&self) -> impl Iterator<Item = (Time, Event)> {
        let Pending { soon, len, rest, .. } = &self.pending;
        let soon = soon[FIRST..].iter().take(usize::from(*len));
        soon.chain(rest.iter().map(|entry| &entry.0)).map(|entry| (entry.key().time, entry.event()))
    }

    /// Somebody outside does something at `time`, after all that is due until then: the clock moves there.
    pub fn advance_to(&mut self, time: Time) {
        self.now = Key { time, number: self.draw(1) };
    }

    /// Advances the clock to this event, which is not queued, if it is the next.
    #[inline]
    pub fn skip_to(&mut self, key: Key) -> bool {
        let Pending { len, rest_first, .. } = self.pending;
        let next = if len > 0 { self.pending.first() } else { rest_first };
        let is_next = key.time == self.now.time && key < next.key();
        if is_next {
            self.now = key;
            if self.journal.is_some() {
                self.note_skipped();
            }
        }
        is_next
    }

    /// From now on it is noted which event draws which numbers.  Returns the first number that is drawn from now on;
    /// those before are the same in all parts.
    pub fn keep_journal(&mut self) -> u64 {
        self.journal = Some(Box::default());
        self.next_number += ROOM;
        self.next_number
    }

    /// The event that runs is another than the one before.  Returns whether that is noted.
    #[inline(always)]
    pub fn note_running(&mut self) -> bool {
        let Some(journal) = &mut self.journal else { return false };
        // Between its numbers and those of the event before there is room for those of other parts.
        match journal.note(self.now, self.next_number) {
            Some(next) => self.next_number = next,
            None => return self.note_in_more_room(),
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn note_in_more_room(&mut self) -> bool {
        self.journal.as_mut().is_some_and(|journal| {
            journal.grow();
            let next = journal.note(self.now, self.next_number);
            self.next_number = next.unwrap_or(self.next_number);
            true
        })
    }

    #[cold]
    #[inline(never)]
    fn note_skipped(&mut self) {
        self.note_running();
    }

    /// A window of time begins, and with it a chapter.
    pub fn begin_chapter(&mut self, start: Time) {
        if let Some(journal) = &mut self.journal {
            journal.begin(start, self.next_number);
        }
    }

    /// It ends, and is put into `history`.
    pub fn end_chapter(&mut self, history: &mut History) {
        if let Some(journal) = &mut self.journal {
            journal.end(self.next_number, history);
            self.next_number += ROOM;
        }
    }

    /// When the next event is due.
    pub fn next_time(&self) -> Time {
        let Pending { len, rest_first, .. } = self.pending;
        Time(if len > 0 { self.pending.first().time } else { rest_first.time })
    }

    /// Whether finding an event's place takes a search.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.pending.len > CROWD
    }

    pub fn is_empty(&self) -> bool {
        self.pending.len == 0 && self.pending.rest.is_empty()
    }

    /// Stops where numbers would no longer fit beside their events.
    pub fn check_numbers(&self) {
        assert!(self.has_numbers(), "a run has at most 2^36 events");
    }

    /// Whether numbers still fit beside their events.
    pub fn has_numbers(&self) -> bool {
        self.next_number >> (64 - EVENT_BITS) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;

    fn start(node: u32) -> Event {
        Event::Node(NodeEvent::Start, node)
    }

    /// The first and the last thing of each kind.
    #[test]
    fn an_event_comes_out_of_the_queue_as_it_went_in() {
        let last = |things: usize| things as u32 - 1;
        let mut all = vec![
            Event::Endpoint(Token(Token::COUNT as u8 - 1), last(Token::PLACES)),
            Event::Endpoint(Token(0), last(Token::PLACES)),
            Event::Endpoint(Token(Token::COUNT as u8 - 1), 0),
        ];
        for end in [0, 1] {
            let number = |things| end * last(things);
            all.extend([
                Event::Lane(LaneEvent::Arrival, number(LaneEvent::THINGS)),
                Event::Lane(LaneEvent::Transmitted, number(LaneEvent::THINGS)),
                Event::Port(PortEvent::TxComplete, number(PortEvent::THINGS)),
                Event::Port(PortEvent::Wake, number(PortEvent::THINGS)),
                Event::Discipline(DisciplineEvent::Timer, number(DisciplineEvent::THINGS)),
                Event::Node(NodeEvent::Start, number(NodeEvent::THINGS)),
                Event::Node(NodeEvent::Reassembly, number(NodeEvent::THINGS)),
                Event::Flow(FlowEvent::Open, number(FlowEvent::THINGS)),
                Event::Flow(FlowEvent::CloseReceiver, number(FlowEvent::THINGS)),
                Event::Run(RunEvent::Stop, number(RunEvent::THINGS)),
                Event::Run(RunEvent::Balance, number(RunEvent::THINGS)),
            ]);
        }
        let mut queue = EventQueue::default();
        for &event in &all {
            queue.schedule(Time(1), event);
        }
        for event in all {
            assert_eq!(queue.pop(Time::MAX), Some(event));
        }
    }

    /// With more events than the array holds, coming and going.
    #[test]
    fn events_run_in_order_however_many_there_are() {
        let mut queue = EventQueue::default();
        let mut x = 7_u32;
        let (mut last, mut taken) = (Key::default(), 0);
        for round in 0..20_000 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let wave = round % 500;
            if wave < 200 || queue.is_empty() {
                queue.schedule(Time(u64::from(x >> 22)), start(1));
                taken += 1;
            } else if queue.pop(Time::MAX).is_some() {
                assert!(queue.now() > last);
                last = queue.now();
                taken -= 1;
            }
        }
        while queue.pop(Time::MAX).is_some() {
            assert!(queue.now() > last);
            last = queue.now();
            taken -= 1;
        }
        assert_eq!(taken, 0);
    }

    /// Also where the array must be filled again to know what is next.
    #[test]
    fn what_is_due_at_the_end_still_runs_and_nothing_later() {
        for events in [1, 3 * u64::from(SOON)] {
            let mut queue = EventQueue::default();
            for time in 0..=events {
                queue.schedule(Time(time), start(0));
            }
            for end in 0..=events {
                assert_eq!(queue.pop(Time(end)), Some(start(0)), "of {events}, at {end}");
                assert_eq!(queue.pop(Time(end)), None, "of {events}, at {end}");
            }
        }
    }

    #[test]
    fn ties_run_in_the_order_of_scheduling() {
        let mut queue = EventQueue::default();
        queue.schedule(Time(5), start(0));
        let late = queue.reserve(Time(5));
        queue.schedule(Time(5), start(2));
        queue.schedule(Time(1), start(3));
        queue.schedule(Time(0), start(4));
        queue.insert(late, start(1));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(Time::MAX)).collect();
        assert_eq!(order, [4, 3, 0, 1, 2].map(start));
    }
}
