//! Tables that the store keeps.

use ccperf_parquet::Values;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::simulation::detached;

#[pyfunction]
pub fn read_parquet<'py>(
    py: Python<'py>,
    file: &[u8],
    rows: Option<usize>,
    allowed: usize,
    left_out: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let columns = detached(py, || ccperf_parquet::read_without(file, rows, allowed, &left_out))?
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let table = PyDict::new(py);
    for (name, values) in columns {
        match values {
            Values::I64(values) => table.set_item(name, values.into_pyarray(py))?,
            Values::F64(values) => table.set_item(name, values.into_pyarray(py))?,
            Values::Str(values) => table.set_item(name, values)?,
        }
    }
    Ok(table)
}
