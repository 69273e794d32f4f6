//! Packets from one part of a network to another, where parts are simulated side by side.

use super::Network;
use super::lanes::Flight;
use crate::base::event::Key;
use crate::base::time::Time;
use crate::net::routing::NextHop;
use crate::packet::{Beside, Packet};

/// A packet that leaves, with all that goes with it but what is kept beside it: two cache lines, for to get one from another
/// core is what a crossing costs.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Crossing {
    /// Its link says where that is, if it has some.
    pub packet: Packet,
    /// When it arrives, and how long that takes from when it was sent.
    pub due: Time,
    duration: u32,
    port: u32,
    next: NextHop,
    /// What its arrival has drawn.
    pub number: u64,
    /// The number of the event that has sent it; from here on it is for who looks that up.
    pub by: u64,
    /// Of what has scheduled that event: when, its number, and what it has drawn, with its part above that; 0: nobody
    /// knows.
    pub before_time: Time,
    pub before_by: u64,
    pub before: u64,
}

const _: () = assert!(size_of::<Crossing>() == 128);

/// No packet takes longer from one part to another.
pub const LONGEST_CROSSING: Time = Time(u32::MAX as u64);

impl Crossing {
    /// The port by which it goes on.
    pub fn next_port(&self) -> usize {
        self.next.index()
    }

    /// When it was sent.
    pub fn sent(&self) -> Time {
        self.due - Time(self.duration.into())
    }
}

/// No duration is so long: it marks the lanes of packets that have come from other parts, in which they are in the order of
/// their keys as in every lane; and of those that might have left.
const FOREIGN: u64 = 1 << 63;
const FROM_APART: u64 = 1 << 62;

/// Most packets have one of two sizes on links of a few rates.
const LANES_KNOWN: usize = 8;

impl Network {
    /// This is one part of a network.  `is_here`: by port; `may_leave`: by port, whether what it sends may go on elsewhere.
    pub fn divide(&mut self, is_here: Vec<bool>, may_leave: &[bool]) {
        for (port, _) in self.ports.iter_mut().zip(may_leave).filter(|(_, leaves)| **leaves) {
            port.transmitter.let_leave();
        }
        self.common.is_here = is_here;
    }

    /// Whether nothing but routes that last decides what becomes of packets on wires: see [`Network::settle`].
    pub fn is_divisible(&self) -> bool {
        self.is_arrival_plain && self.fragmentation.is_none() && !self.common.holds_back
    }

    /// What was sent where packets may leave since the last call, in that order: those that stay wait here for their arrival, and
    /// the others are given away, with what is kept beside them, if something is.
    pub fn take_leaving(&mut self, mut give: impl FnMut(Crossing, Option<Beside>)) {
        while let Some((flight, duration, key)) = self.common.flights.take_apart() {
            if self.common.is_here.get(flight.next.index()) != Some(&false) {
                self.wait(flight, Time(duration.0 | FROM_APART), key);
                continue;
            }
            let packet = self.common.packets[flight.id];
            let beside = (packet.beside > 0).then(|| {
                let mut beside = Beside::default();
                self.common.packets.read_beside(flight.id, &mut beside);
                beside
            });
            self.common.packets.remove(flight.id);
            let crossing = Crossing {
                packet,
                due: key.time,
                duration: duration.0 as u32,
                port: flight.port,
                next: flight.next,
                number: key.number,
                by: 0,
                before_time: Time::ZERO,
                before_by: 0,
                before: 0,
            };
            give(crossing, beside);
        }
    }

    /// A packet comes from another part, and arrives under this key.
    pub fn admit(&mut self, crossing: &Crossing, beside: Option<&Beside>, key: Key) {
        let &Crossing { packet, duration, port, next, .. } = crossing;
        let id = self.common.packets.insert(packet);
        if let Some(beside) = beside {
            self.common.packets.set_beside(id, beside);
        }
        self.wait(Flight { id, port, next }, Time(u64::from(duration) | FOREIGN), key);
    }

    /// A packet that arrives under this key waits in the lane of this duration.
    fn wait(&mut self, flight: Flight, duration: Time, key: Key) {
        let (flights, events) = (&mut self.common.flights, &mut self.common.events);
        let known = self.marked_lanes.iter().position(|known| known.0 == duration);
        let at = known.unwrap_or_else(|| {
            self.marked_lanes.truncate(LANES_KNOWN - 1);
            self.marked_lanes.insert(0, (duration, 0));
            0
        });
        flights.start(&mut self.marked_lanes[at].1, duration, key, flight, events);
    }
}
