//! How much traffic a scenario can make at most: what its recording may hold depends on that.

use std::collections::HashMap;

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::base::time::Time;
use ccperf_engine::base::units::{self, QueueSize};
use ccperf_engine::host::tcp::socket_params::SOCKET;
use ccperf_engine::host::user::is_user_code;
use ccperf_schema::lowered::Transport;
use ccperf_schema::written::{Algorithm, Application, Change, DirectionName, Flow, Link, Scenario};

use super::check::Routes;
use super::names::Registry;

/// Headers of a segment on the wire, at the least: PPP, IP, TCP.
const HEADERS: u64 = 42;
/// Packets that a discipline holds if it does not say: a user's own, a scheduler's default child.
const UNKNOWN_LIMIT: u64 = 10_000;

/// One flow that is written by itself.
pub(super) struct Sending {
    /// Position in the scenario.
    pub flow: usize,
    /// The slowest direction on its path: twice a link's position, and one more for the reverse one.
    pub bottleneck: usize,
    /// Packets that it can send while it is active.
    pub packets: u64,
    /// Those of them that can be under way at a time, as far as its sockets are concerned.
    pub window: u64,
}

pub(super) struct Traffic {
    pub flows: Vec<Sending>,
    /// For each direction on the path of a flow: packets that it can send until the end.
    pub sent: HashMap<usize, u64>,
    /// Packets that it can hold, in queues and on the wire.
    pub held: HashMap<usize, u64>,
}

/// A bit more than is possible, never less; the scenario has passed its checks.
pub(super) fn traffic(s: &Scenario, routes: &mut Routes<'_>, stop: Time) -> Traffic {
    let nodes: HashMap<&str, usize> = s.nodes.iter().map(String::as_str).zip(0..).collect();
    let ports = Ports::new(s);
    let mut traffic = Traffic { flows: Vec::new(), sent: HashMap::new(), held: HashMap::new() };
    for (i, flow) in s.flows.iter().enumerate() {
        let ends = [&flow.source, &flow.destination].map(|name| nodes.get(name.as_str()));
        let [Some(&source), Some(&destination)] = ends else { continue };
        let Some(route) = routes.paths.between(source, destination) else { continue };
        let route: Vec<usize> =
            route.iter().map(|[link, direction]| 2 * link + direction).collect();
        // Between two nodes there is a link at least.
        let Some(&bottleneck) = route.iter().min_by_key(|&&port| ports.rates[port]) else {
            continue;
        };
        let size = packet_size(flow);
        for &port in &route {
            let sent = traffic.sent.entry(port).or_default();
            *sent = (*sent).max(packets(ports.rates[port], stop, size));
            let held = traffic.held.entry(port).or_default();
            let on_wire = packets(ports.rates[port], ports.delays[port / 2], size);
            *held = (*held).max(on_wire.saturating_add(ports.limits[port]));
        }
        let time = active(flow, stop);
        let of = |bytes: Option<u64>| bytes.map_or(u64::MAX, |bytes| bytes / (size - HEADERS) + 1);
        let whole = of(finite(flow));
        let window = of(window(flow));
        // A window a round trip, and no round trip is shorter than propagation.
        let round_trip = 2 * route.iter().map(|port| ports.shortest[port / 2].0).sum::<u64>();
        let clocked = match time.0.checked_div(round_trip) {
            Some(rounds) => window.saturating_mul(rounds + 1),
            None => u64::MAX,
        };
        traffic.flows.push(Sending {
            flow: i,
            bottleneck,
            packets: packets(ports.rates[bottleneck], time, size).min(whole).min(clocked),
            window: packets(ports.rates[route[0]], time, size).min(whole).min(window),
        });
    }
    traffic
}

/// What links can do, by direction; the delays by link.
struct Ports {
    /// The highest rate that each ever has.
    rates: Vec<u64>,
    /// The longest, and the shortest.
    delays: Vec<Time>,
    shortest: Vec<Time>,
    /// Packets in discipline and device.
    limits: Vec<u64>,
}

impl Ports {
    fn new(s: &Scenario) -> Ports {
        let mut ports = Ports {
            rates: Vec::new(),
            delays: Vec::new(),
            shortest: Vec::new(),
            limits: Vec::new(),
        };
        for link in &s.links {
            let delays: Vec<Time> = delays(link).collect();
            ports.delays.push(delays.iter().copied().max().unwrap_or_default());
            ports.shortest.push(delays.iter().copied().min().unwrap_or_default());
            for (direction, own) in [&link.forward, &link.reverse].into_iter().enumerate() {
                let text = own.rate.as_ref().unwrap_or(&link.rate);
                ports.rates.push(rate(text).max(scheduled(link, direction)));
                let queue = own.qdisc.as_ref().map_or(0, |root| limit(root, own.device_queues));
                let device = u64::from(own.device_queues) * limit_of(&own.device_queue);
                ports.limits.push(queue.saturating_add(device));
            }
        }
        let links: HashMap<&str, usize> =
            s.links.iter().map(|link| link.name.as_str()).zip(0..).collect();
        for change in &s.changes {
            let Some(&link) = links.get(change.link.as_str()) else { continue };
            ports.change(link, change);
        }
        ports
    }

    fn change(&mut self, link: usize, change: &Change) {
        if let Some(delay) = &change.delay {
            self.delays[link] = self.delays[link].max(time(delay));
            self.shortest[link] = self.shortest[link].min(time(delay));
        }
        for direction in directions(change.direction) {
            let changed = change.rate.as_deref().map_or(0, rate);
            let before = &mut self.rates[2 * link + direction];
            *before = (*before).max(changed);
        }
    }
}

fn directions(of: DirectionName) -> &'static [usize] {
    match of {
        DirectionName::Forward => &[0],
        DirectionName::Reverse => &[1],
        DirectionName::Both => &[0, 1],
    }
}

/// All the delays that a link has by its schedules.
fn delays(link: &Link) -> impl Iterator<Item = Time> {
    let scheduled = link.schedules.iter().filter_map(|schedule| schedule.delays_ns.as_ref());
    std::iter::once(time(&link.delay)).chain(scheduled.flatten().map(|&delay| Time(delay)))
}

fn scheduled(link: &Link, direction: usize) -> u64 {
    let own = link.schedules.iter().filter(|s| directions(s.direction).contains(&direction));
    own.filter_map(|s| s.rates_bps.as_ref()?.iter().max()).max().copied().unwrap_or(0)
}

/// Packets that a discipline can hold.
fn limit(discipline: &Algorithm, device_queues: u16) -> u64 {
    if is_user_code(&discipline.kind) {
        return UNKNOWN_LIMIT;
    }
    if !discipline.children.is_empty() {
        let of = discipline.children.iter().map(|child| limit(child, 1));
        let sum = of.fold(0, u64::saturating_add);
        let copies = if discipline.children.len() == 1 { device_queues.max(8) } else { 1 };
        return sum.saturating_mul(u64::from(copies));
    }
    let Ok(spec) = Registry::Qdisc.find(&discipline.kind) else { return UNKNOWN_LIMIT };
    if spec.params.iter().any(|param| param.ns3 == "MaxSize") {
        limit_of(Attributes::new(spec, &discipline.attributes).text("MaxSize"))
    } else {
        UNKNOWN_LIMIT
    }
}

/// A limit in bytes counts as if its packets had headers only.
fn limit_of(text: &str) -> u64 {
    match units::parse_queue_size(text) {
        Ok(QueueSize::Packets(packets)) => u64::from(packets),
        Ok(QueueSize::Bytes(bytes)) => u64::from(bytes) / HEADERS,
        Err(_) => 0,
    }
}

/// Bytes of a packet of the flow, headers included.
fn packet_size(flow: &Flow) -> u64 {
    let segment = match flow.transport {
        Transport::Tcp => u64::from(Attributes::new(&SOCKET, &flow.tcp).u32("SegmentSize")),
        Transport::Udp => u64::MAX,
        Transport::Roce | Transport::Trimming => {
            units::parse_size(flow.application.write()).unwrap_or(1)
        }
    };
    // A greedy source writes ahead, so that segments are full.
    let write = match &flow.application {
        Application::Greedy { .. } => u64::MAX,
        paced => units::parse_size(paced.write()).unwrap_or(1),
    };
    segment.min(write).clamp(1, u64::from(u16::MAX)) + HEADERS
}

/// Bytes that its sockets let it have under way; none over UDP, which nothing holds back.
fn window(flow: &Flow) -> Option<u64> {
    let sockets = Attributes::new(&SOCKET, &flow.tcp);
    (flow.transport == Transport::Tcp)
        .then(|| u64::from(sockets.u32("SndBufSize").min(sockets.u32("RcvBufSize"))))
}

/// Bytes of a flow that ends by itself.
fn finite(flow: &Flow) -> Option<u64> {
    let (Application::Greedy { bytes, .. }
    | Application::Cbr { bytes, .. }
    | Application::OnOff { bytes, .. }
    | Application::Poisson { bytes, .. }) = &flow.application;
    units::parse_size(bytes).ok().filter(|&bytes| bytes > 0)
}

fn active(flow: &Flow, end: Time) -> Time {
    let stop = flow.stop.as_deref().map_or(end, time).min(end);
    Time(stop.0.saturating_sub(time(&flow.start).0))
}

fn packets(rate_bps: u64, within: Time, size: u64) -> u64 {
    let bytes = u128::from(rate_bps) * u128::from(within.0) / 8_000_000_000;
    u64::try_from(bytes / u128::from(size) + 1).unwrap_or(u64::MAX)
}

fn rate(text: &str) -> u64 {
    units::parse_rate(text).map_or(0, |rate| rate.0)
}

fn time(text: &str) -> Time {
    units::parse_time(text).unwrap_or(Time::ZERO)
}
