//! Checks of routing.

use std::collections::HashMap;

use ccperf_engine::net::routing::balance::STATIC;
use ccperf_schema::written::Scenario;

use super::check::Report;
use super::names::Registry;

impl Report {
    pub(super) fn routing(&mut self, s: &mut Scenario) {
        self.algorithm(&"routing", &mut s.routing, Registry::Routing);
        if s.routing.kind != STATIC.ns3 {
            self.single_links(s);
        }
    }

    /// A host that chooses a path itself would have to know its packets' ports before its sockets do.
    fn single_links(&mut self, s: &Scenario) {
        let mut degree: HashMap<&str, usize> = HashMap::new();
        for end in s.links.iter().flat_map(|link| &link.ends) {
            *degree.entry(end).or_default() += 1;
        }
        for (path, node) in hosts(s) {
            if degree.get(node).is_some_and(|&links| links > 1) {
                let message =
                    format!("`{node}` has several links; hosts have one with this routing");
                self.add(path, message);
            }
        }
    }
}

/// Where packets begin and end, each with the field that says so.
fn hosts(s: &Scenario) -> Vec<(String, &str)> {
    let mut hosts = Vec::new();
    for (i, flow) in s.flows.iter().enumerate() {
        hosts.push((format!("flows[{i}].source"), &*flow.source));
        hosts.push((format!("flows[{i}].destination"), &*flow.destination));
    }
    for (i, ping) in s.pings.iter().enumerate() {
        hosts.push((format!("pings[{i}].source"), &*ping.source));
        hosts.push((format!("pings[{i}].destination"), &*ping.destination));
    }
    for (i, workload) in s.workloads.iter().enumerate() {
        let ends = [("sources", &workload.sources), ("destinations", &workload.destinations)];
        for (word, nodes) in ends {
            for node in nodes.iter().flatten() {
                hosts.push((format!("workloads[{i}].{word}"), &**node));
            }
        }
    }
    hosts
}
