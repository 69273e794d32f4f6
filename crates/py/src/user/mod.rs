//! Algorithms of the user's own: libraries through `ccperf-plugin`, Python classes through here.

pub mod balancer;
pub mod congestion;
pub mod external;
pub mod host_balancer;
pub mod interface;
pub mod queue;
pub mod scheduler;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use balancer::PythonBalancer;
use ccperf_engine::base::time::Time;
use ccperf_engine::host::tcp::control::{Callback, Control};
use ccperf_engine::host::user::{self, Setup, UserCode};
use ccperf_engine::net::qdisc::{Qdisc, Scheduler};
use ccperf_engine::net::routing::balance::{Balancer, Sender, SwitchContext};
use ccperf_plugin::library;
use ccperf_plugin::monitor::{Call, Monitor, Probe};
use ccperf_plugin::{Adapter, BalancerAdapter, SenderAdapter};
use ccperf_schema::lowered::Lowered;
use congestion::PythonCca;
use external::ExternalControl;
use host_balancer::PythonHostBalancer;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use queue::PythonQdisc;
use scheduler::PythonScheduler;

/// The functions of user code by their numbers in the monitor's file, from 1 on.
#[pyfunction]
pub fn user_calls() -> Vec<&'static str> {
    Call::NAMES.to_vec()
}

#[pyfunction]
pub fn is_user_code(name: &str) -> bool {
    user::is_user_code(name)
}

/// Makes the user's algorithms of one scenario.
#[derive(Debug)]
pub struct Loader {
    names: Vec<String>,
    monitor: Option<Arc<Monitor>>,
}

impl Loader {
    /// `monitor`: the file through which whoever watches this process learns where user code is.
    pub fn new(scenario: &Lowered, monitor: Option<&Path>) -> PyResult<Loader> {
        Ok(Loader {
            names: user::names(scenario).into_iter().map(str::to_owned).collect(),
            monitor: monitor.map(Monitor::open).transpose()?.map(Arc::new),
        })
    }

    fn probe(&self, name: &str) -> Probe {
        let position = self.names.iter().position(|known| known == name);
        Probe::new(self.monitor.clone(), position.expect("the scenario names it"))
    }
}

impl UserCode for Loader {
    fn congestion_control(&self, setup: Setup<'_>) -> Result<Control, String> {
        let probe = self.probe(setup.name);
        if user::is_library(setup.name) {
            return library::congestion_control(setup, probe);
        }
        let make = || {
            Python::attach(|py| {
                let methods = methods(py, "congestion_control", setup)?;
                let rate = methods.get(Callback::DESCRIBED[Callback::CongControl as usize].name);
                if let Some(set) =
                    rate.and_then(|method| method.bind(py).cast::<ExternalControl>().ok())
                {
                    return Ok(set.get().control());
                }
                PythonCca::new(py, setup.name, probe.clone(), methods).map(PythonCca::into_control)
            })
        };
        probe.call(Time::ZERO, Call::Create, make)
    }

    fn queue_disc(&self, setup: Setup<'_>) -> Result<Box<dyn Qdisc>, String> {
        let probe = self.probe(setup.name);
        if user::is_library(setup.name) {
            return library::queue_disc(setup, probe);
        }
        let make = || {
            Python::attach(|py| {
                // The object gets the queue when it is made, so the queue comes first.
                let queue = Py::new(py, queue::Queue::default()).map_err(|e| describe(py, &e))?;
                let methods = methods(py, "queue_disc", setup)?;
                PythonQdisc::new(py, setup.name, probe.clone(), methods, queue)
            })
        };
        let inner = probe.call(Time::ZERO, Call::Create, make)?;
        Ok(Box::new(Adapter::new(setup.name, inner)))
    }

    fn scheduler(&self, setup: Setup<'_>) -> Result<Box<dyn Scheduler>, String> {
        let probe = self.probe(setup.name);
        if user::is_library(setup.name) {
            return Err("a library cannot be a scheduler; write it in Python".to_owned());
        }
        let make = || {
            Python::attach(|py| {
                let methods = methods(py, "scheduler", setup)?;
                PythonScheduler::new(py, setup.name, probe.clone(), methods)
            })
        };
        Ok(Box::new(probe.call(Time::ZERO, Call::Create, make)?))
    }

    fn host_balancer(&self, setup: Setup<'_>) -> Result<Option<Box<dyn Sender>>, String> {
        if user::is_library(setup.name) {
            return Ok(None);
        }
        let probe = self.probe(setup.name);
        let make = || {
            Python::attach(|py| {
                if !is_of_kind(py, "host_balancer", setup)? {
                    return Ok(None);
                }
                let methods = methods(py, "host_balancer", setup)?;
                PythonHostBalancer::new(setup.name, probe.clone(), methods).map(Some)
            })
        };
        let inner = probe.call(Time::ZERO, Call::Create, make)?;
        Ok(inner
            .map(|inner| -> Box<dyn Sender> { Box::new(SenderAdapter::new(setup.name, inner)) }))
    }

    fn load_balancer(
        &self,
        setup: Setup<'_>,
        switch: SwitchContext<'_>,
    ) -> Result<Box<dyn Balancer>, String> {
        let probe = self.probe(setup.name);
        if user::is_library(setup.name) {
            return library::load_balancer(setup, switch, probe);
        }
        let make = || {
            Python::attach(|py| {
                // As with a queue.
                let view = balancer::Switch::default();
                let view = Py::new(py, view).map_err(|e| describe(py, &e))?;
                let methods = methods(py, "load_balancer", setup)?;
                PythonBalancer::new(py, setup.name, probe.clone(), methods, view)
            })
        };
        let inner = probe.call(Time::ZERO, Call::Create, make)?;
        Ok(Box::new(BalancerAdapter::new(setup.name, inner, switch)))
    }
}

/// The object's methods by name; those that do nothing are left out.
type Methods = BTreeMap<String, Py<PyAny>>;

/// Makes an object of the class that `setup` names.
fn methods(py: Python<'_>, kind: &str, setup: Setup<'_>) -> Result<Methods, String> {
    let made = || -> PyResult<Methods> {
        let attributes = PyDict::new(py);
        for (name, value) in setup.attributes {
            attributes.set_item(name, value)?;
        }
        let module = py.import("ccperf.algorithms.user_code.loading")?;
        module.call_method1("make", (kind, setup.name, attributes))?.extract()
    };
    made().map_err(|error| describe(py, &error))
}

/// Whether the class that `setup` names is one of this kind.
fn is_of_kind(py: Python<'_>, kind: &str, setup: Setup<'_>) -> Result<bool, String> {
    let asked = || -> PyResult<bool> {
        let module = py.import("ccperf.algorithms.user_code.loading")?;
        module.call_method1("is_of_kind", (kind, setup.name))?.extract()
    };
    asked().map_err(|error| describe(py, &error))
}

/// An exception for people: where it was raised, and what it says.
fn describe(py: Python<'_>, error: &PyErr) -> String {
    let text = py
        .import("ccperf.algorithms.user_code.loading")
        .and_then(|module| module.call_method1("describe", (error.clone_ref(py).into_value(py),)))
        .and_then(|text| text.extract());
    text.unwrap_or_else(|_| error.to_string())
}
