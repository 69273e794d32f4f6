//! The event queue: what happens next, in ns-3's order.
//!
//! ns-3 numbers every `Schedule` call and runs events by (time, number).  So does this queue, but
//! numbers are also drawn for events that are not queued (yet), because mostly nobody would notice
//! them.

mod calendar;
mod heads;
mod pending;

pub use heads::HEADS;
use heads::{Heads, sooner};
use pending::Pending;

use super::journal::{History, Journal};
use super::{Entry, Event, Key, NUMBER_BITS, Token};
use crate::base::time::Time;

const NEVER: Entry = Entry { time: u64::MAX, word: u64::MAX };

/// Where two words are compared without a branch.  WebAssembly has none for that, and takes 15 % more instructions.
const HAS_WIDE_WORDS: bool = cfg!(target_pointer_width = "64");

/// From here on events are better kept in rows of their own, if they can.
const CROWD: u8 = 12;

#[derive(Debug, Default)]
pub struct EventQueue {
    now: Key,
    next_number: u64,
    pending: Pending,
    /// The first of what waits in rows.
    heads: Heads,
    /// They are beside the array, which is short: see [`EventQueue::expect_many`].
    is_large: bool,
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

    /// So much is to happen at once that the order of events is better found without branches: those of the first
    /// lanes are compared with each other whenever one is taken, and few others are kept sorted.
    pub fn expect_many(&mut self) {
        if !HAS_WIDE_WORDS {
            return;
        }
        self.is_large = true;
        self.pending.expect_many();
    }

    /// A timer of an endpoint that fires soon.
    pub fn timer_soon(&self) -> Option<(Token, u32)> {
        match self.pending.soon()?.event() {
            Event::Endpoint(token, place) => Some((token, place)),
            _ => None,
        }
    }

    /// Whether the first events of the first lanes are kept by [`EventQueue::set_head`].
    #[inline]
    pub fn keeps_heads(&self) -> bool {
        HAS_WIDE_WORDS && self.is_large
    }

    /// What is first in the lane that has this place now.
    #[inline]
    pub fn set_head(&mut self, place: usize, head: Option<Entry>) {
        self.heads.set(place, head.unwrap_or(NEVER));
    }

    /// As [`EventQueue::next`], and says at once what it is.
    #[cfg(test)]
    pub fn pop(&mut self, until: Time) -> Option<Event> {
        self.next(until).map(Entry::event)
    }

    /// Takes the next event if it is due by `until`, and advances the clock to it.
    #[inline(always)]
    pub fn next(&mut self, until: Time) -> Option<Entry> {
        if self.keeps_heads() {
            return self.next_of_many(until);
        }
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

    /// The same with heads, which their lanes replace.
    #[inline(always)] // in one place
    fn next_of_many(&mut self, until: Time) -> Option<Entry> {
        let head = self.heads.first();
        let mut soon = self.pending.first();
        if soon == NEVER && self.pending.refill() {
            soon = self.pending.first();
        }
        let entry = sooner(head, soon);
        if entry.time > until.0 {
            return None;
        }
        debug_assert!(entry.key() >= self.now, "time goes back");
        self.pending.len -= u8::from(entry == soon);
        self.now = entry.key();
        Some(entry)
    }

    /// The next event; [`NEVER`] if there is none.
    fn first(&mut self) -> Entry {
        if self.pending.len == 0 {
            self.pending.refill();
        }
        sooner(self.heads.first(), self.pending.first())
    }

    /// Everything that is queued, in no order: when it is due, and what it is.
    pub fn pending(&self) -> impl Iterator<Item = (Time, Event)> {
        let all = self.pending.all().chain(self.heads.all());
        all.map(|entry| (entry.key().time, entry.event()))
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
        let is_next = key.time == self.now.time
            && key < next.key()
            && (!self.keeps_heads() || self.heads.are_after(key));
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
        let journal = Journal::new(self.next_number);
        self.next_number = journal.common();
        self.journal = Some(Box::new(journal));
        self.next_number
    }

    /// The event that runs is another than the one before.  Returns whether that is noted.
    #[inline(always)]
    pub fn note_running(&mut self) -> bool {
        let Some(journal) = &mut self.journal else { return false };
        // Between its numbers and those of the event before there is room for those of other parts.
        let (now, next) = (self.now, self.next_number);
        self.next_number =
            journal.note(now, next).unwrap_or_else(|| journal.note_slowly(now, next));
        true
    }

    #[cold]
    #[inline(never)]
    fn note_skipped(&mut self) {
        self.note_running();
    }

    /// A window of time begins.
    pub fn begin_window(&mut self, start: Time) {
        if let Some(journal) = &mut self.journal {
            journal.begin(start, self.next_number);
        }
    }

    /// It is over, and is put into `history`.
    pub fn end_window(&mut self, history: &mut History) {
        if let Some(journal) = &mut self.journal {
            self.next_number = journal.end(self.next_number, history);
        }
    }

    /// When the next event is due.
    pub fn next_time(&mut self) -> Time {
        Time(self.first().time)
    }

    /// Whether finding an event's place takes a search.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.keeps_heads() || self.pending.len > CROWD
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.heads.first() == NEVER
    }

    /// Stops where numbers would no longer fit beside their events.
    pub fn check_numbers(&self) {
        assert!(self.has_numbers(), "a run has at most 2^36 events");
    }

    /// Whether numbers still fit beside their events.
    pub fn has_numbers(&self) -> bool {
        self.next_number >> NUMBER_BITS == 0
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

    /// Of a usual network, and of a large one.
    fn kinds() -> [EventQueue; 2] {
        let [usual, mut large] = [(); 2].map(|()| EventQueue::default());
        large.expect_many();
        [usual, large]
    }

    /// With more events than the array holds, coming and going.
    #[test]
    fn events_run_in_order_however_many_there_are() {
        kinds().into_iter().for_each(many_run_in_order);
    }

    fn many_run_in_order(mut queue: EventQueue) {
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

    /// Near and far, in one day and in many, alone and in a lane: what comes is what a sorted list says.
    #[test]
    fn events_run_as_in_a_list_that_is_sorted_whenever_one_is_taken() {
        for spread in [10, 14, 20, 28, 40] {
            for mut queue in kinds() {
                let (mut list, mut x, mut lane) = (Vec::new(), 7_u32, Vec::new());
                for round in 0..30_000_u32 {
                    x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    // Some thousand rounds are a thousand times as fast, so that days of another length are made.
                    let pace = if round / 6_000 % 2 == 0 { 0 } else { 9 };
                    let delay = Time((u64::from(x) << 8) >> (40 - spread) >> (x % 7) >> pace);
                    if round % 1_000 < 600 {
                        list.push(queue.schedule(delay, start(1)));
                    } else if x >> 20 & 7 == 0 {
                        // As the packets on a wire.
                        let key = queue.reserve(Time(1 << spread));
                        if lane.is_empty() && queue.keeps_heads() {
                            queue.set_head(3, Some(Entry::new(key, start(2))));
                        } else if lane.is_empty() {
                            queue.insert(key, start(2));
                        }
                        lane.push(key);
                    }
                    if round % 1_000 < 500 && round % 3 > 0 {
                        continue;
                    }
                    let next = list.iter().chain(&lane).min().copied();
                    assert_eq!(queue.next_time(), next.map_or(Time(u64::MAX), |key| key.time));
                    let event = queue.pop(Time(u64::MAX - 1));
                    assert_eq!(event.is_some(), next.is_some());
                    let Some(next) = next else { continue };
                    assert_eq!(queue.now(), next);
                    list.retain(|&key| key != next);
                    if event == Some(start(2)) {
                        lane.remove(0);
                        let head = lane.first().map(|&key| Entry::new(key, start(2)));
                        if queue.keeps_heads() {
                            queue.set_head(3, head);
                        } else if let Some(head) = head {
                            queue.insert_entry(head);
                        }
                    }
                }
                let pending = queue.pending().count();
                assert_eq!(pending, list.len() + usize::from(!lane.is_empty()));
            }
        }
    }

    /// More than the array holds, sooner than what it has: those that were sorted already are put off again.
    #[test]
    fn events_that_come_at_once_run_before_those_that_were_next() {
        for mut queue in kinds() {
            (1..=500).for_each(|time| _ = queue.schedule(Time(1_000 * time), start(1)));
            let mut last = Key::default();
            for round in 0..200 {
                for _ in 0..600 + 37 * round % 389 {
                    assert_eq!(queue.pop(Time::MAX), Some(start(1)));
                    queue.schedule(Time(500_000), start(1));
                }
                (0..1_500).for_each(|after| _ = queue.schedule(Time(after % 3), start(2)));
                for _ in 0..1_500 {
                    assert_eq!(queue.pop(Time::MAX), Some(start(2)));
                    assert!(queue.now() > last);
                    last = queue.now();
                }
            }
        }
    }

    /// Others may be at that place; and none is, where few events are near.
    #[test]
    fn a_timer_is_seen_before_it_fires() {
        let mut queue = EventQueue::default();
        let count = 3 * pending::LOOKAHEAD;
        for place in 0..count {
            queue.schedule(Time(place as u64), Event::Endpoint(Token(3), place as u32));
        }
        for place in 0..count {
            let soon = place + pending::LOOKAHEAD - 1;
            assert_eq!(queue.timer_soon(), (soon < count).then_some((Token(3), soon as u32)));
            assert!(queue.pop(Time::MAX).is_some());
        }
        (0..count as u32).for_each(|node| _ = queue.schedule(Time(1), start(node)));
        assert_eq!(queue.timer_soon(), None);
    }

    /// Also where the array must be filled again to know what is next.
    #[test]
    fn what_is_due_at_the_end_still_runs_and_nothing_later() {
        for events in [1, 3 * u64::from(pending::SOON)] {
            for mut queue in kinds() {
                for time in 0..=events {
                    queue.schedule(Time(time), start(0));
                }
                for end in 0..=events {
                    assert_eq!(queue.pop(Time(end)), Some(start(0)), "of {events}, at {end}");
                    assert_eq!(queue.pop(Time(end)), None, "of {events}, at {end}");
                }
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
