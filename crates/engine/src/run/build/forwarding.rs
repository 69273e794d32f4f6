//! Who sends to whom, and how nodes choose a way.

use std::collections::HashMap;

use ccperf_schema::lowered::Lowered;

use super::{find, fragmentation, probes, refused};
use crate::base::attributes::Attributes;
use crate::base::error::Error;
use crate::host::user::{Setup, UserCode, is_user_code};
use crate::net::network::{Forwarding, Steering};
use crate::net::qdisc::FlowKey;
use crate::net::routing::balance::{
    self, Agents, AnyBalancer, BuildContext, Labelled, SwitchContext, flow_hash,
};
use crate::net::routing::{Graph, Origin};

/// `keys`: of every flow, transfer and ping, there and back.
pub fn build(
    scenario: &Lowered,
    keys: &[[FlowKey; 2]],
    user: &dyn UserCode,
) -> Result<Forwarding, Error> {
    let graph = Graph::new(scenario.nodes.len(), scenario.links.iter().map(|link| link.ends));
    let mut destinations = Vec::new();
    let mut known = HashMap::new();
    let mut position = |node: usize| -> u32 {
        *known.entry(node).or_insert_with(|| {
            destinations.push(node as u32);
            destinations.len() as u32 - 1
        })
    };
    let flows = scenario.flows.iter().map(|flow| [flow.source, flow.destination]);
    let pairs = scenario.workloads.iter().flat_map(|workload| &workload.pair);
    let pairs = pairs.map(|&pair| &scenario.pairs[pair as usize]);
    let transfers = pairs.map(|pair| [pair.source, pair.destination]);
    let pings = scenario.pings.iter().map(|ping| [ping.source, ping.destination]);
    let pairs = probes::pairs(scenario)?;
    let portless = fragmentation::portless(scenario).iter();
    let portless = portless.map(|flow| [flow.source, flow.destination]);
    let ends = flows.chain(transfers).chain(pings).chain(pairs.iter().copied()).chain(portless);
    let origins = ends.zip(keys).map(|([source, destination], keys)| {
        [(source, destination, &keys[0]), (destination, source, &keys[1])].map(|(from, to, key)| {
            let addresses = [key.source, key.destination];
            let ports = [key.source_port, key.destination_port];
            let hash = flow_hash(addresses, key.protocol, ports);
            Origin { node: from as u32, destination: position(to), hash }
        })
    });
    let origins = origins.collect();
    let routing = &scenario.routing;
    let is_own = is_user_code(&routing.kind);
    let sender = if is_own {
        let made = user.host_balancer(Setup::new(routing, scenario.seed));
        made.map_err(|message| refused(routing, message))?
    } else {
        probes::sender(scenario)?
    };
    let has_loads = sender.as_ref().is_some_and(|sender| sender.wants_load());
    let balancers = match (is_own, &sender) {
        (true, Some(_)) => {
            let obey = |_| AnyBalancer::Labelled(Labelled::without_loads());
            (0..scenario.nodes.len()).map(obey).collect()
        }
        (true, None) => own_balancers(scenario, &graph, user)?,
        (false, _) => balancers(scenario, &graph, has_loads)?,
    };
    let leaf = |node| graph.only_link(node).map_or(node, |(_, gateway)| gateway) as u32;
    let agents = pairs.iter().map(|pair| Agents { leaves: pair.map(leaf) }).collect();
    let first_probe = (keys.len() - pairs.len()) as u32;
    let steering = sender.map(|sender| Steering::new(sender, agents, first_probe));
    Ok(Forwarding::new(graph, destinations, origins, balancers, steering))
}

/// One a node; none for static routing.
fn balancers(
    scenario: &Lowered,
    graph: &Graph,
    has_loads: bool,
) -> Result<Vec<AnyBalancer>, Error> {
    let routing = &scenario.routing;
    let spec = find(balance::SPECS, routing)?;
    let nodes = 0..scenario.nodes.len() as u32;
    let build = |node: u32| {
        let attributes = Attributes::new(spec, &routing.attributes);
        let (stream, run) = (routing.stream, scenario.seed);
        let ports = &ports(graph, node);
        balance::build(
            &routing.kind,
            &BuildContext { attributes, node, ports, stream, run, has_loads },
        )
    };
    Ok(nodes.filter_map(build).collect())
}

/// The user's: one a switch.
fn own_balancers(
    scenario: &Lowered,
    graph: &Graph,
    user: &dyn UserCode,
) -> Result<Vec<AnyBalancer>, Error> {
    let routing = &scenario.routing;
    let build = |node: u32| {
        if graph.only_link(node as usize).is_some() {
            return Ok(AnyBalancer::Nobody);
        }
        let switch = SwitchContext { node, ports: &ports(graph, node) };
        let made = user.load_balancer(Setup::new(routing, scenario.seed), switch);
        Ok(AnyBalancer::Dyn(made.map_err(|message| refused(routing, message))?))
    };
    (0..scenario.nodes.len() as u32).map(build).collect()
}

/// The ports out of a node, in the order of links.
fn ports(graph: &Graph, node: u32) -> Vec<u32> {
    let hops = graph.neighbours(node as usize).iter();
    hops.map(|&([link, side], _)| (2 * link + side) as u32).collect()
}
