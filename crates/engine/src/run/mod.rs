//! A run: the network is built, simulated, and recorded.

pub mod build;
pub mod openings;
pub mod recorder;
pub mod recording;
pub mod schedule;
pub mod simulate;
