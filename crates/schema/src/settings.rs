//! What users of a page or of `--what-if` change of a scenario, whichever it is.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Problem, ScenarioError};

/// What to change; or, of a scenario, what it has.  `None` changes nothing, or has no one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Congestion control of the TCP flows and of the workloads' stacks, taken in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc: Option<Vec<String>>,
    /// How many flows there are, without those of workloads.  Further ones are like the first ones, at
    /// hosts of their own where those have some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// Of each bottleneck at time 0; what it becomes later changes in proportion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// The least propagation delay there and back among the flows at time 0.  The bottleneck's delay is
    /// what changes, so the differences between flows stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<String>,
    /// The limit of each bottleneck's queue discipline, or of its device queue where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// Queue discipline of each bottleneck, with its defaults but for the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Length of the run; what stopped with it still does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_time: Option<String>,
}

impl Settings {
    /// # Errors
    /// What is wrong with the JSON.
    pub fn from_json(json: &str) -> Result<Settings, ScenarioError> {
        let of = |name: &str, error: serde_json::Error| Problem {
            path: name.to_owned(),
            message: error.to_string(),
        };
        let given: Map<String, Value> =
            serde_json::from_str(json).map_err(|error| ScenarioError(vec![of("", error)]))?;
        // Each by itself, since an error of all together does not say whose it is.
        let wrong = given.iter().filter_map(|(name, value)| {
            let alone = Map::from_iter([(name.clone(), value.clone())]);
            Some(of(name, serde_json::from_value::<Settings>(alone.into()).err()?))
        });
        let wrong: Vec<_> = wrong.collect();
        if wrong.is_empty() {
            serde_json::from_value(given.into()).map_err(|error| ScenarioError(vec![of("", error)]))
        } else {
            Err(ScenarioError(wrong))
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }
}
