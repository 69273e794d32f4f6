//! Between the engine's TCP control block and the view of it that crosses the boundary.

use std::ffi::CStr;

use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::host::tcp::control::CaEvent;
use ccperf_engine::host::tcp::rate::{AckSample, RateConnection, RateSample};
use ccperf_engine::host::tcp::{CongState, EcnMode, EcnState, Tcb, UseEcn};
use ccperf_engine::packet::Ecn;

use crate::abi::ErrorText;
use crate::{sample_fields, tcb_fields};

/// An enumeration that crosses as a number, and has words in Python.
pub trait Code: Copy + PartialEq + 'static {
    /// In the order of their numbers.
    const ALL: &'static [Self];
    const WORDS: &'static [&'static str];

    fn code(self) -> i32 {
        Self::ALL.iter().position(|&value| value == self).expect("all are listed") as i32
    }

    fn of(code: i32) -> Option<Self> {
        usize::try_from(code).ok().and_then(|i| Self::ALL.get(i)).copied()
    }
}

macro_rules! codes {
    ($($type:ident { $($value:ident = $word:literal,)* })*) => {
        $(impl Code for $type {
            const ALL: &'static [Self] = &[$($type::$value,)*];
            const WORDS: &'static [&'static str] = &[$($word,)*];
        })*
    };
}

codes! {
    CongState {
        Open = "open",
        Disorder = "disorder",
        Cwr = "cwr",
        Recovery = "recovery",
        Loss = "loss",
    }
    UseEcn { Off = "off", On = "on", AcceptOnly = "accept_only", }
    EcnState {
        Disabled = "disabled",
        Idle = "idle",
        CeRcvd = "ce_rcvd",
        SendingEce = "sending_ece",
        EceRcvd = "ece_rcvd",
        CwrSent = "cwr_sent",
    }
    Ecn { NotEct = "not_ect", Ect1 = "ect1", Ect0 = "ect0", Ce = "ce", }
    CaEvent {
        TxStart = "tx_start",
        CompleteCwr = "complete_cwr",
        Loss = "loss",
        EcnNoCe = "ecn_no_ce",
        EcnIsCe = "ecn_is_ce",
        DelayedAck = "delayed_ack",
        NonDelayedAck = "non_delayed_ack",
    }
}

impl Code for EcnMode {
    const ALL: &'static [Self] = EcnMode::ALL;
    const WORDS: &'static [&'static str] = EcnMode::WORDS;
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
    i32 as i64: |bytes| bytes.into(), |view| view as i32;
    u64 as i64: |bytes| signed(bytes), |view| view as u64;
    Option<Time> as i64: |time| time.map_or(-1, Time::ns), |view| u64::try_from(view).ok().map(Time);
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

macro_rules! tcb_view {
    (
        $($(#[doc = $a_doc:literal])* $a:ident: $a_type:ident = $a_field:ident $a_how:tt;)*
        ; error;
        $($(#[doc = $b_doc:literal])* $b:ident: $b_type:ident = $b_field:ident $b_how:tt;)*
        ; reserved;
        $($(#[doc = $c_doc:literal])* $c:ident: $c_type:ident = $c_field:ident $c_how:tt;)*
    ) => {
        /// The view of the control block.
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct TcbView {
            $($(#[doc = $a_doc])* pub $a: $a_type,)*
            pub error: ErrorText,
            $($(#[doc = $b_doc])* pub $b: $b_type,)*
            pub reserved: i32,
            $($(#[doc = $c_doc])* pub $c: $c_type,)*
        }

        impl TcbView {
            pub fn of(tcb: &Tcb) -> TcbView {
                TcbView {
                    $($a: tcb.$a_field.there(),)*
                    error: ErrorText::NONE,
                    $($b: tcb.$b_field.there(),)*
                    reserved: 0,
                    $($c: tcb.$c_field.there(),)*
                }
            }

            /// The engine's block that this is a view of, on the side of a library written in Rust.
            pub(crate) fn to_tcb(self) -> Tcb {
                Tcb {
                    $($a_field: Crosses::back(self.$a),)*
                    $($b_field: Crosses::back(self.$b),)*
                    $($c_field: Crosses::back(self.$c),)*
                    // What only algorithms of the engine see.
                    ..Tcb::default()
                }
            }
        }
    };
}

tcb_fields!(tcb_view);

#[derive(Default)]
struct Owned {
    connection: RateConnection,
    rate: RateSample,
}

macro_rules! sample_view {
    (
        $($(#[doc = $doc:literal])* $name:ident: $type:ident = $of:ident.$field:ident $how:tt;)*
        ; reserved;
    ) => {
        /// The view of an [`AckSample`].
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct SampleView {
            $($(#[doc = $doc])* pub $name: $type,)*
            pub reserved: i32,
        }

        impl SampleView {
            pub fn of(sample: AckSample<'_>) -> SampleView {
                SampleView { $($name: sample.$of.$field.there(),)* reserved: 0 }
            }

            /// The engine's two structures, on the side of a library written in Rust.
            pub(crate) fn to_sample(self) -> (RateConnection, RateSample) {
                let mut made = Owned::default();
                $(made.$of.$field = Crosses::back(self.$name);)*
                (made.connection, made.rate)
            }
        }
    };
}

sample_fields!(sample_view);

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

    #[test]
    fn a_sample_crosses_and_comes_back_as_it_was() {
        for rtt in [None, Some(Time(20_000_001))] {
            let rate = RateSample { rtt, delivered: -1, newly_lost: 7, ..RateSample::default() };
            let connection = RateConnection { lost: 1 << 40, app_limited: 3, ..Default::default() };
            let sample = AckSample { connection: &connection, rate: &rate };
            let back = SampleView::of(sample).to_sample();
            assert_eq!(format!("{back:?}"), format!("{:?}", (connection, rate)));
        }
    }
}
