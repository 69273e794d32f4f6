//! Loss recovery algorithms: how cwnd moves between the start of an episode and its end.

use crate::base::attributes::Spec;
use crate::host::tcp::profile::changes::Changes;
use crate::host::tcp::recovery::Recovery;

/// Declares the modules of all recovery algorithms and the table that everything else reads.
macro_rules! registry {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every recovery algorithm, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[$(&$module::SPEC,)*];

        /// The recovery algorithm with this name, as it is in an ns-3 with these changes.
        pub fn build(name: &str, changes: Changes) -> Option<Box<dyn Recovery>> {
            $(if name == $module::SPEC.ns3 {
                return Some(Box::new($module::new(changes)));
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

#[cfg(test)]
mod ns3_suites;
