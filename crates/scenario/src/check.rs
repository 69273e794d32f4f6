//! Checks of meaning.  Goes through the scenario once, puts every value into its canonical form in
//! place, fills in what was left out, and collects all problems on the way.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Display;

use ccperf_engine::base::attributes::{Attributes, Spec};
use ccperf_engine::base::limits::{FASTEST, LONGEST, LONGEST_DELAY, MAX_ENDPOINTS, MAX_LINKS};
use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::base::units;
use ccperf_engine::host::tcp::socket_params::SOCKET;
use ccperf_engine::host::user::is_user_code;
use ccperf_engine::net::qdisc;
use ccperf_engine::net::routing::Paths;
use ccperf_engine::net::routing::balance::STATIC;
use ccperf_schema::lowered::Transport;
use ccperf_schema::written::{Algorithm, Flow, Ping, Scenario};
use ccperf_schema::{Problem, ScenarioError};

use super::attributes;
use super::names::{self, Registry};
use super::room::{self, Room};

/// The first ports that are given out (RFC 6335's dynamic range; iperf's server).
pub(super) const FIRST_SOURCE_PORT: u16 = 49152;
pub(super) const FIRST_DESTINATION_PORT: u16 = 5001;
/// The initial time to live: the 64th router discards the packet.
const MAX_HOPS: usize = 64;
/// Six bits (RFC 2474).
pub(super) const MAX_DSCP: u8 = 63;
/// Classes of flows that are there without being named.
const SIZE_CLASSES: [&str; 4] = ["all", "small", "medium", "large"];

/// # Errors
/// Everything that is wrong.
pub fn check(mut scenario: Scenario) -> Result<Scenario, ScenarioError> {
    let mut report = Report::default();
    report.scenario(&mut scenario);
    if report.problems.is_empty() { Ok(scenario) } else { Err(ScenarioError(report.problems)) }
}

#[derive(Default)]
pub(super) struct Report {
    problems: Vec<Problem>,
}

/// How to get from node to node.
pub(super) struct Routes<'a> {
    pub(super) paths: Paths,
    links: &'a [CheckedLink],
    /// Packets may take other links than those of the route.
    is_open: bool,
    /// Why packets cannot be cut into fragments, if they cannot.
    pub(super) uncut: Option<&'static str>,
}

/// What flows need to know of a link.
pub(super) struct CheckedLink {
    pub(super) ends: [usize; 2],
    /// Forward, reverse; `None` if the MTU was wrong.
    pub(super) mtu: [Option<u32>; 2],
}

/// Who sends to a port; `None`: from a port of its own, which is not given.
#[derive(Clone, Copy)]
struct Peer<'a> {
    node: &'a str,
    port: Option<u16>,
}

impl Peer<'_> {
    fn are_two((one, other): (Peer<'_>, Peer<'_>)) -> bool {
        one.node != other.node || one.port.zip(other.port).is_some_and(|(a, b)| a != b)
    }
}

/// Of a field, as `links[3].rate`: it is written only where something is wrong.
pub(super) type Path<'a> = &'a dyn Display;

/// How soon what starts may stop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shortest {
    /// When it starts: it connects, and closes at once.
    Instant,
    Later,
}

impl Report {
    pub(super) fn add(&mut self, path: impl Display, message: impl Into<String>) {
        self.problems.push(Problem { path: path.to_string(), message: message.into() });
    }

    /// How many problems there are so far.
    pub(super) fn count(&self) -> usize {
        self.problems.len()
    }

    pub(super) fn keep<T>(&mut self, path: Path<'_>, result: Result<T, String>) -> Option<T> {
        result.map_err(|message| self.add(path, message)).ok()
    }

    fn scenario(&mut self, s: &mut Scenario) {
        let stop = self.time(&"stop_time", &mut s.stop_time);
        if stop == Some(Time::ZERO) {
            self.add("stop_time", "0s leaves nothing to simulate; write a time above 0");
        }
        let stop = stop.filter(|stop| !stop.is_zero());
        let nodes = self.names("nodes", s.nodes.iter().map(String::as_str));
        self.names_of("links", s.links.iter().map(|link| link.name.as_str()));
        if s.links.len() > MAX_LINKS {
            self.add("links", format!("{} links are more than {MAX_LINKS}", s.links.len()));
        }
        let links: Vec<_> = s
            .links
            .iter_mut()
            .enumerate()
            .map(|(i, link)| self.link(&format_args!("links[{i}]"), link, &nodes, stop))
            .collect();
        self.addresses(&mut s.links);
        let known: HashSet<&str> = s.links.iter().map(|link| link.name.as_str()).collect();
        for (i, change) in s.changes.iter_mut().enumerate() {
            self.change(&format_args!("changes[{i}]"), change, &known, &s.links, stop);
        }
        self.pfc(s);
        self.routing(s);
        self.failures(s, stop);
        self.faults(&mut s.faults, &nodes, stop);
        // With a link missing, nobody knows what is unreachable.
        let links: Option<Vec<CheckedLink>> = links.into_iter().collect();
        let ends: Vec<_> = links.iter().flatten().map(|link| link.ends).collect();
        let mut routes = links.as_ref().map(|links| Routes {
            paths: Paths::new(s.nodes.len(), &ends),
            links,
            is_open: s.routing.kind != STATIC.ns3 || !s.failures.is_empty(),
            uncut: room::why_not_cut(s),
        });
        if s.flows.is_empty() && s.workloads.is_empty() {
            self.add("flows", "a scenario needs at least one flow, or a workload");
        }
        if s.flows.len() > MAX_ENDPOINTS {
            // Nothing else is said of them, which would take its time.
            let count = s.flows.len();
            return self.add("flows", format!("{count} flows are more than {MAX_ENDPOINTS}"));
        }
        self.flows(&mut s.flows, &nodes, routes.as_mut(), stop);
        self.pausable(s, &nodes, routes.as_mut());
        self.stacks(&mut s.stacks);
        let transfers = self.workloads(s, &nodes, routes.as_mut(), stop);
        for (i, ping) in s.pings.iter_mut().enumerate() {
            ping.name.get_or_insert_with(|| format!("ping_{}", i + 1));
        }
        if s.flows.len().saturating_add(s.pings.len()) > MAX_ENDPOINTS {
            let (flows, pings) = (s.flows.len(), s.pings.len());
            self.add("pings", format!("{pings} and {flows} flows are more than {MAX_ENDPOINTS}"));
        }
        self.sender_names(&s.flows, &s.pings);
        self.pings(&mut s.pings, &nodes, routes.as_mut(), stop);
        self.recording(s);
        if self.problems.is_empty() {
            self.cut_off(s);
        }
        self.memory(s, &transfers, routes.as_mut(), stop);
    }

    // Values with units.

    pub(super) fn time(&mut self, path: Path<'_>, text: &mut String) -> Option<Time> {
        let time = self.keep(path, units::parse_time(text))?;
        if time > LONGEST {
            let most = units::format_time(LONGEST);
            self.add(path, format!("`{text}` is too large; the longest time is {most}"));
            return None;
        }
        *text = units::format_time(time);
        Some(time)
    }

    pub(super) fn rate(&mut self, path: Path<'_>, text: &mut String) -> Option<Rate> {
        let rate = self.keep(path, units::parse_rate(text))?;
        if rate == Rate(0) {
            self.add(path, format!("{text} would never send a packet; write a rate above 0"));
            return None;
        }
        if rate > FASTEST {
            let most = units::format_rate(FASTEST);
            self.add(path, format!("`{text}` is too large; the highest rate is {most}"));
            return None;
        }
        *text = units::format_rate(rate);
        Some(rate)
    }

    /// The propagation delay of a link.
    pub(super) fn delay(&mut self, path: Path<'_>, text: &mut String) {
        if self.time(path, text).is_some_and(|delay| delay > LONGEST_DELAY) {
            let most = units::format_time(LONGEST_DELAY);
            self.add(path, format!("`{text}` is too large; the longest delay of a link is {most}"));
        }
    }

    pub(super) fn size(&mut self, path: Path<'_>, text: &mut String) -> Option<u64> {
        let bytes = self.keep(path, units::parse_size(text))?;
        *text = units::format_size(bytes);
        Some(bytes)
    }

    pub(super) fn probability(&mut self, path: Path<'_>, value: &mut f64) {
        if !(0.0..=1.0).contains(value) {
            self.add(path, format!("{value} is not a probability from 0 to 1"));
        }
        *value += 0.0; // -0 is 0
    }

    // Names.

    /// Index by name.
    fn names<'a>(
        &mut self,
        field: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> HashMap<String, usize> {
        let mut index = HashMap::new();
        for (i, name) in names.enumerate() {
            self.name(&format_args!("{field}[{i}]"), name, i, &mut index);
        }
        index
    }

    pub(super) fn names_of<'a>(&mut self, field: &str, names: impl Iterator<Item = &'a str>) {
        let mut index = HashMap::new();
        for (i, name) in names.enumerate() {
            self.name(&format_args!("{field}[{i}].name"), name, i, &mut index);
        }
    }

    fn name(&mut self, path: Path<'_>, name: &str, i: usize, index: &mut HashMap<String, usize>) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            self.add(
                path,
                format!("`{name}` is not a name; use letters, digits and any of `_-.:`"),
            );
        }
        if let Some(first) = index.get(name) {
            let path = path.to_string();
            let list = path.split('[').next().unwrap_or(&path);
            self.add(&path, format!("`{name}` is already the name of {list}[{first}]"));
        } else {
            index.insert(name.to_owned(), i);
        }
    }

    pub(super) fn node(
        &mut self,
        path: Path<'_>,
        name: &str,
        nodes: &HashMap<String, usize>,
    ) -> Option<usize> {
        let node = nodes.get(name).copied();
        if node.is_none() {
            let mut known: Vec<_> = nodes.iter().map(|(name, i)| (i, name.as_str())).collect();
            known.sort_unstable();
            let hint = names::hint(name, known.iter().map(|(_, name)| *name));
            self.add(path, format!("there is no node `{name}`; {hint}"));
        }
        node
    }

    // Algorithms and their attributes.

    pub(super) fn algorithm(
        &mut self,
        path: Path<'_>,
        algorithm: &mut Algorithm,
        registry: Registry,
    ) {
        if registry == Registry::Qdisc && names::is_discipline_of_linux(&algorithm.kind) {
            let found = names::discipline_of_linux(&algorithm.kind);
            self.keep(&format_args!("{path}.type"), found);
        } else if registry != Registry::Recovery && is_user_code(&algorithm.kind) {
            // The algorithm itself has to judge its attributes.
        } else if let Some(spec) =
            self.keep(&format_args!("{path}.type"), registry.find(&algorithm.kind))
        {
            algorithm.kind = spec.ns3.to_owned();
            self.attributes(&format_args!("{path}.attributes"), &mut algorithm.attributes, spec);
            if registry == Registry::Qdisc {
                let attributes = Attributes::new(spec, &algorithm.attributes);
                let check = qdisc::find(spec.ns3).expect("it is one of them").check;
                if let Err((name, message)) = check(&attributes) {
                    self.add(format!("{path}.attributes.{name}"), message);
                }
            }
        }
    }

    pub(super) fn attributes(
        &mut self,
        path: Path<'_>,
        given: &mut BTreeMap<String, String>,
        spec: &Spec,
    ) {
        let mut canonical = BTreeMap::new();
        for (word, text) in &*given {
            let taken = names::find_param(spec, word).and_then(|param| {
                attributes::normalise(param.kind, text).map(|value| (param.ns3, value))
            });
            let Some((name, value)) = self.keep(&format_args!("{path}.{word}"), taken) else {
                continue;
            };
            if canonical.insert(name.to_owned(), value).is_some() {
                let message = format!("{name} is given twice, under two names");
                self.add(format_args!("{path}.{word}"), message);
            }
        }
        *given = canonical;
    }

    // Flows.

    fn flows(
        &mut self,
        flows: &mut [Flow],
        nodes: &HashMap<String, usize>,
        mut routes: Option<&mut Routes<'_>>,
        stop: Option<Time>,
    ) {
        for (i, flow) in flows.iter_mut().enumerate() {
            flow.name.get_or_insert_with(|| format!("flow_{}", i + 1));
        }
        for (i, flow) in flows.iter_mut().enumerate() {
            let path = format!("flows[{i}]");
            self.active_times(&path, &mut flow.start, flow.stop.as_mut(), stop, Shortest::Instant);
            if let Some(text) = &mut flow.receiver_stop
                && self.time(&format_args!("{path}.receiver_stop"), text) == Some(Time::ZERO)
                && flow.transport.is_tcp()
            {
                self.add(format!("{path}.receiver_stop"), "0s receives nothing; leave it out");
            }
            self.attributes(&format_args!("{path}.tcp"), &mut flow.tcp, &SOCKET);
            self.application(&path, flow);
            match flow.transport {
                Transport::Tcp => self.tcp(&path, flow),
                Transport::Udp => self.udp(&path, flow),
                Transport::Roce => self.roce(&path, flow),
                Transport::Trimming => self.trimming(&path, flow),
            }
            self.code_point(&format_args!("{path}.dscp"), flow.dscp, flow.tos);
            self.code_point(&format_args!("{path}.return_dscp"), flow.return_dscp, flow.return_tos);
            self.pias(&path, &mut flow.pias, [flow.dscp, flow.tos]);
            self.demotes_what_ends(&path, flow);
            if let Some(added) = &mut flow.added_delay {
                self.added_delay(&format_args!("{path}.added_delay"), added);
            }
            if let Some(group) = &flow.group {
                self.class_name(&format_args!("{path}.group"), group);
            }
            let ends = [&flow.source, &flow.destination];
            let mtu = self.route(&path, ends, nodes, routes.as_deref_mut());
            let uncut = routes.as_ref().and_then(|routes| routes.uncut);
            let uncut = uncut.or(flow.added_delay.as_ref().map(|_| "with an added delay"));
            let room = mtu.map(|mtu| Room { mtu, uncut });
            match flow.transport {
                Transport::Tcp => self.segment_size(&format_args!("{path}.tcp"), &flow.tcp, room),
                Transport::Udp => self.datagram_size(&path, flow, room),
                Transport::Roce | Transport::Trimming => self.message_size(&path, flow, mtu),
            }
        }
        self.ports(flows);
    }

    /// Names in the packet trace: flows, then pings.
    fn sender_names(&mut self, flows: &[Flow], pings: &[Ping]) {
        let mut index = HashMap::new();
        for (i, flow) in flows.iter().enumerate() {
            let name = flow.name.as_deref().unwrap_or_default();
            self.name(&format_args!("flows[{i}].name"), name, i, &mut index);
        }
        let of_flows: HashSet<String> = index.keys().cloned().collect();
        for (i, ping) in pings.iter().enumerate() {
            let name = ping.name.as_deref().unwrap_or_default();
            if of_flows.contains(name) {
                self.add(format!("pings[{i}].name"), format!("`{name}` is the name of a flow"));
            } else {
                self.name(&format_args!("pings[{i}].name"), name, i, &mut index);
            }
        }
    }

    pub(super) fn active_times(
        &mut self,
        path: Path<'_>,
        start_text: &mut String,
        stop_text: Option<&mut String>,
        end: Option<Time>,
        shortest: Shortest,
    ) {
        let start = self.time(&format_args!("{path}.start"), start_text);
        if let (Some(start), Some(end)) = (start, end)
            && start >= end
        {
            let (start, end) = (&start_text, units::format_time(end));
            self.add(
                format!("{path}.start"),
                format!("{start} is not before stop_time ({end}): it would never start"),
            );
        }
        let Some(text) = stop_text else { return };
        let stop = self.time(&format_args!("{path}.stop"), text);
        // A stop at 0s would be none.
        let is_instant = shortest == Shortest::Instant && stop != Some(Time::ZERO);
        if let (Some(start), Some(stop)) = (start, stop)
            && (stop < start || stop == start && !is_instant)
        {
            let (start, stop) = (&start_text, &*text);
            self.add(
                format!("{path}.stop"),
                format!(
                    "{stop} is not after start ({start}); leave stop out for one that never stops"
                ),
            );
        }
    }

    pub(super) fn class_name(&mut self, path: Path<'_>, name: &str) {
        if SIZE_CLASSES.contains(&name) {
            let message =
                format!("`{name}` is the class of all flows of such a size; name it otherwise");
            self.add(path, message);
        } else {
            self.name(path, name, 0, &mut HashMap::new());
        }
    }

    pub(super) fn code_point(&mut self, path: Path<'_>, dscp: u8, tos: u8) {
        if dscp > MAX_DSCP {
            self.add(path, format!("{dscp} is no code point; write one from 1 to {MAX_DSCP}"));
        } else if dscp > 0 && tos > 0 {
            self.add(path, "overwrites the type of service; leave one of them out");
        }
    }

    /// Checks that both ends exist and that packets get from one to the other; returns the MTU.
    pub(super) fn route(
        &mut self,
        path: Path<'_>,
        [from, to]: [&String; 2],
        nodes: &HashMap<String, usize>,
        routes: Option<&mut Routes<'_>>,
    ) -> Option<u32> {
        let source = self.node(&format_args!("{path}.source"), from, nodes);
        let destination = self.node(&format_args!("{path}.destination"), to, nodes);
        let ends @ [source, destination] = [source?, destination?];
        if source == destination {
            self.add(format_args!("{path}.destination"), format!("`{to}` is the source as well"));
            return None;
        }
        self.mtu_between(&format_args!("{path}.destination"), [from, to], ends, routes?)
    }

    /// The MTU of the path between two nodes.
    pub(super) fn mtu_between(
        &mut self,
        destination_path: Path<'_>,
        [from, to]: [&String; 2],
        [source, destination]: [usize; 2],
        Routes { paths, links, is_open, .. }: &mut Routes<'_>,
    ) -> Option<u32> {
        let Some(route) = paths.between(source, destination) else {
            let message = format!(
                "no links lead from `{from}` to `{to}`; add some, or choose ends that are joined"
            );
            self.add(destination_path, message);
            return None;
        };
        if route.len() > MAX_HOPS {
            self.add(
                destination_path,
                format!("it is {} links away; packets live for {MAX_HOPS}", route.len()),
            );
        }
        if *is_open {
            return links.iter().flat_map(|link| link.mtu).flatten().min();
        }
        route.iter().filter_map(|&[link, direction]| links[link].mtu[direction]).min()
    }

    /// Fills in the ports that were left out: the next that is free at the node.
    fn ports(&mut self, flows: &mut [Flow]) {
        let mut used: HashMap<_, Vec<(&Flow, Option<Peer<'_>>)>> = HashMap::new();
        for (i, flow) in flows.iter().enumerate() {
            // One port of a host takes connections, or datagrams, from any number of others.
            let peer = Peer { node: &flow.source, port: flow.source_port };
            let given = [
                ("source_port", &flow.source, flow.source_port, None),
                ("destination_port", &flow.destination, flow.destination_port, Some(peer)),
            ];
            for (field, node, port, peer) in given {
                let Some(port) = port else { continue };
                let path = format!("flows[{i}].{field}");
                if port == 0 {
                    self.add(path, "0 is not a port; write one from 1 to 65535");
                    continue;
                }
                let users = used.entry((node.clone(), port, flow.transport)).or_default();
                let is_apart = |of: Option<Peer<'_>>| of.zip(peer).is_some_and(Peer::are_two);
                if let Some((other, _)) = users.iter().find(|(_, of)| !is_apart(*of)) {
                    let other = other.name.as_deref().unwrap_or_default();
                    self.add(path, format!("port {port} of `{node}` is in use by flow `{other}`"));
                } else if let Some((other, _)) = users.first()
                    && flow.transport == Transport::Udp
                    && other.receiver_stop != flow.receiver_stop
                {
                    let other = other.name.as_deref().unwrap_or_default();
                    self.add(
                        format!("flows[{i}].receiver_stop"),
                        format!(
                            "port {port} of `{node}` is read by one receiver; write as in `{other}`"
                        ),
                    );
                }
                users.push((flow, peer));
            }
        }
        let keys = used.into_keys();
        let mut used: BTreeSet<_> = keys.map(|(node, port, _)| (node, port)).collect();
        let mut next = HashMap::new();
        let mut full = HashSet::new();
        for (i, flow) in flows.iter_mut().enumerate() {
            let missing = [
                ("source_port", &flow.source, &mut flow.source_port, FIRST_SOURCE_PORT),
                (
                    "destination_port",
                    &flow.destination,
                    &mut flow.destination_port,
                    FIRST_DESTINATION_PORT,
                ),
            ];
            for (field, node, port, first) in missing {
                if port.is_some() {
                    continue;
                }
                let candidate = next.entry((node.clone(), first)).or_insert(first..=u16::MAX);
                *port = candidate.find(|&port| used.insert((node.clone(), port)));
                if port.is_none() && full.insert((node.clone(), field)) {
                    let message =
                        format!("`{node}` has no port left, for this flow and those after it");
                    self.add(format!("flows[{i}].{field}"), message);
                }
            }
        }
    }
}
