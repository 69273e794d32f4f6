//! The order among events of all parts.

use std::cmp::Ordering;

use super::history::{History, LastWindow};
use super::{Arrival, Foreign, Lost, NAME_BITS, Origin, Place, ROOM};
use crate::base::event::Key;
use crate::base::mix::mix;
use crate::base::time::Time;

/// So many orders of two events are known at a time, a power of two.
const KNOWN: usize = 1 << 12;

/// What takes so many steps or fewer is found out again.
const PATIENCE: usize = 3;

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

/// The order among events of all parts, as one of them asks for it.
#[derive(Debug)]
pub struct Ranks {
    own: usize,
    /// From when on all parts remember everything.
    oldest: Time,
    /// By arrival, the place of the first event here that is not before the one that has sent it.
    beside: Vec<usize>,
    /// What was asked for before: events that follow each other in one rhythm are asked for again by what they schedule.
    known: Vec<Known>,
    /// What is being found out.
    asked: Vec<[Place; 2]>,
    /// Memory to be used again.
    keys: Vec<(Key, u32)>,
    origins: Vec<Origin>,
}

/// The names of two events, and their order above that of the first: a quarter of a cache line.
#[derive(Clone, Copy, Debug, Default)]
struct Known([u64; 2]);

impl Known {
    fn new(events: &[Place; 2], order: Ordering) -> Self {
        let [a, b] = events.map(Place::name);
        Known([a | ((order as i8 + 2) as u64) << NAME_BITS, b])
    }

    fn order_of(self, events: &[Place; 2]) -> Option<Ordering> {
        let [a, b] = events.map(Place::name);
        if self.0[1] != b || self.0[0] & ((1 << NAME_BITS) - 1) != a {
            return None;
        }
        match self.0[0] >> NAME_BITS {
            1 => Some(Ordering::Less),
            2 => Some(Ordering::Equal),
            3 => Some(Ordering::Greater),
            _ => None,
        }
    }
}

impl Ranks {
    pub fn new(own: usize) -> Self {
        Ranks {
            own,
            oldest: Time::ZERO,
            beside: Vec::new(),
            known: vec![Known::default(); KNOWN],
            asked: Vec::new(),
            keys: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// All that came in one window gets its place among what is here.  Puts it in the order of its keys into `placed`, each
    /// with its position among the `arrivals`.  `oldest`: from when on all parts remember everything.
    ///
    /// # Errors
    /// See [`Lost`].
    pub fn place(
        &mut self,
        arrivals: impl Iterator<Item = Arrival> + Clone,
        oldest: Time,
        all: &[&History],
        placed: &mut Vec<(usize, Foreign)>,
    ) -> Result<(), Lost> {
        self.oldest = oldest;
        placed.clear();
        let (mut keys, mut origins) =
            (std::mem::take(&mut self.keys), std::mem::take(&mut self.origins));
        keys.clear();
        origins.clear();
        let last = all[self.own].last_window().ok_or(Lost::Forgotten)?;
        self.find_beside(arrivals.clone(), last, all[self.own]);
        for (i, arrival) in arrivals.enumerate() {
            let number = self.position(&arrival, self.beside[i], last, all)?;
            let key = Key { time: arrival.time, number };
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

    /// Where what comes was sent among what ran here in the last window.  What it is compared with there is asked for, so
    /// that it is near by then.
    fn find_beside(
        &mut self,
        arrivals: impl Iterator<Item = Arrival>,
        last: LastWindow<'_>,
        history: &History,
    ) {
        self.beside.clear();
        let mut at = 0;
        for arrival in arrivals {
            let sent = arrival.origin.by.time;
            // Those that come from one part are in the order in which they were sent.
            at = point_near(last.rows, at, |row| last.time(row) < sent);
            self.beside.push(at);
            last.events(at, sent).for_each(|(_, number)| history.fetch(number));
        }
    }

    /// The first of the numbers here that it may have: those before are of events that come before the one that has
    /// scheduled it, during the last window in another part.  `at`: where that was sent.
    fn position(
        &mut self,
        arrival: &Arrival,
        at: usize,
        last: LastWindow<'_>,
        all: &[&History],
    ) -> Result<u64, Lost> {
        let by = arrival.origin.event();
        for (at, number) in last.events(at, by.key.time) {
            let here = Place { part: self.own, key: Key { number, ..by.key } };
            if self.order([here, by], [None, arrival.before], all)? != Ordering::Less {
                return Ok(last.number_at(at));
            }
        }
        Ok(last.number_at(at + last.rows_at(at, by.key.time).len()))
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
            match origins.map(|origin| origin.filter(|origin| origin.by.time >= oldest)) {
                [Some(a), Some(b)] if a.is_told_from(&b) => break a.compare(&b),
                [Some(a), Some(b)] => {
                    if self.asked.len() >= PATIENCE
                        && let Some(known) = self.known[slot(&events)].order_of(&events)
                    {
                        break known;
                    }
                    self.asked.push(events);
                    events = [a, b].map(Origin::event);
                }
                [None, Some(_)] => break Ordering::Less,
                [Some(_), None] => break Ordering::Greater,
                [None, None] => return Err(Lost::Forgotten),
            }
        };
        let far = self.asked.len().saturating_sub(PATIENCE);
        // Those that are asked for next are the last to take their places.
        for events in self.asked[..far].iter().rev() {
            self.known[slot(events)] = Known::new(events, order);
        }
        self.asked.clear();
        Ok(order)
    }
}

/// Where the order of two events is kept.
fn slot(events: &[Place; 2]) -> usize {
    let [a, b] = events.map(|event| mix(event.name()));
    (a.rotate_left(32) ^ b) as usize % KNOWN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::event::{Event, EventQueue, RunEvent};

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

    #[test]
    fn an_order_is_known_of_these_two_events_alone() {
        let place = |part, number| Place { part, key: Key { time: Time(1), number } };
        let asked = [place(0, 71), place(3, 9)];
        assert_eq!(Known::default().order_of(&asked), None);
        for order in [Ordering::Less, Ordering::Equal, Ordering::Greater] {
            let known = Known::new(&asked, order);
            assert_eq!(known.order_of(&asked), Some(order));
            for other in [
                [place(0, 70), asked[1]],
                [place(1, 71), asked[1]],
                [asked[0], place(3, 8)],
                [asked[1], asked[0]],
            ] {
                assert_eq!(known.order_of(&other), None);
            }
        }
    }

    /// A part in each of whose windows one event runs, which schedules the next and something elsewhere.
    struct Chain {
        queue: EventQueue,
        history: History,
        next: Key,
        sent: Origin,
    }

    impl Chain {
        fn new(part: usize, first: Time) -> Self {
            let mut queue = EventQueue::default();
            queue.draw(1);
            let common = queue.keep_journal();
            let sent = Origin { part, ..Origin::default() };
            let next = Key { time: first, number: 0 };
            Chain { queue, history: History::new(common, 128), next, sent }
        }

        fn window(&mut self, start: Time, next: Time) {
            self.queue.begin_window(start);
            self.queue.insert(self.next, Event::Run(RunEvent::Stop, 0));
            assert!(self.queue.next(self.next.time).is_some() && self.queue.note_running());
            let now = self.queue.now();
            self.next = self.queue.reserve(next - now.time);
            self.sent = Origin { by: now, number: self.queue.draw(1), ..self.sent };
            self.queue.end_window(&mut self.history);
        }
    }

    /// Of two that go on in one rhythm for so long that nobody remembers how they began.
    #[test]
    fn an_order_stays_known_as_long_as_it_is_asked_for() {
        let window = |n: u64| Time(1_000 * n);
        let mut chains = [(0, 5), (1, 3)].map(|(part, first)| Chain::new(part, Time(first)));
        let mut ranks = [0, 1].map(Ranks::new);
        let mut placed = Vec::new();
        for n in 0..2_000 {
            chains.iter_mut().for_each(|chain| chain.window(window(n), window(n + 1)));
            let all = [&chains[0].history, &chains[1].history];
            let oldest = all.iter().map(|history| history.oldest()).max().unwrap();
            assert!(n < 100 || oldest > window(n - 100));
            for (own, ranks) in ranks.iter_mut().enumerate() {
                let Chain { sent: origin, .. } = chains[1 - own];
                let arrival = Arrival { time: window(n + 1), origin, before: None };
                ranks.place([arrival].into_iter(), oldest, &all, &mut placed).unwrap();
                // What was sent by the one that began sooner is due before what the other has scheduled.
                let is_before = placed[0].1.key < chains[own].next;
                assert_eq!(is_before, own == 0, "in window {n}");
            }
        }
    }

    #[test]
    fn an_order_that_nobody_remembers_is_lost() {
        let window = |n: u64| Time(1_000 * n);
        let mut chains = [(0, 5), (1, 3)].map(|(part, first)| Chain::new(part, Time(first)));
        for n in 0..200 {
            chains.iter_mut().for_each(|chain| chain.window(window(n), window(n + 1)));
        }
        let all = [&chains[0].history, &chains[1].history];
        let oldest = all.iter().map(|history| history.oldest()).max().unwrap();
        let arrival = Arrival { time: window(200), origin: chains[1].sent, before: None };
        let placed = Ranks::new(0).place([arrival].into_iter(), oldest, &all, &mut Vec::new());
        assert_eq!(placed, Err(Lost::Forgotten));
    }
}
