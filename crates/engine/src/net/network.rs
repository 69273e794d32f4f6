//! Links, devices and forwarding: from the host that sends a packet to the host that receives it.
//!
//! The rules are those of ns-3's traffic control layer, `PointToPointNetDevice` and
//! `PointToPointChannel`.
//!
//! Few events are queued.  Packets on the wire wait in [`lanes`], of which only the heads have an
//! event.  The end of a transmission and the wake-up of the queue discipline are queued only when
//! somebody has come to wait for them; until then their keys are kept, so that they take their place
//! in the order that ns-3 would have given them.

mod added_delays;
mod common;
mod crossing;
mod forwarding;
mod fragmentation;
mod lanes;
mod lookahead;
mod pauses;
mod port;
mod pull_queue;
mod reassembly;
mod shortcuts;
mod steering;
mod telemetry;
mod unreachable;

use std::collections::HashMap;

use crate::base::event::{Event, EventQueue, RunEvent, Token};
use crate::base::fetch::{fetch, fetch_first};
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::net::qdisc::FlowKeys;
use crate::net::routing::balance::failures::FailedPath;
use crate::net::routing::{Next, NextHop, Origin, Place};
use crate::packet::deliveries::Deliveries;
use crate::packet::flow_monitor::{Counts, FlowMonitor, LostIn};
use crate::packet::path_monitor::PathMonitor;
use crate::packet::trace::{PacketEvent, PacketTrace};
use crate::packet::{Beside, Flags, Image, PPP_HEADER, Packet, PacketId, PacketPool};
use common::{Common, NO_ROUTE};
use lanes::Flight;
use pull_queue::PullQueue;

pub use crossing::{Crossing, LONGEST_CROSSING};
pub use forwarding::Forwarding;
pub use fragmentation::Fragmentation;
pub use lookahead::{Arriving, Lookahead};
pub use pauses::Paused;
pub use port::{
    DelayVariation, Device, DeviceFifo, Fault, Loss, OtherDevice, Pausable, Port, Several, Single,
    Transmitter,
};
pub use steering::Steering;
pub use unreachable::Exit;
use unreachable::Unreachable;

/// Whose [`RunEvent::Balance`] it is.
const SWITCHES: u32 = 0;
const HOSTS: u32 = 1;

/// How many packets before its own a packet's memory is fetched.
const AHEAD: usize = 3;
/// The same for endpoints, of which many lines are needed.
const WELL_AHEAD: usize = 8;

/// From this size of all ports on, in bytes, they are fetched before they are needed.  Below it that brought nothing: see
/// the benchmarks' notes.
const LARGE: usize = 256 << 10;

/// What an arriving packet asks of the wire that it came over.  Wires are beside the ports, which are so large
/// that each of them would have to be fetched for this.
#[derive(Debug)]
pub struct Wire {
    pub loss: Loss,
    /// The place at its far end.
    pub leads_to: Place,
}

/// All links, and all packets on them.
#[derive(Debug)]
pub struct Network {
    pub ports: Vec<Port>,
    /// By port.
    pub wires: Vec<Wire>,
    common: Common,
    /// Random numbers for losses; ports may share a stream.
    loss_streams: Vec<RngStream>,
    /// Where some packets do not fit all links.
    fragmentation: Option<Box<Fragmentation>>,
    /// Where routers tell senders that they have no route.
    unreachable: Option<Box<Unreachable>>,
    /// The SACK blocks of the packet that was taken out last, of those that had some.
    arrived_beside: Beside,
    /// Packets that arrive need nothing but to be handed on: the path is decided when they leave, no wire
    /// loses any, nobody looks.
    is_arrival_plain: bool,
    /// Ports and packets are fetched before they are needed.
    is_large: bool,
    /// Hardly any endpoint that gets a packet is in the caches.
    pub is_crowded: bool,
    /// Arrivals are looked at before their time, for one of the two.
    pub looks_ahead: bool,
    /// Of hosts that ask for packets, by node.
    pull_queues: HashMap<u32, PullQueue>,
    /// Where packets wait that come from other parts of the network, or might have left this one, by how long they fly.
    marked_lanes: Vec<(Time, u32)>,
}

impl Network {
    pub fn new(
        ports: Vec<Port>,
        wires: Vec<Wire>,
        loss_streams: Vec<RngStream>,
        forwarding: Forwarding,
        flow_keys: FlowKeys,
        trace: Option<PacketTrace>,
    ) -> Self {
        let common = Common::new(forwarding, flow_keys, trace);
        let arrived_beside = Beside::default();
        let is_large = size_of_val(&ports[..]) > LARGE;
        Network {
            ports,
            wires,
            common,
            loss_streams,
            fragmentation: None,
            unreachable: None,
            arrived_beside,
            is_arrival_plain: false,
            is_large,
            is_crowded: false,
            looks_ahead: false,
            pull_queues: HashMap::new(),
            marked_lanes: Vec::new(),
        }
    }

    /// From now on a router without a route for a packet tells its sender; `exits`: by port.
    pub fn report_unreachable(&mut self, exits: Vec<Exit>) {
        self.unreachable = Some(Box::new(Unreachable::new(exits, &self.common)));
    }

    /// From the next packet that arrives on, a wire loses packets with this probability.
    pub fn set_loss(&mut self, port: usize, rate: f64) {
        self.wires[port].loss.set_rate(rate);
        self.is_arrival_plain &= rate <= 0.0;
    }

    pub fn now(&self) -> Time {
        self.common.now()
    }

    /// Whether hosts choose the paths.
    pub fn is_steered(&self) -> bool {
        self.common.forwarding.is_steered()
    }

    /// As [`EventQueue::check_numbers`].
    pub fn check_numbers(&self) {
        self.common.events.check_numbers();
    }

    pub fn events(&mut self) -> &mut EventQueue {
        &mut self.common.events
    }

    /// A host sends a packet; flow and direction are set.
    #[inline(always)] // so that it is written where it stays, not copied there
    pub fn send(&mut self, mut packet: Packet) {
        let origin = self.common.forwarding.origin(&packet);
        packet.destination = origin.destination;
        if self.common.forwarding.is_first_hop_special() {
            // Of another one, for what has an address is in memory before.
            let mut own = packet;
            return self.send_specially(&mut own, origin);
        }
        let next = self.common.forwarding.usual_first_hop(origin);
        let id = self.common.packets.insert(packet);
        self.leave(origin, next, id);
    }

    /// The same for who asks for a route first, and without one sends nothing that could be lost: as in ns-3 the
    /// errors of ICMP (`Icmpv4L4Protocol`) and echo requests (`Ipv4RawSocketImpl`).
    #[cold]
    pub fn send_if_routed(&mut self, packet: Packet) {
        let forwarding = &self.common.forwarding;
        if forwarding.has_path(forwarding.origin(&packet)) {
            self.send(packet);
        }
    }

    #[inline(never)]
    fn send_specially(&mut self, packet: &mut Packet, origin: Origin) {
        let Common { forwarding, events, .. } = &mut self.common;
        let next = forwarding.first_hop(packet, origin, events, &self.ports);
        let id = self.common.packets.insert(*packet);
        self.leave(origin, next, id);
    }

    /// The same for a packet that has something beside it in the pool: SACK blocks, headers of another stack.
    #[inline]
    pub fn send_with(
        &mut self,
        mut packet: Packet,
        beside: impl FnOnce(&mut PacketPool, PacketId),
    ) {
        let origin = self.common.forwarding.origin(&packet);
        packet.destination = origin.destination;
        let next =
            self.common.forwarding.first_hop(&mut packet, origin, &self.common.events, &self.ports);
        let id = self.common.packets.insert(packet);
        beside(&mut self.common.packets, id);
        self.leave(origin, next, id);
    }

    #[inline]
    fn leave(&mut self, origin: Origin, next: Next, id: PacketId) {
        match next {
            Next::Port(port) => {
                if self.common.is_observed {
                    self.common.packets.report_sent(id, self.common.now());
                    if let Some(fragmentation) = &mut self.fragmentation {
                        fragmentation.identify(&mut self.common.packets[id]);
                        return self.enter_cut(port, id);
                    }
                }
                self.ports[port as usize].enter(id, &mut self.common);
            }
            _ => self.lose(self.common.forwarding.first_port(origin.node), id, NO_ROUTE),
        }
    }

    /// A packet is lost at a port because of a failure.
    #[cold]
    fn lose(&mut self, port: u32, id: PacketId, reason: &'static str) {
        self.wires[port as usize].loss.count_failed();
        self.common.record(port, PacketEvent::Drop, id, reason);
        self.common.packets.report_loss(id, LostIn::NoRoute, self.common.events.now().time);
        self.common.packets.remove(id);
    }

    /// A router has no route for a packet that came over the wire of `port`.
    #[cold]
    fn drop_without_route(&mut self, port: u32, id: PacketId) {
        let packet = self.common.packets[id];
        self.lose(port, id, NO_ROUTE);
        let place = self.wires[port as usize].leads_to;
        if let Some(unreachable) = &mut self.unreachable
            && let Some((message, origin, port)) =
                unreachable.message_about(&packet, place, &mut self.common)
        {
            let id = self.common.packets.insert(message);
            self.leave(origin, Next::Port(port), id);
        }
    }

    /// Those of the packet that was taken out of the network last, if it had some.
    pub fn arrived_beside(&self) -> &Beside {
        &self.arrived_beside
    }

    /// The headers of the packet that was taken out of the network last, until another one is sent; it must be
    /// another stack's.
    pub fn arrived_image(&self) -> &Image {
        self.common.packets.image_freed_last()
    }

    /// From now on the packets of the flows `first`, `first` + 1, ... are counted, `count` of them.
    pub fn watch(&mut self, first: u32, count: usize) {
        self.common.packets.watch(first, count);
    }

    /// Whether a packet of a flow that is watched is somewhere in the network.
    pub fn is_under_way(&self, flow: u32) -> bool {
        self.common.packets.is_under_way(flow)
    }

    /// The packets of `flow` have `delay` more to go on the wire of `port`, where their path begins.
    pub fn add_delay(&mut self, flow: u32, port: u32, delay: Time) {
        self.common.added_delays.set(flow, port, delay);
        self.ports[port as usize].transmitter.add_delays();
    }

    /// From now on what becomes of the packets of the first `flows` flows is counted; of those of the
    /// `one_way` ones only on their way to the destination.
    pub fn monitor_flows(&mut self, flows: usize, one_way: impl IntoIterator<Item = usize>) {
        self.common.monitor(FlowMonitor::new(flows, one_way));
    }

    /// What has become of them, at the end of the run.
    pub fn flow_monitor(&self, end: Time) -> Vec<Counts> {
        self.common.packets.monitor().map_or_else(Vec::new, |monitor| monitor.at(end))
    }

    /// From now on it is noted when the last data of each of the first `flows` flows comes.
    pub fn note_deliveries(&mut self, flows: usize) {
        self.common.note_deliveries(flows);
    }

    /// When it has come.
    pub fn deliveries(&self) -> Option<&Deliveries> {
        self.common.packets.deliveries()
    }

    /// From now on paths and order of the packets of the first `flows` flows are recorded, and each switch of
    /// the `followed` ones.
    pub fn follow_paths(&mut self, flows: usize, followed: &[u32]) {
        self.common.follow_paths(flows, followed);
    }

    /// What has become of them.
    pub fn paths(&self) -> Option<&PathMonitor> {
        self.common.packets.paths()
    }

    /// Packets and bytes of probes; none if nobody probes.
    pub fn probing(&self) -> Option<[u64; 2]> {
        self.common.forwarding.probing()
    }

    /// The paths that hosts found to have failed.
    pub fn failed_paths(&self) -> &[FailedPath] {
        self.common.forwarding.failed_paths()
    }

    /// Bytes that hosts have sent on their links.
    pub fn host_bytes(&self) -> u64 {
        self.common
            .forwarding
            .host_ports()
            .map(|port| self.ports[port as usize].transmitter.tx_bytes)
            .sum()
    }

    /// The queue disciplines have been made.
    pub fn attach_disciplines(&mut self) {
        for port in &mut self.ports {
            port.attach_disciplines(&mut self.common);
        }
    }

    /// The queue disciplines of a port start.
    pub fn start_disciplines(&mut self, port: u32) {
        self.ports[port as usize].start_disciplines(&mut self.common);
    }

    /// A queue discipline's timer fires.
    pub fn on_qdisc_timer(&mut self, index: u32) {
        let timer = self.common.timers.take(index);
        let port = &mut self.ports[timer.port as usize];
        port.on_timer(timer.discipline, timer.tag, &mut self.common);
    }

    /// A queue discipline from outside, the only one of its port, may now have a packet to send.
    pub fn wake_discipline(&mut self, port: u32) {
        self.ports[port as usize].on_timer(0, 0, &mut self.common);
    }

    /// The head of a lane arrives.  Returns the packet if this was its last hop.
    #[inline]
    pub fn on_arrival(&mut self, lane: u32) -> Option<PacketId> {
        let common = &mut self.common;
        let flight = common.flights.take(lane, &mut common.events)?;
        if !self.is_arrival_plain {
            return self.attend_arrival(flight);
        }
        match self.ports.get_mut(flight.next.index()) {
            Some(next) => {
                next.enter(flight.id, &mut self.common);
                None
            }
            None => self.end(flight),
        }
    }

    /// The same where something is to be decided, or noticed.
    #[inline(never)]
    fn attend_arrival(&mut self, Flight { id, port: index, .. }: Flight) -> Option<PacketId> {
        let common = &mut self.common;
        if common.holds_back && common.packets[id].flags.has(Flags::PAUSE) {
            self.pause(index, id);
            return None;
        }
        let wire = &mut self.wires[index as usize];
        let (packets, now) = (&common.packets, common.events.now().time);
        if let Some(reason) = wire.loss.takes(id, packets, now, &mut self.loss_streams) {
            common.record(index, PacketEvent::Drop, id, reason);
            common.packets.remove(id);
            return None;
        }
        let next = match wire.leads_to {
            Place::Leaf(_) => Next::Here,
            Place::Row(row) => common.forwarding.at(row, &mut common.packets[id], now, &self.ports),
        };
        if common.is_arrival_noticed {
            common.observe_arrival(index, id, next);
            match next {
                Next::Here => return self.notice_arrival(id),
                Next::Port(_) if common.holds_back && !common.has_room(index, id) => {
                    self.refuse(index, id);
                    return None;
                }
                Next::Port(next) if self.fragmentation.is_some() => {
                    self.enter_cut(next, id);
                    return None;
                }
                _ => {}
            }
        }
        match next {
            Next::Port(next) => self.ports[next as usize].enter(id, common),
            Next::Here => return Some(id),
            Next::Group(_) | Next::Nowhere => self.drop_without_route(index, id),
        }
        None
    }

    /// The way of a packet ends here.
    #[inline]
    fn end(&mut self, Flight { id, port, next }: Flight) -> Option<PacketId> {
        if next == NextHop::HERE {
            return Some(id);
        }
        self.drop_without_route(port, id);
        None
    }

    /// What arrives in a lane soon after its head will need memory that is better on its way by then.
    #[inline]
    pub fn fetch_ahead(&self, lane: u32) {
        if self.is_large
            && let Some(Flight { id, port, next }) = self.common.flights.after(lane, 1 + AHEAD)
        {
            // A host answers over the link by which a packet has come.
            let answering = || &self.ports[port as usize ^ 1];
            let port = self.ports.get(next.index()).unwrap_or_else(answering);
            fetch_first(port, Port::HOT);
            fetch(&self.common.packets[id]);
        }
    }

    /// A packet that will soon come to its host, whose endpoint is better on its way to the caches by then.
    #[inline]
    pub fn arriving_soon(&self, lane: u32) -> Option<&Packet> {
        let Common { flights, packets, .. } = &self.common;
        if let Some(later) = flights.after(lane, 2 * WELL_AHEAD) {
            fetch(&packets[later.id]);
        }
        self.coming(lane, WELL_AHEAD)
    }

    /// The same for one that comes even sooner.
    #[inline]
    pub fn arriving_next(&self, lane: u32) -> Option<&Packet> {
        let packet = self.coming(lane, AHEAD)?;
        self.common.forwarding.fetch_origin(packet);
        Some(packet)
    }

    /// The packet that comes after so many others in a lane, if it comes to its host.
    #[inline]
    fn coming(&self, lane: u32, others: usize) -> Option<&Packet> {
        let Flight { id, next, .. } = self.common.flights.after(lane, others)?;
        (next == NextHop::HERE).then(|| &self.common.packets[id])
    }

    /// A timer that fires soon, where memory is better asked for.
    #[inline]
    pub fn timer_soon(&self) -> Option<(Token, u32)> {
        if self.is_crowded { self.common.events.timer_soon() } else { None }
    }

    /// A packet has come to its host.  Returns it if it is for the host's transport.
    fn notice_arrival(&mut self, id: PacketId) -> Option<PacketId> {
        if self.fragmentation.is_some() {
            return self.reassemble(id);
        }
        let packet = &self.common.packets[id];
        let Err(answer) = self.common.forwarding.notice_arrival(packet, self.common.now()) else {
            return Some(id);
        };
        self.common.packets.remove(id);
        if let Some(answer) = answer {
            self.send(answer);
        }
        None
    }

    /// Takes a packet that has arrived out of the network.
    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet {
        let packet = self.common.packets[id];
        if packet.beside > 0 {
            self.common.packets.read_beside(id, &mut self.arrived_beside);
        }
        self.common.packets.remove(id);
        packet
    }

    /// The transmitter of a port is free again.
    pub fn on_tx_complete(&mut self, port: u32) {
        self.ports[port as usize].on_tx_complete(&mut self.common);
    }

    /// The first of the transmissions in a lane ends.
    pub fn on_transmitted(&mut self, lane: u32) {
        let common = &mut self.common;
        if let Some(transmission) = common.transmissions.take(lane, &mut common.events) {
            if self.is_large
                && let Some(soon) = common.transmissions.after(lane, AHEAD)
            {
                fetch_first(&self.ports[soon.port as usize], Port::HOT);
            }
            self.on_tx_complete(transmission.port);
        }
    }

    /// A device looks whether its queue has room, and lets the queue discipline go on.
    pub fn on_wake(&mut self, port: u32) {
        self.ports[port as usize].on_wake(&mut self.common);
    }

    /// Links fail or come back.  What waits in front of a link that fails, or is on its wire, is lost;
    /// what is on the wire is found missing when it would have arrived.
    pub fn fail(&mut self, down: &[usize], up: &[usize]) {
        for port in down.iter().flat_map(|link| [2 * link, 2 * link + 1]) {
            self.ports[port].fail(&mut self.wires[port].loss, &mut self.common);
        }
        self.common.forwarding.reroute(down, up);
    }

    /// The first periods of switches and hosts that balance load begin.
    pub fn start_balancing(&mut self) {
        let Common { events, forwarding, .. } = &mut self.common;
        for (who, period) in [(SWITCHES, forwarding.period()), (HOSTS, forwarding.probe_period())] {
            if period > Time::ZERO {
                events.schedule(period, Event::Run(RunEvent::Balance, who));
            }
        }
        self.common.is_arrival_noticed |= self.common.forwarding.is_steered();
    }

    /// A period of those who balance load is over.
    pub fn on_balancing(&mut self, who: u32) {
        let period = if who == SWITCHES {
            self.common.forwarding.tick(self.common.now(), &self.ports);
            self.common.forwarding.period()
        } else {
            for probe in self.common.forwarding.probes(self.common.now(), &self.ports) {
                self.send(probe);
            }
            self.common.forwarding.probe_period()
        };
        self.common.events.schedule(period, Event::Run(RunEvent::Balance, who));
    }

    /// The packet trace, if there is one, ends.
    pub fn take_trace(&mut self) -> Option<PacketTrace> {
        self.common.trace.take()
    }
}

const _: () = assert!(PPP_HEADER == 2, "wire sizes and ns-3's device queue count the same bytes");
