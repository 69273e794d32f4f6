//! From a user's scenario to the form that the backends run, in three steps:
//!
//! `spec` reads the JSON and its shape, `check` fills in defaults, normalises units and names and
//! reports everything that makes no sense, `lower` turns what is left into integers and routes and
//! cannot fail.

mod added_delay;
mod application;
mod attributes;
mod check;
mod children;
mod cut_off;
mod distribution;
mod failures;
mod faults;
mod fragments;
mod ideal;
mod impairments;
mod links;
mod lower;
mod memory;
pub mod names;
mod pausable;
mod pfc;
mod pias;
mod ping;
mod recording;
mod room;
mod routing;
mod schedule;
mod spec;
pub mod streams;
mod texts;
mod traffic;
mod transport;
pub mod what_if;
mod workload;

use std::fmt;

pub use spec::{
    Algorithm, Application, Change, Direction, DirectionName, Failure, Flow, Link, Ping, Recording,
    Scenario,
};

use crate::lowered::Lowered;

/// One thing wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field, e.g. `flows[0].stop`; empty for the scenario as a whole.
    pub path: String,
    /// The value and what to do about it.
    pub message: String,
}

/// Everything that is wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError(pub Vec<Problem>);

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Problem { path, message }) in self.0.iter().enumerate() {
            let newline = if i > 0 { "\n" } else { "" };
            let colon = if path.is_empty() { "" } else { ": " };
            write!(f, "{newline}{path}{colon}{message}")?;
        }
        Ok(())
    }
}

/// A scenario that has passed every check: every field present (except where absence has a meaning
/// of its own), units in their shortest form, algorithms and attributes under ns-3's names.
#[derive(Clone, Debug, PartialEq)]
pub struct Canonical(Scenario);

impl Canonical {
    /// # Errors
    /// The first mistake of shape, or all mistakes of meaning.
    pub fn from_json(json: &str) -> Result<Canonical, ScenarioError> {
        check::check(spec::parse(json)?).map(Canonical)
    }

    pub fn scenario(&self) -> &Scenario {
        &self.0
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.0).expect("plain data")
    }

    pub fn lower(&self) -> Lowered {
        let mut lowered = lower::lower(&self.0);
        workload::lower(&self.0, &mut lowered);
        lowered
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
