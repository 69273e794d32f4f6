//! What waits for the same length of time waits in a row, of which only the head has an event: the
//! packets on all wires, and the ends of transmissions.

use std::ops::Range;

use crate::base::event::{Entry, Event, EventQueue, HEADS, Key, LaneEvent};
use crate::base::ring::Ring;
use crate::base::time::Time;
use crate::net::routing::NextHop;
use crate::packet::PacketId;

/// What waits in lanes.
pub trait Waits: Copy + Default {
    /// The places of the first lanes among [`EventQueue::set_head`]'s.
    const HEADS: Range<usize>;

    /// The event of the head of a lane.
    fn event(lane: u32) -> Event;
}

/// A packet on the wire of `port`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flight {
    pub id: PacketId,
    pub port: u32,
    /// What the node at the far end does with it, where that is decided when it leaves.
    pub next: NextHop,
}

impl Waits for Flight {
    const HEADS: Range<usize> = 0..HEADS - 2;

    fn event(lane: u32) -> Event {
        Event::Lane(LaneEvent::Arrival, lane)
    }
}

/// A transmission of `port`, whose end somebody waits for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transmission {
    pub port: u32,
}

impl Waits for Transmission {
    const HEADS: Range<usize> = HEADS - 2..HEADS;

    fn event(lane: u32) -> Event {
        Event::Lane(LaneEvent::Transmitted, lane)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Waiting<T> {
    due: Entry,
    what: T,
}

/// What waits equally long.
#[derive(Debug)]
struct Lane<T> {
    /// [`ALONE`]: it has one of them, or none.
    duration: Time,
    row: Ring<Waiting<T>>,
}

impl<T: Waits> Lane<T> {
    /// Another duration may have it.
    fn is_free(&self) -> bool {
        self.row.is_empty() && self.duration != ALONE
    }
}

/// Nothing waits so long.
const ALONE: Time = Time(u64::MAX);

/// Of what may be for another part of the network: it waits apart, until [`Lanes::take_apart`].
pub const APART: u32 = u32::MAX;

/// What waits equally long is due in the order in which it came, from whichever port.  So it waits in
/// lanes by this time, and only the head of a lane has an event: networks have few lanes, however many
/// links.
#[derive(Debug)]
pub struct Lanes<T> {
    lanes: Vec<Lane<T>>,
    /// Those for what waits as long as nothing else that have none.
    alone: Vec<u32>,
    /// What waits apart, and how long.
    apart: Ring<Waiting<T>>,
    durations: Ring<Time>,
}

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Lanes {
            lanes: Vec::new(),
            alone: Vec::new(),
            apart: Ring::default(),
            durations: Ring::default(),
        }
    }
}

impl<T: Waits> Lanes<T> {
    /// Makes `lane`, where the last one like it went, the lane of this duration.
    #[inline(always)]
    fn choose(&mut self, lane: &mut u32, duration: Time) -> &mut Lane<T> {
        let known = *lane as usize;
        if known >= self.lanes.len() || self.lanes[known].duration != duration {
            *lane = self.find(duration);
        }
        &mut self.lanes[*lane as usize]
    }

    /// The lane of this duration.  Empty ones get another, so that there are never more lanes than
    /// there has been waiting at once.
    #[cold]
    fn find(&mut self, duration: Time) -> u32 {
        let same = self.lanes.iter().position(|lane| lane.duration == duration);
        let lane = same.or_else(|| self.lanes.iter().position(Lane::is_free));
        let lane = lane.unwrap_or_else(|| {
            self.lanes.push(Lane { duration, row: Ring::default() });
            self.lanes.len() - 1
        });
        self.lanes[lane].duration = duration;
        lane as u32
    }

    /// Something begins now and is due after `duration`, with this key.  `lane` is where the last one like it
    /// went, and is set to where this one goes.
    #[inline(always)] // on every hop
    pub fn start(
        &mut self,
        lane: &mut u32,
        duration: Time,
        key: Key,
        what: T,
        events: &mut EventQueue,
    ) {
        if let Some(place) = self.lanes.get_mut(*lane as usize)
            && place.duration == duration
            && !place.row.is_empty()
            && !events.plain
        {
            return place.row.push_back(Waiting { due: Entry::new(key, T::event(*lane)), what });
        }
        let (due, row) = self.begin(lane, duration, key, events);
        row.push_back(Waiting { due, what });
    }

    /// What is to be the last in the row that is returned is its head as well, or every event is queued, or it is to wait
    /// [`APART`].  (It is not handed over, lest it had to be in memory whenever something starts.)
    #[inline(never)]
    fn begin(
        &mut self,
        lane: &mut u32,
        duration: Time,
        key: Key,
        events: &mut EventQueue,
    ) -> (Entry, &mut Ring<Waiting<T>>) {
        if *lane == APART {
            self.durations.push_back(duration);
            return (Entry::new(key, T::event(0)), &mut self.apart);
        }
        let place = self.choose(lane, duration);
        let due = Entry::new(key, T::event(*lane));
        if events.plain {
            events.insert_entry(due);
        } else if place.row.is_empty() {
            lead::<T>(*lane, due, events);
        }
        (due, &mut place.row)
    }

    /// The next of what has begun [`APART`], in the order in which it did, how long it waits, and when it is due.
    pub fn take_apart(&mut self) -> Option<(T, Time, Key)> {
        let Waiting { due, what } = *self.apart.first()?;
        let duration = *self.durations.first()?;
        self.apart.drop_front();
        self.durations.drop_front();
        Some((what, duration, due.key()))
    }

    /// The same for what waits as long as nothing else, which has a lane to itself.
    pub fn start_alone(&mut self, key: Key, what: T, events: &mut EventQueue) {
        let lane = self.alone.pop().unwrap_or_else(|| {
            self.lanes.push(Lane { duration: ALONE, row: Ring::default() });
            self.lanes.len() as u32 - 1
        });
        let due = Entry::new(key, T::event(lane));
        events.insert_entry(due);
        self.lanes[lane as usize].row.push_back(Waiting { due, what });
    }

    /// As [`Lanes::start`] for what has its key already.  Returns false if something in that lane is due later, so
    /// that it cannot wait there.
    #[inline]
    pub fn join(
        &mut self,
        lane: &mut u32,
        duration: Time,
        key: Key,
        what: T,
        events: &mut EventQueue,
    ) -> bool {
        let place = self.choose(lane, duration);
        let due = Entry::new(key, T::event(*lane));
        match place.row.back() {
            None => lead::<T>(*lane, due, events),
            Some(last) if last.due > due => return false,
            Some(_) => {}
        }
        place.row.push_back(Waiting { due, what });
        true
    }

    /// What is due in a lane after so many others.
    #[inline]
    pub fn after(&self, lane: u32, others: usize) -> Option<T> {
        self.lanes[lane as usize].row.get(others).map(|waiting| waiting.what)
    }

    /// All that waits in a lane, and when it is due.
    pub fn waiting(&self, lane: u32) -> impl Iterator<Item = (Key, T)> {
        self.lanes[lane as usize].row.iter().map(|waiting| (waiting.due.key(), waiting.what))
    }

    /// Takes the head of a lane, which is due now.
    #[inline]
    pub fn take(&mut self, lane: u32, events: &mut EventQueue) -> Option<T> {
        let Lane { duration, row } = &mut self.lanes[lane as usize];
        let head = row.first()?.what;
        row.drop_front();
        if events.keeps_heads() && (lane as usize) < T::HEADS.len() && !events.plain {
            events.set_head(T::HEADS.start + lane as usize, row.first().map(|next| next.due));
            if row.is_empty() && *duration == ALONE {
                self.alone.push(lane);
            }
            return Some(head);
        }
        match row.first() {
            Some(next) if !events.plain => events.insert_entry(next.due),
            None if *duration == ALONE => self.alone.push(lane),
            _ => {}
        }
        Some(head)
    }
}

/// This becomes the first in its lane.
#[inline]
fn lead<T: Waits>(lane: u32, due: Entry, events: &mut EventQueue) {
    if events.keeps_heads() && (lane as usize) < T::HEADS.len() {
        events.set_head(T::HEADS.start + lane as usize, Some(due));
    } else {
        events.insert_entry(due);
    }
}

impl Lanes<Flight> {
    /// The packets on the wire of `port`.
    pub fn on_wire(&self, port: u32) -> impl Iterator<Item = PacketId> {
        let flights =
            self.lanes.iter().flat_map(|lane| lane.row.iter()).map(|waiting| waiting.what);
        flights.filter(move |flight| flight.port == port).map(|flight| flight.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(port: u32) -> Flight {
        Flight { id: PacketId(0), port, next: NextHop::HERE }
    }

    fn start(
        lanes: &mut Lanes<Flight>,
        lane: &mut u32,
        duration: Time,
        port: u32,
        events: &mut EventQueue,
    ) {
        let key = events.reserve(duration);
        lanes.start(lane, duration, key, at(port), events);
    }

    fn arrivals(lanes: &mut Lanes<Flight>, events: &mut EventQueue) -> Vec<(u64, u32)> {
        let mut seen = Vec::new();
        while let Some(Event::Lane(LaneEvent::Arrival, lane)) = events.pop(Time::MAX) {
            let flight = lanes.take(lane, events).expect("its head arrives");
            seen.push((events.now().time.0, flight.port));
        }
        seen
    }

    #[test]
    fn ports_share_a_lane_and_shorter_flights_overtake_in_their_own() {
        let (mut lanes, mut events) = (Lanes::default(), EventQueue::default());
        let mut known = [0; 4];
        for (port, duration) in [(0, 50), (1, 20), (2, 50), (3, 20)] {
            start(&mut lanes, &mut known[port as usize], Time(duration), port, &mut events);
        }
        assert_eq!(known, [0, 1, 0, 1]);
        let order = arrivals(&mut lanes, &mut events);
        assert_eq!(order, [(20, 1), (20, 3), (50, 0), (50, 2)]);
    }

    #[test]
    fn packets_alone_have_lanes_of_their_own_which_the_next_ones_have_again() {
        let (mut lanes, mut events) = (Lanes::default(), EventQueue::default());
        for round in 0..2 {
            for (port, duration) in [(0, 50), (1, 20), (2, 50)] {
                let key = events.reserve(Time(duration));
                lanes.start_alone(key, at(port), &mut events);
            }
            let start = round * 50;
            let order = arrivals(&mut lanes, &mut events);
            assert_eq!(order, [(start + 20, 1), (start + 50, 0), (start + 50, 2)]);
        }
        start(&mut lanes, &mut 0, Time(50), 3, &mut events);
        assert_eq!(lanes.lanes.len(), 4);
    }

    #[test]
    fn an_empty_lane_gets_another_duration_and_who_knew_it_finds_a_new_one() {
        let (mut lanes, mut events) = (Lanes::default(), EventQueue::default());
        let (mut old, mut new) = (0, 0);
        start(&mut lanes, &mut old, Time(50), 0, &mut events);
        arrivals(&mut lanes, &mut events);
        start(&mut lanes, &mut new, Time(70), 1, &mut events);
        start(&mut lanes, &mut old, Time(50), 0, &mut events);
        assert_eq!((old, new, lanes.lanes.len()), (1, 0, 2));
        assert_eq!(arrivals(&mut lanes, &mut events), [(100, 0), (120, 1)]);
    }

    #[test]
    fn what_comes_late_joins_only_behind_what_is_due_before() {
        let (mut lanes, mut events) = (Lanes::default(), EventQueue::default());
        let mut lane = 0;
        let [first, second, third] = [(); 3].map(|()| events.reserve(Time(50)));
        for (key, joins) in [(first, true), (third, true), (second, false)] {
            assert_eq!(lanes.join(&mut lane, Time(50), key, at(0), &mut events), joins);
        }
        assert_eq!(arrivals(&mut lanes, &mut events), [(50, 0), (50, 0)]);
    }
}
