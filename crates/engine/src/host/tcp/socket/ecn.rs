//! Explicit congestion notification: who asks for it, and what is made of marks that come in.  What is said of them is
//! a [feedback](crate::host::tcp::ecn)'s.

use super::parts::{PriorWindow, Receiving};
use super::{Environment, Socket, State, Timer};
use crate::base::seq::Seq;
use crate::host::tcp::acks::AckPolicy;
use crate::host::tcp::control::{CaEvent, Delivered, TcpStack};
use crate::host::tcp::ecn::{Agreement, ECN_SETUP, Echo, Ect, Leaving};
use crate::host::tcp::ecn_mode::EcnMode;
use crate::host::tcp::loss::{Finding, LossMarks};
use crate::host::tcp::memory::memory_of;
use crate::host::tcp::profile::Profile;
use crate::host::tcp::tcb::{CongState, EcnState, UseEcn};
use crate::packet::{Ecn, EcnOption, Flags, Packet};

/// The handshake.
impl<P: Profile> Socket<P> {
    /// What the flags of a SYN ask for, which may be lost because of that.
    pub(super) fn ecn_request(&self) -> Flags {
        let rules = self.tcb.ecn_mode.rules();
        let gives_up = P::ECN_FALLS_BACK && self.sending.syns.sent >= rules.requests;
        let asks = self.tcb.use_ecn == UseEcn::On && !gives_up;
        if asks { rules.request } else { Flags::default() }
    }

    /// What the flags of a SYN-ACK are that is sent again: from the second timeout on it agrees to nothing.
    pub(super) fn repeated_answer(&self, flags: Flags) -> Flags {
        let gives_up = P::ECN_FALLS_BACK && self.sending.syns.timeouts > 0;
        if gives_up { Flags::SYN.with(Flags::ACK) } else { flags }
    }

    /// A SYN has come.
    pub(super) fn hear_ecn_request(&mut self, packet: &Packet) {
        self.ecn.peer_asks = packet.flags.0 & ECN_SETUP.0 == ECN_SETUP.0;
        if !self.ecn.feedbacks.of(self.tcb.ecn_mode).is_asked_for(packet) {
            self.tcb.ecn_mode = EcnMode::Classic;
        }
    }

    pub(super) fn answer_syn<E: Environment>(&mut self, env: &mut E) {
        let is_agreed = self.tcb.use_ecn != UseEcn::Off && self.ecn.peer_asks;
        let answer = match is_agreed {
            true => self.ecn.feedbacks.of(self.tcb.ecn_mode).answer(),
            false => Flags::default(),
        };
        self.send_control(Flags::SYN.with(Flags::ACK).with(answer), env);
        self.remember_ect();
        self.agree(is_agreed);
    }

    /// A SYN-ACK that is sent again is ECT as the first one was: only what follows it knows what was agreed (Linux).
    fn remember_ect(&mut self) {
        let is_ect = self.tcb.ecn_mode.rules().ect == Ect::Everything;
        self.ecn.repeats_ect = P::STACK == TcpStack::Linux && is_ect;
    }

    #[inline(always)]
    pub(super) fn repeat_ect(&self, packet: &mut Packet) {
        if self.ecn.repeats_ect && packet.flags.has(Flags::SYN) {
            packet.ecn = self.ecn_field(true);
        }
    }

    /// The SYN-ACK has come.  Returns the flags of the ACK that answers it.
    pub(super) fn settle_ecn(&mut self, packet: &Packet) -> Flags {
        let agreement = self.ecn.feedbacks.of(self.tcb.ecn_mode).agreement(packet);
        let answer = match agreement {
            Agreement::Asked(answer) => answer,
            Agreement::Classic | Agreement::NoEcn => Flags::default(),
        };
        if agreement == Agreement::Classic {
            self.tcb.ecn_mode = EcnMode::Classic;
        }
        self.agree(self.tcb.use_ecn != UseEcn::Off && agreement != Agreement::NoEcn);
        answer
    }

    fn agree(&mut self, is_agreed: bool) {
        self.tcb.ecn_state = if is_agreed { EcnState::Idle } else { EcnState::Disabled };
        let rules = self.tcb.ecn_mode.rules();
        if (rules.needs_peer || P::ECN_FALLS_BACK) && !is_agreed {
            self.tcb.ecn_mode = EcnMode::Classic;
        } else if rules.reads_all {
            self.has_shortcuts = false;
        }
    }
}

/// What comes in.
impl<P: Profile> Socket<P> {
    /// RFC 3168 section 6.1.3, RFC 8257 section 3.2.
    pub(super) fn note_ecn<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if P::CWR_ENDS_ECHO && !self.tcb.ecn_mode.rules().reads_all {
            return self.heed_ecn(packet, env);
        }
        // ns-3 heeds a mark that goes forward; where each is counted, each is heeded.
        let is_heeded = self.ecn.ce < packet.seq || self.tcb.ecn_mode.rules().reads_all;
        if packet.ecn == Ecn::Ce && is_heeded {
            self.ecn.ce = packet.seq;
            self.tcb.ecn_state = EcnState::CeRcvd;
            self.cwnd_event(CaEvent::EcnIsCe, env);
        } else if packet.ecn != Ecn::NotEct && self.tcb.ecn_state != EcnState::Disabled {
            self.cwnd_event(CaEvent::EcnNoCe, env);
        }
        // The sender has reacted; go on echoing only if more marks have come.
        if self.state == State::Established
            && packet.flags.has(Flags::CWR)
            && !packet.flags.has(Flags::RST)
            && self.tcb.ecn_state != EcnState::CeRcvd
        {
            self.tcb.ecn_state = EcnState::Idle;
        }
    }

    /// As Linux does it: CWR ends what earlier marks have asked for, though no ACK has told of them yet.  It, a first mark, and
    /// a segment without ECT among others, which has been sent again, are acknowledged soon.
    fn heed_ecn<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if packet.payload == 0 || self.tcb.ecn_state == EcnState::Disabled {
            return;
        }
        let repeats = self.tcb.ecn_mode == EcnMode::Dctcp;
        if packet.flags.has(Flags::CWR) {
            if !repeats && self.tcb.ecn_state.is_echoing() {
                self.tcb.ecn_state = EcnState::Idle;
            }
            self.receiving.acks.on_due();
        }
        match packet.ecn {
            Ecn::NotEct if self.ecn.has_ect => self.receiving.acks.on_mark(),
            Ecn::NotEct => {}
            Ecn::Ce | Ecn::Ect0 | Ecn::Ect1 => {
                let is_marked = packet.ecn == Ecn::Ce;
                let event = if is_marked { CaEvent::EcnIsCe } else { CaEvent::EcnNoCe };
                self.cwnd_event(event, env);
                if repeats {
                    self.repeat_mark(packet, env);
                } else if is_marked && !self.tcb.ecn_state.is_echoing() {
                    self.tcb.ecn_state = EcnState::CeRcvd;
                    self.receiving.acks.on_mark();
                }
            }
        }
        self.ecn.has_ect |= packet.ecn != Ecn::NotEct;
    }

    /// ECE is the mark of what came last.  A change of it is acknowledged at once, and what waits for its ACK before (RFC 8257
    /// section 3.2), unless the algorithm has done that.
    fn repeat_mark<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let is_marked = packet.ecn == Ecn::Ce;
        if is_marked == self.tcb.ecn_state.is_echoing() {
            return;
        }
        let is_pending = self.is_pending(Timer::DelayedAck);
        let Receiving { reassembly, acks, .. } = &mut self.receiving;
        if is_pending && !acks.is_compressing() {
            if packet.seq == reassembly.next_rx() {
                let bytes = packet.payload.into();
                acks.on_arrival(bytes, memory_of(bytes));
            }
            self.send_ack(env);
        }
        self.receiving.acks.on_due();
        self.tcb.ecn_state = if is_marked { EcnState::CeRcvd } else { EcnState::Idle };
    }

    /// An ACK may say that the window is to be reduced.
    pub(super) fn on_ecn_echo(&mut self, packet: &Packet, old_head: Seq, delivered: u32) {
        if self.tcb.ecn_state == EcnState::Disabled {
            return;
        }
        if self.settles_echoes() {
            return self.count_echo(packet, delivered);
        }
        let is_rate_control = self.congestion.is_rate_control();
        let echo = Echo { packet, old_head, delivered, is_rate_control };
        if self.ecn.feedbacks.of(self.tcb.ecn_mode).on_ack(&mut self.tcb, echo) {
            self.enter_cwr(delivered);
        }
    }

    /// Whether echoes are answered once losses are known, by [`Self::answer_echo`].
    #[inline(always)]
    fn settles_echoes(&self) -> bool {
        P::CWR_TELLS_OF_LOSSES
            && self.tcb.ecn_state != EcnState::Disabled
            && !self.tcb.ecn_mode.rules().reads_all
    }

    fn count_echo(&mut self, packet: &Packet, delivered: u32) {
        let has_echo = packet.flags.has(Flags::ECE);
        if self.tcb.ecn_mode == EcnMode::Dctcp {
            let segments = delivered.div_ceil(self.tcb.segment_size);
            let of_ack = Delivered { ack: packet.ack, segments, has_echo };
            self.congestion.algorithm().on_delivered(&self.tcb, of_ack);
        }
        if has_echo {
            self.sending.prior = PriorWindow::default();
            if !self.tcb.ecn_state.is_echoing() {
                self.tcb.ecn_state = EcnState::EceRcvd;
            }
        } else if self.tcb.ecn_state == EcnState::EceRcvd {
            self.tcb.ecn_state = EcnState::Idle;
        }
    }

    /// The window is reduced, if it is not yet.  Repair that has begun with this ACK in CWR (the state `before`) goes on with that
    /// one's window, whose end is no end of it.  Nor is there an answer where an original that was late has ended the repair within
    /// its window (`tcp_try_undo_partial`).
    #[inline(always)]
    pub(super) fn answer_echo(
        &mut self,
        packet: &Packet,
        delivered: u32,
        before: CongState,
        finding: Finding,
    ) {
        if !packet.flags.has(Flags::ECE) || !self.settles_echoes() {
            return;
        }
        self.sending.prior = PriorWindow::default();
        let has_begun = before == CongState::Cwr && self.tcb.cong_state == CongState::Recovery;
        let is_late = before == CongState::Recovery && finding == Finding::Spurious(LossMarks::Go);
        if !has_begun && !is_late {
            self.reduce_for_echo(delivered);
        }
    }

    fn reduce_for_echo(&mut self, delivered: u32) {
        let is_over = self.sending.scoreboard.head() >= self.sending.recover;
        match self.tcb.cong_state {
            CongState::Open | CongState::Disorder => {}
            CongState::Recovery if is_over => {
                self.end_recovery();
                self.settle_window();
            }
            CongState::Loss if is_over => self.enter_open(),
            _ => return,
        }
        self.enter_cwr(delivered);
    }

    /// What came may not wait for more before it is acknowledged.
    #[inline(always)]
    pub(super) fn must_answer_mark(&mut self) -> bool {
        let mode = self.tcb.ecn_mode;
        mode.rules().reads_all && self.ecn.feedbacks.of(mode).is_ack_due()
    }

    fn enter_cwr(&mut self, delivered: u32) {
        let in_flight = self.bytes_in_flight();
        self.tcb.ssthresh = self.congestion.ssthresh(&self.tcb, in_flight);
        self.congestion.on_cwr(&mut self.tcb, CongState::Cwr);
        self.set_cong_state(CongState::Cwr);
        self.sending.recover = self.tcb.high_tx_mark;
        self.begin_episode(delivered);
    }
}

/// What leaves.
impl<P: Profile> Socket<P> {
    /// What the flags of a segment with data say of marks.
    #[inline]
    pub(super) fn ecn_flags(&mut self, seq: Seq, is_retransmission: bool) -> Flags {
        if self.tcb.ecn_state == EcnState::Disabled {
            return Flags::default();
        }
        if P::CWR_TELLS_OF_LOSSES && !self.tcb.ecn_mode.rules().reads_all {
            let tells = !is_retransmission && std::mem::take(&mut self.ecn.owes_cwr);
            return if tells { Flags::CWR } else { Flags::default() };
        }
        let feedback = self.ecn.feedbacks.of(self.tcb.ecn_mode);
        feedback.on_data_sent(&mut self.tcb, seq, is_retransmission)
    }

    /// New data also tells of an episode that is over.
    #[inline(always)]
    pub(super) fn with_owed_cwr(&mut self, seq: Seq, flags: Flags) -> Flags {
        if P::CWR_TELLS_OF_LOSSES { flags.with(self.ecn_flags(seq, false)) } else { flags }
    }

    /// The ECN field of a segment with data.
    #[inline(always)]
    pub(super) fn ecn_of_data(&self, is_retransmission: bool) -> Ecn {
        let is_agreed = self.tcb.ecn_state != EcnState::Disabled;
        let is_new = is_agreed && !is_retransmission;
        self.ecn_field(is_new || self.tcb.ecn_mode.rules().ect != Ect::NewData)
    }

    /// That of a segment without, and of one that is sent to get an answer.
    pub(super) fn ecn_of_control(&self, flags: Flags) -> Ecn {
        let is_ect = match self.tcb.ecn_mode.rules().ect {
            Ect::NewData => false,
            Ect::Agreed => !flags.has(Flags::SYN) && self.tcb.ecn_state != EcnState::Disabled,
            Ect::Everything => true,
        };
        // What answers in TIME_WAIT does not know of the connection's ECN.
        let is_over = P::STACK == TcpStack::Linux && self.state == State::TimeWait;
        self.ecn_field(is_ect && !is_over)
    }

    #[inline(always)]
    fn ecn_field(&self, is_ect: bool) -> Ecn {
        if is_ect { P::ecn(self.tcb.ect, self.config.tos) } else { Ecn::NotEct }
    }

    /// A segment without data, where feedback is not classic.
    #[inline(never)]
    pub(super) fn mark_control(&mut self, packet: &mut Packet) {
        packet.ecn = self.ecn_of_control(packet.flags);
        let says = self.ecn.feedbacks.of(self.tcb.ecn_mode).on_control_sent(packet.flags);
        packet.flags = packet.flags.with(says);
    }

    /// The option of a segment without data that has `room` for it, if it is due.
    pub(super) fn ecn_option_to_send(&mut self, flags: Flags, room: u32) -> Option<EcnOption> {
        let is_first_syn = self.sending.syns.sent == 1;
        let (now, round_trip) = (self.tcb.now, self.tcb.srtt);
        let leaving = Leaving { flags, is_first_syn, room, now, round_trip };
        let feedback = self.ecn.feedbacks.of(self.tcb.ecn_mode);
        if self.config.ecn_option { feedback.option(leaving) } else { None }
    }
}
