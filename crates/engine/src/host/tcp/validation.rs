//! What a congestion window is worth that was not used (RFC 7661's question).

mod linux;

use std::fmt;

pub use linux::LinuxValidation;

use super::tcb::Tcb;
use crate::base::seq::Seq;
use crate::base::time::Time;

/// What has been sent so far, when the socket has looked for something to send.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// SND.UNA and SND.NXT.
    pub head: Seq,
    pub next: Seq,
    /// What is between them, in bytes of whole segments.
    pub outstanding: u32,
    /// Something new has left.
    pub has_sent: bool,
    /// New data waits that a wider cwnd had let leave.
    pub is_deferred: bool,
    /// The application has more to say than the send buffer holds.
    pub is_buffer_full: bool,
    /// The retransmission timeout.
    pub rto: Time,
}

pub trait WindowValidation: fmt::Debug + Default + Send {
    const IS_ACTIVE: bool = true;

    /// The socket has looked for something to send.
    fn on_sent(&mut self, tcb: &mut Tcb, usage: Usage);

    /// The application writes while nothing is outstanding.
    fn on_write(&mut self, tcb: &mut Tcb, rto: Time);

    /// cwnd is set, or might have grown.
    fn on_window_set(&mut self, now: Time);
}

/// Whether the last segment filled it is all that counts.
#[derive(Debug, Default)]
pub struct NotValidated;

impl WindowValidation for NotValidated {
    const IS_ACTIVE: bool = false;

    fn on_sent(&mut self, _tcb: &mut Tcb, _usage: Usage) {}

    fn on_write(&mut self, _tcb: &mut Tcb, _rto: Time) {}

    fn on_window_set(&mut self, _now: Time) {}
}
