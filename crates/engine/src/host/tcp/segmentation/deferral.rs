//! As Linux does for segmentation offload, whether the device has it or not (`tcp_tso_should_defer`, `tcp_tso_autosize`): segments
//! leave in bursts of what the sending rate carries in a millisecond, two at least, and wait for an ACK or two until so much
//! of the window is open.
//!
//! Nothing waits in recovery; if the last segment left longer than a millisecond ago, or the next ACK is half a round trip away;
//! or if a third of the window is open.

use super::{Opening, Segmentation};
use crate::base::time::Time;
use crate::host::tcp::tcb::{CongState, Tcb};

const RECENT: Time = Time::from_ms(1);
const LEAST_BURST: u64 = 2;
/// In bytes: what the length of an IP packet can say.
pub const LARGEST_BURST: u64 = 65_536;
const BURSTS_A_SECOND: u64 = 1024;
/// A short path has larger bursts: by the largest one, halved for each such step of its minimum RTT.
const STEP: Time = Time(512_000);

#[derive(Debug, Default)]
pub struct Deferral {
    /// Segments of the last burst that have not left.
    left: u32,
    /// When it began.
    last: Option<Time>,
}

impl Segmentation for Deferral {
    const WAITS: bool = true;

    fn leaves(&mut self, opening: Opening<'_>) -> bool {
        let now = opening.tcb.now;
        let size = opening.tcb.segment_size;
        if self.left > 0 && self.last == Some(now) {
            self.left -= 1;
            return true;
        }
        let burst = burst(opening.tcb);
        if opening.unsent >= 2 * size && self.waits(&opening, burst) {
            return false;
        }
        // So that two bursts are in flight.
        let half = (opening.window / size / 2).max(1);
        self.left = burst.min(opening.room / size).min(half).saturating_sub(1);
        self.last = Some(now);
        true
    }
}

impl Deferral {
    fn waits(&self, opening: &Opening<'_>, burst: u32) -> bool {
        let Opening { tcb, window, room, oldest, .. } = *opening;
        let size = tcb.segment_size;
        let is_recovering = matches!(tcb.cong_state, CongState::Recovery | CongState::Loss);
        let is_recent = self.last.is_some_and(|last| last + RECENT >= tcb.now);
        let ack_is_near = oldest.is_some_and(|oldest| tcb.now - oldest >= Time(tcb.srtt.0 / 2));
        let is_wide = room >= burst * size || room >= window / size * size / 3;
        !is_recovering && is_recent && ack_is_near && !is_wide
    }
}

/// In segments.
fn burst(tcb: &Tcb) -> u32 {
    let size = u64::from(tcb.segment_size);
    let of_rate = tcb.window_rate().map_or(LARGEST_BURST, |rate| rate / BURSTS_A_SECOND);
    let steps = tcb.min_rtt.0 / STEP.0;
    let of_path = if steps < u64::from(u32::BITS) { LARGEST_BURST >> steps } else { 0 };
    ((of_rate + of_path).min(LARGEST_BURST) / size).max(LEAST_BURST) as u32
}
