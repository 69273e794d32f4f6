//! A device with one transmit queue, and the queue discipline above it (ns-3's traffic control layer
//! over a `PointToPointNetDevice`).

use super::byte_limits::ByteLimits;
use super::feeder::{Feeder, ROOT};
use super::flow_control::FlowControl;
use super::{DeviceFifo, Loss, QueueStatistics, Transmitter};
use crate::base::event::Key;
use crate::base::time::Time;
use crate::net::network::common::{Common, LINK_DOWN, QUEUE_FULL};
use crate::net::qdisc::{AnyQdisc, Counts, Qdisc, QdiscContext};
use crate::packet::PacketId;
use crate::packet::trace::PacketEvent;

#[derive(Debug)]
#[repr(C)]
pub struct Single {
    pub(super) flow_control: FlowControl,
    pub(super) queue: DeviceFifo,
    /// The device's queue has one place, and a discipline feeds it: see `super::one_place`.
    pub(super) has_one_place: bool,
    /// Whatever comes while the discipline is empty passes it.
    passes_all: bool,
    /// What the discipline does when it is woken is done ahead of that: see `super::one_place`.
    pub(super) hurries: bool,
    /// None: packets go straight to the device.
    pub(super) feeder: Option<Feeder>,
    /// Byte queue limits, for which the discipline waits as well; only where every event is queued.
    limits: Option<Box<ByteLimits>>,
    /// Packets that the device refused.
    pub dropped: u64,
}

impl Single {
    /// `hold_time`: that of byte queue limits, if there are any.
    pub fn new(qdisc: Option<AnyQdisc>, queue: DeviceFifo, hold_time: Option<Time>) -> Self {
        Single {
            has_one_place: queue.has_one_place() && qdisc.is_some() && hold_time.is_none(),
            passes_all: matches!(&qdisc, Some(AnyQdisc::Fifo(fifo)) if fifo.passes_all()),
            hurries: false,
            flow_control: FlowControl::default(),
            queue,
            limits: hold_time.map(|hold_time| Box::new(ByteLimits::new(hold_time))),
            dropped: 0,
            feeder: qdisc.map(Feeder::new),
        }
    }

    /// Some packets go straight through here, or wait briefly: a discipline feeds the device, whose queue counts
    /// packets.
    pub fn has_shortcuts(&self) -> bool {
        self.feeder.is_some() && self.queue.counts_packets()
    }

    /// From now on nobody but what comes here could tell the order of what happens in one nanosecond.
    pub fn hurry(&mut self) {
        let is_fifo = self.feeder.as_mut().is_some_and(|feeder| feeder.qdisc.as_fifo().is_some());
        self.hurries = self.has_one_place && is_fifo;
    }

    /// A packet comes: into the discipline, or straight to the device.
    #[inline(always)] // on every hop
    pub fn enter(&mut self, id: PacketId, transmitter: &mut Transmitter, common: &mut Common) {
        if !self.lets_through(id, transmitter, common) {
            self.enter_attended(id, transmitter, common);
        }
    }

    /// Where all is idle a packet goes straight onto the wire: the discipline is empty and does nothing
    /// but count it, the device has nothing to send.  Returns whether it has.
    #[inline(always)]
    fn lets_through(
        &mut self,
        id: PacketId,
        transmitter: &mut Transmitter,
        common: &mut Common,
    ) -> bool {
        let now = common.events.now();
        if transmitter.is_busy(now) || transmitter.is_attended() {
            return false;
        }
        let Some(Feeder { qdisc, state }) = &mut self.feeder else { return false };
        if state.packets > 0 || !self.flow_control.may_send(now, |wake| qdisc.found_empty(wake)) {
            return false;
        }
        // An idle transmitter has no queue, so that nobody waits for its end.
        debug_assert!(self.queue.is_empty());
        if !self.passes_all && !qdisc.passes(common.packets[id].ip_bytes, now.time) {
            return false;
        }
        let packet = transmitter.departure(id, common);
        state.count_passed();
        // ns-3 draws its number before those of the transmission.
        let number = common.events.draw(3);
        transmitter.send(packet, number + 1, common);
        self.flow_control.pass(Key { time: now.time, number }, self.has_one_place);
        true
    }

    /// The same where the way is not free, or somebody looks.
    #[inline(never)] // keeps the way through short
    fn enter_attended(&mut self, id: PacketId, transmitter: &mut Transmitter, common: &mut Common) {
        if self.waits_briefly(id, transmitter, common) {
            return;
        }
        if self.flow_control.is_stopped() {
            self.catch_up(transmitter.port, common);
        }
        // Most disciplines are empty most of the time, and all they do is count.
        if !self.flow_control.is_stopped() && !transmitter.is_plain {
            let now = common.events.now();
            let packet = &common.packets[id];
            let bytes = packet.wire_bytes();
            if !self.queue.is_full_for(bytes) && self.passes_discipline(packet.ip_bytes, now.time) {
                common.record(transmitter.port, PacketEvent::Enqueue, id, "");
                if transmitter.is_busy(now) {
                    return self.wait(id, bytes, transmitter, common);
                }
                let wake = self.transmit(id, transmitter, common);
                self.flow_control.pass(wake, self.queue.is_filled_by(bytes));
                common.record(transmitter.port, PacketEvent::Tx, id, "");
                return;
            }
        }
        self.enter_queue(id, transmitter, common);
    }

    /// Whether an arriving packet goes straight through the empty discipline, which has then seen it.
    #[inline]
    fn passes_discipline(&mut self, ip_bytes: u32, now: Time) -> bool {
        let Some(Feeder { qdisc, state }) = &mut self.feeder else { return false };
        if state.packets > 0 || !qdisc.passes(ip_bytes, now) {
            return false;
        }
        state.count_passed();
        true
    }

    /// Somebody comes who has to know whether the discipline may send.
    #[inline(never)]
    fn catch_up(&mut self, port: u32, common: &mut Common) {
        if let Some(wake) = self.flow_control.catch_up(port, &mut common.events)
            && let Some(feeder) = &mut self.feeder
        {
            feeder.qdisc.found_empty(wake.time);
        }
    }

    fn enter_queue(&mut self, id: PacketId, transmitter: &mut Transmitter, common: &mut Common) {
        if let Some(feeder) = &mut self.feeder {
            feeder.call(ROOT, transmitter, common, |qdisc, cx| qdisc.enqueue(id, cx));
            self.run(transmitter, common);
        } else if self.flow_control.is_stopped() {
            self.refuse(id, "Device stopped", transmitter, common);
        } else {
            self.give_to_device(id, transmitter, common);
        }
    }

    /// The discipline sends until it is empty, gives nothing, or is told to stop.
    fn run(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        if self.flow_control.is_stopped() {
            return;
        }
        let quota = self.feeder.as_ref().map_or(0, |feeder| feeder.qdisc.run_quota());
        for _ in 0..quota {
            let Some(feeder) = &mut self.feeder else { return };
            let next = feeder.call(ROOT, transmitter, common, |qdisc, cx| qdisc.dequeue(cx));
            let is_empty = feeder.state.packets == 0;
            let Some(id) = next else { return };
            self.give_to_device(id, transmitter, common);
            // An empty discipline is not asked: CoDel, COBALT and RED would note that it was empty.
            if is_empty || self.flow_control.is_stopped() {
                return;
            }
        }
    }

    #[inline(always)] // on the way of every packet that has waited
    fn give_to_device(&mut self, id: PacketId, transmitter: &mut Transmitter, common: &mut Common) {
        let bytes = common.packets[id].wire_bytes();
        if self.queue.is_full_for(bytes) {
            self.flow_control.stop(transmitter.port, &mut common.events);
            return self.refuse(id, QUEUE_FULL, transmitter, common);
        }
        if transmitter.is_plain
            && let Some(limits) = &mut self.limits
            && limits.on_queued(bytes)
        {
            self.flow_control.stop(transmitter.port, &mut common.events);
        }
        if transmitter.is_busy(common.events.now()) {
            return self.wait(id, bytes, transmitter, common);
        }
        // In and out of the queue at once: even then it has been full for a moment.
        if self.queue.is_filled_by(bytes) {
            self.flow_control.stop(transmitter.port, &mut common.events);
        }
        let wake = self.transmit(id, transmitter, common);
        let is_plain = transmitter.is_plain;
        self.flow_control.on_transmission(wake, transmitter.port, is_plain, &mut common.events);
        common.record(transmitter.port, PacketEvent::Tx, id, "");
    }

    /// A packet waits in the device queue, which has room.
    #[inline(always)] // likewise
    fn wait(
        &mut self,
        id: PacketId,
        bytes: u32,
        transmitter: &mut Transmitter,
        common: &mut Common,
    ) {
        self.queue.push(id, bytes, &mut common.packets);
        transmitter.await_completion(common);
        if self.queue.is_full() {
            self.flow_control.stop(transmitter.port, &mut common.events);
        }
    }

    /// Puts a packet onto the wire.  Returns when the device looks whether its queue has room.
    #[inline]
    fn transmit(
        &mut self,
        id: PacketId,
        transmitter: &mut Transmitter,
        common: &mut Common,
    ) -> Key {
        // ns-3 draws its number before those of the transmission.
        let wake = common.events.reserve(Time::ZERO);
        transmitter.transmit(id, !self.queue.is_empty(), common);
        wake
    }

    /// The transmitter is free: the next packet.
    pub fn transmit_next(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        if self.succeeds(transmitter, common) {
            return;
        }
        let Some(id) = self.queue.pop(&common.packets) else { return };
        let wake = self.transmit(id, transmitter, common);
        common.record(transmitter.port, PacketEvent::Tx, id, "");
        let (port, is_plain) = (transmitter.port, transmitter.is_plain);
        if self.flow_control.is_stopped() && !is_plain && common.events.skip_to(wake) {
            // What would run next anyway runs at once.
            self.on_wake(transmitter, common);
        } else {
            self.flow_control.on_transmission(wake, port, is_plain, &mut common.events);
        }
    }

    /// A look at the room in the queue, which the discipline may wait for.
    pub fn on_wake(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        let (sent, now) = (transmitter.tx_bytes, common.now());
        let waits = transmitter.is_plain
            && self.limits.as_mut().is_some_and(|limits| limits.on_sent(sent, now));
        if self.flow_control.is_stopped() && !self.queue.is_full() && !waits {
            self.flow_control.start();
            self.run(transmitter, common);
        }
    }

    /// A timer of the discipline fires.
    pub fn on_timer(&mut self, tag: u32, transmitter: &mut Transmitter, common: &mut Common) {
        let Some(feeder) = &mut self.feeder else { return };
        if feeder.call(ROOT, transmitter, common, |qdisc, cx| qdisc.timer(tag, cx)) {
            self.run(transmitter, common);
        }
    }

    /// The link fails: what the discipline gives is lost, and what the device has.
    pub fn flush(&mut self, transmitter: &mut Transmitter, loss: &mut Loss, common: &mut Common) {
        let port = transmitter.port;
        let mut lose = |id: PacketId, common: &mut Common| {
            loss.count_failed();
            common.record(port, PacketEvent::Drop, id, LINK_DOWN);
            common.packets.remove(id);
        };
        self.catch_up(port, common);
        if let Some(feeder) = &mut self.feeder {
            while let Some(id) =
                feeder.call(ROOT, transmitter, common, |qdisc, cx| qdisc.dequeue(cx))
            {
                lose(id, common);
            }
        }
        while let Some(id) = self.queue.pop(&common.packets) {
            // The device looks whether there is room now, as after every packet that leaves its queue.
            let wake = common.events.reserve(Time::ZERO);
            let is_plain = transmitter.is_plain;
            self.flow_control.on_transmission(wake, port, is_plain, &mut common.events);
            lose(id, common);
        }
    }

    pub fn each_discipline(
        &mut self,
        transmitter: &Transmitter,
        common: &mut Common,
        call: impl Fn(&mut AnyQdisc, &mut QdiscContext<'_>),
    ) {
        if let Some(feeder) = &mut self.feeder {
            feeder.call(ROOT, transmitter, common, call);
        }
    }

    fn refuse(
        &mut self,
        id: PacketId,
        reason: &'static str,
        transmitter: &Transmitter,
        common: &mut Common,
    ) {
        self.dropped += 1;
        common.refuse(transmitter.port, id, reason);
    }

    pub fn is_fed_from_outside(&self) -> bool {
        self.feeder.as_ref().is_some_and(|feeder| matches!(feeder.qdisc, AnyQdisc::Dyn(_)))
    }

    pub fn waiting_bytes(&self) -> u32 {
        self.queue.bytes() + self.feeder.as_ref().map_or(0, |feeder| feeder.state.bytes)
    }

    pub fn statistics(&self) -> QueueStatistics {
        let feeder = self.feeder.as_ref();
        feeder.map_or_else(Default::default, |feeder| QueueStatistics::of(&feeder.state))
    }

    pub fn decisions(&self) -> Vec<Counts> {
        self.feeder.as_ref().map_or_else(Vec::new, |feeder| feeder.state.decisions.counts.clone())
    }
}
