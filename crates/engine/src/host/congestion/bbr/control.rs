//! Pacing rate and window, from the model.

use super::*;

impl Bbr {
    /// Section 4.2.1: while the pipe is not full, the rate only rises.
    pub(super) fn set_pacing_rate(&mut self, tcb: &mut Tcb, gain: f64) {
        let rate = self.paced(gain).min(tcb.max_pacing_rate);
        if !self.has_seen_rtt && tcb.min_rtt != Time::MAX {
            self.init_pacing_rate(tcb);
        }
        if self.pipe_is_full || rate > tcb.pacing_rate {
            tcb.pacing_rate = rate;
        }
    }

    /// `gain` times the bandwidth, but for the margin; what was asked for last is remembered.
    pub(super) fn paced(&mut self, gain: f64) -> Rate {
        let bandwidth = self.max_bw.max();
        if (self.paced.bandwidth, self.paced.gain) != (bandwidth, gain) {
            let rate = scaled(scaled(bandwidth, gain), 1.0 - PACING_MARGIN);
            self.paced = Paced { bandwidth, gain, rate };
        }
        self.paced.rate
    }

    /// Sections 4.2.3.4 to 4.2.3.6.
    pub(super) fn set_cwnd(&mut self, tcb: &mut Tcb, rs: &RateSample) {
        if rs.acked_sacked > 0 && !self.follow_recovery(tcb, rs) {
            let target = self.inflight(tcb, self.cwnd_gain).wrapping_add(self.aggregation_bytes());
            let initial = tcb.initial_cwnd.wrapping_mul(tcb.segment_size);
            let grown = tcb.cwnd.wrapping_add(rs.acked_sacked);
            if self.pipe_is_full {
                tcb.cwnd = grown.min(target);
            } else if tcb.cwnd < target || self.delivered < u64::from(initial) {
                tcb.cwnd = grown;
            }
            tcb.cwnd = tcb.cwnd.max(self.min_pipe_cwnd());
        }
        if self.mode == Mode::ProbeRtt {
            tcb.cwnd = tcb.cwnd.min(self.min_pipe_cwnd());
        }
    }

    /// True if packet conservation has determined the window.
    pub(super) fn follow_recovery(&mut self, tcb: &mut Tcb, rs: &RateSample) -> bool {
        if tcb.cong_state != CongState::Recovery {
            return false;
        }
        if rs.bytes_loss > 0 {
            let left = (tcb.cwnd as i32).wrapping_sub(rs.bytes_loss as i32);
            tcb.cwnd = left.max(tcb.segment_size as i32) as u32;
        }
        if self.packet_conservation {
            tcb.cwnd = tcb.cwnd.max(tcb.bytes_in_flight.wrapping_add(rs.acked_sacked));
        }
        self.packet_conservation
    }

    /// At most 100 ms at the bottleneck's rate.
    pub(super) fn aggregation_bytes(&self) -> u32 {
        if !self.pipe_is_full {
            return 0;
        }
        let most = (self.max_bw.max().0 / (10 * 8)) as u32;
        self.aggregation.max().min(most)
    }

    pub(super) fn min_pipe_cwnd(&self) -> u32 {
        4 * self.segment_size
    }

    pub(super) fn save_cwnd(&mut self, tcb: &Tcb) {
        let is_reduced = tcb.cong_state == CongState::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if is_reduced { self.prior_cwnd.max(tcb.cwnd) } else { tcb.cwnd };
    }

    pub(super) fn restore_cwnd(&self, tcb: &mut Tcb) {
        tcb.cwnd = tcb.cwnd.max(self.prior_cwnd);
    }
}
