//! A scheduler that is a Python class.

use ccperf_engine::base::time::Time;
use ccperf_engine::host::user::fail;
use ccperf_engine::net::qdisc::{ClassView, QdiscContext, Scheduler};
use ccperf_engine::packet::PacketId;
use ccperf_plugin::monitor::{Call, Probe};
use ccperf_plugin::packet;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use super::queue::Packet;
use super::{Methods, describe};

/// A class of a scheduler, as it is when the call begins (`ccperf.SchedulerClass`).
#[pyclass(module = "ccperf._native", frozen)]
#[derive(Debug)]
pub struct SchedulerClass {
    #[pyo3(get)]
    number: usize,
    #[pyo3(get)]
    packets: u32,
    #[pyo3(get)]
    bytes: u32,
    #[pyo3(get)]
    head: Option<Py<Packet>>,
}

#[derive(Debug)]
pub struct PythonScheduler {
    name: String,
    probe: Probe,
    classify: Py<PyAny>,
    next: Py<PyAny>,
    sent: Option<Py<PyAny>>,
    sees_heads: bool,
}

impl PythonScheduler {
    pub fn new(
        py: Python<'_>,
        name: &str,
        probe: Probe,
        mut methods: Methods,
    ) -> Result<Self, String> {
        let said = |error: PyErr| describe(py, &error);
        let classify = methods.remove("classify").ok_or("it has no method classify")?;
        let object = classify.getattr(py, "__self__").map_err(said)?;
        let heads = object.getattr(py, "sees_heads").map_err(said)?;
        Ok(PythonScheduler {
            name: name.to_owned(),
            probe,
            classify,
            next: methods.remove("next").ok_or("it has no method next")?,
            sent: methods.remove("sent"),
            sees_heads: heads.is_truthy(py).map_err(said)?,
        })
    }

    fn fail(&self, what: Call, message: &str) -> ! {
        fail(&self.name, format!("{message} (in {})", what.name()))
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        now: Time,
        what: Call,
        method: &Py<PyAny>,
        args: impl PyCallArgs<'py>,
    ) -> Bound<'py, PyAny> {
        let result = self.probe.call(now, what, || method.bind(py).call1(args));
        result.unwrap_or_else(|error| self.fail(what, &describe(py, &error)))
    }

    /// The number of a class of which this is true.
    fn class(
        &self,
        what: Call,
        given: &Bound<'_, PyAny>,
        classes: usize,
        fits: impl Fn(usize) -> bool,
    ) -> usize {
        match given.extract::<usize>() {
            Ok(class) if class < classes && fits(class) => class,
            Ok(class) if class < classes => {
                self.fail(what, &format!("it returned {class}, a class without packets"))
            }
            _ => {
                let message =
                    format!("it returned {given}, not the number of one of {classes} classes");
                self.fail(what, &message)
            }
        }
    }
}

impl Scheduler for PythonScheduler {
    fn classify(&mut self, id: PacketId, classes: usize, cx: &QdiscContext<'_>) -> usize {
        Python::attach(|py| {
            let args = (Packet(packet(id, cx)), classes);
            let found = self.call(py, cx.now, Call::Classify, &self.classify, args);
            self.class(Call::Classify, &found, classes, |_| true)
        })
    }

    fn next(&mut self, classes: &[ClassView], cx: &QdiscContext<'_>) -> usize {
        Python::attach(|py| {
            let view = |(number, class): (usize, &ClassView)| {
                let head = class.head.map(|id| Py::new(py, Packet(packet(id, cx)))).transpose()?;
                let ClassView { packets, bytes, .. } = *class;
                Py::new(py, SchedulerClass { number, packets, bytes, head })
            };
            let views: PyResult<Vec<_>> = classes.iter().enumerate().map(view).collect();
            let views = views.unwrap_or_else(|error| self.fail(Call::Next, &describe(py, &error)));
            let found = self.call(py, cx.now, Call::Next, &self.next, (views,));
            self.class(Call::Next, &found, classes.len(), |class| classes[class].packets > 0)
        })
    }

    fn sent(&mut self, class: usize, id: PacketId, cx: &QdiscContext<'_>) {
        let Some(method) = &self.sent else { return };
        Python::attach(|py| {
            self.call(py, cx.now, Call::SentBy, method, (class, Packet(packet(id, cx))));
        });
    }

    fn sees_heads(&self) -> bool {
        self.sees_heads
    }
}
