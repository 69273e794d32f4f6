//! The model: how much the path delivers, how long it takes, and what is in flight then.

use super::*;

impl Bbr {
    pub(super) fn update_bandwidth(&mut self, rs: &RateSample) {
        if rs.delivered < 0 || rs.interval.is_zero() {
            return;
        }
        self.round_starts = rs.prior_delivered as u32 >= self.round_end;
        if self.round_starts {
            self.round_end = self.delivered as u32;
            self.round = self.round.wrapping_add(1);
            self.packet_conservation = false;
        }
        if rs.delivery_rate >= self.max_bw.max() || !rs.is_app_limited {
            self.max_bw.update(rs.delivery_rate, self.round);
        }
    }

    pub(super) fn update_min_rtt(&mut self, tcb: &Tcb) {
        let age = tcb.now.ns() - self.min_rtt_stamp.ns();
        self.min_rtt_expired = age > self.min_rtt_window;
        if tcb.last_rtt <= self.min_rtt || self.min_rtt_expired {
            self.set_min_rtt(tcb.last_rtt, tcb.now);
        }
    }

    pub(super) fn set_min_rtt(&mut self, rtt: Time, now: Time) {
        if rtt != self.min_rtt {
            (self.min_rtt, self.min_rtt_seconds) = (rtt, rtt.secs_f64());
        }
        self.min_rtt_stamp = now;
    }

    /// Section 4.2.3.2: what `gain` times the BDP needs in flight, with room for delayed ACKs.
    pub(super) fn inflight(&self, tcb: &Tcb, gain: f64) -> u32 {
        if self.min_rtt == Time::MAX {
            return tcb.initial_cwnd.wrapping_mul(tcb.segment_size);
        }
        let quanta = f64::from(self.segment_size.wrapping_mul(3));
        let bdp = self.min_rtt_seconds * self.max_bw.max().0 as f64 / 8.0;
        let mut bytes = gain * bdp + quanta;
        if self.mode == Mode::ProbeBw && self.phase == 0 {
            bytes += f64::from(2 * tcb.segment_size);
        }
        cpp::to_u32(bytes)
    }
}
