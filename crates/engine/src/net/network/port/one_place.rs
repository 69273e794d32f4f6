//! The way of a packet that waits where the device's queue has one place, as in most switches.
//!
//! What is in that place holds the discipline back.  When it goes, the discipline's next packet takes the place at
//! once, so that the discipline is held back again: a device that is busy stays `Stopped` (see
//! [`FlowControl`]), and nothing of the flow control has to be asked.  What comes meanwhile goes into the
//! discipline.
//!
//! The discipline's next packet takes the place at once, but ns-3 has an event for it, the wake, in the same nanosecond.  Others of
//! that nanosecond may come before.  Nothing that they do depends on it, nor it on them, but for what comes here meanwhile, since
//! the discipline may count what waits.  So where a discipline is first in, first out, the packet is taken without waiting for
//! the wake, and put back in the rare case that something comes between.
//!
//! Here it is one function for what arrives and one for what leaves.  Whatever else may happen is left to the
//! general way of [`Single`], which does the same step by step.

use super::feeder::Feeder;
use super::flow_control::FlowControl;
use super::single::Single;
use super::{DeviceFifo, Transmitter};
use crate::base::event::{Event, Key, PortEvent};
use crate::net::network::common::Common;
use crate::net::qdisc::Qdisc;
use crate::packet::PacketId;

impl Single {
    /// Packets wait in the way described above, now.
    #[inline(always)] // asked for every packet that waits
    fn is_brief(&self, transmitter: &Transmitter) -> bool {
        self.has_one_place && !transmitter.is_attended()
    }

    /// A packet comes while another one is sent.  Returns whether it waits now; if not, the general way is to be gone.
    #[inline(always)] // in one place
    pub(super) fn waits_briefly(
        &mut self,
        id: PacketId,
        transmitter: &mut Transmitter,
        common: &mut Common,
    ) -> bool {
        let now = common.events.now();
        if !self.is_brief(transmitter) || !transmitter.is_busy(now) {
            return false;
        }
        let Some(feeder) = &mut self.feeder else { return false };
        if let FlowControl::Stopped { hurried } = self.flow_control {
            if hurried == now.time {
                put_back(&mut self.queue, feeder, transmitter, common);
            }
            feeder.enqueue(id, transmitter, common);
            return true;
        }
        let Feeder { qdisc, state } = feeder;
        if state.packets > 0 || !self.flow_control.may_send(now, |wake| qdisc.found_empty(wake)) {
            return false;
        }
        let packet = &common.packets[id];
        let bytes = packet.wire_bytes();
        if !qdisc.passes(packet.ip_bytes, now.time) {
            return false;
        }
        state.count_passed();
        debug_assert!(self.queue.is_empty(), "a packet in it stops the discipline");
        self.queue.push(id, bytes, &mut common.packets);
        transmitter.await_completion(common);
        self.flow_control.stop(transmitter.port, &mut common.events);
        true
    }

    /// The transmitter is free, and the packet goes for which the discipline has been held back.  Returns whether it
    /// has gone; if not, the general way is to be gone.
    #[inline(always)] // in one place
    pub(super) fn succeeds(&mut self, transmitter: &mut Transmitter, common: &mut Common) -> bool {
        if !self.is_brief(transmitter) {
            return false;
        }
        let (FlowControl::Stopped { .. }, Some(feeder)) = (self.flow_control, &mut self.feeder)
        else {
            return false;
        };
        let Some(id) = self.queue.pop(&common.packets) else { return false };
        let packet = transmitter.departure(id, common);
        // ns-3 draws its number before those of the transmission.
        let number = common.events.draw(3);
        let wake = Key { time: common.events.now().time, number };
        let size = transmitter.send(packet, number + 1, common);
        if self.hurries {
            if feeder.state.packets == 0 {
                // Nobody waits for it.
                self.flow_control = FlowControl::StoppedUntil { wake };
                return true;
            }
            self.flow_control = FlowControl::Stopped { hurried: wake.time };
        } else if !common.events.skip_to(wake) {
            common.events.insert(wake, Event::Port(PortEvent::Wake, transmitter.port));
            return true;
        }
        // What would run next anyway runs at once.
        let Some(next) = feeder.dequeue(transmitter, common) else {
            self.flow_control = FlowControl::Started { wake: Key::default() };
            return true;
        };
        let bytes = common.packets[next].wire_bytes();
        self.queue.push(next, bytes, &mut common.packets);
        transmitter.await_begun(size, common);
        true
    }
}

/// Something comes in the nanosecond of a wake, and perhaps before it: then the packet that was taken ahead of it goes back, and
/// the wake becomes an event.
#[cold]
fn put_back(
    queue: &mut DeviceFifo,
    Feeder { qdisc, state }: &mut Feeder,
    transmitter: &Transmitter,
    common: &mut Common,
) {
    let now = common.events.now();
    let wake = Key { time: now.time, number: transmitter.last_number() - 1 };
    if now < wake
        && let Some(fifo) = qdisc.as_fifo()
        && let Some(id) = queue.pop(&common.packets)
    {
        fifo.put_back(id, &mut common.packets);
        state.count_put_back(&common.packets[id]);
        common.events.insert(wake, Event::Port(PortEvent::Wake, transmitter.port));
    }
}
