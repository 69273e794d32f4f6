//! Acknowledgements: scoreboard, congestion state machine, window growth (RFC 5681, 6582, 6675, 3168).
//!
//! Any ACK that SACKs new bytes counts as a duplicate, also when it advances SND.UNA (RFC 6675
//! section 2).  ns-3 departs from RFC 6675 in a way that shows in the packets, and is kept: duplicate
//! ACKs in CWR are counted but start no fast retransmit until CWR has ended.

use super::parts::{Next, Sending};
use super::{Environment, Socket, State, Timer};
use crate::base::seq::Seq;
use crate::host::tcp::control::Acked;
use crate::host::tcp::control::TcpStack;
use crate::host::tcp::loss::{Disorder, Finding, LossDetection};
use crate::host::tcp::profile::Profile;
use crate::host::tcp::rate::Taken;
use crate::host::tcp::recovery::AckKind;
use crate::host::tcp::rtt::RttEstimation;
use crate::host::tcp::scoreboard::Rule3;
use crate::host::tcp::segmentation::Segmentation;
use crate::host::tcp::tcb::CongState;
use crate::packet::{Flags, Packet, SackBlock};

/// What one ACK brought.
#[derive(Clone, Copy, Debug)]
struct AckInfo {
    ack: Seq,
    /// SND.UNA before it.
    old_head: Seq,
    /// Bytes newly acknowledged or SACKed.
    delivered: u32,
    is_duplicate: bool,
}

/// What an ACK that moves SND.UNA leads to, in this order.
struct Step {
    /// Segments that the algorithm is told of.
    acked: Option<u32>,
    /// The episode is over, and the state Open.
    ends: bool,
    /// None: the ACK is a duplicate besides, and nothing more follows from it.
    window: Option<Window>,
}

/// What becomes of cwnd.
enum Window {
    Stays,
    /// By so many segments acknowledged.
    Grows(u32),
    /// As loss recovery says.
    Shrinks,
}

/// Whether the retransmission timer starts again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rto {
    Anew,
    Kept,
}

impl<P: Profile> Socket<P> {
    /// An acceptable ACK, with or without data.
    pub(super) fn on_ack<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if packet.beside == 0 && packet.ack == self.tcb.high_tx_mark && self.is_all_acked() {
            return self.on_ack_of_nothing(packet, env);
        }
        let lost_before = self.sending.scoreboard.lost_out();
        let prior_in_flight = self.tcb.bytes_in_flight;
        let delivered_before = self.sending.rate.delivered();
        let outstanding_before = self.sending.scoreboard.outstanding();
        let now = self.tcb.now;
        let ack = packet.ack;
        let old_head = self.sending.scoreboard.head();

        self.sending.loss.on_ack_begins(&self.tcb);
        if P::STEPS_ONCE_AN_ACK {
            self.sending.rate.on_ack_begins(self.sending.scoreboard.found_lost());
        }
        let newly_sacked = if packet.sacks() > 0 { self.take_sacks(packet, env) } else { 0 };
        if ack < old_head {
            if packet.payload > 0 {
                self.on_data(packet, env);
            }
            return;
        }
        if ack > old_head {
            if !P::STEPS_ONCE_AN_ACK
                && ack < self.sending.recover
                && self.tcb.cong_state == CongState::Recovery
            {
                self.note_acked_retransmissions(ack, old_head);
            }
            self.sending.discard_up_to(ack, now);
        }
        let acked = outstanding_before.wrapping_sub(self.sending.scoreboard.outstanding());
        let delivered = (self.sending.rate.delivered() - delivered_before) as u32;
        self.tcb.last_acked_sacked = delivered;

        if P::Rtt::OF_DELIVERIES {
            self.take_round_trips(packet, acked);
        }

        self.sending.has_stepped = false;
        self.leave_cwr(ack);
        self.on_ecn_echo(packet, old_head, delivered);
        self.bytes_in_flight();
        let found_before = self.sending.scoreboard.found_lost();
        let finding = self.detect(|loss, flight| loss.on_ack(flight));
        if P::Loss::REPLACES_RTO && self.sending.restarts_rto && self.is_pending(Timer::Retransmit)
        {
            self.disarm(Timer::Retransmit, env);
            self.arm_retransmit(super::RetransmitAction::Data, env);
        }
        if P::STEPS_ONCE_AN_ACK {
            // SafeACK of RFC 9937 section 5: it goes forward, and nothing more is lost.
            let is_more_lost = self.sending.scoreboard.found_lost() > found_before;
            self.tcb.is_retrans_data_acked = ack > old_head && !is_more_lost;
            self.bytes_in_flight();
        }
        let before = self.tcb.cong_state;
        self.heed(finding, delivered, env);
        self.answer_echo(packet, delivered, before, finding);

        let is_duplicate = if self.agreed.sack {
            newly_sacked > 0
        } else {
            ack == old_head && ack < self.tcb.high_tx_mark && packet.payload == 0
        };
        self.process_ack(AckInfo { ack, old_head, delivered, is_duplicate }, env);
        let is_reducing = matches!(self.tcb.cong_state, CongState::Cwr | CongState::Recovery);
        if P::STEPS_ONCE_AN_ACK && is_reducing && delivered > 0 {
            self.step_recovery(delivered, AckKind::Duplicate);
        }
        self.tcb.is_retrans_data_acked = false;
        if P::STEPS_ONCE_AN_ACK {
            self.tcb.outstanding = self.sending.scoreboard.outstanding();
        }

        let lost = self.sending.scoreboard.lost_out().abs_diff(lost_before);
        self.sample_rate(delivered, lost, prior_in_flight);
        if packet.payload > 0 {
            self.on_data(packet, env);
        }
        if P::Loss::FORWARDS && self.sending.next == Next::New {
            self.send_forward(finding, env);
            if finding == Finding::Doubtful {
                return;
            }
        }
        self.send_pending(env);
    }

    /// Returns how many bytes are SACKed that were not before.
    #[inline(always)]
    fn take_sacks<E: Environment>(&mut self, packet: &Packet, env: &mut E) -> u32 {
        let blocks = &env.options().sacks[..packet.sacks()];
        let duplicate =
            if P::Loss::HEEDS_DUPLICATES { duplicate_delivery(blocks, packet.ack) } else { None };
        let held = &blocks[usize::from(duplicate.is_some())..];
        if let Some(duplicate) = duplicate {
            self.note_duplicates(duplicate);
        }
        for &(_, right) in held {
            self.sending.forward_ack = self.sending.forward_ack.max(right);
        }
        let newly_sacked = self.sending.update(held, self.tcb.now);
        if let Some(duplicate) = duplicate {
            self.sending.scoreboard.settle_duplicate(duplicate);
        }
        if newly_sacked > 0 {
            self.detect(|loss, flight| loss.on_sacked(flight));
        }
        newly_sacked
    }

    /// An ACK that others have overtaken: what it SACKs counts all the same, and what has waited may leave (the end of Linux's
    /// `tcp_ack`).
    #[cold]
    pub(super) fn on_old_ack<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if packet.sacks() > 0 {
            self.sending.loss.on_ack_begins(&self.tcb);
            let newly_sacked = self.take_sacks(packet, env);
            self.sending.restarts_rto = false;
            self.bytes_in_flight();
            let finding = self.detect(|loss, flight| loss.on_ack(flight));
            self.heed(finding, newly_sacked, env);
            self.keep_open();
        }
        self.send_pending(env);
    }

    /// It has come twice, and counts as delivered again: something that was sent has left the network.
    #[cold]
    fn note_duplicates(&mut self, duplicate: SackBlock) {
        let Sending { loss, scoreboard, rate, .. } = &mut self.sending;
        let size = self.tcb.segment_size;
        let segments = loss.on_duplicate_delivery(size, duplicate, scoreboard);
        rate.count_duplicates(segments * size);
    }

    /// The RTT by what the ACK has delivered.  The retransmission timer starts again with what is acknowledged in order, or
    /// with the SACK of something that left before the first segment did (Linux's `FLAG_SET_XMIT_TIMER`).
    fn take_round_trips(&mut self, packet: &Packet, acked: u32) {
        let of_echo = self.rtt_of_echo(packet);
        let now = self.tcb.now;
        let Some(times) = &mut self.sending.times else { return };
        let found = times.take(now, of_echo);
        self.round_trips.on_deliveries(packet.ack, found, &mut self.tcb);
        let oldest = self.sending.scoreboard.oldest_departure();
        let is_of_earlier = found.sacked.zip(oldest).is_some_and(|(rtt, left)| rtt > now - left);
        self.sending.restarts_rto = found.has_acked || is_of_earlier;
        self.tcb.last_acked_seq = packet.ack;
        let segments = acked / self.tcb.segment_size;
        let acked = Acked {
            segments,
            rtt: found.newest,
            window: self.sending.window,
            is_plain: packet.sacks() == 0 && !packet.flags.has(Flags::ECE),
        };
        self.congestion.algorithm().on_acked(&self.tcb, acked);
        if found.newest.is_some() {
            let rtt = P::told_rtt(&self.tcb);
            self.congestion.pkts_acked(&mut self.tcb, segments.max(1), rtt);
        }
    }

    /// New data leaves first, or what is lost after all.
    #[cold]
    fn send_forward<E: Environment>(&mut self, finding: Finding, env: &mut E) {
        let before = self.tcb.high_tx_mark;
        self.send_pending(env);
        self.sending.next = Next::Any;
        if finding == Finding::Forward && self.tcb.high_tx_mark == before {
            self.ask(|loss, _| loss.on_forward_failed());
        }
    }

    /// Nothing that was sent waits for an acknowledgement: with a receiver it is always so.
    #[inline]
    pub(super) fn is_all_acked(&self) -> bool {
        self.sending.scoreboard.head() == self.tcb.high_tx_mark
    }

    /// The same where there is nothing to acknowledge, which takes a fraction of the steps.
    fn on_ack_of_nothing<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let prior_in_flight = self.tcb.bytes_in_flight;
        self.tcb.last_acked_sacked = 0;
        self.leave_cwr(packet.ack);
        self.on_ecn_echo(packet, packet.ack, 0);
        self.answer_echo(packet, 0, self.tcb.cong_state, Finding::Nothing);
        self.bytes_in_flight();
        self.tcb.last_acked_seq = packet.ack;
        self.tcb.is_retrans_data_acked = false;
        self.sample_rate(0, 0, prior_in_flight);
        if packet.payload > 0 {
            self.on_data(packet, env);
        }
        self.send_pending(env);
    }

    /// An ACK ends with a sample, if the algorithm wants one: `delivered` bytes are newly acknowledged or SACKed, and
    /// of `lost_change` bytes more or fewer than before it is thought that they are lost.
    #[inline]
    pub(super) fn sample_rate(&mut self, delivered: u32, lost_change: u32, prior_in_flight: u32) {
        if !self.sending.rate.tells() {
            return;
        }
        let lost = self.sending.scoreboard.found_lost();
        let taken = Taken { delivered, lost_change, lost, prior_in_flight };
        if let Some(sample) = self.sending.rate.sample(taken, self.tcb.min_rtt) {
            self.congestion.sample(&mut self.tcb, sample);
            if self.congestion.limits_itself() {
                self.sending.rate.limit_by_application(self.tcb.bytes_in_flight);
            }
        }
    }

    /// Linux's FLAG_RETRANS_DATA_ACKED, looked for at multiples of the segment size below `ack`.
    fn note_acked_retransmissions(&mut self, ack: Seq, old_head: Seq) {
        let size = self.tcb.segment_size;
        let segments = (ack - old_head) as u32 / size;
        if (0..segments).any(|i| self.sending.scoreboard.is_retransmission_acked(ack - i * size)) {
            self.tcb.is_retrans_data_acked = true;
        }
    }

    /// CWR ends when everything sent before it is acknowledged, and more.
    fn leave_cwr(&mut self, ack: Seq) {
        if self.tcb.cong_state != CongState::Cwr || ack <= self.sending.recover {
            return;
        }
        self.congestion.on_cwr(&mut self.tcb, CongState::Open);
        self.set_cong_state(CongState::Open);
        self.congestion.complete_cwr(&mut self.tcb);
        self.note_window();
    }

    fn process_ack<E: Environment>(&mut self, info: AckInfo, env: &mut E) {
        let dup_acks_before = self.sending.dup_acks;
        self.tcb.last_acked_seq = info.ack;
        if info.is_duplicate {
            self.on_duplicate(info.delivered, env);
        }
        if info.ack == info.old_head {
            if info.ack == self.tcb.high_tx_mark {
                return; // nothing is outstanding
            }
            if info.ack > self.tcb.high_tx_mark {
                self.tcb.next_tx_seq = info.ack; // the FIN
            } else {
                // One segment has left the network after all.
                self.tell_acked(1);
                if info.is_duplicate {
                    self.grow_by_sacks(info.delivered);
                }
            }
        } else if info.ack > info.old_head {
            let segments = self.sending.count_segments(info.delivered, self.tcb.segment_size);
            if !info.is_duplicate {
                self.sending.dup_acks = 0;
            }
            self.on_advance(info, segments, dup_acks_before, env);
        }
        self.update_pacing_rate();
    }

    #[inline(always)]
    fn grow(&mut self, segments: u32) {
        self.congestion.grow(&mut self.tcb, segments);
        self.note_window();
    }

    /// Nothing is acknowledged in order, but on this path that says little (Linux's `tcp_may_raise_cwnd`).
    #[inline(always)]
    fn grow_by_sacks(&mut self, delivered: u32) {
        let is_reduced = matches!(self.tcb.cong_state, CongState::Cwr | CongState::Recovery);
        if !is_reduced && self.sending.loss.takes_sacks_for_order() {
            let segments = self.sending.count_segments(delivered, self.tcb.segment_size);
            self.grow(segments);
        }
    }

    /// RFC 6675 section 5, third paragraph and steps (1) to (3).
    fn on_duplicate<E: Environment>(&mut self, delivered: u32, env: &mut E) {
        if self.tcb.cong_state == CongState::Loss {
            return;
        }
        if self.tcb.cong_state != CongState::Recovery {
            self.sending.dup_acks += 1;
        }
        if self.tcb.cong_state == CongState::Open {
            self.congestion.set_state(&mut self.tcb, CongState::Disorder);
            self.set_cong_state(CongState::Disorder);
        }
        match self.tcb.cong_state {
            CongState::Recovery => {
                self.detect(|loss, flight| loss.on_duplicate(flight));
                self.step_recovery(delivered, AckKind::Duplicate);
            }
            CongState::Disorder => {
                let sending = &self.sending;
                let disorder = Disorder {
                    duplicates: sending.dup_acks,
                    highest_ack: sending.highest_ack,
                    forward: self.forward_distance(),
                    is_past_recovery: sending.highest_ack >= sending.recover
                        || !sending.is_recover_active,
                };
                if self.detect(|loss, flight| loss.begins_recovery(flight, disorder)) {
                    self.enter_recovery(delivered, env);
                } else if self.config.limited_transmit {
                    // RFC 3042
                    self.detect(|loss, flight| loss.on_duplicate(flight));
                }
            }
            _ => {}
        }
    }

    fn forward_distance(&self) -> u32 {
        let distance = self.sending.forward_ack - self.sending.scoreboard.head();
        if self.config.fack { distance.max(0) as u32 } else { 0 }
    }

    /// SND.UNA moves: what follows depends on the state.
    fn on_advance<E: Environment>(
        &mut self,
        info: AckInfo,
        segments: u32,
        dup_acks_before: u32,
        env: &mut E,
    ) {
        let state = self.tcb.cong_state;
        let is_below = info.ack < self.sending.recover;
        if state == CongState::Recovery && is_below {
            return self.on_partial_ack(info, segments, env);
        }
        let step = self.step(info, is_below, segments, dup_acks_before);
        if let Some(segments) = step.acked {
            self.tell_acked(segments);
        }
        if step.ends {
            if state == CongState::Recovery {
                self.end_recovery();
            } else {
                self.sending.is_first_partial_ack |= state != CongState::Disorder;
                self.enter_open();
            }
        }
        if P::STEPS_ONCE_AN_ACK {
            self.keep_open();
        }
        if !is_below && state != CongState::Cwr {
            self.sending.is_recover_active = false;
        }
        if state == CongState::Recovery {
            self.restart(info.ack, Rto::Anew, env);
            self.settle_window();
        }
        match step.window {
            None => return,
            Some(Window::Stays) => {}
            Some(Window::Grows(segments)) => self.grow(segments),
            Some(Window::Shrinks) => {
                self.step_recovery(info.delivered, AckKind::Advance);
            }
        }
        self.restart(info.ack, Rto::Anew, env);
    }

    fn keep_open(&mut self) {
        if matches!(self.tcb.cong_state, CongState::Open | CongState::Disorder) {
            self.open_as_may_be();
        }
    }

    /// Out of an episode it is Disorder as long as something that was SACKed, lost or retransmitted is there (Linux's
    /// `tcp_try_keep_open`).
    pub(super) fn open_as_may_be(&mut self) {
        let scoreboard = &self.sending.scoreboard;
        let is_clear = scoreboard.is_unmarked() && !scoreboard.has_retransmissions();
        let state = if is_clear { CongState::Open } else { CongState::Disorder };
        if self.tcb.cong_state != state {
            self.congestion.set_state(&mut self.tcb, state);
            self.set_cong_state(state);
        }
    }

    /// RFC 5681 and RFC 6675 section 5 as a table: what an ACK beyond the recovery point, or in a state
    /// without one, brings.
    fn step(&self, info: AckInfo, is_below: bool, segments: u32, dup_acks_before: u32) -> Step {
        let size = self.tcb.segment_size;
        let (acked, ends, window) = match self.tcb.cong_state {
            CongState::Open => (Some(segments), false, Some(Window::Grows(segments))),
            CongState::Disorder => {
                // The duplicates have been told of one by one.
                let new = segments.checked_sub(dup_acks_before);
                let grows = !info.is_duplicate || P::STEPS_ONCE_AN_ACK;
                (
                    new,
                    !info.is_duplicate && !P::STEPS_ONCE_AN_ACK,
                    grows.then_some(Window::Grows(segments)),
                )
            }
            CongState::Cwr if segments == 0 => (Some(0), false, Some(Window::Stays)),
            CongState::Cwr => (Some(segments), false, Some(Window::Shrinks)),
            // What this ACK delivers: the rest was when it was SACKed.
            CongState::Recovery | CongState::Loss if P::STEPS_ONCE_AN_ACK && !is_below => {
                (Some(segments), true, Some(Window::Grows(segments)))
            }
            CongState::Recovery => {
                let all = (info.ack - info.old_head) as u32 / size;
                (Some(all), true, Some(Window::Grows(all)))
            }
            CongState::Loss if is_below => (Some(segments), false, Some(Window::Grows(segments))),
            CongState::Loss => {
                let beyond = (info.ack - self.sending.recover) as u32 / size;
                (Some(beyond), true, Some(Window::Grows(beyond)))
            }
        };
        Step { acked, ends, window }
    }

    /// An ACK below the recovery point (RFC 6582 section 3.2 step 3, RFC 6675 section 5 step B).
    fn on_partial_ack<E: Environment>(&mut self, info: AckInfo, segments: u32, env: &mut E) {
        self.detect(|loss, flight| loss.on_partial_ack(flight));
        if segments >= 1 {
            self.step_recovery(info.delivered, AckKind::Advance);
        }
        let first = info.ack + self.tcb.segment_size;
        if P::PARTIAL_ACK_SENDS && !self.sending.scoreboard.is_retransmission_acked(first) {
            self.retransmit_next(env);
        }
        self.tell_acked(1);
        let restarts = P::PARTIAL_ACKS_RESTART_RTO || self.sending.is_first_partial_ack;
        let rto = if restarts { Rto::Anew } else { Rto::Kept };
        self.restart(info.ack, rto, env);
        self.sending.is_first_partial_ack = false;
    }

    /// Sends the next segment, or the head again, without asking the window.
    pub(super) fn retransmit_next<E: Environment>(&mut self, env: &mut E) {
        let next = self.sending.scoreboard.next_segment(Rule3::Skipped, self.sending.window);
        let (seq, most) = next.unwrap_or((self.sending.scoreboard.head(), self.tcb.segment_size));
        self.tcb.next_tx_seq = seq;
        if P::STACK == TcpStack::Linux {
            self.bytes_in_flight();
            self.tell_of_start();
        }
        if P::Segmentation::WAITS {
            let room = self.available_window().max(self.tcb.segment_size);
            self.repeat_together(seq, room);
        }
        self.send_data(seq, most, Flags::ACK, env);
    }

    /// New data is acknowledged: the retransmission timer starts again (RFC 6298 section 5.3) and the
    /// application may write.
    #[inline(never)]
    fn restart<E: Environment>(&mut self, ack: Seq, rto: Rto, env: &mut E) {
        self.restart_here(ack, rto, env);
    }

    /// The same where it happens most.
    #[inline(always)]
    pub(super) fn restart_here<E: Environment>(&mut self, ack: Seq, rto: Rto, env: &mut E) {
        self.sending.retries_left = self.config.data_retries;
        self.sending.forward_ack = self.sending.forward_ack.max(ack);
        if !P::Loss::REPLACES_RTO && self.state != State::SynRcvd && rto == Rto::Anew {
            self.disarm(Timer::Retransmit, env);
            self.round_trips.restart_rto();
            self.arm_retransmit(super::RetransmitAction::Data, env);
        }
        if !P::Segmentation::WAITS {
            self.offer_space_here(env);
        }
        if ack > self.tcb.next_tx_seq {
            self.tcb.next_tx_seq = ack;
        }
        let is_fin_out =
            matches!(self.state, State::FinWait1 | State::Closing) && !self.sending.has_fin;
        let Sending { scoreboard, .. } = &self.sending;
        let is_idle =
            if P::Loss::REPLACES_RTO { scoreboard.sent_size() } else { scoreboard.size() } == 0;
        if is_idle && !is_fin_out {
            self.disarm(Timer::Retransmit, env);
        }
    }
}

/// The first block, if it reports a duplicate: it lies below the acknowledgement, or in the second block (RFC 2883 section
/// 4).
fn duplicate_delivery(blocks: &[SackBlock], ack: Seq) -> Option<SackBlock> {
    let &first = blocks.first()?;
    let is_within = |&(left, right): &SackBlock| left <= first.0 && first.1 <= right;
    (first.1 <= ack || blocks.get(1).is_some_and(is_within)).then_some(first)
}
