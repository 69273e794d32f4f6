//! What a node does when it comes up.

use ccperf_schema::lowered::Lowered;

use crate::base::event::{Event, FlowEvent};

/// What happens when a node comes up.
#[derive(Clone, Debug, Default)]
pub struct Startup {
    /// Its devices, whose queue disciplines start.
    pub ports: Vec<u32>,
    /// What its applications schedule, in nanoseconds from now.
    pub applications: Vec<(u64, Event)>,
}

impl Startup {
    /// An application begins, and stops if `stop` is not 0.
    fn begin(&mut self, number: u32, start: u64, stop: u64) {
        self.applications.push((start, Event::Flow(FlowEvent::Open, number)));
        if stop > 0 {
            self.applications.push((stop, Event::Flow(FlowEvent::Close, number)));
        }
    }
}

/// For each node: devices in the order of links, then applications in the order of flows, transfers and pings, each
/// with its start and its stop.
pub fn startups(scenario: &Lowered) -> Vec<Startup> {
    let mut nodes = vec![Startup::default(); scenario.nodes.len()];
    for (i, link) in (0..).zip(&scenario.links) {
        for (side, &end) in (0..).zip(&link.ends) {
            nodes[end].ports.push(2 * i + side);
        }
    }
    for (number, flow) in (0..).zip(&scenario.flows) {
        if flow.receiver_stop_ns > 0 {
            let close = (flow.receiver_stop_ns, Event::Flow(FlowEvent::CloseReceiver, number));
            nodes[flow.destination].applications.push(close);
        }
        nodes[flow.source].begin(number, flow.start_ns, flow.stop_ns);
    }
    let transfers = scenario.workloads.iter().flat_map(|workload| {
        (0..workload.len())
            .map(move |i| (workload.pair[i], workload.start_ns[i], workload.waits(i)))
    });
    for (number, (pair, start, waits)) in (scenario.flows.len() as u32..).zip(transfers) {
        if !waits {
            nodes[scenario.pairs[pair as usize].source].begin(number, start, 0);
        }
    }
    for (number, ping) in (scenario.flow_count() as u32..).zip(&scenario.pings) {
        nodes[ping.source].begin(number, ping.start_ns, ping.stop_ns);
    }
    nodes
}
