//! What if the round trip were 100 ms?  A scenario with a few settings changed and all else kept.
//!
//! A setting means the same on every scenario: what flows, paths and bottlenecks have in common.  A
//! bottleneck is the direction with the smallest rate on a flow's path at time 0, the first of equals.

mod flows;
mod path;
mod queue;

use ccperf_engine::host::user::is_user_code;
use ccperf_schema::written::{Algorithm, Scenario};
use ccperf_schema::{Problem, ScenarioError, Settings};
use path::Paths;

use super::names::Registry;
use super::{Canonical, check};

impl Canonical {
    /// The settings that this scenario has.
    pub fn settings(&self) -> Settings {
        let Canonical(scenario) = self;
        let paths = Paths::of(self);
        let kinds: Vec<_> = algorithms(scenario).map(|cc| cc.kind.clone()).collect();
        Settings {
            cc: shortest_period(kinds),
            flows: Some(scenario.flows.len() as u64).filter(|&count| count > 0),
            rate: paths.rate(),
            rtt: paths.rtt(),
            buffer: queue::limit(scenario, &paths),
            qdisc: queue::discipline(scenario, &paths),
            seed: Some(scenario.seed),
            stop_time: Some(scenario.stop_time.clone()),
        }
    }

    /// This scenario with other settings.
    ///
    /// # Errors
    /// Settings that it cannot have, by their names, or all mistakes of the scenario that they make.
    pub fn what_if(&self, settings: &Settings) -> Result<Canonical, ScenarioError> {
        let resized = match settings.flows {
            Some(count) => self.with_flows(count)?,
            None => self.clone(),
        };
        let paths = Paths::of(&resized);
        let Canonical(mut scenario) = resized;
        let mut problems = Vec::new();
        let mut note = |name: &str, result: Result<(), String>| {
            problems.extend(result.err().map(|message| problem(name, message)));
        };
        if let Some(seed) = settings.seed {
            scenario.seed = seed;
        }
        if let Some(stop) = &settings.stop_time {
            set_stop_time(&mut scenario, stop);
        }
        if let Some(kinds) = &settings.cc {
            note("cc", set_algorithms(&mut scenario, kinds));
        }
        if let Some(rate) = &settings.rate {
            note("rate", paths.set_rate(&mut scenario, rate));
        }
        if let Some(rtt) = &settings.rtt {
            note("rtt", paths.set_rtt(&mut scenario, rtt));
        }
        if let Some(kind) = &settings.qdisc {
            note("qdisc", queue::set_discipline(&mut scenario, &paths, kind));
        }
        if let Some(limit) = &settings.buffer {
            note("buffer", queue::set_limit(&mut scenario, &paths, limit));
        }
        if problems.is_empty() {
            check::check(scenario).map(Canonical)
        } else {
            Err(ScenarioError(problems))
        }
    }

    fn with_flows(&self, count: u64) -> Result<Canonical, ScenarioError> {
        let Canonical(mut scenario) = self.clone();
        flows::set_count(&mut scenario, count)
            .map_err(|message| ScenarioError(vec![problem("flows", message)]))?;
        check::check(scenario).map(Canonical)
    }
}

fn problem(path: &str, message: String) -> Problem {
    Problem { path: path.to_owned(), message }
}

fn algorithms(scenario: &Scenario) -> impl Iterator<Item = &Algorithm> {
    let of_flows = scenario.flows.iter().filter_map(|flow| flow.cc.as_ref());
    of_flows.chain(scenario.stacks.iter().map(|stack| &stack.cc))
}

/// The fewest names that, taken in turn, are these.
fn shortest_period(kinds: Vec<String>) -> Option<Vec<String>> {
    let repeats = |length: usize| kinds.iter().zip(&kinds[length..]).all(|(a, b)| a == b);
    let length = (1..=kinds.len()).find(|&length| repeats(length))?;
    Some(kinds[..length].to_vec())
}

fn set_algorithms(scenario: &mut Scenario, kinds: &[String]) -> Result<(), String> {
    if kinds.is_empty() {
        return Err("names no algorithm; name one or more".to_owned());
    }
    let known = |kind: &String| match is_user_code(kind) {
        true => Ok(kind.clone()),
        false => Registry::CongestionControl.find(kind).map(|spec| spec.ns3.to_owned()),
    };
    let kinds = kinds.iter().map(known).collect::<Result<Vec<_>, _>>()?;
    let of_flows = scenario.flows.iter_mut().filter_map(|flow| flow.cc.as_mut());
    let all = of_flows.chain(scenario.stacks.iter_mut().map(|stack| &mut stack.cc));
    for (cc, kind) in all.zip(kinds.iter().cycle()) {
        if cc.kind != *kind {
            *cc = Algorithm::named(kind);
        }
    }
    Ok(())
}

fn set_stop_time(scenario: &mut Scenario, stop: &str) {
    let before = std::mem::replace(&mut scenario.stop_time, stop.to_owned());
    for flow in &mut scenario.flows {
        if flow.stop.as_ref() == Some(&before) {
            flow.stop = Some(stop.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
