//! How packets find their way: shortest paths by hops, tables for nodes that forward, and what chooses
//! among ways of equal length.
//!
//! Routes are global, as ns-3's `Ipv4GlobalRouting` with `RespondToInterfaceEvents` has them: when a link
//! fails or comes back, every table is right at that instant.  No routing protocol is simulated.

pub mod balance;
mod graph;
mod paths;
mod table;

pub use graph::{Graph, Hop};
pub use paths::Paths;
pub use table::{Next, Place, Table, Width};
