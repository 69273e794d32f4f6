//! How fast a sender over RoCE may go: a rate, not a window; one file each, one line in the registry below each.

mod dcqcn;
mod law;
mod line_rate;

pub use law::RateControl;

use crate::base::attributes::{Attributes, Spec};
use crate::base::time::Rate;

/// Their names and parameters.
pub const SPECS: &[&Spec] = &[&dcqcn::SPEC, &line_rate::SPEC];

/// The one with this name, for a sender with a link of this rate.
pub fn build(name: &str, given: &Attributes<'_>, line: Rate) -> Option<Box<dyn RateControl>> {
    if name == dcqcn::SPEC.ns3 {
        return Some(Box::new(dcqcn::Dcqcn::new(given, line)));
    }
    (name == line_rate::SPEC.ns3)
        .then(|| Box::new(line_rate::LineRate { line }) as Box<dyn RateControl>)
}
