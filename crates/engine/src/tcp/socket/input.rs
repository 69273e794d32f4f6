//! Segments that arrive: checks, options, the state machine, data (RFC 9293 section 3.10.7).

use super::{Environment, Socket, State, Timer};
use crate::packet::{Ecn, Flags, IP_HEADER, Packet, TCP_HEADER};
use crate::seq::Seq;
use crate::tcp::control::CaEvent;
use crate::tcp::tcb::{CongState, EcnState, UseEcn};
use crate::time::Time;

/// ECE and CWR on a SYN ask for ECN, ECE alone on a SYN-ACK agrees (RFC 3168 section 6.1.1).
const ECN_SETUP: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

impl Socket {
    /// A segment has arrived.
    pub fn on_segment<E: Environment>(&mut self, packet: &Packet, now: Time, env: &mut E) {
        self.tcb.now = now;
        self.statistics.received_bytes += u64::from(packet.payload);
        if !self.open {
            self.refuse(packet, env);
            return;
        }
        if packet.payload > 0 && self.is_out_of_window(packet) {
            self.send_control(Flags::ACK, env);
            return;
        }
        self.note_ecn(packet, env);
        if !self.process_options(packet) {
            return;
        }
        if self.peer_window == 0 && !self.is_pending(Timer::Persist) {
            self.disarm(Timer::Retransmit, env);
            self.arm(Timer::Persist, self.persist_timeout, env);
        }
        match self.state {
            State::Established => self.on_segment_established(packet, env),
            State::Listen => {
                if control_flags(packet) == Flags::SYN {
                    self.arm(Timer::CompleteFork, Time::ZERO, env);
                    self.reassembly.set_next_rx(packet.seq + 1);
                    self.state = State::SynRcvd;
                    self.congestion.algorithm().init(&mut self.tcb);
                    self.peer_asks_ecn = packet.flags.0 & ECN_SETUP.0 == ECN_SETUP.0;
                }
            }
            State::SynSent => self.on_segment_syn_sent(packet, env),
            State::SynRcvd => self.on_segment_syn_rcvd(packet, env),
            State::FinWait1 | State::FinWait2 | State::CloseWait => {
                self.on_segment_closing(packet, env);
            }
            State::Closing => self.on_segment_in_closing(packet, env),
            State::LastAck => self.on_segment_in_last_ack(packet, env),
            State::TimeWait | State::Closed => {}
        }
        if self.peer_window != 0 && self.is_pending(Timer::Persist) {
            self.disarm(Timer::Persist, env);
            self.send_pending(env);
        }
    }

    /// No end point: reset whoever sends (RFC 9293 section 3.10.7.1).
    fn refuse<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if packet.flags.has(Flags::RST) {
            return;
        }
        let mut reset = Packet {
            ip_bytes: IP_HEADER + TCP_HEADER,
            window: u16::MAX,
            flags: Flags::RST,
            seq: packet.ack,
            ..Packet::default()
        };
        if !packet.flags.has(Flags::ACK) {
            reset.flags = Flags::RST.with(Flags::ACK);
            reset.seq = Seq(0);
            reset.ack = packet.seq + 1;
        }
        env.transmit(reset);
    }

    fn is_out_of_window(&self, packet: &Packet) -> bool {
        let next = self.reassembly.next_rx();
        match self.state {
            State::Listen | State::SynSent | State::SynRcvd => false,
            State::LastAck | State::Closing | State::CloseWait => packet.seq != next,
            _ => {
                packet.seq + u32::from(packet.payload) < next
                    || self.reassembly.max_rx() <= packet.seq
            }
        }
    }

    /// RFC 3168 section 6.1.3, RFC 8257 section 3.2.
    fn note_ecn<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if packet.ecn == Ecn::Ce && self.ecn_ce_seq < packet.seq {
            self.ecn_ce_seq = packet.seq;
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

    /// Tells the algorithm, and sends the acknowledgement that it may ask for: one of what had arrived
    /// before the CE state changed.
    pub(super) fn cwnd_event<E: Environment>(&mut self, event: CaEvent, env: &mut E) {
        self.sync_rx();
        if let Some(early) = self.congestion.algorithm().cwnd_event(&mut self.tcb, event) {
            let next = self.reassembly.next_rx();
            self.reassembly.set_next_rx(early.ack);
            let flags = if early.ece { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
            self.send_control(flags, env);
            self.reassembly.set_next_rx(next);
        }
    }

    /// Returns false if the segment must be ignored (RFC 7323 section 3.2: no timestamp).
    fn process_options(&mut self, packet: &Packet) -> bool {
        if packet.flags.has(Flags::SYN) {
            self.peer_window = u32::from(packet.window); // never scaled
            let options = packet.options;
            match options.window_shift() {
                Some(shift) if self.window_scaling => self.send_shift = shift.min(14),
                _ => self.window_scaling = false,
            }
            self.sack &= options.has_sack_permitted();
            self.timestamps &= options.has_timestamps();
            if self.timestamps {
                self.process_timestamp(packet);
            }
            self.tcb.cwnd = self.tcb.initial_cwnd.wrapping_mul(self.tcb.segment_size);
            self.tcb.ssthresh = self.tcb.initial_ssthresh;
            if packet.flags.has(Flags::ACK) {
                self.estimate_rtt(packet);
                self.highest_ack_received = packet.ack;
            }
        } else if packet.flags.has(Flags::ACK) {
            if self.timestamps {
                if !packet.options.has_timestamps() {
                    return false;
                }
                self.process_timestamp(packet);
            }
            self.estimate_rtt(packet);
            self.update_peer_window(packet);
        }
        true
    }

    /// RFC 7323 section 4.3: echo the timestamp of the segment at RCV.NXT.
    fn process_timestamp(&mut self, packet: &Packet) {
        if self.tcb.rcv_timestamp > packet.ts_val {
            return;
        }
        self.tcb.rcv_timestamp = packet.ts_val;
        self.tcb.rcv_timestamp_echo = packet.ts_ecr;
        let next = self.reassembly.next_rx();
        if packet.seq == next && packet.seq <= self.highest_ack_sent {
            self.timestamp_to_echo = packet.ts_val;
        }
    }

    /// RFC 9293 section 3.10.7.4, "SND.WND": only segments that are not older than the last update.
    fn update_peer_window(&mut self, packet: &Packet) {
        let window = u32::from(packet.window) << self.send_shift;
        if self.state < State::Established {
            self.peer_window = window;
            return;
        }
        let mut update = packet.ack == self.highest_ack_received && window > self.peer_window;
        if packet.ack > self.highest_ack_received {
            self.count_acked((packet.ack - self.highest_ack_received) as u64);
            self.highest_ack_received = packet.ack;
            update = true;
        }
        if packet.seq > self.highest_seq_received {
            self.highest_seq_received = packet.seq;
            update = true;
        }
        if update {
            self.peer_window = window;
        }
    }

    /// A sample for the oldest unacknowledged entry of the history (RFC 6298); `last_rtt` is that of
    /// the newest one that this ACK covers.
    fn estimate_rtt(&mut self, packet: &Packet) {
        let Some(&oldest) = self.history.front() else { return };
        let sample = self.rtt_sample(packet, oldest);
        let mut newest = oldest;
        while let Some(&entry) = self.history.front() {
            if entry.seq + entry.len > packet.ack {
                break;
            }
            newest = entry;
            self.history.pop_front();
        }
        if let Some(last) = self.rtt_sample(packet, newest) {
            self.tcb.last_rtt = last;
        }
        if let Some(rtt) = sample {
            self.rtt.measure(rtt);
            self.rto = self.rto_estimate();
            self.tcb.srtt = self.rtt.srtt();
            self.tcb.min_rtt = self.tcb.min_rtt.min(self.tcb.srtt);
        }
    }

    /// With timestamps the sample is in whole milliseconds, at least 1 us; without, retransmitted
    /// segments give none (Karn's algorithm, RFC 6298 section 3).
    fn rtt_sample(&self, packet: &Packet, entry: super::RttHistory) -> Option<Time> {
        if packet.ack < entry.seq + entry.len {
            return None;
        }
        if self.timestamps && packet.options.has_timestamps() {
            let now = self.tcb.now.ms() as u32;
            let elapsed = now.saturating_sub(packet.ts_ecr);
            return Some(Time::from_ms(u64::from(elapsed)).max(Time(1_000)));
        }
        let elapsed = self.tcb.now - entry.time;
        (!entry.retransmitted && !elapsed.is_zero()).then_some(elapsed)
    }

    #[inline(always)] // on every packet that arrives at a host
    fn on_segment_established<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let flags = control_flags(packet);
        if flags == Flags::ACK {
            if packet.ack < self.scoreboard.head() {
                return; // an old duplicate
            }
            if packet.ack > self.tcb.high_tx_mark {
                self.send_ack(env); // acknowledges what was never sent
            } else {
                self.on_ack(packet, env);
            }
        } else if flags == Flags::FIN || flags == Flags::FIN.with(Flags::ACK) {
            self.on_fin(packet, env);
        } else if flags == Flags::default() {
            self.on_data(packet, env);
            if self.reassembly.finished() {
                self.on_fin(packet, env);
            }
        } else if flags != Flags::SYN && flags != Flags::SYN.with(Flags::ACK) {
            if flags != Flags::RST {
                self.reset(env);
            }
            self.close_and_notify(env);
        }
    }

    fn on_segment_syn_sent<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let flags = packet.flags;
        let answers = flags.has(Flags::SYN) && flags.has(Flags::ACK);
        if !answers || packet.ack != self.tcb.next_tx_seq + 1 {
            // A port that does not listen answers with an ACK beside the RST, which ns-3 ignores.
            if flags == Flags::RST {
                self.close_and_notify(env);
            }
            return;
        }
        self.establish(env);
        self.reassembly.set_next_rx(packet.seq + 1);
        self.sync_rx();
        self.congestion.update_pacing_rate(&mut self.tcb);
        self.send_control(Flags::ACK, env);
        let agreed = flags.0 & ECN_SETUP.0 == Flags::ECE.0;
        self.tcb.ecn_state = if self.tcb.use_ecn != UseEcn::Off && agreed {
            EcnState::Idle
        } else {
            EcnState::Disabled
        };
        self.send_pending(env);
        self.arm(Timer::Connected, Time::ZERO, env);
        self.delayed_acks = self.config.delayed_ack_count;
    }

    /// The SYN is answered in an event of its own, as by a forked socket.
    pub(super) fn complete_fork<E: Environment>(&mut self, env: &mut E) {
        self.syn_left = self.config.connect_count;
        self.data_retries_left = self.config.data_retries;
        self.sync_rx();
        self.answer_syn(env);
    }

    fn answer_syn<E: Environment>(&mut self, env: &mut E) {
        let agreed = self.tcb.use_ecn != UseEcn::Off && self.peer_asks_ecn;
        let flags = Flags::SYN.with(Flags::ACK);
        self.send_control(if agreed { flags.with(Flags::ECE) } else { flags }, env);
        self.tcb.ecn_state = if agreed { EcnState::Idle } else { EcnState::Disabled };
    }

    fn on_segment_syn_rcvd<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let flags = control_flags(packet);
        let completes = flags == Flags::ACK && packet.ack == self.tcb.next_tx_seq + 1;
        if completes || flags == Flags::default() {
            self.establish(env);
            self.delayed_acks = self.config.delayed_ack_count;
            self.on_ack(packet, env);
            self.congestion.update_pacing_rate(&mut self.tcb);
            self.offer_space(env);
        } else if flags == Flags::SYN {
            // The SYN-ACK was lost.
            self.reassembly.set_next_rx(packet.seq + 1);
            self.peer_asks_ecn = packet.flags.0 & ECN_SETUP.0 == ECN_SETUP.0;
            self.answer_syn(env);
        } else if flags == Flags::FIN.with(Flags::ACK) {
            if packet.seq == self.reassembly.next_rx() {
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
        self.congestion.algorithm().set_state(&mut self.tcb, CongState::Open);
        self.set_cong_state(CongState::Open);
        self.state = State::Established;
        self.connected = true;
        self.disarm(Timer::Retransmit, env);
        self.tcb.next_tx_seq += 1;
        self.tcb.high_tx_mark = self.tcb.next_tx_seq;
        self.scoreboard.set_head(self.tcb.next_tx_seq);
    }

    /// Data: store it, hand on what is in order, acknowledge at once or later (RFC 5681 section 4.2).
    pub(super) fn on_data<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let expected = self.reassembly.next_rx();
        let Some(in_order) = self.reassembly.add(packet.seq, u32::from(packet.payload)) else {
            self.send_ack(env);
            return;
        };
        self.sync_rx();
        if self.reassembly.next_rx() > expected {
            env.readable(in_order);
            if self.reassembly.finished() && !packet.flags.has(Flags::FIN) {
                self.on_peer_closed(env);
                return;
            }
        }
        let next = self.reassembly.next_rx();
        if self.reassembly.has_gap() || next > expected + u32::from(packet.payload) {
            self.cwnd_event(CaEvent::NonDelayedAck, env);
            self.send_ack(env);
            return;
        }
        self.delayed_acks += 1;
        if self.delayed_acks >= self.config.delayed_ack_count {
            self.disarm(Timer::DelayedAck, env);
            self.delayed_acks = 0;
            self.cwnd_event(CaEvent::NonDelayedAck, env);
            self.send_ack(env);
        } else {
            self.cwnd_event(CaEvent::DelayedAck, env);
            if !self.is_pending(Timer::DelayedAck) {
                self.arm(Timer::DelayedAck, self.config.delayed_ack_timeout, env);
            }
        }
    }
}

/// The flags without PSH, URG and the ECN bits.
fn control_flags(packet: &Packet) -> Flags {
    packet.flags.without(Flags(Flags::PSH.0 | Flags::URG.0 | Flags::CWR.0 | Flags::ECE.0))
}
