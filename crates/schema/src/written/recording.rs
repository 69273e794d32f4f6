//! What is to be recorded, as written.

use serde::{Deserialize, Serialize};

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

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_false(asked: &bool) -> bool {
    !asked
}

fn ten_microseconds() -> String {
    "10us".to_owned()
}
