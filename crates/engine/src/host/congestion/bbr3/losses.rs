//! How many losses say that too much was in flight (section 5.5.10.2).

use super::*;

/// Section 5.5.10.2.
pub(super) fn is_inflight_too_high(rs: &Rs) -> bool {
    f64::from(rs.lost) > f64::from(rs.tx_in_flight) * LOSS_THRESH
}

/// The volume in flight at which the losses crossed the threshold: InflightAtLoss of section 5.5.10.2, for all that the
/// ACK reveals.
pub(super) fn inflight_at_loss(rs: &Rs) -> u32 {
    let previous = f64::from(rs.tx_in_flight.saturating_sub(rs.newly_lost));
    let lost = f64::from(rs.lost.saturating_sub(rs.newly_lost));
    let prefix = (LOSS_THRESH * previous - lost) / (1.0 - LOSS_THRESH);
    (previous + prefix).max(0.0) as u32
}
