//! How packets are routed: shortest paths by hops, tables for nodes that forward, and what chooses
//! among paths of equal length.
//!
//! Routes are global, as ns-3's `Ipv4GlobalRouting` with `RespondToInterfaceEvents` has them: when a link
//! fails or comes back, every table is right at that instant.  No routing protocol is simulated.

pub mod balance;
mod graph;
mod paths;
mod table;

pub use graph::{Graph, Hop};
pub use paths::Paths;
pub use table::{Next, NextHop, Place, Table, Width};

/// Where the packets of a flow start in one direction, and where they go.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    pub node: u32,
    /// The position of the destination among those of the tables.
    pub destination: u32,
    /// What balancers know the flow by: [`balance::flow_hash`].
    pub hash: u64,
}
