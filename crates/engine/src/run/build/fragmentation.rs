//! Whether some packets do not fit all links, and what they are then.

use ccperf_schema::lowered::{Application, Flow, Lowered, Transport};

use crate::base::attributes::Attributes;
use crate::host::tcp::socket_params::{SOCKET, headers_of_data};
use crate::net::network::Fragmentation;
use crate::net::routing::balance::STATIC;
use crate::packet::{FlowKey, IP_HEADER, UDP_HEADER};

/// The flows that are numbered once more, for what belongs to them and has no ports: all, if a packet of one does
/// not fit some link.  Transfers and pings fit: `ccperf_scenario::check` sees to it.
pub fn portless(scenario: &Lowered) -> &[Flow] {
    let directions = scenario.links.iter().flat_map(|link| &link.directions);
    let least = directions.map(|direction| direction.mtu_bytes).min().unwrap_or(u32::MAX);
    let is_one_way = scenario.routing.kind == STATIC.ns3;
    let is_cut = is_one_way && scenario.flows.iter().any(|flow| largest_packet(flow) > least);
    if is_cut { &scenario.flows } else { &[] }
}

/// In bytes, with IP's header.
fn largest_packet(flow: &Flow) -> u32 {
    match flow.transport {
        Transport::Tcp => {
            let socket = Attributes::new(&SOCKET, &flow.socket);
            socket.u32("SegmentSize").saturating_add(headers_of_data(&socket))
        }
        Transport::Udp | Transport::Roce | Transport::Trimming => match &flow.application {
            Application::OnOff(source) => source.write_bytes,
            Application::Poisson(source) => source.write_bytes,
            Application::Greedy { write_bytes, .. } => *write_bytes,
        }
        .saturating_add(IP_HEADER + UDP_HEADER),
    }
}

/// None if all packets fit.  `keys`: of everything that has a number.
pub fn build(scenario: &Lowered, keys: &[[FlowKey; 2]]) -> Option<Fragmentation> {
    let flows = portless(scenario).len();
    let directions = scenario.links.iter().flat_map(|link| &link.directions);
    let mtus = directions.map(|direction| direction.mtu_bytes).collect();
    let destinations = scenario.nodes.len();
    (flows > 0).then(|| Fragmentation::new(mtus, keys, flows, destinations))
}
