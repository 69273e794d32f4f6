//! NDP (Handley et al., SIGCOMM 2017); what it does is in `host/hosts/ndp/`.

use crate::base::attributes::{Attributes, Kind, Spec, param};
use crate::base::time::Time;

pub const SPEC: Spec = Spec {
    ns3: "Ndp",
    linux: &["ndp"],
    doc: "The first window at the link's rate; then the receiver asks for each packet.",
    source: "Handley et al., ACM SIGCOMM 2017",
    departures: &[],
    params: &[
        param!["InitialWindow"; Kind::Uint { min: 1, max: 1_000_000 } => "30";
            "Packets that are sent before the receiver has said anything."],
        param!["Timeout"; Kind::Period => "1ms";
            "How long a packet that nobody answers is waited for; more than the longest round trip."],
    ],
};

/// What it was told.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// In packets.
    pub initial_window: u32,
    pub timeout: Time,
}

impl Settings {
    pub fn new(given: &Attributes<'_>) -> Self {
        Settings { initial_window: given.u32("InitialWindow"), timeout: given.time("Timeout") }
    }
}
