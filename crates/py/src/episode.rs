//! A run in the hands of agents that learn: `ccperf.gym`.  A step sets windows and rates, runs the engine, and
//! says what senders have seen; no Python runs in between.

#![expect(clippy::too_many_arguments, reason = "an interval is made of its fields, by name")]

use std::sync::{Arc, Mutex, PoisonError};

use ccperf_engine::base::error::Error;
use ccperf_engine::base::math;
use ccperf_engine::base::time::Time;
use ccperf_engine::run::simulate;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::simulation::Simulation;
use crate::user::external::{ExternalControl, Seen, State};

mod errors {
    pyo3::import_exception!(ccperf.errors, UsageError);
}

/// What an action can make of the window, in bytes, and of the pacing rate, in bit/s.
const LARGEST_CWND: f64 = 2_147_483_647.0;
const LOWEST_RATE: f64 = 1e4;
const HIGHEST_RATE: f64 = 1e12;
/// With the pacing rate as action: the window is so many times what the rate sends in a round trip.
const HEADROOM: f64 = 2.0;
/// A step before the first sample of the round trip.
const NO_SRTT_NS: u64 = 1_000_000;
/// Numbers of an observation.
const NUMBERS: usize = 6;

/// How long a step is.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// To the next ACK that an agent hears of.
    Ack,
    /// The longest smoothed round trip of the agents.
    RoundTrip,
    Time(u64),
}

/// What an agent sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sets {
    Cwnd,
    Rate,
    Both,
}

impl Sets {
    fn numbers(self) -> usize {
        if self == Sets::Both { 2 } else { 1 }
    }
}

/// One flow's agent: the connection that it controls, and what it has set and seen so far.
#[derive(Debug)]
struct Agent {
    connection: Arc<Mutex<State>>,
    cwnd: f64,
    rate: f64,
    before: Seen,
    highest: f64,
}

impl Agent {
    fn new(connection: Arc<Mutex<State>>) -> Agent {
        let before = seen(&connection);
        let cwnd = f64::from(before.cwnd);
        let srtt_ns = if before.srtt_ns == 0 { 1_000_000_000 } else { before.srtt_ns };
        Agent { connection, cwnd, rate: 8e9 * cwnd / srtt_ns as f64, before, highest: 0.0 }
    }

    fn act(&mut self, sets: Sets, numbers: &[f64]) {
        let factor = |number: f64| math::pow(2.0, number.clamp(-1.0, 1.0));
        let mut rate = 0;
        if sets != Sets::Cwnd {
            self.rate *= factor(numbers[numbers.len() - 1]);
            self.rate = self.rate.clamp(LOWEST_RATE, HIGHEST_RATE);
            rate = self.rate as u64;
        }
        if sets == Sets::Rate {
            self.cwnd = HEADROOM * self.rate * self.before.srtt_ns as f64 / 8e9;
        } else {
            self.cwnd *= factor(numbers[0]);
        }
        // Below one segment nothing is sent.
        self.cwnd = self.cwnd.max(f64::from(self.before.segment_size)).min(LARGEST_CWND);
        let mut state = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        (state.cwnd, state.rate) = (self.cwnd as u32, rate);
    }

    fn interval(&mut self, now: u64, length_ns: u64, capacity: f64) -> Interval {
        let last = seen(&self.connection);
        let delivered = last.delivered - self.before.delivered;
        let lost = last.lost - self.before.lost;
        self.before = last;
        let seconds = length_ns as f64 / 1e9;
        if seconds > 0.0 {
            self.highest = self.highest.max(8.0 * delivered as f64 / seconds);
        }
        Interval {
            now: now as f64 / 1e9,
            seconds,
            delivered,
            lost,
            srtt: last.srtt_ns as f64 / 1e9,
            rtt: last.rtt_ns as f64 / 1e9,
            min_rtt: last.min_rtt_ns as f64 / 1e9,
            cwnd: self.cwnd as u32,
            in_flight: last.in_flight,
            segment_size: last.segment_size,
            capacity,
            highest: self.highest,
        }
    }
}

fn seen(connection: &Mutex<State>) -> Seen {
    connection.lock().unwrap_or_else(PoisonError::into_inner).seen
}

/// A run, and the agents of its flows in their order.
#[pyclass(frozen, module = "ccperf._native")]
pub struct Episode {
    simulation: Py<Simulation>,
    step: Step,
    sets: Sets,
    capacity: f64,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    agents: Vec<Agent>,
    now: u64,
    /// Whether the run has ended, or a step has failed.
    is_over: bool,
}

#[pymethods]
impl Episode {
    /// `ends`: of each agent's flow, the controls of its ends: only one of them hears of delivered data.
    /// Runs to the first ACK of data of each; nothing if the run ends before.
    #[staticmethod]
    fn begin(
        py: Python<'_>,
        simulation: Py<Simulation>,
        ends: Vec<Vec<Py<ExternalControl>>>,
        interval: &str,
        action: &str,
        capacity: f64,
    ) -> PyResult<Option<Episode>> {
        let step = match interval {
            "ack" => Step::Ack,
            "rtt" => Step::RoundTrip,
            ns => Step::Time(ns.parse()?),
        };
        let sets = match action {
            "cwnd" => Sets::Cwnd,
            "rate" => Sets::Rate,
            _ => Sets::Both,
        };
        let ends: Vec<Vec<_>> =
            ends.iter().map(|of| of.iter().map(|end| end.get().state()).collect()).collect();
        let begun = simulation.get().with(py, |run| begin(run, &ends))?;
        Ok(begun.map(|(now, agents)| {
            let inner = Mutex::new(Inner { agents, now, is_over: false });
            Episode { simulation, step, sets, capacity, inner }
        }))
    }

    /// What the agents know before their first step.
    fn first(&self) -> Vec<Interval> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let now = inner.now;
        inner.agents.iter_mut().map(|agent| agent.interval(now, 0, self.capacity)).collect()
    }

    /// Sets windows and rates and runs one step; whether the run goes on.
    fn step(&self, py: Python<'_>, action: &Bound<'_, PyAny>) -> PyResult<(Vec<Interval>, bool)> {
        let mut seen = Vec::with_capacity(1);
        let goes_on = self.take(py, &numbers(action), None, |interval| seen.push(interval))?;
        Ok((seen, goes_on))
    }

    /// The same where there is one agent.
    fn step_alone(&self, py: Python<'_>, action: &Bound<'_, PyAny>) -> PyResult<(Interval, bool)> {
        let mut seen = None;
        let goes_on = self.take(py, &numbers(action), None, |interval| seen = Some(interval))?;
        Ok((seen.expect("one agent"), goes_on))
    }
}

impl Episode {
    /// `row`: of the actions of a vector.
    fn take(
        &self,
        py: Python<'_>,
        numbers: &Result<Vec<f64>, String>,
        row: Option<usize>,
        mut tell: impl FnMut(Interval),
    ) -> PyResult<bool> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.is_over {
            return Err(usage("step", "the episode has ended; call reset()".to_owned()));
        }
        let inner = &mut *inner;
        inner.is_over = true; // unless all goes well
        let per_agent = self.sets.numbers();
        let wanted = per_agent * inner.agents.len();
        let given = numbers.as_ref().map_err(|given| not_numbers(given, row, wanted))?;
        if given.len() != wanted || !given.iter().all(|number| number.is_finite()) {
            return Err(not_numbers(&format!("{given:?}"), row, wanted));
        }
        for (agent, numbers) in inner.agents.iter_mut().zip(given.chunks(per_agent)) {
            agent.act(self.sets, numbers);
        }
        let before = inner.now;
        let (now, goes_on) =
            self.simulation.get().with(py, |run| advance(run, self.step, before, &inner.agents))?;
        (inner.now, inner.is_over) = (now, !goes_on);
        for agent in &mut inner.agents {
            tell(agent.interval(now, now - before, self.capacity));
        }
        Ok(goes_on)
    }
}

fn usage(field: &str, message: String) -> PyErr {
    errors::UsageError::new_err((field.to_owned(), message))
}

fn not_numbers(given: &str, row: Option<usize>, wanted: usize) -> PyErr {
    let field = row.map_or_else(|| "action".to_owned(), |row| format!("actions[{row}]"));
    let numbers = if wanted == 1 { "number" } else { "numbers" };
    usage(&field, format!("`{given}` must be {wanted} finite {numbers}"))
}

/// One step of each of several episodes with one agent: observations, rewards, whether each goes on, and what
/// senders have seen.
#[pyfunction]
pub fn step_episodes<'py>(
    py: Python<'py>,
    episodes: Vec<Py<Episode>>,
    actions: PyReadonlyArray2<'py, f32>,
) -> PyResult<Steps<'py>> {
    let mut observations = Vec::with_capacity(episodes.len() * NUMBERS);
    let (mut rewards, mut going, mut intervals) = (vec![], vec![], vec![]);
    for (row, (episode, action)) in episodes.iter().zip(actions.as_array().rows()).enumerate() {
        let given = Ok(action.iter().map(|&number| f64::from(number)).collect());
        let goes_on = episode.get().take(py, &given, Some(row), |interval| {
            observations.extend(interval.observation());
            rewards.push(interval.reward());
            intervals.push(interval);
        });
        going.push(goes_on?);
    }
    let observations = observations.into_pyarray(py).reshape([going.len(), NUMBERS])?;
    Ok((observations, rewards.into_pyarray(py), going.into_pyarray(py), intervals))
}

type Steps<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Vec<Interval>,
);

/// Runs until each agent has heard of delivered data: the time, and the agents; nothing if the run ends before.
fn begin(
    run: &mut simulate::Simulation,
    ends: &[Vec<Arc<Mutex<State>>>],
) -> Result<Option<(u64, Vec<Agent>)>, Error> {
    let sender =
        |of: &Vec<Arc<Mutex<State>>>| of.iter().find(|end| seen(end).delivered > 0).map(Arc::clone);
    loop {
        if !run.run_for(1)? {
            return Ok(None);
        }
        if let Some(senders) = ends.iter().map(sender).collect::<Option<Vec<_>>>() {
            return Ok(Some((run.now().0, senders.into_iter().map(Agent::new).collect())));
        }
    }
}

/// Runs one step from `before` on: the time at its end, and whether the run goes on.
fn advance(
    run: &mut simulate::Simulation,
    step: Step,
    before: u64,
    agents: &[Agent],
) -> Result<(u64, bool), Error> {
    let length = match step {
        Step::Ack => {
            let acks =
                |agents: &[Agent]| agents.iter().map(|agent| seen(&agent.connection).acks).sum();
            let heard: u64 = acks(agents);
            loop {
                let goes_on = run.run_for(1)?;
                let now = if goes_on { run.now().0 } else { before.max(run.now().0) };
                if !goes_on || acks(agents) != heard {
                    return Ok((now, goes_on));
                }
            }
        }
        Step::RoundTrip => {
            match agents.iter().map(|agent| agent.before.srtt_ns).max().unwrap_or(0) {
                0 => NO_SRTT_NS,
                longest => longest as u64,
            }
        }
        Step::Time(ns) => ns,
    };
    let until = (before + length).min(run.stop().0);
    Ok((until, run.run_until(Time(until))?))
}

/// The numbers of an action, mostly an array of 32-bit floats; of what is none, what was given.
fn numbers(action: &Bound<'_, PyAny>) -> Result<Vec<f64>, String> {
    if let Ok(array) = action.cast::<PyArray1<f32>>() {
        return Ok(array.readonly().as_array().iter().map(|&number| f64::from(number)).collect());
    }
    let any = || -> PyResult<Vec<f64>> {
        let flat = action.py().import("numpy")?.call_method1("asarray", (action, "float64"))?;
        flat.call_method0("ravel")?.extract()
    };
    any().map_err(|_| action.to_string())
}

/// What the sender has seen from one step to the next.
#[pyclass(frozen, eq, get_all, new = "from_fields", module = "ccperf._native")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    now: f64,
    seconds: f64,
    delivered: u64,
    lost: u64,
    srtt: f64,
    rtt: f64,
    min_rtt: f64,
    cwnd: u32,
    in_flight: u32,
    segment_size: u32,
    capacity: f64,
    highest: f64,
}

type Fields = (f64, f64, u64, u64, f64, f64, f64, u32, u32, u32, f64, f64);

#[pymethods]
impl Interval {
    /// How to copy it to another process.
    #[rustfmt::skip]
    fn __getnewargs__(&self) -> Fields {
        (
            self.now, self.seconds, self.delivered, self.lost, self.srtt, self.rtt, self.min_rtt,
            self.cwnd, self.in_flight, self.segment_size, self.capacity, self.highest,
        )
    }

    fn __repr__(&self) -> String {
        format!("{self:?}").replace(": ", "=").replace(" { ", "(").replace(" }", ")")
    }

    /// Of each number of an observation the largest value; the least is 0.
    #[classattr]
    const LARGEST: [f64; NUMBERS] = [1.0, 10.0, 10.0, 1.0, 2.0, 2.0];

    #[getter]
    fn throughput(&self) -> f64 {
        if self.seconds > 0.0 { 8.0 * self.delivered as f64 / self.seconds } else { 0.0 }
    }

    #[getter]
    fn loss(&self) -> f64 {
        let all = self.lost + self.delivered;
        if self.lost > 0 { self.lost as f64 / all as f64 } else { 0.0 }
    }

    fn observe<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.observation())
    }

    fn reward(&self) -> f64 {
        let delay = if self.min_rtt > 0.0 { self.srtt / self.min_rtt - 1.0 } else { 0.0 };
        self.throughput() / self.capacity - 0.25 * delay.max(0.0) - 10.0 * self.loss()
    }
}

impl Interval {
    fn observation(&self) -> [f32; NUMBERS] {
        let least = if self.min_rtt > 0.0 { self.min_rtt } else { 1.0 };
        let segments = f64::from(self.cwnd) / f64::from(self.segment_size);
        let used = if self.highest > 0.0 { self.throughput() / self.highest } else { 0.0 };
        let numbers = [
            used,
            self.srtt / least - 1.0,
            self.rtt / least - 1.0,
            self.loss(),
            f64::from(self.in_flight) / f64::from(self.cwnd),
            math::ln(segments) / std::f64::consts::LN_2 / 20.0,
        ];
        let mut within = [0.0; NUMBERS];
        for ((cut, number), largest) in within.iter_mut().zip(numbers).zip(Interval::LARGEST) {
            *cut = number.clamp(0.0, largest) as f32;
        }
        within
    }
}
