//! A load balancer that is a Python class.

use ccperf_engine::base::time::Time;
use ccperf_engine::host::user::fail;
use ccperf_plugin::monitor::{Call, Probe};
use ccperf_plugin::{LoadBalancer, abi};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use super::{Methods, describe};

/// A packet at a switch (`ccperf.Hop`; `python/ccperf/_native.pyi` describes it).
#[pyclass(module = "ccperf._native")]
#[derive(Debug)]
pub struct Hop(abi::Hop);

macro_rules! numbers {
    ($($name:ident: $kind:ty),* $(,)?) => {
        #[pymethods]
        impl Hop {
            $(#[getter] fn $name(&self) -> $kind { self.0.$name })*

            #[getter]
            fn backward(&self) -> bool {
                self.0.backward != 0
            }

            #[getter]
            fn ecn(&self) -> &'static str {
                ["not_ect", "ect1", "ect0", "ce"][self.0.ecn as usize]
            }

            #[getter]
            fn notes(&self) -> (u32, u32, u32) {
                self.0.notes.into()
            }

            #[setter]
            fn set_notes(&mut self, notes: [u32; 3]) {
                self.0.notes = notes;
            }

            fn __repr__(&self) -> String {
                format!("<Hop of flow {}: {} B>", self.0.flow, self.0.bytes)
            }
        }
    };
}

numbers! {
    flow: u32, hash: u64, source: u32, destination: u32, source_leaf: u32, destination_leaf: u32,
    bytes: i64, payload: i64, seq: u32, ack: u32, flags: u32,
}

/// A port of a switch, as it was when the call began (`ccperf.SwitchPort`).
#[pyclass(module = "ccperf._native", frozen)]
#[derive(Clone, Copy, Debug)]
pub struct SwitchPort {
    #[pyo3(get)]
    number: u32,
    #[pyo3(get)]
    waiting_bytes: u32,
    #[pyo3(get)]
    sent_bytes: u64,
    #[pyo3(get)]
    rate_bps: u64,
}

/// The switch during a call (`ccperf.Switch`).
#[pyclass(module = "ccperf._native")]
#[derive(Debug, Default)]
pub struct Switch {
    #[pyo3(get)]
    now_ns: i64,
    #[pyo3(get)]
    node: u32,
    #[pyo3(get)]
    ports: Vec<SwitchPort>,
}

#[derive(Debug)]
pub struct PythonBalancer {
    name: String,
    probe: Probe,
    switch: Py<Switch>,
    pick: Py<PyAny>,
    tick: Option<Py<PyAny>>,
    sees_every_hop: bool,
    period: Time,
}

impl PythonBalancer {
    pub fn new(
        py: Python<'_>,
        name: &str,
        probe: Probe,
        mut methods: Methods,
        switch: Py<Switch>,
    ) -> Result<Self, String> {
        let said = |error: PyErr| describe(py, &error);
        let pick = methods.remove("pick").ok_or("it has no method pick")?;
        let object = pick.getattr(py, "__self__").map_err(said)?;
        object.setattr(py, "switch", &switch).map_err(said)?;
        let every_hop = object.getattr(py, "every_hop").map_err(said)?;
        let period_ns = object.getattr(py, "period_ns").map_err(said)?;
        let period: u64 = period_ns
            .extract(py)
            .map_err(|_| format!("its period_ns is {period_ns}, not a whole number of ns"))?;
        let tick = methods.remove("tick");
        if period > 0 && tick.is_none() {
            return Err("it has a period_ns and no method tick".to_owned());
        }
        Ok(PythonBalancer {
            name: name.to_owned(),
            probe,
            switch,
            pick,
            tick,
            sees_every_hop: every_hop.is_truthy(py).map_err(said)?,
            period: Time(period),
        })
    }

    fn fail(&self, what: Call, message: &str) -> ! {
        fail(&self.name, format!("{message} (in {})", what.name()))
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        switch: &abi::Switch,
        what: Call,
        method: &Py<PyAny>,
        args: impl PyCallArgs<'py>,
    ) -> Bound<'py, PyAny> {
        {
            let mut view = self.switch.borrow_mut(py);
            view.now_ns = switch.now_ns;
            view.node = switch.node;
            view.ports.clear();
            view.ports.extend(switch.ports().iter().map(|&number| SwitchPort {
                number,
                waiting_bytes: switch.waiting_bytes(number),
                sent_bytes: switch.sent_bytes(number),
                rate_bps: switch.rate_bps(number),
            }));
        }
        let result = self.probe.call(switch.now(), what, || method.bind(py).call1(args));
        result.unwrap_or_else(|error| self.fail(what, &describe(py, &error)))
    }
}

impl LoadBalancer for PythonBalancer {
    fn pick(&mut self, packet: &mut abi::Hop, switch: &mut abi::Switch) -> u32 {
        Python::attach(|py| {
            let hop = Py::new(py, Hop(*packet));
            let hop = hop.unwrap_or_else(|error| self.fail(Call::Pick, &describe(py, &error)));
            let args = (hop.clone_ref(py),);
            let result = self.call(py, switch, Call::Pick, &self.pick, args);
            packet.notes = hop.borrow(py).0.notes;
            let ports = switch.ports().len();
            match result.extract::<i64>() {
                Ok(position) if (0..ports as i64).contains(&position) => position as u32,
                _ => {
                    let message =
                        format!("it returned {result}, not the position of one of {ports} ports");
                    self.fail(Call::Pick, &message)
                }
            }
        })
    }

    fn sees_every_hop(&self) -> bool {
        self.sees_every_hop
    }

    fn period(&self) -> Time {
        self.period
    }

    fn tick(&mut self, switch: &mut abi::Switch) {
        let Some(method) = &self.tick else { return };
        Python::attach(|py| {
            self.call(py, switch, Call::Tick, method, ());
        });
    }
}
