//! A run: the network is built, simulated, and recorded.

pub mod build;
#[cfg(test)]
mod dice;
pub mod openings;
#[cfg(not(target_family = "wasm"))]
pub mod parallel;
pub mod recorder;
pub mod recording;
pub mod schedule;
pub mod simulate;
