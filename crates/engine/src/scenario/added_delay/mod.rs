//! RTT variation: propagation that single flows have over others.

mod check;
pub mod spec;
