//! Between the engine's TCP control block and the view of it that crosses the boundary.

use std::ffi::CStr;

use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::host::tcp::control::CaEvent;
use ccperf_engine::host::tcp::rate::{RateConnection, RateSample};
use ccperf_engine::host::tcp::{CongState, EcnMode, EcnState, Tcb, UseEcn};
use ccperf_engine::packet::Ecn;

use crate::abi::{ErrorText, RateSampleView};

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

/// A value of the engine that crosses as a `View`, and comes back as it was.
trait Crosses<View> {
    fn there(self) -> View;
    fn back(view: View) -> Self;
}

macro_rules! crosses {
    ($($type:ty as $view:ty: |$value:ident| $there:expr, |$crossed:ident| $back:expr;)*) => {
        $(impl Crosses<$view> for $type {
            fn there(self) -> $view {
                let $value = self;
                $there
            }

            fn back($crossed: $view) -> $type {
                $back
            }
        })*
    };
}

crosses! {
    u32 as i64: |bytes| bytes.into(), |view| view as u32;
    u32 as u32: |number| number, |view| view;
    u16 as i32: |percent| percent.into(), |view| view as u16;
    bool as i32: |flag| flag.into(), |view| view != 0;
    Seq as u32: |seq| seq.0, |view| Seq(view);
    Time as i64: |time| time.ns(), |view| Time(view as u64);
    Rate as i64: |rate| signed(rate.0), |view| Rate(view as u64);
}

impl<C: Code> Crosses<i32> for C {
    fn there(self) -> i32 {
        self.code()
    }

    fn back(view: i32) -> C {
        C::of(view).unwrap_or(C::ALL[0])
    }
}

/// The view of the control block: each field with its type and the engine's name for it, in the order
/// of `ccperf.h`.
macro_rules! tcb_view {
    (
        $($first:ident: $first_type:ty = $first_field:ident,)*; error,
        $($second:ident: $second_type:ty = $second_field:ident,)*; reserved,
        $($third:ident: $third_type:ty = $third_field:ident,)*
    ) => {
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct TcbView {
            $(pub $first: $first_type,)*
            pub error: ErrorText,
            $(pub $second: $second_type,)*
            pub reserved: i32,
            $(pub $third: $third_type,)*
        }

        impl TcbView {
            pub fn of(tcb: &Tcb) -> TcbView {
                TcbView {
                    $($first: tcb.$first_field.there(),)*
                    error: ErrorText::NONE,
                    $($second: tcb.$second_field.there(),)*
                    reserved: 0,
                    $($third: tcb.$third_field.there(),)*
                }
            }

            /// The engine's block that this is a view of, on the side of a library written in Rust.
            pub(crate) fn to_tcb(self) -> Tcb {
                Tcb {
                    $($first_field: Crosses::back(self.$first),)*
                    $($second_field: Crosses::back(self.$second),)*
                    $($third_field: Crosses::back(self.$third),)*
                }
            }
        }
    };
}

tcb_view! {
    now_ns: i64 = now,
    ; error,
    cwnd: i64 = cwnd,
    ssthresh: i64 = ssthresh,
    pacing_rate_bps: i64 = pacing_rate,
    pacing: i32 = pacing,
    pacing_ss_ratio: i32 = pacing_ss_ratio,
    pacing_ca_ratio: i32 = pacing_ca_ratio,
    use_ecn: i32 = use_ecn,
    ecn_mode: i32 = ecn_mode,
    ecn_state: i32 = ecn_state,
    ect: i32 = ect,
    cong_state: i32 = cong_state,
    is_cwnd_limited: i32 = is_cwnd_limited,
    is_retrans_data_acked: i32 = is_retrans_data_acked,
    pace_initial_window: i32 = pace_initial_window,
    ; reserved,
    segment_size: i64 = segment_size,
    initial_cwnd: i64 = initial_cwnd,
    initial_ssthresh: i64 = initial_ssthresh,
    bytes_in_flight: i64 = bytes_in_flight,
    last_acked_sacked: i64 = last_acked_sacked,
    last_rtt_ns: i64 = last_rtt,
    srtt_ns: i64 = srtt,
    min_rtt_ns: i64 = min_rtt,
    max_pacing_rate_bps: i64 = max_pacing_rate,
    last_acked_seq: u32 = last_acked_seq,
    next_tx_seq: u32 = next_tx_seq,
    high_tx_mark: u32 = high_tx_mark,
    next_rx_seq: u32 = next_rx_seq,
    rcv_timestamp: u32 = rcv_timestamp,
    rcv_timestamp_echo: u32 = rcv_timestamp_echo,
}

impl TcbView {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_block_crosses_and_comes_back_as_it_was() {
        let tcb = Tcb {
            now: Time(1),
            cwnd: u32::MAX,
            last_acked_seq: Seq(u32::MAX),
            cong_state: CongState::Loss,
            ecn_state: EcnState::CwrSent,
            ect: Ecn::Ect1,
            pacing: true,
            pacing_ca_ratio: u16::MAX,
            ..Tcb::default()
        };
        assert_eq!(format!("{:?}", TcbView::of(&tcb).to_tcb()), format!("{tcb:?}"));
    }
}
