//! Sending: data while the window allows, control segments, and what the application writes.

use super::{Environment, RetransmitAction, RttHistory, Socket, State, Timer, Write};
use crate::packet::{Ecn, Flags, IP_HEADER, Options, Packet, TCP_HEADER};
use crate::seq::Seq;
use crate::tcp::control::CaEvent;
use crate::tcp::tcb::{CongState, EcnMode, EcnState, UseEcn};
use crate::time::Time;

/// Option lengths in bytes: RFC 7323 sections 2.2 and 3.2, RFC 2018 sections 2 and 3.
const TIMESTAMPS: u32 = 10;
const WINDOW_SCALE: u32 = 3;
const SACK_PERMITTED: u32 = 2;
/// Of the new gap in the average of the gaps between departures.
const GAP_WEIGHT: f64 = 0.05;

impl Socket {
    /// The application may write: takes what it has to say.
    pub(super) fn offer_space<E: Environment>(&mut self, env: &mut E) {
        if self.is_sink {
            return;
        }
        let free = self.scoreboard.available();
        if free == 0 {
            return;
        }
        let write = env.writable(free);
        self.write(write, env);
    }

    /// The application writes at a time of its own; returns whether the write is accepted.
    pub fn send<E: Environment>(&mut self, bytes: u32, now: Time, env: &mut E) -> bool {
        self.tcb.now = now;
        let may_write =
            matches!(self.state, State::SynSent | State::Established | State::CloseWait);
        if !may_write || self.scoreboard.available() < bytes {
            return false;
        }
        self.write(Write { bytes, size: bytes, close: false }, env);
        true
    }

    /// Accepts a write that fits.  It leaves in the next nanosecond, so that writes of the same
    /// instant go out together.
    #[inline(always)] // on every acknowledgement
    fn write<E: Environment>(&mut self, write: Write, env: &mut E) {
        let mut done = 0;
        // Each write of its own re-evaluates "application limited" (RateEstimator); only the first
        // two can differ, by the pipe as last evaluated and as it is now.
        for size in [write.size.min(write.bytes), write.bytes.saturating_sub(write.size)] {
            if size == 0 {
                continue;
            }
            let shown = if done == 0 { size } else { size.min(write.size) };
            self.scoreboard.add(shown);
            self.rate.check_app_limited(
                self.tcb.cwnd,
                self.tcb.bytes_in_flight,
                self.tcb.segment_size,
                self.scoreboard.tail(),
                self.tcb.next_tx_seq,
                self.scoreboard.lost_out(),
                self.scoreboard.retrans_out(),
            );
            self.scoreboard.add(size - shown);
            done += size;
            let may_send = matches!(self.state, State::Established | State::CloseWait);
            if may_send && self.available_window() > 0 && !self.is_pending(Timer::SendPending) {
                self.arm(Timer::SendPending, Time(1), env);
            }
        }
        self.statistics.written_bytes += u64::from(done);
        if write.close {
            self.close(env);
        }
    }

    /// Sends while the window, the pacing timer and the data allow (RFC 6675 section 5, step C).
    pub(super) fn send_pending<E: Environment>(&mut self, env: &mut E) {
        if self.scoreboard.size() == 0 || !self.open {
            return;
        }
        loop {
            let window = self.available_window();
            if window == 0 || (self.is_pacing() && self.is_pending(Timer::Pacing)) {
                return;
            }
            if self.tcb.cong_state == CongState::Open && self.state == State::FinWait1 {
                return;
            }
            let rule3 = self.sack && self.tcb.cong_state == CongState::Recovery;
            let next = self.scoreboard.next_segment(rule3, self.peer_window);
            let Some((seq, most)) = next else { return };
            let data = self.scoreboard.size_from(seq);
            if data < window {
                self.offer_space(env);
            }
            let segment_size = self.tcb.segment_size;
            // Silly window avoidance (RFC 9293 section 3.8.6.2.1): rather wait than cut a segment.
            if window < segment_size && data > window {
                return;
            }
            // Nagle (RFC 896).
            if !self.config.no_delay && self.unacked_bytes() > 0 && data < segment_size {
                return;
            }
            self.tcb.next_tx_seq = seq;
            if self.tcb.bytes_in_flight == 0 {
                self.congestion.algorithm().cwnd_event(&mut self.tcb, CaEvent::TxStart);
            }
            let len = window.min(segment_size).min(most);
            let sent = self.send_data(seq, len, self.connected, env);
            self.tcb.next_tx_seq += sent;
            if self.is_pacing() && !self.is_pending(Timer::Pacing) {
                self.arm(Timer::Pacing, self.tcb.pacing_rate.tx_time(sent), env);
                return;
            }
        }
    }

    /// Sends at most `max` bytes from `seq`; returns how many.
    pub(super) fn send_data<E: Environment>(
        &mut self,
        seq: Seq,
        max: u32,
        with_ack: bool,
        env: &mut E,
    ) -> u32 {
        let now = self.tcb.now;
        let is_start = self.bytes_in_flight() == 0;
        let Some(index) = self.scoreboard.take(max, seq, now) else { return 0 };
        let sent_rate = self.rate.on_sent(now, is_start);
        let segment = self.scoreboard.segment_mut(index);
        segment.rate = sent_rate;
        let (len, is_retransmission) = (segment.len, segment.retransmitted);

        if self.is_pacing() && !self.is_pending(Timer::Pacing) {
            self.arm(Timer::Pacing, self.tcb.pacing_rate.tx_time(len), env);
        }
        let mut flags = Flags::default();
        if with_ack {
            flags = Flags::ACK;
            self.disarm(Timer::DelayedAck, env);
            self.delayed_acks = 0;
        }
        // RFC 3168 section 6.1.2: CWR on the first new segment after the window was reduced.
        if self.tcb.ecn_state == EcnState::EceRcvd
            && self.ecn_echo_seq > self.ecn_cwr_seq
            && !is_retransmission
        {
            self.tcb.ecn_state = EcnState::CwrSent;
            self.ecn_cwr_seq = seq;
            flags = flags.with(Flags::CWR);
        }
        // RFC 3168 section 6.1.5: no ECT on retransmissions (RFC 8257 lifts that for DCTCP).
        let dctcp = self.tcb.ecn_mode == EcnMode::Dctcp;
        let is_ect = dctcp || (self.tcb.ecn_state != EcnState::Disabled && !is_retransmission);
        if self.close_on_empty && self.scoreboard.size_from(seq + len) == 0 {
            flags = flags.with(Flags::FIN);
            match self.state {
                State::Established => self.state = State::FinWait1,
                State::CloseWait => self.state = State::LastAck,
                _ => {}
            }
        }
        let window = self.window_field(true);
        let mut packet = self.segment(seq, flags, window, len);
        packet.ecn = self.ecn_field(is_ect);
        if !self.is_pending(Timer::Retransmit) {
            self.arm_retransmit(RetransmitAction::Data, env);
        }
        self.count_departure(seq, len);
        env.transmit(packet);

        let in_flight = self.bytes_in_flight();
        self.tcb.is_cwnd_limited = self.tcb.cwnd < in_flight.wrapping_add(self.tcb.segment_size);
        self.remember_for_rtt(seq, len, is_retransmission);
        if matches!(self.tcb.cong_state, CongState::Recovery | CongState::Cwr) {
            self.congestion.on_sent(len);
        }
        self.tcb.high_tx_mark = self.tcb.high_tx_mark.max(seq + len);
        len
    }

    pub(super) fn send_syn<E: Environment>(&mut self, env: &mut E) {
        let mut flags = Flags::SYN;
        if self.tcb.use_ecn == UseEcn::On {
            flags = flags.with(Flags::ECE).with(Flags::CWR); // RFC 3168 section 6.1.1
        }
        self.send_control(flags, env);
    }

    /// An ACK that echoes congestion if there is any to echo (RFC 3168 section 6.1.3).
    pub(super) fn send_ack<E: Environment>(&mut self, env: &mut E) {
        if matches!(self.tcb.ecn_state, EcnState::CeRcvd | EcnState::SendingEce) {
            self.send_control(Flags::ACK.with(Flags::ECE), env);
            self.tcb.ecn_state = EcnState::SendingEce;
        } else {
            self.send_control(Flags::ACK, env);
        }
    }

    /// Sends a segment without data.
    pub(super) fn send_control<E: Environment>(&mut self, flags: Flags, env: &mut E) {
        if !self.open {
            return;
        }
        let mut flags = flags;
        let mut seq = self.tcb.next_tx_seq;
        if flags.has(Flags::FIN) {
            flags = flags.with(Flags::ACK);
        } else if matches!(self.state, State::FinWait1 | State::LastAck | State::Closing) {
            seq += 1; // beyond the FIN
        }
        self.rto = self.rto_estimate();
        let has_syn = flags.has(Flags::SYN);
        let mut window = self.window_field(true);
        if has_syn {
            if self.window_scaling {
                self.receive_shift = self.config.window_shift();
            }
            if self.syn_left == 0 {
                self.rtt.reset();
                self.state = State::Closed;
                self.close_end_point(env);
                return;
            }
            // RFC 6298 section 5.5: back off with every attempt.
            let attempt = self.config.connect_count - self.syn_left;
            self.rto = Time(self.config.connect_timeout.0 << attempt);
            self.syn_left -= 1;
            self.remember_for_rtt(seq, 0, self.config.connect_count - 1 != self.syn_left);
            window = self.window_field(false);
        }
        let mut packet = self.segment(seq, flags, window, 0);
        // RFC 8257 section 3: DCTCP sets ECT on everything.
        packet.ecn = self.ecn_field(self.tcb.ecn_mode == EcnMode::Dctcp);
        if flags.has(Flags::ACK) {
            self.disarm(Timer::DelayedAck, env);
            self.delayed_acks = 0;
            self.highest_ack_sent = self.highest_ack_sent.max(packet.ack);
            if self.sack && !self.reassembly.sack_blocks().is_empty() {
                packet.set_sack_blocks(self.reassembly.sack_blocks());
                packet.ip_bytes = IP_HEADER + self.tcp_header(has_syn, u32::from(packet.sacks));
            }
        }
        env.transmit(packet);
        let guarded = has_syn || flags.has(Flags::FIN);
        if guarded && !self.is_pending(Timer::Retransmit) {
            self.arm_retransmit(RetransmitAction::Control(flags), env);
        }
    }

    /// Arms the retransmission timer with the present RTO.
    pub(super) fn arm_retransmit<E: Environment>(&mut self, action: RetransmitAction, env: &mut E) {
        self.retransmit_action = action;
        self.arm(Timer::Retransmit, self.rto, env);
    }

    /// What cwnd and the peer's window leave.
    pub(super) fn available_window(&mut self) -> u32 {
        let window = self.peer_window.min(self.tcb.cwnd);
        window.saturating_sub(self.bytes_in_flight())
    }

    /// The window field for the next segment (RFC 7323 section 2.3).
    pub(super) fn window_field(&mut self, scaled: bool) -> u16 {
        if !self.reassembly.got_fin() {
            self.advertised = (self.reassembly.max_rx() - self.reassembly.next_rx()) as u32;
        }
        let shift = if scaled { self.receive_shift } else { 0 };
        (self.advertised >> shift).min(self.config.max_window) as u16
    }

    /// Headers with the options of the moment; no SACK blocks.
    #[inline(always)]
    pub(super) fn segment(&self, seq: Seq, flags: Flags, window: u16, len: u32) -> Packet {
        let header = self.tcp_header(flags.has(Flags::SYN), 0);
        Packet {
            seq,
            ack: self.reassembly.next_rx(),
            ts_val: if self.timestamps { self.tcb.now.ms() as u32 } else { 0 },
            ts_ecr: if self.timestamps { self.timestamp_to_echo } else { 0 },
            options: self.options(flags),
            ip_bytes: IP_HEADER + header + len,
            payload: len as u16,
            window,
            flags,
            ..Packet::default()
        }
    }

    /// The ECN bits of a segment that may be ECT.  A socket with a type of service sends no ECT in ns-3,
    /// which takes the ECN bits of that type, 0, as a wish not to (against RFC 3168 section 5).
    pub(super) fn ecn_field(&self, is_ect: bool) -> Ecn {
        if is_ect && self.config.tos == 0 { self.tcb.ect } else { Ecn::NotEct }
    }

    fn options(&self, flags: Flags) -> Options {
        let options = Options::new(self.timestamps);
        if !flags.has(Flags::SYN) {
            return options;
        }
        options.with_syn(self.sack, self.window_scaling.then_some(self.receive_shift))
    }

    /// TCP header bytes: options padded to whole words.
    fn tcp_header(&self, syn: bool, sacks: u32) -> u32 {
        let mut options = 0;
        if self.timestamps {
            options += TIMESTAMPS;
        }
        if syn && self.window_scaling {
            options += WINDOW_SCALE;
        }
        if syn && self.sack {
            options += SACK_PERMITTED;
        }
        if sacks > 0 {
            options += 2 + 8 * sacks;
        }
        TCP_HEADER + options.next_multiple_of(4)
    }

    pub(super) fn is_pacing(&self) -> bool {
        let initial = self.tcb.initial_cwnd.wrapping_mul(self.tcb.segment_size);
        self.tcb.pacing && (self.tcb.pace_initial_window || self.tcb.high_tx_mark.0 > initial)
    }

    fn remember_for_rtt(&mut self, seq: Seq, len: u32, is_retransmission: bool) {
        if !is_retransmission {
            let time = self.tcb.now;
            if self.history.is_empty() {
                self.history_longest = 0;
            }
            self.history_longest = self.history_longest.max(len);
            self.history.push_back(RttHistory { seq, len, time, retransmitted: false });
            return;
        }
        // The first entry that contains seq.  Entries are in order, but one that was sent again as a
        // longer segment reaches into the next ones, and further with each segment that begins in it.
        let above = self.history.partition_point(|entry| entry.seq <= seq);
        let mut i = above;
        while i > 0 && self.history[i - 1].seq + self.history_longest > seq {
            i -= 1;
        }
        let found = self.history.range_mut(i..above).find(|entry| seq < entry.seq + entry.len);
        if let Some(entry) = found {
            entry.retransmitted = true;
            entry.len = ((seq + len) - entry.seq) as u32;
            self.history_longest = self.history_longest.max(entry.len);
        }
    }

    fn count_departure(&mut self, seq: Seq, len: u32) {
        let statistics = &mut self.statistics;
        statistics.segments_sent += 1;
        statistics.sent_bytes += u64::from(len);
        if seq < self.tcb.high_tx_mark {
            statistics.retransmissions += 1;
        }
        let now = self.tcb.now;
        if let Some(last) = statistics.last_departure.replace(now) {
            let gap = (now - last).0 as f64;
            statistics.departure_gap = Some(match statistics.departure_gap {
                Some(mean) => mean + GAP_WEIGHT * (gap - mean),
                None => gap,
            });
        }
    }
}
