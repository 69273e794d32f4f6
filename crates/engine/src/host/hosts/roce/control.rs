//! How fast a sender over RoCE may go: a rate, not a window.

use std::fmt;

use super::{dcqcn, line_rate};
use crate::base::attributes::{Attributes, Spec};
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

/// Their names and parameters.
pub const SPECS: &[&Spec] = &[&dcqcn::SPEC, &line_rate::SPEC];

/// The one with this name, for a sender with a link of this rate.
pub fn build(name: &str, given: &Attributes<'_>, line: Rate) -> Option<Box<dyn RateControl>> {
    if name == dcqcn::SPEC.ns3 {
        return Some(Box::new(dcqcn::Dcqcn::new(given, line)));
    }
    (name == line_rate::SPEC.ns3)
        .then(|| Box::new(line_rate::LineRate { line }) as Box<dyn RateControl>)
}
