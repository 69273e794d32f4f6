//! As Linux does for segmentation offload, whether the device has it or not (`tcp_tso_should_defer`, `tcp_tso_autosize`): segments
//! leave in bursts of what the sending rate carries in a millisecond, two at least, and wait for an ACK or two until so much
//! of the window is open.
//!
//! Nothing waits in recovery; if the last segment left longer than a millisecond ago, or the next ACK is further away than that
//! or than half a round trip; if a third of the window is open; or if the kernel's buffer ends, which holds half of the window that
//! the peer offered first, as long as the application writes ahead.

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
/// The most that a SYN offers.
const FIRST_WINDOW: u32 = 65_535;

#[derive(Debug, Default)]
pub struct Deferral {
    /// Segments of the last burst that have not left.
    left: u32,
    /// When it began.
    last: Option<Time>,
    /// Segments that a buffer of the kernel's holds; 0 before the first that leaves.
    buffer: u32,
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
        if self.buffer == 0 {
            self.buffer = (opening.peer_window.min(FIRST_WINDOW) / 2 / size).max(1);
        }
        let burst = burst(opening.tcb);
        let fills_buffer = opening.room >= self.left_of_buffer(&opening);
        if opening.unsent >= 2 * size && !fills_buffer && self.waits(&opening, burst) {
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
    /// Bytes until the present buffer ends.  The first one is what the initial window lets leave as it is written.
    fn left_of_buffer(&self, opening: &Opening<'_>) -> u32 {
        let Opening { tcb, sent, .. } = *opening;
        let buffer = self.buffer * tcb.segment_size;
        let first = tcb.initial_cwnd * tcb.segment_size;
        buffer - sent.wrapping_sub(first) % buffer
    }

    fn waits(&self, opening: &Opening<'_>, burst: u32) -> bool {
        let Opening { tcb, window, room, oldest, .. } = *opening;
        let size = tcb.segment_size;
        let is_recovering = matches!(tcb.cong_state, CongState::Recovery | CongState::Loss);
        let is_recent = self.last.is_some_and(|last| last + RECENT >= tcb.now);
        let near = RECENT.min(Time(tcb.srtt.0 / 2));
        let ack_is_near = oldest.is_some_and(|oldest| oldest + tcb.srtt <= tcb.now + near);
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

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u32 = 1448;

    /// A path of 20 ms, 20 segments of cwnd.
    fn tcb() -> Tcb {
        Tcb {
            now: Time::from_ms(100),
            srtt: Time::from_ms(20),
            min_rtt: Time::from_ms(20),
            cwnd: 20 * SIZE,
            initial_cwnd: 10,
            segment_size: SIZE,
            ..Tcb::default()
        }
    }

    /// Whether a segment leaves with so much room, the last having left just now, `sent` before it, and the oldest in flight
    /// `age` ago.
    fn leaves(room: u32, sent: u32, age: Time) -> bool {
        let tcb = tcb();
        let opening = |sent: u32, room: u32| Opening {
            tcb: &tcb,
            window: 20 * SIZE,
            peer_window: 1 << 20,
            room: room * SIZE,
            unsent: 100 * SIZE,
            sent: sent * SIZE,
            oldest: Some(tcb.now - age),
        };
        let mut deferral = Deferral::default();
        assert!(deferral.leaves(opening(sent - 1, 1)), "the first does not wait");
        deferral.leaves(opening(sent, room))
    }

    const ROUND_TRIP: Time = Time::from_ms(20);

    #[test]
    fn a_single_segment_waits_for_a_second() {
        assert!(!leaves(1, 20, ROUND_TRIP));
        assert!(leaves(2, 20, ROUND_TRIP));
    }

    /// Half of 65,535 B is 22 segments, and the first buffer ends after the ten of the initial window and 22 more: what a
    /// kernel did (7.3.4).
    #[test]
    fn the_last_segment_of_a_buffer_does_not_wait() {
        let alone: Vec<u32> = (11..100).filter(|&sent| leaves(1, sent, ROUND_TRIP)).collect();
        assert_eq!(alone, [31, 53, 75, 97]);
    }

    /// At most a millisecond away.
    #[test]
    fn nothing_waits_for_an_ack_that_is_not_near() {
        let near = ROUND_TRIP - Time::from_ms(1);
        assert!(!leaves(1, 20, near));
        assert!(leaves(1, 20, near - Time(1)));
    }

    /// A short path lets 45 segments leave at once, but not more than half of the window: with room for 12 of 20, ten leave, and the
    /// two that are left wait.
    #[test]
    fn two_bursts_are_in_flight() {
        let tcb = Tcb { min_rtt: Time(1000), ..tcb() };
        let mut deferral = Deferral::default();
        let mut leaves = |n: u32| {
            deferral.leaves(Opening {
                tcb: &tcb,
                window: 20 * SIZE,
                peer_window: 1 << 20,
                room: (12 - n) * SIZE,
                unsent: 100 * SIZE,
                sent: (10 + n) * SIZE,
                oldest: Some(tcb.now - ROUND_TRIP),
            })
        };
        assert_eq!((0..12).take_while(|&n| leaves(n)).count(), 10);
    }
}
