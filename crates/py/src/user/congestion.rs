//! A congestion control that is a Python class.

use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::Time;
use ccperf_engine::host::tcp::control::{
    CaEvent, CongestionControl, Control, EarlyAck, RateControl,
};
use ccperf_engine::host::tcp::rate::{RateConnection, RateSample as EngineSample};
use ccperf_engine::host::tcp::{self, CongState};
use ccperf_engine::host::user::fail;
use ccperf_plugin::abi::{RateSampleView, TcbView};
use ccperf_plugin::monitor::{Call, Probe};
use ccperf_plugin::{Code, window};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use super::{Methods, describe};

const CONG_STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];
const EVENTS: [&str; 7] = [
    "tx_start",
    "complete_cwr",
    "loss",
    "ecn_no_ce",
    "ecn_is_ce",
    "delayed_ack",
    "non_delayed_ack",
];
const USE_ECN: [&str; 3] = ["off", "on", "accept_only"];
const ECN_MODES: [&str; 2] = ["classic", "dctcp"];
const ECN_STATES: [&str; 6] =
    ["disabled", "idle", "ce_rcvd", "sending_ece", "ece_rcvd", "cwr_sent"];
const CODE_POINTS: [&str; 4] = ["not_ect", "ect1", "ect0", "ce"];

fn code(name: &str, words: &[&str], word: &str) -> PyResult<i32> {
    let found = words.iter().position(|known| *known == word);
    found.map(|code| code as i32).ok_or_else(|| {
        PyValueError::new_err(format!("{name} is one of {}, not {word}", words.join(", ")))
    })
}

/// The connection's state (`ccperf.Tcb`; `python/ccperf/_native.pyi` describes it).
#[pyclass(module = "ccperf._native")]
#[derive(Clone, Copy)]
pub struct Tcb(TcbView);

macro_rules! numbers {
    ($($name:ident: $kind:ty),* $(,)?) => {
        #[pymethods]
        impl Tcb {
            $(#[getter] fn $name(&self) -> $kind { self.0.$name })*
        }
    };
}

numbers! {
    now_ns: i64, cwnd: i64, ssthresh: i64, pacing_rate_bps: i64, pacing_ss_ratio: i32,
    pacing_ca_ratio: i32, segment_size: i64, initial_cwnd: i64, initial_ssthresh: i64,
    bytes_in_flight: i64, last_acked_sacked: i64, max_pacing_rate_bps: i64, last_acked_seq: u32,
    next_tx_seq: u32, high_tx_mark: u32, next_rx_seq: u32, rcv_timestamp: u32,
    rcv_timestamp_echo: u32,
}

/// A number that the engine counts in whole units: a fraction is refused with the remedy, since
/// rounding it here would hide which way.
fn whole(name: &str, unit: &str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    value.extract().map_err(|_| {
        if value.is_instance_of::<PyInt>() {
            return PyOverflowError::new_err(format!(
                "{name} is {value} {unit}, beyond the 64 bits that there are for it"
            ));
        }
        let kind = value.get_type();
        let kind = kind.name().map_or_else(|_| "value".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("{name} is in whole {unit}, not a {kind}: write int(...)"))
    })
}

/// No sample yet.
fn sample(ns: i64, none: i64) -> Option<i64> {
    (ns != none).then_some(ns)
}

#[pymethods]
impl Tcb {
    #[setter]
    fn set_cwnd(&mut self, cwnd: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.cwnd = whole("cwnd", "bytes", cwnd)?;
        Ok(())
    }

    #[setter]
    fn set_ssthresh(&mut self, ssthresh: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.ssthresh = whole("ssthresh", "bytes", ssthresh)?;
        Ok(())
    }

    #[setter]
    fn set_pacing_rate_bps(&mut self, pacing_rate_bps: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.pacing_rate_bps = whole("pacing_rate_bps", "bits per second", pacing_rate_bps)?;
        Ok(())
    }

    #[setter]
    fn set_pacing_ss_ratio(&mut self, pacing_ss_ratio: i32) {
        self.0.pacing_ss_ratio = pacing_ss_ratio;
    }

    #[setter]
    fn set_pacing_ca_ratio(&mut self, pacing_ca_ratio: i32) {
        self.0.pacing_ca_ratio = pacing_ca_ratio;
    }

    #[getter]
    fn pacing(&self) -> bool {
        self.0.pacing != 0
    }

    #[setter]
    fn set_pacing(&mut self, on: bool) {
        self.0.pacing = on.into();
    }

    #[getter]
    fn use_ecn(&self) -> &'static str {
        USE_ECN[self.0.use_ecn as usize]
    }

    #[setter]
    fn set_use_ecn(&mut self, word: &str) -> PyResult<()> {
        self.0.use_ecn = code("use_ecn", &USE_ECN, word)?;
        Ok(())
    }

    #[getter]
    fn ecn_mode(&self) -> &'static str {
        ECN_MODES[self.0.ecn_mode as usize]
    }

    #[setter]
    fn set_ecn_mode(&mut self, word: &str) -> PyResult<()> {
        self.0.ecn_mode = code("ecn_mode", &ECN_MODES, word)?;
        Ok(())
    }

    #[getter]
    fn ecn_state(&self) -> &'static str {
        ECN_STATES[self.0.ecn_state as usize]
    }

    #[setter]
    fn set_ecn_state(&mut self, word: &str) -> PyResult<()> {
        self.0.ecn_state = code("ecn_state", &ECN_STATES, word)?;
        Ok(())
    }

    #[getter]
    fn ect(&self) -> &'static str {
        CODE_POINTS[self.0.ect as usize]
    }

    #[setter]
    fn set_ect(&mut self, word: &str) -> PyResult<()> {
        self.0.ect = code("ect", &CODE_POINTS, word)?;
        Ok(())
    }

    #[getter]
    fn cong_state(&self) -> &'static str {
        CONG_STATES[self.0.cong_state as usize]
    }

    #[getter]
    fn is_cwnd_limited(&self) -> bool {
        self.0.is_cwnd_limited != 0
    }

    #[getter]
    fn is_retrans_data_acked(&self) -> bool {
        self.0.is_retrans_data_acked != 0
    }

    #[getter]
    fn pace_initial_window(&self) -> bool {
        self.0.pace_initial_window != 0
    }

    #[getter]
    fn last_rtt_ns(&self) -> Option<i64> {
        sample(self.0.last_rtt_ns, 0)
    }

    #[getter]
    fn srtt_ns(&self) -> Option<i64> {
        sample(self.0.srtt_ns, 0)
    }

    #[getter]
    fn min_rtt_ns(&self) -> Option<i64> {
        sample(self.0.min_rtt_ns, i64::MAX)
    }

    fn __repr__(&self) -> String {
        let TcbView { now_ns, cwnd, ssthresh, bytes_in_flight, .. } = self.0;
        let state = self.cong_state();
        format!(
            "<Tcb at {now_ns} ns: {state}, cwnd {cwnd} B, ssthresh {ssthresh} B, \
             {bytes_in_flight} B in flight>"
        )
    }
}

/// The delivery rate sample of one ACK (`ccperf.RateSample`).
#[pyclass(frozen, module = "ccperf._native")]
#[derive(Clone, Copy)]
pub struct RateSample(RateSampleView);

macro_rules! sample_numbers {
    ($($name:ident),* $(,)?) => {
        #[pymethods]
        impl RateSample {
            $(#[getter] fn $name(&self) -> i64 { self.0.$name })*

            #[getter]
            fn is_app_limited(&self) -> bool {
                self.0.is_app_limited != 0
            }
        }
    };
}

sample_numbers! {
    delivery_rate_bps, interval_ns, delivered, prior_delivered, prior_time_ns, send_elapsed_ns,
    ack_elapsed_ns, bytes_loss, prior_in_flight, acked_sacked, total_delivered, delivered_time_ns,
    first_sent_time_ns, app_limited,
}

/// Calls the object's methods with one view of the connection, filled in anew each time.
#[derive(Debug)]
pub struct PythonCca {
    name: String,
    probe: Probe,
    view: Py<Tcb>,
    init: Option<Py<PyAny>>,
    ssthresh: Py<PyAny>,
    cong_avoid: Option<Py<PyAny>>,
    pkts_acked: Option<Py<PyAny>>,
    set_state: Option<Py<PyAny>>,
    cwnd_event: Option<Py<PyAny>>,
    cong_control: Option<Py<PyAny>>,
    states: [Py<PyAny>; 5],
    events: [Py<PyAny>; 7],
}

impl PythonCca {
    pub fn new(
        py: Python<'_>,
        name: &str,
        probe: Probe,
        mut methods: Methods,
    ) -> Result<Self, String> {
        let word = |word: &str| pyo3::types::PyString::intern(py, word).unbind().into_any();
        let blank = Tcb(TcbView::of(&tcp::Tcb::default()));
        let mut take = |name: &str| methods.remove(name);
        Ok(PythonCca {
            name: name.to_owned(),
            probe,
            view: Py::new(py, blank).map_err(|error| describe(py, &error))?,
            init: take("init"),
            ssthresh: take("ssthresh").ok_or("it has no method ssthresh")?,
            cong_avoid: take("cong_avoid"),
            pkts_acked: take("pkts_acked"),
            set_state: take("set_state"),
            cwnd_event: take("cwnd_event"),
            cong_control: take("cong_control"),
            states: CONG_STATES.map(word),
            events: EVENTS.map(word),
        })
    }

    pub fn into_control(self) -> Control {
        if self.cong_control.is_some() { Control::rate(self) } else { self.into() }
    }

    fn fail(&self, what: Call, message: &str) -> ! {
        fail(&self.name, format!("{message} (in {})", what.name()))
    }

    /// Makes one call, and takes over what it changed in `tcb`.
    fn call<'py>(
        &self,
        py: Python<'py>,
        tcb: &mut tcp::Tcb,
        what: Call,
        method: &Py<PyAny>,
        args: impl PyCallArgs<'py>,
    ) -> Bound<'py, PyAny> {
        self.view.borrow_mut(py).0 = TcbView::of(tcb);
        let result = self.probe.call(tcb.now, what, || method.bind(py).call1(args));
        let result = result.unwrap_or_else(|error| self.fail(what, &describe(py, &error)));
        let stored = self.view.borrow(py).0.store(tcb);
        stored.unwrap_or_else(|message| self.fail(what, &message));
        result
    }
}

impl CongestionControl for PythonCca {
    fn init(&mut self, tcb: &mut tcp::Tcb) {
        if let Some(method) = &self.init {
            Python::attach(|py| {
                self.call(py, tcb, Call::Init, method, (&self.view,));
            });
        }
    }

    fn ssthresh(&mut self, tcb: &tcp::Tcb, bytes_in_flight: u32) -> u32 {
        Python::attach(|py| {
            let args = (&self.view, bytes_in_flight);
            // The engine does not expect this call to change the connection.
            let mut scratch = tcb.clone();
            let result = self.call(py, &mut scratch, Call::Ssthresh, &self.ssthresh, args);
            let Ok(bytes) =
                result.cast::<PyInt>().map_err(drop).and_then(|n| n.extract::<i64>().map_err(drop))
            else {
                let message =
                    format!("it returned {result}, not a whole number of bytes: int(...)");
                self.fail(Call::Ssthresh, &message);
            };
            window("ssthresh", bytes, tcb.segment_size)
                .unwrap_or_else(|message| self.fail(Call::Ssthresh, &message))
        })
    }

    fn cong_avoid(&mut self, tcb: &mut tcp::Tcb, segments_acked: u32) {
        if let Some(method) = &self.cong_avoid {
            Python::attach(|py| {
                self.call(py, tcb, Call::CongAvoid, method, (&self.view, segments_acked));
            });
        }
    }

    fn pkts_acked(&mut self, tcb: &mut tcp::Tcb, segments_acked: u32, rtt: Time) {
        if let Some(method) = &self.pkts_acked {
            Python::attach(|py| {
                let args = (&self.view, segments_acked, rtt.ns());
                self.call(py, tcb, Call::PktsAcked, method, args);
            });
        }
    }

    fn set_state(&mut self, tcb: &mut tcp::Tcb, state: CongState) {
        if let Some(method) = &self.set_state {
            let word = &self.states[state.code() as usize];
            Python::attach(|py| {
                self.call(py, tcb, Call::SetState, method, (&self.view, word));
            });
        }
    }

    fn cwnd_event(&mut self, tcb: &mut tcp::Tcb, event: CaEvent) -> Option<EarlyAck> {
        let method = self.cwnd_event.as_ref()?;
        let word = &self.events[event.code() as usize];
        Python::attach(|py| {
            let result = self.call(py, tcb, Call::CwndEvent, method, (&self.view, word));
            let Ok(early) = result.extract::<Option<(u32, bool)>>() else {
                let message = format!("it returned {result}, neither None nor (ack, ece)");
                self.fail(Call::CwndEvent, &message);
            };
            early.map(|(ack, ece)| EarlyAck { ack: Seq(ack), ece })
        })
    }
}

impl RateControl for PythonCca {
    fn cong_control(&mut self, tcb: &mut tcp::Tcb, rc: &RateConnection, rs: &EngineSample) {
        if let Some(method) = &self.cong_control {
            let sample = RateSample(RateSampleView::of(rc, rs));
            Python::attach(|py| {
                self.call(py, tcb, Call::CongControl, method, (&self.view, sample));
            });
        }
    }
}
