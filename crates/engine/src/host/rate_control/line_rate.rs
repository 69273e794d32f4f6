//! No control: a sender goes as fast as its link, and only pauses hold it back, as RoCE without DCQCN.

use super::law::RateControl;
use crate::base::attributes::{Attributes, Spec};
use crate::base::time::Rate;
use crate::host::path::Path;

pub const SPEC: Spec = Spec {
    ns3: "LineRate",
    linux: &["line_rate"],
    is_in_linux: false,
    doc: "No control: as fast as the link, until it pauses.",
    source: "InfiniBand Architecture Specification, annex A17: RoCEv2",
    departures: &[],
    params: &[],
};

pub(super) const BELOW: &[[&str; 2]] = &[];

#[derive(Debug)]
pub struct LineRate {
    line: Rate,
}

pub(super) fn new(_: &Attributes<'_>, path: &Path) -> LineRate {
    LineRate { line: path.line }
}

impl RateControl for LineRate {
    fn rate(&self) -> Rate {
        self.line
    }
}
