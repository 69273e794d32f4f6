//! How many things a run may have, and how large its quantities may be.

use crate::base::time::{Rate, Time};

/// As many flows and pings, and links, can be numbered in a run.
pub const MAX_FLOWS: usize = 2_000_000;
/// As many of them can be there at once: those that are written one by one, and transfers under way.
pub const MAX_ENDPOINTS: usize = 900_000;
pub const MAX_LINKS: usize = 1 << 17;
/// Some 31 years: sums of times stay far from the end of 64 bits.
pub const LONGEST: Time = Time::from_secs(1_000_000_000);
/// Sums of delays over as many links as a packet passes, there and back, do, too.
pub const LONGEST_DELAY: Time = Time::from_secs(1_000_000);
/// 1 Pbps, at which a packet of 1500 bytes takes 12 picoseconds.
pub const FASTEST: Rate = Rate(1_000_000_000_000_000);
/// Of a switch, in bytes.
pub const LARGEST_BUFFER: u64 = 1 << 40;
/// What an application writes at once, in bytes: a packet's bits are counted in 32 bits.
pub const LARGEST_WRITE: u64 = (1 << 29) - 1;
