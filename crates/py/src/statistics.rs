//! Statistics over samples: arrays of shape (points, columns) in, one value a column or row out.

use std::borrow::Cow;

use ccperf_metrics::{self as metrics, Series};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

type Samples<'py> = PyReadonlyArray2<'py, f64>;
type Found<'py> = Bound<'py, PyArray1<f64>>;

#[pyfunction]
pub fn mean<'py>(py: Python<'py>, series: Samples<'py>) -> Found<'py> {
    found(py, &series, metrics::mean)
}

#[pyfunction]
pub fn cov<'py>(py: Python<'py>, series: Samples<'py>) -> Found<'py> {
    found(py, &series, metrics::cov)
}

#[pyfunction]
pub fn percentiles<'py>(py: Python<'py>, series: Samples<'py>, percent: usize) -> Found<'py> {
    found(py, &series, |series| metrics::percentiles(series, percent))
}

#[pyfunction]
pub fn row_sums<'py>(py: Python<'py>, series: Samples<'py>) -> Found<'py> {
    found(py, &series, metrics::row_sums)
}

#[pyfunction]
pub fn rates<'py>(
    py: Python<'py>,
    counter: PyReadonlyArray2<'py, i64>,
    interval_ns: u64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let [rows, columns] = [0, 1].map(|axis| counter.shape()[axis]);
    let shape = (rows.saturating_sub(1), columns);
    let rates = metrics::rates(&by_rows(&counter), columns, interval_ns);
    rates.into_pyarray(py).reshape(shape)
}

fn found<'py>(
    py: Python<'py>,
    series: &Samples<'py>,
    statistic: impl FnOnce(Series) -> Vec<f64>,
) -> Found<'py> {
    let columns = series.shape()[1];
    let values = statistic(Series { values: &by_rows(series), columns });
    values.into_pyarray(py)
}

/// The values row by row: an array's own memory where they lie so in it. (That it is contiguous says less.)
fn by_rows<'a, T: Element + Copy>(array: &'a PyReadonlyArray2<'_, T>) -> Cow<'a, [T]> {
    match array.as_slice() {
        Ok(values) if array.is_c_contiguous() => Cow::Borrowed(values),
        _ => array.as_array().iter().copied().collect(),
    }
}
