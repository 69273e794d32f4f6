//! Which devices can be paused: what they cannot have, and that their links do not fail.

use std::collections::{HashMap, HashSet};

use ccperf_engine::host::rate_control::reads_telemetry;
use ccperf_engine::net::qdisc::is_whole_queue;
use ccperf_engine::packet::telemetry::HOPS;
use ccperf_schema::lowered::Transport;
use ccperf_schema::written::{Direction, Flow, Link, Scenario};

use super::check::{Path, Report, Routes};
use super::failures::is_hit;
use super::names::Registry;

/// By link, of the device that sends into each direction: why it can be paused, if it can.
type Reasons = Vec<[Option<&'static str>; 2]>;

impl Report {
    pub(super) fn pausable(
        &mut self,
        s: &Scenario,
        nodes: &HashMap<String, usize>,
        mut routes: Option<&mut Routes<'_>>,
    ) {
        let reasons = reasons(s, nodes, routes.as_deref_mut());
        for (i, flow) in s.flows.iter().enumerate().filter(|(_, flow)| collects(flow)) {
            let path = routes.as_deref_mut().and_then(|routes| path_of(flow, nodes, routes));
            let switches = path.map_or(0, |path| path.len().saturating_sub(1));
            if switches > HOPS {
                let message = format!(
                    "its packets cross {switches} switches, and telemetry has room for {HOPS}; write \
                     a law that reads none, like `dcqcn`"
                );
                self.add(format!("flows[{i}].cc.type"), message);
            }
        }
        for (i, (link, reasons)) in s.links.iter().zip(&reasons).enumerate() {
            let directions = [("forward", &link.forward), ("reverse", &link.reverse)];
            for ((word, direction), reason) in directions.into_iter().zip(reasons) {
                if let Some(why) = reason {
                    self.device(&format_args!("links[{i}].{word}"), direction, why);
                }
            }
        }
        for (i, failure) in s.failures.iter().enumerate() {
            let failing = s.links.iter().zip(&reasons).filter(|(link, _)| is_hit(failure, link));
            for (link, reasons) in failing {
                if let Some(why) = reasons.iter().flatten().next() {
                    self.cannot_be_emptied(&format_args!("failures[{i}]"), link, why);
                }
            }
        }
    }

    fn device(&mut self, path: Path<'_>, direction: &Direction, why: &str) {
        let obstacles = [
            ("qdisc", direction.qdisc.is_none(), "each priority needs a queue; write one"),
            ("device_queues", direction.device_queues != 1, "a device has no queues; write 1"),
            (
                "queue_limits",
                direction.queue_limits.is_some(),
                "a device has no queue; leave them out",
            ),
        ];
        for (field, _, message) in obstacles.into_iter().filter(|(_, is_there, _)| *is_there) {
            self.add(format!("{path}.{field}"), format!("with {why} {message}"));
        }
    }
}

/// Whether switches write into packets of this flow.
fn collects(flow: &Flow) -> bool {
    let law = flow.cc.as_ref();
    flow.transport == Transport::Roce && law.is_some_and(|law| reads_telemetry(&law.kind))
}

fn reasons(
    s: &Scenario,
    nodes: &HashMap<String, usize>,
    routes: Option<&mut Routes<'_>>,
) -> Reasons {
    let holds_back = |link: &'_ Link| -> [Option<String>; 2] {
        let [first, second] = &link.ends;
        [(&link.forward, second), (&link.reverse, first)]
            .map(|(direction, end)| direction.pfc.as_ref().map(|_| end.clone()))
    };
    let switches: HashSet<String> = s.links.iter().flat_map(holds_back).flatten().collect();
    let of_device = |link: &Link, end: &String| {
        if link.pauses() {
            return Some("pauses (pfc)");
        }
        switches.contains(end).then_some("pauses (pfc) of other links of its switch")
    };
    let of_link = |link: &Link| [0, 1].map(|side| of_device(link, &link.ends[side]));
    let mut reasons: Reasons = s.links.iter().map(of_link).collect();
    if s.flows.iter().any(collects) {
        for reason in reasons.as_flattened_mut() {
            reason.get_or_insert("packets that collect telemetry (INT)");
        }
    }
    for (link, reasons) in s.links.iter().zip(&mut reasons) {
        for (direction, reason) in [&link.forward, &link.reverse].into_iter().zip(reasons) {
            let root = direction.qdisc.as_ref().map_or("", |root| &root.kind);
            if Registry::Qdisc.find(root).is_ok_and(|spec| is_whole_queue(spec.ns3)) {
                reason.get_or_insert("a discipline that cuts packets");
            }
        }
    }
    let Some(routes) = routes else { return reasons };
    for flow in s.flows.iter().filter(|flow| flow.transport.takes_turns()) {
        let path = path_of(flow, nodes, routes).unwrap_or_default();
        if let Some(&[link, side]) = path.first() {
            let why = match flow.transport {
                Transport::Trimming => "senders of packets that switches may cut, who take turns",
                _ => "senders over RoCE that take turns",
            };
            reasons[link][side].get_or_insert(why);
        }
    }
    let stacks = s.stacks.iter().filter(|stack| stack.transport.takes_turns());
    for workload in stacks.flat_map(|stack| s.workloads.iter().filter(|w| w.stack == stack.name)) {
        let sends = |end: &String| match &workload.sources {
            Some(named) => named.contains(end),
            None => s.links.iter().filter(|link| link.ends.contains(end)).count() == 1,
        };
        for (link, reasons) in s.links.iter().zip(&mut reasons) {
            for (_, reason) in link.ends.iter().zip(reasons).filter(|(end, _)| sends(end)) {
                reason.get_or_insert("senders of packets that switches may cut, who take turns");
            }
        }
    }
    reasons
}

fn path_of(
    flow: &Flow,
    nodes: &HashMap<String, usize>,
    routes: &mut Routes<'_>,
) -> Option<Vec<[usize; 2]>> {
    let [source, destination] = [&flow.source, &flow.destination].map(|name| nodes.get(name));
    routes.paths.between(*source?, *destination?)
}
