//! RTT variation: propagation that single flows have over others.

mod check;
mod draw;

pub use draw::draw;
