//! Where hosts choose paths: by which scheme, and the agents that probe for their racks.

use std::collections::BTreeMap;

use ccperf_schema::lowered::Lowered;

use super::find;
use crate::base::attributes::Attributes;
use crate::base::error::Error;
use crate::base::time::Time;
use crate::host::user::is_user_code;
use crate::net::routing::Graph;
use crate::net::routing::balance::{self, HostContext, Sender};

/// From where to where probes go: from each rack to each other one, between their first hosts that a flow begins or
/// ends at; none if nobody probes.
///
/// # Errors
/// A kind of routing that this engine does not have.
pub fn pairs(scenario: &Lowered) -> Result<Vec<[usize; 2]>, Error> {
    let sender = sender(scenario)?;
    if sender.is_none_or(|sender| sender.period() == Time::ZERO) {
        return Ok(Vec::new());
    }
    let graph = Graph::new(scenario.nodes.len(), scenario.links.iter().map(|link| link.ends));
    let flows = scenario.flows.iter().flat_map(|flow| [flow.source, flow.destination]);
    let used = scenario.workloads.iter().flat_map(|workload| &workload.pair);
    let used = used.map(|&pair| &scenario.pairs[pair as usize]);
    let ends = flows.chain(used.flat_map(|pair| [pair.source, pair.destination]));
    let mut agents = BTreeMap::new();
    for host in ends {
        if let Some((_, leaf)) = graph.only_link(host) {
            let agent = agents.entry(leaf).or_insert(host);
            *agent = host.min(*agent);
        }
    }
    let all = || agents.values().copied();
    Ok(all().flat_map(|a| all().filter(move |&b| b != a).map(move |b| [a, b])).collect())
}

/// The scheme by which hosts choose paths, if they do.
///
/// # Errors
/// A kind of routing that this engine does not have.
pub fn sender(scenario: &Lowered) -> Result<Option<Box<dyn Sender>>, Error> {
    let routing = &scenario.routing;
    if is_user_code(&routing.kind) {
        return Ok(None);
    }
    let attributes = Attributes::new(find(balance::SPECS, routing)?, &routing.attributes);
    let cx = HostContext { attributes, stream: routing.stream, run: scenario.seed };
    Ok(balance::build_sender(&routing.kind, &cx))
}
