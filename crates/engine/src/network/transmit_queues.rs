//! A device with several transmit queues, each with flow control of its own (ns-3's
//! `NetDeviceQueueInterface` with several `NetDeviceQueue`s; multi-queue network cards).
//!
//! A port that has one keeps its queue discipline in here, not in [`Port::qdisc`], so that ports with
//! a single queue, which is most of them, never look.

use std::collections::VecDeque;

use super::{Network, Port};
use crate::event::Event;
use crate::lowered::{DeviceQueue, DeviceSelect};
use crate::packet::{PacketId, PacketPool};
use crate::qdisc::{AnyQdisc, FlowKey, Nesting, Qdisc, QdiscContext, QdiscState, flow_hash};
use crate::time::Time;
use crate::trace::PacketEvent;

/// The urgency of each priority, 0 first: interactive, interactive bulk, best effort, bulk.
const CLASSES: [usize; 8] = [2, 2, 3, 3, 1, 1, 0, 0];

#[derive(Debug)]
pub struct TransmitQueues {
    queues: Vec<TransmitQueue>,
    select: DeviceSelect,
    /// With [`DeviceSelect::Flow`]: whose turn it is.
    turn: usize,
    /// The queues whose look at their room is due, in order of events.
    wakes: VecDeque<usize>,
    /// One for all queues, or one each (`MqQueueDisc`); none: packets go straight to the device.
    disciplines: Vec<Discipline>,
    /// The disciplines are children of an `MqQueueDisc`.
    is_mq: bool,
}

#[derive(Debug)]
struct TransmitQueue {
    packets: VecDeque<PacketId>,
    bytes: u32,
    limit: DeviceQueue,
    /// The device has told whoever feeds this queue to wait.
    stopped: bool,
}

#[derive(Debug)]
struct Discipline {
    qdisc: AnyQdisc,
    state: QdiscState,
    /// Taken out for a queue that turned out to be stopped; first to go when it is not (ns-3's
    /// `QueueDisc::Requeue`).
    requeued: Option<PacketId>,
}

impl TransmitQueues {
    /// `disciplines`: the root, or with `is_mq` its children, one a queue.
    pub fn new(
        count: usize,
        limit: DeviceQueue,
        select: DeviceSelect,
        disciplines: Vec<AnyQdisc>,
        is_mq: bool,
    ) -> Self {
        let queue = || TransmitQueue { packets: VecDeque::new(), bytes: 0, limit, stopped: false };
        let discipline = |qdisc| Discipline { qdisc, state: QdiscState::default(), requeued: None };
        TransmitQueues {
            queues: std::iter::repeat_with(queue).take(count).collect(),
            select,
            turn: 0,
            wakes: VecDeque::new(),
            disciplines: disciplines.into_iter().map(discipline).collect(),
            is_mq,
        }
    }

    fn queue_of(&self, key: &FlowKey, priority: u8) -> usize {
        match self.select {
            DeviceSelect::Flow => flow_hash(key, 0) as usize % self.queues.len(),
            DeviceSelect::Priority => CLASSES[usize::from(priority & 7)].min(self.queues.len() - 1),
        }
    }

    fn is_waiting(&self) -> bool {
        self.queues.iter().any(|queue| !queue.packets.is_empty())
    }

    /// The packet that goes next, and its queue: in turn with [`DeviceSelect::Flow`], the most urgent
    /// with [`DeviceSelect::Priority`].
    fn take(&mut self, packets: &PacketPool) -> Option<(usize, PacketId)> {
        let count = self.queues.len();
        let first = self.turn;
        let next = (first..first + count).map(|i| i % count);
        let chosen = next.into_iter().find(|&i| !self.queues[i].packets.is_empty())?;
        if self.select == DeviceSelect::Flow {
            self.turn = (chosen + 1) % count;
        }
        let queue = &mut self.queues[chosen];
        let id = queue.packets.pop_front()?;
        queue.bytes -= packets[id].wire_bytes();
        Some((chosen, id))
    }

    /// Adds up the disciplines for whoever reads the port's statistics.
    fn total(&self, changed: usize, total: &mut QdiscState) {
        let sum =
            |part: fn(&QdiscState) -> u64| self.disciplines.iter().map(|d| part(&d.state)).sum();
        total.packets = self.disciplines.iter().map(|d| d.state.packets).sum();
        total.bytes = self.disciplines.iter().map(|d| d.state.bytes).sum();
        total.enqueued_packets = sum(|s| s.enqueued_packets);
        let (dequeued, counted) =
            (total.dequeued_packets, total.dropped_packets + total.marked_packets);
        total.dequeued_packets = sum(|s| s.dequeued_packets);
        total.dropped_packets = sum(|s| s.dropped_packets);
        total.dropped_bytes = sum(|s| s.dropped_bytes);
        total.marked_packets = sum(|s| s.marked_packets);
        let state = &self.disciplines[changed].state;
        if total.dequeued_packets > dequeued {
            total.last_sojourn = state.last_sojourn;
        }
        if total.dropped_packets + total.marked_packets > counted {
            for count in &state.counts {
                let is_same = |c: &&crate::qdisc::Counts| {
                    c.verdict == count.verdict && c.reason == count.reason
                };
                let all =
                    self.disciplines.iter().filter_map(|d| d.state.counts.iter().find(is_same));
                let (packets, bytes) =
                    all.fold((0, 0), |(p, b), count| (p + count.packets, b + count.bytes));
                match total.counts.iter_mut().find(|c| is_same(&&**c)) {
                    Some(known) => (known.packets, known.bytes) = (packets, bytes),
                    None => total.counts.push(*count),
                }
            }
        }
    }
}

impl TransmitQueue {
    /// Whether it would overflow with another packet of `bytes`.
    fn is_full_for(&self, bytes: u32) -> bool {
        match self.limit {
            DeviceQueue::Packets(limit) => self.packets.len() as u32 >= limit,
            DeviceQueue::Bytes(limit) => self.bytes + bytes > limit,
        }
    }
}

impl Port {
    fn several(&mut self) -> &mut TransmitQueues {
        self.queues.as_mut().expect("called for a device with several queues only")
    }
}

impl Network {
    /// The disciplines have been made, or start: calls each in order.
    pub(super) fn each_discipline(
        &mut self,
        index: u32,
        call: impl Fn(&mut AnyQdisc, &mut QdiscContext<'_>),
    ) {
        for i in 0..self.ports[index as usize].several().disciplines.len() {
            self.with_discipline(index, i, &call);
        }
    }

    /// A packet comes to the port: into the discipline of its queue, or straight to its queue.
    pub(super) fn enter_several(&mut self, index: u32, id: PacketId) {
        let queue = self.queue_of(index, id);
        let queues = self.ports[index as usize].several();
        if let Some(discipline) = queues.discipline_of(queue) {
            self.with_discipline(index, discipline, |qdisc, cx| qdisc.enqueue(id, cx));
            self.run_discipline(index, discipline);
        } else if queues.queues[queue].stopped {
            self.drop_at_device(index, id, "Device stopped");
        } else {
            self.give_to_queue(index, queue, id);
        }
    }

    /// A look at the room in one queue, which its discipline may wait for.
    pub(super) fn on_wake_of_several(&mut self, index: u32) {
        let port = &mut self.ports[index as usize];
        let mtu = port.mtu;
        let queues = port.several();
        let Some(queue) = queues.wakes.pop_front() else { return };
        let waiting = &mut queues.queues[queue];
        if waiting.stopped && !waiting.is_full_for(mtu) {
            waiting.stopped = false;
            if let Some(discipline) = queues.discipline_of(queue) {
                self.run_discipline(index, discipline);
            }
        }
    }

    /// The transmitter is free: the next packet.
    pub(super) fn transmit_from_several(&mut self, index: u32) {
        let port = &mut self.ports[index as usize];
        let queues = port.several();
        let Some((queue, id)) = queues.take(&self.packets) else { return };
        let waits = queues.is_waiting();
        queues.wakes.push_back(queue);
        self.events.schedule(Time::ZERO, Event::Wake(index));
        let bytes = self.packets[id].wire_bytes();
        port.occupy(&mut self.events, &mut self.lanes, index, id, bytes);
        if waits {
            port.await_completion(&mut self.events, index);
        }
        self.record(index, PacketEvent::Tx, id, "");
    }

    /// A timer of a discipline fires.
    pub(super) fn on_timer_of_several(&mut self, index: u32, discipline: usize, tag: u32) {
        if self.with_discipline(index, discipline, |qdisc, cx| qdisc.timer(tag, cx)) {
            self.run_discipline(index, discipline);
        }
    }

    fn queue_of(&mut self, index: u32, id: PacketId) -> usize {
        let packet = &self.packets[id];
        let key = &self.flow_keys[packet.flow as usize][usize::from(packet.backward)];
        let priority = if packet.options.has_service() { key.priority } else { 0 };
        self.ports[index as usize].several().queue_of(key, priority)
    }

    /// The discipline sends until it is empty or the queue of its next packet is stopped.  It is asked
    /// even if all queues are stopped: it cannot know for which one the next packet is.
    fn run_discipline(&mut self, index: u32, discipline: usize) {
        let quota = self.ports[index as usize].several().disciplines[discipline].qdisc.run_quota();
        for _ in 0..quota {
            let queues = self.ports[index as usize].several();
            let id = match queues.disciplines[discipline].requeued {
                Some(id) => id,
                None => {
                    let next =
                        self.with_discipline(index, discipline, |qdisc, cx| qdisc.dequeue(cx));
                    let Some(id) = next else { return };
                    id
                }
            };
            let queue = self.queue_of(index, id);
            let queues = self.ports[index as usize].several();
            if queues.queues[queue].stopped {
                queues.disciplines[discipline].requeued = Some(id);
                return;
            }
            queues.disciplines[discipline].requeued = None;
            self.give_to_queue(index, queue, id);
            let queues = self.ports[index as usize].several();
            let is_empty = queues.disciplines[discipline].state.packets == 0;
            if is_empty || queues.queues[queue].stopped {
                return;
            }
        }
    }

    fn give_to_queue(&mut self, index: u32, queue: usize, id: PacketId) {
        let now = self.events.now();
        let bytes = self.packets[id].wire_bytes();
        let port = &mut self.ports[index as usize];
        let (mtu, is_idle) = (port.mtu, now >= port.busy_until);
        let waiting = &mut port.several().queues[queue];
        if waiting.is_full_for(bytes) {
            waiting.stopped = true;
            self.drop_at_device(index, id, "Device queue full");
            return;
        }
        waiting.packets.push_back(id);
        waiting.bytes += bytes;
        waiting.stopped |= waiting.is_full_for(mtu);
        if is_idle {
            self.transmit_from_several(index);
        } else {
            port.await_completion(&mut self.events, index);
        }
    }

    fn with_discipline<T>(
        &mut self,
        index: u32,
        discipline: usize,
        call: impl FnOnce(&mut AnyQdisc, &mut QdiscContext<'_>) -> T,
    ) -> T {
        let port = &mut self.ports[index as usize];
        let queues = port.queues.as_mut().expect("called for a device with several queues only");
        let Discipline { qdisc, state, .. } = &mut queues.disciplines[discipline];
        let mut cx = QdiscContext {
            now: self.events.now().time,
            packets: &mut self.packets,
            state,
            flow_keys: &self.flow_keys,
            rate: port.rate,
            port: index as u16,
            trace: self.trace.as_mut(),
            nesting: Nesting::at(u8::from(queues.is_mq)),
        };
        let result = call(qdisc, &mut cx);
        let timers = std::mem::take(&mut state.timers);
        queues.total(discipline, &mut port.qdisc_state);
        self.queue_timers(index, discipline as u32, timers);
        result
    }
}

impl TransmitQueues {
    fn discipline_of(&self, queue: usize) -> Option<usize> {
        match self.disciplines.len() {
            0 => None,
            1 => Some(0),
            _ => Some(queue),
        }
    }
}
