//! What everything may use: time, numbers, random draws, containers, and the words of events and errors.

pub mod attributes;
pub mod cpp;
pub mod error;
pub mod event;
pub mod fetch;
pub mod limits;
pub mod math;
pub mod mix;
pub mod opaque;
pub mod pair_table;
pub mod ring;
pub mod rng;
pub mod seq;
pub mod time;
pub mod units;
