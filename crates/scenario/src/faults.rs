//! Switches that lose packets: at random, or all those between some hosts.

use std::collections::HashMap;

use ccperf_engine::base::time::Time;
use ccperf_engine::base::units;
use ccperf_schema::lowered;
use ccperf_schema::written::{Fault, Scenario};

use super::check::{Report, Shortest};
use super::streams;

impl Report {
    pub(super) fn faults(
        &mut self,
        faults: &mut [Fault],
        nodes: &HashMap<String, usize>,
        end: Option<Time>,
    ) {
        for (i, fault) in faults.iter_mut().enumerate() {
            let path = format!("faults[{i}]");
            self.node(&format_args!("{path}.node"), &fault.node, nodes);
            self.probability(&format_args!("{path}.loss"), &mut fault.loss);
            if fault.loss == 0.0 {
                self.add(format!("{path}.loss"), "0 loses nothing; leave it out to lose all");
            }
            for (word, names) in
                [("sources", &fault.sources), ("destinations", &fault.destinations)]
            {
                for (j, name) in names.iter().flatten().enumerate() {
                    self.node(&format_args!("{path}.{word}[{j}]"), name, nodes);
                }
                if names.as_ref().is_some_and(Vec::is_empty) {
                    self.add(format!("{path}.{word}"), "names no node; leave it out for all");
                }
            }
            self.active_times(&path, &mut fault.start, fault.stop.as_mut(), end, Shortest::Later);
        }
    }
}

pub fn lower(s: &Scenario, nodes: &HashMap<&str, usize>) -> Vec<lowered::Fault> {
    let ns = |text: &str| units::parse_time(text).unwrap_or_default().0;
    let of = |names: &Option<Vec<String>>| {
        names.as_ref().map(|names| names.iter().map(|name| nodes[name.as_str()]).collect())
    };
    let faults = s.faults.iter().enumerate().map(|(i, fault)| lowered::Fault {
        node: nodes[fault.node.as_str()],
        loss: fault.loss,
        sources: of(&fault.sources),
        destinations: of(&fault.destinations),
        start_ns: ns(&fault.start),
        stop_ns: fault.stop.as_deref().map_or(0, ns),
        stream: fault.stream.unwrap_or_else(|| streams::first_stream(&format!("faults/{i}"))),
    });
    faults.collect()
}
