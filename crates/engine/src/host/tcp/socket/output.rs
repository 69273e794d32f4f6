//! Sending: data while the window allows, and control segments.

use super::parts::{Next, Sending};
use super::{Environment, RetransmitAction, Socket, State, Timer};
use crate::base::seq::Seq;
use crate::host::tcp::acks::AckPolicy;
use crate::host::tcp::config::Config;
use crate::host::tcp::control::{CaEvent, TcpStack};
use crate::host::tcp::ecn_mode::EcnMode;
use crate::host::tcp::loss::LossDetection;
use crate::host::tcp::pacing::Pacing;
use crate::host::tcp::profile::Profile;
use crate::host::tcp::rate::Pipe;
use crate::host::tcp::rtt::RttEstimation;
use crate::host::tcp::scoreboard::{Rule3, Scoreboard};
use crate::host::tcp::segmentation::{Opening, Segmentation};
use crate::host::tcp::tcb::{CongState, EcnState, FIRST_BYTE, Tcb};
use crate::host::tcp::validation::{Usage, WindowValidation};
use crate::packet::{Beside, Ecn, Flags};

impl<P: Profile> Socket<P> {
    /// Sends while the window, the pacing timer and the data allow (RFC 6675 section 5, step C).
    #[inline]
    pub(super) fn send_pending<E: Environment>(&mut self, env: &mut E) {
        if self.sending.scoreboard.size() > 0 && self.open {
            if P::Validation::IS_ACTIVE {
                self.send_and_validate(env);
            } else {
                self.send_some(env);
            }
        }
        if P::STACK == TcpStack::Linux && self.sending.is_closing {
            self.close_behind_data(env);
        }
        // What there was leaves before the application hears of room.
        if P::Segmentation::WAITS {
            self.offer_space(env);
        }
    }

    fn send_and_validate<E: Environment>(&mut self, env: &mut E) {
        let before = self.tcb.high_tx_mark;
        // What is sent again says nothing of the window.
        let is_judged = self.sending.scoreboard.unsent() > 0;
        self.sending.is_cwnd_deferred = false;
        self.send_some(env);
        self.bytes_in_flight();
        if is_judged {
            self.judge_window(self.tcb.high_tx_mark > before);
        }
    }

    /// New data was to leave: whether cwnd is used, and limits it.
    pub(super) fn judge_window(&mut self, has_sent: bool) {
        if !self.validates() {
            return;
        }
        let Sending { scoreboard, segmentation, is_cwnd_deferred, .. } = &self.sending;
        let usage = Usage {
            head: scoreboard.head(),
            next: self.tcb.high_tx_mark,
            outstanding: scoreboard.outstanding(),
            has_sent,
            is_deferred: *is_cwnd_deferred,
            is_buffer_full: segmentation.is_full(),
            rto: self.round_trips.rto,
        };
        self.sending.validation.on_sent(&mut self.tcb, usage);
    }

    fn send_some<E: Environment>(&mut self, env: &mut E) {
        if !self.send_steadily(env) {
            self.send_what_there_is(env);
        }
    }

    /// What is lost leaves again, and nothing new, for no ACK has come (Linux's `tcp_rack_reo_timeout`).
    #[cold]
    pub(super) fn send_lost<E: Environment>(&mut self, env: &mut E) {
        self.sending.next = Next::Lost;
        self.send_what_there_is(env);
        self.sending.next = Next::Any;
    }

    #[inline(never)]
    fn send_what_there_is<E: Environment>(&mut self, env: &mut E) {
        loop {
            let window = self.available_window();
            self.found_nothing = true;
            if window == 0 || self.is_paced() {
                return self.gather(window);
            }
            if self.tcb.cong_state == CongState::Open && self.state == State::FinWait1 {
                return;
            }
            let in_recovery = P::RESENDS_WHAT_MAY_COME
                && self.agreed.sack
                && self.tcb.cong_state == CongState::Recovery;
            let rule3 = if in_recovery { Rule3::Applies } else { Rule3::Skipped };
            let segment_size = self.tcb.segment_size;
            let Sending { scoreboard, window: peer_window, next, .. } = &mut self.sending;
            let found = match next {
                Next::New if P::Loss::FORWARDS => scoreboard.next_new(*peer_window),
                Next::Lost if P::Loss::HAS_TIMER => {
                    scoreboard.next_lost().map(|seq| (seq, segment_size))
                }
                _ => scoreboard.next_segment(rule3, *peer_window),
            };
            let Some((seq, most)) = found else { return self.gather(window) };
            let data = self.sending.scoreboard.size_from(seq);
            // Silly window avoidance (RFC 9293 section 3.8.6.2.1): rather wait than cut a segment.
            let room = if P::Segmentation::WAITS { window.min(most) } else { window };
            if room < segment_size && data > room && !self.is_cut_next() {
                return self.gather(window);
            }
            self.found_nothing = false;
            if seq == self.tcb.high_tx_mark {
                if self.is_deferred(window) {
                    return;
                }
            } else if P::Segmentation::WAITS {
                self.repeat_together(seq, window);
            }
            if data < window && !P::Segmentation::WAITS {
                self.offer_space(env);
            }
            // Nagle (RFC 896).
            if !self.config.no_delay && self.unacked_bytes() > 0 && data < segment_size {
                return;
            }
            self.tcb.next_tx_seq = seq;
            self.tell_of_start();
            let most = self.sending.segmentation.cut().map_or(most, |cut| most.min(cut));
            let len = window.min(segment_size).min(most);
            let flags = if self.sending.connected { Flags::ACK } else { Flags::default() };
            let sent = self.send_data(seq, len, flags, env);
            self.tcb.next_tx_seq += sent;
            if self.is_pacing() && !P::Pacing::BY_BURSTS && !self.is_pending(Timer::Pacing) {
                self.pace(sent, env);
                return;
            }
        }
    }

    /// Data is about to leave: the algorithm is told if none is in flight.
    #[inline(always)]
    pub(super) fn tell_of_start(&mut self) {
        if self.tcb.bytes_in_flight == 0 {
            self.tcb.is_app_limited = self.sending.rate.is_app_limited();
            self.congestion.algorithm().cwnd_event(&mut self.tcb, CaEvent::TxStart);
        }
    }

    /// What leaves next is as much of a segment as the window has room for.
    #[inline(always)]
    pub(super) fn is_cut_next(&self) -> bool {
        P::Segmentation::WAITS && self.sending.segmentation.cuts_next(self.tcb.now)
    }

    /// New data waits for more of it, though `room` bytes of the window are free.
    #[inline(always)]
    pub(super) fn is_deferred(&mut self, room: u32) -> bool {
        if !P::Segmentation::WAITS {
            return false;
        }
        self.sending.ends_burst = false;
        if self.is_pacing() && !P::Pacing::BY_BURSTS {
            return false;
        }
        let Sending { scoreboard, segmentation, window, ends_burst, close_on_empty, .. } =
            &mut self.sending;
        let leaves = segmentation.leaves(opening(
            &self.tcb,
            &self.config,
            scoreboard,
            *window,
            room,
            *close_on_empty,
        ));
        *ends_burst = segmentation.ends_burst();
        // With a wider cwnd it had left.
        let is_limited = !leaves && self.tcb.cwnd < *window;
        self.sending.is_cwnd_deferred = is_limited;
        if !self.validates() {
            self.tcb.is_cwnd_limited |= is_limited;
        }
        !leaves
    }

    /// Nothing leaves: the next burst is put together all the same, as far as cwnd would let it leave.
    #[inline(always)]
    pub(super) fn gather(&mut self, room: u32) {
        if !P::Segmentation::WAITS || self.is_paced() {
            return;
        }
        let Sending { scoreboard, segmentation, window, next, close_on_empty, .. } =
            &mut self.sending;
        if scoreboard.unsent() > 0 && *next != Next::Lost {
            let opening =
                opening(&self.tcb, &self.config, scoreboard, *window, room, *close_on_empty);
            segmentation.gather(opening);
        }
    }

    /// One burst, whatever waits for more, and one segment at least, whatever cwnd says.
    pub(super) fn send_new_as_probe<E: Environment>(&mut self, env: &mut E) {
        let room = self.available_window();
        let Sending { scoreboard, segmentation, window, ends_burst, close_on_empty, .. } =
            &mut self.sending;
        let opening = opening(&self.tcb, &self.config, scoreboard, *window, room, *close_on_empty);
        segmentation.leaves_as_probe(opening);
        *ends_burst = segmentation.ends_burst();
        while let Some((seq, most)) = self.sending.scoreboard.next_new(self.sending.window) {
            self.tcb.next_tx_seq = seq;
            let sent = self.send_data(seq, most, Flags::ACK, env);
            self.tcb.next_tx_seq += sent;
            if !self.sending.segmentation.is_within_burst() || self.is_deferred(room) {
                break;
            }
        }
    }

    /// What is lost leaves again as it left, if `room` allows.
    pub(super) fn repeat_together(&mut self, seq: Seq, room: u32) {
        let Sending { scoreboard, segmentation, ends_burst, .. } = &mut self.sending;
        segmentation.leaves_again(&self.tcb, room, scoreboard.lost_together(seq));
        *ends_burst = segmentation.ends_burst();
    }

    /// Sends at most `max` bytes from `seq`, in a segment with `flags` and those that are due; returns
    /// how many.
    pub(super) fn send_data<E: Environment>(
        &mut self,
        seq: Seq,
        max: u32,
        flags: Flags,
        env: &mut E,
    ) -> u32 {
        let now = self.tcb.now;
        let in_flight = self.bytes_in_flight();
        let Sending { scoreboard, rate, .. } = &mut self.sending;
        self.round_trips.keep(seq, max, scoreboard);
        let Some(index) = scoreboard.take(max, seq, now) else { return 0 };
        let lost = scoreboard.found_lost();
        let segment = scoreboard.send(index, || rate.on_sent(now, in_flight, lost));
        let (len, is_retransmission) = (segment.len, segment.retransmitted);
        let was_pushed = segment.is_pushed;
        if P::Segmentation::WAITS && !self.sending.segmentation.is_within_burst() {
            let is_pushed = self.sending.segmentation.is_pushed();
            self.sending.scoreboard.end_burst(index, is_pushed);
        }

        if self.is_pacing() && (P::Pacing::BY_BURSTS || !self.is_pending(Timer::Pacing)) {
            self.pace(len, env);
        }
        let mut flags = flags;
        if flags.has(Flags::ACK) {
            self.disarm(Timer::DelayedAck, env);
            self.receiving.acks.on_ack_sent();
        }
        let has_fin = P::STACK == TcpStack::Linux
            && self.sending.has_fin
            && seq + len == self.sending.scoreboard.tail();
        let payload = len - u32::from(has_fin);
        let mut ecn = Ecn::NotEct;
        if payload > 0 {
            flags = flags.with(self.ecn_flags(seq, is_retransmission));
            ecn = self.ecn_of_data(is_retransmission);
        }
        if has_fin {
            flags = flags.with(Flags::FIN);
            if self.tcb.ecn_state.is_echoing() {
                flags = flags.with(Flags::ECE);
            }
        }
        if self.sending.close_on_empty && self.sending.scoreboard.size_from(seq + len) == 0 {
            flags = flags.with(Flags::FIN);
            match self.state {
                State::Established => self.state = State::FinWait1,
                State::CloseWait => self.state = State::LastAck,
                _ => {}
            }
        }
        let push = self.push(seq + len, was_pushed);
        if payload > 0 {
            flags = flags.with(push);
        }
        let window = self.window_field(self.agreed.receive_shift);
        let mut packet = self.segment(seq, flags, window, payload);
        packet.ecn = ecn;
        if payload == 0 && self.tcb.ecn_mode != EcnMode::Classic {
            self.mark_control(&mut packet);
        }
        if P::HEARS_LATE_TIMESTAMPS {
            self.receiving.highest_ack_sent = self.receiving.highest_ack_sent.max(packet.ack);
        }
        if self.starts_rto(seq, len, is_retransmission) {
            self.disarm(Timer::Retransmit, env);
            self.arm_retransmit(RetransmitAction::Data, env);
        }
        if payload > 0 {
            self.statistics.count_departure(&self.tcb, seq, payload);
        }
        if P::Validation::IS_ACTIVE {
            self.tcb.last_departure = now;
        }
        env.transmit(packet);

        let in_flight = self.bytes_in_flight();
        self.note_limit(in_flight);
        if is_retransmission {
            self.round_trips.on_retransmitted(seq, len);
        }
        if matches!(self.tcb.cong_state, CongState::Recovery | CongState::Cwr) {
            self.congestion.on_sent(self.sending.scoreboard.counted(len));
        }
        self.tcb.high_tx_mark = self.tcb.high_tx_mark.max(seq + len);
        self.note_departure(seq, len, is_retransmission);
        len
    }

    /// PSH for a segment that ends at `end`: the last of a burst, and of what there is to send (RFC 9293 section 3.9.1.2), and one that
    /// `was_pushed` before.
    #[inline(always)]
    pub(super) fn push(&mut self, end: Seq, was_pushed: bool) -> Flags {
        if !P::Segmentation::WAITS {
            return Flags::default();
        }
        let ends_burst = std::mem::take(&mut self.sending.ends_burst);
        let is_last = self.sending.scoreboard.size_from(end) == 0;
        if ends_burst || was_pushed || is_last { Flags::PSH } else { Flags::default() }
    }

    /// Whether the retransmission timer starts with this segment: the only one in flight, or the first of them again.
    #[inline(always)]
    pub(super) fn starts_rto(&self, seq: Seq, len: u32, is_retransmission: bool) -> bool {
        if !P::Loss::REPLACES_RTO {
            return !self.is_pending(Timer::Retransmit);
        }
        let Sending { scoreboard, loss, .. } = &self.sending;
        if is_retransmission {
            seq == scoreboard.head() && loss.deadline().is_none()
        } else {
            scoreboard.sent_size() == len
        }
    }

    /// Whether the segment that has just left filled the window.
    #[inline(always)]
    pub(super) fn note_limit(&mut self, in_flight: u32) {
        if !self.validates() {
            let next = in_flight.wrapping_add(self.tcb.segment_size);
            self.tcb.is_cwnd_limited = self.tcb.cwnd < next;
        }
    }

    /// An ACK that echoes congestion if there is any to echo (RFC 3168 section 6.1.3).
    pub(super) fn send_ack<E: Environment>(&mut self, env: &mut E) {
        if self.tcb.ecn_state.is_echoing() {
            self.send_control(Flags::ACK.with(Flags::ECE), env);
            self.tcb.ecn_state = EcnState::SendingEce;
        } else {
            self.send_control_here(Flags::ACK, env);
        }
    }

    /// Sends a segment without data.
    #[inline(never)]
    pub(super) fn send_control<E: Environment>(&mut self, flags: Flags, env: &mut E) {
        self.send_control_here(flags, env);
    }

    /// The same for flags that the compiler knows.
    #[inline(always)]
    fn send_control_here<E: Environment>(&mut self, flags: Flags, env: &mut E) {
        if !self.open {
            return;
        }
        let mut flags = flags;
        let mut seq = self.tcb.next_tx_seq;
        if P::STACK == TcpStack::Linux {
            seq = seq.max(self.tcb.high_tx_mark); // ns-3's goes back with what is sent again
            self.note_control_left();
        }
        if flags.has(Flags::FIN) {
            flags = flags.with(Flags::ACK);
        } else if matches!(self.state, State::FinWait1 | State::LastAck | State::Closing)
            && !self.sending.has_fin
        {
            seq += 1; // beyond the FIN
        }
        if !P::Rtt::OF_DELIVERIES {
            self.round_trips.restart_rto();
        }
        let has_syn = flags.has(Flags::SYN);
        if has_syn && !self.await_answer(seq, flags, env) {
            return;
        }
        let window = self.window_field(if has_syn { 0 } else { self.agreed.receive_shift });
        let mut packet = self.segment(seq, flags, window, 0);
        if self.tcb.ecn_mode != EcnMode::Classic {
            self.mark_control(&mut packet);
        }
        self.repeat_ect(&mut packet);
        if flags.has(Flags::ACK) {
            self.disarm(Timer::DelayedAck, env);
            self.receiving.acks.on_ack_sent();
            self.receiving.highest_ack_sent = self.receiving.highest_ack_sent.max(packet.ack);
        }
        let with_duplicate = self.duplicate_to_send(flags);
        let blocks = match &with_duplicate {
            Some((blocks, count)) => &blocks[..*count],
            None => self.sacks_to_send(flags),
        };
        if self.tcb.ecn_mode.rules().reads_all || !blocks.is_empty() {
            let (beside, count) = (Beside::of_blocks(blocks), blocks.len());
            self.transmit_with_options(packet, beside, count, env);
        } else {
            env.transmit(packet);
        }
        let guarded = has_syn || flags.has(Flags::FIN);
        if guarded && !self.is_pending(Timer::Retransmit) {
            self.arm_retransmit(RetransmitAction::Control(flags), env);
        }
    }

    /// What has no data is something that has left, too, for what waits for more and for what is paced (Linux's `tcp_wstamp_ns`).
    #[inline(always)]
    fn note_control_left(&mut self) {
        self.tcb.next_departure = self.tcb.next_departure.max(self.tcb.now);
    }

    /// Arms the retransmission timer with the present RTO.
    pub(super) fn arm_retransmit<E: Environment>(&mut self, action: RetransmitAction, env: &mut E) {
        self.retransmit_action = action;
        self.arm_ticking(Timer::Retransmit, self.round_trips.rto, env);
    }

    /// As last evaluated.
    #[inline]
    pub(super) fn pipe(&self) -> Pipe {
        Pipe {
            cwnd: self.tcb.cwnd,
            in_flight: self.tcb.bytes_in_flight,
            lost: self.sending.scoreboard.lost_out(),
            retransmitted: self.sending.scoreboard.retrans_out(),
            segment_size: self.tcb.segment_size,
        }
    }

    /// What may be in flight: the peer's window is one of bytes.
    #[inline(always)]
    pub(super) fn window(&self) -> u32 {
        let Sending { window, scoreboard, .. } = &self.sending;
        let padding = if P::COUNTS_SEGMENTS { scoreboard.padding() } else { 0 };
        window.saturating_add(padding).min(self.tcb.cwnd)
    }

    /// What cwnd and the peer's window leave.
    #[inline]
    pub(super) fn available_window(&mut self) -> u32 {
        let window = self.window();
        if self.config.fack && self.agreed.sack && window >= self.tcb.ssthresh {
            return window.saturating_sub(self.beyond_forward_ack());
        }
        window.saturating_sub(self.bytes_in_flight())
    }

    /// What FACK takes for what is in flight; ns-3 does not evaluate the pipe where it is used.
    #[cold]
    fn beyond_forward_ack(&self) -> u32 {
        let beyond = (self.tcb.high_tx_mark - self.sending.forward_ack) as u32;
        beyond.wrapping_add(self.sending.scoreboard.retrans_out())
    }

    /// A segment of `bytes` leaves; what comes after it waits, if it is not within a burst.
    pub(super) fn pace<E: Environment>(&mut self, bytes: u32, env: &mut E) {
        let Sending { pacing, segmentation, .. } = &mut self.sending;
        let ends = !segmentation.is_within_burst();
        if let Some(gap) = pacing.gap(&mut self.tcb, bytes, ends) {
            if P::Pacing::BY_BURSTS {
                self.disarm(Timer::Pacing, env);
            }
            self.arm(Timer::Pacing, gap, env);
        }
    }

    #[inline(always)]
    pub(super) fn is_pacing(&self) -> bool {
        self.sending.pacing.is_active(&self.tcb)
    }

    /// The pacing timer has to fire before anything leaves.
    #[inline(always)]
    pub(super) fn is_paced(&self) -> bool {
        self.is_pacing() && self.is_pending(Timer::Pacing)
    }

    #[inline]
    pub(super) fn update_pacing_rate(&mut self) {
        if self.tcb.pacing && !self.congestion.is_rate_control() {
            self.sending.pacing.update_rate(&mut self.tcb);
        }
    }
}

/// Room for new data, of which the peer's window lets `window` be in flight.
#[inline(always)]
pub(super) fn opening<'a>(
    tcb: &'a Tcb,
    config: &Config,
    scoreboard: &Scoreboard,
    window: u32,
    room: u32,
    is_closed: bool,
) -> Opening<'a> {
    Opening {
        tcb,
        window: tcb.cwnd.min(window),
        peer_window: window,
        send_buffer: config.send_buffer,
        room,
        unsent: scoreboard.unsent(),
        sent: (scoreboard.high() - FIRST_BYTE) as u32,
        unacked: scoreboard.sent_size(),
        pieces: scoreboard.pieces(),
        is_closed,
        may_cut: config.no_delay || scoreboard.padding() == 0,
        oldest: scoreboard.oldest_departure(),
    }
}
