//! When a receiver acknowledges data that came in order.

mod delayed;
mod quick;

use std::fmt;

pub use delayed::Delayed;
pub use quick::Quick;

use super::config::Config;
use super::tcb::Tcb;
use crate::base::time::Time;
use crate::packet::SackBlock;

/// All else is acknowledged at once (RFC 5681 section 4.2).
pub trait AckPolicy: fmt::Debug + Send {
    /// Whether it reports what comes twice (DSACK, RFC 2883).
    const REPORTS_DUPLICATES: bool = false;

    fn new(config: &Config) -> Self;

    /// The connection is established.
    fn on_established(&mut self);

    /// `bytes` have come in order, at `tcb.now`.  Returns how long their ACK may wait; `None`: not at all.
    fn on_data(&mut self, tcb: &Tcb, bytes: u32) -> Option<Time>;

    /// An ACK leaves, by itself or with data.
    fn on_ack_sent(&mut self);

    /// This block has come before.
    fn on_duplicate(&mut self, _block: SackBlock) {}

    /// What the next ACK is to report so, once.
    fn take_duplicate(&mut self) -> Option<SackBlock> {
        None
    }
}
