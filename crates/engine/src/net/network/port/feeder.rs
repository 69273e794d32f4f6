//! A queue discipline in its place: what feeds a device.

use super::Transmitter;
use crate::net::network::common::{Common, QdiscTimer};
use crate::net::qdisc::{AnyQdisc, Nesting, Qdisc, QdiscContext, QdiscState};
use crate::packet::PacketId;

/// A discipline with its backlog and statistics, which it reports while it works.
#[derive(Debug)]
#[repr(C)]
pub struct Feeder {
    pub state: QdiscState,
    pub qdisc: AnyQdisc,
}

/// Where a discipline is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Which of the port's.
    pub number: u32,
    /// How many levels below the root.
    pub depth: u8,
}

/// The only discipline of a device with one queue.
pub const ROOT: Place = Place { number: 0, depth: 0 };

impl Feeder {
    pub fn new(qdisc: AnyQdisc) -> Self {
        Feeder { state: QdiscState::default(), qdisc }
    }

    /// A packet comes to the discipline, and nobody looks.
    #[inline(always)] // in one place
    pub fn enqueue(&mut self, id: PacketId, transmitter: &Transmitter, common: &mut Common) {
        let (now, packets) = (common.events.now().time, &mut common.packets);
        let has_entered = match &mut self.qdisc {
            AnyQdisc::Fifo(fifo) => fifo.append(id, now, packets, &mut self.state),
            AnyQdisc::Red(red) => red.append(id, now, packets, &mut self.state),
            _ => false,
        };
        if !has_entered {
            self.call(ROOT, transmitter, common, |qdisc, cx| qdisc.enqueue(id, cx));
        }
    }

    /// The device has room, and nobody looks.
    #[inline(always)] // in one place
    pub fn dequeue(&mut self, transmitter: &Transmitter, common: &mut Common) -> Option<PacketId> {
        let (now, packets) = (common.events.now().time, &common.packets);
        match &mut self.qdisc {
            AnyQdisc::Fifo(fifo) => fifo.take_first(now, packets, &mut self.state),
            AnyQdisc::Red(red) => red.take_first(now, packets, &mut self.state),
            _ => self.call(ROOT, transmitter, common, |qdisc, cx| qdisc.dequeue(cx)),
        }
    }

    /// Calls the discipline with its surroundings, and queues the timers that it sets.
    #[inline]
    pub fn call<T>(
        &mut self,
        place: Place,
        transmitter: &Transmitter,
        common: &mut Common,
        call: impl FnOnce(&mut AnyQdisc, &mut QdiscContext<'_>) -> T,
    ) -> T {
        let port = transmitter.port;
        let mut cx = QdiscContext {
            now: common.events.now().time,
            packets: &mut common.packets,
            state: &mut self.state,
            flow_keys: &common.flow_keys,
            rate: transmitter.rate(),
            port,
            trace: common.trace.as_mut(),
            timers: &mut common.set_timers,
            nesting: Nesting::at(place.depth),
        };
        let result = call(&mut self.qdisc, &mut cx);
        if !common.set_timers.is_empty() {
            for (delay, tag) in common.set_timers.drain(..) {
                let timer = QdiscTimer { port, discipline: place.number, tag };
                common.timers.set(delay, timer, &mut common.events);
            }
        }
        result
    }
}
