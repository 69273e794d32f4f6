//! One simulation, from its scenario to its recording.

use ccperf_engine::base::error::Error;
use ccperf_engine::run::recording::Recording;
use ccperf_engine::run::simulate::Simulation;
use ccperf_scenario::Canonical;
use ccperf_schema::{ScenarioError, Settings};
use serde_json::json;

use crate::pack::pack;

/// Whether there is more to come, and the answer; or what is wrong.
pub type Answer = Result<(bool, Vec<u8>), String>;

pub struct Session {
    open: Option<Simulation>,
}

/// The settings that a scenario has.
pub fn settings(scenario: &str) -> Answer {
    let scenario = Canonical::from_json(scenario).map_err(problems)?;
    Ok((false, scenario.settings().to_json().into_bytes()))
}

impl Session {
    pub const fn new() -> Session {
        Session { open: None }
    }

    /// `settings`: what to change, or nothing.
    pub fn open(&mut self, scenario: &str, settings: &str) -> Answer {
        self.open = None;
        let mut scenario = Canonical::from_json(scenario).map_err(problems)?;
        if !settings.is_empty() {
            let settings = Settings::from_json(settings).map_err(problems)?;
            scenario = scenario.what_if(&settings).map_err(problems)?;
        }
        let simulation = Simulation::new(scenario.lower(), None).map_err(|e| e.to_string())?;
        self.open = Some(simulation);
        Ok((true, scenario.to_json().into_bytes()))
    }

    pub fn advance(&mut self, events: u64) -> Answer {
        let simulation = self.open.as_mut().ok_or_else(nothing_open)?;
        let is_more = simulation.run_for(events).map_err(|e| e.to_string())?;
        let times = [simulation.now(), simulation.stop()];
        Ok((is_more, times.iter().flat_map(|time| time.0.to_le_bytes()).collect()))
    }

    pub fn so_far(&self) -> Answer {
        let simulation = self.open.as_ref().ok_or_else(nothing_open)?;
        Ok((true, packed(simulation.so_far())?))
    }

    pub fn finish(&mut self) -> Answer {
        let simulation = self.open.take().ok_or_else(nothing_open)?;
        Ok((false, packed(simulation.finish())?))
    }
}

fn packed(recording: Result<Recording, Error>) -> Result<Vec<u8>, String> {
    let recording = recording.map_err(|error| error.to_string())?;
    Ok(pack(&recording.read().map_err(|error| error.to_string())?))
}

fn nothing_open() -> String {
    "no simulation is open".to_owned()
}

fn problems(error: ScenarioError) -> String {
    let problem = |p: ccperf_schema::Problem| json!({"path": p.path, "message": p.message});
    error.0.into_iter().map(problem).collect::<serde_json::Value>().to_string()
}
