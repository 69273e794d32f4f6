//! A queue discipline that is a Python class.

use ccperf_engine::base::time::Time;
use ccperf_engine::host::user::fail;
use ccperf_plugin::monitor::{Call, Probe};
use ccperf_plugin::{QueueDisc, abi};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use super::{Methods, describe};

const NOT_ECT: i32 = 0;
const CE: i32 = 3;

/// A packet (`ccperf.Packet`; `python/ccperf/_native.pyi` describes it).
#[pyclass(module = "ccperf._native")]
#[derive(Debug)]
pub struct Packet(pub(super) abi::Packet);

macro_rules! numbers {
    ($($name:ident: $kind:ty),* $(,)?) => {
        #[pymethods]
        impl Packet {
            $(#[getter] fn $name(&self) -> $kind { self.0.$name })*

            #[getter]
            fn backward(&self) -> bool {
                self.0.backward != 0
            }

            #[getter]
            fn ecn(&self) -> &'static str {
                ["not_ect", "ect1", "ect0", "ce"][self.0.ecn as usize]
            }

            fn __repr__(&self) -> String {
                format!("<Packet {}: {} B>", self.0.id, self.0.bytes)
            }
        }
    };
}

numbers! {
    id: u32, source: u32, destination: u32, source_port: u16, destination_port: u16, bytes: i64,
    payload: i64, enqueued_ns: i64, protocol: i32, flow: u32, seq: u32, ack: u32, flags: u32, dscp: i32,
}

/// What a discipline has asked for; it is done when its call has returned, in this order.
#[derive(Debug)]
enum Action {
    Mark(u32, String),
    Drop(u32, String),
    Timer(Time, u32),
}

/// The queue during a call (`ccperf.Queue`).
#[pyclass(module = "ccperf._native")]
#[derive(Debug, Default)]
pub struct Queue {
    #[pyo3(get)]
    now_ns: i64,
    #[pyo3(get)]
    packets: i64,
    #[pyo3(get)]
    bytes: i64,
    #[pyo3(get)]
    rate_bps: i64,
    arriving: Option<u32>,
    actions: Vec<Action>,
}

#[pymethods]
impl Queue {
    fn mark(&mut self, mut packet: PyRefMut<'_, Packet>, reason: String) -> bool {
        if packet.0.ecn == NOT_ECT {
            return false;
        }
        packet.0.ecn = CE;
        self.actions.push(Action::Mark(packet.0.id, reason));
        true
    }

    fn drop(&mut self, packet: PyRef<'_, Packet>, reason: String) {
        if self.arriving != Some(packet.0.id) {
            self.packets -= 1;
            self.bytes -= packet.0.bytes;
        }
        self.actions.push(Action::Drop(packet.0.id, reason));
    }

    #[pyo3(signature = (delay_ns, tag=0))]
    fn set_timer(&mut self, delay_ns: u64, tag: u32) {
        self.actions.push(Action::Timer(Time(delay_ns), tag));
    }
}

#[derive(Debug)]
pub struct PythonQdisc {
    name: String,
    probe: Probe,
    queue: Py<Queue>,
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
    timer: Option<Py<PyAny>>,
}

impl PythonQdisc {
    pub fn new(
        py: Python<'_>,
        name: &str,
        probe: Probe,
        mut methods: Methods,
        queue: Py<Queue>,
    ) -> Result<Self, String> {
        let mut take = |name: &str| methods.remove(name);
        let enqueue = take("enqueue").ok_or("it has no method enqueue")?;
        let object = enqueue.getattr(py, "__self__").map_err(|e| describe(py, &e))?;
        object.setattr(py, "queue", &queue).map_err(|e| describe(py, &e))?;
        Ok(PythonQdisc {
            name: name.to_owned(),
            probe,
            queue,
            enqueue,
            dequeue: take("dequeue").ok_or("it has no method dequeue")?,
            timer: take("timer"),
        })
    }

    fn fail(&self, what: Call, message: &str) -> ! {
        fail(&self.name, format!("{message} (in {})", what.name()))
    }

    /// Makes one call, and does what it has asked for.
    fn call<'py>(
        &self,
        py: Python<'py>,
        arriving: Option<u32>,
        queue: &mut abi::Queue,
        what: Call,
        method: &Py<PyAny>,
        args: impl PyCallArgs<'py>,
    ) -> Bound<'py, PyAny> {
        {
            let mut view = self.queue.borrow_mut(py);
            view.now_ns = queue.now_ns;
            view.packets = queue.packets;
            view.bytes = queue.bytes;
            view.rate_bps = queue.rate_bps;
            view.arriving = arriving;
        }
        let result = self.probe.call(queue.now(), what, || method.bind(py).call1(args));
        let result = result.unwrap_or_else(|error| self.fail(what, &describe(py, &error)));
        for action in std::mem::take(&mut self.queue.borrow_mut(py).actions) {
            match action {
                Action::Mark(id, reason) => {
                    queue.mark(id, &reason);
                }
                Action::Drop(id, reason) => queue.drop_packet(id, &reason),
                Action::Timer(delay, tag) => queue.set_timer(delay, tag),
            }
        }
        result
    }

    fn truth(&self, what: Call, result: &Bound<'_, PyAny>) -> bool {
        result.extract().unwrap_or_else(|_| {
            self.fail(what, &format!("it returned {result}, neither True nor False"))
        })
    }
}

impl QueueDisc for PythonQdisc {
    fn enqueue(&mut self, packet: &abi::Packet, queue: &mut abi::Queue) -> bool {
        Python::attach(|py| {
            let args = (Packet(*packet),);
            let result = self.call(py, Some(packet.id), queue, Call::Enqueue, &self.enqueue, args);
            self.truth(Call::Enqueue, &result)
        })
    }

    fn dequeue(&mut self, queue: &mut abi::Queue) -> Option<u32> {
        Python::attach(|py| {
            let result = self.call(py, None, queue, Call::Dequeue, &self.dequeue, ());
            if result.is_none() {
                return None;
            }
            match result.cast::<Packet>() {
                Ok(packet) => Some(packet.borrow().0.id),
                Err(_) => self.fail(
                    Call::Dequeue,
                    &format!("it returned {result}, neither a packet nor None"),
                ),
            }
        })
    }

    fn timer(&mut self, tag: u32, queue: &mut abi::Queue) -> bool {
        let Some(method) = &self.timer else { return false };
        Python::attach(|py| {
            let result = self.call(py, None, queue, Call::Timer, method, (tag,));
            self.truth(Call::Timer, &result)
        })
    }
}
