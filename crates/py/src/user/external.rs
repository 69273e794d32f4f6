//! A congestion control whose window and rate somebody outside the engine sets: `ccperf.gym`.

use std::sync::{Arc, Mutex, PoisonError};

use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::host::tcp::Tcb;
use ccperf_engine::host::tcp::control::{CongestionControl, Control};
use ccperf_engine::host::tcp::rate::AckSample;
use pyo3::prelude::*;

/// What was set, and what the last ACK said.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// In bytes; 0: the connection's own.
    pub cwnd: u32,
    /// Bit/s; 0: not paced.
    pub rate: u64,
    pub seen: Seen,
}

/// Bytes delivered and found lost since the start, round trips (0 before the first sample), bytes in flight, of
/// a segment and of the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub acks: u64,
    pub delivered: u64,
    pub lost: u64,
    pub srtt_ns: i64,
    pub rtt_ns: i64,
    pub min_rtt_ns: i64,
    pub in_flight: u32,
    pub segment_size: u32,
    pub cwnd: u32,
}

/// In place of a method `cong_control` of a Python class: takes over window and rate at each ACK, and Python
/// is not called.  `Episode` sets them.
#[pyclass(frozen, module = "ccperf._native")]
pub struct ExternalControl(Arc<Mutex<State>>);

impl ExternalControl {
    pub fn control(&self) -> Control {
        Control::counting(Holder(self.state()))
    }

    pub fn state(&self) -> Arc<Mutex<State>> {
        Arc::clone(&self.0)
    }
}

#[pymethods]
impl ExternalControl {
    #[new]
    fn new() -> Self {
        ExternalControl(Arc::default())
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
        state.seen = Seen {
            acks: state.seen.acks + 1,
            delivered: sample.connection.delivered,
            lost: sample.connection.lost,
            srtt_ns: tcb.srtt.ns(),
            rtt_ns: tcb.last_rtt.ns(),
            min_rtt_ns: if tcb.min_rtt == Time::MAX { 0 } else { tcb.min_rtt.ns() },
            in_flight: tcb.bytes_in_flight,
            segment_size: tcb.segment_size,
            cwnd: tcb.cwnd,
        };
    }
}
