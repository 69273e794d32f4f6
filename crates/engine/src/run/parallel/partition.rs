//! Which part of a network each node is in.

use std::collections::BTreeMap;

use ccperf_schema::lowered::{Algorithm, Lowered, Transport, Workload};

use crate::base::event::journal::LONGEST;
use crate::base::time::{Rate, Time};
use crate::host::user::is_user_code;
use crate::net::network::LONGEST_CROSSING;
use crate::net::qdisc::SHARED_BUFFER;
use crate::packet::{IP_HEADER, PPP_HEADER, UDP_HEADER};

/// No packet is smaller, in bytes on the wire.
const SMALLEST: u32 = PPP_HEADER + IP_HEADER + UDP_HEADER;

/// A network in parts: nodes for what hosts do, and ports for what waits in front of links.
#[derive(Debug)]
pub struct Partition {
    pub parts: usize,
    /// By node.
    pub part_of: Vec<usize>,
    /// By port.  Those of a switch between parts are where their links lead, so that a packet changes sides once at most.
    pub part_of_port: Vec<usize>,
    /// By port, whether a packet may be in another part at the far end.
    pub leaves: Vec<bool>,
    /// Nothing gets from one part to another in less time.
    pub window: Time,
}

impl Partition {
    /// At most `parts` of them, with racks as they are.
    ///
    /// # Errors
    /// Why there is only one: the end of a sentence that begins with "this run".
    pub fn new(scenario: &Lowered, parts: usize) -> Result<Self, &'static str> {
        permit(scenario)?;
        let neighbours = neighbours(scenario);
        let racks = racks(scenario, &neighbours);
        let parts = parts.min(racks.len());
        if parts < 2 {
            return Err("has one rack only");
        }
        let mut part_of = vec![None; scenario.nodes.len()];
        for (i, (&switch, hosts)) in racks.iter().enumerate() {
            let part = i * parts / racks.len();
            part_of[switch] = Some(part);
            hosts.iter().for_each(|&host| part_of[host] = Some(part));
        }
        let mut is_between = spread(&mut part_of, parts, &neighbours);
        let part_of: Vec<_> = part_of.into_iter().map(|part| part.unwrap_or(0)).collect();
        for (port, [node, _]) in ports(scenario) {
            let qdisc = scenario.links[port / 2].directions[port % 2].qdisc.as_deref();
            is_between[node] &= !qdisc.is_some_and(shares_buffer);
        }
        let part_of_port: Vec<_> = ports(scenario)
            .map(|(_, [from, to])| part_of[if is_between[from] { to } else { from }])
            .collect();
        let mut onward = vec![Vec::new(); scenario.nodes.len()];
        ports(scenario).for_each(|(port, [from, _])| onward[from].push(part_of_port[port]));
        let leaves: Vec<_> = ports(scenario)
            .map(|(port, [_, to])| {
                onward[to].iter().chain([&part_of[to]]).any(|&part| part != part_of_port[port])
            })
            .collect();
        let window = ports(scenario).filter(|&(port, _)| leaves[port]).map(|(port, _)| {
            let link = &scenario.links[port / 2];
            let rate = Rate(link.directions[port % 2].rate_bps);
            Time(link.delay_ns) + rate.tx_time(SMALLEST)
        });
        let window = window.min().unwrap_or(Time::MAX).min(LONGEST);
        let is_slow = |(port, _): (usize, _)| {
            let link = &scenario.links[port / 2];
            let direction = &link.directions[port % 2];
            let longest = Rate(direction.rate_bps).tx_time(PPP_HEADER + direction.mtu_bytes);
            leaves[port] && Time(link.delay_ns) + longest > LONGEST_CROSSING
        };
        if ports(scenario).any(is_slow) {
            return Err("has links between racks that take seconds");
        }
        if window.is_zero() {
            return Err("has links without delay between racks");
        }
        Ok(Partition { parts, part_of, part_of_port, leaves, window })
    }
}

/// All of them, each with the node that it is at and the one that it leads to.
fn ports(scenario: &Lowered) -> impl Iterator<Item = (usize, [usize; 2])> {
    scenario.links.iter().flat_map(|link| [link.ends, [link.ends[1], link.ends[0]]]).enumerate()
}

/// With other ports of its switch.
fn shares_buffer(algorithm: &Algorithm) -> bool {
    algorithm.kind == SHARED_BUFFER || algorithm.children.iter().any(shares_buffer)
}

/// What all parts would have to agree on at once is refused.
fn permit(scenario: &Lowered) -> Result<(), &'static str> {
    let recording = &scenario.recording;
    let algorithms = scenario.stacks.iter().map(|stack| &stack.congestion_control);
    let algorithms =
        algorithms.chain(scenario.flows.iter().filter_map(|f| f.congestion_control.as_ref()));
    let of_ports = scenario.links.iter().flat_map(|link| &link.directions);
    let disciplines = of_ports.filter_map(|direction| direction.qdisc.as_ref());
    let disciplines = disciplines.map(|discipline| &**discipline);
    let is_own = algorithms.chain(disciplines).chain([&scenario.routing]).any(has_user_code);
    let is_related =
        |workload: &Workload| !workload.wait_ns.is_empty() || workload.connections.is_some();
    let links = || scenario.links.iter();
    let directions = || links().flat_map(|link| &link.directions);
    let is_uneven = directions().any(|d| d.jitter.is_some() || d.reordering.is_some());
    let transports = scenario.flows.iter().map(|flow| flow.transport);
    let mut transports = transports.chain(scenario.stacks.iter().map(|stack| stack.transport));
    let is_tcp = transports.all(|transport| transport == Transport::Tcp);
    for (refused, why) in [
        (is_own, "has an algorithm of a user's"),
        (!scenario.pings.is_empty(), "has pings"),
        (!is_tcp, "has flows that are not TCP"),
        (scenario.workloads.iter().any(is_related), "has transfers that wait for others"),
        (!scenario.failures.is_empty() || !scenario.faults.is_empty(), "has failures"),
        (!scenario.changes.is_empty(), "has links that change"),
        (links().any(|link| !link.schedules.is_empty()), "has links that change"),
        (is_uneven, "has links with jitter"),
        (!recording.flows.is_empty(), "samples flows"),
        (!recording.changes.is_empty(), "records each change of a sender"),
        (recording.deliveries || recording.flow_monitor, "records what comes to hosts"),
        (recording.balancing || !recording.paths.is_empty(), "records paths"),
    ] {
        if refused {
            return Err(why);
        }
    }
    Ok(())
}

fn has_user_code(algorithm: &Algorithm) -> bool {
    is_user_code(&algorithm.kind) || algorithm.children.iter().any(has_user_code)
}

/// By node, the nodes at the other ends of its links.
fn neighbours(scenario: &Lowered) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); scenario.nodes.len()];
    for [a, b] in scenario.links.iter().map(|link| link.ends) {
        all[a].push(b);
        all[b].push(a);
    }
    all
}

/// The switches that ends of flows are at, each with these.
fn racks(scenario: &Lowered, neighbours: &[Vec<usize>]) -> BTreeMap<usize, Vec<usize>> {
    let mut racks: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let flows = scenario.flows.iter().map(|flow| [flow.source, flow.destination]);
    let pairs = scenario.pairs.iter().map(|pair| [pair.source, pair.destination]);
    let mut ends: Vec<_> = flows.chain(pairs).flatten().collect();
    ends.sort_unstable();
    ends.dedup();
    for end in ends {
        let rack = if let [only] = neighbours[end][..] { only } else { end };
        racks.entry(rack).or_default().push(end);
    }
    racks
}

/// Every other node goes where most of its neighbours are; where several parts have as many, to the one with the fewest such
/// nodes.  Returns for each node whether it is between parts so.
fn spread(part_of: &mut [Option<usize>], parts: usize, neighbours: &[Vec<usize>]) -> Vec<bool> {
    let (mut given, mut is_between) = (vec![0; parts], vec![false; part_of.len()]);
    loop {
        let is_next = |&node: &usize| {
            let is_near = neighbours[node].iter().any(|&other| part_of[other].is_some());
            part_of[node].is_none() && is_near
        };
        let ring: Vec<_> = (0..part_of.len()).filter(is_next).collect();
        if ring.is_empty() {
            return is_between;
        }
        let before = part_of.to_vec();
        for node in ring {
            let links = |part: usize| {
                neighbours[node].iter().filter(|&&other| before[other] == Some(part)).count()
            };
            let best = (0..parts).min_by_key(|&part| (usize::MAX - links(part), given[part], part));
            let part = best.unwrap_or(0);
            given[part] += 1;
            part_of[node] = Some(part);
            is_between[node] = (0..parts).filter(|&part| links(part) > 0).count() > 1;
        }
    }
}
