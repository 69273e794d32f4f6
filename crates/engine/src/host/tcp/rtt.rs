//! Round-trip time estimation: what samples say of the next round trip.

mod deliveries;
mod mean_deviation;
mod windowed;

use std::fmt;

pub use deliveries::{DeliveryTimes, RoundTrip, by_clock};
pub use mean_deviation::MeanDeviation;
pub use windowed::Windowed;

use crate::base::time::Time;

/// Samples go in, the smoothed RTT and the retransmission timeout come out.
pub trait RttEstimation: fmt::Debug + Send {
    /// Whether it wants [`RttEstimation::on_round`].
    const HAS_ROUNDS: bool = false;

    /// Whether samples are of what ACKs deliver ([`DeliveryTimes`]), and a timeout that was doubled stays so until the next
    /// one (RFC 6298 section 5, the note at the end).
    const OF_DELIVERIES: bool = false;

    /// `initial`: the estimate before the first sample; `min_rto`: the least retransmission timeout.
    fn new(initial: Time, min_rto: Time) -> Self;

    /// Forgets all samples.
    fn reset(&mut self);

    fn measure(&mut self, sample: Time);

    /// What was in flight when this was called last is acknowledged.
    fn on_round(&mut self) {}

    /// The smoothed RTT.
    fn srtt(&self) -> Time;

    /// The retransmission timeout, without a lower bound; `granularity`: the least term for the variation.
    fn timeout(&self, granularity: Time) -> Time;

    /// RFC 6298 section 2.4: not below `min_rto`.
    fn rto(&self, granularity: Time, min_rto: Time) -> Time {
        self.timeout(granularity).max(min_rto)
    }
}
