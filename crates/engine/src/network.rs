//! Links, devices and forwarding: from the host that sends a packet to the host that receives it.
//!
//! A port is one direction of a link with everything in front of it: queue discipline, device queue,
//! transmitter, and the packets on the wire.  The rules are those of ns-3's traffic control layer,
//! `PointToPointNetDevice` and `PointToPointChannel`.
//!
//! Few events are queued.  Packets on the wire wait in [`Lanes`], of which only the heads have an
//! event.  The end of a transmission and the wake-up of the queue discipline are queued only when
//! somebody has come to wait for them; until then their [`Key`] is kept, so that they take their place
//! in the order that ns-3 would have given them.

mod lanes;
mod transmit_queues;

use std::collections::VecDeque;

use crate::event::{Event, EventQueue, Key};
use crate::lowered::DeviceQueue;
use crate::packet::{PPP_HEADER, Packet, PacketId, PacketPool};
use crate::qdisc::{AnyQdisc, FlowKey, Nesting, Qdisc, QdiscContext, QdiscState};
use crate::queue_limits::DynamicQueueLimits;
use crate::rng::RngStream;
use crate::time::{Rate, Time};
use crate::trace::{PacketEvent, PacketTrace};
use crate::verdict::Reason;
use lanes::{Flight, Lanes};

pub use transmit_queues::TransmitQueues;

/// What is known of packets of one size at a port.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    bytes: u32,
    /// Where they fly.
    lane: u32,
    tx_time: Time,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Port {
    pub rate: Rate,
    /// Mostly there are two sizes, data and ACK, and the exact rounding of the transmission time costs a
    /// 128-bit division.
    sizes: [Size; 2],
    pub delay: Time,
    pub mtu: u32,
    pub qdisc: Option<AnyQdisc>,
    pub qdisc_state: QdiscState,
    /// In place of `qdisc` and `queue`, if the device has several transmit queues.
    queues: Option<Box<TransmitQueues>>,

    queue_limit: DeviceQueue,
    queue: VecDeque<PacketId>,
    queue_bytes: u32,
    /// The device has told the queue discipline to wait.
    stopped: bool,
    /// Byte queue limits, for which it waits as well.
    limits: Option<Box<ByteLimits>>,
    /// Every event is queued, as [`EventQueue::plain`] says, or because byte limits count them all.
    is_plain: bool,
    /// When the device looks whether it may say "go on", if that event is not queued: see
    /// [`Network::start_transmission`].
    wake: Option<Key>,
    /// When the present transmission ends; in the past if the transmitter is idle.
    busy_until: Key,
    /// The end of the present transmission is queued as an event.
    is_completion_queued: bool,

    loss: f64,
    /// Which of [`Network::loss_streams`] it draws from.
    loss_stream: usize,
    /// Arrivals to lose, by number, in increasing order.
    drops: VecDeque<u64>,
    arrivals: u64,
    /// There is or was a loss rate above 0, or a list.
    is_lossy: bool,

    pub tx_packets: u64,
    pub tx_bytes: u64,
    pub device_dropped: u64,
    pub loss_dropped: u64,
}

/// Byte queue limits of a port.
#[derive(Debug)]
struct ByteLimits {
    limits: DynamicQueueLimits,
    /// They have told the queue discipline to wait.
    stopped: bool,
    /// Of [`Port::tx_bytes`], what they know.
    reported: u64,
}

/// What is needed to make a port.
#[derive(Debug)]
pub struct PortSetup {
    pub rate: Rate,
    pub delay: Time,
    pub mtu: u32,
    pub qdisc: Option<AnyQdisc>,
    pub queues: Option<TransmitQueues>,
    pub queue_limit: DeviceQueue,
    /// The hold time of byte queue limits, if there are any.
    pub byte_limits: Option<Time>,
    pub loss: f64,
    pub loss_stream: usize,
    pub drops: Vec<u64>,
}

impl Port {
    pub fn new(setup: PortSetup) -> Self {
        let mut drops = setup.drops;
        drops.sort_unstable();
        Port {
            rate: setup.rate,
            sizes: [Size::default(); 2],
            delay: setup.delay,
            mtu: setup.mtu,
            qdisc: setup.qdisc,
            qdisc_state: QdiscState::default(),
            queues: setup.queues.map(Box::new),
            queue_limit: setup.queue_limit,
            queue: VecDeque::new(),
            queue_bytes: 0,
            stopped: false,
            is_plain: setup.byte_limits.is_some(),
            limits: setup.byte_limits.map(|hold_time| {
                let limits = DynamicQueueLimits::new(hold_time);
                Box::new(ByteLimits { limits, stopped: false, reported: 0 })
            }),
            wake: None,
            busy_until: Key::default(),
            is_completion_queued: false,
            is_lossy: setup.loss > 0.0 || !drops.is_empty(),
            loss: setup.loss,
            loss_stream: setup.loss_stream,
            drops: drops.into(),
            arrivals: 0,
            tx_packets: 0,
            tx_bytes: 0,
            device_dropped: 0,
            loss_dropped: 0,
        }
    }

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

    /// Whether the device queue would overflow with another packet of `bytes`.
    fn is_full_for(&self, bytes: u32) -> bool {
        match self.queue_limit {
            DeviceQueue::Packets(limit) => self.queue.len() as u32 >= limit,
            DeviceQueue::Bytes(limit) => self.queue_bytes + bytes > limit,
        }
    }

    /// The same for a packet of the largest size: the test of the flow control.
    fn is_full(&self) -> bool {
        self.is_full_for(self.mtu)
    }

    /// Whether one packet of `bytes` fills the device queue.
    fn is_filled_by(&self, bytes: u32) -> bool {
        match self.queue_limit {
            DeviceQueue::Packets(limit) => limit <= 1,
            DeviceQueue::Bytes(limit) => bytes + self.mtu > limit,
        }
    }

    /// Whether an arriving packet goes straight through the empty discipline, which has then seen it.
    #[inline]
    fn passes_qdisc(&mut self, ip_bytes: u32) -> bool {
        let Some(qdisc) = &mut self.qdisc else { return false };
        let state = &mut self.qdisc_state;
        if state.packets > 0 || !qdisc.passes(ip_bytes) {
            return false;
        }
        state.enqueued_packets += 1;
        state.dequeued_packets += 1;
        state.last_sojourn = Some(Time::ZERO);
        true
    }

    /// Random loss and listed loss at the receiving device.
    fn loses_next(&mut self, streams: &mut [RngStream]) -> bool {
        if !self.is_lossy {
            return false;
        }
        let number = self.arrivals;
        self.arrivals += 1;
        if self.drops.front() == Some(&number) {
            self.drops.pop_front();
            return true;
        }
        self.loss > 0.0 && streams[self.loss_stream].unit() < self.loss
    }

    /// Puts a packet on the wire; the transmitter is idle.  Who has stopped the discipline sees to the
    /// wake-up.
    #[inline]
    fn transmit(
        &mut self,
        events: &mut EventQueue,
        lanes: &mut Lanes,
        index: u32,
        id: PacketId,
        bytes: u32,
    ) {
        // ns-3 draws three numbers, in this order: wake-up, end of transmission, arrival.
        self.wake = Some(events.reserve(Time::ZERO));
        if self.is_plain {
            self.queue_wake(events, index);
        }
        self.occupy(events, lanes, index, id, bytes);
    }

    /// The packet goes onto the wire, and the transmitter is busy until its end has left.
    #[inline]
    fn occupy(
        &mut self,
        events: &mut EventQueue,
        lanes: &mut Lanes,
        index: u32,
        id: PacketId,
        bytes: u32,
    ) {
        let delay = self.delay;
        let size = self.size(bytes);
        let tx_time = size.tx_time;
        let busy_until = events.reserve(tx_time);
        lanes.start(&mut size.lane, tx_time + delay, id, index, events);
        self.busy_until = busy_until;
        self.tx_packets += 1;
        self.tx_bytes += u64::from(bytes);
        if !self.queue.is_empty() || self.is_plain {
            self.is_completion_queued = true;
            events.insert(busy_until, Event::TxComplete(index));
        }
    }

    /// A packet waits in the device queue, which has room.
    fn wait(&mut self, events: &mut EventQueue, index: u32, id: PacketId, bytes: u32) {
        self.queue.push_back(id);
        self.queue_bytes += bytes;
        self.await_completion(events, index);
        if self.is_full() {
            self.stop(events, index);
        }
    }

    /// The end of the present transmission is waited for.
    fn await_completion(&mut self, events: &mut EventQueue, index: u32) {
        if !self.is_completion_queued {
            self.is_completion_queued = true;
            events.insert(self.busy_until, Event::TxComplete(index));
        }
    }

    /// The device queue has no room for another packet.
    fn stop(&mut self, events: &mut EventQueue, index: u32) {
        self.stopped = true;
        // A look at the queue that is due in this nanosecond matters now.
        if let Some(key) = self.wake.take()
            && key > events.now()
        {
            events.insert(key, Event::Wake(index));
        }
    }

    /// The look at the queue that was reserved last matters.
    fn queue_wake(&mut self, events: &mut EventQueue, index: u32) {
        if let Some(key) = self.wake.take() {
            events.insert(key, Event::Wake(index));
        }
    }

    /// The packet before went straight through and filled the device for a moment; the look at the
    /// queue that ends it was not queued.
    fn catch_up(&mut self, events: &mut EventQueue, index: u32) {
        if let Some(key) = self.wake.take() {
            if key > events.now() {
                events.insert(key, Event::Wake(index));
            } else {
                self.stopped = false;
            }
        }
    }

    /// The device queue takes a packet.
    fn count_for_limits(&mut self, bytes: u32) {
        let Some(known) = &mut self.limits else { return };
        known.limits.on_queued(bytes);
        known.stopped |= !known.limits.is_available();
        self.stopped |= known.stopped;
    }

    /// Tells the byte queue limits what has left the device queue; whether there is still too much.
    fn waits_for_limits(&mut self, now: Time) -> bool {
        let Some(known) = &mut self.limits else { return false };
        known.limits.on_completed((self.tx_bytes - known.reported) as u32, now);
        known.reported = self.tx_bytes;
        known.stopped &= !known.limits.is_available();
        known.stopped
    }

    pub fn set_loss(&mut self, loss: f64) {
        self.loss = loss;
        self.is_lossy |= loss > 0.0;
    }
}

/// The ports each packet of a flow passes, forward and back.
pub type Routes = Vec<[Vec<u32>; 2]>;

/// All links, and all packets on them.
#[derive(Debug)]
pub struct Network {
    pub events: EventQueue,
    pub packets: PacketPool,
    pub ports: Vec<Port>,
    /// Random numbers for losses; ports may share a stream.
    pub loss_streams: Vec<RngStream>,
    pub routes: Routes,
    pub flow_keys: Vec<[FlowKey; 2]>,
    pub trace: Option<PacketTrace>,
    lanes: Lanes,
    /// Timers of queue disciplines that are set: port, which of its disciplines, tag.
    qdisc_timers: Vec<Option<(u32, u32, u32)>>,
}

impl Network {
    pub fn new(
        ports: Vec<Port>,
        loss_streams: Vec<RngStream>,
        routes: Routes,
        flow_keys: Vec<[FlowKey; 2]>,
        trace: Option<PacketTrace>,
    ) -> Self {
        Network {
            events: EventQueue::default(),
            packets: PacketPool::default(),
            ports,
            loss_streams,
            routes,
            flow_keys,
            trace,
            lanes: Lanes::default(),
            qdisc_timers: Vec::new(),
        }
    }

    /// From now on no shortcuts are taken.
    #[cfg(test)]
    pub fn queue_every_event(&mut self) {
        self.events.plain = true;
        for port in &mut self.ports {
            port.is_plain = true;
        }
    }

    pub fn now(&self) -> Time {
        self.events.now().time
    }

    /// A host sends a packet; flow and direction are set.
    #[inline(always)] // so that it is written where it stays, not copied there
    pub fn send(&mut self, packet: Packet) {
        let route = &self.routes[packet.flow as usize][usize::from(packet.backward)];
        let port = route[0];
        let id = self.packets.insert(packet);
        self.enter(port, id);
    }

    /// The queue discipline of a port has been made.
    pub fn attach_qdisc(&mut self, port: u32) {
        if self.ports[port as usize].queues.is_some() {
            self.each_discipline(port, |qdisc, cx| qdisc.attach(cx));
        }
        self.with_qdisc(port, |qdisc, cx| qdisc.attach(cx));
    }

    /// The queue discipline of a port starts.
    pub fn start_qdisc(&mut self, port: u32) {
        if self.ports[port as usize].queues.is_some() {
            self.each_discipline(port, |qdisc, cx| qdisc.start(cx));
        }
        self.with_qdisc(port, |qdisc, cx| qdisc.start(cx));
    }

    /// A queue discipline's timer fires.
    pub fn on_qdisc_timer(&mut self, index: u32) {
        let timer = self.qdisc_timers[index as usize].take();
        let Some((port, discipline, tag)) = timer else { return };
        if self.ports[port as usize].queues.is_some() {
            return self.on_timer_of_several(port, discipline as usize, tag);
        }
        let may_send = self.with_qdisc(port, |qdisc, cx| qdisc.timer(tag, cx));
        if may_send == Some(true) {
            self.run(port);
        }
    }

    pub fn set_rate(&mut self, port: u32, rate: Rate) {
        self.ports[port as usize].rate = rate;
        self.ports[port as usize].sizes = [Size::default(); 2];
    }

    /// The head of a lane arrives.  Returns the packet if this was its last hop.
    #[inline]
    pub fn on_arrival(&mut self, lane: u32) -> Option<PacketId> {
        let Flight { id, port: index, .. } = self.lanes.arrive(lane, &mut self.events)?;
        let port = &mut self.ports[index as usize];
        if port.loses_next(&mut self.loss_streams) {
            port.loss_dropped += 1;
            self.record(index, PacketEvent::Drop, id, "Link loss");
            self.packets.remove(id);
            return None;
        }
        self.record(index, PacketEvent::Rx, id, "");
        let packet = &mut self.packets[id];
        let hop = packet.hop + 1;
        let route = &self.routes[packet.flow as usize][usize::from(packet.backward)];
        // The packet of a last hop is copied next: a byte written to it now would hold that up.
        let Some(&next) = route.get(hop as usize) else { return Some(id) };
        packet.hop = hop;
        self.enter(next, id);
        None
    }

    /// The transmitter of a port is free again.
    pub fn on_tx_complete(&mut self, index: u32) {
        let port = &mut self.ports[index as usize];
        port.is_completion_queued = false;
        if let Some(id) = port.queue.pop_front() {
            let bytes = self.packets[id].wire_bytes();
            port.queue_bytes -= bytes;
            port.transmit(&mut self.events, &mut self.lanes, index, id, bytes);
            self.record(index, PacketEvent::Tx, id, "");
            self.wake_discipline(index);
        } else if port.queues.is_some() {
            self.transmit_from_several(index);
        }
    }

    /// A transmission has begun, which the discipline may have waited for.
    #[inline]
    fn wake_discipline(&mut self, index: u32) {
        let port = &mut self.ports[index as usize];
        if !port.stopped {
            return;
        }
        match port.wake {
            // What would run next anyway runs at once.
            Some(key) if self.events.skip_to(key) => {
                port.wake = None;
                self.on_wake(index);
            }
            _ => port.queue_wake(&mut self.events, index),
        }
    }

    /// The device looks whether its queue has room, and lets the queue discipline go on.
    pub fn on_wake(&mut self, index: u32) {
        let port = &mut self.ports[index as usize];
        let waits = port.limits.is_some() && port.waits_for_limits(self.events.now().time);
        if !port.is_full() && port.stopped && !waits {
            port.stopped = false;
            self.run(index);
        } else if port.queues.is_some() {
            self.on_wake_of_several(index);
        }
    }

    /// A packet comes to a port: into the queue discipline, or straight to the device.
    #[inline]
    fn enter(&mut self, index: u32, id: PacketId) {
        let now = self.events.now();
        let port = &mut self.ports[index as usize];
        if port.stopped {
            port.catch_up(&mut self.events, index);
        }
        // Most disciplines are empty most of the time, and all they do is count.
        if !port.stopped && !port.is_plain {
            let packet = &mut self.packets[id];
            let bytes = packet.wire_bytes();
            if !port.is_full_for(bytes) && port.passes_qdisc(packet.ip_bytes) {
                packet.enqueued = now.time;
                if self.trace.is_some() {
                    self.record(index, PacketEvent::Enqueue, id, "");
                }
                let port = &mut self.ports[index as usize];
                if now < port.busy_until {
                    return port.wait(&mut self.events, index, id, bytes);
                }
                port.transmit(&mut self.events, &mut self.lanes, index, id, bytes);
                // Whoever comes next sees to it, if nobody has in the meantime.
                port.stopped = port.is_filled_by(bytes);
                if self.trace.is_some() {
                    self.record(index, PacketEvent::Tx, id, "");
                }
                return;
            }
        }
        self.enter_queue(index, id);
    }

    fn enter_queue(&mut self, index: u32, id: PacketId) {
        if self.ports[index as usize].qdisc.is_some() {
            self.with_qdisc(index, |qdisc, cx| qdisc.enqueue(id, cx));
            self.run(index);
        } else if self.ports[index as usize].queues.is_some() {
            self.enter_several(index, id);
        } else if self.ports[index as usize].stopped {
            self.drop_at_device(index, id, "Device stopped");
        } else {
            self.give_to_device(index, id);
        }
    }

    /// The queue discipline sends until it is empty, gives nothing, or is told to stop.
    fn run(&mut self, index: u32) {
        let quota = self.ports[index as usize].qdisc.as_ref().map_or(0, Qdisc::run_quota);
        for _ in 0..quota {
            if self.ports[index as usize].stopped {
                return;
            }
            let next = self.with_qdisc(index, |qdisc, cx| qdisc.dequeue(cx)).flatten();
            let Some(id) = next else { return };
            self.give_to_device(index, id);
            // An empty discipline is not asked: CoDel, COBALT and RED would note that it was empty.
            if self.ports[index as usize].qdisc_state.packets == 0 {
                return;
            }
        }
    }

    fn give_to_device(&mut self, index: u32, id: PacketId) {
        let now = self.events.now();
        let bytes = self.packets[id].wire_bytes();
        let port = &mut self.ports[index as usize];
        if port.is_full_for(bytes) {
            port.stop(&mut self.events, index);
            self.drop_at_device(index, id, "Device queue full");
            return;
        }
        if port.limits.is_some() {
            port.count_for_limits(bytes);
        }
        if now < port.busy_until {
            return port.wait(&mut self.events, index, id, bytes);
        }
        // In and out of the queue at once: even then it may have been full for a moment.
        port.queue_bytes += bytes;
        port.queue.push_back(id);
        if port.is_full() {
            port.stop(&mut self.events, index);
        }
        let port = &mut self.ports[index as usize];
        port.queue.pop_back();
        port.queue_bytes -= bytes;
        self.start_transmission(index, id);
    }

    fn start_transmission(&mut self, index: u32, id: PacketId) {
        let bytes = self.packets[id].wire_bytes();
        let port = &mut self.ports[index as usize];
        port.transmit(&mut self.events, &mut self.lanes, index, id, bytes);
        if port.stopped {
            port.queue_wake(&mut self.events, index);
        }
        self.record(index, PacketEvent::Tx, id, "");
    }

    fn drop_at_device(&mut self, index: u32, id: PacketId, reason: &'static str) {
        self.ports[index as usize].device_dropped += 1;
        self.record(index, PacketEvent::Drop, id, reason);
        self.packets.remove(id);
    }

    /// Calls the queue discipline with its surroundings, and queues the timers it sets.
    #[inline]
    fn with_qdisc<T>(
        &mut self,
        index: u32,
        call: impl FnOnce(&mut AnyQdisc, &mut QdiscContext<'_>) -> T,
    ) -> Option<T> {
        let port = &mut self.ports[index as usize];
        let qdisc = port.qdisc.as_mut()?;
        let mut cx = QdiscContext {
            now: self.events.now().time,
            packets: &mut self.packets,
            state: &mut port.qdisc_state,
            flow_keys: &self.flow_keys,
            rate: port.rate,
            port: index as u16,
            trace: self.trace.as_mut(),
            nesting: Nesting::default(),
        };
        let result = call(qdisc, &mut cx);
        if !port.qdisc_state.timers.is_empty() {
            let timers = std::mem::take(&mut port.qdisc_state.timers);
            self.queue_timers(index, 0, timers);
        }
        Some(result)
    }

    fn queue_timers(&mut self, index: u32, discipline: u32, timers: Vec<(Time, u32)>) {
        for (delay, tag) in timers {
            let free = self.qdisc_timers.iter().position(Option::is_none);
            let slot = free.unwrap_or_else(|| {
                self.qdisc_timers.push(None);
                self.qdisc_timers.len() - 1
            });
            self.qdisc_timers[slot] = Some((index, discipline, tag));
            self.events.schedule(delay, Event::Qdisc(slot as u32));
        }
    }

    #[inline]
    fn record(&mut self, index: u32, event: PacketEvent, id: PacketId, reason: &'static str) {
        if let Some(trace) = &mut self.trace {
            let why = Reason { text: reason, depth: 0 };
            trace.push(self.events.now().time, index as u16, event, &self.packets[id], why);
        }
    }
}

const _: () = assert!(PPP_HEADER == 2, "wire sizes and ns-3's device queue count the same bytes");
