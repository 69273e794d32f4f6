//! The network: ports and links, queue disciplines, routing and load balancing.

pub mod network;
pub mod qdisc;
pub mod routing;
