//! What a sender that is no TCP knows of its path from the beginning.

use crate::base::time::{Rate, Time};

#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Of the sender's link.
    pub line: Rate,
    /// From when a full packet begins to leave until its acknowledgement is there, with nobody else on the path.
    pub rtt: Time,
    pub switches: u32,
    /// Bytes of a full packet on the wire.
    pub packet: u32,
}

impl Path {
    /// Bytes that the sender's link carries in a round trip.
    pub fn bytes(&self) -> f64 {
        in_flight(self.line.0 as f64, self.rtt)
    }
}

/// Bytes that so many bit/s have under way in so much time.
pub fn in_flight(rate: f64, time: Time) -> f64 {
    rate / 8e9 * time.0 as f64
}
