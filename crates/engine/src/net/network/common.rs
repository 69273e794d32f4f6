//! What all ports share: the clock, the packets, the wires, the trace.

use super::added_delays::AddedDelays;
use super::forwarding::Forwarding;
use super::lanes::{Flight, Lanes, Transmission};
use crate::base::event::{DisciplineEvent, Event, EventQueue, PortEvent};
use crate::base::time::Time;
use crate::net::qdisc::FlowKeys;
use crate::net::routing::{Next, Origin};
use crate::packet::deliveries::Deliveries;
use crate::packet::flow_monitor::{FlowMonitor, LostIn};
use crate::packet::path_monitor::PathMonitor;
use crate::packet::trace::{PacketEvent, PacketTrace, Row};
use crate::packet::verdict::Reason;
use crate::packet::{FlowKey, PacketId, PacketPool};

/// Why a packet is refused by a device.
pub const QUEUE_FULL: &str = "Device queue full";

/// Why a packet is lost with a link: it was queued or on the wire when that failed; or there is no way
/// to where it goes.
pub const LINK_DOWN: &str = "Link down";
pub const NO_ROUTE: &str = "No route";

/// Why a packet is lost that a switch has no room for although nothing should be.
pub const HEADROOM_FULL: &str = "Headroom full";

#[derive(Debug)]
pub struct Common {
    pub events: EventQueue,
    pub packets: PacketPool,
    /// Packets on wires.
    pub flights: Lanes<Flight>,
    /// Ends of transmissions that somebody waits for.
    pub transmissions: Lanes<Transmission>,
    /// By port, whether it is in this part.
    pub is_here: Vec<bool>,
    pub added_delays: AddedDelays,
    pub forwarding: Forwarding,
    /// What the packets of each flow are classified by, there and back.
    pub flow_keys: FlowKeys,
    pub trace: Option<PacketTrace>,
    pub timers: QdiscTimers,
    /// Delays and tags of those that the discipline which is called wants to be set.
    pub set_timers: Vec<(Time, u32)>,
    /// Packets are recorded or monitored: the only question that a hop asks for their sake.
    pub is_observed: bool,
    /// They are, or hosts that choose paths look at what comes.
    pub is_arrival_noticed: bool,
    /// Switches hold senders back.
    pub holds_back: bool,
}

impl Common {
    pub fn new(forwarding: Forwarding, flow_keys: FlowKeys, trace: Option<PacketTrace>) -> Self {
        let is_observed = trace.is_some();
        Common {
            is_observed,
            is_arrival_noticed: is_observed,
            holds_back: false,
            events: EventQueue::default(),
            packets: PacketPool::default(),
            flights: Lanes::default(),
            transmissions: Lanes::default(),
            is_here: Vec::new(),
            added_delays: AddedDelays::default(),
            forwarding,
            flow_keys,
            trace,
            timers: QdiscTimers::default(),
            set_timers: Vec::new(),
        }
    }

    pub fn now(&self) -> Time {
        self.events.now().time
    }

    /// What becomes of packets is told to `monitor` from now on.
    pub fn monitor(&mut self, monitor: FlowMonitor) {
        self.packets.set_monitor(monitor);
        self.is_observed = true;
        self.is_arrival_noticed = true;
    }

    /// When the last data of each of the first `flows` flows comes is noted from now on.
    pub fn note_deliveries(&mut self, flows: usize) {
        self.packets.set_deliveries(Deliveries::new(flows));
        self.is_observed = true;
        self.is_arrival_noticed = true;
    }

    /// Paths and order of the packets of the first `flows` flows are recorded from now on.
    pub fn follow_paths(&mut self, flows: usize, followed: &[u32]) {
        self.packets.set_paths(PathMonitor::new(flows, followed));
        self.is_observed = true;
        self.is_arrival_noticed = true;
    }

    /// One more, whose packets all go one way, back; returns its number.
    #[cold]
    pub fn add_flow(&mut self, key: FlowKey, origin: Origin) -> u32 {
        let keys = [FlowKey { protocol: key.protocol, ..FlowKey::default() }, key];
        if let Some(trace) = &mut self.trace {
            trace.add_flow(keys);
        }
        self.forwarding.add_origin(origin);
        self.flow_keys.keys.push(keys);
        self.flow_keys.keys.len() as u32 - 1
    }

    /// Switches that have just begun or ceased to hold senders back tell them.
    pub fn tell_upstream(&mut self) {
        if let Some(ingress) = self.packets.ingress_mut() {
            while let Some(wire) = ingress.next_due() {
                self.events.schedule(Time::ZERO, Event::Port(PortEvent::Wake, wire ^ 1));
            }
        }
    }

    /// Writes a row of the packet trace, if there is one.
    #[inline]
    pub fn record(&mut self, port: u32, event: PacketEvent, id: PacketId, reason: &'static str) {
        if self.is_observed {
            self.write_row(port, event, id, reason);
        }
    }

    #[inline(never)]
    fn write_row(&mut self, port: u32, event: PacketEvent, id: PacketId, reason: &'static str) {
        if let Some(trace) = &mut self.trace {
            let (at, packet) = (self.events.now().time, self.packets.headers(id));
            let reason = Reason { text: reason, depth: 0 };
            trace.push(Row { at, port, event, packet, reason });
        }
    }

    /// A packet has come over the wire of `port`; `next`: what the node there does with it.
    #[inline(never)]
    pub fn observe_arrival(&mut self, port: u32, id: PacketId, next: Next) {
        self.write_row(port, PacketEvent::Rx, id, "");
        let now = self.now();
        match next {
            Next::Here => self.packets.report_received(id, now),
            Next::Port(_) => self.packets.report_forwarded(id, port, now),
            Next::Group(_) | Next::Nowhere => {}
        }
    }

    /// A device does not take a packet, which ceases to exist.
    pub fn refuse(&mut self, port: u32, id: PacketId, reason: &'static str) {
        self.record(port, PacketEvent::Drop, id, reason);
        if reason == QUEUE_FULL {
            let now = self.now();
            self.packets.report_loss(id, LostIn::DeviceQueue, now);
        }
        self.packets.remove(id);
    }
}

/// A timer of a queue discipline.
#[derive(Clone, Copy, Debug)]
pub struct QdiscTimer {
    pub port: u32,
    /// Which of the port's disciplines.
    pub discipline: u32,
    pub tag: u32,
}

/// Timers of queue disciplines that are set, by the index of their event.
#[derive(Debug, Default)]
pub struct QdiscTimers {
    slots: Vec<QdiscTimer>,
    free: Vec<u32>,
}

impl QdiscTimers {
    pub fn set(&mut self, delay: Time, timer: QdiscTimer, events: &mut EventQueue) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = timer;
                slot
            }
            None => {
                self.slots.push(timer);
                self.slots.len() as u32 - 1
            }
        };
        events.schedule(delay, Event::Discipline(DisciplineEvent::Timer, slot));
    }

    /// A timer that is set.
    pub fn get(&self, slot: u32) -> &QdiscTimer {
        &self.slots[slot as usize]
    }

    /// The timer whose event runs.
    pub fn take(&mut self, slot: u32) -> QdiscTimer {
        self.free.push(slot);
        self.slots[slot as usize]
    }
}
