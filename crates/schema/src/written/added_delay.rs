//! Propagation that flows have over others, as hosts of one data centre are unlike far apart: a time, or one
//! drawn for each flow from a distribution.

use serde::{Deserialize, Serialize};

/// How long packets of a flow are on their first wire beyond the link's delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum AddedDelay {
    Constant {
        delay: String,
    },
    /// One of these, each as often as its weight says.
    Classes {
        delays: Vec<String>,
        /// `None`: all alike.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weights: Option<Vec<f64>>,
    },
    Uniform {
        min: String,
        max: String,
    },
    /// Points (delay, probability that it is no longer); linear between them.
    Cdf {
        points: Vec<(String, f64)>,
    },
}
