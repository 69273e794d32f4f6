//! What balancers did to flows: the tables of the path monitor, what probing took, and which paths hosts found to have failed.

use ccperf_schema::lowered::Lowered;

use crate::net::network::Network;
use crate::net::routing::balance::failures::Between;
use crate::packet::path_monitor::PathMonitor;
use crate::run::recording::Table;
use crate::run::recording::tables::{FailedPaths, Paths, Probing, Reordering, Ways};

pub fn tables(scenario: &Lowered, network: &Network) -> Vec<Table> {
    let Some(monitor) = network.paths() else { return Vec::new() };
    let mut tables = Vec::new();
    if scenario.recording.balancing {
        tables.push(reordering(monitor));
        if let Some([packets, bytes]) = network.probing() {
            let mut t = Probing::default();
            t.packets.push(packets as i64);
            t.bytes.push(bytes as i64);
            t.host_bytes.push(network.host_bytes() as i64);
            tables.push(t.into_table());
        }
        if !network.failed_paths().is_empty() {
            tables.push(failed_paths(scenario, network));
        }
    }
    if !scenario.recording.paths.is_empty() {
        tables.extend(paths(scenario, monitor));
    }
    tables
}

fn reordering(monitor: &PathMonitor) -> Table {
    let mut t = Reordering::default();
    for (flow, order) in monitor.orders() {
        t.flow.push(i64::from(flow));
        t.packets.push(order.packets as i64);
        t.reordered.push(order.reordered as i64);
        t.extent_sum.push(order.extent_sum as i64);
        t.max_extent.push(order.max_extent as i64);
        t.path_switches.push(order.switches as i64);
    }
    t.into_table()
}

fn failed_paths(scenario: &Lowered, network: &Network) -> Table {
    let mut t = FailedPaths::default();
    for failed in network.failed_paths() {
        let (reason, ends) = match failed.between {
            Between::Leaves(leaves) => ("random_drops", leaves),
            Between::Hosts(hosts) => ("black_hole", hosts),
        };
        let [source, destination] = ends.map(|node| scenario.nodes[node as usize].clone());
        t.time_ns.push(failed.at.ns());
        t.until_ns.push(failed.until.ns());
        t.source.push(source);
        t.destination.push(destination);
        t.path.push(i64::from(failed.path));
        t.reason.push(reason.to_owned());
    }
    t.into_table()
}

/// Ways are numbered as they are taken first.
fn paths(scenario: &Lowered, monitor: &PathMonitor) -> [Table; 2] {
    let (mut ways, mut paths) = (Ways::default(), Paths::default());
    let mut known = std::collections::HashMap::new();
    for switch in monitor.switches() {
        let new = known.len() as i64;
        let way = *known.entry(switch.path).or_insert_with(|| {
            let name = |port: u32| scenario.port_name(port as usize);
            let ports = monitor.ports(switch.path);
            ways.links.push(ports.into_iter().map(name).collect::<Vec<_>>().join(" "));
            new
        });
        paths.time_ns.push(switch.sent.ns());
        paths.flow.push(i64::from(switch.flow));
        paths.way.push(way);
    }
    [ways.into_table(), paths.into_table()]
}
