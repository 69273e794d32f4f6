//! The transmitter of a port: one packet after the other onto the wire (ns-3's
//! `PointToPointNetDevice` and `PointToPointChannel`).

use super::DelayVariation;
use crate::base::event::{Event, Key, PortEvent};
use crate::base::time::{Rate, Time};
use crate::net::network::common::Common;
use crate::net::network::lanes::{APART, Flight, Transmission};
use crate::net::routing::{NextHop, Place};
use crate::packet::PacketId;

/// What is known of packets of the last two sizes.  Mostly there are two, data and ACK, and the exact
/// rounding of the transmission time costs a 128-bit division.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    tx_time: [Time; 2],
    bytes: [u32; 2],
    /// Where they fly.
    lane: [u32; 2],
    /// Where the ends of their transmissions are waited for.
    end_lane: [u32; 2],
}

/// Which of them.
#[derive(Clone, Copy, Debug)]
pub struct Size(usize);

/// A packet that leaves: its bytes on the wire, and what the node at the far end will do with it.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    id: PacketId,
    bytes: u32,
    next: NextHop,
}

/// No row of a table.
const NOT_ASKED: u32 = u32::MAX;
/// No row either: the packet says it.
const CARRIED: u32 = u32::MAX - 1;

/// Its order is that of [`super::Port`]: what every packet needs comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Transmitter {
    sizes: Sizes,
    /// When the present transmission ends; in the past if the transmitter is idle.
    busy_until: Key,
    pub tx_packets: u64,
    pub delay: Time,
    pub tx_bytes: u64,
    rate: Rate,
    /// Whose it is.
    pub port: u32,
    /// The row of the node at the far end, if what that does with a packet is decided here; or else, or at an
    /// end system, [`NOT_ASKED`], and where packets carry their paths [`CARRIED`].
    leads_to: u32,
    /// No packet goes straight through: see [`Transmitter::attend`].
    is_attended: bool,
    /// Every event is queued, as [`EventQueue::plain`] says, or because byte limits count them all.
    pub is_plain: bool,
    /// The end of the present transmission is queued as an event.
    is_completion_queued: bool,
    /// Packets do not all fly equally long: some flows have longer paths, or `variation` says how long.
    is_uneven: bool,
    variation: Option<Box<DelayVariation>>,
}

impl Transmitter {
    pub fn new(port: u32, rate: Rate, delay: Time, variation: Option<DelayVariation>) -> Self {
        Transmitter {
            port,
            leads_to: NOT_ASKED,
            is_attended: true,
            is_plain: false,
            is_completion_queued: false,
            is_uneven: variation.is_some(),
            busy_until: Key::default(),
            sizes: Sizes::default(),
            delay,
            tx_packets: 0,
            tx_bytes: 0,
            rate,
            variation: variation.map(Box::new),
        }
    }

    /// What the node at the far end does with a packet is decided here.
    pub fn decide_for(&mut self, far_end: Place, is_carried: bool) {
        if let Place::Row(row) = far_end {
            self.leads_to = if is_carried { CARRIED } else { row };
        }
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// From the next packet on.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.sizes = Sizes::default();
    }

    #[inline]
    pub fn is_busy(&self, now: Key) -> bool {
        now < self.busy_until
    }

    /// The number of the end of the present transmission, or of the last one.
    pub fn last_number(&self) -> u64 {
        self.busy_until.number
    }

    /// Whether what is sent here needs attention.
    #[inline]
    pub fn is_attended(&self) -> bool {
        self.is_attended
    }

    /// What is sent here needs attention if every event is queued, if packets do not all fly equally long, or if
    /// somebody `looks`.
    pub fn attend(&mut self, looks: bool) {
        self.is_attended = looks || self.is_plain || self.is_uneven;
    }

    /// A packet that is sent here now.
    #[inline(always)]
    pub fn departure(&self, id: PacketId, common: &mut Common) -> Departure {
        let bytes = common.packets[id].wire_bytes();
        Departure { id, bytes, next: self.next_after(id, common) }
    }

    /// Puts a packet onto the wire where all fly equally long, and nobody waits for its end.  `number`: of the end
    /// of the transmission; that of the arrival is the next.  Returns which of the sizes it has.
    #[inline(always)] // on every hop
    pub fn send(&mut self, packet: Departure, number: u64, common: &mut Common) -> Size {
        let Departure { id, bytes, next } = packet;
        let size = self.size(bytes);
        let tx_time = self.sizes.tx_time[size];
        let (now, duration) = (common.events.now().time, tx_time + self.delay);
        self.busy_until = Key { time: now + tx_time, number };
        self.tx_packets += 1;
        self.tx_bytes += u64::from(bytes);
        let key = Key { time: now + duration, number: number + 1 };
        let flight = Flight { id, port: self.port, next };
        let lane = &mut self.sizes.lane[size];
        common.flights.start(lane, duration, key, flight, &mut common.events);
        Size(size)
    }

    /// Puts a packet onto the wire; the transmitter is idle, and busy from now on until the packet's
    /// end has left.  `is_awaited`: others wait for that.
    pub fn transmit(&mut self, id: PacketId, is_awaited: bool, common: &mut Common) {
        let packet = self.departure(id, common);
        // ns-3 draws the numbers in this order: end of transmission, arrival.
        let number = common.events.draw(2);
        let size = if self.is_uneven {
            self.send_unevenly(packet, number, common)
        } else {
            self.send(packet, number, common)
        };
        if is_awaited || self.is_plain {
            self.await_begun(size, common);
        }
    }

    /// What the node at the far end will do with a packet.
    #[inline(always)]
    fn next_after(&self, id: PacketId, common: &mut Common) -> NextHop {
        match self.leads_to {
            NOT_ASKED => NextHop::HERE,
            CARRIED => NextHop::port(common.packets[id].take_port()),
            row => common.forwarding.ahead(row, &common.packets[id]),
        }
    }

    /// The packet may fly longer than others.
    #[inline(never)]
    fn send_unevenly(&mut self, packet: Departure, number: u64, common: &mut Common) -> Size {
        let Departure { id, bytes, next } = packet;
        let (delay, port) = (self.delay, self.port);
        let mut variation = self.variation.take();
        let size = self.size(bytes);
        let tx_time = self.sizes.tx_time[size];
        let now = common.events.now().time;
        let (mut duration, mut lane) = (tx_time + delay, &mut self.sizes.lane[size]);
        if let Some((added, own)) = common.added_delays.at(port, &common.packets[id]) {
            duration += added;
            if *lane != APART {
                lane = own;
            }
        }
        let (flight, events) = (Flight { id, port, next }, &mut common.events);
        if let Some(by) = &mut variation {
            duration = by.flight(now, duration);
        }
        let key = Key { time: now + duration, number: number + 1 };
        if variation.is_some() {
            common.flights.start_alone(key, flight, events);
        } else {
            common.flights.start(lane, duration, key, flight, events);
        }
        self.variation = variation;
        self.busy_until = Key { time: now + tx_time, number };
        self.tx_packets += 1;
        self.tx_bytes += u64::from(bytes);
        Size(size)
    }

    /// Some of what is sent here goes on in another part of the network; its rate stays.
    pub fn let_leave(&mut self) {
        self.sizes.lane = [APART; 2];
    }

    /// Some flows that begin here have longer paths than others.
    pub fn add_delays(&mut self) {
        self.is_uneven = true;
    }

    /// The end of the present transmission, which began at some time, is waited for.
    #[inline]
    pub fn await_completion(&mut self, common: &mut Common) {
        if !self.is_completion_queued {
            self.is_completion_queued = true;
            common.events.insert(self.busy_until, Event::Port(PortEvent::TxComplete, self.port));
        }
    }

    /// The same for a transmission of this size that has begun now, whose end is waited for with others if there are
    /// many.
    #[inline(always)] // on the way of every packet that waits in a discipline
    pub fn await_begun(&mut self, Size(size): Size, common: &mut Common) {
        debug_assert!(!self.is_completion_queued, "it was not busy");
        self.is_completion_queued = true;
        let Common { events, transmissions, .. } = common;
        let (tx_time, transmission) = (self.sizes.tx_time[size], Transmission { port: self.port });
        let lane = &mut self.sizes.end_lane[size];
        if !events.is_crowded()
            || events.plain
            || !transmissions.join(lane, tx_time, self.busy_until, transmission, events)
        {
            events.insert(self.busy_until, Event::Port(PortEvent::TxComplete, self.port));
        }
    }

    /// The end of the present transmission has come, as an event.
    pub fn complete(&mut self) {
        self.is_completion_queued = false;
    }

    /// Which of the sizes this is.
    #[inline]
    fn size(&mut self, bytes: u32) -> usize {
        let size = usize::from(self.sizes.bytes[0] != bytes);
        if self.sizes.bytes[size] != bytes {
            self.learn(bytes);
        }
        size
    }

    /// Makes this the second size; the last one becomes the first.
    #[inline(never)]
    fn learn(&mut self, bytes: u32) {
        let Sizes { tx_time: [_, tx_time], bytes: [_, last], lane: [_, lane], end_lane } =
            self.sizes;
        self.sizes = Sizes {
            tx_time: [tx_time, self.rate.tx_time(bytes)],
            bytes: [last, bytes],
            lane: [lane, if lane == APART { APART } else { 0 }],
            end_lane: [end_lane[1], 0],
        };
    }
}
