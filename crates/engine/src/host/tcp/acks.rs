//! When a receiver acknowledges data that came in order.

mod delayed;
mod quick;

use std::fmt;

pub use delayed::Delayed;
pub use quick::Quick;

use super::config::Config;
use super::tcb::Tcb;
use crate::base::time::Time;

/// All else is acknowledged at once (RFC 5681 section 4.2).
pub trait AckPolicy: fmt::Debug + Send {
    fn new(config: &Config) -> Self;

    /// The connection is established.
    fn on_established(&mut self);

    /// `bytes` have come in order, at `tcb.now`.  Returns how long their ACK may wait; `None`: not at all.
    fn on_data(&mut self, tcb: &Tcb, bytes: u32) -> Option<Time>;

    /// An ACK leaves, by itself or with data.
    fn on_ack_sent(&mut self);
}
