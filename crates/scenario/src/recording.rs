//! What is recorded: names of flows and links as positions.

use std::collections::HashMap;

use ccperf_engine::base::units;
use ccperf_schema::written::{ChangesOf, Flow, Link, Scenario, Selection, Word};

use super::check::Report;
use super::names;

impl Report {
    /// Checks intervals and names; selected names are put into the scenario's order.
    pub(super) fn recording(&mut self, s: &mut Scenario) {
        let flows = Flows::new(s, s.workloads.iter().map(|_| 1)).index;
        let links = link_index(&s.links);
        let has_workloads = !s.workloads.is_empty();
        let recording = &mut s.recording;
        self.interval("recording.interval", &mut recording.interval);
        self.selection("recording.flows", "flow", &mut recording.flows, &flows);
        self.selection("recording.links", "link", &mut recording.links, &links);
        if let Some(warm_up) = &mut recording.warm_up {
            let path = "recording.warm_up";
            let stop = units::parse_time(&s.stop_time);
            if self.time(path, warm_up).is_some_and(|time| stop.is_ok_and(|stop| time >= stop)) {
                self.add(path, format!("`{warm_up}` is not before the end, {}", s.stop_time));
            }
        }
        if let Some(queues) = &mut recording.queues {
            self.interval("recording.queues.interval", &mut queues.interval);
            self.selection("recording.queues.links", "link", &mut queues.links, &links);
        }
        // What goes without saying is not said.
        recording.completions.take_if(|asked| *asked == has_workloads);
        self.changes("recording.changes", &mut recording.changes, &flows);
        self.changes("recording.paths", &mut recording.paths, &flows);
    }

    fn changes(&mut self, path: &str, asked: &mut ChangesOf, flows: &HashMap<String, Vec<u32>>) {
        if let ChangesOf::Flows(names) = asked {
            self.selected(path, "flow", names, flows);
            if names.is_empty() {
                *asked = ChangesOf::Every(false);
            }
        }
    }

    fn interval(&mut self, path: &str, text: &mut String) {
        if self.time(path, text).is_some_and(|interval| interval.is_zero()) {
            self.add(path, "0s is not an interval; write a time above 0, like 30ms");
        }
    }

    fn selection(
        &mut self,
        path: &str,
        what: &str,
        selection: &mut Selection,
        index: &HashMap<String, Vec<u32>>,
    ) {
        if let Selection::Names(names) = selection {
            self.selected(path, what, names, index);
            if names.is_empty() {
                *selection = Selection::Word(Word::None);
            }
        }
    }

    fn selected(
        &mut self,
        path: &str,
        what: &str,
        chosen: &mut Vec<String>,
        index: &HashMap<String, Vec<u32>>,
    ) {
        for (i, name) in chosen.iter().enumerate() {
            if !index.contains_key(name) {
                let mut known: Vec<_> = index.iter().map(|(name, at)| (at, &**name)).collect();
                known.sort_unstable();
                let hint = names::hint(name, known.iter().map(|(_, name)| *name));
                self.add(format!("{path}[{i}]"), format!("there is no {what} `{name}`; {hint}"));
            }
        }
        chosen.sort_by_key(|name| index.get(name));
        chosen.dedup();
    }
}

/// Flows and workloads by their names, as positions among all flows.
pub(super) struct Flows {
    index: HashMap<String, Vec<u32>>,
    /// How many are written one by one.
    written: u32,
}

impl Flows {
    /// `transfers`: how many each workload has.
    pub(super) fn new(s: &Scenario, transfers: impl Iterator<Item = usize>) -> Flows {
        let mut index = flow_index(&s.flows);
        let written = s.flows.len() as u32;
        let mut first = written;
        for (workload, count) in s.workloads.iter().zip(transfers) {
            let end = first + count as u32;
            index.insert(workload.name.clone(), (first..end).collect());
            first = end;
        }
        Flows { index, written }
    }

    /// Positions of the selected flows, ascending.
    pub(super) fn selected(&self, selection: &Selection) -> Vec<u32> {
        match selection {
            Selection::Word(Word::All) => (0..self.written).collect(),
            _ => positions(selection, &self.index),
        }
    }

    /// The flows of which every change is recorded, ascending.
    pub(super) fn followed(&self, changes: &ChangesOf) -> Vec<u32> {
        match changes {
            ChangesOf::Every(false) => Vec::new(),
            ChangesOf::Every(true) => (0..self.written).collect(),
            ChangesOf::Flows(names) => self.selected(&Selection::Names(names.clone())),
        }
    }
}

/// Positions of the selected directions, ascending: twice their link's, and one more for the reverse one.
pub(super) fn ports(selection: &Selection, links: &[Link]) -> Vec<u32> {
    positions(selection, &link_index(links))
}

fn positions(selection: &Selection, index: &HashMap<String, Vec<u32>>) -> Vec<u32> {
    let mut positions: Vec<u32> = match selection {
        Selection::Word(Word::None) => Vec::new(),
        Selection::Word(Word::All) => index.values().flatten().copied().collect(),
        Selection::Names(names) => {
            names.iter().filter_map(|name| index.get(name)).flatten().copied().collect()
        }
    };
    positions.sort_unstable();
    positions.dedup();
    positions
}

fn flow_index(flows: &[Flow]) -> HashMap<String, Vec<u32>> {
    let names = flows.iter().map(|flow| flow.name.clone().unwrap_or_default());
    names.zip(0..).map(|(name, i)| (name, vec![i])).collect()
}

/// A link's name stands for both of its directions.
fn link_index(links: &[Link]) -> HashMap<String, Vec<u32>> {
    let mut index = HashMap::new();
    for (link, i) in links.iter().zip(0..) {
        index.entry(format!("{}_forward", link.name)).or_insert(vec![2 * i]);
        index.entry(format!("{}_reverse", link.name)).or_insert(vec![2 * i + 1]);
    }
    for (link, i) in links.iter().zip(0..) {
        index.insert(link.name.clone(), vec![2 * i, 2 * i + 1]);
    }
    index
}
