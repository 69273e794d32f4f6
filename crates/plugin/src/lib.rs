//! A congestion control, queue discipline or load balancer of one's own, outside of ccperf.
//!
//! The interface is that of C (`ccperf.h`), so that a library need not be built with the compiler, the
//! language or the version of ccperf.  In Rust nothing of it shows: implement the trait, export it,
//! build a `cdylib`.
//!
//! ```
//! use ccperf_plugin::{Config, CongestionControl, Tcb};
//!
//! #[derive(Debug)]
//! struct MyCca;
//!
//! impl CongestionControl for MyCca {
//!     fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
//!         (bytes_in_flight / 2).max(2 * tcb.segment_size)
//!     }
//!
//!     fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
//!         tcb.cwnd += segments_acked * tcb.segment_size;
//!     }
//! }
//!
//! ccperf_plugin::export_congestion_control!(|_: &Config| MyCca);
//! # fn main() {}
//! ```
//!
//! This crate is the only one of the workspace with `unsafe` code; all of it is at this boundary,
//! and each block says why it is sound (clippy's `undocumented_unsafe_blocks`).

pub mod abi;
mod balancer;
mod calls;
mod config;
#[doc(hidden)]
pub mod export;
#[doc(hidden)]
pub mod fields;
mod host_balancer;
#[cfg(feature = "host")]
pub mod library;
#[cfg(feature = "host")]
pub mod monitor;
mod queue;
mod tcb;

pub use abi::{Hop, Packet, Queue, Switch};
pub use balancer::{BalancerAdapter, LoadBalancer};
pub use ccperf_engine::base::seq::Seq;
pub use ccperf_engine::base::time::{Rate, Time};
pub use ccperf_engine::host::tcp::control::{
    CaEvent, Callback, CongestionControl, Control, EarlyAck, Hears,
};
pub use ccperf_engine::host::tcp::rate::{AckSample, RateConnection, RateSample};
pub use ccperf_engine::host::tcp::{CongState, EcnMode, EcnState, Tcb, UseEcn};
pub use ccperf_engine::packet::Ecn;
pub use config::Config;
pub use host_balancer::{Arrival, Departure, HostBalancer, SenderAdapter};
pub use queue::{Adapter, QueueDisc, packet};
pub use tcb::{Code, window};
