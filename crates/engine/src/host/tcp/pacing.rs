//! Pacing by the stack: how fast, and how far apart segments leave.  Algorithms that set the rate themselves are
//! asked nothing here.

mod cwnd_over_srtt;

use std::fmt;

pub use cwnd_over_srtt::CwndOverSrtt;

use super::tcb::Tcb;
use crate::base::time::Time;

pub trait Pacing: fmt::Debug + Default + Send {
    /// Whether the next segment is spaced.
    fn is_active(&self, tcb: &Tcb) -> bool;

    /// An ACK has been accounted for, and the socket manages the window: sets `tcb.pacing_rate`.
    fn update_rate(&mut self, tcb: &mut Tcb);

    /// The time until the next segment after one of `bytes`.
    fn gap(&mut self, tcb: &Tcb, bytes: u32) -> Time;
}
