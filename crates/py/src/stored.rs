//! What the store keeps of a run: tables and metrics.

use std::fmt::Write;

use ccperf_parquet::{Column, Values};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

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

/// A column as Python has it.
pub enum Given<'py> {
    I64(PyReadonlyArray1<'py, i64>),
    F64(PyReadonlyArray1<'py, f64>),
    Str(Vec<String>),
}

/// Not derived: that would make an exception for each kind that a column is not, which takes longer than to write it.
impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = PyErr;

    fn extract(values: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(integers) = values.cast::<PyArray1<i64>>() {
            Ok(Given::I64(integers.try_readonly()?))
        } else if let Ok(floats) = values.cast::<PyArray1<f64>>() {
            Ok(Given::F64(floats.try_readonly()?))
        } else {
            values.extract().map(Given::Str)
        }
    }
}

impl Given<'_> {
    fn column(&self) -> PyResult<Column<'_>> {
        Ok(match self {
            Given::I64(values) => Column::I64(values.as_slice()?),
            Given::F64(values) => Column::F64(values.as_slice()?),
            Given::Str(values) => Column::Str(values),
        })
    }
}

#[pyfunction]
pub fn write_parquet<'py>(
    py: Python<'py>,
    columns: Vec<(String, Given<'py>)>,
    compressed: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let columns = columns
        .iter()
        .map(|(name, values)| Ok((name.clone(), values.column()?)))
        .collect::<PyResult<Vec<_>>>()?;
    let file = detached(py, || ccperf_parquet::write(&columns, compressed))?
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &file))
}

/// `{column: {metric: value}}` as JSON, with numbers as Python writes them.  None if a value is not finite.
#[pyfunction]
pub fn metric_text(columns: &Bound<'_, PyDict>) -> PyResult<Option<String>> {
    let mut text = String::from("{");
    for (i, (column, values)) in columns.iter().enumerate() {
        separate(&mut text, i);
        name(&mut text, &column)?;
        text.push('{');
        for (i, (metric, value)) in values.cast::<PyDict>()?.iter().enumerate() {
            let value: f64 = value.extract()?;
            if !value.is_finite() {
                return Ok(None);
            }
            separate(&mut text, i);
            name(&mut text, &metric)?;
            number(&mut text, value);
        }
        text.push('}');
    }
    text.push('}');
    Ok(Some(text))
}

fn separate(text: &mut String, at: usize) {
    if at > 0 {
        text.push(',');
    }
}

fn name(text: &mut String, name: &Bound<'_, PyAny>) -> PyResult<()> {
    let quoted = serde_json::to_string(name.extract::<&str>()?);
    text.push_str(&quoted.map_err(|error| PyValueError::new_err(error.to_string()))?);
    text.push(':');
    Ok(())
}

/// As Python's `repr` writes it: of two shortest forms that are equally near the even one, as `zmij` chooses, too (Rust
/// takes the larger).  The exponent begins below 1e-4 and has two digits there.
fn number(text: &mut String, value: f64) {
    let mut buffer = zmij::Buffer::new();
    let written = buffer.format_finite(value);
    if let Some((digits, exponent)) = written.split_once('e') {
        let (sign, exponent) = exponent.split_at(1);
        _ = write!(text, "{digits}e{sign}{exponent:0>2}");
    } else if let Some(digits) = written.trim_start_matches('-').strip_prefix("0.0000") {
        let sign = if value < 0.0 { "-" } else { "" };
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        _ = write!(text, "{sign}{first}{point}{rest}e-05");
    } else {
        text.push_str(written);
    }
}
