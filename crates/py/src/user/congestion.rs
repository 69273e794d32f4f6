//! A congestion control that is a Python class.

use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::Time;
use ccperf_engine::congestion_control_callbacks;
use ccperf_engine::host::tcp::control::{
    CaEvent, Callback, CongestionControl, Control, EarlyAck, Hears,
};
use ccperf_engine::host::tcp::rate::AckSample;
use ccperf_engine::host::tcp::{self, CongState, EcnMode, EcnState, UseEcn};
use ccperf_engine::host::user::fail;
use ccperf_engine::packet::Ecn;
use ccperf_plugin::abi::{SampleView, TcbView};
use ccperf_plugin::monitor::{Call, Probe};
use ccperf_plugin::{Code, sample_fields, tcb_fields, window};
use pyo3::IntoPyObjectExt;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use super::{Methods, describe};

/// The connection's state (`ccperf.Tcb`; `python/ccperf/_native.pyi` describes it).
#[pyclass(module = "ccperf._native")]
#[derive(Clone, Copy)]
pub struct Tcb(TcbView);

/// What one ACK says (`ccperf.RateSample`).
#[pyclass(frozen, module = "ccperf._native")]
#[derive(Clone, Copy)]
pub struct RateSample(SampleView);

/// The accessors of a field, as `fields.rs` of `ccperf-plugin` says how.
macro_rules! accessors {
    ($class:ident $name:ident $type:ident [number]) => {
        get!($class $name -> $type, |value| value);
    };
    ($class:ident $name:ident $type:ident [flag]) => {
        get!($class $name -> bool, |value| value != 0);
    };
    ($class:ident $name:ident $type:ident [word $kind:ident]) => {
        get!($class $name -> &'static str, |value| $kind::WORDS[value as usize]);
    };
    ($class:ident $name:ident $type:ident [maybe ($none:expr)]) => {
        get!($class $name -> Option<$type>, |value| (value != $none).then_some(value));
    };
    ($class:ident $name:ident $type:ident [whole $set:ident $unit:literal]) => {
        get!($class $name -> $type, |value| value);
        set!($class $name $set, |value| whole(stringify!($name), $unit, value)?);
    };
    ($class:ident $name:ident $type:ident [small $set:ident]) => {
        get!($class $name -> $type, |value| value);
        set!($class $name $set, |value| whole(stringify!($name), "percent", value)?);
    };
    ($class:ident $name:ident $type:ident [switch $set:ident]) => {
        get!($class $name -> bool, |value| value != 0);
        set!($class $name $set, |value| switch(stringify!($name), value)?.into());
    };
    ($class:ident $name:ident $type:ident [choice $set:ident $kind:ident]) => {
        get!($class $name -> &'static str, |value| $kind::WORDS[value as usize]);
        set!($class $name $set, |value| code::<$kind>(stringify!($name), value)?);
    };
}

macro_rules! get {
    ($class:ident $name:ident -> $type:ty, |$value:ident| $shown:expr) => {
        #[pymethods]
        impl $class {
            #[getter]
            fn $name(&self) -> $type {
                let $value = self.0.$name;
                $shown
            }
        }
    };
}

macro_rules! set {
    ($class:ident $name:ident $set:ident, |$value:ident| $stored:expr) => {
        #[pymethods]
        impl $class {
            #[setter]
            fn $set(&mut self, $value: &Bound<'_, PyAny>) -> PyResult<()> {
                self.0.$name = $stored;
                Ok(())
            }
        }
    };
}

macro_rules! tcb {
    (
        $($(#[doc = $a_doc:literal])* $a:ident: $a_type:ident = $a_field:ident $a_how:tt;)*
        $(
            ; $other:ident;
            $($(#[doc = $doc:literal])* $name:ident: $type:ident = $field:ident $how:tt;)*
        )*
    ) => {
        $(accessors!(Tcb $a $a_type $a_how);)*
        $($(accessors!(Tcb $name $type $how);)*)*
    };
}

macro_rules! rate_sample {
    (
        $($(#[doc = $doc:literal])* $name:ident: $type:ident = $of:ident.$field:ident $how:tt;)*
        ; $other:ident;
    ) => {
        $(accessors!(RateSample $name $type $how);)*
    };
}

tcb_fields!(tcb);
sample_fields!(rate_sample);

fn code<C: Code>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<i32> {
    let found = C::WORDS.iter().position(|known| value.eq(known).unwrap_or(false));
    found.map(|code| code as i32).ok_or_else(|| {
        PyValueError::new_err(format!("{name} is one of {}, not {value}", C::WORDS.join(", ")))
    })
}

fn switch(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("{name} is True or False, not {value}")))
}

/// A number that the engine counts in whole units: a fraction is refused with the remedy, since
/// rounding it here would hide which way.
fn whole<'a, N>(name: &str, unit: &str, value: &Bound<'a, PyAny>) -> PyResult<N>
where
    N: for<'b> FromPyObject<'b, 'a>,
{
    value.extract().map_err(|_| {
        if value.is_instance_of::<PyInt>() {
            let bits = 8 * size_of::<N>();
            return PyOverflowError::new_err(format!(
                "{name} is {value} {unit}, beyond the {bits} bits that there are for it"
            ));
        }
        let kind = value.get_type();
        let kind = kind.name().map_or_else(|_| "value".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("{name} is in whole {unit}, not a {kind}: write int(...)"))
    })
}

#[pymethods]
impl Tcb {
    fn __repr__(&self) -> String {
        let TcbView { now_ns, cwnd, ssthresh, bytes_in_flight, .. } = self.0;
        let state = self.cong_state();
        format!(
            "<Tcb at {now_ns} ns: {state}, cwnd {cwnd} B, ssthresh {ssthresh} B, \
             {bytes_in_flight} B in flight>"
        )
    }
}

/// An argument as Python gets it.
trait Argument {
    fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
}

impl Argument for u32 {
    fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.into_bound_py_any(py)
    }
}

impl Argument for bool {
    fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.into_bound_py_any(py)
    }
}

/// Nanoseconds.
impl Argument for Time {
    fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.ns().into_bound_py_any(py)
    }
}

impl Argument for CongState {
    fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(word(py, self))
    }
}

impl Argument for CaEvent {
    fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(word(py, self))
    }
}

impl Argument for AckSample<'_> {
    fn shown(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        RateSample(SampleView::of(self)).into_bound_py_any(py)
    }
}

fn word<C: Code>(py: Python<'_>, value: C) -> Bound<'_, PyAny> {
    PyString::intern(py, C::WORDS[value.code() as usize]).into_any()
}

/// An answer as Python gives it.
trait Answer: Sized {
    /// # Errors
    /// What is wrong with it.
    fn of(given: &Bound<'_, PyAny>, name: &str, segment_size: u32) -> Result<Self, String>;
}

impl Answer for () {
    fn of(_: &Bound<'_, PyAny>, _: &str, _: u32) -> Result<(), String> {
        Ok(())
    }
}

/// A window in bytes.
impl Answer for u32 {
    fn of(given: &Bound<'_, PyAny>, name: &str, segment_size: u32) -> Result<u32, String> {
        let number = given.extract().map_err(|error: PyErr| {
            if error.is_instance_of::<PyOverflowError>(given.py()) {
                return format!("it returned {given} B, and a window has 0 to {} B", u32::MAX);
            }
            format!("it returned {given}, not a whole number of bytes: int(...)")
        })?;
        window(name, number, segment_size)
    }
}

impl Answer for Option<EarlyAck> {
    fn of(given: &Bound<'_, PyAny>, _: &str, _: u32) -> Result<Self, String> {
        let early: Option<(u32, bool)> = given
            .extract()
            .map_err(|_| format!("it returned {given}, neither None nor (ack, ece)"))?;
        Ok(early.map(|(ack, ece)| EarlyAck { ack: Seq(ack), ece }))
    }
}

/// Calls the object's methods with one view of the connection, filled in anew each time.
#[derive(Debug)]
pub struct PythonCca {
    name: String,
    probe: Probe,
    view: Py<Tcb>,
    /// In the order of [`Callback::ALL`].
    methods: Vec<Option<Py<PyAny>>>,
}

impl PythonCca {
    pub fn new(
        py: Python<'_>,
        name: &str,
        probe: Probe,
        mut methods: Methods,
    ) -> Result<Self, String> {
        let blank = Tcb(TcbView::of(&tcp::Tcb::default()));
        let mut take = |of: &tcp::control::Described| match methods.remove(of.name) {
            None if of.is_required => Err(format!("it has no method {}", of.name)),
            method => Ok(method),
        };
        Ok(PythonCca {
            name: name.to_owned(),
            probe,
            view: Py::new(py, blank).map_err(|error| describe(py, &error))?,
            methods: Callback::DESCRIBED.iter().map(&mut take).collect::<Result<_, _>>()?,
        })
    }

    pub fn into_control(self) -> Control {
        let has = |callback: &Callback| self.methods[*callback as usize].is_some();
        let hears = Callback::ALL.iter().copied().filter(has).fold(Hears::NOTHING, Hears::and);
        let control = if hears.has(Callback::CongControl) {
            Control::rate(self)
        } else {
            Control::from(self)
        };
        control.hearing(hears)
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
        args: PyResult<impl PyCallArgs<'py>>,
    ) -> Bound<'py, PyAny> {
        self.view.borrow_mut(py).0 = TcbView::of(tcb);
        let result =
            args.and_then(|args| self.probe.call(tcb.now, what, || method.bind(py).call1(args)));
        let result = result.unwrap_or_else(|error| self.fail(what, &describe(py, &error)));
        let stored = self.view.borrow(py).0.store(tcb);
        stored.unwrap_or_else(|message| self.fail(what, &message));
        result
    }
}

macro_rules! calls {
    ($(
        $(#[doc = $doc:literal])*
        fn $variant:ident $name:ident($tcb:ident: $access:tt $(, $arg:ident: $type:ty)*)
            $(-> $answer:ty)? $([$out:ident])? $(= $default:expr)?;
    )*) => {
        impl CongestionControl for PythonCca {
            $(fn $name(&mut self, $tcb: block!($access), $($arg: $type),*) $(-> $answer)? {
                let Some(method) = &self.methods[Callback::$variant as usize] else {
                    absent!($($default)?)
                };
                let segment_size = $tcb.segment_size;
                Python::attach(|py| {
                    let args = || Ok((&self.view, $($arg.shown(py)?),*));
                    let given =
                        self.call(py, scratch!($access $tcb), Call::$variant, method, args());
                    Answer::of(&given, stringify!($name), segment_size)
                        .unwrap_or_else(|message| self.fail(Call::$variant, &message))
                })
            })*
        }
    };
}

macro_rules! block {
    (mut) => {
        &mut tcp::Tcb
    };
    (ref) => {
        &tcp::Tcb
    };
}

/// The engine does not expect such a call to change the connection.
macro_rules! scratch {
    (mut $tcb:ident) => {
        $tcb
    };
    (ref $tcb:ident) => {
        &mut $tcb.clone()
    };
}

macro_rules! absent {
    () => {
        unreachable!("looked for when the object was made")
    };
    ($default:expr) => {
        return $default
    };
}

congestion_control_callbacks!(calls);
