//! The transmitter of a port: one packet after the other onto the wire (ns-3's
//! `PointToPointNetDevice` and `PointToPointChannel`).

use super::DelayVariation;
use crate::event::{Event, EventQueue, Key};
use crate::network::common::Common;
use crate::packet::PacketId;
use crate::time::{Rate, Time};

/// What is known of packets of one size.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    bytes: u32,
    /// Where they fly.
    lane: u32,
    tx_time: Time,
}

/// What every packet needs fills one cache line, the first.
#[derive(Debug)]
#[repr(C)]
pub struct Transmitter {
    /// Mostly there are two sizes, data and ACK, and the exact rounding of the transmission time costs a
    /// 128-bit division.
    sizes: [Size; 2],
    /// When the present transmission ends; in the past if the transmitter is idle.
    busy_until: Key,
    pub delay: Time,
    /// Whose it is.
    pub port: u32,
    /// Every event is queued, as [`EventQueue::plain`] says, or because byte limits count them all.
    pub is_plain: bool,
    /// The end of the present transmission is queued as an event.
    is_completion_queued: bool,
    /// Some flows that begin here have longer ways than others.
    pub adds_delays: bool,
    /// Packets do not all fly equally long: `variation` says how long.
    is_varied: bool,
    pub tx_packets: u64,
    pub tx_bytes: u64,
    rate: Rate,
    variation: Option<Box<DelayVariation>>,
}

impl Transmitter {
    pub fn new(port: u32, rate: Rate, delay: Time, variation: Option<DelayVariation>) -> Self {
        Transmitter {
            port,
            is_plain: false,
            is_completion_queued: false,
            adds_delays: false,
            is_varied: variation.is_some(),
            busy_until: Key::default(),
            sizes: [Size::default(); 2],
            delay,
            tx_packets: 0,
            tx_bytes: 0,
            rate,
            variation: variation.map(Box::new),
        }
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// From the next packet on.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.sizes = [Size::default(); 2];
    }

    #[inline]
    pub fn is_busy(&self, now: Key) -> bool {
        now < self.busy_until
    }

    /// Puts a packet onto the wire; the transmitter is idle, and busy from now on until the packet's
    /// end has left.  `is_awaited`: others wait for that.
    #[inline]
    pub fn transmit(&mut self, id: PacketId, bytes: u32, is_awaited: bool, common: &mut Common) {
        let (delay, port, adds_delays) = (self.delay, self.port, self.adds_delays);
        let is_varied = self.is_varied;
        let size = self.size(bytes);
        let tx_time = size.tx_time;
        // ns-3 draws the numbers in this order: end of transmission, arrival.
        let busy_until = common.events.reserve(tx_time);
        let (mut flight, mut lane) = (tx_time + delay, &mut size.lane);
        if adds_delays && let Some((added, own)) = common.added_delays.at(port, &common.packets[id])
        {
            (flight, lane) = (flight + added, own);
        }
        if is_varied {
            self.start_alone(id, flight, common);
        } else {
            common.lanes.start(lane, flight, id, port, &mut common.events);
        }
        self.busy_until = busy_until;
        self.tx_packets += 1;
        self.tx_bytes += u64::from(bytes);
        if is_awaited || self.is_plain {
            self.is_completion_queued = true;
            common.events.insert(busy_until, Event::TxComplete(port));
        }
    }

    #[cold]
    fn start_alone(&mut self, id: PacketId, plain: Time, common: &mut Common) {
        let now = common.now();
        let flight = self.variation.as_mut().map_or(plain, |by| by.flight(now, plain));
        common.lanes.start_alone(flight, id, self.port, &mut common.events);
    }

    /// The end of the present transmission is waited for.
    #[inline]
    pub fn await_completion(&mut self, events: &mut EventQueue) {
        if !self.is_completion_queued {
            self.is_completion_queued = true;
            events.insert(self.busy_until, Event::TxComplete(self.port));
        }
    }

    /// The end of the present transmission has come, as an event.
    pub fn complete(&mut self) {
        self.is_completion_queued = false;
    }

    #[inline]
    fn size(&mut self, bytes: u32) -> &mut Size {
        let [first, second] = self.sizes;
        if first.bytes == bytes {
            return &mut self.sizes[0];
        }
        if second.bytes == bytes {
            return &mut self.sizes[1];
        }
        self.sizes = [Size { bytes, lane: 0, tx_time: self.rate.tx_time(bytes) }, first];
        &mut self.sizes[0]
    }
}
