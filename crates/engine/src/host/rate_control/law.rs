//! What a law of a sender's rate is asked, and what it is told.

use crate::base::time::{Rate, Time};
use crate::packet::telemetry::Hops;

/// An acknowledgement, as it has come.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    pub now: Time,
    /// Since the packet left that it answers.
    pub rtt: Time,
    /// The receiver has all packets before this number.
    pub number: u32,
    /// How many of these it had not before.
    pub packets: u32,
    /// The next one to be sent.
    pub next: u32,
    /// What the packet has collected, if the law reads it.
    pub hops: &'a Hops,
}

/// A law of the sender's rate, of its window, or of both.
pub trait RateControl: Send {
    fn rate(&self) -> Rate;

    /// Bytes on the wire that may be unacknowledged: another packet may leave below that.  None: any number.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Bytes that leave back to back, before the rate holds the next ones back; a packet at least.
    fn burst(&self) -> u32 {
        0
    }

    /// Whether the packet that waits has another time to leave as soon as the rate is another one.
    fn retimes(&self) -> bool {
        false
    }

    fn on_ack(&mut self, _ack: &Ack<'_>) {}

    /// The receiver has seen congestion.
    fn on_notification(&mut self, _now: Time) {}

    /// The receiver asks again for what is missing.
    fn on_loss(&mut self, _now: Time) {}

    /// Nothing has been acknowledged for long.
    fn on_timeout(&mut self, _now: Time) {}

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

crate::opaque!(RateControl);
