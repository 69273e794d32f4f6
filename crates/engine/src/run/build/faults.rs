//! Switches that lose packets.

use std::sync::Arc;

use ccperf_schema::lowered::{self, Lowered};

use super::{fragmentation, probes};
use crate::base::error::Error;
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::net::network::{Fault, Wire};

/// Gives the wires into each faulty switch its faults, which draw from one stream each.
///
/// # Errors
/// A kind of routing that this engine does not have.
pub fn add(
    scenario: &Lowered,
    wires: &mut [Wire],
    streams: &mut Vec<RngStream>,
) -> Result<(), Error> {
    let probes = probes::pairs(scenario)?;
    for fault in &scenario.faults {
        streams.push(RngStream::fixed(scenario.seed, fault.stream));
        let of_port = Fault {
            start: Time(fault.start_ns),
            stop: if fault.stop_ns > 0 { Time(fault.stop_ns) } else { Time::MAX },
            loss: fault.loss,
            stream: streams.len() - 1,
            hit: hit(scenario, fault, &probes),
        };
        for (link, pair) in scenario.links.iter().zip(wires.chunks_exact_mut(2)) {
            // Forward leads to the second end.
            for (wire, end) in pair.iter_mut().zip([link.ends[1], link.ends[0]]) {
                if end == fault.node {
                    wire.loss.add_fault(of_port.clone());
                }
            }
        }
    }
    Ok(())
}

/// Of each flow, transfer and ping, whether its packets are hit, there and back; `None`: all are.
fn hit(
    scenario: &Lowered,
    fault: &lowered::Fault,
    probes: &[[usize; 2]],
) -> Option<Arc<[[bool; 2]]>> {
    if fault.sources.is_none() && fault.destinations.is_none() {
        return None;
    }
    let among = |nodes: &Option<Vec<usize>>| {
        let mut is_among = vec![nodes.is_none(); scenario.nodes.len()];
        nodes.iter().flatten().for_each(|&node| is_among[node] = true);
        is_among
    };
    let (sources, destinations) = (among(&fault.sources), among(&fault.destinations));
    let flows = scenario.flows.iter().map(|flow| (flow.source, flow.destination));
    let pairs = scenario.workloads.iter().flat_map(|workload| &workload.pair);
    let pairs = pairs.map(|&pair| &scenario.pairs[pair as usize]);
    let transfers = pairs.map(|pair| (pair.source, pair.destination));
    let pings = scenario.pings.iter().map(|ping| (ping.source, ping.destination));
    let probes = probes.iter().map(|&[a, b]| (a, b));
    let portless = fragmentation::portless(scenario).iter();
    let portless = portless.map(|flow| (flow.source, flow.destination));
    let ways = flows.chain(transfers).chain(pings).chain(probes).chain(portless);
    let both = ways.map(|(a, b)| [(a, b), (b, a)].map(|(a, b)| sources[a] && destinations[b]));
    Some(both.collect())
}
