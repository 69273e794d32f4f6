//! Finding things by the names people use, and suggesting the nearest when there is no such name.

use ccperf_engine::base::attributes::{Param, Spec};
use ccperf_engine::host::{congestion, rate_control, recovery, trimming};
use ccperf_engine::net::qdisc;
use ccperf_engine::net::routing::balance;

/// The queue disciplines of Linux's kernel that the backend `linux` can be told of.
const OF_LINUX: &[&str] = &[
    "linux:bfifo",
    "linux:cake",
    "linux:codel",
    "linux:dualpi2",
    "linux:fq",
    "linux:fq_codel",
    "linux:hhf",
    "linux:netem",
    "linux:pfifo",
    "linux:pfifo_fast",
    "linux:pfifo_head_drop",
    "linux:pie",
    "linux:prio",
    "linux:red",
    "linux:sfq",
    "linux:tbf",
];
const IN_LINUX: &str = "linux:";

/// The tables of algorithms that a name can be looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registry {
    CongestionControl,
    Qdisc,
    Recovery,
    Routing,
    /// Of senders over RoCE.
    RateControl,
    Trimming,
}

impl Registry {
    pub fn specs(self) -> &'static [&'static Spec] {
        match self {
            Registry::CongestionControl => congestion::SPECS,
            Registry::Qdisc => qdisc::SPECS,
            Registry::Recovery => recovery::SPECS,
            Registry::Routing => balance::SPECS,
            Registry::RateControl => rate_control::SPECS,
            Registry::Trimming => trimming::SPECS,
        }
    }

    /// ns-3 has what is in it, but for what is said to be our own.
    pub fn is_in_ns3(self) -> bool {
        !matches!(self, Registry::RateControl | Registry::Trimming)
    }

    fn noun(self) -> &'static str {
        match self {
            Registry::CongestionControl => "congestion control algorithm",
            Registry::Qdisc => "queue discipline",
            Registry::Recovery => "loss recovery algorithm",
            Registry::Routing => "kind of routing",
            Registry::RateControl => "rate control of RoCE",
            Registry::Trimming => "transport over switches that trim",
        }
    }

    /// Where a scenario names what is in it.
    fn place(self) -> &'static str {
        match self {
            Registry::CongestionControl => "`cc` of a flow over TCP takes it",
            Registry::Qdisc => "`qdisc` of a link takes it",
            Registry::Recovery => "`recovery` of a flow takes it",
            Registry::Routing => "`routing` takes it",
            Registry::RateControl => "a flow with transport = \"ROCE\" takes it",
            Registry::Trimming => "a flow with transport = \"TRIMMING\" takes it",
        }
    }

    /// The other table that has an algorithm of this name.
    fn other(self, plain: &str) -> Option<Registry> {
        const ALL: [Registry; 6] = [
            Registry::CongestionControl,
            Registry::Qdisc,
            Registry::Recovery,
            Registry::Routing,
            Registry::RateControl,
            Registry::Trimming,
        ];
        let is = |name: &&str| name.eq_ignore_ascii_case(plain);
        ALL.into_iter().find(|&table| {
            table != self
                && table.specs().iter().any(|spec| is(&spec.ns3) || spec.linux.iter().any(&is))
        })
    }

    /// The algorithm called `word` by ns-3 (with or without `ns3::`) or by Linux, in any case.
    ///
    /// # Errors
    /// A message with the nearest name, or with all of them.
    pub fn find(self, word: &str) -> Result<&'static Spec, String> {
        let plain = without_namespace(word);
        let known_as = |spec: &Spec| std::iter::once(spec.ns3).chain(spec.linux.iter().copied());
        let specs = self.specs();
        let called = |plain: &str| {
            specs.iter().find(|spec| known_as(spec).any(|name| name.eq_ignore_ascii_case(plain)))
        };
        if let Some(spec) = called(plain) {
            return Ok(spec);
        }
        // Parameters as tc or ns-3 has them, or a bracket that is not closed.
        let begin = plain.find(|c: char| c.is_whitespace() || "([:".contains(c));
        if let Some((name, rest)) = begin.map(|at| plain.split_at(at))
            && called(name).is_some()
        {
            let is_tc = matches!(self, Registry::Qdisc) && rest.starts_with(char::is_whitespace);
            let linux = if is_tc {
                format!("; tc's words are for Linux's own: linux:{plain}")
            } else {
                String::new()
            };
            return Err(format!("`{word}`: write parameters as {name}(Name=value){linux}"));
        }
        let (name, rest) = begin.map_or((plain, ""), |at| plain.split_at(at));
        if matches!(self, Registry::Qdisc)
            && let Some(linux) =
                OF_LINUX.iter().find(|it| it[IN_LINUX.len()..].eq_ignore_ascii_case(name))
        {
            return Err(format!(
                "`{word}` is a discipline of Linux's kernel; write {linux}{rest}, which the \
                 backend linux runs"
            ));
        }
        if let Some(other) = self.other(plain) {
            let (is, wanted, place) = (other.noun(), self.noun(), other.place());
            return Err(format!("`{word}` is a {is}, no {wanted}; {place}"));
        }
        let names = specs.iter().flat_map(|spec| known_as(spec).map(|name| (name, spec.ns3)));
        // Classes that ns-3 had once, as TcpReno, are called as Linux's algorithms are.
        let short =
            plain.get(..3).filter(|tcp| tcp.eq_ignore_ascii_case("Tcp")).map(|_| &plain[3..]);
        let meant = short.and_then(called).map(|spec| spec.ns3);
        let hint = match meant.or_else(|| nearest(plain, names)) {
            Some(ns3) => format!("did you mean `{ns3}`?"),
            None => format!("there are {}", list(specs.iter().map(|spec| spec.ns3))),
        };
        Err(format!("`{word}` is not a {}; {hint}", self.noun()))
    }
}

/// Whether `name` is a discipline of Linux's kernel, or should be: `linux:fq_codel`.
pub fn is_discipline_of_linux(name: &str) -> bool {
    name.starts_with(IN_LINUX)
}

/// The discipline of Linux's kernel of this name.
///
/// # Errors
/// A message with the nearest name, or with all of them.
pub fn discipline_of_linux(name: &str) -> Result<&'static str, String> {
    OF_LINUX.iter().find(|&&known| known == name).copied().ok_or_else(|| {
        let bare = name.trim_start_matches(IN_LINUX);
        let hint = hint(bare, OF_LINUX.iter().map(|known| &known[IN_LINUX.len()..]));
        format!("`{name}` is no queue discipline that the backend linux knows; {hint}")
    })
}

/// A name without ns-3's namespace, in any case.
fn without_namespace(word: &str) -> &str {
    const NAMESPACE: &str = "ns3::";
    match word.get(..NAMESPACE.len()) {
        Some(prefix) if prefix.eq_ignore_ascii_case(NAMESPACE) => &word[NAMESPACE.len()..],
        _ => word,
    }
}

/// The classes of ns-3 that the attributes of a socket belong to.
const SOCKETS: &[&str] = &["TcpSocket", "TcpSocketBase", "TcpSocketState"];
/// What ns-3's `TcpL4Protocol` and `TcpSocketBase` say of a socket, and a flow says for itself.
const OF_FLOWS: &[(&str, &str)] = &[
    ("SocketType", "cc"),
    ("CongestionOps", "cc"),
    ("RecoveryType", "recovery"),
    ("RecoveryOps", "recovery"),
];

/// An attribute's name without the class that has it: `ns3::TcpSocket::SegmentSize`.
fn without_class<'a>(spec: &Spec, word: &'a str) -> &'a str {
    let is_its = |class: &str| {
        class.eq_ignore_ascii_case(spec.ns3)
            || (spec.ns3 == SOCKETS[0] && SOCKETS.iter().any(|it| it.eq_ignore_ascii_case(class)))
    };
    match without_namespace(word).rsplit_once("::") {
        Some((class, name)) if is_its(class) => name,
        _ => word,
    }
}

/// The parameter called `word` by ns-3, with or without its class, or by Linux, in any case.
///
/// # Errors
/// A message with the nearest name, or with all of them.
pub fn find_param(spec: &Spec, word: &str) -> Result<&'static Param, String> {
    let known_as = |p: &Param| [p.ns3, p.linux].into_iter().filter(|name| !name.is_empty());
    // The tables are constants, so each parameter outlives the borrow of its spec.
    let params: &'static [Param] = spec.params;
    let plain = without_class(spec, word);
    let is = |p: &&Param| known_as(p).any(|name| name.eq_ignore_ascii_case(plain));
    if let Some(param) = params.iter().find(is) {
        return Ok(param);
    }
    let bare = word.rsplit("::").next().unwrap_or(word);
    let of_flow = OF_FLOWS.iter().find(|(name, _)| name.eq_ignore_ascii_case(bare));
    if let Some((_, field)) = of_flow.filter(|_| spec.ns3 == SOCKETS[0]) {
        return Err(format!("`{word}` is no attribute of a socket; `{field}` of a flow takes it"));
    }
    let hint = if params.is_empty() {
        "it has none".to_owned()
    } else {
        match nearest(word, params.iter().flat_map(|p| known_as(p).map(|name| (name, p.ns3)))) {
            Some(ns3) => format!("did you mean `{ns3}`?"),
            None => format!("there are {}", list(params.iter().map(|p| p.ns3))),
        }
    };
    Err(format!("{} has no attribute `{word}`; {hint}", spec.ns3))
}

/// What to say after "there is no such `noun`".
pub fn hint<'a>(word: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(word, names.clone().map(|name| (name, name))) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there are {}", list(names)),
    }
}

/// The value whose key is nearest to `word`, if any is near enough to be a slip of the finger.
fn nearest<'a>(word: &str, keyed: impl Iterator<Item = (&'a str, &'a str)>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    let allowed = (length / 3).max(1).min(length.saturating_sub(1));
    keyed
        .map(|(key, value)| (strsim::damerau_levenshtein(&word, &key.to_lowercase()), value))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, value)| value)
}

/// The names, cut when there are too many to read.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 40;
    let names: Vec<_> = names.collect();
    let shown = names[..names.len().min(SHOWN)].join(", ");
    let rest = names.len().saturating_sub(SHOWN);
    if rest > 0 { format!("{shown} and {rest} more") } else { shown }
}
