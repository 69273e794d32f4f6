//! What the model allows: pacing rate and cwnd (section 5.6).

use super::*;

impl Bbr3 {
    pub(super) fn init_pacing_rate(&mut self, tcb: &mut Tcb) {
        let rtt = if tcb.srtt.is_zero() { Time::from_ms(1) } else { tcb.srtt };
        let window = f64::from(tcb.initial_cwnd) * f64::from(tcb.segment_size) * 8.0;
        let rate = Rate((STARTUP_PACING_GAIN * window / rtt.secs_f64()) as u64);
        tcb.pacing_rate = rate.clamp(Rate(1), tcb.max_pacing_rate);
    }

    pub(super) fn set_pacing_rate(&mut self, tcb: &mut Tcb, gain: f64) {
        let rate = Rate((gain * self.bw.0 as f64 * (1.0 - PACING_MARGIN)) as u64);
        if rate > Rate(0) && (self.full_bw_reached || rate > tcb.pacing_rate) {
            tcb.pacing_rate = rate.min(tcb.max_pacing_rate);
        }
    }

    /// BDPMultiple of section 5.6.4.2.
    pub(super) fn bdp(&self, bw: Rate, gain: f64, tcb: &Tcb) -> u32 {
        if self.min_rtt == Time::MAX {
            return tcb.initial_cwnd * tcb.segment_size;
        }
        (gain * bw.0 as f64 * self.min_rtt.secs_f64() / 8.0) as u32
    }

    pub(super) fn inflight(&self, bw: Rate, gain: f64, tcb: &Tcb) -> u32 {
        self.quantized(self.bdp(bw, gain, tcb), tcb)
    }

    pub(super) fn quantized(&self, cap: u32, tcb: &Tcb) -> u32 {
        let cap = cap.max(MIN_PIPE_SEGMENTS * tcb.segment_size);
        if self.state == State::Up { cap.saturating_add(2 * tcb.segment_size) } else { cap }
    }

    pub(super) fn set_cwnd(&mut self, tcb: &mut Tcb, rs: &Rs) {
        let extra = self.extra_acked.max().0 as u32;
        let most = self.bdp(self.bw, self.cwnd_gain, tcb).saturating_add(extra);
        let most = self.quantized(most, tcb);
        let grown = tcb.cwnd.saturating_add(rs.newly_acked);
        let initial = u64::from(tcb.initial_cwnd * tcb.segment_size);
        if self.full_bw_reached {
            tcb.cwnd = grown.min(most);
        } else if tcb.cwnd < most || rs.total_delivered < initial {
            tcb.cwnd = grown;
        }
        let least = MIN_PIPE_SEGMENTS * tcb.segment_size;
        tcb.cwnd = tcb.cwnd.max(least);
        if self.state == State::ProbeRtt {
            tcb.cwnd = tcb.cwnd.min(self.probe_rtt_cwnd(tcb));
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(tcb),
            State::Startup | State::Drain => INFINITY,
        };
        tcb.cwnd = tcb.cwnd.min(cap.min(self.inflight_shortterm).max(least));
    }
}
