//! Random numbers as ns-3 draws them.

use ccperf_engine::base::rng::RngStream;
use ccperf_scenario::streams;
use pyo3::prelude::*;

#[pyfunction]
pub fn uniform_integers(run: u64, stream: i64, least: u32, most: u32, count: usize) -> Vec<u32> {
    let mut numbers = RngStream::fixed(run, streams::given(stream));
    (0..count).map(|_| numbers.uniform_integer(least, most)).collect()
}
