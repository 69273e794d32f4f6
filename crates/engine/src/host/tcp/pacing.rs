//! Pacing by the stack: how fast, and how far apart segments leave.  Algorithms that set the rate themselves are
//! asked nothing here.

mod cwnd_over_srtt;
mod departure_time;

use std::fmt;

pub use cwnd_over_srtt::CwndOverSrtt;
pub use departure_time::DepartureTime;

use super::tcb::Tcb;
use crate::base::time::Time;

pub trait Pacing: fmt::Debug + Default + Send {
    /// Whether bursts are spaced, and not segments.
    const BY_BURSTS: bool;

    /// Whether the next segment is spaced.
    fn is_active(&self, tcb: &Tcb) -> bool;

    /// An ACK has been accounted for, and the socket manages the window: sets `tcb.pacing_rate`.
    fn update_rate(&mut self, tcb: &mut Tcb);

    /// A segment of `bytes` leaves, the last of a burst if it `ends` one.  The time until the next may; none if it may at once.
    fn gap(&mut self, tcb: &mut Tcb, bytes: u32, ends: bool) -> Option<Time>;
}
