//! Workloads as columns: what is alike in all transfers of a workload, or between the same two nodes, is
//! told once.

use std::collections::{HashMap, HashSet};

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::host::tcp::socket_params::SOCKET;
use ccperf_engine::net::routing::Paths;
use ccperf_engine::packet::TRIMMING_HEADERS;
use ccperf_schema::lowered::{Link, Lowered, Pair, Stack, Transport, Workload};
use ccperf_schema::written::{Arrivals, Scenario};

use super::{ALL, Transfer, plan};
use crate::check::{FIRST_DESTINATION_PORT, FIRST_SOURCE_PORT};
use crate::lower;
use crate::{ideal, names::Registry};

/// Adds the scenario's workloads, the stacks that they name, and the pairs of nodes between which there are
/// transfers.
pub fn lower(s: &Scenario, lowered: &mut Lowered) {
    if s.workloads.is_empty() {
        return;
    }
    let links = &lowered.links[..];
    let nodes = &lower::index(s.nodes.iter().map(String::as_str));
    let ends: Vec<_> = links.iter().map(|link| link.ends).collect();
    let routes = &mut Paths::new(s.nodes.len(), &ends);
    let mut pairs = Pairs::new(s, nodes);
    let mut workloads = Vec::new();
    for workload in &s.workloads {
        let plan = plan(workload, s, nodes);
        let transfers = plan.transfers(ALL);
        let stack = s.stacks.iter().position(|stack| stack.name == workload.stack);
        let stack = stack.expect(lower::CHECKED);
        let socket = Attributes::new(&SOCKET, &s.stacks[stack].tcp);
        let offered = plan.offered(&transfers);
        let added = workload.added_delay.as_ref();
        let added_delay_ns =
            added.map_or_else(Vec::new, |added| plan.added_delays(added, transfers.len()));
        let mut columns = Workload {
            name: workload.name.clone(),
            stack,
            write_bytes: lower::small_bytes(&workload.write),
            gap_ns: workload.gap.as_ref().map(|gap| lower::ns(gap)),
            load: offered.load,
            realised_load: offered.realised_load,
            mean_bytes: offered.mean_bytes,
            pair: Vec::with_capacity(transfers.len()),
            source_port: Vec::with_capacity(transfers.len()),
            destination_port: Vec::with_capacity(transfers.len()),
            start_ns: transfers.iter().map(|transfer| transfer.start.0).collect(),
            bytes: transfers.iter().map(|transfer| transfer.bytes).collect(),
            ideal_ns: Vec::with_capacity(transfers.len()),
            added_delay_ns,
            after: plan.waits().map(|waiting| waiting.after.clone()).collect(),
            wait_ns: match plan.answers_after() {
                Some(delay) => vec![delay.0; transfers.len()],
                None => plan.waits().map(|waiting| waiting.delay.0).collect(),
            },
            answers: match &workload.arrivals {
                Arrivals::Answers { to, .. } => s.workloads.iter().position(|w| w.name == *to),
                _ => None,
            },
            connections: workload.connections,
        };
        for (i, transfer) in transfers.iter().enumerate() {
            let (pair, [source_port, destination_port]) = pairs.next(transfer, links, routes);
            let both = [&pairs.all[pair].path[..], &pairs.all[pair].return_path[..]];
            columns.pair.push(pair as u32);
            columns.source_port.push(source_port);
            columns.destination_port.push(destination_port);
            let added = columns.added_delay_ns.get(i).copied().unwrap_or(0);
            let ideal = match s.stacks[stack].transport {
                Transport::Trimming => {
                    let packet = [columns.write_bytes, TRIMMING_HEADERS];
                    ideal::message_ns(transfer.bytes, packet, both, links, added)
                }
                _ => ideal::completion_ns(transfer.bytes, &socket, both, links, added),
            };
            columns.ideal_ns.push(ideal);
        }
        workloads.push(columns);
    }
    let stacks = s.stacks.iter().map(|stack| Stack {
        name: stack.name.clone(),
        transport: stack.transport,
        congestion_control: lower::algorithm(
            &stack.cc,
            match stack.transport {
                Transport::Trimming => Registry::Trimming,
                _ => Registry::CongestionControl,
            },
            &format!("stacks/{}/cc", stack.name),
        ),
        recovery: stack.recovery.clone(),
        tos: stack.tos,
        return_tos: stack.return_tos,
        dscp: stack.dscp,
        return_dscp: stack.return_dscp,
        pias: stack.pias.iter().map(|text| lower::small_bytes(text)).collect(),
        socket: lower::socket(&stack.tcp),
    });
    lowered.recording = lower::recorded(s, &workloads);
    (lowered.stacks, lowered.pairs, lowered.workloads) = (stacks.collect(), pairs.all, workloads);
}

/// Pairs of nodes as they are needed, and the ports of the next connection between each.
struct Pairs {
    all: Vec<Pair>,
    /// By source and destination: the position, and how many connections there have been.
    known: HashMap<[usize; 2], (usize, usize)>,
    /// Source, destination and their ports of the flows that are written one by one.
    taken: HashSet<([usize; 2], [u16; 2])>,
}

impl Pairs {
    fn new(s: &Scenario, nodes: &HashMap<&str, usize>) -> Self {
        let taken = s.flows.iter().map(|flow| {
            let ends = [&flow.source, &flow.destination].map(|name| nodes[name.as_str()]);
            (
                ends,
                [flow.source_port, flow.destination_port].map(|port| port.expect(lower::CHECKED)),
            )
        });
        Pairs { all: Vec::new(), known: HashMap::new(), taken: taken.collect() }
    }

    fn next(
        &mut self,
        transfer: &Transfer,
        links: &[Link],
        routes: &mut Paths,
    ) -> (usize, [u16; 2]) {
        let nodes = [transfer.source, transfer.destination];
        let all = &mut self.all;
        let (pair, count) = self.known.entry(nodes).or_insert_with(|| {
            let route = lower::route_between(nodes, links, routes);
            let [source_address, destination_address] = route.addresses;
            all.push(Pair {
                source: nodes[0],
                destination: nodes[1],
                source_address,
                destination_address,
                path: route.path,
                return_path: route.return_path,
            });
            (all.len() - 1, 0)
        });
        loop {
            let ports = ports(*count);
            *count += 1;
            if !self.taken.contains(&(nodes, ports)) {
                return (*pair, ports);
            }
        }
    }
}

/// Of connection number `n` between two nodes: source ports first, and all of them for every destination
/// port.
fn ports(n: usize) -> [u16; 2] {
    let count = usize::from(u16::MAX - FIRST_SOURCE_PORT) + 1;
    let destination = usize::from(FIRST_DESTINATION_PORT) + n / count;
    [FIRST_SOURCE_PORT + (n % count) as u16, destination as u16]
}
