//! What happens when a timer fires.

use super::{Environment, RetransmitAction, Socket, State, Timer};
use crate::packet::Flags;
use crate::tcp::control::CaEvent;
use crate::tcp::scoreboard::SackMarks;
use crate::tcp::tcb::{CongState, EcnMode, EcnState};
use crate::time::Time;

/// RFC 6298 section 2.5 allows a maximum of at least 60 s; also the longest persist interval.
const MAX_TIMEOUT: Time = Time::from_secs(60);

impl Socket {
    /// `timer`, set through [`Environment::arm`] before, has fired.
    pub fn on_timer<E: Environment>(&mut self, timer: Timer, now: Time, env: &mut E) {
        self.tcb.now = now;
        self.pending_timers &= !(1 << timer as u16);
        match timer {
            Timer::Retransmit => match self.retransmit_action {
                RetransmitAction::Data => self.on_retransmission_timeout(env),
                RetransmitAction::Control(flags) => self.send_control(flags, env),
            },
            Timer::DelayedAck => {
                self.receiving.delayed_acks = 0;
                self.cwnd_event(CaEvent::DelayedAck, env);
                self.send_ack(env);
            }
            Timer::Persist => self.probe_window(env),
            Timer::LastAck => self.repeat_last_fin(env),
            Timer::TimeWait => self.close_and_notify(env),
            Timer::SendPending | Timer::Pacing => self.send_pending(env),
            Timer::CompleteFork => self.complete_fork(env),
            Timer::Connected => {
                env.connected();
                self.offer_space(env);
            }
        }
    }

    fn on_retransmission_timeout<E: Environment>(&mut self, env: &mut E) {
        if self.sending.scoreboard.size() == 0 {
            if matches!(self.state, State::FinWait1 | State::Closing) {
                self.send_control(Flags::FIN, env); // the FIN itself was lost
            }
            return;
        }
        if self.sending.retries_left == 0 {
            self.close_end_point(env);
            return;
        }
        self.sending.retries_left -= 1;

        let in_flight = self.bytes_in_flight();
        self.sending.dup_acks = 0;
        if !self.agreed.sack {
            self.sending.scoreboard.reset_reno_sack();
        }
        // RFC 6675 section 5.1; SACK marks are kept (errata 1610), the head counts as lost.
        let marks = if self.agreed.sack { SackMarks::Kept } else { SackMarks::Guessed };
        self.sending.scoreboard.mark_all_lost(marks);
        self.sending.recover = self.tcb.high_tx_mark;
        self.sending.is_recover_active = true;
        self.round_trips.rto = (self.round_trips.rto + self.round_trips.rto).min(MAX_TIMEOUT); // RFC 6298 section 5.5
        self.round_trips.forget_flight();
        // RFC 5681 section 3.1: not again for a segment that a timeout has sent before.  The marks
        // have just been cleared, so that in effect every timeout sets ssthresh.
        if self.tcb.cong_state != CongState::Loss
            || !self.sending.scoreboard.is_head_retransmitted()
        {
            self.tcb.ssthresh = self.congestion.algorithm().ssthresh(&self.tcb, in_flight);
        }
        self.cwnd_event(CaEvent::Loss, env);
        self.congestion.algorithm().set_state(&mut self.tcb, CongState::Loss);
        self.set_cong_state(CongState::Loss);
        self.tcb.cwnd = self.tcb.segment_size;
        self.disarm(Timer::Pacing, env);
        self.bytes_in_flight();
        self.send_pending(env);
        self.bytes_in_flight();
    }

    /// RFC 9293 section 3.8.6.1: one byte beyond a closed window, at growing intervals.
    fn probe_window<E: Environment>(&mut self, env: &mut E) {
        self.sending.persist_timeout =
            (self.sending.persist_timeout + self.sending.persist_timeout).min(MAX_TIMEOUT);
        let seq = self.tcb.next_tx_seq;
        if self.sending.scoreboard.take(1, seq, self.tcb.now).is_some() {
            self.sending.scoreboard.take_back_last();
            let window = self.window_field(self.agreed.receive_shift);
            let mut packet = self.segment(seq, Flags::default(), window, 1);
            let dctcp = self.tcb.ecn_mode == EcnMode::Dctcp;
            if self.tcb.ecn_state == EcnState::Disabled {
                // ns-3 marks a probe for the sake of ECN, or not at all.
                packet.options = packet.options.without_service();
            } else {
                packet.ecn = self.ecn_field(dctcp);
            }
            env.transmit(packet);
        }
        self.arm(Timer::Persist, self.sending.persist_timeout, env);
    }

    fn repeat_last_fin<E: Environment>(&mut self, env: &mut E) {
        if self.state != State::LastAck {
            return;
        }
        if self.sending.retries_left == 0 {
            self.close_end_point(env);
            return;
        }
        self.sending.retries_left -= 1;
        self.send_control(Flags::FIN.with(Flags::ACK), env);
        self.arm(Timer::LastAck, self.round_trips.timeout(), env);
    }
}
