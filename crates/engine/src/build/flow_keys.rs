//! What queue disciplines and devices classify packets by.

use std::net::Ipv4Addr;

use crate::error::Error;
use crate::lowered::{Flow, Ping};
use crate::packet::priority;
use crate::qdisc::FlowKey;

/// IP protocol numbers, part of what flow queueing hashes.
const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_TCP: u8 = 6;

pub fn of_flow(flow: &Flow) -> Result<[FlowKey; 2], Error> {
    let addresses = [&*flow.source_address, &*flow.destination_address];
    let (ports, services) =
        ([flow.source_port, flow.destination_port], [flow.tos, flow.return_tos]);
    keys(addresses, ports, PROTOCOL_TCP, services)
}

pub fn of_ping(ping: &Ping) -> Result<[FlowKey; 2], Error> {
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
        let parsed = text.parse::<Ipv4Addr>();
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
