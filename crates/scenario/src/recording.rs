//! What is recorded: names of flows and links as positions.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use ccperf_engine::base::units;
use ccperf_schema::written::{ChangesOf, Flow, Link, Scenario, Selection, Word, Workload};

use super::check::{Path, Report};
use super::names;

impl Report {
    /// Checks intervals and names; selected names are put into the scenario's order.
    pub(super) fn recording(&mut self, s: &mut Scenario) {
        let counts = s.workloads.iter().map(|_| 1);
        let flows = Index::of_flows(&s.flows, &s.workloads, counts);
        let links = Index::of_links(&s.links);
        let has_workloads = !s.workloads.is_empty();
        let recording = &mut s.recording;
        self.interval(&"recording.interval", &mut recording.interval);
        self.selection(&"recording.flows", "flow", &mut recording.flows, &flows);
        self.selection(&"recording.links", "link", &mut recording.links, &links);
        if let Some(warm_up) = &mut recording.warm_up {
            let path = &"recording.warm_up";
            let stop = units::parse_time(&s.stop_time);
            if self.time(path, warm_up).is_some_and(|time| stop.is_ok_and(|stop| time >= stop)) {
                self.add(path, format!("`{warm_up}` is not before the end, {}", s.stop_time));
            }
        }
        if let Some(queues) = &mut recording.queues {
            self.interval(&"recording.queues.interval", &mut queues.interval);
            self.selection(&"recording.queues.links", "link", &mut queues.links, &links);
        }
        // What goes without saying is not said.
        recording.completions.take_if(|asked| *asked == has_workloads);
        self.changes(&"recording.changes", &mut recording.changes, &flows);
        self.changes(&"recording.paths", &mut recording.paths, &flows);
    }

    fn changes(&mut self, path: Path<'_>, asked: &mut ChangesOf, flows: &Index<'_>) {
        if let ChangesOf::Flows(names) = asked {
            self.selected(path, "flow", names, flows);
            if names.is_empty() {
                *asked = ChangesOf::Every(false);
            }
        }
    }

    fn interval(&mut self, path: Path<'_>, text: &mut String) {
        if self.time(path, text).is_some_and(|interval| interval.is_zero()) {
            self.add(path, "0s is not an interval; write a time above 0, like 30ms");
        }
    }

    fn selection(
        &mut self,
        path: Path<'_>,
        what: &str,
        selection: &mut Selection,
        index: &Index<'_>,
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
        path: Path<'_>,
        what: &str,
        chosen: &mut Vec<String>,
        index: &Index<'_>,
    ) {
        for (i, name) in chosen.iter().enumerate() {
            if index.get(name).is_none() {
                let known = index.names();
                let hint = names::hint(name, known.iter().map(String::as_str));
                self.add(format!("{path}[{i}]"), format!("there is no {what} `{name}`; {hint}"));
            }
        }
        chosen.sort_by_key(|name| index.get(name).map(|at| (at.start, at.end)));
        chosen.dedup();
    }
}

/// Positions by name: of flows and workloads among all flows, or of links among all directions.
pub(super) struct Index<'a> {
    positions: HashMap<&'a str, Range<u32>>,
    /// What [`Word::All`] stands for.
    all: u32,
    /// A link's name stands for both of its directions, and with a word behind it for one of them.
    directions: &'static [&'static str],
}

impl<'a> Index<'a> {
    /// `transfers`: how many each workload has.
    pub(super) fn of_flows(
        flows: &'a [Flow],
        workloads: &'a [Workload],
        transfers: impl Iterator<Item = usize>,
    ) -> Index<'a> {
        let names = flows.iter().map(|flow| flow.name.as_deref().unwrap_or_default());
        let mut positions: HashMap<_, _> = names.zip((0..).map(|i| i..i + 1)).collect();
        let all = flows.len() as u32;
        let mut first = all;
        for (workload, count) in workloads.iter().zip(transfers) {
            let end = first + count as u32;
            positions.insert(workload.name.as_str(), first..end);
            first = end;
        }
        Index { positions, all, directions: &[] }
    }

    /// Twice a link's position, and one more for the reverse direction.
    pub(super) fn of_links(links: &'a [Link]) -> Index<'a> {
        let names = links.iter().map(|link| link.name.as_str());
        let positions = names.zip((0..).map(|i| 2 * i..2 * i + 2)).collect();
        Index { positions, all: 2 * links.len() as u32, directions: &["_forward", "_reverse"] }
    }

    fn get(&self, name: &str) -> Option<Range<u32>> {
        let of_one = |(word, i): (&&str, u32)| {
            let both = self.positions.get(name.strip_suffix(word)?)?;
            Some(both.start + i..both.start + i + 1)
        };
        let whole = self.positions.get(name).cloned();
        whole.or_else(|| self.directions.iter().zip(0..).find_map(of_one))
    }

    /// All names, in order.
    fn names(&self) -> Vec<String> {
        let words = [&[""], self.directions].concat();
        let with = |name| words.iter().map(move |word| format!("{name}{word}"));
        let mut names: Vec<_> = self.positions.keys().flat_map(with).collect();
        names.sort_by_cached_key(|name| self.get(name).map(|at| (at.start, at.end)));
        names
    }

    /// Positions of what is selected, ascending.
    pub(super) fn selected(&self, selection: &Selection) -> Vec<u32> {
        match selection {
            Selection::Word(Word::None) => Vec::new(),
            Selection::Word(Word::All) => (0..self.all).collect(),
            Selection::Names(names) => {
                let found = names.iter().filter_map(|name| self.get(name));
                let positions: BTreeSet<u32> = found.flatten().collect();
                positions.into_iter().collect()
            }
        }
    }

    /// The flows of which every change is recorded, ascending.
    pub(super) fn followed(&self, changes: &ChangesOf) -> Vec<u32> {
        match changes {
            ChangesOf::Every(false) => Vec::new(),
            ChangesOf::Every(true) => (0..self.all).collect(),
            ChangesOf::Flows(names) => self.selected(&Selection::Names(names.clone())),
        }
    }
}
