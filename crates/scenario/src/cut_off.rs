//! Flows and transfers that could never deliver a packet, for what fails cuts one end off from the other
//! for as long as they last.

use std::collections::{HashMap, HashSet};

use ccperf_engine::base::units;
use ccperf_schema::written::{Failure, Scenario};

use super::check::Report;
use super::failures;
use super::workload;

/// From when on which nodes reach each other.
struct Phase {
    start_ns: u64,
    /// Each node's part of the network.
    part: Vec<usize>,
}

impl Report {
    /// Only for a scenario that is right so far.  One problem for each flow and workload at most.
    pub(super) fn cut_off(&mut self, s: &Scenario) {
        if s.failures.is_empty() {
            return;
        }
        let nodes: HashMap<&str, usize> =
            s.nodes.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        let phases = phases(s, &nodes, &s.failures);
        for flow in &s.flows {
            let ends = [nodes[flow.source.as_str()], nodes[flow.destination.as_str()]];
            let stop = flow.stop.as_ref().unwrap_or(&s.stop_time);
            let life = [&flow.start, stop].map(|text| time_ns(text));
            if !reached(&phases, ends, life) {
                let name = flow.name.as_deref().unwrap_or("the flow");
                self.unreachable(s, &nodes, name, ends, life);
            }
        }
        for workload in &s.workloads {
            let transfers = workload::plan(workload, s, &nodes).transfers(workload::ALL);
            let Some(first) = transfers.first() else { continue };
            let life = [first.start.0, time_ns(&s.stop_time)];
            let mut seen = HashSet::new();
            let pairs = transfers.iter().map(|t| [t.source, t.destination]);
            let mut new_pairs = pairs.filter(|&ends| seen.insert(ends));
            if let Some(ends) = new_pairs.find(|&ends| !reached(&phases, ends, life)) {
                self.unreachable(s, &nodes, &workload.name, ends, life);
            }
        }
    }

    fn unreachable(
        &mut self,
        s: &Scenario,
        nodes: &HashMap<&str, usize>,
        who: &str,
        ends: [usize; 2],
        life: [u64; 2],
    ) {
        // The one without which there would be a path; if only several together cut it, the first.
        let alone = |i: &usize| {
            let mut others = s.failures.clone();
            others.remove(*i);
            reached(&phases(s, nodes, &others), ends, life)
        };
        let i = (0..s.failures.len()).find(alone).unwrap_or(0);
        let failure = &s.failures[i];
        let (what, name) = match (&failure.link, &failure.node) {
            (Some(link), _) => ("link", link.as_str()),
            (_, node) => ("node", node.as_deref().unwrap_or_default()),
        };
        let [from, to] = ends.map(|node| s.nodes[node].as_str());
        let [start, stop] = life.map(|ns| units::format_time(ccperf_engine::base::time::Time(ns)));
        let down = &failure.down;
        let message = format!(
            "{what} `{name}` down from {down} cuts `{from}` off from `{to}`: nothing of `{who}` \
             ({start} to {stop}) could ever arrive; let it be `up` in time, or leave that out"
        );
        self.add(format!("failures[{i}]"), message);
    }
}

fn time_ns(text: &str) -> u64 {
    units::parse_time(text).unwrap_or_default().0
}

fn reached(phases: &[Phase], [from, to]: [usize; 2], [start, stop]: [u64; 2]) -> bool {
    phases.iter().enumerate().any(|(i, phase)| {
        let end = phases.get(i + 1).map_or(u64::MAX, |next| next.start_ns);
        phase.start_ns < stop && end > start && phase.part[from] == phase.part[to]
    })
}

fn phases(s: &Scenario, nodes: &HashMap<&str, usize>, failing: &[Failure]) -> Vec<Phase> {
    let ends: Vec<_> =
        s.links.iter().map(|link| [0, 1].map(|i| nodes[link.ends[i].as_str()])).collect();
    let mut is_up = vec![true; ends.len()];
    let mut phases = vec![Phase { start_ns: 0, part: parts(s.nodes.len(), &ends, &is_up) }];
    for step in failures::steps(s, failing, time_ns) {
        step.down.iter().for_each(|&link| is_up[link] = false);
        step.up.iter().for_each(|&link| is_up[link] = true);
        let part = parts(s.nodes.len(), &ends, &is_up);
        phases.push(Phase { start_ns: step.time_ns, part });
    }
    phases
}

/// Number the parts that links which are up hold together, by one of their nodes.
fn parts(nodes: usize, ends: &[[usize; 2]], is_up: &[bool]) -> Vec<usize> {
    let mut part: Vec<usize> = (0..nodes).collect();
    let find = |part: &mut Vec<usize>, mut node: usize| {
        while part[node] != node {
            part[node] = part[part[node]];
            node = part[node];
        }
        node
    };
    for (&[a, b], _) in ends.iter().zip(is_up).filter(|(_, up)| **up) {
        let (a, b) = (find(&mut part, a), find(&mut part, b));
        part[a] = b;
    }
    (0..nodes).map(|node| find(&mut part, node)).collect()
}
