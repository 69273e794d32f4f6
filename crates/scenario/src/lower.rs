//! From the canonical scenario to integers, indices, addresses, routes and stream numbers.  Whatever
//! could go wrong has been found by the checks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use ccperf_engine::base::attributes::{Attributes, Spec};
use ccperf_engine::base::rng::RngStream;
use ccperf_engine::base::time::Time;
use ccperf_engine::base::units::{self, QueueSize};
use ccperf_engine::host::tcp::profile;
use ccperf_engine::host::tcp::socket_params::{PROFILE, SOCKET};
use ccperf_engine::host::user::is_user_code;
use ccperf_engine::net::qdisc::{self, Children, FIFO};
use ccperf_engine::net::routing::{Paths, balance};
use ccperf_schema::lowered::{
    self, Algorithm, Application, Change, DeviceQueue, Direction, Flow, Link, Lowered, OnOff, Ping,
    Poisson, Recording, SCHEMA, Schedule, Workload,
};
use ccperf_schema::written::{self, Scenario};

use super::distribution::Times;
use super::names::{self, Registry};
use super::recording::Index;
use super::{added_delay, attributes, failures, faults, ideal, streams, transport};

pub(super) const CHECKED: &str = "the scenario has been checked";
/// Longer than any run may take.
const ALWAYS: Time = Time::from_secs(1_000_000_000);

/// All but the workloads.
pub fn lower(s: &Scenario) -> Lowered {
    let nodes = index(s.nodes.iter().map(String::as_str));
    let link_index = index(s.links.iter().map(|link| link.name.as_str()));
    let lossy = s.changes.iter().filter(|change| change.loss.is_some());
    let lossy: HashSet<_> = lossy.map(|change| change.link.as_str()).collect();
    let may_lose = |name: &str| lossy.contains(name);
    let links: Vec<_> = s.links.iter().map(|l| link(l, may_lose(&l.name), &nodes)).collect();
    let ends: Vec<_> = links.iter().map(|link| link.ends).collect();
    let mut routes = Paths::new(s.nodes.len(), &ends);
    let flows = s.flows.iter().map(|f| flow(f, &nodes, &links, &mut routes, s.seed)).collect();
    let pings = s.pings.iter().map(|p| ping(p, &nodes, &links, &mut routes)).collect();
    Lowered {
        schema: SCHEMA,
        stop_ns: ns(&s.stop_time),
        seed: s.seed,
        recording: recorded(s, &[]),
        nodes: s.nodes.clone(),
        changes: s.changes.iter().map(|c| change(c, &link_index)).collect(),
        routing: routing(s),
        failures: failures::lower(s, ns),
        faults: faults::lower(s, &nodes),
        flows,
        workloads: Vec::new(),
        stacks: Vec::new(),
        pairs: Vec::new(),
        pings,
        linux: s.linux.clone(),
        links,
    }
}

fn routing(s: &Scenario) -> Algorithm {
    let mut routing = algorithm(&s.routing, Registry::Routing, "routing");
    if !is_user_code(&s.routing.kind) {
        let spec = Registry::Routing.find(&s.routing.kind).expect(CHECKED);
        balance::with_seed(spec, &mut routing.attributes, s.seed);
    }
    routing
}

pub(super) fn recorded(s: &Scenario, workloads: &[Workload]) -> Recording {
    let asked = &s.recording;
    let counts = workloads.iter().map(Workload::len);
    let flows = Index::of_flows(&s.flows, &s.workloads, counts);
    let links = Index::of_links(&s.links);
    let queues = asked.queues.as_ref();
    Recording {
        interval_ns: ns(&asked.interval),
        flows: flows.selected(&asked.flows),
        ports: links.selected(&asked.links),
        queue_interval_ns: queues.map_or(0, |queues| ns(&queues.interval)),
        queue_ports: queues.map_or_else(Vec::new, |q| links.selected(&q.links)),
        changes: flows.followed(&asked.changes),
        completions: asked.completions.unwrap_or(!s.workloads.is_empty()),
        deliveries: asked.deliveries,
        flow_monitor: asked.flow_monitor,
        balancing: asked.balancing,
        paths: flows.followed(&asked.paths),
    }
}

pub(super) fn index<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    names.enumerate().map(|(i, name)| (name, i)).collect()
}

pub(super) fn ns(text: &str) -> u64 {
    units::parse_time(text).expect(CHECKED).0
}

fn bps(text: &str) -> u64 {
    units::parse_rate(text).expect(CHECKED).0
}

fn bytes(text: &str) -> u64 {
    units::parse_size(text).expect(CHECKED)
}

pub(super) fn small_bytes(text: &str) -> u32 {
    u32::try_from(bytes(text)).expect(CHECKED)
}

/// `may_lose`: packets, after some change.
fn link(link: &written::Link, may_lose: bool, nodes: &HashMap<&str, usize>) -> Link {
    let may_lose = may_lose || link.schedules.iter().any(|schedule| schedule.losses.is_some());
    let direction = |d: &written::Direction, word: &str| {
        let path = format!("links/{}/{word}", link.name);
        let draws_losses = may_lose || d.loss > 0.0 || d.gilbert_elliott.is_some();
        let own_stream = || streams::first_stream(&format!("{path}/loss"));
        Direction {
            name: String::new(),
            rate_bps: bps(d.rate.as_ref().unwrap_or(&link.rate)),
            mtu_bytes: small_bytes(&d.mtu),
            qdisc: d.qdisc.as_ref().map(|q| root_qdisc(q, d.device_queues, &path)),
            device_queue: match units::parse_queue_size(&d.device_queue).expect(CHECKED) {
                QueueSize::Packets(n) => DeviceQueue::Packets(n),
                QueueSize::Bytes(n) => DeviceQueue::Bytes(n),
            },
            device_queues: d.device_queues,
            device_select: d.device_select,
            queue_limits_hold_ns: d.queue_limits.as_ref().map(|limits| ns(&limits.hold_time)),
            loss: d.loss,
            loss_stream: d
                .loss_stream
                .unwrap_or_else(|| if draws_losses { own_stream() } else { 0 }),
            drops: d.drop.clone(),
            gilbert_elliott: d.gilbert_elliott.as_ref().map(|of| Box::new(gilbert_elliott(of))),
            jitter: d.jitter.as_ref().map(|of| Box::new(jitter(of, &path))),
            reordering: d.reordering.as_ref().map(|of| Box::new(reordering(of, &path))),
            pfc: d.pfc.as_ref().map(|of| Box::new(pfc(of))),
        }
    };
    let addresses = link.addresses.as_ref().expect(CHECKED);
    Link {
        name: link.name.clone(),
        ends: [0, 1].map(|i| nodes[link.ends[i].as_str()]),
        addresses: [0, 1].map(|i| addresses[i].parse().expect(CHECKED)),
        delay_ns: ns(&link.delay),
        directions: [direction(&link.forward, "forward"), direction(&link.reverse, "reverse")],
        schedules: link.schedules.iter().map(schedule).collect(),
    }
}

fn gilbert_elliott(channel: &written::GilbertElliott) -> lowered::GilbertElliott {
    let written::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } = *channel;
    lowered::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad }
}

/// `path`: the direction's, for the random stream.
fn jitter(jitter: &written::Jitter, path: &str) -> lowered::Jitter {
    lowered::Jitter {
        delay_s: Times::parse(&jitter.delay).expect(CHECKED).in_seconds(),
        keeps_order: jitter.keep_order,
        stream: streams::first_stream(&format!("{path}/jitter")),
    }
}

fn pfc(pfc: &written::Pfc) -> lowered::Pfc {
    lowered::Pfc {
        priorities: pfc.priorities.clone(),
        xoff_bytes: pfc.xoff.as_deref().map(bytes),
        alpha: pfc.alpha,
        buffer_bytes: pfc.buffer.as_deref().map(bytes),
        hysteresis_bytes: bytes(pfc.hysteresis.as_deref().expect(CHECKED)),
        headroom_bytes: bytes(pfc.headroom.as_deref().expect(CHECKED)),
        quanta: pfc.quanta,
        response_ns: ns(&pfc.response),
    }
}

/// `path`: as for [`jitter`].
fn reordering(late: &written::Reordering, path: &str) -> lowered::Reordering {
    lowered::Reordering {
        probability: late.probability,
        delay_s: Times::parse(&late.delay).expect(CHECKED).in_seconds(),
        stream: streams::first_stream(&format!("{path}/reordering")),
    }
}

pub(super) fn algorithm(
    algorithm: &written::Algorithm,
    registry: Registry,
    path: &str,
) -> Algorithm {
    let (kind, attributes) = if is_user_code(&algorithm.kind) {
        (algorithm.kind.clone(), algorithm.attributes.clone())
    } else {
        let spec = registry.find(&algorithm.kind).expect(CHECKED);
        (spec.ns3.to_owned(), base_units(spec, &algorithm.attributes))
    };
    let stream = algorithm.stream.map_or_else(|| streams::first_stream(path), streams::given);
    Algorithm { kind, attributes, stream, children: Vec::new() }
}

/// `path`: the direction's.
fn root_qdisc(spec: &written::Algorithm, device_queues: u16, path: &str) -> Arc<Algorithm> {
    let mut root = qdisc(spec, device_queues, &format!("{path}/qdisc"));
    if root.kind == FIFO && spec.stream.is_none() {
        root.stream = 0; // it draws nothing, and so the usual one need not be written
    }
    Arc::new(root)
}

/// One child stands for as many as there are classes.
fn qdisc(spec: &written::Algorithm, device_queues: u16, path: &str) -> Algorithm {
    let root = algorithm(spec, Registry::Qdisc, path);
    let discipline = qdisc::find(&spec.kind);
    let count = match discipline.map_or(Children::None, |discipline| discipline.children) {
        Children::None | Children::Optional { .. } => spec.children.len(),
        Children::TransmitQueues { .. } => device_queues.into(),
        Children::Listed { parameter, .. } => {
            let spec = &discipline.expect("it has a rule").spec;
            Attributes::new(spec, &root.attributes).numbers(parameter).len()
        }
    };
    let children = spec.children.iter().cycle().take(count).enumerate();
    let children = children.map(|(i, child)| qdisc(child, 1, &format!("{path}/children/{i}")));
    Algorithm { children: children.collect(), ..root }
}

/// The attributes of a socket, without the profile that every backend has.
pub(super) fn socket(given: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut socket = base_units(&SOCKET, given);
    socket.retain(|name, value| name != PROFILE || value != profile::DEFAULT);
    socket
}

pub(super) fn base_units(
    spec: &Spec,
    given: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let in_base_units = |(name, value): (&String, &String)| {
        let kind = names::find_param(spec, name).expect(CHECKED).kind;
        (name.clone(), attributes::in_base_units(kind, value))
    };
    given.iter().map(in_base_units).collect()
}

fn change(change: &written::Change, links: &HashMap<&str, usize>) -> Change {
    let touched = change.direction.sides();
    Change {
        time_ns: ns(&change.time),
        link: links[change.link.as_str()],
        rate_bps: touched.map(|yes| change.rate.as_deref().map(bps).filter(|_| yes)),
        delay_ns: change.delay.as_deref().map(ns),
        loss: touched.map(|yes| change.loss.filter(|_| yes)),
    }
}

fn schedule(schedule: &written::Schedule) -> Schedule {
    Schedule {
        sides: schedule.direction.sides(),
        times_ns: schedule.times_ns.clone(),
        rates_bps: schedule.rates_bps.clone(),
        delays_ns: schedule.delays_ns.clone(),
        losses: schedule.losses.clone(),
    }
}

fn flow(
    flow: &written::Flow,
    nodes: &HashMap<&str, usize>,
    links: &[Link],
    routes: &mut Paths,
    seed: u64,
) -> Flow {
    let name = flow.name.clone().expect(CHECKED);
    let added_delay_ns = flow.added_delay.as_ref().map_or(0, |added| {
        let stream = streams::first_stream(&format!("flows/{name}/added_delay"));
        added_delay::draw(added, &mut RngStream::fixed(seed, stream)).0
    });
    let route = route([&flow.source, &flow.destination], nodes, links, routes);
    let ideal_ns = match application(&flow.application, "") {
        Application::Greedy { bytes, write_bytes, .. }
            if bytes > 0 && flow.transport.takes_turns() =>
        {
            let both = [&route.path[..], &route.return_path];
            let packet = [write_bytes, transport::headers(flow)];
            Some(ideal::message_ns(bytes, packet, both, links, added_delay_ns))
        }
        Application::Greedy { bytes, .. } if bytes > 0 => {
            let socket = Attributes::new(&SOCKET, &flow.tcp);
            let both = [&route.path[..], &route.return_path];
            Some(ideal::completion_ns(bytes, &socket, both, links, added_delay_ns))
        }
        _ => None,
    };
    Flow {
        source: route.ends[0],
        destination: route.ends[1],
        source_address: route.addresses[0],
        destination_address: route.addresses[1],
        path: route.path,
        return_path: route.return_path,
        source_port: flow.source_port.expect(CHECKED),
        destination_port: flow.destination_port.expect(CHECKED),
        start_ns: ns(&flow.start),
        stop_ns: flow.stop.as_deref().map_or(0, ns),
        receiver_stop_ns: flow.receiver_stop.as_deref().map_or(0, ns),
        is_heard: flow.receiver_stop.as_deref().is_none_or(|text| ns(text) > 0),
        application: application(&flow.application, &format!("flows/{name}/application")),
        congestion_control: flow
            .cc
            .as_ref()
            .map(|cc| algorithm(cc, transport::controls(flow), &format!("flows/{name}/cc"))),
        transport: flow.transport,
        recovery: flow.recovery.clone(),
        tos: flow.tos,
        return_tos: flow.return_tos,
        group: flow.group.clone().unwrap_or_default(),
        ideal_ns,
        dscp: flow.dscp,
        return_dscp: flow.return_dscp,
        added_delay_ns,
        pias: flow.pias.iter().map(|text| small_bytes(text)).collect(),
        socket: socket(&flow.tcp),
        name,
    }
}

fn ping(
    ping: &written::Ping,
    nodes: &HashMap<&str, usize>,
    links: &[Link],
    routes: &mut Paths,
) -> Ping {
    let route = route([&ping.source, &ping.destination], nodes, links, routes);
    Ping {
        name: ping.name.clone().expect(CHECKED),
        source: route.ends[0],
        destination: route.ends[1],
        source_address: route.addresses[0],
        destination_address: route.addresses[1],
        path: route.path,
        return_path: route.return_path,
        start_ns: ns(&ping.start),
        stop_ns: ping.stop.as_deref().map_or(0, ns),
        interval_ns: ns(&ping.interval),
        size_bytes: small_bytes(&ping.size),
    }
}

/// From one node to another and back.
pub(super) struct Route {
    pub ends: [usize; 2],
    pub addresses: [Ipv4Addr; 2],
    pub path: Vec<[usize; 2]>,
    pub return_path: Vec<[usize; 2]>,
}

fn route(
    names: [&str; 2],
    nodes: &HashMap<&str, usize>,
    links: &[Link],
    routes: &mut Paths,
) -> Route {
    route_between(names.map(|name| nodes[name]), links, routes)
}

pub(super) fn route_between(ends: [usize; 2], links: &[Link], routes: &mut Paths) -> Route {
    let path = routes.between(ends[0], ends[1]).expect(CHECKED);
    let return_path = routes.between(ends[1], ends[0]).expect(CHECKED);
    // A packet has the addresses of the interfaces on its forward path.
    let [first, last] = [path[0], path[path.len() - 1]];
    let addresses = [links[first[0]].addresses[first[1]], links[last[0]].addresses[1 - last[1]]];
    Route { ends, addresses, path, return_path }
}

fn application(application: &written::Application, path: &str) -> Application {
    let stream = match application {
        written::Application::OnOff { stream: Some(number), .. } => streams::given(*number),
        _ => streams::first_stream(path),
    };
    let on_off = |total: &str, rate: &str, write: &str, on: Times, off: Times| {
        Application::OnOff(OnOff {
            bytes: bytes(total),
            write_bytes: small_bytes(write),
            rate_bps: bps(rate),
            on_s: on.in_seconds(),
            off_s: off.in_seconds(),
            stream,
        })
    };
    let times = |text: &str| Times::parse(text).expect(CHECKED);
    match application {
        &written::Application::Greedy { bytes: ref total, ref write, eager } => {
            Application::Greedy { bytes: bytes(total), write_bytes: small_bytes(write), eager }
        }
        written::Application::Cbr { bytes: total, rate, write } => {
            on_off(total, rate, write, Times::Constant(ALWAYS), Times::Constant(Time::ZERO))
        }
        written::Application::OnOff { bytes: total, rate, write, on_time, off_time, .. } => {
            on_off(total, rate, write, times(on_time), times(off_time))
        }
        written::Application::Poisson { bytes: total, rate, write } => {
            Application::Poisson(Poisson {
                bytes: bytes(total),
                write_bytes: small_bytes(write),
                rate_bps: bps(rate),
                stream,
            })
        }
    }
}
