//! Numbers with units.

use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::base::units::{self, QueueSize};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[pyfunction]
pub fn parse_time(text: &str) -> PyResult<u64> {
    units::parse_time(text).map(|time| time.0).map_err(PyValueError::new_err)
}

#[pyfunction]
pub fn parse_rate(text: &str) -> PyResult<u64> {
    units::parse_rate(text).map(|rate| rate.0).map_err(PyValueError::new_err)
}

#[pyfunction]
pub fn parse_size(text: &str) -> PyResult<u64> {
    units::parse_size(text).map_err(PyValueError::new_err)
}

#[pyfunction]
pub fn parse_queue_size(text: &str) -> PyResult<(u32, &'static str)> {
    match units::parse_queue_size(text).map_err(PyValueError::new_err)? {
        QueueSize::Packets(n) => Ok((n, "p")),
        QueueSize::Bytes(n) => Ok((n, "B")),
    }
}

#[pyfunction]
pub fn format_time(ns: u64) -> String {
    units::format_time(Time(ns))
}

#[pyfunction]
pub fn format_rate(bps: u64) -> String {
    units::format_rate(Rate(bps))
}

#[pyfunction]
pub fn format_size(bytes: u64) -> String {
    units::format_size(bytes)
}

#[pyfunction]
pub fn format_queue_size(n: u32, unit: &str) -> PyResult<String> {
    match unit {
        "p" => Ok(units::format_queue_size(QueueSize::Packets(n))),
        "B" => Ok(units::format_queue_size(QueueSize::Bytes(n))),
        _ => Err(PyValueError::new_err(format!("unit is `{unit}`, not `p` or `B`"))),
    }
}
