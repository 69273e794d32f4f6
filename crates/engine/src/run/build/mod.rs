//! From a lowered scenario to the parts of a simulation, before time starts.

mod capture;
mod connection;
mod datagrams;
mod faults;
mod flow_keys;
mod forwarding;
mod fragmentation;
mod numbers;
mod path;
mod pauses;
mod port;
mod probes;
mod roce;
mod startup;
mod transfers;
mod trimming;
mod unreachable;

use std::collections::HashMap;
use std::io::Write;

use crate::base::attributes::Spec;
use crate::base::error::Error;
use crate::base::event::{FlowEvent, PortEvent, Token};
use crate::base::limits::{MAX_ENDPOINTS, MAX_FLOWS, MAX_LINKS};
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::host::hosts::{Address, AnyEndpoint, Hosts, Parts, Ping};
use crate::host::outside::Stack;
use crate::host::user::UserCode;
use crate::net::network::{Loss, Network, Wire};
use crate::net::qdisc::Pool;
use crate::packet::trace::PacketTrace;
use ccperf_schema::lowered::{Algorithm, Lowered, Transport, Workload};

pub use capture::capture;
pub use startup::{Startup, startups};

const _: () = assert!(MAX_ENDPOINTS <= Token::PLACES && MAX_FLOWS <= FlowEvent::THINGS);
const _: () = assert!(2 * MAX_LINKS <= PortEvent::THINGS);

/// Refuses what would be read wrongly.
///
/// # Errors
/// Things that are too many, numbers that do not fit, or a link that cannot fail.
pub fn check(scenario: &Lowered) -> Result<(), Error> {
    numbers::check(scenario)?;
    if scenario.failures.is_empty() {
        return Ok(());
    }
    let pausable = pauses::pausable(scenario);
    let is_plain = |&link: &usize| {
        let mut directions = scenario.links[link].directions.iter();
        directions.all(|d| d.device_queues == 1 && d.queue_limits_hold_ns.is_none())
            && !pausable[2 * link]
            && !pausable[2 * link + 1]
    };
    if !scenario.failures.iter().flat_map(|failure| &failure.down).all(is_plain) {
        return Err(Error::Scenario("a link that fails has one plain device queue".to_owned()));
    }
    Ok(())
}

/// What a packet trace shows of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    Usual,
    /// All that a receiver could see, besides.
    Headers,
}

/// A packet trace into `out`, with the names of the scenario's links, flows and pings.
///
/// # Errors
/// Something in the scenario that is not an address.
pub fn packet_trace(
    scenario: &Lowered,
    out: Box<dyn Write + Send>,
    columns: Columns,
) -> Result<PacketTrace, Error> {
    let ports = (0..2 * scenario.links.len()).map(|port| scenario.port_name(port)).collect();
    let flows = scenario.flows.iter().map(|flow| flow.name.clone());
    let pings = scenario.pings.iter().map(|ping| ping.name.clone());
    let flows = flows.chain(scenario.workloads.iter().flat_map(Workload::names)).chain(pings);
    let node = |node: usize| &scenario.nodes[node];
    let probes = probes::pairs(scenario)?.into_iter();
    let probes = probes.map(|[a, b]| format!("probe_{}_{}", node(a), node(b)));
    let portless = fragmentation::portless(scenario).iter().map(|flow| flow.name.clone());
    let flows = flows.chain(probes).chain(portless).collect();
    Ok(match columns {
        Columns::Usual => PacketTrace::new(out, ports, flows),
        Columns::Headers => {
            PacketTrace::with_headers(out, ports, flows, flow_keys::of_all(scenario)?)
        }
    })
}

/// Links, devices and routes.
///
/// # Errors
/// What the scenario names and this engine does not have.
pub fn network(
    scenario: &Lowered,
    trace: Option<PacketTrace>,
    user: &dyn UserCode,
) -> Result<Network, Error> {
    let count = 2 * scenario.links.len();
    let (mut ports, mut losses) = (Vec::with_capacity(count), Vec::with_capacity(count));
    // Directions that name the same stream draw from it in turn.
    let (mut loss_streams, mut known) = (Vec::new(), HashMap::with_capacity(count));
    // The ports of a switch share its buffer.
    let pools: Vec<_> = scenario.nodes.iter().map(|_| Pool::default()).collect();
    let pausable = pauses::pausable(scenario);
    for link in &scenario.links {
        for (direction, &node) in link.directions.iter().zip(&link.ends) {
            let number = direction.loss_stream;
            let loss_stream = *known.entry(number).or_insert_with(|| {
                loss_streams.push(RngStream::fixed(scenario.seed, number));
                loss_streams.len() - 1
            });
            let delay = Time(link.delay_ns);
            let number = ports.len() as u32;
            let of = port::Surroundings { seed: scenario.seed, user, pool: &pools[node] };
            let can_pause = pausable[number as usize];
            ports.push(port::build(direction, number, delay, can_pause, of)?);
            let bursts = direction.gilbert_elliott.as_deref().cloned();
            losses.push(Loss::new(direction.loss, bursts, loss_stream, direction.drops.clone()));
        }
    }
    let keys = flow_keys::of_all(scenario)?;
    let forwarding = forwarding::build(scenario, &keys.keys, user)?;
    // Forward leads to the second end.
    let far_ends = scenario.links.iter().flat_map(|link| [link.ends[1], link.ends[0]]);
    let places = far_ends.map(|node| forwarding.place(node));
    let mut wires: Vec<_> =
        losses.into_iter().zip(places).map(|(loss, leads_to)| Wire { loss, leads_to }).collect();
    faults::add(scenario, &mut wires, &mut loss_streams)?;
    let fragmentation = fragmentation::build(scenario, &keys.keys);
    let mut network = Network::new(ports, wires, loss_streams, forwarding, keys, trace);
    if let Some(fragmentation) = fragmentation {
        network.cut_packets(fragmentation);
    }
    if let Some(rules) = pauses::rules(scenario) {
        network.hold_back(rules, scenario.nodes.len());
    }
    if let Some(exits) = unreachable::exits(scenario, network.is_steered()) {
        network.report_unreachable(exits);
    }
    for (flow, [link, direction], delay) in added_delays(scenario) {
        network.add_delay(flow, (2 * link + direction) as u32, delay);
    }
    if scenario.recording.flow_monitor {
        let flows = scenario.flows.iter().enumerate();
        let datagrams = flows.filter(|(_, flow)| flow.transport == Transport::Udp).map(|(i, _)| i);
        network.monitor_flows(scenario.flow_count(), datagrams);
    }
    if scenario.recording.deliveries {
        network.note_deliveries(scenario.flow_count());
    }
    if scenario.recording.balancing || !scenario.recording.paths.is_empty() {
        network.follow_paths(scenario.flow_count(), &scenario.recording.paths);
    }
    Ok(network)
}

/// Flows whose paths are longer than their links, where they begin, and by how much.
fn added_delays(scenario: &Lowered) -> impl Iterator<Item = (u32, [usize; 2], Time)> {
    let flows = scenario.flows.iter().map(|flow| (flow.path[0], flow.added_delay_ns));
    let transfers = scenario.workloads.iter().flat_map(|workload| {
        let added = workload.added_delay_ns.iter().copied().chain(std::iter::repeat(0));
        let first = |&pair: &u32| scenario.pairs[pair as usize].path[0];
        workload.pair.iter().map(first).zip(added)
    });
    let all = (0..).zip(flows.chain(transfers));
    all.filter(|(_, (_, ns))| *ns > 0).map(|(flow, (first, ns))| (flow, first, Time(ns)))
}

/// Both ends of every flow and ping, and what makes those of transfers.
///
/// # Errors
/// What the scenario names and this engine does not have.
pub fn hosts(
    scenario: &Lowered,
    user: Box<dyn UserCode>,
    mut stack: Option<&mut dyn Stack>,
) -> Result<Hosts, Error> {
    let mut endpoints = Parts::default();
    for (number, flow) in (0..).zip(&scenario.flows) {
        let address = Address::new(number, number);
        endpoints.push(match flow.transport {
            Transport::Tcp if let Some(stack) = &mut stack => {
                AnyEndpoint::Other(stack.connect(flow, address)?)
            }
            Transport::Tcp => connection::build(flow, address, scenario.seed, &*user)?,
            Transport::Udp => AnyEndpoint::new(datagrams::build(flow, address, scenario.seed)?),
            Transport::Roce => AnyEndpoint::new(roce::build(flow, address, scenario)?),
            Transport::Trimming => AnyEndpoint::new(trimming::build(flow, address, scenario)?),
        });
    }
    for (number, ping) in (scenario.flow_count() as u32..).zip(&scenario.pings) {
        let address = Address::new(number, endpoints.len() as u32);
        endpoints.push(AnyEndpoint::new(Ping::new(ping, address)));
    }
    let transfers = scenario.flows.len()..scenario.flow_count();
    Ok(Hosts::new(endpoints, transfers, transfers::build(scenario, user)?))
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
