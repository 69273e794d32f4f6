//! Statistics over samples: arrays of shape (points, columns) in, one value a column or row out.

use ccperf_metrics::{self as metrics, Series};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods,
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
    let rates = match counter.as_slice() {
        Ok(values) => metrics::rates(values, columns, interval_ns),
        Err(_) => {
            let values: Vec<_> = counter.as_array().iter().copied().collect();
            metrics::rates(&values, columns, interval_ns)
        }
    };
    rates.into_pyarray(py).reshape(shape)
}

fn found<'py>(
    py: Python<'py>,
    series: &Samples<'py>,
    statistic: impl FnOnce(Series) -> Vec<f64>,
) -> Found<'py> {
    let columns = series.shape()[1];
    let of = |values: &[f64]| statistic(Series { values, columns });
    let values = match series.as_slice() {
        Ok(values) => of(values),
        Err(_) => of(&series.as_array().iter().copied().collect::<Vec<_>>()),
    };
    values.into_pyarray(py)
}
