//! What happens when a timer fires.

use super::{Environment, RetransmitAction, Socket, State, Timer};
use crate::base::time::Time;
use crate::host::tcp::acks::AckPolicy;
use crate::host::tcp::control::CaEvent;
use crate::host::tcp::loss::{Finding, LossDetection, Timeout};
use crate::host::tcp::pacing::Pacing;
use crate::host::tcp::profile::Profile;
use crate::host::tcp::recovery::AckKind;
use crate::host::tcp::segmentation::Segmentation;
use crate::host::tcp::tcb::{CongState, EcnState};
use crate::packet::Flags;

impl<P: Profile> Socket<P> {
    /// `timer`, set through [`Environment::arm`] before, has fired.
    pub fn on_timer<E: Environment>(&mut self, timer: Timer, now: Time, env: &mut E) {
        self.tcb.now = now;
        self.pending_timers &= !(1 << timer as u16);
        if matches!(timer, Timer::Retransmit | Timer::Persist | Timer::Loss) {
            self.sending.loss.on_timer_end(now);
        }
        match timer {
            Timer::Retransmit => match self.retransmit_action {
                RetransmitAction::Data => self.on_retransmission_timeout(env),
                RetransmitAction::Control(flags) if flags.has(Flags::SYN) => {
                    self.repeat_syn(flags, env)
                }
                RetransmitAction::Control(flags) => self.send_control(flags, env),
            },
            Timer::DelayedAck => {
                self.receiving.acks.on_timer(self.round_trips.rto);
                self.receiving.acks.on_ack_sent();
                self.cwnd_event(CaEvent::DelayedAck, env);
                self.send_ack(env);
            }
            Timer::Persist => self.probe_window(env),
            Timer::LastAck => self.repeat_last_fin(env),
            Timer::TimeWait => self.close_and_notify(env),
            Timer::SendPending | Timer::Pacing => self.send_pending(env),
            Timer::Opening if self.receiving.is_sink => self.complete_fork(env),
            Timer::Opening => {
                env.connected();
                self.offer_space(env);
            }
            Timer::Resequencing => self.hand_on(env),
            Timer::Loss => self.on_loss_timer(env),
        }
        self.settle_loss_timer(env);
    }

    /// As if one segment had come: what is lost may not all leave at once.
    #[cold]
    fn on_loss_timer<E: Environment>(&mut self, env: &mut E) {
        self.sending.loss_due = None;
        let finding = self.detect(|loss, flight| loss.on_timer(flight));
        let (segment, before) = (self.tcb.segment_size, self.tcb.cong_state);
        self.heed(finding, segment, env);
        if before == CongState::Cwr && self.tcb.cong_state == CongState::Recovery {
            self.sending.has_stepped = false;
            self.step_recovery(segment, AckKind::Duplicate);
        }
        if finding == Finding::LostAgain {
            self.send_lost(env);
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
        let is_repeated = self.sending.retries_left < self.config.data_retries;
        self.sending.retries_left -= 1;

        let timeout = Timeout { reduces: self.timeout_reduces(is_repeated), is_repeated };
        if timeout.reduces {
            self.remember_window();
        }
        let in_flight = self.bytes_in_flight();
        self.sending.dup_acks = 0;
        self.ecn.owes_cwr = true;
        self.detect(|loss, flight| loss.on_timeout(flight, timeout));
        self.sending.recover = self.tcb.high_tx_mark;
        self.sending.is_recover_active = true;
        self.round_trips.rto = doubled::<P>(self.round_trips.rto); // RFC 6298 section 5.5
        self.round_trips.forget_flight(&self.sending.scoreboard);
        if timeout.reduces {
            self.tcb.ssthresh = self.congestion.ssthresh(&self.tcb, in_flight);
            self.cwnd_event(CaEvent::Loss, env);
        }
        self.congestion.set_state(&mut self.tcb, CongState::Loss);
        self.set_cong_state(CongState::Loss);
        self.tcb.cwnd = self.tcb.segment_size;
        if !P::Pacing::BY_BURSTS {
            self.disarm(Timer::Pacing, env);
        }
        let in_flight = self.bytes_in_flight();
        if P::Loss::LEAVES_IN_FLIGHT {
            self.tcb.cwnd += in_flight;
            self.note_window();
            self.send_first_again(env);
        }
        self.send_pending(env);
        self.bytes_in_flight();
        if P::Loss::REPLACES_RTO && !self.is_pending(Timer::Retransmit) {
            self.arm_retransmit(RetransmitAction::Data, env);
        }
    }

    /// Whatever else is in flight, a timeout sends the first segment again: retransmissions that are there for nothing might hold
    /// it back for ever.
    fn send_first_again<E: Environment>(&mut self, env: &mut E) {
        if self.available_window() >= self.tcb.segment_size {
            self.sending.segmentation.leaves_alone();
            let head = self.sending.scoreboard.head();
            self.tcb.next_tx_seq = head;
            self.tell_of_start();
            let sent = self.send_data(head, self.tcb.segment_size, Flags::ACK, env);
            self.tcb.next_tx_seq += sent;
        }
    }

    /// RFC 5681 section 3.1: not again for what has been sent again, and once for each episode.
    fn timeout_reduces(&self, is_repeated: bool) -> bool {
        let is_over = self.sending.scoreboard.head() >= self.sending.recover;
        P::EVERY_TIMEOUT_SETS_SSTHRESH
            || match self.tcb.cong_state {
                CongState::Open | CongState::Disorder => true,
                CongState::Cwr | CongState::Recovery => is_over,
                CongState::Loss => is_over || !is_repeated,
            }
    }

    /// The timer of loss detection is set for when it wants to be called.
    #[inline(always)]
    pub(super) fn settle_loss_timer<E: Environment>(&mut self, env: &mut E) {
        if !P::Loss::HAS_TIMER {
            return;
        }
        let due = self.sending.loss.deadline().filter(|_| self.open);
        if due != self.sending.loss_due {
            self.disarm(Timer::Loss, env);
            self.sending.loss_due = due;
            if let Some(due) = due {
                self.arm(Timer::Loss, due.max(self.tcb.now) - self.tcb.now, env);
            }
        }
        if P::Loss::REPLACES_RTO {
            self.settle_rto(due.is_some(), env);
            self.sending.loss.on_timers_settled();
        }
    }

    /// One of both timers runs.  That of retransmission goes on as if it had started with the first segment.
    fn settle_rto<E: Environment>(&mut self, is_replaced: bool, env: &mut E) {
        if is_replaced {
            if self.retransmit_action == RetransmitAction::Data {
                self.disarm(Timer::Retransmit, env);
            }
            return;
        }
        let is_due = self.open
            && self.state >= State::Established
            && self.sending.scoreboard.sent_size() > 0
            && !self.is_pending(Timer::Retransmit)
            && !self.is_pending(Timer::Persist);
        if is_due && let Some(left) = self.sending.scoreboard.oldest_departure() {
            let end = (left + self.round_trips.rto).max(self.tcb.now + Time(1));
            self.retransmit_action = RetransmitAction::Data;
            self.arm_ticking(Timer::Retransmit, end - self.tcb.now, env);
        }
    }

    /// RFC 9293 section 3.8.6.1: one byte beyond a closed window, at growing intervals.
    fn probe_window<E: Environment>(&mut self, env: &mut E) {
        self.sending.persist_timeout = doubled::<P>(self.sending.persist_timeout);
        let seq = self.tcb.next_tx_seq;
        self.round_trips.keep(seq, 1, &self.sending.scoreboard);
        if self.sending.scoreboard.take(1, seq, self.tcb.now).is_some() {
            self.sending.scoreboard.take_back_last();
            let window = self.window_field(self.agreed.receive_shift);
            let mut packet = self.segment(seq, Flags::default(), window, 1);
            if self.tcb.ecn_state == EcnState::Disabled {
                // ns-3 marks a probe for the sake of ECN, or not at all.
                packet.options = packet.options.without_service();
            } else {
                packet.ecn = self.ecn_of_control(packet.flags);
            }
            env.transmit(packet);
        }
        self.arm_ticking(Timer::Persist, self.sending.persist_timeout, env);
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

fn doubled<P: Profile>(timeout: Time) -> Time {
    (timeout + timeout).min(P::LONGEST_TIMEOUT)
}
