//! What a law of a sender's rate is asked.

use std::fmt;

use crate::base::time::{Rate, Time};

/// A law of the sender's rate.
pub trait RateControl: fmt::Debug + Send {
    fn rate(&self) -> Rate;

    /// The receiver has seen congestion.
    fn on_notification(&mut self, _now: Time) {}

    /// So many bytes have been sent.
    fn on_sent(&mut self, _bytes: u32) {}

    /// When it wants to be called next.
    fn due(&self) -> Option<Time> {
        None
    }

    /// That time has come.
    fn on_timer(&mut self, _now: Time) {}

    /// How far apart the receiver's notifications are at least; it sends none, if this is none.
    fn notification_interval(&self) -> Option<Time> {
        None
    }
}
