//! What a socket asks of slow start: how cwnd grows below ssthresh, and whether that ends before a loss.

use super::rate::AckSample;
use super::tcb::Tcb;
use crate::base::time::Time;

/// Hands the registry to a macro: modules of `host::slow_start`, names in scenarios, and how each is made.
macro_rules! slow_starts {
    ($to:ident) => {
        $to! {
            standard "Standard" = Standard;
            hystart "HyStart" = HyStart::new(Settings::default());
            hystart_pp "HyStart++" = hystart_pp::HyStartPlusPlus::default();
            counted "Counted" = counted::Counted;
            hystart_linux "HyStartLinux" = hystart_linux::HyStartLinux::default();
            search "Search" = search::Search::default();
        }
    };
}

macro_rules! names {
    ($($module:ident $name:literal = $made:expr;)*) => {
        /// By which scenarios choose one; the first is the algorithm's own.
        pub const NAMES: &[&str] = &["Own", $($name),*];
    };
}

slow_starts!(names);

pub(crate) use slow_starts;

pub trait SlowStart: Send {
    /// Whether it wants [`SlowStart::on_sample`], which makes the socket measure.
    fn wants_samples(&self) -> bool {
        false
    }

    /// The connection opens.
    fn init(&mut self, _tcb: &Tcb) {}

    /// An ACK of new data, with cwnd below ssthresh.  Returns the segments that are left for congestion avoidance, should
    /// cwnd reach ssthresh.
    fn on_ack(&mut self, tcb: &mut Tcb, segments_acked: u32) -> u32;

    /// The round trip that comes with an ACK (ns-3: smoothed), and the least that the algorithm knows.  It ends slow start by
    /// setting ssthresh to cwnd.
    fn on_round_trip(&mut self, _tcb: &mut Tcb, _rtt: Time, _least: Time) {}

    /// The same for what was measured: an ACK with something new has been accounted for.
    fn on_sample(&mut self, _tcb: &mut Tcb, _sample: AckSample<'_>) {}

    /// A timeout has reset the window: slow start begins again.
    fn on_timeout(&mut self, _tcb: &Tcb) {}
}

crate::opaque!(SlowStart);
