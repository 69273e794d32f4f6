//! NDP (Handley et al., SIGCOMM 2017, section 3.2): after a first window the receiver asks for each packet.

use super::Control;
use crate::base::attributes::{Attributes, Kind, Spec, param};
use crate::base::time::Time;
use crate::host::path::Path;

pub const SPEC: Spec = Spec {
    ns3: "Ndp",
    linux: &["ndp"],
    is_in_linux: false,
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

/// After so many timeouts without a word of the receiver a packet that waits to be asked for goes by itself.
const PATIENCE: u64 = 16;

#[derive(Debug)]
pub struct Pulls {
    /// Packets that may still leave.
    left: u32,
    /// The number of the last PULL.
    last: u32,
    timeout: Time,
}

pub(super) fn new(given: &Attributes<'_>, _: &Path) -> Pulls {
    Pulls { left: given.u32("InitialWindow"), last: 0, timeout: given.time("Timeout") }
}

impl Control for Pulls {
    fn timeout(&self) -> Time {
        self.timeout
    }

    fn lets(&self, _bytes: u32, _in_flight: u64) -> bool {
        self.left > 0
    }

    fn on_sent(&mut self) {
        self.left -= 1;
    }

    fn on_idle(&mut self) {
        // What it was asked for and does not have is not made up for.
        self.left = 0;
    }

    fn on_timeout(&mut self, _bytes: u32) {
        self.left += 1;
    }

    fn on_pull(&mut self, number: u32) {
        self.left += number.saturating_sub(self.last);
        self.last = self.last.max(number);
    }

    fn patience(&self) -> Option<Time> {
        Some(Time(PATIENCE * self.timeout.0))
    }
}
