//! An episode of loss recovery: how it begins, ends or is undone, and what loss detection asks for besides (RFC 6675,
//! RFC 8985, RFC 5682).

use super::parts::{Next, PriorWindow};
use super::{Environment, RetransmitAction, Socket, Timer};
use crate::host::tcp::control::CaEvent;
use crate::host::tcp::loss::{Finding, LossDetection, LossMarks};
use crate::host::tcp::profile::Profile;
use crate::host::tcp::recovery::{AckKind, Episode};
use crate::host::tcp::segmentation::Segmentation;
use crate::host::tcp::tcb::{CongState, Tcb};
use crate::host::tcp::validation::WindowValidation;
use crate::packet::Flags;

impl<P: Profile> Socket<P> {
    /// Does what loss detection asks for; `delivered` bytes are newly acknowledged or SACKed.
    #[inline(always)]
    pub(super) fn heed<E: Environment>(&mut self, finding: Finding, delivered: u32, env: &mut E) {
        match finding {
            Finding::Nothing => {}
            Finding::Lost | Finding::LostAgain => self.on_loss_found(finding, delivered, env),
            Finding::Probe => self.probe_for_losses(env),
            Finding::Spurious(marks) => {
                self.undo(marks);
                let found_before = self.sending.scoreboard.found_lost();
                let finding = self.detect(|loss, flight| loss.on_undone(flight));
                let is_more_lost = self.sending.scoreboard.found_lost() > found_before;
                self.tcb.is_retrans_data_acked &= !is_more_lost;
                self.heed(finding, delivered, env);
            }
            Finding::Forward | Finding::Doubtful => self.sending.next = Next::New,
            Finding::Repaired => self.reduce_at_once(),
        }
    }

    fn on_loss_found<E: Environment>(&mut self, finding: Finding, delivered: u32, env: &mut E) {
        self.bytes_in_flight();
        let is_over = self.sending.scoreboard.head() >= self.sending.recover;
        match self.tcb.cong_state {
            CongState::Recovery if is_over => {
                self.end_recovery();
                self.settle_window();
            }
            CongState::Loss if finding == Finding::LostAgain => {}
            CongState::Recovery | CongState::Loss => return,
            _ => {}
        }
        self.enter_recovery(delivered, env);
    }

    /// The congestion control's answer to a loss, without an episode.  The window was full when that was lost.
    #[cold]
    fn reduce_at_once(&mut self) {
        self.tcb.ssthresh = self.congestion.ssthresh(&self.tcb, self.tcb.cwnd);
        self.ecn.owes_cwr = true;
        for state in [CongState::Cwr, CongState::Open] {
            self.congestion.on_cwr(&mut self.tcb, state);
            self.set_cong_state(state);
        }
        self.congestion.complete_cwr(&mut self.tcb);
        self.note_window();
    }

    /// RFC 8985 section 7.3: new data if the peer's window has room for it, or else the last segment again.
    fn probe_for_losses<E: Environment>(&mut self, env: &mut E) {
        let scoreboard = &self.sending.scoreboard;
        let size = self.tcb.segment_size;
        let next = scoreboard.unsent().min(size);
        let has_room = scoreboard.sent_size() + next.max(1) <= self.sending.window;
        if next > 0 && has_room {
            self.send_new_as_probe(env);
        } else if self.sending.is_closing && has_room {
            self.sending.is_closing = false;
            self.close(env);
        } else if let Some(last) = scoreboard.last_sent() {
            self.sending.segmentation.leaves_alone();
            self.send_data(last, size, Flags::ACK, env);
        }
        self.ask(|loss, _| loss.on_probe_sent());
        // RFC 8985 section 7.3: the timeout waits for what the probe brings.
        self.disarm(Timer::Retransmit, env);
        self.arm_retransmit(RetransmitAction::Data, env);
    }

    /// An episode is about to reduce the window.
    pub(super) fn remember_window(&mut self) {
        let Tcb { cwnd, ssthresh, segment_size, .. } = self.tcb;
        // Three quarters of it are known to be right (Linux's `tcp_current_ssthresh`).
        let window = cwnd / segment_size;
        let known = (window / 2 + window / 4) * segment_size;
        let ssthresh = if P::STEPS_ONCE_AN_ACK { ssthresh.max(known) } else { ssthresh };
        self.sending.prior = PriorWindow { cwnd, ssthresh };
    }

    /// The episode was for nothing: window and threshold become what they were (RFC 5682, RFC 3708, RFC 4015; Linux's
    /// `tcp_undo_cwnd_reduction`).
    #[cold]
    fn undo(&mut self, marks: LossMarks) {
        let PriorWindow { cwnd, ssthresh } = self.sending.prior;
        if ssthresh > 0 {
            self.tcb.cwnd = self.congestion.algorithm().undo(&self.tcb, cwnd);
        }
        self.note_window();
        if ssthresh > self.tcb.ssthresh {
            self.tcb.ssthresh = ssthresh;
            self.ecn.owes_cwr = false;
        }
        // It may have ended before the last duplicate was reported.
        if matches!(self.tcb.cong_state, CongState::Recovery | CongState::Loss) {
            if marks == LossMarks::Go {
                self.sending.scoreboard.unmark_lost();
            }
            self.sending.dup_acks = 0;
            self.sending.is_recover_active = false;
            self.sending.is_first_partial_ack = true;
            // Of an episode that has not come to its end the algorithm is told none (Linux's `tcp_try_undo_partial`).
            let is_within = self.sending.scoreboard.head() < self.sending.recover;
            match self.tcb.cong_state {
                CongState::Recovery if is_within => self.open_as_may_be(),
                CongState::Recovery => self.end_recovery(),
                _ => self.enter_open(),
            }
        }
        self.bytes_in_flight();
    }

    /// RFC 6675 section 5, step (4): fast retransmit.
    pub(super) fn enter_recovery<E: Environment>(&mut self, delivered: u32, env: &mut E) {
        let is_reduced = P::CWR_TELLS_OF_LOSSES && self.tcb.cong_state == CongState::Cwr;
        if is_reduced {
            self.sending.prior = PriorWindow::default();
        } else {
            self.remember_window();
            self.sending.recover = self.tcb.high_tx_mark;
        }
        self.detect(|loss, flight| loss.on_recovery(flight));
        self.sending.is_recover_active = true;
        self.congestion.set_state(&mut self.tcb, CongState::Recovery);
        self.set_cong_state(CongState::Recovery);
        if is_reduced {
            return;
        }
        self.reduce_for_loss(delivered);
        if P::STEPS_ONCE_AN_ACK {
            // It may have been sent again before, by the episode that has just ended.
            let is_waiting = self.sending.scoreboard.next_lost().is_some();
            if is_waiting && !self.congestion.is_rate_control() {
                self.retransmit_next(env);
            }
        } else {
            self.send_data(self.sending.highest_ack, self.tcb.segment_size, Flags::ACK, env);
        }
    }

    fn reduce_for_loss(&mut self, delivered: u32) {
        let mut in_flight = self.bytes_in_flight();
        if !self.agreed.sack {
            in_flight += self.tcb.segment_size; // the head counts, as it did before SACK
        }
        self.tcb.ssthresh = self.congestion.ssthresh(&self.tcb, in_flight);
        self.begin_episode(delivered);
    }

    pub(super) fn begin_episode(&mut self, delivered: u32) {
        let episode = Episode {
            unacked: self.unacked_bytes(),
            sacked: self.sending.scoreboard.sacked_out(),
            delivered,
            window: P::REDUCES_SHARE_OF_WINDOW.then_some(self.tcb.cwnd),
            has_sack: self.agreed.sack,
        };
        self.ecn.owes_cwr = true;
        self.congestion.enter(&mut self.tcb, episode);
        if P::STEPS_ONCE_AN_ACK {
            self.sending.has_stepped = true;
        }
    }

    /// An ACK in an episode: what has come lets something leave.
    #[inline(always)]
    pub(super) fn step_recovery(&mut self, delivered: u32, kind: AckKind) {
        if P::STEPS_ONCE_AN_ACK && std::mem::replace(&mut self.sending.has_stepped, true) {
            return;
        }
        self.congestion.on_ack(&mut self.tcb, delivered, kind);
    }

    pub(super) fn end_recovery(&mut self) {
        self.congestion.algorithm().cwnd_event(&mut self.tcb, CaEvent::CompleteCwr);
        self.sending.dup_acks = 0;
        self.sending.is_first_partial_ack = true;
        self.enter_open();
    }

    /// The window after an episode: not of who has it alone, but that ns-3's takes it there, too.
    pub(super) fn settle_window(&mut self) {
        if !P::STEPS_ONCE_AN_ACK || !self.congestion.is_rate_control() {
            self.tcb.cwnd = self.tcb.ssthresh;
        }
        self.note_window();
    }

    /// It has been set, or might have grown.
    #[inline(always)]
    pub(super) fn note_window(&mut self) {
        if P::Validation::IS_ACTIVE {
            self.sending.validation.on_window_set(self.tcb.now);
        }
    }

    pub(super) fn enter_open(&mut self) {
        self.congestion.set_state(&mut self.tcb, CongState::Open);
        self.set_cong_state(CongState::Open);
    }
}
