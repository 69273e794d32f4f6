//! Scenarios: JSON in, JSON out.

use ccperf_engine::scenario::{Canonical, ScenarioError};
use pyo3::PyErr;
use pyo3::prelude::*;

mod errors {
    pyo3::import_exception!(ccperf.errors, ScenarioError);
}

#[pyfunction]
pub fn canonical(scenario_json: &str) -> PyResult<String> {
    Ok(Canonical::from_json(scenario_json).map_err(to_python)?.to_json())
}

#[pyfunction]
pub fn lower(scenario_json: &str) -> PyResult<String> {
    let lowered = Canonical::from_json(scenario_json).map_err(to_python)?.lower();
    Ok(serde_json::to_string(&lowered).expect("plain data"))
}

fn to_python(error: ScenarioError) -> PyErr {
    let problems: Vec<_> = error.0.into_iter().map(|p| (p.path, p.message)).collect();
    errors::ScenarioError::new_err((problems,))
}
