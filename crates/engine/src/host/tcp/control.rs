//! What a socket asks of congestion control.

use super::rate::AckSample;
use super::slow_start::SlowStart;
use super::tcb::{CongState, Tcb};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::congestion_control_callbacks;

/// What the socket tells an algorithm besides acknowledgements (Linux's `enum tcp_ca_event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaEvent {
    /// First transmission when nothing was in flight.
    TxStart,
    /// A CWR episode has ended.
    CompleteCwr,
    /// The retransmission timer has fired.
    Loss,
    /// A segment arrived with ECT set and no CE mark.
    EcnNoCe,
    /// A segment arrived with a CE mark.
    EcnIsCe,
    /// An acknowledgement was delayed.
    DelayedAck,
    /// An acknowledgement was sent at once.
    NonDelayedAck,
}

/// An acknowledgement that the socket must send before it goes on (RFC 8257 section 3.2: the
/// receiver acknowledges at once what came before the CE state changed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyAck {
    pub ack: Seq,
    pub ece: bool,
}

/// What an ACK delivers.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    pub ack: Seq,
    /// Newly acknowledged or SACKed.
    pub segments: u32,
    pub has_echo: bool,
}

/// What an ACK acknowledges in order, and its sample of the round trip (Linux's `struct ack_sample`).
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Those that were SACKed before count, too.
    pub segments: u32,
    /// None if all that came was sent more than once.
    pub rtt: Option<Time>,
    /// The peer's window, in bytes.
    pub window: u32,
    /// It tells neither of SACKs nor of marks.
    pub is_plain: bool,
}

impl Acked {
    /// The sample in whole microseconds.
    pub fn rtt_us(self) -> Option<u32> {
        self.rtt.map(|rtt| (rtt.0 / 1000) as u32)
    }
}

/// Declares the trait, and what there is to know of its functions.
macro_rules! declare {
    ($(
        $(#[doc = $doc:literal])*
        fn $variant:ident $name:ident($tcb:ident: $access:tt $(, $arg:ident: $type:ty)*)
            $(-> $answer:ty)? $([$out:ident])? $(= $default:expr)?;
    )*) => {
        /// A congestion control algorithm: what happened goes in, window and pacing rate come out through
        /// the [`Tcb`].  No clock and no socket of its own; `tcb.now` is the time of the call.
        ///
        /// The calls, and the order in which they come, are those of Linux's `struct tcp_congestion_ops`
        /// and of ns-3's `TcpCongestionOps`, and a few more.
        pub trait CongestionControl: Send {
            /// The least round trip as it counts it, for slow start; none while it takes no samples.
            fn least_rtt(&self, tcb: &Tcb) -> Option<Time> {
                Some(tcb.min_rtt)
            }

            /// Asked after `cong_control`: whether the algorithm itself keeps low what is in flight, as Linux's BBR
            /// does in ProbeRTT.  What is sent then counts as limited by the application.
            fn limits_itself(&self) -> bool {
                false
            }

            /// What an ACK delivers, before anything comes of it: of each where DCTCP's marks are counted by the stack (Linux's
            /// `in_ack_event`).
            fn on_delivered(&mut self, _tcb: &Tcb, _delivered: Delivered) {}

            /// An ACK has come while something was outstanding; nothing else is known of it yet: of each where samples of
            /// round trips are of deliveries (Linux's `pkts_acked`).
            fn on_acked(&mut self, _tcb: &Tcb, _acked: Acked) {}

            /// The window is reduced, or the timer has fired: what was acknowledged towards growth is forgotten, where the stack
            /// counts that (Linux's `snd_cwnd_cnt`).
            fn forget_credits(&mut self) {}

            $(method! {
                [$($doc)*] $name($tcb: $access $(, $arg: $type)*) [$($answer)?] [$($default)?]
            })*
        }

        /// The functions of a [`CongestionControl`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Callback {
            $($variant,)*
        }

        impl Callback {
            /// In the order of their numbers.
            pub const ALL: &[Callback] = &[$(Callback::$variant,)*];
            pub const DESCRIBED: &[Described] = &[$(Described {
                name: stringify!($name),
                doc: &[$($doc),*],
                arguments: &[$((stringify!($arg), stringify!($type)),)*],
                answer: described_answer!($($answer)?),
                is_required: is_required!($($default)?),
                out: described_answer!($($out)?),
            },)*];
        }
    };
}

macro_rules! method {
    ([$($doc:literal)*] $name:ident($tcb:ident: $access:tt $(, $arg:ident: $type:ty)*) [$answer:ty] []) => {
        $(#[doc = $doc])*
        fn $name(&mut self, $tcb: block!($access), $($arg: $type),*) -> $answer;
    };
    ([$($doc:literal)*] $name:ident($tcb:ident: $access:tt $(, $arg:ident: $type:ty)*) [$($answer:ty)?] [$default:expr]) => {
        $(#[doc = $doc])*
        #[allow(unused_variables, reason = "by default little is done with them")]
        fn $name(&mut self, $tcb: block!($access), $($arg: $type),*) $(-> $answer)? {
            $default
        }
    };
}

macro_rules! block {
    (mut) => {
        &mut Tcb
    };
    (ref) => {
        &Tcb
    };
}

macro_rules! described_answer {
    () => {
        None
    };
    ($answer:ty) => {
        Some(stringify!($answer))
    };
}

macro_rules! is_required {
    () => {
        true
    };
    ($default:expr) => {
        false
    };
}

congestion_control_callbacks!(declare);
crate::opaque!(CongestionControl);

/// A function of an algorithm, for whoever writes of it; types are Rust's.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    pub name: &'static str,
    /// Its documentation, line by line.
    pub doc: &'static [&'static str],
    /// Names and types, but for the connection's.
    pub arguments: &'static [(&'static str, &'static str)],
    pub answer: Option<&'static str>,
    pub is_required: bool,
    /// In C: the name of the further argument for the answer.
    pub out: Option<&'static str>,
}

/// The functions that an algorithm wants called, of those that are not asked of every one: a call for nothing on
/// each segment costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hears(u32);

impl Hears {
    pub const ALL: Hears = Hears(u32::MAX);
    pub const NOTHING: Hears = Hears(0);

    #[must_use]
    pub const fn and(self, callback: Callback) -> Hears {
        Hears(self.0 | 1 << callback as u8)
    }

    #[inline(always)]
    pub const fn has(self, callback: Callback) -> bool {
        self.0 & 1 << callback as u8 != 0
    }

    /// A bit for each function, as in `ccperf.h`.
    pub const fn bits(self) -> u32 {
        self.0
    }

    pub const fn of_bits(bits: u32) -> Hears {
        Hears(bits)
    }
}

/// Whose TCP it is, for algorithms that ns-3 and Linux both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpStack {
    Ns3,
    /// Credits for growth are forgotten where the window is reduced.
    Linux,
}

/// Who manages the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manages {
    /// The socket: the algorithm says how far it grows and shrinks, loss recovery how it gets there.
    Window,
    /// The algorithm alone.
    Rate,
    /// The same, by what is delivered and lost: no rate is sampled for it.
    Counts,
}

/// An algorithm, with what it is for.
#[derive(Debug)]
#[repr(C)] // what an end asks for that only receives is last
pub struct Control {
    /// None: the algorithm grows the window below ssthresh, too.
    slow_start: Option<Box<dyn SlowStart>>,
    /// Of the engine: nobody sees when it is called, but by what is sent.
    is_ours: bool,
    manages: Manages,
    hears: Hears,
    algorithm: Box<dyn CongestionControl>,
}

impl Control {
    /// Of an algorithm that sets window and pacing rate itself, in `cong_control`.
    pub fn rate(algorithm: impl CongestionControl + 'static) -> Control {
        Control { manages: Manages::Rate, ..Control::from(algorithm) }
    }

    /// The same without samples of rate and round trip in `cong_control`, which cost time; for one that hears of nothing else.
    pub fn counting(algorithm: impl CongestionControl + 'static) -> Control {
        Control { manages: Manages::Counts, hears: Hears::NOTHING, ..Control::from(algorithm) }
    }

    /// The same that hears of these only, besides what is asked of every algorithm.
    #[must_use]
    pub fn hearing(self, hears: Hears) -> Control {
        Control { hears, ..self }
    }

    /// The same, of the engine, so that an end that sends nothing need not call it.
    #[must_use]
    pub fn ours(self) -> Control {
        Control { is_ours: true, ..self }
    }

    pub fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// The same with this slow start.
    #[must_use]
    pub fn starting(self, slow_start: impl SlowStart + 'static) -> Control {
        self.starting_with(Box::new(slow_start))
    }

    /// An algorithm that has the window alone has no use for one, and is not measured for it either.
    #[must_use]
    pub fn starting_with(self, slow_start: Box<dyn SlowStart>) -> Control {
        let slow_start = (!self.is_rate_control()).then_some(slow_start);
        Control { slow_start, ..self }
    }

    /// The connection opens.
    pub fn init(&mut self, tcb: &mut Tcb) {
        self.algorithm.init(tcb);
        self.begin_slow_start(tcb);
    }

    /// Linux's begins again once the connection is established.
    pub fn begin_slow_start(&mut self, tcb: &Tcb) {
        if let Some(slow_start) = &mut self.slow_start {
            slow_start.init(tcb);
        }
    }

    /// `segments` of new data are acknowledged in Open or Loss; not for those with `cong_control`.
    #[inline]
    pub fn grow(&mut self, tcb: &mut Tcb, segments: u32) {
        let mut left = segments;
        if tcb.cwnd < tcb.ssthresh
            && let Some(slow_start) = &mut self.slow_start
        {
            left = slow_start.on_ack(tcb, segments);
            if tcb.cwnd < tcb.ssthresh {
                return;
            }
        }
        self.algorithm.cong_avoid(tcb, left);
    }

    /// See [`CongestionControl::pkts_acked`].
    #[inline]
    pub fn pkts_acked(&mut self, tcb: &mut Tcb, segments: u32, rtt: Time) {
        self.algorithm.pkts_acked(tcb, segments, rtt);
        if tcb.cwnd <= tcb.ssthresh
            && let Some(slow_start) = &mut self.slow_start
            && let Some(least) = self.algorithm.least_rtt(tcb)
        {
            slow_start.on_round_trip(tcb, rtt, least);
        }
    }

    /// See [`CongestionControl::ssthresh`].
    pub fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        let ssthresh = self.algorithm.ssthresh(tcb, bytes_in_flight);
        self.algorithm.forget_credits();
        ssthresh
    }

    /// See [`CongestionControl::set_state`].
    pub fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        self.algorithm.set_state(tcb, state);
        if state == CongState::Loss {
            self.algorithm.forget_credits();
            if let Some(slow_start) = &mut self.slow_start {
                slow_start.on_timeout(tcb);
            }
        }
    }

    /// An ACK has been accounted for, and this is its sample.
    #[inline]
    pub fn sample(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        if self.hears != Hears::NOTHING || self.slow_start.is_some() {
            self.tell(tcb, sample);
        }
        if self.is_rate_control() {
            self.algorithm.cong_control(tcb, sample);
        }
    }

    /// Those whom ns-3's classes do not have.
    #[inline(never)]
    fn tell(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        if sample.rate.acked_sacked == 0 {
            return;
        }
        if let Some(slow_start) = &mut self.slow_start {
            slow_start.on_sample(tcb, sample);
        }
        if self.hears(Callback::OnAck) {
            self.algorithm.on_ack(tcb, sample);
        }
    }

    /// See [`CongestionControl::limits_itself`].
    #[inline]
    pub fn limits_itself(&self) -> bool {
        self.is_rate_control() && self.algorithm.limits_itself()
    }

    #[inline]
    pub fn algorithm(&mut self) -> &mut dyn CongestionControl {
        &mut *self.algorithm
    }

    /// Whether the algorithm alone has the window.
    #[inline]
    pub fn is_rate_control(&self) -> bool {
        self.manages != Manages::Window
    }

    #[inline]
    pub fn hears(&self, callback: Callback) -> bool {
        self.hears.has(callback)
    }

    /// What it hears of; the bit of `cong_control` is set if the algorithm alone has the window.
    pub fn heard(&self) -> Hears {
        let without = Hears(self.hears.0 & !(1 << Callback::CongControl as u8));
        if self.is_rate_control() { without.and(Callback::CongControl) } else { without }
    }

    /// Whether it wants a sample with each ACK.
    pub fn wants_samples(&self) -> bool {
        self.manages == Manages::Rate || self.wants_round_trips()
    }

    /// Whether it wants the round trip in it, which ns-3's classes do not know.
    pub fn wants_round_trips(&self) -> bool {
        let starts = self.slow_start.as_ref().is_some_and(|start| start.wants_samples());
        starts || self.hears(Callback::OnAck) || self.hears(Callback::CongControl)
    }
}

/// Most algorithms control a window.  It hears of everything.
impl<C: CongestionControl + 'static> From<C> for Control {
    fn from(algorithm: C) -> Control {
        Control {
            algorithm: Box::new(algorithm),
            manages: Manages::Window,
            hears: Hears::ALL,
            slow_start: None,
            is_ours: false,
        }
    }
}
