//! What queue disciplines and devices classify packets by.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use ccperf_schema::lowered::{Flow, Lowered, Ping, Transport};

use super::{fragmentation, probes};
use crate::base::error::Error;
use crate::packet::{FlowKey, FlowKeys, PROTOCOL_ICMP, PROTOCOL_TCP, PROTOCOL_UDP, priority};

/// The IP protocol number of a transport, part of what flow queueing hashes.
fn protocol(transport: Transport) -> u8 {
    match transport {
        Transport::Tcp => PROTOCOL_TCP,
        Transport::Udp | Transport::Roce | Transport::Trimming => PROTOCOL_UDP,
    }
}

/// The thresholds of PIAS, each list once.
#[derive(Default)]
struct Demotions<'a> {
    known: HashMap<&'a [u32], u16>,
    lists: Vec<Vec<u32>>,
}

impl<'a> Demotions<'a> {
    /// The number that flow keys have for these thresholds; 0 for none.
    ///
    /// # Errors
    /// There are more lists than a key's bits tell.
    fn number(&mut self, thresholds: &'a [u32]) -> Result<u16, Error> {
        if thresholds.is_empty() {
            return Ok(0);
        }
        if let Some(&known) = self.known.get(thresholds) {
            return Ok(known);
        }
        self.lists.push(thresholds.to_vec());
        let most = u16::MAX;
        let new = u16::try_from(self.lists.len()).map_err(|_| {
            Error::Scenario(format!("pias: more than {most} different lists of thresholds"))
        })?;
        self.known.insert(thresholds, new);
        Ok(new)
    }
}

/// Of all flows, transfers, pings and probes, and of what belongs to flows and has no ports.
pub fn of_all(scenario: &Lowered) -> Result<FlowKeys, Error> {
    let mut demotions = Demotions::default();
    let of_flows: Vec<_> =
        scenario.flows.iter().map(|flow| demotions.number(&flow.pias)).collect::<Result<_, _>>()?;
    let of_stacks: Vec<_> =
        scenario.stacks.iter().map(|s| demotions.number(&s.pias)).collect::<Result<_, _>>()?;
    let keys = scenario.flows.iter().zip(&of_flows).map(|(flow, &n)| of_flow(flow, n));
    let keys = keys.chain(of_transfers(scenario, &of_stacks));
    let keys = keys.chain(scenario.pings.iter().map(of_ping));
    let probes = probes::pairs(scenario)?;
    let keys = keys.chain(probes.iter().map(|&pair| of_probe(scenario, pair)));
    let portless = fragmentation::portless(scenario).iter().zip(&of_flows);
    let keys = keys.chain(portless.map(|(flow, &n)| of_portless(flow, n)));
    Ok(FlowKeys { keys: keys.collect(), demotions: demotions.lists })
}

fn of_flow(flow: &Flow, demotion: u16) -> [FlowKey; 2] {
    let addresses = [flow.source_address, flow.destination_address];
    let services = [(flow.tos, flow.dscp), (flow.return_tos, flow.return_dscp)].map(Service::new);
    let ports = [flow.source_port, flow.destination_port];
    let [there, back] = keys(addresses, ports, protocol(flow.transport), services, demotion);
    match flow.transport {
        Transport::Tcp | Transport::Roce | Transport::Trimming => [there, back],
        // Only messages that nobody listens come back.
        Transport::Udp => [
            there,
            FlowKey { protocol: PROTOCOL_ICMP, source_port: 0, destination_port: 0, ..back },
        ],
    }
}

/// Of a flow's fragments but the first, which disciplines know no ports of, and of what hosts say about them.
fn of_portless(flow: &Flow, demotion: u16) -> [FlowKey; 2] {
    let [there, back] = of_flow(flow, demotion);
    let (source_port, destination_port) = (0, 0);
    let message = FlowKey {
        source: back.source,
        destination: back.destination,
        protocol: PROTOCOL_ICMP,
        ..FlowKey::default()
    };
    [FlowKey { source_port, destination_port, ..there }, message]
}

/// Of the transfers of all workloads.
fn of_transfers(scenario: &Lowered, demotions: &[u16]) -> impl Iterator<Item = [FlowKey; 2]> {
    scenario.workloads.iter().flat_map(|workload| {
        let stack = &scenario.stacks[workload.stack];
        let ports = workload.source_port.iter().zip(&workload.destination_port);
        workload.pair.iter().zip(ports).map(|(&pair, (&source, &destination))| {
            let pair = &scenario.pairs[pair as usize];
            let addresses = [pair.source_address, pair.destination_address];
            let services = [(stack.tos, stack.dscp), (stack.return_tos, stack.return_dscp)];
            let services = services.map(Service::new);
            let demotion = demotions[workload.stack];
            keys(addresses, [source, destination], protocol(stack.transport), services, demotion)
        })
    })
}

fn of_ping(ping: &Ping) -> [FlowKey; 2] {
    keys(
        [ping.source_address, ping.destination_address],
        [0, 0],
        PROTOCOL_ICMP,
        [Service::default(); 2],
        0,
    )
}

fn of_probe(scenario: &Lowered, pair: [usize; 2]) -> [FlowKey; 2] {
    let address = |node: usize| {
        let mut ends = scenario.links.iter().flat_map(|link| link.ends.iter().zip(link.addresses));
        let own = ends.find(|&(&end, _)| end == node);
        own.map_or(Ipv4Addr::UNSPECIFIED, |(_, address)| address)
    };
    keys(pair.map(address), [0, 0], PROTOCOL_UDP, [Service::default(); 2], 0)
}

/// The type of service of one direction.
#[derive(Clone, Copy, Default)]
struct Service {
    byte: u8,
    /// By the host, not by the socket.
    is_marked: bool,
}

impl Service {
    fn new((tos, dscp): (u8, u8)) -> Self {
        Service { byte: if dscp > 0 { dscp << 2 } else { tos }, is_marked: dscp > 0 }
    }
}

/// What flow queueing sees of the packets there and back.
fn keys(
    addresses: [Ipv4Addr; 2],
    ports: [u16; 2],
    protocol: u8,
    services: [Service; 2],
    demotion: u16,
) -> [FlowKey; 2] {
    let forward = FlowKey {
        source: addresses[0].into(),
        destination: addresses[1].into(),
        source_port: ports[0],
        destination_port: ports[1],
        protocol,
        dscp: services[0].byte >> 2,
        priority: priority(services[0].byte),
        is_marked: services[0].is_marked,
        demotion,
    };
    let backward = FlowKey {
        source: forward.destination,
        destination: forward.source,
        source_port: forward.destination_port,
        destination_port: forward.source_port,
        dscp: services[1].byte >> 2,
        priority: priority(services[1].byte),
        is_marked: services[1].is_marked,
        demotion: 0,
        ..forward
    };
    [forward, backward]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_thresholds_are_numbered_as_far_as_a_key_s_bits_tell() {
        let lists: Vec<[u32; 1]> = (0..=u32::from(u16::MAX)).map(|n| [n]).collect();
        let (last, fit) = lists.split_last().unwrap();
        let mut demotions = Demotions::default();
        for (list, n) in fit.iter().zip(1..=u16::MAX) {
            assert_eq!(demotions.number(list).unwrap(), n);
        }
        assert_eq!(demotions.number(&[]).unwrap(), 0);
        assert_eq!(demotions.number(&fit[7]).unwrap(), 8);
        let said = demotions.number(last).unwrap_err().to_string();
        assert_eq!(said, "pias: more than 65535 different lists of thresholds");
    }
}
