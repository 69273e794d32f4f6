//! Running a lowered scenario.

use std::io::{self, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ccperf_engine::base::error::Error;
use ccperf_engine::base::time::Time;
use ccperf_engine::run::parallel::{self, Outcome};
use ccperf_engine::run::recording::{
    self, Column, Kept, Kind, Recording, TABLES, Table, TableSpec,
};
use ccperf_engine::run::simulate;
use ccperf_schema::lowered::Lowered;
use numpy::IntoPyArray;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use xxhash_rust::xxh3::Xxh3Default;

use crate::user::Loader;

mod errors {
    pyo3::import_exception!(ccperf.errors, RunError);
}

/// Other threads run Python while this one simulates; two that share a simulation take turns.
#[pyclass(frozen, module = "ccperf._native")]
pub struct Simulation {
    /// `None` once it has finished; poisoned if it has failed.
    inner: Mutex<Option<simulate::Simulation>>,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (lowered_json, packets=None, monitor=None))]
    fn new(
        py: Python<'_>,
        lowered_json: &str,
        packets: Option<PathBuf>,
        monitor: Option<PathBuf>,
    ) -> PyResult<Self> {
        let lowered = py.detach(|| read(lowered_json)).map_err(to_python)?;
        let user = Loader::new(&lowered, monitor.as_deref())?;
        let inner = detached(py, || {
            simulate::Simulation::with_user_code(lowered, packets.as_deref(), Box::new(user))
        })?;
        Ok(Simulation { inner: Mutex::new(Some(inner.map_err(to_python)?)) })
    }

    #[getter]
    fn stop_ns(&self) -> PyResult<u64> {
        let inner = self.inner.lock().map_err(|_| finished())?;
        inner.as_ref().map(|simulation| simulation.stop().0).ok_or_else(finished)
    }

    fn run_until(&self, py: Python<'_>, time_ns: u64) -> PyResult<bool> {
        self.with(py, |simulation| simulation.run_until(Time(time_ns)))
    }

    fn run_for(&self, py: Python<'_>, events: u64) -> PyResult<Option<u64>> {
        self.with(py, |simulation| {
            let more = simulation.run_for(events)?;
            Ok(more.then(|| simulation.now().0))
        })
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let recording = detached(py, || {
            let simulation = self.inner.lock().ok()?.take();
            simulation.map(simulate::Simulation::finish)
        })?;
        tables(py, recording.ok_or_else(finished)?.map_err(to_python)?)
    }
}

/// Of all that is written to it.
#[derive(Clone, Default)]
struct Digest(Arc<Mutex<Xxh3Default>>);

impl Digest {
    fn hash(&self) -> MutexGuard<'_, Xxh3Default> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hash().update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a scenario; `_native.pyi` says what comes back.
#[pyfunction]
pub fn run_for_digest<'py>(
    py: Python<'py>,
    lowered_json: &str,
) -> PyResult<(Bound<'py, PyDict>, String)> {
    let digest = Digest::default();
    let recording = detached(py, || {
        let out = BufWriter::with_capacity(1 << 16, digest.clone());
        simulate::Simulation::with_packets_to(read(lowered_json)?, Box::new(out))?.finish()
    })?;
    let tables = tables(py, recording.map_err(to_python)?)?;
    Ok((tables, format!("{:032x}", digest.hash().digest128())))
}

/// Runs a scenario on at most so many threads; `_native.pyi` says what comes back.
#[pyfunction]
pub fn run_in_parts<'py>(
    py: Python<'py>,
    lowered_json: &str,
    threads: usize,
    watch: Py<PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut raised = None;
    let outcome = detached(py, || {
        let lowered = read(lowered_json)?;
        let stop = lowered.stop_ns as f64;
        let mut tell = |now: Time| {
            let done = (now.0 as f64 / stop).min(1.0);
            let told = Python::attach(|py| {
                py.check_signals().and_then(|()| watch.call1(py, (done,)).map(drop))
            });
            raised = told.err();
            raised.is_none()
        };
        parallel::run(&lowered, threads, &mut tell)
    })?;
    if let Some(raised) = raised {
        return Err(raised);
    }
    match outcome.map_err(to_python)? {
        Outcome::Done(recording, _) => Ok(tables(py, recording)?.into_any()),
        Outcome::Alone(why) => Ok(why.into_pyobject(py)?.into_any()),
        Outcome::Ended => Err(finished()),
    }
}

impl Simulation {
    /// Goes on with it, as [`detached`] work.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut simulate::Simulation) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        detached(py, || self.inner.lock().ok()?.as_mut().map(work))?
            .ok_or_else(finished)?
            .map_err(to_python)
    }
}

/// Lets other Python threads run meanwhile, and turns a panic of the engine into an error that costs
/// one run: Python does not catch PyO3's own by `except Exception`.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("unknown reason");
        errors::RunError::new_err(format!("the engine failed, which is a bug in it: {text}"))
    })
}

fn read(lowered_json: &str) -> Result<Lowered, Error> {
    Lowered::from_json(lowered_json)
        .map_err(|error| Error::Scenario(format!("not a lowered scenario: {error}")))
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("the simulation has finished")
}

fn to_python(error: Error) -> PyErr {
    match error {
        Error::Scenario(message) => PyValueError::new_err(message),
        Error::Trace(_) | Error::Samples(_) => PyOSError::new_err(error.to_string()),
        Error::UserCode { .. } | Error::Crowded { .. } => {
            errors::RunError::new_err(error.to_string())
        }
    }
}

/// A table that lies in a file; who reads it at the same time takes turns.
#[pyclass(frozen, module = "ccperf._native")]
pub struct LongTable {
    #[pyo3(get)]
    rows: usize,
    inner: Mutex<recording::LongTable>,
}

#[pymethods]
impl LongTable {
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let read = || self.inner.lock().unwrap_or_else(PoisonError::into_inner).read();
        let table = detached(py, read)?;
        columns(py, table.map_err(|error| to_python(Error::Samples(error)))?)
    }
}

fn tables(py: Python<'_>, recording: Recording) -> PyResult<Bound<'_, PyDict>> {
    let tables = PyDict::new(py);
    for kept in recording.tables {
        let name = kept.name().to_owned();
        match kept {
            Kept::InMemory(table) => tables.set_item(name, columns(py, table)?)?,
            Kept::InFile(long) => {
                let table = LongTable { rows: long.rows(), inner: Mutex::new(long) };
                tables.set_item(name, table.into_pyobject(py)?)?;
            }
        }
    }
    Ok(tables)
}

/// The columns' memory changes hands, it is not copied.
fn columns(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::I64(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::F64(values) => columns.set_item(name, values.into_pyarray(py))?,
            Column::Str(values) => columns.set_item(name, values)?,
        }
    }
    Ok(columns)
}

#[pyfunction]
pub fn schema() -> String {
    TABLES.iter().map(table).collect::<Value>().to_string()
}

fn table(table: &TableSpec) -> Value {
    let columns = table.columns.iter().map(|column| {
        let kind = match column.kind {
            Kind::I64 => "int",
            Kind::F64 => "float",
            Kind::Str => "str",
        };
        json!({
            "name": column.name, "kind": kind, "unit": column.unit, "description": column.meaning,
        })
    });
    json!({
        "name": table.name, "row": table.row, "optional": table.is_optional,
        "columns": columns.collect::<Value>(),
    })
}
