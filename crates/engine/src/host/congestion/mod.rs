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

/// Declares the modules of all algorithms and the table that everything else reads.  Those `with linux` are Linux's where
/// the stack is Linux's; those `without ns3` are none of ns-3's, and its driver has none either.  Those `starting` somehow
/// leave slow start to that part, the others grow by themselves or bring one; those `hearing` something want more calls
/// than ns-3's classes have.
macro_rules! registry {
    ($(
        $module:ident $(with $linux:ident)? $(without $ns3:ident)? $(starting $start:ident)? $(hearing $hears:expr)?,
    )*) => {
        $(mod $module;)*

        /// What ns-3 does not have, and its driver neither.
        pub const OWN: &[&str] = &[$($(name!($module without $ns3),)?)*];

        /// ns-3's classes, and Linux's algorithms where the stack is Linux's.
        pub const OF_PROFILE: &[&str] = &[$($(name!($module with $linux),)?)*];

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

/// With this slow start where the algorithm is ns-3's; what is Linux's grows by itself.
fn starting(control: Control, start: Standard, ns3: &str, stack: TcpStack) -> Control {
    match stack {
        TcpStack::Linux if OF_PROFILE.contains(&ns3) => control,
        _ => control.starting(start),
    }
}

macro_rules! name {
    ($module:ident with linux) => {
        $module::SPEC.ns3
    };
    ($module:ident without ns3) => {
        $module::SPEC.ns3
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
    new_reno with linux starting Standard,
    linux_reno with linux,
    cubic with linux,
    dctcp with linux,
    dctcp_reno starting Standard,
    prague without ns3,
    vegas with linux,
    bbr with linux,
    bbr3 without ns3 hearing Hears::ALL,
    copa without ns3 hearing Hears::NOTHING.and(Callback::CongControl),
    veno with linux,
    westwood with linux starting Standard,
    htcp with linux starting Standard,
    hybla with linux,
    highspeed with linux starting Standard,
    illinois with linux,
    scalable with linux starting Standard,
    yeah with linux,
    bic with linux,
    ledbat,
    ledbat_pp without ns3 hearing Hears::NOTHING.and(Callback::OnAck),
    lp starting Standard,
}
