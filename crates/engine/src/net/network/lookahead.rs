//! How far ahead hosts may look away: the time before which nothing in the network can reach any of them.
//!
//! Whoever runs the hosts somewhere else (in a kernel, say) sleeps until then, and what happens between routers is caught up with
//! later.

use super::{Network, Port};
use crate::base::event::{DisciplineEvent, Event, LaneEvent};
use crate::base::time::Time;
use crate::lowered::Lowered;

/// By port.  Queue disciplines from outside are as hosts are: what comes to one, and what it sends, has its time.
#[derive(Debug, Default)]
pub struct Lookahead {
    /// The least time that anything takes from the beginning of its transmission to the far end.
    delays: Vec<Time>,
    /// From the far end to a host, at least.
    beyond: Vec<Time>,
    /// A queue discipline from outside is in front.
    is_outside: Vec<bool>,
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
        let flows = scenario.flows.iter().flat_map(|flow| [&flow.path, &flow.return_path]);
        let pairs = scenario.pairs.iter().flat_map(|pair| [&pair.path, &pair.return_path]);
        let pings = scenario.pings.iter().flat_map(|ping| [&ping.path, &ping.return_path]);
        for path in flows.chain(pairs).chain(pings).filter(|_| does_last) {
            let mut rest = Time::ZERO;
            for &[link, side] in path.iter().rev() {
                let known = beyond[2 * link + side].get_or_insert(rest);
                *known = rest.min(*known);
                rest = if is_outside[2 * link + side] { Time::ZERO } else { rest + delays[link] };
            }
        }
        Lookahead {
            delays: delays.iter().flat_map(|&delay| [delay; 2]).collect(),
            is_outside,
            beyond: beyond.into_iter().map(|time| time.unwrap_or(Time::ZERO)).collect(),
        }
    }
}

impl Network {
    /// The time before which no host can be reached, and nothing happens that is not the network's own.
    pub fn horizon(&self, lookahead: &Lookahead) -> Time {
        let mut horizon = Time::MAX;
        let arrives = |port: u32, at: Time| at + lookahead.beyond[port as usize];
        let leaves = |port: u32, at: Time| match lookahead.is_outside[port as usize] {
            true => at,
            false => arrives(port, at + lookahead.delays[port as usize]),
        };
        for (at, event) in self.common.events.pending() {
            if at >= horizon {
                continue;
            }
            let soonest = match event {
                Event::Lane(LaneEvent::Arrival, lane) => {
                    let flights = self.common.flights.waiting(lane);
                    flights.map(|(at, flight)| arrives(flight.port, at)).min()
                }
                Event::Lane(LaneEvent::Transmitted, lane) => {
                    let ends = self.common.transmissions.waiting(lane);
                    ends.map(|(at, end)| leaves(end.port, at)).min()
                }
                Event::Port(_, port) => Some(leaves(port, at)),
                Event::Discipline(DisciplineEvent::Timer, index) => {
                    Some(leaves(self.common.timers.get(index).port, at))
                }
                _ => Some(at),
            };
            horizon = horizon.min(soonest.unwrap_or(at));
        }
        horizon
    }
}
