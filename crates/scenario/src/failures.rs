//! Links and nodes that fail and come back.

use std::collections::{BTreeMap, HashMap};

use ccperf_engine::base::time::Time;
use ccperf_engine::base::units;
use ccperf_engine::net::qdisc;
use ccperf_schema::lowered;
use ccperf_schema::written::{Failure, Link, Scenario};

use super::check::{Path, Report};
use super::names;

impl Report {
    pub(super) fn failures(&mut self, s: &mut Scenario, end: Option<Time>) {
        for (i, failure) in s.failures.iter_mut().enumerate() {
            let path = format!("failures[{i}]");
            self.outage(&path, failure, end);
            match (&failure.link, &failure.node) {
                (Some(name), None) => {
                    let known = s.links.iter().map(|link| link.name.as_str());
                    self.is_one_of(&format_args!("{path}.link"), "link", name, known);
                }
                (None, Some(name)) => {
                    let known = s.nodes.iter().map(String::as_str);
                    self.is_one_of(&format_args!("{path}.node"), "node", name, known);
                }
                _ => self.add(&path, "give either link or node, which fails"),
            }
            for link in s.links.iter().filter(|link| is_hit(failure, link)) {
                self.is_emptied(&path, link);
            }
        }
    }

    fn outage(&mut self, path: Path<'_>, failure: &mut Failure, end: Option<Time>) {
        let down = self.time(&format_args!("{path}.down"), &mut failure.down);
        if let (Some(down), Some(end)) = (down, end)
            && down >= end
        {
            let (down, end) = (&failure.down, units::format_time(end));
            let message = format!("{down} is not before stop_time ({end}): nothing would fail");
            self.add(format!("{path}.down"), message);
        }
        let Some(text) = &mut failure.up else { return };
        let up = self.time(&format_args!("{path}.up"), text);
        if let (Some(down), Some(up)) = (down, up)
            && up <= down
        {
            let message =
                format!("{text} is not after down ({}); leave it out for ever", failure.down);
            self.add(format!("{path}.up"), message);
        }
    }

    fn is_one_of<'a>(
        &mut self,
        path: Path<'_>,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) {
        if !known.clone().any(|other| other == name) {
            let hint = names::hint(name, known);
            self.add(path, format!("there is no {what} `{name}`; {hint}"));
        }
    }

    /// What waits in front of a link that fails is taken out and lost.
    fn is_emptied(&mut self, path: Path<'_>, link: &Link) {
        for direction in [&link.forward, &link.reverse] {
            let kind = direction.qdisc.as_ref().map_or("", |qdisc| &qdisc.kind);
            let obstacle = if qdisc::find(kind).is_some_and(|discipline| discipline.wakes) {
                format!("{kind}, which holds packets back")
            } else if direction.device_queues > 1 {
                "several transmit queues".to_owned()
            } else if direction.queue_limits.is_some() {
                "byte queue limits".to_owned()
            } else {
                continue;
            };
            return self.cannot_be_emptied(path, link, &obstacle);
        }
    }

    pub(super) fn cannot_be_emptied(&mut self, path: Path<'_>, link: &Link, obstacle: &str) {
        let name = &link.name;
        let message = format!("`{name}` cannot be emptied when it fails: it has {obstacle}");
        self.add(path, message);
    }
}

pub(super) fn is_hit(failure: &Failure, link: &Link) -> bool {
    let node = failure.node.as_ref();
    failure.link.as_ref() == Some(&link.name) || node.is_some_and(|node| link.ends.contains(node))
}

pub fn lower(s: &Scenario, parse: impl Fn(&str) -> u64) -> Vec<lowered::Failure> {
    steps(s, &s.failures, parse)
}

/// What changes at which time: a link is down while it, or a node at one of its ends, is.
pub(super) fn steps(
    s: &Scenario,
    failing: &[Failure],
    parse: impl Fn(&str) -> u64,
) -> Vec<lowered::Failure> {
    let mut steps: BTreeMap<u64, Vec<(usize, i32)>> = BTreeMap::new();
    for failure in failing {
        for (i, _) in s.links.iter().enumerate().filter(|(_, link)| is_hit(failure, link)) {
            steps.entry(parse(&failure.down)).or_default().push((i, 1));
            if let Some(up) = &failure.up {
                steps.entry(parse(up)).or_default().push((i, -1));
            }
        }
    }
    // How many failures each link suffers from.
    let mut suffered: HashMap<usize, i32> = HashMap::new();
    let mut failures = Vec::new();
    for (time_ns, changes) in steps {
        let mut before: BTreeMap<usize, bool> = BTreeMap::new();
        for (link, change) in changes {
            let count = suffered.entry(link).or_default();
            before.entry(link).or_insert(*count > 0);
            *count += change;
        }
        let turned = |to_down: bool| -> Vec<usize> {
            let is_turned = |(link, was_down): (&usize, &bool)| {
                let is_down = suffered[link] > 0;
                (is_down != *was_down && is_down == to_down).then_some(*link)
            };
            before.iter().filter_map(is_turned).collect()
        };
        let (down, up) = (turned(true), turned(false));
        if !down.is_empty() || !up.is_empty() {
            failures.push(lowered::Failure { time_ns, down, up });
        }
    }
    failures
}
