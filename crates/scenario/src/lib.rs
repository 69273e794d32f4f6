//! From a user's scenario to the form that the backends run, in three steps:
//!
//! `ccperf-schema` reads the JSON and its shape, `check` fills in defaults, normalises units and names and
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
pub mod streams;
mod traffic;
mod transport;
mod what_if;
mod workload;

use ccperf_schema::ScenarioError;
use ccperf_schema::lowered::Lowered;
use ccperf_schema::written::Scenario;

/// A scenario that has passed every check: every field present (except where absence has a meaning
/// of its own), units in their shortest form, algorithms and attributes under ns-3's names.
#[derive(Clone, Debug, PartialEq)]
pub struct Canonical(Scenario);

impl Canonical {
    /// # Errors
    /// The first mistake of shape, or all mistakes of meaning.
    pub fn from_json(json: &str) -> Result<Canonical, ScenarioError> {
        check::check(Scenario::from_json(json)?).map(Canonical)
    }

    pub fn scenario(&self) -> &Scenario {
        &self.0
    }

    pub fn to_json(&self) -> String {
        self.0.to_json()
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
