//! The packets on all wires.

use std::collections::VecDeque;

use crate::event::{Entry, Event, EventQueue};
use crate::packet::PacketId;
use crate::time::Time;

/// A packet on the wire of `port`.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    arrival: Entry,
    pub id: PacketId,
    pub port: u32,
}

/// Packets that take equally long from the start of their transmission to their arrival.
#[derive(Debug)]
struct Lane {
    /// [`ALONE`]: it has one packet, or none.
    duration: Time,
    flights: VecDeque<Flight>,
}

impl Lane {
    /// Another duration may have it.
    fn is_free(&self) -> bool {
        self.flights.is_empty() && self.duration != ALONE
    }
}

/// No packet takes so long.
const ALONE: Time = Time(u64::MAX);

/// What takes equally long arrives in the order in which it was sent, over whichever link it goes.  So
/// packets wait in lanes by this time, and only the head of a lane has an event: networks have few
/// lanes, however many links.
#[derive(Debug, Default)]
pub struct Lanes {
    lanes: Vec<Lane>,
    /// Those for single packets that have none.
    alone: Vec<u32>,
}

impl Lanes {
    /// A packet starts now and arrives after `duration`.  `lane` is where the last one like it went,
    /// and is set to where this one goes.
    #[inline]
    pub fn start(
        &mut self,
        lane: &mut u32,
        duration: Time,
        id: PacketId,
        port: u32,
        events: &mut EventQueue,
    ) {
        let is_right = |known: &Lane| known.duration == duration;
        if !self.lanes.get(*lane as usize).is_some_and(is_right) {
            *lane = self.find(duration);
        }
        let place = &mut self.lanes[*lane as usize];
        let arrival = events.reserve_entry(duration, Event::Arrival(*lane));
        if place.flights.is_empty() || events.plain {
            events.insert_entry(arrival);
        }
        place.flights.push_back(Flight { arrival, id, port });
    }

    /// The same for a packet that takes as long as no other, which has a lane to itself.
    pub fn start_alone(
        &mut self,
        duration: Time,
        id: PacketId,
        port: u32,
        events: &mut EventQueue,
    ) {
        let lane = self.alone.pop().unwrap_or_else(|| {
            self.lanes.push(Lane { duration: ALONE, flights: VecDeque::new() });
            self.lanes.len() as u32 - 1
        });
        let arrival = events.reserve_entry(duration, Event::Arrival(lane));
        events.insert_entry(arrival);
        self.lanes[lane as usize].flights.push_back(Flight { arrival, id, port });
    }

    /// The lane of this duration.  Empty ones get another, so that there are never more lanes than
    /// packets have been on their way at once.
    #[cold]
    fn find(&mut self, duration: Time) -> u32 {
        let same = self.lanes.iter().position(|lane| lane.duration == duration);
        let lane = same.or_else(|| self.lanes.iter().position(Lane::is_free));
        let lane = lane.unwrap_or_else(|| {
            self.lanes.push(Lane { duration, flights: VecDeque::new() });
            self.lanes.len() - 1
        });
        self.lanes[lane].duration = duration;
        lane as u32
    }

    /// The packets on the wire of `port`.
    pub fn on_wire(&self, port: u32) -> impl Iterator<Item = PacketId> {
        let flights = self.lanes.iter().flat_map(|lane| &lane.flights);
        flights.filter(move |flight| flight.port == port).map(|flight| flight.id)
    }

    /// Takes the head of a lane, which arrives now.
    #[inline]
    pub fn arrive(&mut self, lane: u32, events: &mut EventQueue) -> Option<Flight> {
        let Lane { duration, flights } = &mut self.lanes[lane as usize];
        let flight = flights.pop_front();
        match flights.front() {
            Some(next) if !events.plain => events.insert_entry(next.arrival),
            None if *duration == ALONE => self.alone.push(lane),
            _ => {}
        }
        flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(lanes: &mut Lanes, events: &mut EventQueue) -> Vec<(u64, u32)> {
        let mut seen = Vec::new();
        while let Some(Event::Arrival(lane)) = events.pop(Time::MAX) {
            let flight = lanes.arrive(lane, events).expect("its head arrives");
            assert_eq!(flight.arrival.key(), events.now());
            seen.push((events.now().time.0, flight.port));
        }
        seen
    }

    #[test]
    fn ports_share_a_lane_and_shorter_flights_overtake_in_their_own() {
        let (mut lanes, mut events) = (Lanes::default(), EventQueue::default());
        let mut known = [0; 4];
        for (port, duration) in [(0, 50), (1, 20), (2, 50), (3, 20)] {
            let lane = &mut known[port as usize];
            lanes.start(lane, Time(duration), PacketId(0), port, &mut events);
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
                lanes.start_alone(Time(duration), PacketId(0), port, &mut events);
            }
            let start = round * 50;
            let order = arrivals(&mut lanes, &mut events);
            assert_eq!(order, [(start + 20, 1), (start + 50, 0), (start + 50, 2)]);
        }
        lanes.start(&mut 0, Time(50), PacketId(0), 3, &mut events);
        assert_eq!(lanes.lanes.len(), 4);
    }

    #[test]
    fn an_empty_lane_gets_another_duration_and_who_knew_it_finds_a_new_one() {
        let (mut lanes, mut events) = (Lanes::default(), EventQueue::default());
        let (mut old, mut new) = (0, 0);
        lanes.start(&mut old, Time(50), PacketId(0), 0, &mut events);
        arrivals(&mut lanes, &mut events);
        lanes.start(&mut new, Time(70), PacketId(0), 1, &mut events);
        lanes.start(&mut old, Time(50), PacketId(0), 0, &mut events);
        assert_eq!((old, new, lanes.lanes.len()), (1, 0, 2));
        assert_eq!(arrivals(&mut lanes, &mut events), [(100, 0), (120, 1)]);
    }
}
