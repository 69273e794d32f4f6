//! ProbeBW: looks for more bandwidth from time to time, and cruises below what was found (section 5.3.3).

use super::losses::*;
use super::*;

impl Bbr3 {
    pub(super) fn start_down(&mut self, tcb: &Tcb, delivered: u64) {
        self.is_loss_in_round = false;
        self.bw_latest = Rate(0);
        self.inflight_latest = 0;
        self.probe_up_acked_per_inc = INFINITY;
        let (seed, now) = (self.seed, tcb.now);
        // Connections of one run differ by when they come here first.
        let rng = self.rng.get_or_insert_with(|| {
            RngStream::fixed(seed.wrapping_add(now.0) & 0xffff_ffff, self.stream)
        });
        self.rounds_since_probe_up = rng.uniform_integer(0, 1);
        self.bw_probe_wait = Time::from_secs_f64(2.0 + rng.unit());
        self.cycle_stamp = tcb.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.next_round_delivered = delivered;
        self.state = State::Down;
        self.pacing_gain = DOWN_PACING_GAIN;
        self.cwnd_gain = DEFAULT_CWND_GAIN;
    }

    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
        self.pacing_gain = 1.0;
        self.cwnd_gain = DEFAULT_CWND_GAIN;
    }

    pub(super) fn start_refill(&mut self) {
        self.bw_shortterm = Rate(u64::MAX);
        self.inflight_shortterm = INFINITY;
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.next_round_delivered = self.delivered;
        self.state = State::Refill;
        self.pacing_gain = 1.0;
        self.cwnd_gain = DEFAULT_CWND_GAIN;
    }

    pub(super) fn start_up(&mut self, tcb: &Tcb, rs: &Rs) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.next_round_delivered = rs.total_delivered;
        self.reset_full_bw();
        self.full_bw = rs.delivery_rate;
        self.state = State::Up;
        self.pacing_gain = UP_PACING_GAIN;
        self.cwnd_gain = UP_CWND_GAIN;
        self.raise_slope(tcb);
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self, tcb: &mut Tcb, rs: &Rs) {
        if !self.full_bw_reached || self.adapt_long_term_model(tcb, rs) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if !self.is_time_to_probe(tcb) && self.is_time_to_cruise(tcb) => {
                self.start_cruise();
            }
            State::Cruise => {
                self.is_time_to_probe(tcb);
            }
            State::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up(tcb, rs);
            }
            State::Up if self.is_time_to_go_down(tcb, rs) => {
                self.prev_probe_too_high = false;
                self.start_down(tcb, rs.total_delivered);
            }
            _ => {}
        }
    }

    /// Section 5.3.3.8: then the pipe is refilled.
    pub(super) fn is_time_to_probe(&mut self, tcb: &Tcb) -> bool {
        let target = self.target_inflight(tcb) / tcb.segment_size;
        let is_time = tcb.now > self.cycle_stamp + self.bw_probe_wait
            || self.rounds_since_probe_up >= target.min(MOST_RENO_ROUNDS);
        if is_time {
            self.start_refill();
        }
        is_time
    }

    pub(super) fn target_inflight(&self, tcb: &Tcb) -> u32 {
        self.bdp(self.bw, 1.0, tcb).min(tcb.cwnd)
    }

    pub(super) fn is_time_to_cruise(&self, tcb: &Tcb) -> bool {
        tcb.bytes_in_flight <= self.inflight_with_headroom(tcb)
            && tcb.bytes_in_flight <= self.inflight(self.max_bw(), 1.0, tcb)
    }

    pub(super) fn is_time_to_go_down(&mut self, tcb: &Tcb, rs: &Rs) -> bool {
        if self.prev_probe_too_high && tcb.bytes_in_flight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if tcb.is_cwnd_limited && tcb.cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = rs.delivery_rate;
            return false;
        }
        self.full_bw_now
    }

    pub(super) fn inflight_with_headroom(&self, tcb: &Tcb) -> u32 {
        if self.inflight_longterm == INFINITY {
            return INFINITY;
        }
        let headroom = times(HEADROOM, self.inflight_longterm).max(tcb.segment_size);
        self.inflight_longterm.saturating_sub(headroom).max(MIN_PIPE_SEGMENTS * tcb.segment_size)
    }

    pub(super) fn raise_slope(&mut self, tcb: &Tcb) {
        let growth = 1_u32 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (tcb.cwnd / growth).max(tcb.segment_size);
    }

    pub(super) fn probe_inflight_longterm_upward(&mut self, tcb: &Tcb, rs: &Rs) {
        if !tcb.is_cwnd_limited || tcb.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += rs.newly_acked;
        let increments = self.bw_probe_up_acked / self.probe_up_acked_per_inc;
        self.bw_probe_up_acked -= increments * self.probe_up_acked_per_inc;
        let grown = increments.saturating_mul(tcb.segment_size);
        self.inflight_longterm = self.inflight_longterm.saturating_add(grown);
        if self.round_start {
            self.raise_slope(tcb);
        }
    }

    /// Whether it has decided on the next state.
    pub(super) fn adapt_long_term_model(&mut self, tcb: &Tcb, rs: &Rs) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_probe_bw() && !rs.is_app_limited && self.max_bw[1] > Rate(0) {
                self.max_bw = [self.max_bw[1], Rate(0)]; // AdvanceMaxBwFilter
            }
            if self.is_in_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if !is_inflight_too_high(rs) && self.inflight_longterm != INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(tcb, rs);
            }
        }
        false
    }

    pub(super) fn handle_inflight_too_high(&mut self, tcb: &Tcb, rs: &Rs) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !rs.is_app_limited {
            let least = times(BETA, self.target_inflight(tcb));
            self.inflight_longterm = inflight_at_loss(rs).max(least);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(tcb, rs.total_delivered);
        }
    }
}
