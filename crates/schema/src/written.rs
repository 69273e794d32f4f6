//! The scenario as written: `docs/design/contract.md` as Rust types.  Numbers with units stay text
//! here.

mod added_delay;
mod texts;
mod workload;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use added_delay::AddedDelay;
pub use texts::{Algorithm, default_recovery};
use texts::{attributes, default_write, zero_time};
pub use workload::{Arrivals, Pairs, Sizes, Stack, Workload};

use crate::lowered::{DeviceSelect, Transport};
use crate::{Problem, ScenarioError};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default)]
    pub label: String,
    pub stop_time: String,
    #[serde(default = "one")]
    pub seed: u64,
    pub nodes: Vec<String>,
    pub links: Vec<Link>,
    #[serde(default)]
    pub changes: Vec<Change>,
    /// How nodes choose among paths of equal length.
    #[serde(default = "first_shortest", skip_serializing_if = "is_first_shortest")]
    pub routing: Algorithm,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    #[serde(default)]
    pub flows: Vec<Flow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Stack>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<Workload>,
    #[serde(default)]
    pub pings: Vec<Ping>,
    /// Sysctls of the backend `linux`, which others leave alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub linux: BTreeMap<String, String>,
    #[serde(default)]
    pub recording: Recording,
}

impl Scenario {
    /// # Errors
    /// The first mistake of shape, with the path of its field.
    pub fn from_json(json: &str) -> Result<Scenario, ScenarioError> {
        let problem = |path: String, error: serde_json::Error| {
            let mut message = error.to_string();
            if !path.is_empty() {
                // The path says more than a position in JSON that a program has written.
                message.truncate(message.rfind(" at line ").unwrap_or(message.len()));
            }
            ScenarioError(vec![Problem { path, message }])
        };
        let mut reader = serde_json::Deserializer::from_str(json);
        let scenario = serde_path_to_error::deserialize(&mut reader).map_err(|e| {
            let path = e.path().to_string();
            problem(if path == "." { String::new() } else { path }, e.into_inner())
        })?;
        reader.end().map_err(|e| problem(String::new(), e))?;
        Ok(scenario)
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub name: String,
    pub ends: [String; 2],
    pub rate: String,
    pub delay: String,
    #[serde(default)]
    pub addresses: Option<[String; 2]>,
    #[serde(default)]
    pub forward: Direction,
    #[serde(default)]
    pub reverse: Direction,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<Schedule>,
}

impl Link {
    /// Whether a direction of it does.
    pub fn pauses(&self) -> bool {
        self.forward.pfc.is_some() || self.reverse.pfc.is_some()
    }
}

/// New values of a link from given times on, in columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Which direction the rates and losses are of.
    #[serde(default)]
    pub direction: DirectionName,
    pub times_ns: Vec<u64>,
    #[serde(default)]
    pub rates_bps: Option<Vec<u64>>,
    #[serde(default)]
    pub delays_ns: Option<Vec<u64>>,
    #[serde(default)]
    pub losses: Option<Vec<f64>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Direction {
    /// `None`: the link's.
    pub rate: Option<String>,
    /// `None`: packets go straight to the device.
    pub qdisc: Option<Algorithm>,
    /// The size of each of the device's queues.
    pub device_queue: String,
    /// How many transmit queues the device has.
    pub device_queues: u16,
    pub device_select: DeviceSelect,
    pub queue_limits: Option<QueueLimits>,
    pub mtu: String,
    pub loss: f64,
    /// `None`: one of the direction's own.
    pub loss_stream: Option<u64>,
    pub drop: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gilbert_elliott: Option<GilbertElliott>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering: Option<Reordering>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pfc: Option<Pfc>,
}

impl Default for Direction {
    fn default() -> Self {
        let max_size = ("MaxSize".to_owned(), "1000p".to_owned());
        Direction {
            rate: None,
            qdisc: Some(Algorithm {
                kind: "FifoQueueDisc".to_owned(),
                attributes: BTreeMap::from([max_size]),
                stream: None,
                children: Vec::new(),
            }),
            device_queue: "100p".to_owned(),
            device_queues: 1,
            device_select: DeviceSelect::Flow,
            queue_limits: None,
            mtu: "1500B".to_owned(),
            loss: 0.0,
            loss_stream: None,
            drop: Vec::new(),
            gilbert_elliott: None,
            jitter: None,
            reordering: None,
            pfc: None,
        }
    }
}

/// Priority-based flow control: how the node at the far end has a direction pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Those that lose nothing.
    #[serde(default = "third_priority")]
    pub priorities: Vec<u8>,
    /// Either this, or `alpha` and `buffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xoff: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// `None`: two frames.
    #[serde(default)]
    pub hysteresis: Option<String>,
    /// `None`: what may come after a pause frame was asked for.
    #[serde(default)]
    pub headroom: Option<String>,
    #[serde(default = "most_quanta")]
    pub quanta: u16,
    #[serde(default = "zero_time")]
    pub response: String,
}

fn third_priority() -> Vec<u8> {
    vec![3]
}

fn most_quanta() -> u16 {
    u16::MAX
}

/// A channel that is good or bad, good at first; each packet moves it, then is lost by its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probabilities that a packet finds the good channel bad, and the bad one good again.
    pub to_bad: f64,
    pub to_good: f64,
    /// Probabilities that it is lost then.
    #[serde(default)]
    pub loss_in_good: f64,
    #[serde(default = "certain")]
    pub loss_in_bad: f64,
}

/// A delay drawn for each packet, on top of the link's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// A time or a distribution.
    pub delay: String,
    /// A packet arrives no earlier than those sent before it.
    #[serde(default = "yes")]
    pub keep_order: bool,
}

/// Some packets are late, by a delay on top of jitter, and overtaken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    pub probability: f64,
    /// A time or a distribution.
    pub delay: String,
}

fn certain() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

/// Byte queue limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueLimits {
    #[serde(default = "one_second")]
    pub hold_time: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub time: String,
    pub link: String,
    #[serde(default)]
    pub rate: Option<String>,
    #[serde(default)]
    pub delay: Option<String>,
    #[serde(default)]
    pub loss: Option<f64>,
    #[serde(default)]
    pub direction: DirectionName,
}

/// The engine's `balance::STATIC`.
fn first_shortest() -> Algorithm {
    Algorithm::named("static")
}

fn is_first_shortest(routing: &Algorithm) -> bool {
    *routing == first_shortest()
}

/// A link, or a node with all its links, fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    #[serde(default)]
    pub link: Option<String>,
    #[serde(default)]
    pub node: Option<String>,
    pub down: String,
    /// `None`: for ever.
    #[serde(default)]
    pub up: Option<String>,
}

/// A switch loses packets that come to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub node: String,
    /// The probability; 1: a black hole.
    #[serde(default = "certain")]
    pub loss: f64,
    /// Only what these nodes send; `None`: of all.
    #[serde(default)]
    pub sources: Option<Vec<String>>,
    /// Only what is for these.
    #[serde(default)]
    pub destinations: Option<Vec<String>>,
    #[serde(default = "zero_time")]
    pub start: String,
    /// `None`: for ever.
    #[serde(default)]
    pub stop: Option<String>,
    /// Of its random numbers; `None`: one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectionName {
    Forward,
    Reverse,
    #[default]
    Both,
}

impl DirectionName {
    /// Whether forward and reverse are meant.
    pub fn sides(self) -> [bool; 2] {
        match self {
            DirectionName::Forward => [true, false],
            DirectionName::Reverse => [false, true],
            DirectionName::Both => [true, true],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    #[serde(default)]
    pub name: Option<String>,
    pub source: String,
    pub destination: String,
    #[serde(default, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    #[serde(default)]
    pub source_port: Option<u16>,
    #[serde(default)]
    pub destination_port: Option<u16>,
    #[serde(default = "zero_time")]
    pub start: String,
    /// `None`: never stopped.
    #[serde(default)]
    pub stop: Option<String>,
    /// `None`: never stopped.
    #[serde(default)]
    pub receiver_stop: Option<String>,
    #[serde(default)]
    pub application: Application,
    /// Over TCP only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<Algorithm>,
    #[serde(default = "default_recovery")]
    pub recovery: String,
    /// Type of service of the source's packets (ns-3's `Socket::SetIpTos`), and of the destination's.
    #[serde(default)]
    pub tos: u8,
    #[serde(default)]
    pub return_tos: u8,
    /// Flows of a group are counted together; `None`: in no group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What the hosts write into all packets of the flow, there and back, whatever the sockets say; 0:
    /// nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dscp: u8,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub return_dscp: u8,
    /// PIAS: after so many bytes each the code point is one higher; empty: it stays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pias: Vec<String>,
    /// Propagation that the flow's packets have beyond the delay of their first link; `None`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_delay: Option<AddedDelay>,
    #[serde(default, deserialize_with = "attributes")]
    pub tcp: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    #[serde(default)]
    pub name: Option<String>,
    pub source: String,
    pub destination: String,
    #[serde(default = "zero_time")]
    pub start: String,
    /// `None`: never stopped.
    #[serde(default)]
    pub stop: Option<String>,
    #[serde(default = "one_second")]
    pub interval: String,
    #[serde(default = "default_ping")]
    pub size: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum Application {
    Greedy {
        #[serde(default = "zero_bytes")]
        bytes: String,
        #[serde(default = "default_write")]
        write: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        eager: bool,
    },
    #[serde(rename = "CBR")]
    Cbr {
        #[serde(default = "zero_bytes")]
        bytes: String,
        rate: String,
        #[serde(default = "default_write")]
        write: String,
    },
    OnOff {
        #[serde(default = "zero_bytes")]
        bytes: String,
        #[serde(default = "default_rate")]
        rate: String,
        #[serde(default = "default_write")]
        write: String,
        #[serde(default = "one_second")]
        on_time: String,
        #[serde(default = "one_second")]
        off_time: String,
        /// Of its on times; its off times draw from the next one.  `None`: of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stream: Option<i64>,
    },
    Poisson {
        #[serde(default = "zero_bytes")]
        bytes: String,
        rate: String,
        #[serde(default = "default_write")]
        write: String,
    },
}

impl Application {
    /// What one call hands to the socket.
    pub fn write(&self) -> &str {
        match self {
            Application::Greedy { write, .. }
            | Application::Cbr { write, .. }
            | Application::OnOff { write, .. }
            | Application::Poisson { write, .. } => write,
        }
    }
}

impl Default for Application {
    fn default() -> Self {
        Application::Greedy { bytes: zero_bytes(), write: default_write(), eager: false }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recording {
    /// Distance of the samples of flows and links.
    pub interval: String,
    #[serde(skip_serializing_if = "Selection::is_all")]
    pub flows: Selection,
    #[serde(skip_serializing_if = "Selection::is_all")]
    pub links: Selection,
    /// From when on the run is in its steady state, for metrics; nothing in the run depends on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<Queues>,
    pub changes: ChangesOf,
    /// `None`: if the scenario has workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<bool>,
    /// When the last data of each flow comes to its destination.
    #[serde(skip_serializing_if = "is_false")]
    pub deliveries: bool,
    /// As ns-3's `FlowMonitor`.
    #[serde(skip_serializing_if = "is_false")]
    pub flow_monitor: bool,
    /// What balancers do to flows.
    #[serde(skip_serializing_if = "is_false")]
    pub balancing: bool,
    /// Of which flows each change of the path is recorded.
    #[serde(skip_serializing_if = "ChangesOf::is_none")]
    pub paths: ChangesOf,
}

impl Default for Recording {
    fn default() -> Self {
        Recording {
            interval: "30ms".to_owned(),
            flows: Selection::default(),
            links: Selection::default(),
            warm_up: None,
            queues: None,
            changes: ChangesOf::Every(false),
            completions: None,
            deliveries: false,
            flow_monitor: false,
            balancing: false,
            paths: ChangesOf::Every(false),
        }
    }
}

/// Which ones of the flows or links; a link's name stands for both of its directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Selection {
    Word(Word),
    Names(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    All,
    None,
}

impl Selection {
    fn is_all(&self) -> bool {
        *self == Selection::Word(Word::All)
    }
}

impl Default for Selection {
    fn default() -> Self {
        Selection::Word(Word::All)
    }
}

/// Queues sampled on a grid of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queues {
    pub links: Selection,
    #[serde(default = "ten_microseconds")]
    pub interval: String,
}

/// Of which flows every change is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ChangesOf {
    Every(bool),
    Flows(Vec<String>),
}

impl ChangesOf {
    fn is_none(&self) -> bool {
        *self == ChangesOf::Every(false)
    }
}

fn ten_microseconds() -> String {
    "10us".to_owned()
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(n: &u8) -> bool {
    *n == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_false(asked: &bool) -> bool {
    !asked
}

fn one() -> u64 {
    1
}

fn zero_bytes() -> String {
    "0B".to_owned()
}

/// ns-3's `OnOffApplication::DataRate`.
fn default_rate() -> String {
    "500kbps".to_owned()
}

/// ns-3's `Ping::Size`.
fn default_ping() -> String {
    "56B".to_owned()
}

/// ns-3's `OnOffApplication::OnTime` and `OffTime`, `Ping::Interval` and
/// `DynamicQueueLimits::HoldTime`.
fn one_second() -> String {
    "1s".to_owned()
}
