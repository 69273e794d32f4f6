//! A device with several transmit queues, each with flow control of its own (ns-3's
//! `NetDeviceQueueInterface` with several `NetDeviceQueue`s; multi-queue network cards).
//!
//! Every wake is an event here: a device has one transmitter for all queues, and which of them a wake
//! is for is known from the order of wakes.

use std::collections::VecDeque;

use ccperf_schema::lowered::DeviceSelect;

use super::feeder::{Feeder, Place};
use super::{DeviceFifo, QueueStatistics, Transmitter};
use crate::base::event::{Event, PortEvent};
use crate::base::time::Time;
use crate::net::network::common::{Common, QUEUE_FULL};
use crate::net::qdisc::{AnyQdisc, Counts, FlowKey, Qdisc, QdiscContext, flow_hash};
use crate::packet::trace::PacketEvent;
use crate::packet::{PacketId, PacketPool};

/// The urgency of each priority, 0 first: interactive, interactive bulk, best effort, bulk.
const CLASSES: [usize; 8] = [2, 2, 3, 3, 1, 1, 0, 0];

#[derive(Debug)]
pub struct Several {
    queues: Vec<TransmitQueue>,
    select: DeviceSelect,
    /// With [`DeviceSelect::Flow`]: whose turn it is.
    turn: usize,
    /// The queues whose wakes are due, in order of events.
    wakes: VecDeque<usize>,
    disciplines: Disciplines,
    /// Packets that the device refused.
    pub dropped: u64,
}

#[derive(Debug)]
struct TransmitQueue {
    packets: DeviceFifo,
    /// The device has told whoever feeds this queue to wait.
    stopped: bool,
}

/// One for all queues, or one each (`MqQueueDisc`); none: packets go straight to the device.
#[derive(Debug)]
struct Disciplines {
    each: Vec<Child>,
    /// They are children of an `MqQueueDisc`.
    is_mq: bool,
    /// Which one dequeued last.
    last: usize,
    /// Verdicts and reasons in the order in which each came first.
    decisions: Vec<Counts>,
}

#[derive(Debug)]
struct Child {
    feeder: Feeder,
    /// Taken out for a queue that turned out to be stopped; first to go when it is not (ns-3's
    /// `QueueDisc::Requeue`).
    requeued: Option<PacketId>,
}

impl Disciplines {
    /// The one that feeds `queue`.
    fn of(&self, queue: usize) -> Option<usize> {
        match self.each.len() {
            0 => None,
            1 => Some(0),
            _ => Some(queue),
        }
    }

    fn call<T>(
        &mut self,
        number: usize,
        transmitter: &Transmitter,
        common: &mut Common,
        call: impl FnOnce(&mut AnyQdisc, &mut QdiscContext<'_>) -> T,
    ) -> T {
        let feeder = &mut self.each[number].feeder;
        let (dequeued, kinds) =
            (feeder.state.dequeued_packets, feeder.state.decisions.counts.len());
        let place = Place { number: number as u32, depth: u8::from(self.is_mq) };
        let result = feeder.call(place, transmitter, common, call);
        let state = &feeder.state;
        if state.dequeued_packets > dequeued {
            self.last = number;
        }
        for new in &state.decisions.counts[kinds..] {
            if !self.decisions.iter().any(|known| is_same(known, new)) {
                self.decisions.push(*new);
            }
        }
        result
    }
}

/// Whether they are of one verdict and reason.
pub(super) fn is_same(a: &Counts, b: &Counts) -> bool {
    a.verdict == b.verdict && a.reason == b.reason
}

impl Several {
    /// `disciplines`: the root, or with `is_mq` its children, one a queue.
    pub fn new(
        queues: Vec<DeviceFifo>,
        select: DeviceSelect,
        disciplines: Vec<AnyQdisc>,
        is_mq: bool,
    ) -> Self {
        let queue = |packets| TransmitQueue { packets, stopped: false };
        let child = |qdisc| Child { feeder: Feeder::new(qdisc), requeued: None };
        let each = disciplines.into_iter().map(child).collect();
        Several {
            queues: queues.into_iter().map(queue).collect(),
            select,
            turn: 0,
            wakes: VecDeque::new(),
            disciplines: Disciplines { each, is_mq, last: 0, decisions: Vec::new() },
            dropped: 0,
        }
    }

    /// A packet comes: into the discipline of its queue, or straight to its queue.
    pub fn enter(&mut self, id: PacketId, transmitter: &mut Transmitter, common: &mut Common) {
        let queue = self.queue_of(id, common);
        if let Some(number) = self.disciplines.of(queue) {
            self.disciplines.call(number, transmitter, common, |qdisc, cx| qdisc.enqueue(id, cx));
            self.run(number, transmitter, common);
        } else if self.queues[queue].stopped {
            self.refuse(id, "Device stopped", transmitter, common);
        } else {
            self.give_to_queue(queue, id, transmitter, common);
        }
    }

    /// A look at the room in one queue, which its discipline may wait for.
    pub fn on_wake(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        let Some(queue) = self.wakes.pop_front() else { return };
        let waiting = &mut self.queues[queue];
        if waiting.stopped && !waiting.packets.is_full() {
            waiting.stopped = false;
            if let Some(number) = self.disciplines.of(queue) {
                self.run(number, transmitter, common);
            }
        }
    }

    /// The transmitter is free: the next packet.
    pub fn transmit_next(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        let Some((queue, id)) = self.take(&common.packets) else { return };
        self.wakes.push_back(queue);
        common.events.schedule(Time::ZERO, Event::Port(PortEvent::Wake, transmitter.port));
        let others_wait = self.queues.iter().any(|queue| !queue.packets.is_empty());
        transmitter.transmit(id, others_wait, common);
        common.record(transmitter.port, PacketEvent::Tx, id, "");
    }

    /// A timer of a discipline fires.
    pub fn on_timer(
        &mut self,
        number: u32,
        tag: u32,
        transmitter: &mut Transmitter,
        common: &mut Common,
    ) {
        let number = number as usize;
        if self.disciplines.call(number, transmitter, common, |qdisc, cx| qdisc.timer(tag, cx)) {
            self.run(number, transmitter, common);
        }
    }

    pub fn each_discipline(
        &mut self,
        transmitter: &Transmitter,
        common: &mut Common,
        call: impl Fn(&mut AnyQdisc, &mut QdiscContext<'_>),
    ) {
        for number in 0..self.disciplines.each.len() {
            self.disciplines.call(number, transmitter, common, &call);
        }
    }

    /// The packet that goes next with its queue: in turn with [`DeviceSelect::Flow`], the
    /// most urgent with [`DeviceSelect::Priority`].
    fn take(&mut self, packets: &PacketPool) -> Option<(usize, PacketId)> {
        let count = self.queues.len();
        let mut next = (self.turn..self.turn + count).map(|i| i % count);
        let chosen = next.find(|&i| !self.queues[i].packets.is_empty())?;
        if self.select == DeviceSelect::Flow {
            self.turn = (chosen + 1) % count;
        }
        Some((chosen, self.queues[chosen].packets.pop(packets)?))
    }

    fn queue_of(&self, id: PacketId, common: &Common) -> usize {
        let packet = &common.packets[id];
        let key = common.flow_keys.of(packet);
        let priority = common.flow_keys.priority(packet);
        self.select(key, priority)
    }

    fn select(&self, key: &FlowKey, priority: u8) -> usize {
        match self.select {
            DeviceSelect::Flow => flow_hash(key, 0) as usize % self.queues.len(),
            DeviceSelect::Priority => CLASSES[usize::from(priority & 7)].min(self.queues.len() - 1),
        }
    }

    /// The discipline sends until it is empty or the queue of its next packet is stopped.  It is asked
    /// even if all queues are stopped: it cannot know for which one the next packet is.
    fn run(&mut self, number: usize, transmitter: &mut Transmitter, common: &mut Common) {
        let quota = self.disciplines.each[number].feeder.qdisc.run_quota();
        for _ in 0..quota {
            let requeued = self.disciplines.each[number].requeued.take();
            let next = requeued.or_else(|| {
                self.disciplines.call(number, transmitter, common, |qdisc, cx| qdisc.dequeue(cx))
            });
            let Some(id) = next else { return };
            let queue = self.queue_of(id, common);
            if self.queues[queue].stopped {
                self.disciplines.each[number].requeued = Some(id);
                return;
            }
            self.give_to_queue(queue, id, transmitter, common);
            let is_empty = self.disciplines.each[number].feeder.state.packets == 0;
            if is_empty || self.queues[queue].stopped {
                return;
            }
        }
    }

    fn give_to_queue(
        &mut self,
        queue: usize,
        id: PacketId,
        transmitter: &mut Transmitter,
        common: &mut Common,
    ) {
        let bytes = common.packets[id].wire_bytes();
        let waiting = &mut self.queues[queue];
        if waiting.packets.is_full_for(bytes) {
            waiting.stopped = true;
            return self.refuse(id, QUEUE_FULL, transmitter, common);
        }
        waiting.packets.push(id, bytes, &mut common.packets);
        waiting.stopped |= waiting.packets.is_full();
        if transmitter.is_busy(common.events.now()) {
            transmitter.await_completion(common);
        } else {
            self.transmit_next(transmitter, common);
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

    pub fn waiting_bytes(&self) -> u32 {
        let in_device = self.queues.iter().map(|queue| queue.packets.bytes());
        in_device.sum::<u32>() + self.statistics().bytes
    }

    pub fn statistics(&self) -> QueueStatistics {
        let each = &self.disciplines.each;
        let mut all = QueueStatistics::default();
        for Child { feeder, .. } in each {
            let one = QueueStatistics::of(&feeder.state);
            all.packets += one.packets;
            all.bytes += one.bytes;
            all.enqueued_packets += one.enqueued_packets;
            all.dropped_packets += one.dropped_packets;
            all.marked_packets += one.marked_packets;
        }
        let last = each.get(self.disciplines.last);
        all.last_sojourn = last.and_then(|last| last.feeder.state.last_sojourn());
        all
    }

    pub fn decisions(&self) -> Vec<Counts> {
        let all = || self.disciplines.each.iter().map(|child| &child.feeder.state.decisions.counts);
        let total = |kind: &Counts| {
            let each = all().filter_map(|counts| counts.iter().find(|count| is_same(count, kind)));
            let (packets, bytes) =
                each.fold((0, 0), |(p, b), count| (p + count.packets, b + count.bytes));
            Counts { packets, bytes, ..*kind }
        };
        self.disciplines.decisions.iter().map(total).collect()
    }
}
