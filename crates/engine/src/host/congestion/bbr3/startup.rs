//! Startup and Drain: finds the bandwidth, then empties the queue it built (sections 5.3.1 and 5.3.2).

use super::losses::*;
use super::*;

impl Bbr3 {
    pub(super) fn sample(
        &mut self,
        tcb: &Tcb,
        rate: &RateSample,
        connection: &RateConnection,
    ) -> Rs {
        self.delivered = connection.delivered;
        let is_new = rate.acked_sacked > 0 && rate.interval > Time::ZERO && rate.delivered > 0;
        let bits = f64::from(rate.delivered.max(0)) * 8.0;
        let delivery_rate =
            if is_new { Rate((bits / rate.interval.secs_f64()) as u64) } else { Rate(0) };
        let prior_delivered = rate.prior_delivered;
        Rs {
            delivery_rate,
            delivered: if is_new { rate.delivered as u32 } else { 0 },
            prior_delivered,
            is_app_limited: rate.is_app_limited || prior_delivered < self.limited_until,
            newly_acked: rate.acked_sacked,
            newly_lost: rate.newly_lost,
            lost: rate.lost,
            tx_in_flight: rate.tx_in_flight.saturating_add(tcb.segment_size),
            rtt: rate.rtt,
            total_delivered: connection.delivered,
        }
    }

    pub(super) fn max_bw(&self) -> Rate {
        self.max_bw[0].max(self.max_bw[1])
    }

    pub(super) fn is_in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    pub(super) fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.pacing_gain = STARTUP_PACING_GAIN;
        self.cwnd_gain = DEFAULT_CWND_GAIN;
    }

    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = Rate(0);
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    pub(super) fn check_full_bw_reached(&mut self, rs: &Rs) {
        if self.full_bw_now || !self.round_start || rs.is_app_limited {
            return;
        }
        if rs.delivery_rate.0 as f64 >= self.full_bw.0 as f64 * FULL_BW_GROWTH {
            self.reset_full_bw();
            self.full_bw = rs.delivery_rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    pub(super) fn check_startup_done(&mut self, tcb: &Tcb, rs: &Rs) {
        let is_round_of_losses = self.loss_round_start
            && is_in_recovery(tcb)
            && self.losses_in_round >= STARTUP_LOSSES
            && is_inflight_too_high(rs);
        if self.state == State::Startup && !self.full_bw_reached && is_round_of_losses {
            self.undo.state = Some(State::Startup);
            self.full_bw_now = true;
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp(self.bw, 1.0, tcb).max(self.inflight_latest);
        }
        if self.loss_round_start {
            self.losses_in_round = 0;
        }
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.pacing_gain = DRAIN_PACING_GAIN;
            self.cwnd_gain = DEFAULT_CWND_GAIN;
            self.drain_start_round = self.round_count;
        }
        if self.full_bw_reached && self.extra_acked.length() == 1 {
            self.extra_acked.lengthen(EXTRA_ACKED_ROUNDS);
        }
    }

    pub(super) fn check_drain_done(&mut self, tcb: &mut Tcb, rs: &Rs) {
        let is_late = self.round_count > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain
            && (tcb.bytes_in_flight <= self.inflight(self.bw, 1.0, tcb) || is_late)
        {
            self.cwnd_gain = DEFAULT_CWND_GAIN;
            self.start_down(tcb, rs.total_delivered);
        }
    }
}
