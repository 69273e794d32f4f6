//! How far Reno backs off: the shares of the window that are left (RFC 5681, RFC 8511).

use crate::base::attributes::{Attributes, FRACTION, Param, param};
use crate::base::cpp;
use crate::host::tcp::Tcb;

/// Of the window, what is left.
pub(super) const BETA_LOSS: Param = param!["BetaLoss"; FRACTION => "0.5";
    "The share of the window that is left after a loss; from ns-3 3.47 on."];
pub(super) const BETA_ECN: Param = param!["BetaEcn"; FRACTION => "0.7";
    "The share of the window that is left after a mark with `UseAbe` (RFC 8511); from ns-3 3.47 on."];

/// The shares of the window that are left after a loss and, with ABE, after a mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Betas {
    loss: f64,
    ecn: f64,
}

impl Betas {
    pub(super) const DEFAULT: Betas = Betas { loss: 0.5, ecn: 0.7 };

    pub(super) fn new(a: &Attributes<'_>) -> Betas {
        Betas { loss: a.f64(BETA_LOSS.ns3), ecn: a.f64(BETA_ECN.ns3) }
    }

    /// max(beta window, 2 SMSS).
    pub(super) fn ssthresh(self, tcb: &Tcb, window: u32) -> u32 {
        let beta = if tcb.is_reduced_by_abe() { self.ecn } else { self.loss };
        (2 * tcb.segment_size).max(cpp::to_u32(f64::from(window) * beta))
    }
}
