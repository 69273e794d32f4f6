//! TCP without input or output: segments, timers and writes go in with the time; segments to send,
//! timers to set and data for the application come out through the [`Environment`].  Knows nothing of
//! links or of the simulator.
//!
//! The behaviour is that of ns-3 3.44's `TcpSocketBase` and its helpers ([`Profile`] [`Ns3`]); where it
//! departs from an RFC, the profile or the code says so.

mod acks;
#[cfg(test)]
mod bench;
mod callbacks;
mod config;
pub mod control;
mod ecn;
mod ecn_mode;
mod loss;
mod memory;
mod pacing;
pub mod profile;
pub mod rate;
mod reassembly;
pub mod recovery;
mod resequencing;
mod rtt;
mod scoreboard;
mod segmentation;
pub mod slow_start;
mod socket;
pub mod socket_params;
mod tcb;
mod ticks;
#[cfg(test)]
mod timelines;
mod validation;

pub use config::Config;
pub use ecn::PreciseEcho;
pub use ecn_mode::EcnMode;
pub use profile::{Ns3, Profile};
pub use segmentation::{BURSTS_A_SECOND, LARGEST_BURST};
pub use socket::{Environment, Socket, Statistics, Timer, Write};
pub use tcb::{CongState, EcnState, Tcb, UseEcn};
