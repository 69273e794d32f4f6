//! How fast a sender over RoCE may go: a rate, a window, or both; one file each, one line in the registry below each.

mod law;
mod recovery;

pub use law::{Ack, RateControl};

use crate::base::attributes::{Attributes, Kind, Param, Spec};
use crate::host::path::Path;
use crate::packet::ROCE_HEADERS;
use crate::packet::telemetry::TELEMETRY_HEADER;

/// Declares the modules of all laws and the tables that everything else reads.
macro_rules! registry {
    ($($module:ident $(reads $telemetry:ident)?,)*) => {
        $(mod $module;)*

        /// Every law, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[$(&$module::SPEC,)*];

        /// Of each, parameters of which the first has to be below the second.
        const BELOW: &[&[[&str; 2]]] = &[$($module::BELOW,)*];

        /// Those whose packets collect what switches say of their links.
        const READERS: &[&str] = &[$($(reads!($telemetry $module),)?)*];

        /// The law with this name, for a sender on this path.
        pub fn build(name: &str, given: &Attributes<'_>, path: &Path) -> Option<Box<dyn RateControl>> {
            $(if name == $module::SPEC.ns3 {
                return Some(Box::new($module::new(given, path)));
            })*
            None
        }
    };
}

macro_rules! reads {
    (telemetry $module:ident) => {
        $module::SPEC.ns3
    };
}

registry! {
    dcqcn,
    dcqcn_mlx5,
    hpcc reads telemetry,
    swift,
    timely,
    line_rate,
}

/// Whether the packets of a law collect what switches say of their links.
pub fn reads_telemetry(law: &str) -> bool {
    READERS.contains(&law)
}

/// Headers of its packets, IP's included.
pub fn headers(law: &str) -> u32 {
    ROCE_HEADERS + if reads_telemetry(law) { TELEMETRY_HEADER } else { 0 }
}

/// Whether the parameters of a law go together; or else which one is wrong, and why.
pub fn check(law: &Spec, a: &Attributes<'_>) -> Result<(), (&'static str, String)> {
    let of_law = SPECS.iter().zip(BELOW).filter(|(spec, _)| spec.ns3 == law.ns3);
    for &[low, high] in of_law.flat_map(|(_, pairs)| *pairs) {
        let value = |name: &str| match law.params.iter().find(|param| param.ns3 == name) {
            Some(Param { kind: Kind::Time, .. }) => a.time(name).0 as f64,
            _ => a.f64(name),
        };
        if value(low) >= value(high) {
            let message = format!("{} is not below {high}, {}", a.text(low), a.text(high));
            return Err((low, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Parameters as a scenario gives them.
    pub(super) fn given(values: &[(&str, &str)]) -> BTreeMap<String, String> {
        values.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    pub(super) fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
    }

    #[test]
    fn only_hpcc_pays_for_telemetry() {
        let headers: Vec<_> = SPECS.iter().map(|spec| (spec.ns3, headers(spec.ns3))).collect();
        assert!(headers.iter().all(|&(law, bytes)| bytes == if law == "Hpcc" { 86 } else { 44 }));
    }
}
