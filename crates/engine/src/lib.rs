//! A packet-level network and TCP simulator that reproduces ns-3 3.44 packet by packet.
//!
//! A compiled scenario goes in (`ccperf_schema::lowered`), a recording comes out.  Which module may use which is a table in
//! `tests/test_layers.py`: nothing points upwards.

pub mod base;
pub mod host;
pub mod net;
pub mod packet;
pub mod run;
