//! Congestion control algorithms: one file each, one line in the registry below each.

mod aggregation;
mod bbr_linux;
mod betas;
mod bic_linux;
mod cube_root;
mod dctcp_linux;
#[cfg(test)]
mod driver;
mod highspeed_linux;
mod highspeed_table;
mod htcp_linux;
mod hybla_linux;
mod illinois_linux;
mod max_filter;
#[cfg(test)]
mod path;
#[cfg(test)]
mod properties;
mod scalable_linux;
mod vegas_linux;
mod veno_linux;
mod westwood_linux;
mod yeah_linux;

use crate::base::attributes::{Attributes, Spec};
use crate::host::slow_start::Standard;
use crate::host::tcp::control::{Callback, Control, Hears, TcpStack};
use crate::host::tcp::profile::changes::Changes;

/// What an algorithm may read while it is built.
#[derive(Debug)]
pub struct BuildContext<'a> {
    pub attributes: Attributes<'a>,
    /// The run's seed, for algorithms that draw random numbers.
    pub seed: u64,
    /// What the connection's ns-3 has changed since 3.44.
    pub changes: Changes,
    pub stack: TcpStack,
}

/// Declares the modules of all algorithms and the table that everything else reads.  Those `starting` somehow leave
/// slow start to that part, the others grow by themselves or bring one; those `hearing` something want more calls than
/// ns-3's classes have.
macro_rules! registry {
    ($($module:ident $(starting $start:ident)? $(hearing $hears:expr)?,)*) => {
        $(mod $module;)*

        /// Every algorithm, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[$(&$module::SPEC,)*];

        /// The algorithm with this ns-3 name.
        pub fn build(ns3: &str, cx: &BuildContext<'_>) -> Option<Control> {
            $(if ns3 == $module::SPEC.ns3 {
                let control: Control = $module::new(cx).into();
                $(let control = starting(control, $start, ns3, cx.stack);)?
                return Some(control.hearing(hears!($($hears)?)).ours());
            })*
            None
        }
    };
}

/// What ns-3 does not have, and its driver neither.
pub const OWN: &[&str] = &[bbr3::SPEC.ns3, copa::SPEC.ns3, ledbat_pp::SPEC.ns3, prague::SPEC.ns3];

/// ns-3's classes, and Linux's algorithms where the stack is Linux's.
pub const OF_PROFILE: &[&str] = &[
    new_reno::SPEC.ns3,
    linux_reno::SPEC.ns3,
    cubic::SPEC.ns3,
    dctcp::SPEC.ns3,
    vegas::SPEC.ns3,
    bbr::SPEC.ns3,
    bic::SPEC.ns3,
    highspeed::SPEC.ns3,
    illinois::SPEC.ns3,
    htcp::SPEC.ns3,
    hybla::SPEC.ns3,
    scalable::SPEC.ns3,
    veno::SPEC.ns3,
    westwood::SPEC.ns3,
    yeah::SPEC.ns3,
];

/// With this slow start where the algorithm is ns-3's; what is Linux's grows by itself.
fn starting(control: Control, start: Standard, ns3: &str, stack: TcpStack) -> Control {
    match stack {
        TcpStack::Linux if OF_PROFILE.contains(&ns3) => control,
        _ => control.starting(start),
    }
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
    new_reno starting Standard,
    linux_reno,
    cubic,
    dctcp,
    dctcp_reno starting Standard,
    prague,
    vegas,
    bbr,
    bbr3 hearing Hears::ALL,
    copa hearing Hears::NOTHING.and(Callback::CongControl),
    veno,
    westwood starting Standard,
    htcp starting Standard,
    hybla,
    highspeed starting Standard,
    illinois,
    scalable starting Standard,
    yeah,
    bic,
    ledbat,
    ledbat_pp hearing Hears::NOTHING.and(Callback::OnAck),
    lp starting Standard,
}
