//! How far ahead hosts may look away: the time before which nothing in the network can reach any of them.
//!
//! Whoever runs the hosts somewhere else (in a kernel, say) sleeps until then, and what happens between routers is caught up with
//! later.  Packets on their last wire may be handed over ahead of time: nothing keeps them from their hosts.

use ccperf_schema::lowered::Lowered;

use super::lanes::Flight;
use super::{Network, Port};
use crate::base::event::{DisciplineEvent, Event, Key, LaneEvent};
use crate::base::time::Time;
use crate::net::routing::Place;
use crate::packet::{Flags, Image, Packet};

/// By port.  Queue disciplines from outside are as hosts are: what comes to one, and what it sends, has its time.
#[derive(Debug, Default)]
pub struct Lookahead {
    /// The least time that anything takes from the beginning of its transmission to the far end.
    delays: Vec<Time>,
    /// From the far end to a host, at least.
    beyond: Vec<Time>,
    /// A queue discipline from outside is in front.
    is_outside: Vec<bool>,
    /// From a host to a host, at least: what a host sends changes nothing for any of them before.  0 where queue disciplines
    /// from outside see it earlier.
    across: Time,
}

/// A packet of another stack on its way to a host, which it reaches whatever hosts send meanwhile.
#[derive(Clone, Debug)]
pub struct Arriving {
    pub time: Time,
    pub packet: Packet,
    pub image: Image,
}

impl Lookahead {
    /// Where paths last, they say how far from its host a packet is; or else any port may lead to one.
    pub fn new(scenario: &Lowered, network: &Network) -> Self {
        let mut delays: Vec<_> = scenario.links.iter().map(|link| Time(link.delay_ns)).collect();
        let scheduled = scenario.links.iter().enumerate().flat_map(|(number, link)| {
            let delays = link.schedules.iter().filter_map(|s| s.delays_ns.as_ref()).flatten();
            delays.map(move |&delay| (number, delay))
        });
        let changed = scenario.changes.iter().filter_map(|c| Some((c.link, c.delay_ns?)));
        for (link, delay) in changed.chain(scheduled) {
            delays[link] = delays[link].min(Time(delay));
        }
        let is_outside: Vec<_> = network.ports.iter().map(Port::is_fed_from_outside).collect();
        let mut beyond = vec![None; 2 * scenario.links.len()];
        let does_last = scenario.routing.kind == "static" && scenario.failures.is_empty();
        let may_be_ahead = does_last && !is_outside.contains(&true);
        let flows = scenario.flows.iter().flat_map(|flow| [&flow.path, &flow.return_path]);
        let pairs = scenario.pairs.iter().flat_map(|pair| [&pair.path, &pair.return_path]);
        let pings = scenario.pings.iter().flat_map(|ping| [&ping.path, &ping.return_path]);
        // What a host sends may change what any other receives: by a queue, a buffer that queues share, or a pause.
        let (mut first, mut last, mut alone) = (Time::MAX, Time::MAX, Time::MAX);
        for path in flows.chain(pairs).chain(pings).filter(|_| does_last) {
            let mut rest = Time::ZERO;
            for &[link, side] in path.iter().rev() {
                let known = beyond[2 * link + side].get_or_insert(rest);
                *known = rest.min(*known);
                rest = if is_outside[2 * link + side] { Time::ZERO } else { rest + delays[link] };
            }
            match path[..] {
                [] => {}
                [[link, _]] => alone = alone.min(delays[link]),
                [[link, _], .., [end, _]] => {
                    (first, last) = (first.min(delays[link]), last.min(delays[end]));
                }
            }
        }
        Lookahead {
            delays: delays.iter().flat_map(|&delay| [delay; 2]).collect(),
            is_outside,
            beyond: beyond.into_iter().map(|time| time.unwrap_or(Time::ZERO)).collect(),
            across: if may_be_ahead {
                alone.min(Time(first.0.saturating_add(last.0)))
            } else {
                Time::ZERO
            },
        }
    }
}

impl Network {
    /// The time before which nothing reaches a host but what is `arriving` there, in its order, and nothing happens that is not
    /// the network's own.
    pub fn horizon(&self, lookahead: &Lookahead, arriving: &mut Vec<Arriving>) -> Time {
        let mut horizon = Time::MAX;
        let until = Time(self.now().0.saturating_add(lookahead.across.0));
        let mut certain: Vec<(Key, Flight)> = Vec::new();
        let arrives = |port: u32, at: Time| at + lookahead.beyond[port as usize];
        let leaves = |port: u32, at: Time| {
            let is_outside = lookahead.is_outside[port as usize];
            if is_outside { at } else { arrives(port, at + lookahead.delays[port as usize]) }
        };
        for (at, event) in self.common.events.pending() {
            if at >= horizon {
                continue;
            }
            let soonest = match event {
                Event::Lane(LaneEvent::Arrival, lane) => {
                    let mut others = Time::MAX;
                    for (key, flight) in self.common.flights.waiting(lane) {
                        if key.time < until && self.is_certain(&flight) {
                            certain.push((key, flight));
                        } else {
                            others = others.min(arrives(flight.port, key.time));
                        }
                    }
                    Some(others)
                }
                Event::Lane(LaneEvent::Transmitted, lane) => {
                    let ends = self.common.transmissions.waiting(lane);
                    ends.map(|(key, end)| leaves(end.port, key.time)).min()
                }
                Event::Port(_, port) => Some(leaves(port, at)),
                Event::Discipline(DisciplineEvent::Timer, index) => {
                    Some(leaves(self.common.timers.get(index).port, at))
                }
                _ => Some(at),
            };
            horizon = horizon.min(soonest.unwrap_or(at));
        }
        certain.retain(|(key, _)| key.time < horizon);
        certain.sort_unstable_by_key(|(key, _)| (key.time, key.number));
        arriving.clear();
        arriving.extend(certain.into_iter().map(|(key, flight)| Arriving {
            time: key.time,
            packet: self.common.packets[flight.id],
            image: self.common.packets.image(flight.id).unwrap_or([0; size_of::<Image>()]),
        }));
        horizon
    }

    /// Nothing is decided about this packet any more: it is on the wire to its host, and no wire there loses any.
    fn is_certain(&self, flight: &Flight) -> bool {
        let wire = &self.wires[flight.port as usize];
        matches!(wire.leads_to, Place::Leaf(_))
            && !wire.loss.is_lossy()
            && self.fragmentation.is_none()
            && !self.common.packets[flight.id].flags.has(Flags::PAUSE)
    }
}
