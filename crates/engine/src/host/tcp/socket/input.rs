//! Segments that arrive: checks, options, the state machine, data (RFC 9293 section 3.10.7).

use super::parts::{HeardListening, Receiving};
use super::{Environment, Socket, State, Timer};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::acks::{AckPolicy, Answer, GapSegment, NewSegment};
use crate::host::tcp::control::{CaEvent, EarlyAck, TcpStack};
use crate::host::tcp::memory::memory_of;
use crate::host::tcp::pacing::Pacing;
use crate::host::tcp::profile::Profile;
use crate::host::tcp::profile::changes::Change;
use crate::host::tcp::rtt::RttEstimation;
use crate::packet::{Flags, IP_HEADER, Packet, SackBlock, TCP_HEADER};

const BLOCKS_THAT_WAIT: usize = 2;

impl<P: Profile> Socket<P> {
    /// A segment has arrived.
    #[inline(always)]
    pub fn on_segment<E: Environment>(&mut self, packet: &Packet, now: Time, env: &mut E) {
        self.tcb.now = now;
        if P::Pacing::BY_BURSTS {
            self.send_what_is_due(env);
        }
        if !self.take_steadily(packet, env) {
            self.take_segment(packet, env);
        }
        self.settle_loss_timer(env);
    }

    /// What leaves by its pace leaves before what comes in that nanosecond is heard.  ACKs of paced segments are as far apart as
    /// those were, so this happens often.
    fn send_what_is_due<E: Environment>(&mut self, env: &mut E) {
        if self.is_pending(Timer::Pacing) && self.tcb.next_departure <= self.tcb.now {
            self.disarm(Timer::Pacing, env);
            self.send_pending(env);
        }
    }

    /// Any segment.
    fn take_segment<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if self.receiving.resequencer.is_some() {
            self.resequence(packet, env);
        } else {
            self.take_in_turn(packet, env);
        }
    }

    /// A segment comes where data is held back that is out of order.
    #[cold]
    fn resequence<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let next = self.receiving.reassembly.next_rx();
        let (is_open, now) = (self.open && self.state == State::Established, self.tcb.now);
        let Some(buffer) = &mut self.receiving.resequencer else { return };
        if is_open && buffer.holds(packet, next, now) {
            return self.await_order(env);
        }
        buffer.pass(packet);
        self.take_in_turn(packet, env);
        self.hand_on(env);
    }

    /// Takes what is in order by now, or has been held long enough.
    pub(super) fn hand_on<E: Environment>(&mut self, env: &mut E) {
        while let Some(buffer) = &mut self.receiving.resequencer
            && let Some(packet) = buffer.next(self.tcb.now)
        {
            buffer.pass(&packet);
            self.take_in_turn(&packet, env);
        }
        self.await_order(env);
    }

    fn await_order<E: Environment>(&mut self, env: &mut E) {
        let due = self.receiving.resequencer.as_ref().and_then(|buffer| buffer.due());
        self.disarm(Timer::Resequencing, env);
        if let Some(due) = due {
            self.arm(Timer::Resequencing, due - self.tcb.now, env);
        }
    }

    fn take_in_turn<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if self.tcb.ecn_mode.rules().reads_all {
            let may_answer = self.state == State::SynRcvd;
            let reads = self.config.ecn_option && packet.has_ecn_option();
            let option = reads.then(|| &env.options().ecn_option);
            let feedback = self.ecn.feedbacks.of(self.tcb.ecn_mode);
            let plain = feedback.read(packet, option, may_answer);
            return self.take_plain_segment(&plain, env);
        }
        self.take_plain_segment(packet, env);
    }

    #[inline(always)]
    fn take_plain_segment<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        self.receiving.received_bytes += u64::from(packet.payload);
        if !self.open || self.is_unheard_of(packet) {
            self.refuse(packet, env);
            return;
        }
        if packet.payload > 0 && self.is_out_of_window(packet) || self.is_fin_again(packet) {
            self.note_duplicate(packet);
            if P::HEARS_LATE_TIMESTAMPS {
                self.hear_duplicate_timestamp(packet);
            }
            match P::STACK {
                TcpStack::Ns3 => self.send_control(Flags::ACK, env),
                TcpStack::Linux => self.send_ack(env), // a mark is echoed here, too
            }
            return;
        }
        if P::HEARS_LATE_TIMESTAMPS && self.is_from_the_past(packet) {
            return self.refuse_late(packet, env);
        }
        if P::STACK == TcpStack::Linux && self.is_challenged(packet) {
            return self.send_challenge_ack(env);
        }
        if P::STACK == TcpStack::Ns3 {
            self.note_ecn(packet, env);
        }
        if !self.process_options(packet) {
            return;
        }
        if P::STACK == TcpStack::Linux {
            self.note_ecn(packet, env);
        }
        if self.sending.window == 0 && !self.is_pending(Timer::Persist) {
            self.disarm(Timer::Retransmit, env);
            self.arm_ticking(Timer::Persist, self.sending.persist_timeout, env);
        }
        match self.state {
            State::Established => self.on_segment_established(packet, env),
            State::Listen => {
                if control_flags(packet) == Flags::SYN {
                    self.arm(Timer::Opening, Time::ZERO, env);
                    self.receiving.reassembly.set_next_rx(packet.seq + 1);
                    self.state = State::SynRcvd;
                    self.receiving.heard = HeardListening {
                        largest: self.tcb.rcv_timestamp,
                        to_echo: self.agreed.timestamp_to_echo,
                    };
                    self.congestion.init(&mut self.tcb);
                    self.hear_ecn_request(packet);
                }
            }
            State::SynSent => self.on_segment_syn_sent(packet, env),
            State::SynRcvd => self.on_segment_syn_rcvd(packet, env),
            State::FinWait1 | State::FinWait2 | State::CloseWait => {
                self.on_segment_closing(packet, env);
            }
            State::Closing => self.on_segment_in_closing(packet, env),
            State::LastAck => self.on_segment_in_last_ack(packet, env),
            State::TimeWait if P::STACK == TcpStack::Linux => {
                self.on_segment_in_time_wait(packet, env);
            }
            State::TimeWait | State::Closed => {}
        }
        if self.sending.window != 0 && self.is_pending(Timer::Persist) {
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
            window: if P::STACK == TcpStack::Ns3 { u16::MAX } else { 0 },
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

    /// Tells the algorithm, and sends the acknowledgement that it may ask for: one of what had arrived
    /// before the CE state changed.
    #[inline]
    pub(super) fn cwnd_event<E: Environment>(&mut self, event: CaEvent, env: &mut E) {
        self.sync_rx();
        if let Some(early) = self.congestion.algorithm().cwnd_event(&mut self.tcb, event) {
            self.send_early_ack(early, env);
        }
    }

    #[cold]
    fn send_early_ack<E: Environment>(&mut self, early: EarlyAck, env: &mut E) {
        let next = self.receiving.reassembly.next_rx();
        self.receiving.reassembly.set_next_rx(early.ack);
        let flags = if early.ece { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        self.send_control(flags, env);
        self.receiving.reassembly.set_next_rx(next);
    }

    /// Returns false if the segment must be ignored (RFC 7323 section 3.2: no timestamp).
    fn process_options(&mut self, packet: &Packet) -> bool {
        if packet.flags.has(Flags::SYN) {
            self.sending.window = u32::from(packet.window); // never scaled
            let options = packet.options;
            match options.window_shift() {
                Some(shift) if self.agreed.window_scaling => self.agreed.send_shift = shift.min(14),
                _ => self.agreed.window_scaling = false,
            }
            self.agreed.sack &= options.has_sack_permitted();
            self.agreed.timestamps &= options.has_timestamps();
            self.tcb.has_timestamps = self.agreed.timestamps;
            // Linux's answer echoes the first SYN, however often it came.
            let is_answered = P::STACK == TcpStack::Linux && self.state == State::SynRcvd;
            if self.agreed.timestamps && !is_answered {
                self.process_timestamp(packet);
            }
            self.tcb.cwnd = self.tcb.initial_cwnd.wrapping_mul(self.tcb.segment_size);
            self.tcb.ssthresh = self.tcb.initial_ssthresh;
            if packet.flags.has(Flags::ACK) {
                self.heed_lost_syns(packet);
                self.estimate_rtt(packet);
                self.sending.highest_ack = packet.ack;
            }
        } else if packet.flags.has(Flags::ACK) {
            if self.agreed.timestamps {
                if !packet.options.has_timestamps() {
                    return false;
                }
                self.process_timestamp(packet);
            }
            if self.state == State::SynRcvd {
                self.heed_lost_syns(packet);
            }
            self.estimate_rtt(packet);
            self.update_peer_window(packet);
        }
        true
    }

    /// RFC 7323 section 4.3: echo the timestamp of the segment at RCV.NXT.
    #[inline]
    pub(super) fn process_timestamp(&mut self, packet: &Packet) {
        if P::HEARS_LATE_TIMESTAMPS {
            return self.hear_timestamp(packet);
        }
        if self.tcb.rcv_timestamp > packet.ts_val {
            return;
        }
        self.tcb.rcv_timestamp = packet.ts_val;
        self.tcb.rcv_timestamp_echo = packet.ts_ecr;
        let next = self.receiving.reassembly.next_rx();
        if packet.seq == next && packet.seq <= self.receiving.highest_ack_sent {
            self.agreed.timestamp_to_echo = packet.ts_val;
        }
    }

    /// RFC 7323 section 4.3, rule (2): TS.Recent is that of the last segment at or below what was acknowledged last.
    fn hear_timestamp(&mut self, packet: &Packet) {
        // A connection that is over hears only what it expects (Linux's `tcp_timewait_state_process`).
        let is_in_time_wait = self.state == State::TimeWait;
        if is_in_time_wait
            && !(is_mere(packet) && packet.seq == self.receiving.reassembly.next_rx())
        {
            return;
        }
        self.tcb.rcv_timestamp = packet.ts_val;
        self.tcb.rcv_timestamp_echo = packet.ts_ecr;
        if packet.seq <= self.receiving.highest_ack_sent {
            let recent = &mut self.agreed.timestamp_to_echo;
            *recent = (*recent).max(packet.ts_val);
        }
    }

    /// The same of what has come before, unless it ends before what was acknowledged last (Linux's `tcp_sequence`).
    #[cold]
    fn hear_duplicate_timestamp(&mut self, packet: &Packet) {
        let fin = u32::from(packet.flags.has(Flags::FIN));
        let end = packet.seq + u32::from(packet.payload) + fin;
        if self.agreed.timestamps
            && packet.options.has_timestamps()
            && !self.is_from_the_past(packet)
            && end >= self.receiving.highest_ack_sent
        {
            self.hear_timestamp(packet);
        }
    }

    /// RFC 9293 section 3.10.7.4, "SND.WND": only segments that are not older than the last update.
    #[inline]
    pub(super) fn update_peer_window(&mut self, packet: &Packet) {
        let window = u32::from(packet.window) << self.agreed.send_shift;
        if self.state < State::Established {
            self.sending.window = window;
            return;
        }
        let mut update = packet.ack == self.sending.highest_ack && window > self.sending.window;
        if packet.ack > self.sending.highest_ack {
            let advance = (packet.ack - self.sending.highest_ack) as u64;
            self.statistics.count_acked(advance, self.tcb.now);
            self.sending.highest_ack = packet.ack;
            update = true;
        }
        if packet.seq > self.sending.window_seq {
            self.sending.window_seq = packet.seq;
            update = true;
        }
        if update {
            self.sending.window = window;
        }
    }

    #[inline]
    pub(super) fn estimate_rtt(&mut self, packet: &Packet) {
        if P::Rtt::OF_DELIVERIES && self.state >= State::Established {
            return;
        }
        let scoreboard = &self.sending.scoreboard;
        if self.round_trips.may_cover(packet.ack, scoreboard) {
            let of_echo = self.rtt_of_echo(packet);
            self.round_trips.on_ack(packet.ack, of_echo, scoreboard, &mut self.tcb);
        }
    }

    /// The round trip that the segment's timestamps say, if they do.
    #[inline(always)]
    pub(super) fn rtt_of_echo(&self, packet: &Packet) -> Option<Time> {
        let has_echo = self.agreed.timestamps && packet.options.has_timestamps();
        if has_echo { P::rtt_of_echo(self.tcb.now, packet.ts_ecr) } else { None }
    }

    #[inline(always)] // on every packet that arrives at a host
    pub(super) fn on_segment_established<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let flags = control_flags(packet);
        if flags == Flags::ACK {
            if packet.ack < self.sending.scoreboard.head() {
                if P::STACK == TcpStack::Linux {
                    self.on_old_ack(packet, env);
                }
                return; // an old duplicate
            }
            if packet.ack > self.tcb.high_tx_mark {
                self.send_ack(env); // acknowledges what was never sent
            } else {
                self.on_ack(packet, env);
            }
        } else if flags == Flags::FIN || flags == Flags::FIN.with(Flags::ACK) {
            let is_new =
                self.sending.scoreboard.head() < packet.ack && packet.ack <= self.tcb.high_tx_mark;
            if P::HEARS_ACK_OF_FIN && packet.payload == 0 && is_new {
                self.on_ack(packet, env);
            }
            self.on_fin(packet, env);
        } else if flags == Flags::default() {
            self.on_data(packet, env);
            if self.receiving.reassembly.finished() {
                self.on_fin(packet, env);
            }
        } else if flags != Flags::SYN && flags != Flags::SYN.with(Flags::ACK) {
            if flags != Flags::RST {
                self.reset(env);
            }
            self.close_and_notify(env);
        }
    }

    /// Data: store it, hand on what is in order, acknowledge at once or later (RFC 5681 section 4.2).
    pub(super) fn on_data<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let is_answered = self.answers_displaced(packet, env);
        let expected = self.receiving.reassembly.next_rx();
        let held_before = self.receiving.reassembly.held_memory();
        let Some(in_order) = self.receiving.reassembly.add(packet.seq, u32::from(packet.payload))
        else {
            let is_old = packet.seq < expected;
            if !is_answered && (!P::Acks::COMPRESSES || is_old || !self.compresses(env)) {
                self.send_ack(env);
            }
            return;
        };
        self.sync_rx();
        let is_in_order = self.receiving.reassembly.next_rx() > expected;
        // Who hears of duplicate ACKs alone is not to take one for an offer.
        if is_in_order || self.agreed.sack {
            let bytes = u32::from(packet.payload);
            let (end, rto) = (packet.seq + bytes, self.round_trips.rto);
            let is_pushed = packet.flags.has(Flags::PSH);
            let unread = if is_in_order { memory_of(bytes) } else { 0 };
            let joined = self.receiving.reassembly.joined_memory(held_before);
            let segment =
                NewSegment { bytes, end, unread, joined, held: held_before, rto, is_pushed };
            self.receiving.acks.on_new(&self.tcb, segment);
        }
        if is_answered {
            return;
        }
        if is_in_order {
            env.readable(in_order);
            self.announce_window(in_order, env);
            if self.receiving.reassembly.finished() && !packet.flags.has(Flags::FIN) {
                self.on_peer_closed(true, env);
                return;
            }
        }
        let next = self.receiving.reassembly.next_rx();
        let has_gap = self.receiving.reassembly.has_gap();
        let awaits_answer = P::Acks::AWAITS_ANSWER
            && self.receiving.is_sink
            && self.state == State::Established
            && self.receiving.reassembly.finished();
        let is_filled = next > expected + u32::from(packet.payload) + u32::from(awaits_answer);
        if has_gap || is_filled || self.must_answer_mark() {
            if !P::Acks::COMPRESSES || !has_gap || !self.compresses(env) {
                self.cwnd_event(CaEvent::NonDelayedAck, env);
                self.send_ack(env);
            }
        } else if !awaits_answer {
            self.acknowledge_in_order(env);
        }
        if P::STACK == TcpStack::Linux && is_in_order {
            self.announce_what_is_read(env);
        }
    }

    /// The application has read what is in order: where that lets much more come, the peer hears of it, after the ACK.
    fn announce_what_is_read<E: Environment>(&mut self, env: &mut E) {
        let Receiving { reassembly, acks, .. } = &mut self.receiving;
        if !reassembly.got_fin() && acks.has_opened(reassembly.next_rx(), reassembly.held_memory())
        {
            self.send_ack(env);
        }
    }

    /// The ACK that waits leaves before a block that it was to report makes room for this segment's.  It is the one that was due for
    /// the segment, too, which it reports only as a part of a block that was there.
    #[inline(always)]
    fn answers_displaced<E: Environment>(&mut self, packet: &Packet, env: &mut E) -> bool {
        let duplicate = self.hear_duplicate(packet);
        let displaces = P::Acks::COMPRESSES && self.displaces_block(packet);
        if displaces {
            self.send_ack(env);
        }
        if let Some(block) = duplicate {
            self.receiving.reassembly.report_again(block);
        }
        displaces
    }

    /// An ACK that waits has room for two blocks and is to report them (Linux's `TCP_SACK_BLOCKS_EXPECTED`).  The block that would be
    /// put before them grows where it stands.
    fn displaces_block(&mut self, packet: &Packet) -> bool {
        let Receiving { reassembly, acks, .. } = &mut self.receiving;
        if !acks.is_compressing() || packet.seq <= reassembly.next_rx() {
            return false;
        }
        let (seq, len) = (packet.seq, u32::from(packet.payload));
        let place = reassembly.touched_block(seq, len);
        let displaces = place >= BLOCKS_THAT_WAIT;
        if displaces {
            reassembly.extend_block(place, seq, len);
        }
        displaces
    }

    /// Whether the ACK of a segment that leaves a hole waits.
    pub(super) fn compresses<E: Environment>(&mut self, env: &mut E) -> bool {
        if !self.agreed.sack || self.tcb.ecn_mode.rules().reads_all {
            return false; // counts of marks are not to wait
        }
        let Receiving { reassembly, acks, highest_ack_sent, .. } = &mut self.receiving;
        let next = reassembly.next_rx();
        let unacked = (next - *highest_ack_sent) as u32;
        let segment = GapSegment { next, unacked, held: reassembly.held_memory() };
        match acks.on_gap(&self.tcb, segment) {
            Answer::Now => return false,
            Answer::WithLast => {}
            Answer::After(wait) => {
                self.disarm(Timer::DelayedAck, env);
                self.arm(Timer::DelayedAck, wait, env);
            }
        }
        true
    }

    /// What has come before is reported, where the receiver does that.
    #[inline(always)]
    pub(super) fn note_duplicate(&mut self, packet: &Packet) {
        if let Some(block) = self.hear_duplicate(packet) {
            self.receiving.reassembly.report_again(block);
        }
    }

    /// The next ACK says what has come before, and nothing of an earlier segment's if it has waited; returns it.
    #[inline(always)]
    fn hear_duplicate(&mut self, packet: &Packet) -> Option<SackBlock> {
        let length = u32::from(packet.payload) + u32::from(packet.flags.has(Flags::FIN));
        if !P::Acks::REPORTS_DUPLICATES || length == 0 {
            return None;
        }
        let Receiving { reassembly, acks, .. } = &mut self.receiving;
        acks.take_duplicate();
        let block = reassembly.duplicate(packet.seq, length)?;
        acks.on_duplicate(block, reassembly.next_rx());
        Some(block)
    }

    /// The application has read `bytes`; where that opens a window that was closed to less than a segment, the peer
    /// is told at once ([`Change::WindowUpdate`]; RFC 1122 section 4.2.3.3).
    #[inline(always)]
    pub(super) fn announce_window<E: Environment>(&mut self, bytes: u32, env: &mut E) {
        if self.config.changes.has(Change::WindowUpdate) && self.has_opened_window(bytes) {
            self.send_ack(env);
        }
    }

    /// In units of the window field, which the segment size is held against as it is.
    fn has_opened_window(&self, read: u32) -> bool {
        let may_tell = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        let (buffer, shift) = (self.receiving.reassembly.limit(), self.agreed.receive_shift);
        let field = |bytes: u32| (bytes >> shift).min(self.config.max_window);
        let (before, now) = (field(buffer.saturating_sub(read)), field(buffer));
        may_tell
            && !self.receiving.reassembly.got_fin()
            && before < self.tcb.segment_size
            && now > before
            && now >= self.tcb.segment_size.min(buffer / 2)
    }

    /// Of data that came in order: at once, or a little later (RFC 1122 section 4.2.3.2).
    #[inline(always)]
    pub(super) fn acknowledge_in_order<E: Environment>(&mut self, env: &mut E) {
        match self.receiving.acks.on_data(&self.tcb) {
            Answer::Now => {
                self.disarm(Timer::DelayedAck, env);
                self.receiving.acks.on_ack_sent();
                self.cwnd_event(CaEvent::NonDelayedAck, env);
                self.send_ack(env);
            }
            Answer::After(delay) => {
                self.cwnd_event(CaEvent::DelayedAck, env);
                if P::Acks::COMPRESSES {
                    self.disarm(Timer::DelayedAck, env);
                }
                if !self.is_pending(Timer::DelayedAck) {
                    self.arm_ticking(Timer::DelayedAck, delay, env);
                }
            }
            Answer::WithLast => self.cwnd_event(CaEvent::DelayedAck, env),
        }
    }
}

/// The flags without PSH, URG and the ECN bits.
pub(super) fn control_flags(packet: &Packet) -> Flags {
    packet.flags.without(Flags(Flags::PSH.0 | Flags::URG.0).with(Flags::ECN))
}

/// It takes no room in the sequence.
pub(super) fn is_mere(packet: &Packet) -> bool {
    packet.payload == 0 && !packet.flags.has(Flags::FIN)
}
