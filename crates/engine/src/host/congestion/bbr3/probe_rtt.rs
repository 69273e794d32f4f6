//! ProbeRTT: lowers what is in flight, so that the path shows its least round trip (section 5.3.4).

use super::*;

impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self, tcb: &Tcb, rs: &Rs) {
        self.probe_rtt_expired = tcb.now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rs.rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = tcb.now;
        }
        let is_old = tcb.now > self.min_rtt_stamp + MIN_RTT_FILTER;
        if self.probe_rtt_min_delay < self.min_rtt || is_old {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    pub(super) fn check_probe_rtt(&mut self, tcb: &mut Tcb, rs: &Rs) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(tcb);
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = PROBE_RTT_CWND_GAIN;
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.next_round_delivered = rs.total_delivered;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(tcb, rs);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    pub(super) fn handle_probe_rtt(&mut self, tcb: &mut Tcb, rs: &Rs) {
        self.limited_until = rs.total_delivered + u64::from(tcb.bytes_in_flight);
        if self.probe_rtt_done_stamp.is_none() {
            if tcb.bytes_in_flight <= self.probe_rtt_cwnd(tcb) {
                self.probe_rtt_done_stamp = Some(tcb.now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.next_round_delivered = rs.total_delivered;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(tcb);
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, tcb: &mut Tcb) {
        if self.probe_rtt_done_stamp.is_none_or(|done| tcb.now <= done) {
            return;
        }
        self.probe_rtt_min_stamp = tcb.now;
        tcb.cwnd = tcb.cwnd.max(self.prior_cwnd);
        self.bw_shortterm = Rate(u64::MAX);
        self.inflight_shortterm = INFINITY;
        if self.full_bw_reached {
            self.start_down(tcb, self.delivered);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    pub(super) fn probe_rtt_cwnd(&self, tcb: &Tcb) -> u32 {
        self.bdp(self.bw, PROBE_RTT_CWND_GAIN, tcb).max(MIN_PIPE_SEGMENTS * tcb.segment_size)
    }
}
