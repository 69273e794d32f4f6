//! Loss recovery algorithms: how cwnd moves between the start of an episode and its end.

use std::fmt;

use crate::attributes::Spec;
use crate::tcp::Tcb;

/// One episode of Recovery or CWR at a time (ns-3's `TcpRecoveryOps`).
pub trait Recovery: fmt::Debug + Send {
    /// An episode begins.  `unacked_bytes` counts from SND.UNA to the highest byte sent;
    /// `delivered_bytes` is what the triggering ACK acknowledged or SACKed.
    fn enter(&mut self, tcb: &mut Tcb, unacked_bytes: u32, delivered_bytes: u32);

    /// An ACK arrives in the episode.  `is_dup_ack`: it was classified as a duplicate.
    fn on_ack(&mut self, tcb: &mut Tcb, delivered_bytes: u32, is_dup_ack: bool);

    /// Data was sent in the episode.
    fn on_sent(&mut self, _bytes: u32) {}
}

/// Declares the modules of all recovery algorithms and the table that everything else reads.
macro_rules! registry {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every recovery algorithm, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[$(&$module::SPEC,)*];

        /// The recovery algorithm with this name.
        pub fn build(name: &str) -> Option<Box<dyn Recovery>> {
            $(if name == $module::SPEC.ns3 {
                return Some(Box::new($module::new()));
            })*
            None
        }
    };
}

registry! {
    prr,
    prr_rfc6937,
    classic,
}
