//! The event queue: what happens next, in ns-3's order.
//!
//! ns-3 numbers every `Schedule` call and runs events by (time, number).  So does this queue, with two
//! differences that no outcome shows: numbers are also drawn for events that are not queued (yet),
//! because mostly nobody would notice them; and the two commonest kinds, "now" and "in one
//! nanosecond", wait in lists of their own, as they come in order anyway.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::time::Time;

/// When an event runs: time first, then the order of scheduling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub time: Time,
    pub number: u64,
}

/// What runs.  Small indices, packed into one word of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The scenario's end.
    Stop,
    /// Node `n` comes up.
    Start(u32),
    /// The application of flow `n` begins.
    Open(u32),
    /// The application of flow `n` closes.
    Close(u32),
    /// Entry `n` of the scenario's changes.
    Change(u32),
    /// The first packet on its way through port `n` arrives.
    Arrival(u32),
    /// Port `n` has sent a packet completely.
    TxComplete(u32),
    /// The device queue of port `n` may have room again.
    Wake(u32),
    /// A queue discipline's timer: index into the list of those set.
    Qdisc(u32),
    /// A socket's timer: `Timer::COUNT` per socket.
    Socket(u32),
}

const KIND_SHIFT: u32 = 28;

impl Event {
    fn pack(self) -> u32 {
        let (kind, n) = match self {
            Event::Stop => (0, 0),
            Event::Start(n) => (1, n),
            Event::Open(n) => (2, n),
            Event::Close(n) => (3, n),
            Event::Change(n) => (4, n),
            Event::Arrival(n) => (5, n),
            Event::TxComplete(n) => (6, n),
            Event::Wake(n) => (7, n),
            Event::Qdisc(n) => (8, n),
            Event::Socket(n) => (9, n),
        };
        debug_assert!(n < 1 << KIND_SHIFT);
        kind << KIND_SHIFT | n
    }

    fn unpack(word: u32) -> Event {
        let n = word & ((1 << KIND_SHIFT) - 1);
        match word >> KIND_SHIFT {
            0 => Event::Stop,
            1 => Event::Start(n),
            2 => Event::Open(n),
            3 => Event::Close(n),
            4 => Event::Change(n),
            5 => Event::Arrival(n),
            6 => Event::TxComplete(n),
            7 => Event::Wake(n),
            8 => Event::Qdisc(n),
            _ => Event::Socket(n),
        }
    }
}

/// Time, number and event in one integer, so that the heap compares once: 48 bits (78 hours), 48 bits
/// and 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

const BITS: u32 = 48;
/// Later than any scenario may end.
pub const HORIZON: Time = Time((1 << BITS) - 1);

impl Entry {
    fn new(key: Key, event: Event) -> Entry {
        let time = key.time.min(HORIZON).0;
        let order = u128::from(time) << BITS | u128::from(key.number);
        Entry(order << 32 | u128::from(event.pack()))
    }

    fn key(self) -> Key {
        let order = self.0 >> 32;
        Key { time: Time((order >> BITS) as u64), number: order as u64 & ((1 << BITS) - 1) }
    }
}

const NEVER: Entry = Entry(u128::MAX);

/// How many of the soonest events are kept sorted.
const SOON: usize = 32;

/// Entries by their order: the soonest in a sorted array, the rest in a heap.
///
/// A dumbbell has a dozen pending events, and then all of them are in the array, where taking one costs
/// nothing and placing one costs a single branch that cannot be predicted, in place of one a level.
#[derive(Debug, Default)]
struct Pending {
    /// Descending, so that the soonest is the last.
    soon: Vec<Entry>,
    /// Nothing in here is sooner than anything in `soon`.
    rest: BinaryHeap<Reverse<Entry>>,
}

impl Pending {
    #[inline]
    fn push(&mut self, entry: Entry) {
        if self.rest.peek().is_some_and(|first| first.0 < entry) {
            self.rest.push(Reverse(entry));
            return;
        }
        let mut at = self.soon.len();
        self.soon.push(entry);
        while at > 0 && self.soon[at - 1] < entry {
            self.soon[at] = self.soon[at - 1];
            at -= 1;
        }
        self.soon[at] = entry;
        if self.soon.len() == SOON {
            self.rest.extend(self.soon.drain(..SOON / 2).map(Reverse));
        }
    }

    /// The soonest entry; `NEVER` if there is none.
    #[inline]
    fn first(&mut self) -> Entry {
        if let Some(&entry) = self.soon.last() {
            return entry;
        }
        self.refill()
    }

    #[cold]
    fn refill(&mut self) -> Entry {
        while self.soon.len() < SOON / 2
            && let Some(entry) = self.rest.pop()
        {
            self.soon.push(entry.0);
        }
        self.soon.reverse();
        self.soon.last().copied().unwrap_or(NEVER)
    }

    /// Takes what [`Pending::first`] has just returned.
    #[inline]
    fn take_first(&mut self) {
        self.soon.pop();
    }
}

#[derive(Debug, Default)]
pub struct EventQueue {
    now: Key,
    next_number: u64,
    pending: Pending,
    /// Events of this nanosecond, and of the next one.
    now_list: VecDeque<Entry>,
    next_list: VecDeque<Entry>,
    /// How many there are in both.
    near: usize,
    /// Queue every event that ns-3 would queue: what the tests compare the shortcuts with.
    pub plain: bool,
}

impl EventQueue {
    /// The event that is running.
    pub fn now(&self) -> Key {
        self.now
    }

    /// Draws the number that ns-3's `Schedule(delay, ...)` would draw at this point.
    pub fn reserve(&mut self, delay: Time) -> Key {
        let number = self.next_number;
        self.next_number += 1;
        Key { time: self.now.time + delay, number }
    }

    pub fn schedule(&mut self, delay: Time, event: Event) -> Key {
        let key = self.reserve(delay);
        match delay {
            Time(0) => self.insert_now(key, event),
            Time(1) => {
                self.next_list.push_back(Entry::new(key, event));
                self.near += 1;
            }
            _ => self.insert(key, event),
        }
        key
    }

    /// Queues an event under a key that was reserved before.
    #[inline]
    pub fn insert(&mut self, key: Key, event: Event) {
        self.pending.push(Entry::new(key, event));
    }

    /// The same for the key that was reserved last, with delay 0.
    pub fn insert_now(&mut self, key: Key, event: Event) {
        self.now_list.push_back(Entry::new(key, event));
        self.near += 1;
    }

    /// Takes the next event if it is due by `until`, and advances the clock to it.
    #[inline]
    pub fn pop(&mut self, until: Time) -> Option<Event> {
        let mut entry = self.pending.first();
        let mut list = None;
        if self.near > 0 {
            for near in [&mut self.now_list, &mut self.next_list] {
                if let Some(&first) = near.front()
                    && first < entry
                {
                    entry = first;
                    list = Some(near);
                }
            }
        }
        let key = entry.key();
        if entry == NEVER || key.time > until {
            return None;
        }
        match list {
            Some(list) => {
                list.pop_front();
                self.near -= 1;
            }
            None => self.pending.take_first(),
        }
        debug_assert!(key >= self.now, "time goes back");
        self.now = key;
        Some(Event::unpack(entry.0 as u32))
    }

    pub fn is_empty(&mut self) -> bool {
        self.near == 0 && self.pending.first() == NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_run_in_the_order_of_scheduling() {
        let mut queue = EventQueue::default();
        queue.schedule(Time(5), Event::Start(0));
        let late = queue.reserve(Time(5));
        queue.schedule(Time(5), Event::Start(2));
        queue.schedule(Time(1), Event::Start(3));
        queue.schedule(Time(0), Event::Start(4));
        queue.insert(late, Event::Start(1));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(HORIZON)).collect();
        assert_eq!(order, [4, 3, 0, 1, 2].map(Event::Start));
    }
}
