//! How far apart a sender's packets are.

use crate::base::time::Time;

/// Weight of the new gap.
const GAP_WEIGHT: f64 = 0.05;

/// The gaps between the packets that a sender emits.
#[derive(Clone, Debug, Default)]
pub struct Departures {
    last: Option<Time>,
    /// Their EWMA in ns, started with the first gap.
    pub mean_gap: Option<f64>,
}

impl Departures {
    pub fn note(&mut self, now: Time) {
        if let Some(last) = self.last.replace(now) {
            let gap = (now - last).ns() as f64; // signed ones convert in one instruction
            self.mean_gap = Some(match self.mean_gap {
                Some(mean) => mean + GAP_WEIGHT * (gap - mean),
                None => gap,
            });
        }
    }
}
