//! How fast a sender over RoCE may go: a rate, not a window; one file each, one line in the registry below each.

mod law;

pub use law::RateControl;

use crate::base::attributes::{Attributes, Spec};
use crate::base::time::Rate;

/// Declares the modules of all laws and the table that everything else reads.
macro_rules! registry {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every law, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[$(&$module::SPEC,)*];

        /// The law with this name, for a sender with a link of this rate.
        pub fn build(name: &str, given: &Attributes<'_>, line: Rate) -> Option<Box<dyn RateControl>> {
            $(if name == $module::SPEC.ns3 {
                return Some(Box::new($module::new(given, line)));
            })*
            None
        }
    };
}

registry! {
    dcqcn,
    line_rate,
}
