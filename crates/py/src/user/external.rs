//! A congestion control whose window and rate somebody outside the engine sets: `ccperf.gym`.

use std::sync::{Arc, Mutex, PoisonError};

use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::host::tcp::Tcb;
use ccperf_engine::host::tcp::control::{Callback, CongestionControl, Control, Hears};
use ccperf_engine::host::tcp::rate::AckSample;
use pyo3::prelude::*;

/// What was set, and what the last ACK said.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// In bytes; 0: the connection's own.
    cwnd: u32,
    /// Bit/s; 0: not paced.
    rate: u64,
    acks: u64,
    delivered: u64,
    lost: u64,
    srtt_ns: i64,
    rtt_ns: i64,
    min_rtt_ns: i64,
    in_flight: u32,
    segment_size: u32,
    cwnd_now: u32,
}

/// Smoothed, last, least; in ns.
type RoundTrips = (i64, i64, i64);
/// In flight, one segment, the window; in bytes.
type Windows = (u32, u32, u32);

/// In place of a method `cong_control` of a Python class: takes over window and rate at each ACK, and Python
/// is not called.
#[pyclass(frozen, module = "ccperf._native")]
pub struct ExternalControl(Arc<Mutex<State>>);

impl ExternalControl {
    pub fn control(&self) -> Control {
        Control::rate(Holder(Arc::clone(&self.0)))
            .hearing(Hears::NOTHING.and(Callback::CongControl))
    }

    fn state(&self) -> State {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl ExternalControl {
    #[new]
    fn new() -> Self {
        ExternalControl(Arc::default())
    }

    fn set(&self, cwnd: u32, rate_bps: u64) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (state.cwnd, state.rate) = (cwnd, rate_bps);
    }

    #[getter]
    fn acks(&self) -> u64 {
        self.state().acks
    }

    fn last_ack(&self) -> (u64, u64, RoundTrips, Windows) {
        let of = self.state();
        let round_trips = (of.srtt_ns, of.rtt_ns, of.min_rtt_ns);
        let windows = (of.in_flight, of.segment_size, of.cwnd_now);
        (of.delivered, of.lost, round_trips, windows)
    }
}

#[derive(Debug)]
struct Holder(Arc<Mutex<State>>);

impl CongestionControl for Holder {
    /// RFC 5681 equation 4; the window does not follow it.
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        (bytes_in_flight / 2).max(2 * tcb.segment_size)
    }

    fn cong_control(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.cwnd > 0 {
            tcb.cwnd = state.cwnd.max(tcb.segment_size);
        }
        if state.rate > 0 {
            (tcb.pacing, tcb.pacing_rate) = (true, Rate(state.rate));
        }
        *state = State {
            cwnd: state.cwnd,
            rate: state.rate,
            acks: state.acks + 1,
            delivered: sample.connection.delivered,
            lost: sample.connection.lost,
            srtt_ns: tcb.srtt.ns(),
            rtt_ns: tcb.last_rtt.ns(),
            min_rtt_ns: if tcb.min_rtt == Time::MAX { 0 } else { tcb.min_rtt.ns() },
            in_flight: tcb.bytes_in_flight,
            segment_size: tcb.segment_size,
            cwnd_now: tcb.cwnd,
        };
    }
}
