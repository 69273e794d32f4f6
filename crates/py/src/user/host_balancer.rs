//! A load balancer of hosts that is a Python class.

use ccperf_engine::base::time::Time;
use ccperf_engine::host::user::fail;
use ccperf_engine::net::routing::balance::Sent;
use ccperf_plugin::HostBalancer;
use ccperf_plugin::monitor::{Call, Probe};
use pyo3::prelude::*;

use super::{Methods, describe};

macro_rules! view {
    ($(#[$doc:meta])* $name:ident($inner:ty) { $($field:ident: $kind:ty),* $(,)? } $($more:item)*) => {
        $(#[$doc])*
        #[pyclass(module = "ccperf._native", frozen)]
        #[derive(Debug)]
        pub struct $name($inner);

        #[pymethods]
        impl $name {
            $(#[getter] fn $field(&self) -> $kind { self.0.$field })*

            #[getter]
            fn now_ns(&self) -> u64 {
                self.0.now.0
            }

            $($more)*
        }
    };
}

view! {
    /// A packet that a host sends (`ccperf.Departure`).
    Departure(ccperf_plugin::Departure) {
        flow: u32, backward: bool, hash: u64, source: u32, destination: u32, source_leaf: u32,
        destination_leaf: u32, bytes: u32, payload: u32, paths: u32, answers: Option<u32>, is_idle: bool,
        sent_bytes: u64,
    }

    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.kind {
            Sent::Control => "control",
            Sent::New => "new",
            Sent::Again => "retransmission",
            Sent::Late => "timeout",
        }
    }
}

view! {
    /// An acknowledgement that comes to a host (`ccperf.Arrival`).
    Arrival(ccperf_plugin::Arrival) {
        flow: u32, backward: bool, source: u32, destination: u32, source_leaf: u32,
        destination_leaf: u32, newly_acked: u32, is_marked: bool, path: Option<u32>,
    }

    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        self.0.rtt.map(|rtt| rtt.0)
    }
}

#[derive(Debug)]
pub struct PythonHostBalancer {
    name: String,
    probe: Probe,
    send: Py<PyAny>,
    ack: Option<Py<PyAny>>,
    timeout: Option<Py<PyAny>>,
    loss: Option<Py<PyAny>>,
}

impl PythonHostBalancer {
    pub fn new(name: &str, probe: Probe, mut methods: Methods) -> Result<Self, String> {
        Ok(PythonHostBalancer {
            name: name.to_owned(),
            probe,
            send: methods.remove("send").ok_or("it has no method send")?,
            ack: methods.remove("ack"),
            timeout: methods.remove("timeout"),
            loss: methods.remove("loss"),
        })
    }

    fn fail(&self, what: Call, message: &str) -> ! {
        fail(&self.name, format!("{message} (in {})", what.name()))
    }

    fn call<'py, V>(
        &self,
        py: Python<'py>,
        now: Time,
        what: Call,
        method: &Py<PyAny>,
        view: V,
    ) -> Bound<'py, PyAny>
    where
        V: IntoPyObject<'py>,
    {
        let result = self.probe.call(now, what, || method.bind(py).call1((view,)));
        result.unwrap_or_else(|error| self.fail(what, &describe(py, &error)))
    }

    fn tell(&self, what: Call, method: Option<&Py<PyAny>>, packet: &ccperf_plugin::Departure) {
        let Some(method) = method else { return };
        Python::attach(|py| {
            self.call(py, packet.now, what, method, Departure(*packet));
        });
    }
}

impl HostBalancer for PythonHostBalancer {
    fn send(&mut self, packet: &ccperf_plugin::Departure) -> u32 {
        Python::attach(|py| {
            let found = self.call(py, packet.now, Call::Send, &self.send, Departure(*packet));
            let paths = packet.paths;
            match found.extract::<u32>() {
                Ok(path) if path < paths => path,
                _ => {
                    let message =
                        format!("it returned {found}, not the number of one of {paths} paths");
                    self.fail(Call::Send, &message)
                }
            }
        })
    }

    fn ack(&mut self, ack: &ccperf_plugin::Arrival) {
        let Some(method) = &self.ack else { return };
        Python::attach(|py| {
            self.call(py, ack.now, Call::Ack, method, Arrival(*ack));
        });
    }

    fn timeout(&mut self, packet: &ccperf_plugin::Departure) {
        self.tell(Call::Timeout, self.timeout.as_ref(), packet);
    }

    fn loss(&mut self, packet: &ccperf_plugin::Departure) {
        self.tell(Call::Loss, self.loss.as_ref(), packet);
    }
}
