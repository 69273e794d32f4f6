//! What lets the sender of packets send which switches may cut to their headers: one file each, one line in the registry
//! below each.  The endpoint that asks it is `host/hosts/trimming/`.

mod control;

pub use control::{Answer, Control};

use crate::base::attributes::{Attributes, Spec};
use crate::host::path::Path;

/// Declares the modules of all controls and the tables that everything else reads.
macro_rules! registry {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every one, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[$(&$module::SPEC,)*];

        /// The one with this name, for a sender on this path.
        pub fn build(name: &str, given: &Attributes<'_>, path: &Path) -> Option<Box<dyn Control>> {
            $(if name == $module::SPEC.ns3 {
                return Some(Box::new($module::new(given, path)));
            })*
            None
        }
    };
}

registry! {
    ndp,
    nscc,
}
