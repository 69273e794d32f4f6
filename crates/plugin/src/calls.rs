//! How arguments and answers of an algorithm's functions cross the C interface.

use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::Time;
use ccperf_engine::host::tcp::CongState;
use ccperf_engine::host::tcp::control::{CaEvent, EarlyAck};
use ccperf_engine::host::tcp::rate::{AckSample, RateConnection, RateSample};

use crate::abi::{EarlyAckView, SampleView};
use crate::tcb::{Code, window};

/// An argument: the host makes a `View` of it, of which a `C` crosses; a library in Rust keeps an `Owned` during the
/// call and lends it to the algorithm.
pub trait Argument {
    type View;
    type C;
    type Owned;
    type Lent<'a>;

    fn view(self) -> Self::View;
    fn c(view: &Self::View) -> Self::C;

    /// None: no such argument is known here.
    ///
    /// # Safety
    /// `c` is of [`Argument::c`], and its view is alive.
    unsafe fn owned(c: Self::C) -> Option<Self::Owned>;
    fn lend(owned: &Self::Owned) -> Self::Lent<'_>;
}

macro_rules! by_value {
    ($($type:ty as $c:ty: |$value:ident| $there:expr, |$crossed:ident| $back:expr;)*) => {
        $(impl Argument for $type {
            type View = $c;
            type C = $c;
            type Owned = $type;
            type Lent<'a> = $type;

            fn view(self) -> $c {
                let $value = self;
                $there
            }

            fn c(view: &$c) -> $c {
                *view
            }

            unsafe fn owned($crossed: $c) -> Option<$type> {
                $back
            }

            fn lend(owned: &$type) -> $type {
                *owned
            }
        })*
    };
}

by_value! {
    u32 as i64: |number| number.into(), |c| Some(c as u32);
    bool as i32: |flag| flag.into(), |c| Some(c != 0);
    Time as i64: |time| time.ns(), |c| Some(Time(c as u64));
    CongState as i32: |state| state.code(), |c| CongState::of(c);
    CaEvent as i32: |event| event.code(), |c| CaEvent::of(c);
}

impl Argument for AckSample<'_> {
    type View = SampleView;
    type C = *const SampleView;
    type Owned = (RateConnection, RateSample);
    type Lent<'a> = AckSample<'a>;

    fn view(self) -> SampleView {
        SampleView::of(self)
    }

    fn c(view: &SampleView) -> *const SampleView {
        view
    }

    unsafe fn owned(c: *const SampleView) -> Option<Self::Owned> {
        // SAFETY: the caller's promise.
        Some(unsafe { *c }.to_sample())
    }

    fn lend((connection, rate): &Self::Owned) -> AckSample<'_> {
        AckSample { connection, rate }
    }
}

/// An answer; a number is a window in bytes.  `early` is what was written where the further argument points.
pub trait Answer: Sized {
    type C: Default;

    fn there(self) -> Self::C;

    /// # Errors
    /// What is wrong with the answer of `name`.
    fn back(c: Self::C, early: EarlyAckView, name: &str, segment_size: u32)
    -> Result<Self, String>;
}

impl Answer for () {
    type C = ();

    fn there(self) {}

    fn back((): (), _: EarlyAckView, _: &str, _: u32) -> Result<(), String> {
        Ok(())
    }
}

impl Answer for u32 {
    type C = i64;

    fn there(self) -> i64 {
        self.into()
    }

    fn back(c: i64, _: EarlyAckView, name: &str, segment_size: u32) -> Result<u32, String> {
        window(name, c, segment_size)
    }
}

/// It is written where a further argument points.
impl Answer for Option<EarlyAck> {
    type C = ();

    fn there(self) {}

    fn back((): (), early: EarlyAckView, _: &str, _: u32) -> Result<Self, String> {
        Ok((early.send != 0).then_some(EarlyAck { ack: Seq(early.ack), ece: early.ece != 0 }))
    }
}

impl EarlyAckView {
    pub(crate) fn of(early: Option<EarlyAck>) -> EarlyAckView {
        early.map_or_else(EarlyAckView::default, |EarlyAck { ack, ece }| EarlyAckView {
            send: 1,
            ece: ece.into(),
            ack: ack.0,
            reserved: 0,
        })
    }
}
