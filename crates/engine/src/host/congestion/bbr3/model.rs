//! The model of the path: bandwidth, losses and aggregation as ACKs show them (section 5.5).

use super::*;

impl Bbr3 {
    pub(super) fn update_latest_delivery_signals(&mut self, rs: &Rs) {
        self.bw_latest = self.bw_latest.max(rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered);
        self.loss_round_start = rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = rs.total_delivered;
        }
    }

    pub(super) fn update_congestion_signals(&mut self, tcb: &Tcb, rs: &Rs) {
        self.round_start = rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.next_round_delivered = rs.total_delivered;
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
        }
        let is_of_use = rs.delivery_rate >= self.max_bw() || !rs.is_app_limited;
        if rs.delivery_rate > Rate(0) && is_of_use {
            self.max_bw[1] = self.max_bw[1].max(rs.delivery_rate);
        }
        if !self.loss_round_start {
            return;
        }
        if self.is_loss_in_round && !self.is_probing_bw() {
            if self.bw_shortterm == Rate(u64::MAX) {
                self.bw_shortterm = self.max_bw();
            }
            if self.inflight_shortterm == INFINITY {
                self.inflight_shortterm = tcb.cwnd;
            }
            let slower = Rate((BETA * self.bw_shortterm.0 as f64) as u64);
            self.bw_shortterm = self.bw_latest.max(slower);
            let fewer = times(BETA, self.inflight_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(fewer);
        }
        self.is_loss_in_round = false;
    }

    pub(super) fn update_ack_aggregation(&mut self, tcb: &Tcb, rs: &Rs) {
        let mut expected = self.bw.bits_in(tcb.now - self.extra_acked_start) / 8;
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0;
            self.extra_acked_start = tcb.now;
            expected = 0;
        }
        self.extra_acked_delivered += u64::from(rs.newly_acked);
        let extra = (self.extra_acked_delivered - expected).min(u64::from(tcb.cwnd));
        self.extra_acked.update(Rate(extra), self.round_count);
    }

    pub(super) fn save_state_upon_loss(&mut self, tcb: &Tcb) {
        self.save_cwnd(tcb);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    pub(super) fn save_cwnd(&mut self, tcb: &Tcb) {
        let is_good = !is_in_recovery(tcb) && self.state != State::ProbeRtt;
        self.prior_cwnd = if is_good { tcb.cwnd } else { self.prior_cwnd.max(tcb.cwnd) };
    }
}
