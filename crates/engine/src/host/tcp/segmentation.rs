//! Whether new data waits until several segments of it may leave together.

mod burst;
mod deferral;
mod write_queue;

use std::fmt;

pub use burst::{BURSTS_A_SECOND, LARGEST_BURST};
pub use deferral::Deferral;

use super::tcb::Tcb;
use crate::base::time::Time;

/// Room for a segment of new data.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    pub tcb: &'a Tcb,
    /// What may be in flight: the smaller of the two windows, in bytes.
    pub window: u32,
    /// The peer's.
    pub peer_window: u32,
    /// What of it is free.
    pub room: u32,
    /// What the scenario asks for.
    pub send_buffer: u32,
    /// Bytes that wait to be sent for the first time, and those that are sent.
    pub unsent: u32,
    pub sent: u32,
    /// Bytes that are sent and not acknowledged, and the pieces that they are in.
    pub unacked: u32,
    pub pieces: u32,
    /// The application has closed: nothing comes behind what waits but the FIN.
    pub is_closed: bool,
    /// Nothing short is on its way, or Nagle's algorithm is off: a segment may be cut.
    pub may_cut: bool,
    /// When the oldest segment left that is not acknowledged.
    pub oldest: Option<Time>,
}

pub trait Segmentation: fmt::Debug + Default + Send {
    /// Whether anything ever waits.
    const WAITS: bool;

    /// Bytes that the application may write; `None`: what the send buffer has room for.
    #[inline(always)]
    fn room(&mut self, _opening: Opening<'_>) -> Option<u32> {
        None
    }

    /// The application waits for room to write.
    fn is_full(&self) -> bool {
        false
    }

    /// The application writes `bytes` behind what is unsent, all that there is room for if it `fills` that.
    fn on_write(&mut self, bytes: u32, fills: bool, opening: Opening<'_>);

    /// The segment leaves now; if not, the next ACK asks again.
    fn leaves(&mut self, opening: Opening<'_>) -> bool;

    /// Nothing leaves, and not because of cwnd: what will leave together is put together.
    #[inline(always)]
    fn gather(&mut self, _opening: Opening<'_>) {}

    /// New data leaves whatever waits for more of it: what is one burst, one segment at least.
    fn leaves_as_probe(&mut self, opening: Opening<'_>);

    /// What is lost leaves again: this segment, and with it so many as left together with it, `together` in all, as far as
    /// `room` allows.
    fn leaves_again(&mut self, tcb: &Tcb, room: u32, together: u32);

    /// A segment leaves alone, whatever the window says.
    fn leaves_alone(&mut self);

    /// What leaves is the last of several that leave together: it gets PSH, so that the receiver does not wait for more.
    fn ends_burst(&self) -> bool;

    /// What leaves ends with a piece of the write queue that has PSH, and keeps it wherever it is sent again.
    #[inline(always)]
    fn is_pushed(&self) -> bool {
        false
    }

    /// What leaves next is as much as fits into the window, though that is no whole segment.
    fn cuts_next(&self, _now: Time) -> bool {
        false
    }

    /// Bytes of the segment that leaves, if it is cut: after [`Segmentation::leaves`].
    #[inline(always)]
    fn cut(&self) -> Option<u32> {
        None
    }

    /// More of the burst leaves with what has just left.
    fn is_within_burst(&self) -> bool;
}

/// Each leaves as soon as it may.
#[derive(Debug, Default)]
pub struct AtOnce;

impl Segmentation for AtOnce {
    const WAITS: bool = false;

    #[inline(always)]
    fn on_write(&mut self, _bytes: u32, _fills: bool, _opening: Opening<'_>) {}

    #[inline(always)]
    fn leaves(&mut self, _opening: Opening<'_>) -> bool {
        true
    }

    fn leaves_as_probe(&mut self, _opening: Opening<'_>) {}

    fn leaves_again(&mut self, _tcb: &Tcb, _room: u32, _together: u32) {}

    #[inline(always)]
    fn leaves_alone(&mut self) {}

    #[inline(always)]
    fn ends_burst(&self) -> bool {
        false
    }

    #[inline(always)]
    fn is_within_burst(&self) -> bool {
        false
    }
}
