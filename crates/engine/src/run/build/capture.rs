//! The conversations that a capture shows, and the devices that it is made on.

use std::io::Write;

use ccperf_schema::lowered::Lowered;

use super::{flow_keys, fragmentation};
use crate::base::error::Error;
use crate::packet::capture::{Capture, Conversation};
use crate::packet::trace::PacketTrace;

/// A capture into `out` of what the sources of the scenario's flows and pings send and receive.
///
/// # Errors
/// `out` cannot be written to, or something in the scenario is not an address.
pub fn capture(scenario: &Lowered, mut out: Box<dyn Write + Send>) -> Result<PacketTrace, Error> {
    let flows = scenario.flows.iter().map(|flow| (&flow.path, &flow.return_path));
    let pairs = scenario.workloads.iter().flat_map(|workload| &workload.pair);
    let transfers = pairs.map(|&pair| &scenario.pairs[pair as usize]);
    let transfers = transfers.map(|pair| (&pair.path, &pair.return_path));
    let pings = scenario.pings.iter().map(|ping| (&ping.path, &ping.return_path));
    // Where packets are cut nobody probes.
    let portless = fragmentation::portless(scenario).iter();
    let portless = portless.map(|flow| (&flow.path, &flow.return_path));
    let ways = flows.chain(transfers).chain(pings).chain(portless);
    let mut conversations: Vec<Conversation> = ways
        .map(|(path, return_path)| Conversation {
            out: port(path.first()),
            back: port(return_path.last()),
            interface: 0,
        })
        .collect();
    let mut devices: Vec<u32> = Vec::new();
    for conversation in &mut conversations {
        let known = devices.iter().position(|&device| device == conversation.out);
        conversation.interface = known.unwrap_or_else(|| {
            devices.push(conversation.out);
            devices.len() - 1
        }) as u32;
    }
    let names: Vec<String> =
        devices.iter().map(|&port| scenario.port_name(port as usize)).collect();
    let capture = Capture::new(&mut *out, &names, conversations, flow_keys::of_all(scenario)?)?;
    Ok(PacketTrace::capture(out, capture))
}

fn port(hop: Option<&[usize; 2]>) -> u32 {
    hop.map_or(u32::MAX, |&[link, direction]| (2 * link + direction) as u32)
}
