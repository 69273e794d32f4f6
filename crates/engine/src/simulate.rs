//! Runs a lowered scenario.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use crate::application::{Application, Due, Ping};
use crate::attributes::{Attributes, Spec};
use crate::congestion;
use crate::event::{Event, EventQueue};
use crate::lowered::{self, Algorithm, Direction, Flow, Lowered};
use crate::network::{Network, Port, PortSetup, TransmitQueues};
use crate::packet::{Packet, priority};
use crate::qdisc::{self, AnyQdisc, FlowKey};
use crate::recorder::Recorder;
use crate::recording::Recording;
use crate::recovery;
use crate::rng::RngStream;
use crate::tcp::{Config, Environment, Socket, Timer, Write};
use crate::time::{Rate, Time};
use crate::trace::PacketTrace;
use crate::user::{Failure, NoUserCode, Setup, UserCode, is_user_code};

/// IP protocol numbers, part of what flow queueing hashes.
const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_TCP: u8 = 6;
/// ns-3's estimate of the RTT before the first sample.
const INITIAL_RTT: Time = Time::from_secs(1);

/// Why a lowered scenario cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Scenario(String),
    #[error("cannot write the packet trace: {0}")]
    Trace(#[from] io::Error),
    #[error("{algorithm} failed at {:.9} s of simulated time: {message}", time.secs_f64())]
    UserCode { algorithm: String, time: Time, message: String },
}

/// The two ends of one flow and the applications on them.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) sender: Socket,
    pub(crate) receiver: Socket,
    pub(crate) application: Application,
    timers: [SocketTimers; 2],
}

/// Deadlines of one socket's timers.  A timer that is set again keeps its event in the queue, which
/// looks when it runs whether the deadline has moved.
#[derive(Debug)]
struct SocketTimers {
    deadline: [Option<crate::event::Key>; Timer::COUNT],
    /// The earliest event that is queued for the timer.
    queued: [Option<crate::event::Key>; Timer::COUNT],
}

/// A simulation that can be run to its end or step by step.
pub struct Simulation {
    scenario: Lowered,
    network: Network,
    connections: Vec<Connection>,
    /// Their packets have the flow numbers behind those of the connections.
    pings: Vec<Ping>,
    recorder: Recorder,
    finished: bool,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("now", &self.network.now()).finish_non_exhaustive()
    }
}

impl Simulation {
    /// `packets`: where to write the packet trace.
    pub fn new(scenario: Lowered, packets: Option<&Path>) -> Result<Self, Error> {
        Self::with_user_code(scenario, packets, &NoUserCode)
    }

    /// `user`: makes the algorithms that the scenario's user brings.
    pub fn with_user_code(
        scenario: Lowered,
        packets: Option<&Path>,
        user: &dyn UserCode,
    ) -> Result<Self, Error> {
        guarded(|| Self::build(scenario, packets, user)).map_err(|f| f.at(Time::ZERO))?
    }

    fn build(
        scenario: Lowered,
        packets: Option<&Path>,
        user: &dyn UserCode,
    ) -> Result<Self, Error> {
        let trace = match packets {
            None => None,
            Some(path) => {
                let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
                let directions = scenario.links.iter().flat_map(|link| &link.directions);
                let ports = directions.map(|direction| direction.name.clone()).collect();
                let flows = scenario.flows.iter().map(|flow| &flow.name);
                let pings = scenario.pings.iter().map(|ping| &ping.name);
                let flows = flows.chain(pings).cloned().collect();
                Some(PacketTrace::new(Box::new(out), ports, flows))
            }
        };
        let mut ports = Vec::new();
        // Directions that name the same stream draw from it in turn.
        let (mut loss_streams, mut known) = (Vec::new(), HashMap::new());
        for link in &scenario.links {
            for direction in &link.directions {
                let number = direction.loss_stream;
                let loss_stream = *known.entry(number).or_insert_with(|| {
                    loss_streams.push(RngStream::fixed(scenario.seed, number));
                    loss_streams.len() - 1
                });
                let delay = Time(link.delay_ns);
                ports.push(build_port(direction, delay, scenario.seed, user, loss_stream)?);
            }
        }
        let flow_routes = scenario.flows.iter().map(|flow| [&flow.path, &flow.return_path]);
        let ping_routes = scenario.pings.iter().map(|ping| [&ping.path, &ping.return_path]);
        let routes = flow_routes.chain(ping_routes).map(|ways| ways.map(|path| hops(path)));
        let keys = scenario.flows.iter().map(flow_keys);
        let keys = keys.chain(scenario.pings.iter().map(ping_keys));
        let (routes, keys) = (routes.collect(), keys.collect::<Result<_, _>>()?);
        let network = Network::new(ports, loss_streams, routes, keys, trace);
        let seed = scenario.seed;
        let connections = scenario.flows.iter().map(|flow| build_connection(flow, seed, user));
        let connections = connections.collect::<Result<Vec<_>, _>>()?;
        let first_ping = scenario.flows.len();
        let pings = scenario.pings.iter().enumerate();
        let pings = pings.map(|(i, ping)| Ping::new(ping, (first_ping + i) as u16)).collect();
        let recorder = Recorder::new(&scenario);
        let mut simulation =
            Simulation { scenario, network, connections, pings, recorder, finished: false };
        simulation.set_up();
        Ok(simulation)
    }

    /// Runs until simulated time `until` or the scenario's end; returns false at the end.
    ///
    /// # Errors
    /// [`Error::UserCode`]; the simulation cannot go on then.
    pub fn run_until(&mut self, until: Time) -> Result<bool, Error> {
        guarded(|| self.advance(until.min(Time::MAX))).map_err(|failure| failure.at(self.now()))
    }

    fn advance(&mut self, until: Time) -> bool {
        while !self.finished {
            match self.network.events.pop(until) {
                Some(event) => self.run(event),
                None if self.network.events.is_empty() => self.finish_recording(),
                None => return true,
            }
        }
        false
    }

    /// Runs to the end and returns what was recorded.
    pub fn finish(mut self) -> Result<Recording, Error> {
        self.run_until(Time(u64::MAX))?;
        if let Some(trace) = self.network.trace.take() {
            trace.finish()?;
        }
        Ok(self.recorder.finish(&self.scenario, &self.network, &self.connections, &self.pings))
    }

    pub fn now(&self) -> Time {
        self.network.now()
    }

    /// The events that exist before time starts, in the order in which ns-3 schedules them.
    fn set_up(&mut self) {
        for node in 0..self.scenario.nodes.len() {
            self.network.events.schedule(Time::ZERO, Event::Start(node as u32));
        }
        for port in 0..2 * self.scenario.links.len() {
            self.network.attach_qdisc(port as u32);
        }
        let events = &mut self.network.events;
        for (i, change) in self.scenario.changes.iter().enumerate() {
            events.schedule(Time(change.time_ns), Event::Change(i as u32));
        }
        events.schedule(Time(self.scenario.stop_ns), Event::Stop);
    }

    #[inline(always)] // into the loop: a call costs more than most events' dispatch
    fn run(&mut self, event: Event) {
        self.recorder.advance(self.network.now(), &self.network, &self.connections);
        match event {
            Event::Arrival(lane) => {
                if let Some(id) = self.network.on_arrival(lane) {
                    let packet = self.network.packets[id];
                    self.network.packets.remove(id);
                    self.deliver(&packet);
                }
            }
            Event::TxComplete(port) => self.network.on_tx_complete(port),
            Event::Wake(port) => self.network.on_wake(port),
            Event::Socket(index) => self.on_socket_timer(index),
            Event::Application(flow) => self.on_application(flow),
            Event::CloseReceiver(flow) => self.close_receiver(flow as usize),
            Event::Qdisc(index) => self.network.on_qdisc_timer(index),
            Event::Open(flow) => self.open(flow as usize),
            Event::Close(flow) => self.close(flow as usize),
            Event::Change(index) => self.change(index as usize),
            Event::Start(node) => self.start_node(node as usize),
            Event::Stop => self.finish_recording(),
        }
    }

    fn finish_recording(&mut self) {
        self.finished = true;
        let end = Time(self.scenario.stop_ns);
        self.recorder.advance(end, &self.network, &self.connections);
    }

    /// Devices first, then applications in the order of flows: each schedules its start and stop.
    fn start_node(&mut self, node: usize) {
        for (i, link) in self.scenario.links.iter().enumerate() {
            for (side, &end) in link.ends.iter().enumerate() {
                if end == node {
                    self.network.start_qdisc((2 * i + side) as u32);
                }
            }
        }
        let events = &mut self.network.events;
        let begin = |events: &mut EventQueue, i: usize, start: u64, stop: u64| {
            events.schedule(Time(start), Event::Open(i as u32));
            if stop > 0 {
                events.schedule(Time(stop), Event::Close(i as u32));
            }
        };
        for (i, flow) in self.scenario.flows.iter().enumerate() {
            if flow.destination == node && flow.receiver_stop_ns > 0 {
                events.schedule(Time(flow.receiver_stop_ns), Event::CloseReceiver(i as u32));
            }
            if flow.source == node {
                begin(events, i, flow.start_ns, flow.stop_ns);
            }
        }
        for (i, ping) in self.scenario.pings.iter().enumerate() {
            if ping.source == node {
                begin(events, self.connections.len() + i, ping.start_ns, ping.stop_ns);
            }
        }
    }

    #[cold]
    fn open(&mut self, flow: usize) {
        if flow < self.connections.len() {
            self.with_socket(flow, false, |socket, now, env| socket.connect(now, env));
        } else {
            self.ping(flow - self.connections.len());
        }
    }

    /// Sends a request; the next one is due an interval later.
    fn ping(&mut self, index: usize) {
        let ping = &mut self.pings[index];
        self.network.send(ping.request(self.network.now()));
        ping.schedule_next(&mut self.network.events);
    }

    /// A request or a reply has arrived.
    #[cold]
    fn deliver_echo(&mut self, packet: &Packet) {
        if packet.backward {
            let index = packet.flow as usize - self.connections.len();
            self.pings[index].on_reply(packet, self.network.now());
        } else {
            self.network.send(Ping::reply(packet));
        }
    }

    #[cold]
    fn close(&mut self, flow: usize) {
        if flow >= self.connections.len() {
            self.pings[flow - self.connections.len()].stop();
            return;
        }
        self.connections[flow].application.stop(self.network.now());
        self.with_socket(flow, false, |socket, now, env| {
            socket.tcb.now = now;
            socket.close(env);
        });
    }

    #[cold]
    fn close_receiver(&mut self, flow: usize) {
        self.with_socket(flow, true, |socket, now, env| socket.close_sink(now, env));
    }

    /// A source switches on or off, or writes the packet that is due; or a ping is due.
    #[inline(never)] // most runs have none, and are faster without it in their loop
    fn on_application(&mut self, flow: u32) {
        if let Some(index) = (flow as usize).checked_sub(self.connections.len()) {
            if self.pings[index].take_due(self.network.events.now()) {
                self.ping(index);
            }
            return;
        }
        let events = &mut self.network.events;
        let connection = &mut self.connections[flow as usize];
        let Application::Source(source) = &mut connection.application else { return };
        match source.take_due(events.now()) {
            Some(Due::Switch) => source.switch(flow, events),
            Some(Due::Send) => {
                let size = source.write_size();
                self.with_socket(flow as usize, false, |socket, now, host| {
                    let accepted = socket.send(size, now, host);
                    if host.on_sent(accepted) {
                        socket.close(host);
                    }
                });
            }
            None => {}
        }
    }

    fn change(&mut self, index: usize) {
        let change = &self.scenario.changes[index];
        for side in 0..2 {
            let port = 2 * change.link + side;
            if let Some(rate) = change.rate_bps[side] {
                self.network.set_rate(port as u32, Rate(rate));
            }
            if let Some(loss) = change.loss[side] {
                self.network.ports[port].set_loss(loss);
            }
            if let Some(delay) = change.delay_ns {
                self.network.ports[port].delay = Time(delay);
            }
        }
    }

    #[inline]
    fn deliver(&mut self, packet: &Packet) {
        if packet.flow as usize >= self.connections.len() {
            return self.deliver_echo(packet);
        }
        self.with_socket(packet.flow as usize, !packet.backward, |socket, now, env| {
            socket.on_segment(packet, now, env);
        });
    }

    fn on_socket_timer(&mut self, index: u32) {
        let (socket, timer) = (index as usize / Timer::COUNT, index as usize % Timer::COUNT);
        let (flow, side) = (socket / 2, socket % 2);
        let now = self.network.events.now();
        let timers = &mut self.connections[flow].timers[side];
        if timers.queued[timer] == Some(now) {
            timers.queued[timer] = None;
        }
        match timers.deadline[timer] {
            Some(key) if key == now => timers.deadline[timer] = None,
            Some(key) => {
                // The deadline has moved since this event was queued.
                if timers.queued[timer].is_none() {
                    timers.queued[timer] = Some(key);
                    self.network.events.insert(key, Event::Socket(index));
                }
                return;
            }
            None => return,
        }
        self.with_socket(flow, side == 1, |socket, now, env| {
            socket.on_timer(Timer::ALL[timer], now, env);
        });
    }

    #[inline]
    fn with_socket(
        &mut self,
        flow: usize,
        is_receiver: bool,
        call: impl FnOnce(&mut Socket, Time, &mut Host<'_>),
    ) {
        let connection = &mut self.connections[flow];
        let side = usize::from(is_receiver);
        let now = self.network.now();
        let mut host = Host {
            network: &mut self.network,
            timers: &mut connection.timers[side],
            application: &mut connection.application,
            first_timer: ((2 * flow + side) * Timer::COUNT) as u32,
            flow: flow as u16,
            is_receiver,
        };
        let socket = if is_receiver { &mut connection.receiver } else { &mut connection.sender };
        call(socket, now, &mut host);
        self.recorder.on_socket_event(flow, is_receiver, now, socket);
    }
}

/// What a socket sees of the world.
struct Host<'a> {
    network: &'a mut Network,
    timers: &'a mut SocketTimers,
    application: &'a mut Application,
    first_timer: u32,
    flow: u16,
    is_receiver: bool,
}

impl Host<'_> {
    /// Returns whether the source closes.
    fn on_sent(&mut self, accepted: bool) -> bool {
        let Application::Source(source) = &mut *self.application else { return false };
        source.on_sent(accepted, u32::from(self.flow), &mut self.network.events)
    }
}

impl Environment for Host<'_> {
    #[inline(always)]
    fn transmit(&mut self, mut segment: Packet) {
        segment.flow = self.flow;
        segment.backward = self.is_receiver;
        self.network.send(segment);
    }

    fn arm(&mut self, timer: Timer, at: Time) {
        let i = timer as usize;
        let event = Event::Socket(self.first_timer + i as u32);
        let delay = at - self.network.now();
        let key = self.network.events.reserve(delay);
        self.timers.deadline[i] = Some(key);
        if self.network.events.plain || self.timers.queued[i].is_none_or(|queued| queued > key) {
            self.timers.queued[i] = Some(key);
            self.network.events.insert(key, event);
        }
    }

    fn disarm(&mut self, timer: Timer) {
        self.timers.deadline[timer as usize] = None;
    }

    fn connected(&mut self) {
        if let Application::Source(source) = &mut *self.application {
            source.on_connected(u32::from(self.flow), &mut self.network.events);
        }
    }

    #[inline]
    fn writable(&mut self, free: u32) -> Write {
        match &mut *self.application {
            Application::Greedy(greedy) => greedy.writable(self.network.now(), free),
            Application::Source(_) => Write::default(),
        }
    }

    fn readable(&mut self, bytes: u32) {
        self.application.on_read(self.network.now(), bytes);
    }
}

/// Runs `call` and catches what [`crate::user::fail`] throws, and only that.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, Box<Failure>> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|thrown| thrown.downcast::<Failure>().unwrap_or_else(|other| resume_unwind(other)))
}

impl Failure {
    fn at(self, time: Time) -> Error {
        Error::UserCode { algorithm: self.algorithm, time, message: self.message }
    }
}

fn build_port(
    direction: &Direction,
    delay: Time,
    seed: u64,
    user: &dyn UserCode,
    loss_stream: usize,
) -> Result<Port, Error> {
    let build = |algorithm: &Algorithm| build_qdisc(algorithm, direction.mtu_bytes, seed, user);
    let mut qdisc = None;
    let mut queues = None;
    if direction.device_queues == 1 {
        qdisc = direction.qdisc.as_ref().map(build).transpose()?;
    } else {
        let root = direction.qdisc.as_slice();
        let is_mq = direction.qdisc.as_ref().is_some_and(|root| root.kind == qdisc::MQ);
        let each = if is_mq { &root[0].children[..] } else { root };
        let each = each.iter().map(build).collect::<Result<Vec<_>, _>>()?;
        let (count, size) = (usize::from(direction.device_queues), direction.device_queue);
        queues = Some(TransmitQueues::new(count, size, direction.device_select, each, is_mq));
    }
    Ok(Port::new(PortSetup {
        rate: Rate(direction.rate_bps),
        delay,
        mtu: direction.mtu_bytes,
        qdisc,
        queues,
        queue_limit: direction.device_queue,
        byte_limits: direction.queue_limits_hold_ns.map(Time),
        loss: direction.loss,
        loss_stream,
        drops: direction.drops.clone(),
    }))
}

fn build_qdisc(
    algorithm: &Algorithm,
    mtu: u32,
    seed: u64,
    user: &dyn UserCode,
) -> Result<AnyQdisc, Error> {
    if is_user_code(&algorithm.kind) {
        let made = user.queue_disc(Setup::new(algorithm, seed));
        return Ok(AnyQdisc::Dyn(made.map_err(|message| refused(algorithm, message))?));
    }
    let spec = find(qdisc::SPECS, algorithm)?;
    let attributes = Attributes::new(spec, &algorithm.attributes);
    let cx = qdisc::BuildContext { attributes, mtu, stream: algorithm.stream, run: seed };
    let unknown = || Error::Scenario(format!("{} cannot be used here", algorithm.kind));
    qdisc::build(&algorithm.kind, &cx).ok_or_else(unknown)
}

fn build_connection(flow: &Flow, seed: u64, user: &dyn UserCode) -> Result<Connection, Error> {
    let mut receiver = build_socket(flow, flow.return_tos, seed, user)?;
    receiver.listen();
    Ok(Connection {
        sender: build_socket(flow, flow.tos, seed, user)?,
        receiver,
        application: Application::new(&flow.application, seed),
        timers: std::array::from_fn(|_| SocketTimers {
            deadline: [None; Timer::COUNT],
            queued: [None; Timer::COUNT],
        }),
    })
}

fn build_socket(flow: &Flow, tos: u8, seed: u64, user: &dyn UserCode) -> Result<Socket, Error> {
    let algorithm = &flow.congestion_control;
    let unknown = || Error::Scenario(format!("unknown algorithm in flow {}", flow.name));
    let cc = if is_user_code(&algorithm.kind) {
        let made = user.congestion_control(Setup::new(algorithm, seed));
        made.map_err(|message| refused(algorithm, message))?
    } else {
        let spec = find(congestion::SPECS, algorithm)?;
        let attributes = Attributes::new(spec, &algorithm.attributes);
        let cx = congestion::BuildContext { attributes, seed };
        congestion::build(&algorithm.kind, &cx).ok_or_else(unknown)?
    };
    let recovery = recovery::build(&flow.recovery).ok_or_else(unknown)?;
    Ok(Socket::new(Config::new(&flow.socket, tos), cc, recovery, INITIAL_RTT))
}

fn find<'a>(specs: &'a [&'a Spec], algorithm: &Algorithm) -> Result<&'a Spec, Error> {
    let found = specs.iter().find(|spec| spec.ns3 == algorithm.kind);
    found
        .copied()
        .ok_or_else(|| Error::Scenario(format!("the native engine has no {}", algorithm.kind)))
}

fn refused(algorithm: &Algorithm, message: String) -> Error {
    Error::UserCode { algorithm: algorithm.kind.clone(), time: Time::ZERO, message }
}

fn hops(path: &[[usize; 2]]) -> Vec<u32> {
    path.iter().map(|&[link, direction]| (2 * link + direction) as u32).collect()
}

fn flow_keys(flow: &Flow) -> Result<[FlowKey; 2], Error> {
    let addresses = [&*flow.source_address, &*flow.destination_address];
    let (ports, services) =
        ([flow.source_port, flow.destination_port], [flow.tos, flow.return_tos]);
    keys(addresses, ports, PROTOCOL_TCP, services)
}

fn ping_keys(ping: &lowered::Ping) -> Result<[FlowKey; 2], Error> {
    keys([&ping.source_address, &ping.destination_address], [0, 0], PROTOCOL_ICMP, [0, 0])
}

/// What flow queueing sees of the packets there and back.
fn keys(
    addresses: [&str; 2],
    ports: [u16; 2],
    protocol: u8,
    services: [u8; 2],
) -> Result<[FlowKey; 2], Error> {
    let address = |text: &str| {
        let parsed = text.parse::<std::net::Ipv4Addr>();
        parsed.map(u32::from).map_err(|_| Error::Scenario(format!("not an IPv4 address: {text}")))
    };
    let forward = FlowKey {
        source: address(addresses[0])?,
        destination: address(addresses[1])?,
        source_port: ports[0],
        destination_port: ports[1],
        protocol,
        priority: priority(services[0]),
    };
    let backward = FlowKey {
        source: forward.destination,
        destination: forward.source,
        source_port: forward.destination_port,
        destination_port: forward.source_port,
        priority: priority(services[1]),
        ..forward
    };
    Ok([forward, backward])
}

#[cfg(test)]
mod tests;
