//! TCP below whole runs: one socket and a timeline, which says segment by segment what RFCs (and, where
//! it departs from them, ns-3) ask for.

mod closing;
mod duplicates;
mod ecn;
mod ecn_option;
mod handshake;
mod linux;
mod linux_closing;
mod linux_handshake;
mod linux_marks;
mod linux_segments;
mod loss;
mod ns3_calls;
mod ns3_suites;
mod releases;
mod reordering;
mod sending;
mod windows;

/// A connection that has been open since 50 ms, made by the socket under test.
const ESTABLISHED: &str = "
    0   connect
    0   > S 0 sackok
    50  < S. 0 ack 1 sackok
    50  > . 1 ack 1
";

/// The same without SACK.
const WITHOUT_SACK: &str = "
    0   connect
    0   > S 0
    50  < S. 0 ack 1
    50  > . 1 ack 1
";

/// A connection that has been open since 50 ms, made by the peer.
const ACCEPTED: &str = "
    0   listen
    0   < S 0 sackok
    0   > S. 0 ack 1 sackok
    50  < . 1 ack 1
";

fn after(beginning: &str, rest: &str) -> String {
    format!("{beginning}{rest}")
}
