//! How many segments leave together: what the sending rate carries in a millisecond, and more on a short path (`tcp_tso_autosize`).

use super::Opening;
use crate::base::time::Time;
use crate::host::tcp::tcb::{CongState, Tcb};

/// In bytes: what the length of an IP packet can say, less a header and one (Linux's `MAX_TCP_HEADER`; with tunnels or radio in a
/// kernel up to 128 less).
pub const LARGEST_BURST: u32 = 65_536 - 193;
pub const BURSTS_A_SECOND: u64 = 1024;
/// A short path has larger bursts: by the largest one, halved for each such step of its minimum RTT.
const STEP: Time = Time(512_000);
/// Nothing waits where the last segment left longer ago.
const RECENT: Time = Time::from_ms(1);

/// So many segments of a burst cwnd lets leave, with another one in flight.
pub(super) fn quota(opening: &Opening<'_>, burst: u32) -> u32 {
    let tcb = opening.tcb;
    let half = (tcb.cwnd / tcb.segment_size / 2).max(1);
    burst.min(cwnd_room(opening) / tcb.segment_size).min(half)
}

/// What cwnd alone leaves, in bytes.
pub(super) fn cwnd_room(opening: &Opening<'_>) -> u32 {
    opening.room + opening.tcb.cwnd.saturating_sub(opening.window)
}

/// What the peer's window leaves, which is one of places, whatever of it has been SACKed.
pub(super) fn offered(opening: &Opening<'_>) -> u32 {
    opening.peer_window.saturating_sub(opening.unacked)
}

/// Whether less than a burst of so many segments waits for more of the window (`tcp_tso_should_defer`); one may have left just now.
pub(super) fn waits(opening: &Opening<'_>, burst: u32, has_left: bool) -> bool {
    let Opening { tcb, window, room, oldest, .. } = *opening;
    let size = tcb.segment_size;
    let is_recovering = matches!(tcb.cong_state, CongState::Recovery | CongState::Loss);
    let last = tcb.last_departure.max(tcb.next_departure);
    let is_recent = has_left || last + RECENT >= tcb.now;
    let near = RECENT.min(Time(tcb.srtt.0 / 2));
    let ack_is_near = oldest.is_some_and(|oldest| oldest + tcb.srtt <= tcb.now + near);
    let room = room.min(offered(opening));
    let is_wide = room >= burst * size || room >= window / size * size / 3;
    !is_recovering && is_recent && ack_is_near && !is_wide
}

/// In segments.
pub(super) fn burst(tcb: &Tcb) -> u32 {
    let size = u64::from(tcb.segment_size);
    let rate = if tcb.pacing { Some(tcb.pacing_rate.0 / 8) } else { tcb.window_rate() };
    if let (longest @ 1.., Some(rate)) = (tcb.longest_burst_us, rate) {
        let bytes = u128::from(rate) * u128::from(longest) / 1_000_000;
        return (bytes.min(u128::from(LARGEST_BURST)) as u64 / size).max(1) as u32;
    }
    let of_rate = rate.map_or(u64::from(LARGEST_BURST), |rate| rate / BURSTS_A_SECOND);
    let steps = tcb.min_rtt.0 / STEP.0;
    let of_path = if steps < u64::from(u32::BITS) { LARGEST_BURST >> steps } else { 0 };
    ((of_rate + u64::from(of_path)).min(LARGEST_BURST.into()) / size)
        .max(u64::from(tcb.least_burst)) as u32
}
