//! Parameters of algorithms under their ns-3 names: declared once, in a table beside the algorithm,
//! from which the checks, the command line, the documentation and the constructors all read.

use std::collections::BTreeMap;

use crate::base::time::{Rate, Time};
use crate::base::units::{self, QueueSize};

/// What a parameter's value looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Bool,
    /// An unsigned integer, bounds included.
    Uint {
        min: u64,
        max: u64,
    },
    /// A real number, bounds included.
    Real {
        min: f64,
        max: f64,
    },
    Time,
    /// A time above 0: that of a timer which sets itself again.
    Period,
    /// A time above 0: the time in a queue above which packets are marked.
    Threshold,
    /// A rate above 0.
    Rate,
    /// A rate, or 0 for none.
    OptionalRate,
    QueueSize,
    /// A queue size in packets.
    PacketLimit,
    /// The length of a queue from which packets are marked.
    MarkingLength,
    /// One of the words listed, as ns-3 spells them.
    Enum(&'static [&'static str]),
    /// A list of unsigned integers, bounds included.
    Numbers {
        min: u32,
        max: u32,
    },
    /// Sixteen band numbers (PrioQueueDisc's priority map).
    Priomap,
}

pub const U8: Kind = Kind::Uint { min: 0, max: u8::MAX as u64 };
pub const U16: Kind = Kind::Uint { min: 0, max: u16::MAX as u64 };
pub const U32: Kind = Kind::Uint { min: 0, max: u32::MAX as u64 };
pub const U64: Kind = Kind::Uint { min: 0, max: u64::MAX };
/// 0 is allowed.
pub const NOT_NEGATIVE: Kind = Kind::Real { min: 0.0, max: f64::INFINITY };
pub const FRACTION: Kind = Kind::Real { min: 0.0, max: 1.0 };

/// One parameter of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// ns-3's attribute name, e.g. `CeThreshold`.
    pub ns3: &'static str,
    /// The name Linux uses (tc option, module parameter, sysctl), or "" if it has none.
    pub linux: &'static str,
    pub kind: Kind,
    /// ns-3 3.44's default, in ns-3's spelling.
    pub default: &'static str,
    /// One sentence: what it is, and its unit if the kind does not say.
    pub doc: &'static str,
}

/// A parameter as a row of a table: ns-3's name and Linux's, if it has one; kind and default; a sentence.
macro_rules! param {
    ($ns3:expr; $kind:expr => $default:expr; $doc:expr) => {
        param![$ns3, ""; $kind => $default; $doc]
    };
    ($ns3:expr, $linux:expr; $kind:expr => $default:expr; $doc:expr) => {
        $crate::base::attributes::Param {
            ns3: $ns3,
            linux: $linux,
            kind: $kind,
            default: $default,
            doc: $doc,
        }
    };
}

pub(crate) use param;

/// What the registry knows of one algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// ns-3's class name without the namespace, e.g. `TcpCubic`.
    pub ns3: &'static str,
    /// The short names, Linux's and those of its tools where these have it; the first is the
    /// preferred one.
    pub linux: &'static [&'static str],
    /// Whether the first one is what mainline Linux calls it.
    pub is_in_linux: bool,
    /// One sentence.
    pub doc: &'static str,
    /// RFC or paper that defines it.
    pub source: &'static str,
    /// What ns-3 does otherwise than the source and, where it says so, than Linux: a clause each.
    pub departures: &'static [&'static str],
    pub params: &'static [Param],
}

/// The parameters of one instance: the given values over the defaults of its [`Spec`].
///
/// The lowering has checked names and values before; a lookup of a name that the table does not
/// hold, or under another kind, is a programming error and panics.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    spec: &'a Spec,
    given: &'a BTreeMap<String, String>,
}

impl<'a> Attributes<'a> {
    pub fn new(spec: &'a Spec, given: &'a BTreeMap<String, String>) -> Self {
        Attributes { spec, given }
    }

    /// The value as text, in ns-3's spelling.
    pub fn text(&self, name: &str) -> &str {
        let param = self.spec.params.iter().find(|p| p.ns3 == name);
        let param = param.unwrap_or_else(|| panic!("{} has no parameter {name}", self.spec.ns3));
        self.given.get(name).map_or(param.default, String::as_str)
    }

    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    pub fn bool(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    pub fn u32(&self, name: &str) -> u32 {
        self.parsed(name, self.text(name).parse().ok())
    }

    pub fn u64(&self, name: &str) -> u64 {
        self.parsed(name, self.text(name).parse().ok())
    }

    pub fn f64(&self, name: &str) -> f64 {
        self.parsed(name, self.text(name).parse().ok())
    }

    pub fn time(&self, name: &str) -> Time {
        self.parsed(name, units::parse_time(self.text(name)).ok())
    }

    pub fn rate(&self, name: &str) -> Rate {
        self.parsed(name, units::parse_rate(self.text(name)).ok())
    }

    pub fn queue_size(&self, name: &str) -> QueueSize {
        self.parsed(name, units::parse_queue_size(self.text(name)).ok())
    }

    pub fn numbers(&self, name: &str) -> Vec<u32> {
        self.parsed(name, units::parse_numbers(self.text(name)).ok())
    }

    fn parsed<T>(&self, name: &str, value: Option<T>) -> T {
        value.unwrap_or_else(|| panic!("{}::{name} = {}", self.spec.ns3, self.text(name)))
    }
}
