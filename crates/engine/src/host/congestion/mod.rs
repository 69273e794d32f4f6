//! Congestion control algorithms: one file each, one line in the registry below each.

mod aggregation;
#[cfg(test)]
mod driver;
mod hystart;
mod max_filter;
#[cfg(test)]
mod properties;

use crate::base::attributes::{Attributes, Spec};
use crate::host::tcp::control::{Control, Hears};

/// What an algorithm may read while it is built.
#[derive(Debug)]
pub struct BuildContext<'a> {
    pub attributes: Attributes<'a>,
    /// The run's seed, for algorithms that draw random numbers.
    pub seed: u64,
}

/// Declares the modules of all algorithms and the table that everything else reads.  Those behind `hearing` want
/// more calls than ns-3's classes have.
macro_rules! registry {
    ($($module:ident $(hearing $hears:expr)?,)*) => {
        $(mod $module;)*

        /// Every algorithm, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[$(&$module::SPEC,)*];

        /// The algorithm with this ns-3 name.
        pub fn build(ns3: &str, cx: &BuildContext<'_>) -> Option<Control> {
            $(if ns3 == $module::SPEC.ns3 {
                let control: Control = $module::new(cx).into();
                return Some(control.hearing(hears!($($hears)?)));
            })*
            None
        }
    };
}

macro_rules! hears {
    () => {
        Hears::NOTHING
    };
    ($hears:expr) => {
        $hears
    };
}

registry! {
    new_reno,
    linux_reno,
    cubic,
    dctcp,
    dctcp_reno,
    vegas,
    bbr,
    veno,
    westwood,
    htcp,
    hybla,
    highspeed,
    illinois,
    scalable,
    yeah,
    bic,
    ledbat,
    lp,
}
