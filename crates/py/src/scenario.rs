//! Scenarios: JSON in, JSON out. Other threads run Python meanwhile.

use ccperf_scenario::Canonical;
use ccperf_schema::{ScenarioError, Settings};
use pyo3::PyErr;
use pyo3::prelude::*;

mod errors {
    pyo3::import_exception!(ccperf.errors, ScenarioError);
}

#[pyfunction]
pub fn canonical(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    py.detach(|| Canonical::from_json(scenario_json).map(|scenario| scenario.to_json()))
        .map_err(to_python)
}

#[pyfunction]
pub fn lower(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    let lower = || Ok(Canonical::from_json(scenario_json)?.lower().to_json());
    py.detach(lower).map_err(to_python)
}

#[pyfunction]
pub fn settings(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    py.detach(|| Ok(Canonical::from_json(scenario_json)?.settings().to_json())).map_err(to_python)
}

#[pyfunction]
pub fn what_if(py: Python<'_>, scenario_json: &str, settings_json: &str) -> PyResult<String> {
    let changed = || {
        let settings = Settings::from_json(settings_json)?;
        Ok(Canonical::from_json(scenario_json)?.what_if(&settings)?.to_json())
    };
    py.detach(changed).map_err(to_python)
}

fn to_python(error: ScenarioError) -> PyErr {
    let problems: Vec<_> = error.0.into_iter().map(|p| (p.path, p.message)).collect();
    errors::ScenarioError::new_err((problems,))
}
