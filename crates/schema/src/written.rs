//! The scenario as written: `docs/design/contract.md` as Rust types.  Numbers with units stay text
//! here.

mod added_delay;
mod link;
mod recording;
mod texts;
mod workload;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use added_delay::AddedDelay;
pub use link::{
    Direction, DirectionName, GilbertElliott, Jitter, Link, Pfc, QueueLimits, Reordering, Schedule,
};
pub use recording::{ChangesOf, Queues, Recording, Selection, Word};
pub use texts::{Algorithm, default_recovery};
use texts::{attributes, certain, default_write, one_second, zero_time};
pub use workload::{Arrivals, Pairs, Sizes, Stack, Workload};

use crate::lowered::Transport;
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

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(n: &u8) -> bool {
    *n == 0
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
