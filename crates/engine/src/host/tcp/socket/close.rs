//! Closing: FIN in both directions, TIME_WAIT, resets (RFC 9293 section 3.6).

use super::input::is_mere;
use super::parts::{Agreed, Receiving};
use super::{Environment, Socket, State, Timer};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::acks::AckPolicy;
use crate::host::tcp::control::TcpStack;
use crate::host::tcp::profile::Profile;
use crate::host::tcp::reassembly::Reassembly;
use crate::host::tcp::segmentation::Segmentation;
use crate::packet::{Flags, Packet};

impl<P: Profile> Socket<P> {
    /// The application closes: at once, or when its data is sent.
    pub fn close<E: Environment>(&mut self, env: &mut E) {
        self.statistics.close(self.tcb.now);
        if self.sending.scoreboard.size_from(self.tcb.next_tx_seq) > 0 {
            self.sending.close_on_empty = true;
            return;
        }
        if P::STACK == TcpStack::Linux && self.sending.connected {
            return self.queue_fin(env);
        }
        match self.state {
            State::SynRcvd | State::Established => {
                self.send_control(Flags::FIN, env);
                self.state = State::FinWait1;
            }
            State::CloseWait => {
                self.send_control(Flags::FIN.with(Flags::ACK), env);
                self.state = State::LastAck;
            }
            State::SynSent | State::Closing => {
                self.reset(env);
                self.close_and_notify(env);
            }
            State::Listen => self.close_and_notify(env),
            _ => {}
        }
    }

    /// The application closes right after it has written.
    pub fn close_behind_write<E: Environment>(&mut self, env: &mut E) {
        if P::STACK == TcpStack::Linux && self.is_pending(Timer::SendPending) {
            self.sending.is_closing = true;
        } else {
            self.close(env);
        }
    }

    /// What was written before the application closed has left, as far as it could: the FIN goes with the rest, or by itself where
    /// cwnd allows (Linux's `tcp_send_fin`).
    #[cold]
    pub(super) fn close_behind_data<E: Environment>(&mut self, env: &mut E) {
        if self.sending.scoreboard.unsent() == 0 && self.available_window() == 0 {
            return;
        }
        self.sending.is_closing = false;
        self.close(env);
    }

    /// All data has left: the FIN does, behind it, and is lost and found as data is.
    fn queue_fin<E: Environment>(&mut self, env: &mut E) {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            _ => return,
        };
        self.sending.has_fin = true;
        self.sending.scoreboard.add(1);
        self.sending.segmentation.leaves_alone();
        self.tcb.next_tx_seq = self.tcb.high_tx_mark;
        let sent = self.send_data(self.tcb.high_tx_mark, 1, Flags::ACK, env);
        self.tcb.next_tx_seq += sent;
        self.settle_loss_timer(env);
    }

    /// The receiving application closes its connection and stops listening.  Data that it has not been
    /// given yet is lost, which resets the connection (RFC 9293 section 3.6.1).  Of a connection that is
    /// not complete yet it knows nothing.
    pub fn close_sink<E: Environment>(&mut self, now: Time, env: &mut E) {
        self.tcb.now = now;
        self.receiving.is_listening = false;
        if !self.open || self.state == State::SynRcvd {
            return;
        }
        if self.receiving.reassembly.has_gap() {
            self.reset(env);
        } else {
            self.close(env);
        }
    }

    /// It is reported in a SACK, and as a duplicate if it comes again.  Without data it is held as a segment is.
    fn hear_fin_beyond_hole(&mut self, packet: &Packet, is_again: bool) {
        let seq = packet.seq + u32::from(packet.payload);
        let block = (seq, seq + 1);
        let Receiving { reassembly, acks, .. } = &mut self.receiving;
        reassembly.report_again(block);
        if packet.payload > 0 {
            return;
        }
        if is_again {
            acks.on_duplicate(block, reassembly.next_rx());
        } else if reassembly.hold_fin(seq) {
            acks.on_held_fin(reassembly.held_memory());
        }
    }

    /// A FIN, alone or with data.
    pub(super) fn on_fin<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if packet.seq < self.receiving.reassembly.next_rx()
            || packet.seq > self.receiving.reassembly.max_rx()
        {
            return;
        }
        let seq = packet.seq + u32::from(packet.payload);
        let is_again = self.receiving.reassembly.got_fin();
        self.receiving.reassembly.set_fin(seq);
        self.sync_rx();
        let next = self.receiving.reassembly.next_rx();
        let is_beyond_hole = packet.seq > next;
        if P::Acks::REPORTS_DUPLICATES && is_beyond_hole {
            self.hear_fin_beyond_hole(packet, is_again);
        }
        if packet.payload > 0 {
            self.on_data(packet, env);
        } else if P::Acks::COMPRESSES && is_beyond_hole && !self.compresses(env) {
            self.send_ack(env);
        }
        if !self.receiving.reassembly.finished() {
            return;
        }
        if self.state == State::FinWait1 {
            self.state = State::Closing; // both ends close at once
            return;
        }
        self.on_peer_closed(false, env);
    }

    /// Everything up to the peer's FIN has arrived; a sink has nothing to say and closes, too.  `is_filled`: what was
    /// lost before the FIN has come.
    pub(super) fn on_peer_closed<E: Environment>(&mut self, is_filled: bool, env: &mut E) {
        self.state = State::CloseWait;
        if self.receiving.is_sink {
            let is_new = self.receiving.reassembly.next_rx() > self.receiving.highest_ack_sent;
            if is_new && self.receiving.acks.on_fin(is_filled) {
                self.send_ack(env);
            }
            self.close(env);
        } else {
            self.send_control(Flags::ACK, env);
        }
        // In Linux the timer of retransmission repeats a FIN.
        if self.state == State::LastAck && P::STACK == TcpStack::Ns3 {
            self.sending.retries_left = self.config.data_retries;
            self.arm(Timer::LastAck, self.round_trips.timeout(), env);
        }
    }

    /// FIN_WAIT_1, FIN_WAIT_2 and CLOSE_WAIT.
    pub(super) fn on_segment_closing<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let flags =
            packet.flags.without(Flags(Flags::PSH.0 | Flags::URG.0 | Flags::CWR.0 | Flags::ECE.0));
        let acks_fin = self.tcb.high_tx_mark + u32::from(!self.sending.has_fin);
        if flags == Flags::ACK {
            self.on_ack(packet, env);
            if self.state == State::FinWait1
                && self.sending.scoreboard.size() == 0
                && packet.ack == acks_fin
            {
                self.state = State::FinWait2;
            }
        } else if flags == Flags::FIN.with(Flags::ACK) {
            self.on_ack(packet, env);
            self.receiving.reassembly.set_fin(packet.seq);
            self.sync_rx();
        } else if flags == Flags::SYN || flags == Flags::SYN.with(Flags::ACK) {
            return;
        } else {
            if flags != Flags::RST {
                self.reset(env);
            }
            self.close_and_notify(env);
            return;
        }
        let waiting = matches!(self.state, State::FinWait1 | State::FinWait2);
        if waiting && self.receiving.reassembly.finished() {
            if self.state == State::FinWait1 {
                let is_acked = self.sending.scoreboard.size() == 0 && packet.ack == acks_fin;
                self.state = if is_acked { State::FinWait2 } else { State::Closing };
            }
            let is_over = self.state == State::FinWait2;
            if P::STACK == TcpStack::Linux {
                self.send_control(Flags::ACK, env); // by the connection, with its ECN
            }
            if is_over {
                self.enter_time_wait(env);
            }
            if P::STACK == TcpStack::Ns3 {
                self.send_control(Flags::ACK, env);
            }
        }
    }

    pub(super) fn on_segment_in_closing<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let flags = packet.flags.without(Flags(Flags::PSH.0 | Flags::URG.0));
        if flags == Flags::ACK {
            if packet.seq == self.receiving.reassembly.next_rx() {
                self.enter_time_wait(env);
            }
            return;
        }
        if flags == Flags::FIN.with(Flags::ACK) {
            self.send_control(Flags::ACK, env);
        }
        self.close_and_notify(env);
    }

    pub(super) fn on_segment_in_last_ack<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let flags = packet.flags.without(Flags(Flags::PSH.0 | Flags::URG.0));
        // ns-3 does not ask whether it acknowledges the FIN.
        let is_early = P::STACK == TcpStack::Linux && packet.ack < self.tcb.high_tx_mark;
        if flags == Flags::ACK && (is_early || packet.seq != self.receiving.reassembly.next_rx()) {
            return;
        }
        if flags != Flags::RST && flags != Flags::ACK && flags != Flags::FIN.with(Flags::ACK) {
            self.reset(env);
        }
        self.close_and_notify(env);
    }

    /// The ACK of the peer's FIN was lost (RFC 9293 section 3.10.7.4, eighth).
    pub(super) fn on_segment_in_time_wait<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if packet.flags.has(Flags::RST) {
            self.close_and_notify(env);
        } else if packet.flags.has(Flags::FIN) {
            self.answer_in_time_wait(packet, env);
        }
    }

    /// It is not what is expected, so its sender has not heard of the end.
    pub(super) fn answer_in_time_wait<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        self.enter_time_wait(env);
        self.receiving.acks.on_time_wait();
        if !is_mere(packet) || self.may_refuse() {
            self.send_control(Flags::ACK, env);
        }
    }

    pub(super) fn reset<E: Environment>(&mut self, env: &mut E) {
        self.send_control(Flags::RST, env);
        self.close_end_point(env);
    }

    pub(super) fn close_and_notify<E: Environment>(&mut self, env: &mut E) {
        self.disarm(Timer::LastAck, env);
        self.state = State::Closed;
        self.close_end_point(env);
    }

    /// The end point is gone.  The port of a sink that has not closed goes on listening, for a SYN that
    /// was repeated.
    pub(super) fn close_end_point<E: Environment>(&mut self, env: &mut E) {
        if !self.open {
            return;
        }
        self.disarm_all(env);
        if self.receiving.is_listening {
            self.listen_again();
        } else {
            self.open = false;
            self.has_shortcuts = false;
        }
    }

    /// As ns-3's listening socket, which took no part in the connection that is over, but has the timestamps
    /// of the SYNs.
    fn listen_again(&mut self) {
        self.state = State::Listen;
        self.sending.connected = false;
        self.agreed = Agreed::new(&self.config);
        let heard = self.receiving.heard;
        self.agreed.timestamp_to_echo = heard.to_echo;
        (self.tcb.rcv_timestamp, self.tcb.rcv_timestamp_echo) = (heard.largest, 0);
        let window = P::largest_window(&self.config);
        self.receiving.reassembly = Reassembly::new(window).counting_memory(P::Acks::COUNTS_MEMORY);
        self.sync_rx();
        self.tcb.next_tx_seq = Seq(0);
        self.tcb.high_tx_mark = Seq(0);
        self.sending.scoreboard.set_head(Seq(0));
        self.round_trips.forget_flight(&self.sending.scoreboard);
        self.round_trips.reset();
        for seq in [
            &mut self.receiving.highest_ack_sent,
            &mut self.sending.highest_ack,
            &mut self.sending.window_seq,
            &mut self.ecn.ce,
        ] {
            *seq = Seq(0);
        }
        self.ecn.feedbacks.restart();
    }

    fn enter_time_wait<E: Environment>(&mut self, env: &mut E) {
        if self.state != State::TimeWait {
            self.state = State::TimeWait;
            self.receiving.last_refusal = None;
        }
        self.disarm_all(env);
        let lifetime = Time::from_secs_f64(2.0 * self.config.max_segment_lifetime);
        self.arm(Timer::TimeWait, lifetime, env);
    }

    fn disarm_all<E: Environment>(&mut self, env: &mut E) {
        for timer in Timer::ALL {
            if timer != Timer::Opening {
                self.disarm(timer, env);
            }
        }
    }
}
