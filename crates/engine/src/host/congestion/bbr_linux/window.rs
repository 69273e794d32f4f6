//! Pacing rate and window, from the model of the path.

use super::model::Bandwidth;
use super::{Ack, LinuxBbr, Mode, in_us};
use crate::base::time::Rate;
use crate::host::tcp::{BURSTS_A_SECOND, CongState, LARGEST_BURST, Tcb};

/// In segments.
pub(super) const LEAST: u32 = 4;
const INITIAL: u64 = 10;
/// It counts as a segment that is delivered.
const SYN: u64 = 1;
/// In bytes a second: below it segments leave one by one.
const LEAST_RATE_OF_BURSTS: u64 = 150_000;
/// What is meant to leave together at most.
const MOST_SEGMENTS: u32 = 127;

/// In bytes a second.
fn rate(tcb: &Tcb) -> u64 {
    tcb.pacing_rate.0 / 8
}

/// Segments that are meant to leave together (Linux's `bbr_tso_segs_goal`).
pub(super) fn burst(tcb: &Tcb) -> u32 {
    let bytes = (rate(tcb) / BURSTS_A_SECOND).min(LARGEST_BURST.into()) as u32;
    (bytes / tcb.segment_size).clamp(u32::from(tcb.least_burst), MOST_SEGMENTS)
}

/// At so many bytes a second.
fn pace(tcb: &mut Tcb, wanted: u64) {
    tcb.pacing_rate = Rate(wanted.min(tcb.max_pacing_rate.0 / 8).saturating_mul(8));
    tcb.least_burst = if rate(tcb) < LEAST_RATE_OF_BURSTS { 1 } else { 2 };
}

impl LinuxBbr {
    /// The initial window over the round trip, or over 1 ms while there is none.
    pub(super) fn init_pacing_rate(&mut self, tcb: &mut Tcb) {
        self.has_seen_rtt = !tcb.srtt.is_zero();
        let round_trip = if self.has_seen_rtt { in_us(tcb.srtt).max(1) } else { 1000 };
        let nominal = Bandwidth::of(u64::from(tcb.cwnd_segments()), round_trip);
        pace(tcb, nominal.bytes_a_second(tcb.segment_size, self.high_gain));
    }

    pub(super) fn set_pacing_rate(&mut self, tcb: &mut Tcb, gain: u32) {
        if !self.has_seen_rtt && !tcb.srtt.is_zero() {
            self.init_pacing_rate(tcb);
        }
        let wanted = self.bandwidth().bytes_a_second(tcb.segment_size, gain);
        if self.pipe_is_full || wanted > rate(tcb) {
            pace(tcb, wanted);
        }
    }

    pub(super) fn save_cwnd(&mut self, tcb: &Tcb) {
        let cwnd = tcb.cwnd_segments();
        let is_whole = self.prior_state < CongState::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if is_whole { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// What `gain` times the BDP needs in flight, with room for bursts.
    pub(super) fn wanted(&self, tcb: &Tcb, bandwidth: Bandwidth, gain: u32) -> u32 {
        self.with_room(tcb, self.model.bdp(bandwidth, gain))
    }

    /// Section 4.2.3.2 of the draft, and even.
    fn with_room(&self, tcb: &Tcb, segments: u32) -> u32 {
        let with_bursts = segments.saturating_add(3 * burst(tcb));
        let is_up = self.mode == Mode::ProbeBw && self.phase == 0;
        (with_bursts.saturating_add(1) & !1).saturating_add(if is_up { 2 } else { 0 })
    }

    pub(super) fn set_cwnd(&mut self, tcb: &mut Tcb, ack: &Ack) {
        let mut cwnd = tcb.cwnd_segments();
        if ack.acked > 0 && !self.recovers(tcb, ack, &mut cwnd) {
            let bandwidth = self.bandwidth();
            let extra = if self.pipe_is_full { self.clusters.extra(bandwidth) } else { 0 };
            let bdp = self.model.bdp(bandwidth, self.cwnd_gain);
            let target = self.with_room(tcb, bdp.saturating_add(extra));
            if self.pipe_is_full {
                cwnd = (cwnd + ack.acked).min(target);
            } else if cwnd < target || self.model.delivered + SYN < INITIAL {
                cwnd += ack.acked;
            }
            cwnd = cwnd.max(LEAST);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(LEAST);
        }
        tcb.cwnd = cwnd.saturating_mul(tcb.segment_size);
    }

    /// Section 4.2.3.4 of the draft: an episode begins with what is in flight, conserves it for a round, and ends with the window of
    /// before.  Returns whether that is all.
    fn recovers(&mut self, tcb: &Tcb, ack: &Ack, cwnd: &mut u32) -> bool {
        let (prior, state) = (self.prior_state, tcb.cong_state);
        if ack.losses > 0 {
            *cwnd = cwnd.saturating_sub(ack.losses).max(1);
        }
        if state == CongState::Recovery && prior != CongState::Recovery {
            self.conserves = true;
            self.model.rounds.end = self.model.delivered;
            *cwnd = ack.in_flight + ack.acked;
        } else if prior >= CongState::Recovery && state < CongState::Recovery {
            *cwnd = (*cwnd).max(self.prior_cwnd);
            self.conserves = false;
        }
        self.prior_state = state;
        if self.conserves {
            *cwnd = (*cwnd).max(ack.in_flight + ack.acked);
        }
        self.conserves
    }
}
