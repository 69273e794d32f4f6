//! Between the engine's TCP control block and the view of it that crosses the boundary.

use std::ffi::CStr;

use ccperf_engine::congestion::CaEvent;
use ccperf_engine::packet::Ecn;
use ccperf_engine::seq::Seq;
use ccperf_engine::tcp::rate::{RateConnection, RateSample};
use ccperf_engine::tcp::{CongState, EcnMode, EcnState, Tcb, UseEcn};
use ccperf_engine::time::{Rate, Time};

use crate::abi::{ErrorText, RateSampleView, TcbView};

/// An enumeration that crosses as a number: its values in the order of their numbers.
pub trait Code: Copy + PartialEq + 'static {
    const ALL: &'static [Self];

    fn code(self) -> i32 {
        Self::ALL.iter().position(|&value| value == self).expect("all are listed") as i32
    }

    fn of(code: i32) -> Option<Self> {
        usize::try_from(code).ok().and_then(|i| Self::ALL.get(i)).copied()
    }
}

impl Code for CongState {
    const ALL: &'static [Self] = &[
        CongState::Open,
        CongState::Disorder,
        CongState::Cwr,
        CongState::Recovery,
        CongState::Loss,
    ];
}

impl Code for UseEcn {
    const ALL: &'static [Self] = &[UseEcn::Off, UseEcn::On, UseEcn::AcceptOnly];
}

impl Code for EcnMode {
    const ALL: &'static [Self] = &[EcnMode::Classic, EcnMode::Dctcp];
}

impl Code for EcnState {
    const ALL: &'static [Self] = &[
        EcnState::Disabled,
        EcnState::Idle,
        EcnState::CeRcvd,
        EcnState::SendingEce,
        EcnState::EceRcvd,
        EcnState::CwrSent,
    ];
}

impl Code for Ecn {
    const ALL: &'static [Self] = &[Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
}

impl Code for CaEvent {
    const ALL: &'static [Self] = &[
        CaEvent::TxStart,
        CaEvent::CompleteCwr,
        CaEvent::Loss,
        CaEvent::EcnNoCe,
        CaEvent::EcnIsCe,
        CaEvent::DelayedAck,
        CaEvent::NonDelayedAck,
    ];
}

/// Times and rates are below 2^63 by nature; the largest mean "never" and "no limit".
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl TcbView {
    /// Of no connection yet.
    pub const BLANK: TcbView = TcbView {
        now_ns: 0,
        error: ErrorText::NONE,
        cwnd: 0,
        ssthresh: 0,
        pacing_rate_bps: 0,
        pacing: 0,
        pacing_ss_ratio: 0,
        pacing_ca_ratio: 0,
        use_ecn: 0,
        ecn_mode: 0,
        ecn_state: 0,
        ect: 0,
        cong_state: 0,
        is_cwnd_limited: 0,
        is_retrans_data_acked: 0,
        pace_initial_window: 0,
        reserved: 0,
        segment_size: 0,
        initial_cwnd: 0,
        initial_ssthresh: 0,
        bytes_in_flight: 0,
        last_acked_sacked: 0,
        last_rtt_ns: 0,
        srtt_ns: 0,
        min_rtt_ns: 0,
        max_pacing_rate_bps: 0,
        last_acked_seq: 0,
        next_tx_seq: 0,
        high_tx_mark: 0,
        next_rx_seq: 0,
        rcv_timestamp: 0,
        rcv_timestamp_echo: 0,
    };

    pub fn of(tcb: &Tcb) -> TcbView {
        TcbView {
            now_ns: tcb.now.ns(),
            error: ErrorText::NONE,
            cwnd: tcb.cwnd.into(),
            ssthresh: tcb.ssthresh.into(),
            pacing_rate_bps: signed(tcb.pacing_rate.0),
            pacing: tcb.pacing.into(),
            pacing_ss_ratio: tcb.pacing_ss_ratio.into(),
            pacing_ca_ratio: tcb.pacing_ca_ratio.into(),
            use_ecn: tcb.use_ecn.code(),
            ecn_mode: tcb.ecn_mode.code(),
            ecn_state: tcb.ecn_state.code(),
            ect: tcb.ect.code(),
            cong_state: tcb.cong_state.code(),
            is_cwnd_limited: tcb.is_cwnd_limited.into(),
            is_retrans_data_acked: tcb.is_retrans_data_acked.into(),
            pace_initial_window: tcb.pace_initial_window.into(),
            reserved: 0,
            segment_size: tcb.segment_size.into(),
            initial_cwnd: tcb.initial_cwnd.into(),
            initial_ssthresh: tcb.initial_ssthresh.into(),
            bytes_in_flight: tcb.bytes_in_flight.into(),
            last_acked_sacked: tcb.last_acked_sacked.into(),
            last_rtt_ns: tcb.last_rtt.ns(),
            srtt_ns: tcb.srtt.ns(),
            min_rtt_ns: tcb.min_rtt.ns(),
            max_pacing_rate_bps: signed(tcb.max_pacing_rate.0),
            last_acked_seq: tcb.last_acked_seq.0,
            next_tx_seq: tcb.next_tx_seq.0,
            high_tx_mark: tcb.high_tx_mark.0,
            next_rx_seq: tcb.next_rx_seq.0,
            rcv_timestamp: tcb.rcv_timestamp,
            rcv_timestamp_echo: tcb.rcv_timestamp_echo,
        }
    }

    /// Writes what an algorithm may change into the engine's block, if it makes sense.
    ///
    /// # Errors
    /// What does not, with the value.
    pub fn store(&self, tcb: &mut Tcb) -> Result<(), String> {
        let before = TcbView::of(tcb);
        // What was not touched is not judged: before the handshake cwnd is 0.
        if self.cwnd != before.cwnd {
            tcb.cwnd = window("cwnd", self.cwnd, tcb.segment_size)?;
        }
        if self.ssthresh != before.ssthresh {
            tcb.ssthresh = window("ssthresh", self.ssthresh, tcb.segment_size)?;
        }
        if self.pacing_rate_bps != before.pacing_rate_bps {
            tcb.pacing_rate = Rate(rate(self.pacing_rate_bps)?);
        }
        tcb.pacing = self.pacing != 0;
        tcb.pacing_ss_ratio = ratio("pacing_ss_ratio", self.pacing_ss_ratio)?;
        tcb.pacing_ca_ratio = ratio("pacing_ca_ratio", self.pacing_ca_ratio)?;
        tcb.use_ecn = value("use_ecn", self.use_ecn)?;
        tcb.ecn_mode = value("ecn_mode", self.ecn_mode)?;
        tcb.ecn_state = value("ecn_state", self.ecn_state)?;
        tcb.ect = value("ect", self.ect)?;
        Ok(())
    }

    /// The engine's block that this is a view of, on the side of a library written in Rust.
    pub(crate) fn to_tcb(self) -> Tcb {
        // The engine wrote every value, so all are in range.
        let bytes = |value: i64| value as u32;
        Tcb {
            now: Time(self.now_ns as u64),
            cwnd: bytes(self.cwnd),
            ssthresh: bytes(self.ssthresh),
            initial_cwnd: bytes(self.initial_cwnd),
            initial_ssthresh: bytes(self.initial_ssthresh),
            segment_size: bytes(self.segment_size),
            bytes_in_flight: bytes(self.bytes_in_flight),
            last_acked_sacked: bytes(self.last_acked_sacked),
            last_acked_seq: Seq(self.last_acked_seq),
            next_tx_seq: Seq(self.next_tx_seq),
            high_tx_mark: Seq(self.high_tx_mark),
            next_rx_seq: Seq(self.next_rx_seq),
            cong_state: CongState::of(self.cong_state).unwrap_or_default(),
            is_retrans_data_acked: self.is_retrans_data_acked != 0,
            is_cwnd_limited: self.is_cwnd_limited != 0,
            use_ecn: UseEcn::of(self.use_ecn).unwrap_or_default(),
            ecn_mode: EcnMode::of(self.ecn_mode).unwrap_or_default(),
            ecn_state: EcnState::of(self.ecn_state).unwrap_or_default(),
            ect: Ecn::of(self.ect).unwrap_or_default(),
            last_rtt: Time(self.last_rtt_ns as u64),
            srtt: Time(self.srtt_ns as u64),
            min_rtt: Time(self.min_rtt_ns as u64),
            rcv_timestamp: self.rcv_timestamp,
            rcv_timestamp_echo: self.rcv_timestamp_echo,
            pacing: self.pacing != 0,
            pacing_rate: Rate(self.pacing_rate_bps as u64),
            max_pacing_rate: Rate(self.max_pacing_rate_bps as u64),
            pacing_ss_ratio: self.pacing_ss_ratio as u16,
            pacing_ca_ratio: self.pacing_ca_ratio as u16,
            pace_initial_window: self.pace_initial_window != 0,
        }
    }

    /// The text that the library has left.
    ///
    /// # Safety
    /// `error` is null or a C string.
    #[cfg(feature = "host")]
    pub(crate) unsafe fn take_error(&self) -> Option<String> {
        // SAFETY: the caller's promise, passed on.
        unsafe { text(self.error.0) }
    }
}

/// # Safety
/// `text` is null or a C string.
pub(crate) unsafe fn text(text: *const std::ffi::c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A window that a connection can have: at least one segment, or it would never send again.
///
/// # Errors
/// What is wrong with `bytes`.
pub fn window(name: &str, bytes: i64, segment_size: u32) -> Result<u32, String> {
    let reason = if bytes < i64::from(segment_size) {
        format!("below one segment ({segment_size} B)")
    } else {
        match u32::try_from(bytes) {
            Ok(bytes) => return Ok(bytes),
            Err(_) => format!("above the largest window ({} B)", u32::MAX),
        }
    };
    Err(format!("it set {name} to {bytes} B, {reason}"))
}

fn rate(bps: i64) -> Result<u64, String> {
    match u64::try_from(bps) {
        Ok(bps) if bps > 0 => Ok(bps),
        _ => Err(format!("it set pacing_rate_bps to {bps}, which would never send a packet")),
    }
}

fn ratio(name: &str, percent: i32) -> Result<u16, String> {
    u16::try_from(percent)
        .map_err(|_| format!("it set {name} to {percent}, not between 0 and {}", u16::MAX))
}

fn value<T: Code>(name: &str, code: i32) -> Result<T, String> {
    T::of(code)
        .ok_or_else(|| format!("it set {name} to {code}, not between 0 and {}", T::ALL.len() - 1))
}

impl RateSampleView {
    pub fn of(rc: &RateConnection, rs: &RateSample) -> RateSampleView {
        RateSampleView {
            delivery_rate_bps: signed(rs.delivery_rate.0),
            interval_ns: rs.interval.ns(),
            delivered: rs.delivered.into(),
            prior_delivered: rs.prior_delivered.into(),
            prior_time_ns: rs.prior_time.ns(),
            send_elapsed_ns: rs.send_elapsed.ns(),
            ack_elapsed_ns: rs.ack_elapsed.ns(),
            bytes_loss: rs.bytes_loss.into(),
            prior_in_flight: rs.prior_in_flight.into(),
            acked_sacked: rs.acked_sacked.into(),
            total_delivered: signed(rc.delivered),
            delivered_time_ns: rc.delivered_time.ns(),
            first_sent_time_ns: rc.first_sent_time.ns(),
            app_limited: rc.app_limited.into(),
            is_app_limited: rs.is_app_limited.into(),
            reserved: 0,
        }
    }

    /// The engine's two structures, on the side of a library written in Rust.
    pub(crate) fn to_rate(self) -> (RateConnection, RateSample) {
        let connection = RateConnection {
            delivered: self.total_delivered as u64,
            delivered_time: Time(self.delivered_time_ns as u64),
            first_sent_time: Time(self.first_sent_time_ns as u64),
            app_limited: self.app_limited as u32,
            ..RateConnection::default()
        };
        let sample = RateSample {
            delivery_rate: Rate(self.delivery_rate_bps as u64),
            is_app_limited: self.is_app_limited != 0,
            interval: Time(self.interval_ns as u64),
            delivered: self.delivered as i32,
            prior_delivered: self.prior_delivered as u32,
            prior_time: Time(self.prior_time_ns as u64),
            send_elapsed: Time(self.send_elapsed_ns as u64),
            ack_elapsed: Time(self.ack_elapsed_ns as u64),
            bytes_loss: self.bytes_loss as u32,
            prior_in_flight: self.prior_in_flight as u32,
            acked_sacked: self.acked_sacked as u32,
        };
        (connection, sample)
    }
}
