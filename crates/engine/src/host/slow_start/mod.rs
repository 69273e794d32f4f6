//! Slow start: how a window grows below ssthresh, one file each, one line in the registry of
//! `tcp/slow_start.rs` each.
//!
//! An algorithm has one of its own, or grows by itself.  A scenario may name another (`tcp.SlowStart`), which then grows
//! the window below ssthresh, whatever the algorithm; one with `cong_control` keeps its own.

pub use counted::counted;
pub use hystart::{HyStart, Settings};
pub use standard::{Standard, slow_start};

use crate::host::tcp::slow_start::{SlowStart, slow_starts};

macro_rules! parts {
    ($($module:ident $name:literal = $made:expr;)*) => {
        $(mod $module;)*

        /// The slow start of this name; none for any other.
        pub fn build(name: &str) -> Option<Box<dyn SlowStart>> {
            match name {
                $($name => Some(Box::new($made)),)*
                _ => None,
            }
        }
    };
}

slow_starts!(parts);

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;
    use crate::host::tcp::control::{Callback, CongestionControl, Control, Hears};
    use crate::host::tcp::slow_start::NAMES;
    use crate::host::tcp::{CongState, Tcb};

    #[derive(Debug)]
    struct Window;

    impl CongestionControl for Window {
        fn ssthresh(&mut self, _tcb: &Tcb, bytes_in_flight: u32) -> u32 {
            bytes_in_flight
        }
    }

    /// Counts the timeouts of which it hears.
    #[derive(Debug)]
    struct Told(Arc<AtomicU32>);

    impl SlowStart for Told {
        fn on_ack(&mut self, _tcb: &mut Tcb, _segments_acked: u32) -> u32 {
            0
        }

        fn on_timeout(&mut self, _tcb: &Tcb) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn a_timeout_is_told_and_nothing_else() {
        let count = Arc::new(AtomicU32::new(0));
        let mut control = Control::from(Window).starting(Told(Arc::clone(&count)));
        for (state, told) in [(CongState::Recovery, 0), (CongState::Open, 0), (CongState::Loss, 1)]
        {
            control.set_state(&mut Tcb::default(), state);
            assert_eq!(count.load(Relaxed), told, "{state:?}");
        }
    }

    /// What hears of ACKs or has the window alone gets round trips, and so does a slow start that asks.
    #[test]
    fn round_trips_are_measured_for_who_wants_them() {
        let hearing = |hears| Control::from(Window).hearing(hears);
        assert!(!hearing(Hears::NOTHING).wants_round_trips());
        assert!(hearing(Hears::NOTHING.and(Callback::OnAck)).wants_round_trips());
        assert!(hearing(Hears::NOTHING.and(Callback::CongControl)).wants_round_trips());
        let starting = hearing(Hears::NOTHING).starting(hystart_pp::HyStartPlusPlus::default());
        assert!(starting.wants_round_trips());
        assert!(!hearing(Hears::NOTHING).starting(Standard).wants_round_trips());
    }

    #[test]
    fn scenarios_can_name_each() {
        assert!(build(NAMES[0]).is_none());
        assert!(NAMES[1..].iter().all(|name| build(name).is_some()));
    }
}
