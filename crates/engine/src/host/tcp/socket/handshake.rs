//! Opening a connection: SYN, SYN-ACK and the ACK of that, and what is done where one of them is lost (RFC 9293 section 3.5).

use super::input::control_flags;
use super::{Environment, RetransmitAction, Socket, State, Timer};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::acks::AckPolicy;
use crate::host::tcp::control::TcpStack;
use crate::host::tcp::profile::{Profile, SynAttempts};
use crate::host::tcp::tcb::CongState;
use crate::packet::{Flags, Packet};

impl<P: Profile> Socket<P> {
    pub(super) fn send_syn<E: Environment>(&mut self, env: &mut E) {
        self.send_control(Flags::SYN.with(self.ecn_request()), env);
    }

    /// A SYN or SYN-ACK leaves, and its timer will be set.  Returns false if the peer is given up instead.
    pub(super) fn await_answer<E: Environment>(
        &mut self,
        seq: Seq,
        flags: Flags,
        env: &mut E,
    ) -> bool {
        if self.agreed.window_scaling {
            self.agreed.receive_shift = self.config.window_shift();
        }
        let is_answer = flags.has(Flags::ACK);
        let Some(timeout) = P::syn_timeout(&self.config, self.sending.syns, is_answer) else {
            self.round_trips.reset();
            self.state = State::Closed;
            self.close_end_point(env);
            return false;
        };
        self.round_trips.rto = timeout;
        let sent = &mut self.sending.syns.sent;
        *sent = sent.saturating_add(1);
        if *sent == 1 {
            self.round_trips.on_syn_sent(seq, self.tcb.now);
        } else {
            self.round_trips.on_retransmitted(seq, 0);
        }
        true
    }

    /// A SYN or SYN-ACK with these flags has timed out.
    pub(super) fn repeat_syn<E: Environment>(&mut self, flags: Flags, env: &mut E) {
        let flags = if flags.has(Flags::ACK) {
            self.repeated_answer(flags)
        } else {
            // It is a loss like others: if the peer agrees to ECN, it is told of it.
            self.ecn.owes_cwr = true;
            self.tcb.handshake_window = 1;
            Flags::SYN.with(self.ecn_request())
        };
        let timeouts = &mut self.sending.syns.timeouts;
        *timeouts = timeouts.saturating_add(1);
        self.send_control(flags, env);
    }

    pub(super) fn on_segment_syn_sent<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let flags = packet.flags;
        let answers = flags.has(Flags::SYN) && flags.has(Flags::ACK);
        if !answers || packet.ack != self.tcb.next_tx_seq + 1 {
            // A port that does not listen answers with an ACK beside the RST, which ns-3 ignores.
            if flags == Flags::RST {
                self.close_and_notify(env);
            }
            return;
        }
        let answer = self.settle_ecn(packet);
        self.establish(env);
        self.receiving.reassembly.set_next_rx(packet.seq + 1);
        self.sync_rx();
        self.update_pacing_rate();
        self.send_control(Flags::ACK.with(answer), env);
        self.send_pending(env);
        self.arm(Timer::Opening, Time::ZERO, env);
        self.receiving.acks.on_established(self.tcb.now);
    }

    /// The SYN is answered in an event of its own, as by a forked socket.
    pub(super) fn complete_fork<E: Environment>(&mut self, env: &mut E) {
        self.sending.syns = SynAttempts::default();
        self.sending.retries_left = self.config.data_retries;
        self.sync_rx();
        self.answer_syn(env);
    }

    pub(super) fn on_segment_syn_rcvd<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let flags = control_flags(packet);
        let completes = flags == Flags::ACK && packet.ack == self.tcb.next_tx_seq + 1;
        if completes || flags == Flags::default() {
            self.establish(env);
            self.receiving.acks.on_established(self.tcb.now);
            self.on_ack(packet, env);
            self.update_pacing_rate();
            self.offer_space(env);
        } else if flags == Flags::SYN {
            self.on_repeated_syn(packet, env);
        } else if flags == Flags::FIN.with(Flags::ACK) {
            if P::STACK == TcpStack::Linux {
                self.establish(env);
                self.receiving.acks.on_established(self.tcb.now);
                self.on_segment_established(packet, env);
            } else if packet.seq == self.receiving.reassembly.next_rx() {
                let state = self.state;
                self.establish(env);
                self.state = state;
                self.on_fin(packet, env);
            }
        } else {
            if flags != Flags::RST {
                self.reset(env);
            }
            self.close_and_notify(env);
        }
    }

    /// Our SYN is acknowledged: data begins one beyond it.
    fn establish<E: Environment>(&mut self, env: &mut E) {
        if P::STACK == TcpStack::Linux && self.tcb.srtt.is_zero() {
            self.round_trips.fall_back();
        }
        self.congestion.set_state(&mut self.tcb, CongState::Open);
        self.set_cong_state(CongState::Open);
        self.state = State::Established;
        self.sending.connected = true;
        self.disarm(Timer::Retransmit, env);
        self.receiving.last_refusal = None;
        self.tcb.next_tx_seq += 1;
        self.tcb.high_tx_mark = self.tcb.next_tx_seq;
        self.sending.scoreboard.set_head(self.tcb.next_tx_seq);
        if P::STACK == TcpStack::Linux {
            self.congestion.begin_slow_start(&self.tcb);
        }
    }

    /// The SYN-ACK was lost, or is late.  Linux's is what it was, and is waited for anew.
    fn on_repeated_syn<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if P::STACK == TcpStack::Ns3 {
            self.receiving.reassembly.set_next_rx(packet.seq + 1);
            self.hear_ecn_request(packet);
            return self.answer_syn(env);
        }
        if let RetransmitAction::Control(flags) = self.retransmit_action
            && self.may_refuse()
        {
            self.disarm(Timer::Retransmit, env);
            self.send_control(self.repeated_answer(flags), env);
        }
    }

    /// RFC 5681 section 3.1: the first window is one segment if a SYN or SYN-ACK was lost.  Linux forgives one (RFC 6298
    /// section 5.7), and all if the answer is to the first of them.
    pub(super) fn heed_lost_syns(&mut self, packet: &Packet) {
        if P::STACK != TcpStack::Linux {
            return;
        }
        let first = self.round_trips.syn_sent().map(|time| time.ms() as u32);
        let answers_first = self.agreed.timestamps && first == Some(packet.ts_ecr);
        if self.sending.syns.sent > 2 && !answers_first {
            self.tcb.cwnd = self.tcb.segment_size;
        }
    }
}
