//! A packet-level network and TCP simulator that reproduces ns-3 3.44 packet by packet.
//!
//! A scenario goes in, a recording comes out.  Which module may use which is a table in
//! `tests/test_layers.py`: nothing points upwards.

mod application;
pub mod attributes;
mod build;
mod capture;
pub mod congestion;
mod cpp;
mod departures;
pub mod error;
pub mod event;
mod fetch;
mod flow_monitor;
mod hosts;
pub mod lowered;
mod math;
mod mix;
mod network;
mod openings;
pub mod packet;
mod pair_table;
mod path_monitor;
pub mod qdisc;
mod recorder;
pub mod recording;
pub mod recovery;
mod ring;
pub mod rng;
pub mod routing;
pub mod scenario;
mod schedule;
pub mod seq;
pub mod simulate;
pub mod tcp;
pub mod time;
pub mod trace;
pub mod units;
pub mod user;
pub mod verdict;
