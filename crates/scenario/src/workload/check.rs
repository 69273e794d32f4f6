//! Checks of stacks and workloads.

use std::collections::{HashMap, HashSet};

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::base::limits::MAX_FLOWS;
use ccperf_engine::base::time::Time;
use ccperf_engine::base::units;
use ccperf_engine::host::tcp::socket_params::{PROFILE, SOCKET};
use ccperf_engine::packet::TRIMMING_HEADERS;
use ccperf_schema::lowered::Transport;
use ccperf_schema::written::{Arrivals, Pairs, Scenario, Sizes, Stack, Workload, default_recovery};

use super::generate::Plan;
use super::{plan, sizes};
use crate::check::{Path, Report, Routes, Shortest};
use crate::names::{self, Registry};
use crate::room::Room;

/// Nodes by name.
type Nodes = HashMap<String, usize>;

impl Report {
    pub(crate) fn stacks(&mut self, stacks: &mut [Stack]) {
        self.names_of("stacks", stacks.iter().map(|stack| stack.name.as_str()));
        for (i, stack) in stacks.iter_mut().enumerate() {
            let path = format!("stacks[{i}]");
            self.attributes(&format_args!("{path}.tcp"), &mut stack.tcp, &SOCKET);
            match stack.transport {
                Transport::Tcp => {
                    let registry = Registry::CongestionControl;
                    self.algorithm(&format_args!("{path}.cc"), &mut stack.cc, registry);
                }
                Transport::Trimming => self.trimming_of_stack(&path, stack),
                Transport::Udp | Transport::Roce => self.add(
                    format!("{path}.transport"),
                    "is of flows that are written one by one; workloads have TCP or TRIMMING",
                ),
            }
            let recovery = Registry::Recovery.find(&stack.recovery);
            if let Some(spec) = self.keep(&format_args!("{path}.recovery"), recovery) {
                stack.recovery = spec.ns3.to_owned();
            }
            self.types_of_service(&path, [stack.tos, stack.return_tos]);
            self.attributes_of_releases(&path, Some(&stack.cc), &stack.tcp);
            self.code_point(&format_args!("{path}.dscp"), stack.dscp, stack.tos);
            self.code_point(
                &format_args!("{path}.return_dscp"),
                stack.return_dscp,
                stack.return_tos,
            );
            self.pias(&path, &mut stack.pias, [stack.dscp, stack.tos]);
        }
    }

    /// Returns how many transfers each has.  `routes`: none if a link is wrong, which has been said.
    pub(crate) fn workloads(
        &mut self,
        s: &mut Scenario,
        nodes: &Nodes,
        mut routes: Option<&mut Routes<'_>>,
        stop: Option<Time>,
    ) -> Vec<usize> {
        let mut counts = vec![0; s.workloads.len()];
        self.names_of("workloads", s.workloads.iter().map(|workload| workload.name.as_str()));
        let mut total = s.flows.len() + s.pings.len();
        for i in 0..s.workloads.len() {
            let path = format!("workloads[{i}]");
            let before = self.count();
            let mut workload = s.workloads[i].clone();
            self.workload(&path, &mut workload, s, nodes, stop);
            self.answers(&path, &workload, &s.workloads[..i]);
            // Answers need what they answer: their plan looks it up.
            let requests = match &workload.arrivals {
                Arrivals::Answers { to, .. } => s.workloads[..i].iter().position(|w| w.name == *to),
                _ => None,
            };
            s.workloads[i] = workload;
            if requests.is_some_and(|requests| counts[requests] == 0) {
                continue;
            }
            // Only one that makes sense so far can be drawn.
            if self.count() > before {
                continue;
            }
            let (Some(routes), Some(_)) = (routes.as_deref_mut(), stop) else { continue };
            let most = MAX_FLOWS.saturating_sub(total);
            let workload = &s.workloads[i];
            let transfers = self.transfers(&path, workload, s, nodes, routes, most);
            counts[i] = transfers;
            total += transfers;
        }
        // Flows have what they took of theirs.
        s.stacks.retain(|stack| s.workloads.iter().any(|workload| workload.stack == stack.name));
        counts
    }

    fn workload(
        &mut self,
        path: Path<'_>,
        workload: &mut Workload,
        s: &Scenario,
        nodes: &Nodes,
        stop: Option<Time>,
    ) {
        self.class_name(&format_args!("{path}.name"), &workload.name);
        for (i, flow) in s.flows.iter().enumerate() {
            let name = flow.name.as_deref().unwrap_or_default();
            let number = name.strip_prefix(&workload.name).and_then(|rest| rest.strip_prefix('_'));
            if number.is_some_and(|number| number.parse::<u64>().is_ok()) {
                let message =
                    format!("`{name}` is the name of a transfer of the workload; choose another");
                self.add(format!("flows[{i}].name"), message);
            }
        }
        if !s.stacks.iter().any(|stack| stack.name == workload.stack) {
            let hint = names::hint(&workload.stack, s.stacks.iter().map(|stack| &*stack.name));
            let message = format!("there is no stack `{}`; {hint}", workload.stack);
            self.add(format!("{path}.stack"), message);
        }
        for (field, names) in
            [("sources", &workload.sources), ("destinations", &workload.destinations)]
        {
            if let Some(names) = names {
                self.nodes_of(&format_args!("{path}.{field}"), names, nodes);
            }
        }
        for (i, set) in workload.apart.iter().enumerate() {
            self.nodes_of(&format_args!("{path}.apart[{i}]"), set, nodes);
        }
        self.arrivals(&format_args!("{path}.arrivals"), &mut workload.arrivals, stop);
        self.pairs(&format_args!("{path}.pairs"), workload, nodes);
        self.sizes(&format_args!("{path}.sizes"), &mut workload.sizes);
        if let Some(added) = &mut workload.added_delay {
            self.added_delay(&format_args!("{path}.added_delay"), added);
        }
        self.connections(path, workload, s);
        let write = format!("{path}.write");
        if self.size(&write, &mut workload.write) == Some(0) {
            self.add(write, "0B would never send; write a size above 0");
        }
        self.gap(path, workload);
    }

    fn gap(&mut self, path: Path<'_>, workload: &mut Workload) {
        let Some(gap) = &mut workload.gap else { return };
        let path = format!("{path}.gap");
        let length = self.time(&path, gap);
        if length.is_some_and(Time::is_zero) {
            self.add(path, "0s is no pause; leave it out");
        } else if workload.connections.is_some() {
            self.add(path, "is of transfers that close their connections; leave out connections");
        }
    }

    /// Nothing of TCP's.
    fn trimming_of_stack(&mut self, path: Path<'_>, stack: &mut Stack) {
        self.algorithm(&format_args!("{path}.cc"), &mut stack.cc, Registry::Trimming);
        let given = [
            ("recovery", stack.recovery != default_recovery()),
            ("tcp", stack.tcp.keys().any(|name| name != PROFILE)),
            ("pias", !stack.pias.is_empty()),
        ];
        self.not_of(path, "TRIMMING", given);
    }

    fn connections(&mut self, path: Path<'_>, workload: &Workload, s: &Scenario) {
        let Some(connections) = workload.connections else { return };
        let path = format!("{path}.connections");
        if connections == 0 {
            self.add(&path, "0 carry nothing; leave it out for one a transfer");
        }
        let stack = s.stacks.iter().find(|stack| stack.name == workload.stack);
        if stack.is_some_and(|stack| stack.transport == Transport::Trimming) {
            self.add(&path, "are TCP's, and this stack's transport is TRIMMING; leave it out");
        }
        if stack.is_some_and(|stack| !stack.pias.is_empty()) {
            self.add(path, "stay open, and PIAS counts the bytes of a connection; leave one out");
        }
    }

    fn nodes_of(&mut self, path: Path<'_>, names: &[String], nodes: &Nodes) {
        let mut seen = HashSet::new();
        if names.is_empty() {
            self.add(path, "names no node; leave it out for all hosts");
        }
        for (i, name) in names.iter().enumerate() {
            let path = format!("{path}[{i}]");
            if self.node(&path, name, nodes).is_some() && !seen.insert(name) {
                self.add(path, format!("`{name}` is named twice"));
            }
        }
    }

    fn arrivals(&mut self, path: Path<'_>, arrivals: &mut Arrivals, stop: Option<Time>) {
        match arrivals {
            Arrivals::Poisson { load, capacity, start, until, count } => {
                if !(*load > 0.0 && *load < 1.0) {
                    let message = format!("{load} is not between 0 and 1, as 0.6 for 60 %");
                    self.add(format!("{path}.load"), message);
                }
                if let Some(capacity) = capacity {
                    self.rate(&format_args!("{path}.capacity"), capacity);
                }
                self.active_times(path, start, None, stop, Shortest::Later);
                if let Some(text) = until
                    && let Some(until) = self.time(&format_args!("{path}.until"), text)
                    && units::parse_time(start).is_ok_and(|start| until <= start)
                {
                    self.add(
                        format!("{path}.until"),
                        format!("{text} is not after start ({start})"),
                    );
                }
                if *count == Some(0) {
                    self.add(
                        format!("{path}.count"),
                        "0 arrivals are none; leave it out for no limit",
                    );
                }
            }
            Arrivals::Times { times } => {
                let mut before = Time::ZERO;
                for (i, text) in times.iter_mut().enumerate() {
                    let path = format!("{path}.times[{i}]");
                    let Some(time) = self.time(&path, text) else { continue };
                    if stop.is_some_and(|stop| time >= stop) {
                        self.add(path, format!("{text} is not before stop_time"));
                    } else if time < before {
                        self.add(
                            path,
                            format!("{text} is before the time in front of it; sort them"),
                        );
                    }
                    before = time;
                }
                if times.is_empty() {
                    self.add(format!("{path}.times"), "are none; give at least one");
                }
            }
            Arrivals::Answers { delay, .. } => {
                self.time(&format_args!("{path}.delay"), delay);
            }
            Arrivals::After { after, delays, start } => {
                self.active_times(path, start, None, stop, Shortest::Later);
                for (i, numbers) in after.iter().enumerate() {
                    for (j, &number) in numbers.iter().enumerate() {
                        let path = format!("{path}.after[{i}][{j}]");
                        if number == 0 || number as usize > i {
                            let message = format!(
                                "{number} is no transfer before transfer {}; they count from 1",
                                i + 1
                            );
                            self.add(path, message);
                        } else if numbers[..j].contains(&number) {
                            self.add(path, format!("{number} is named twice"));
                        }
                    }
                }
                for (i, text) in delays.iter_mut().enumerate() {
                    self.time(&format_args!("{path}.delays[{i}]"), text);
                }
                if after.is_empty() {
                    self.add(format!("{path}.after"), "are none; give at least one");
                } else if !delays.is_empty() && delays.len() != after.len() {
                    let message = format!("are {}, and after {}", delays.len(), after.len());
                    self.add(format!("{path}.delays"), message);
                }
            }
        }
    }

    /// `before`: the workloads in front of it.
    fn answers(&mut self, path: Path<'_>, workload: &Workload, before: &[Workload]) {
        let Arrivals::Answers { to, .. } = &workload.arrivals else { return };
        let names = || before.iter().map(|workload| &*workload.name);
        if !names().any(|name| name == to) {
            let hint = names::hint(to, names());
            let message = format!("there is no workload `{to}` in front of this one; {hint}");
            self.add(format!("{path}.arrivals.to"), message);
        }
        let Workload { sources, destinations, apart, pairs, .. } = workload;
        let has_ends = sources.is_some() || destinations.is_some() || !apart.is_empty();
        if has_ends || *pairs != Pairs::Random {
            let message = "go back to where requests come from; leave sources, destinations, apart \
                           and pairs out";
            self.add(format!("{path}.pairs"), message);
        }
    }

    fn pairs(&mut self, path: Path<'_>, workload: &Workload, nodes: &Nodes) {
        let has_ends = workload.sources.is_some() || workload.destinations.is_some();
        let waits = matches!(workload.arrivals, Arrivals::After { .. });
        match &workload.pairs {
            Pairs::Permutation | Pairs::Incast { .. } | Pairs::AllToAll if waits => {
                self.add(path, "make several transfers of one that waits; list the pairs");
            }
            Pairs::Permutation if workload.destinations.is_some() || !workload.apart.is_empty() => {
                self.add(
                    path,
                    "a permutation is among the sources; leave destinations and apart out",
                );
            }
            Pairs::Listed { .. } if has_ends || !workload.apart.is_empty() => {
                self.add(path, "are listed; leave sources, destinations and apart out");
            }
            Pairs::Listed { pairs } => {
                for (i, [from, to]) in pairs.iter().enumerate() {
                    let path = format!("{path}.pairs[{i}]");
                    self.node(&format_args!("{path}[0]"), from, nodes);
                    self.node(&format_args!("{path}[1]"), to, nodes);
                    if from == to {
                        self.add(path, format!("`{to}` is the source as well"));
                    }
                }
                if pairs.is_empty() {
                    self.add(format!("{path}.pairs"), "are none; give at least one");
                }
            }
            Pairs::Incast { senders: Some(0) } => {
                self.add(format!("{path}.senders"), "0 make no transfer; leave it out for all");
            }
            _ => {}
        }
    }

    fn sizes(&mut self, path: Path<'_>, sizes: &mut Sizes) {
        let one = |report: &mut Report, path: String, text: &mut String| {
            let bytes = report.size(&path, text)?;
            if bytes == 0 || bytes as f64 > sizes::MAX_BYTES {
                report.add(path, format!("{text} is not from 1B to {}B", sizes::MAX_BYTES));
                return None;
            }
            Some(bytes)
        };
        match sizes {
            Sizes::WebSearch | Sizes::DataMining | Sizes::Facebook => {}
            Sizes::Cdf { points } => {
                if let Some((i, message)) = sizes::problem(points) {
                    self.add(format!("{path}.points[{i}]"), message);
                }
            }
            Sizes::Constant { bytes } => {
                one(self, format!("{path}.bytes"), bytes);
            }
            Sizes::Uniform { min, max } => {
                let least = one(self, format!("{path}.min"), min);
                let most = one(self, format!("{path}.max"), max);
                if let (Some(least), Some(most)) = (least, most)
                    && least > most
                {
                    self.add(format!("{path}.max"), format!("{max} is below min ({min})"));
                }
            }
            Sizes::Listed { bytes } => {
                for (i, text) in bytes.iter_mut().enumerate() {
                    one(self, format!("{path}.bytes[{i}]"), text);
                }
                if bytes.is_empty() {
                    self.add(format!("{path}.bytes"), "are none; give at least one");
                }
            }
        }
    }

    /// Draws the transfers and checks that they can be carried; returns how many there are.
    fn transfers(
        &mut self,
        path: Path<'_>,
        workload: &Workload,
        s: &Scenario,
        nodes: &Nodes,
        routes: &mut Routes<'_>,
        most: usize,
    ) -> usize {
        let nodes = nodes.iter().map(|(name, &node)| (name.as_str(), node)).collect();
        let plan = plan(workload, s, &nodes);
        if !self.ends(path, &plan, s) {
            return 0;
        }
        let transfers = plan.transfers(most);
        if transfers.is_empty() {
            self.add(format!("{path}.arrivals"), none_in_time(&workload.arrivals, &s.stop_time));
        }
        if transfers.len() > most {
            let message = format!(
                "makes more than {most} transfers, which is all that are left of {MAX_FLOWS}"
            );
            self.add(format!("{path}.arrivals"), message);
            return 0;
        }
        let pairs: HashSet<_> = transfers.iter().map(|t| [t.source, t.destination]).collect();
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_unstable();
        let mut least: Option<u32> = None;
        for [source, destination] in pairs {
            let ends = [&s.nodes[source], &s.nodes[destination]];
            match self.mtu_between(path, ends, [source, destination], routes) {
                Some(mtu) => least = Some(least.map_or(mtu, |least| least.min(mtu))),
                None => return transfers.len(),
            }
        }
        if let Some(i) = s.stacks.iter().position(|stack| stack.name == workload.stack) {
            if s.stacks[i].transport == Transport::Trimming {
                self.packet_size(
                    &format_args!("{path}.write"),
                    &workload.write,
                    TRIMMING_HEADERS,
                    least,
                );
                return transfers.len();
            }
            let tcp = &s.stacks[i].tcp;
            let uncut = Some("of a workload");
            let room = least.map(|mtu| Room { mtu, uncut });
            self.segment_size(&format_args!("stacks[{i}].tcp"), tcp, room);
            let buffer = Attributes::new(&SOCKET, tcp).u32("SndBufSize");
            let write = units::parse_size(&workload.write).unwrap_or(0);
            if write > u64::from(buffer) {
                let write = &workload.write;
                let message =
                    format!("{write} never fits in the send buffer of {buffer}B; lower it");
                self.add(format!("{path}.write"), message);
            }
        }
        transfers.len()
    }

    fn ends(&mut self, path: Path<'_>, plan: &Plan, s: &Scenario) -> bool {
        let few = |what: &str| format!("there is no {what}: no node has just one link; name some");
        if plan.sources.is_empty() {
            self.add(format!("{path}.sources"), few("source"));
        } else if plan.destinations.is_empty() {
            self.add(format!("{path}.destinations"), few("destination"));
        } else if let Some(node) = plan.stranded() {
            let message = format!("`{}` has nobody to send to", s.nodes[node]);
            self.add(format!("{path}.destinations"), message);
        } else if plan.most_senders() == Some(0) {
            // Arrivals without a transfer would have no rate.
            self.add(format!("{path}.destinations"), "no source may send to any of them");
        } else if let Pairs::Incast { senders: Some(senders) } = plan.pairs
            && let Some(most) = plan.most_senders()
            && senders as usize > most
        {
            let message = format!("{senders} are more than the {most} that may send; lower it");
            self.add(format!("{path}.pairs.senders"), message);
        } else if plan.is_permutation() && plan.sources.len() < 2 {
            self.add(format!("{path}.sources"), "a permutation needs at least two");
        } else {
            return true;
        }
        false
    }
}

/// What to say of arrivals before whose end nothing begins.
fn none_in_time(arrivals: &Arrivals, stop_time: &str) -> String {
    let ns = |text| units::parse_time(text).ok();
    match arrivals {
        Arrivals::Poisson { until: Some(until), .. } if ns(until) < ns(stop_time) => {
            format!("makes no transfer before until ({until}); raise load or until")
        }
        Arrivals::Poisson { .. } => {
            format!("makes no transfer before stop_time ({stop_time}); raise load or stop_time")
        }
        _ => format!("makes no transfer before stop_time ({stop_time}); raise it"),
    }
}
