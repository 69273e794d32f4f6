//! Acknowledgements: scoreboard, congestion state machine, window growth (RFC 5681, 6582, 6675, 3168).
//!
//! Any ACK that SACKs new bytes counts as a duplicate, also when it advances SND.UNA (RFC 6675
//! section 2).  ns-3 departs from RFC 6675 in places that show in the packets; they are kept and named
//! here: a partial ACK in Recovery sends one segment whatever the window says; duplicate ACKs in CWR
//! are counted but start no fast retransmit until CWR has ended.

use super::{Environment, Socket, State, Timer};
use crate::packet::{Flags, Packet};
use crate::seq::Seq;
use crate::tcp::control::CaEvent;
use crate::tcp::recovery::AckKind;
use crate::tcp::tcb::{CongState, EcnState};

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

impl Socket {
    /// An acceptable ACK, with or without data.
    pub(super) fn on_ack<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        let lost_before = self.scoreboard.lost_out();
        let prior_in_flight = self.tcb.bytes_in_flight;
        let delivered_before = self.rate.delivered();
        let now = self.tcb.now;
        let ack = packet.ack;
        let old_head = self.scoreboard.head();

        let mut newly_sacked = 0;
        if packet.sacks > 0 {
            let (blocks, n) = packet.sack_blocks();
            newly_sacked = self.scoreboard.update(&blocks[..n], now, &mut self.rate);
        }
        if ack < old_head {
            if packet.payload > 0 {
                self.on_data(packet, env);
            }
            return;
        }
        if ack > old_head {
            if ack < self.recover && self.tcb.cong_state == CongState::Recovery {
                self.note_acked_retransmissions(ack, old_head);
            }
            self.scoreboard.discard_up_to(ack, now, &mut self.rate);
        }
        let delivered = (self.rate.delivered() - delivered_before) as u32;
        self.tcb.last_acked_sacked = delivered;

        self.leave_cwr(ack);
        self.on_ecn_echo(packet, old_head, delivered);
        self.bytes_in_flight();

        let is_duplicate = if self.sack {
            newly_sacked > 0
        } else {
            ack == old_head && ack < self.tcb.high_tx_mark && packet.payload == 0
        };
        self.process_ack(AckInfo { ack, old_head, delivered, is_duplicate }, env);
        self.tcb.is_retrans_data_acked = false;

        self.congestion.on_sample(&mut self.tcb, |tcb| {
            let lost = self.scoreboard.lost_out().abs_diff(lost_before);
            let sample = self.rate.sample(delivered, lost, prior_in_flight, tcb.min_rtt);
            (*self.rate.connection(), sample)
        });
        if packet.payload > 0 {
            self.on_data(packet, env);
        }
        self.send_pending(env);
    }

    /// Linux's FLAG_RETRANS_DATA_ACKED, looked for at multiples of the segment size below `ack`.
    fn note_acked_retransmissions(&mut self, ack: Seq, old_head: Seq) {
        let size = self.tcb.segment_size;
        let segments = (ack - old_head) as u32 / size;
        if (0..segments).any(|i| self.scoreboard.is_retransmission_acked(ack - i * size)) {
            self.tcb.is_retrans_data_acked = true;
        }
    }

    /// CWR ends when everything sent before it is acknowledged, and more.
    fn leave_cwr(&mut self, ack: Seq) {
        if self.tcb.cong_state != CongState::Cwr || ack <= self.recover {
            return;
        }
        self.set_cong_state(CongState::Open);
        self.congestion.complete_cwr(&mut self.tcb);
    }

    /// RFC 3168 section 6.1.2: reduce the window once per window of data.
    fn on_ecn_echo(&mut self, packet: &Packet, old_head: Seq, delivered: u32) {
        let echo = packet.flags.has(Flags::ECE);
        let enabled = self.tcb.ecn_state != EcnState::Disabled;
        if packet.ack > old_head && enabled && echo {
            if self.ecn_echo_seq < packet.ack {
                self.ecn_echo_seq = packet.ack;
                self.tcb.ecn_state = EcnState::EceRcvd;
                if self.tcb.cong_state != CongState::Cwr {
                    self.enter_cwr(delivered);
                }
            }
        } else if self.tcb.ecn_state == EcnState::EceRcvd && !echo {
            self.tcb.ecn_state = EcnState::Idle;
        }
    }

    fn enter_cwr(&mut self, delivered: u32) {
        let in_flight = self.bytes_in_flight();
        self.tcb.ssthresh = self.congestion.algorithm().ssthresh(&self.tcb, in_flight);
        self.set_cong_state(CongState::Cwr);
        self.recover = self.tcb.high_tx_mark;
        let unacked = self.unacked_bytes();
        self.congestion.enter(&mut self.tcb, unacked, delivered);
    }

    fn process_ack<E: Environment>(&mut self, info: AckInfo, env: &mut E) {
        let dup_acks_before = self.dup_acks;
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
                let srtt = self.tcb.srtt;
                self.congestion.algorithm().pkts_acked(&mut self.tcb, 1, srtt);
            }
        } else if info.ack > info.old_head {
            let segments = self.count_segments(info.delivered);
            if !info.is_duplicate {
                self.dup_acks = 0;
            }
            self.on_advance(info, segments, dup_acks_before, env);
        }
        self.congestion.update_pacing_rate(&mut self.tcb);
    }

    /// Whole segments in `bytes`; the rest is carried over.
    fn count_segments(&mut self, bytes: u32) -> u32 {
        let size = self.tcb.segment_size;
        let mut segments = bytes / size;
        self.acked_remainder += bytes % size;
        if self.acked_remainder >= size {
            segments += 1;
            self.acked_remainder -= size;
        }
        segments
    }

    /// RFC 6675 section 5, third paragraph and steps (1) to (3).
    fn on_duplicate<E: Environment>(&mut self, delivered: u32, env: &mut E) {
        if self.tcb.cong_state == CongState::Loss {
            return;
        }
        if self.tcb.cong_state != CongState::Recovery {
            self.dup_acks += 1;
        }
        if self.tcb.cong_state == CongState::Open {
            self.congestion.algorithm().set_state(&mut self.tcb, CongState::Disorder);
            self.set_cong_state(CongState::Disorder);
        }
        match self.tcb.cong_state {
            CongState::Recovery => {
                if !self.sack {
                    self.scoreboard.add_reno_sack();
                }
                self.congestion.on_ack(&mut self.tcb, delivered, AckKind::Duplicate);
            }
            CongState::Disorder => {
                let past = self.highest_ack_received >= self.recover || !self.recover_active;
                let enough = self.dup_acks == self.config.dup_ack_threshold && past;
                if enough || self.scoreboard.is_lost(self.highest_ack_received) {
                    self.enter_recovery(delivered, env);
                } else if !self.sack && self.config.limited_transmit {
                    self.scoreboard.add_reno_sack(); // RFC 3042
                }
            }
            _ => {}
        }
    }

    /// RFC 6675 section 5, step (4): fast retransmit.
    fn enter_recovery<E: Environment>(&mut self, delivered: u32, env: &mut E) {
        if !self.sack {
            self.scoreboard.add_reno_sack();
            self.scoreboard.mark_head_lost();
        } else if !self.scoreboard.is_lost(self.scoreboard.head()) {
            self.scoreboard.mark_head_lost();
        }
        self.recover = self.tcb.high_tx_mark;
        self.recover_active = true;
        self.congestion.algorithm().set_state(&mut self.tcb, CongState::Recovery);
        self.set_cong_state(CongState::Recovery);
        let mut in_flight = self.bytes_in_flight();
        if !self.sack {
            in_flight += self.tcb.segment_size; // the head counts, as it did before SACK
        }
        self.tcb.ssthresh = self.congestion.algorithm().ssthresh(&self.tcb, in_flight);
        let unacked = self.unacked_bytes();
        self.congestion.enter(&mut self.tcb, unacked, delivered);
        self.send_data(self.highest_ack_received, self.tcb.segment_size, true, env);
    }

    /// SND.UNA moves: what follows depends on the state.
    fn on_advance<E: Environment>(
        &mut self,
        info: AckInfo,
        segments: u32,
        dup_acks_before: u32,
        env: &mut E,
    ) {
        let srtt = self.tcb.srtt;
        let below = info.ack < self.recover;
        match self.tcb.cong_state {
            CongState::Recovery if below => self.on_partial_ack(info, segments, env),
            CongState::Loss if below => {
                self.congestion.algorithm().pkts_acked(&mut self.tcb, segments, srtt);
                self.congestion.grow(&mut self.tcb, segments);
                self.restart(info.ack, true, env);
            }
            CongState::Cwr => {
                self.congestion.algorithm().pkts_acked(&mut self.tcb, segments, srtt);
                if segments >= 1 {
                    self.congestion.on_ack(&mut self.tcb, info.delivered, AckKind::Advance);
                }
                self.restart(info.ack, true, env);
            }
            state => {
                let growth = match state {
                    CongState::Disorder => {
                        if segments >= dup_acks_before {
                            let new = segments - dup_acks_before;
                            self.congestion.algorithm().pkts_acked(&mut self.tcb, new, srtt);
                        }
                        if !info.is_duplicate {
                            self.enter_open();
                        }
                        segments
                    }
                    CongState::Recovery => {
                        self.first_partial_ack = true;
                        let all = (info.ack - info.old_head) as u32 / self.tcb.segment_size;
                        self.congestion.algorithm().pkts_acked(&mut self.tcb, all, srtt);
                        self.congestion.algorithm().cwnd_event(&mut self.tcb, CaEvent::CompleteCwr);
                        self.enter_open();
                        self.dup_acks = 0;
                        all
                    }
                    CongState::Loss => {
                        self.first_partial_ack = true;
                        let beyond = (info.ack - self.recover) as u32 / self.tcb.segment_size;
                        self.congestion.algorithm().pkts_acked(&mut self.tcb, beyond, srtt);
                        self.enter_open();
                        beyond
                    }
                    _ => {
                        self.congestion.algorithm().pkts_acked(&mut self.tcb, segments, srtt);
                        segments
                    }
                };
                if !below {
                    self.recover_active = false;
                }
                if state == CongState::Recovery {
                    self.restart(info.ack, true, env);
                    self.tcb.cwnd = self.tcb.ssthresh;
                }
                if self.tcb.cong_state == CongState::Open {
                    self.congestion.grow(&mut self.tcb, growth);
                    self.restart(info.ack, true, env);
                }
            }
        }
    }

    fn enter_open(&mut self) {
        self.congestion.algorithm().set_state(&mut self.tcb, CongState::Open);
        self.set_cong_state(CongState::Open);
    }

    /// An ACK below the recovery point (RFC 6582 section 3.2 step 3, RFC 6675 section 5 step B).
    fn on_partial_ack<E: Environment>(&mut self, info: AckInfo, segments: u32, env: &mut E) {
        if !self.sack {
            self.scoreboard.mark_head_lost();
        }
        if segments >= 1 {
            self.congestion.on_ack(&mut self.tcb, info.delivered, AckKind::Advance);
        }
        let first = info.ack + self.tcb.segment_size;
        if !self.scoreboard.is_retransmission_acked(first) {
            self.retransmit_next(env);
        }
        let srtt = self.tcb.srtt;
        self.congestion.algorithm().pkts_acked(&mut self.tcb, 1, srtt);
        self.restart(info.ack, self.first_partial_ack, env);
        self.first_partial_ack = false;
    }

    /// Sends the next segment, or the head again, without asking the window.
    fn retransmit_next<E: Environment>(&mut self, env: &mut E) {
        let next = self.scoreboard.next_segment(false, self.peer_window);
        let (seq, most) = next.unwrap_or((self.scoreboard.head(), self.tcb.segment_size));
        self.tcb.next_tx_seq = seq;
        self.send_data(seq, most, true, env);
    }

    /// New data is acknowledged: the retransmission timer starts again (RFC 6298 section 5.3) and the
    /// application may write.
    fn restart<E: Environment>(&mut self, ack: Seq, reset_rto: bool, env: &mut E) {
        self.data_retries_left = self.config.data_retries;
        if self.state != State::SynRcvd && reset_rto {
            self.disarm(Timer::Retransmit, env);
            self.rto = self.rto_estimate();
            self.arm_retransmit(super::RetransmitAction::Data, env);
        }
        self.offer_space(env);
        if ack > self.tcb.next_tx_seq {
            self.tcb.next_tx_seq = ack;
        }
        let is_fin_out = matches!(self.state, State::FinWait1 | State::Closing);
        if self.scoreboard.size() == 0 && !is_fin_out {
            self.disarm(Timer::Retransmit, env);
        }
    }
}
