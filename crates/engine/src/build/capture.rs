//! The conversations that a capture shows, and the devices that it is made on.

use std::io::{self, Write};
use std::net::Ipv4Addr;

use super::flow_keys;
use crate::capture::{Address, Capture, Conversation, PROTOCOL_ICMP, PROTOCOL_TCP};
use crate::lowered::Lowered;
use crate::trace::PacketTrace;

/// A capture into `out` of what the sources of the scenario's flows and pings send and receive.
///
/// # Errors
/// `out` cannot be written to.
pub fn capture(scenario: &Lowered, mut out: Box<dyn Write + Send>) -> io::Result<PacketTrace> {
    let flows = scenario.flows.iter().map(|flow| Conversation {
        ends: [
            address(&flow.source_address, flow.source_port),
            address(&flow.destination_address, flow.destination_port),
        ],
        protocol: flow_keys::protocol(flow),
        services: [flow.tos, flow.return_tos],
        out: port(flow.path.first()),
        back: port(flow.return_path.last()),
        interface: 0,
    });
    let transfers = scenario.workloads.iter().flat_map(|workload| {
        let ports = workload.source_port.iter().zip(&workload.destination_port);
        let stack = &scenario.stacks[workload.stack];
        workload.pair.iter().zip(ports).map(|(&pair, (&source, &destination))| {
            let pair = &scenario.pairs[pair as usize];
            Conversation {
                ends: [
                    address(&pair.source_address, source),
                    address(&pair.destination_address, destination),
                ],
                protocol: PROTOCOL_TCP,
                services: [stack.tos, stack.return_tos],
                out: port(pair.path.first()),
                back: port(pair.return_path.last()),
                interface: 0,
            }
        })
    });
    let pings = scenario.pings.iter().map(|ping| Conversation {
        ends: [address(&ping.source_address, 0), address(&ping.destination_address, 0)],
        protocol: PROTOCOL_ICMP,
        services: [0, 0],
        out: port(ping.path.first()),
        back: port(ping.return_path.last()),
        interface: 0,
    });
    let mut conversations: Vec<Conversation> = flows.chain(transfers).chain(pings).collect();
    let mut devices: Vec<u32> = Vec::new();
    for conversation in &mut conversations {
        let known = devices.iter().position(|&device| device == conversation.out);
        conversation.interface = known.unwrap_or_else(|| {
            devices.push(conversation.out);
            devices.len() - 1
        }) as u32;
    }
    let names: Vec<String> = devices
        .iter()
        .map(|&port| scenario.links[port as usize / 2].directions[port as usize % 2].name.clone())
        .collect();
    let capture = Capture::new(&mut *out, &names, conversations)?;
    Ok(PacketTrace::capture(out, capture))
}

/// Addresses of a lowered scenario have been checked.
fn address(text: &str, port: u16) -> Address {
    (text.parse().map_or(0, |address: Ipv4Addr| address.into()), port)
}

fn port(hop: Option<&[usize; 2]>) -> u32 {
    hop.map_or(u32::MAX, |&[link, direction]| (2 * link + direction) as u32)
}
