//! Explicit congestion notification: who asks for it, what is echoed, and what an echo leads to.
//!
//! | feedback ([`EcnMode`]) | the receiver says | the sender |
//! |---|---|---|
//! | classic (RFC 3168) | ECE from a mark until CWR | reduces once a window, says CWR |
//! | DCTCP's (RFC 8257) | ECE with each ACK of what is marked: the algorithm decides, see `congestion/dctcp.rs` | the same |
//! | accurate (RFC 9768) | how many marks it has seen: [`accurate_ecn`](crate::host::tcp::accurate_ecn) | knows how many, and reduces once a window, or as its algorithm does |

use super::{Environment, Socket, State};
use crate::base::seq::Seq;
use crate::host::tcp::accurate_ecn::{self, Answer};
use crate::host::tcp::control::CaEvent;
use crate::host::tcp::profile::Profile;
use crate::host::tcp::tcb::{CongState, EcnMode, EcnState, UseEcn};
use crate::packet::{Ecn, Flags, Packet};

/// ECE and CWR on a SYN ask for ECN, ECE alone on a SYN-ACK agrees (RFC 3168 section 6.1.1).
const ECN_SETUP: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// The handshake.
impl<P: Profile> Socket<P> {
    /// What the flags of a SYN ask for.
    pub(super) fn ecn_request(&self) -> Flags {
        match self.tcb.ecn_mode {
            _ if self.tcb.use_ecn != UseEcn::On => Flags::default(),
            EcnMode::Accurate => accurate_ecn::FIELD,
            _ => ECN_SETUP,
        }
    }

    /// A SYN has come.
    pub(super) fn hear_ecn_request(&mut self, packet: &Packet) {
        self.ecn.peer_asks = packet.flags.0 & ECN_SETUP.0 == ECN_SETUP.0;
        if !packet.flags.has(Flags::AE) && self.tcb.ecn_mode == EcnMode::Accurate {
            self.tcb.ecn_mode = EcnMode::Classic;
        }
        self.ecn.syn_came = packet.ecn;
    }

    pub(super) fn answer_syn<E: Environment>(&mut self, env: &mut E) {
        let agreed = self.tcb.use_ecn != UseEcn::Off && self.ecn.peer_asks;
        let answer = match self.tcb.ecn_mode {
            _ if !agreed => Flags::default(),
            EcnMode::Accurate => accurate_ecn::how_it_came(self.ecn.syn_came),
            _ => Flags::ECE,
        };
        self.send_control(Flags::SYN.with(Flags::ACK).with(answer), env);
        self.agree(agreed);
    }

    /// The SYN-ACK has come.  Returns the flags of the ACK that answers it.
    pub(super) fn settle_ecn(&mut self, packet: &Packet) -> Flags {
        let flags = packet.flags;
        let mut answer = Flags::default();
        let mut agreed = flags.0 & ECN_SETUP.0 == Flags::ECE.0;
        if self.tcb.ecn_mode == EcnMode::Accurate {
            let says = accurate_ecn::answer(flags);
            agreed = says != Answer::NoEcn;
            if says == Answer::Accurate {
                self.ecn.counters.on_syn_ack(packet.ecn);
                answer = accurate_ecn::how_it_came(packet.ecn);
            } else {
                self.tcb.ecn_mode = EcnMode::Classic;
            }
        }
        self.agree(self.tcb.use_ecn != UseEcn::Off && agreed);
        answer
    }

    fn agree(&mut self, agreed: bool) {
        self.tcb.ecn_state = if agreed { EcnState::Idle } else { EcnState::Disabled };
        if self.tcb.ecn_mode == EcnMode::Accurate {
            if agreed {
                self.has_shortcuts = false;
            } else {
                self.tcb.ecn_mode = EcnMode::Classic;
            }
        }
    }
}

/// What comes in.
impl<P: Profile> Socket<P> {
    /// Where marks are counted: counts, and returns the segment without what is said of marks.
    pub(super) fn take_counter(&mut self, packet: &Packet) -> Packet {
        if packet.flags.has(Flags::SYN) {
            return *packet;
        }
        self.ecn.counters.on_segment(packet.ecn, packet.flags, packet.payload > 0);
        if self.state == State::SynRcvd && packet.payload == 0 {
            self.ecn.counters.on_answer();
        }
        Packet { flags: packet.flags.without(accurate_ecn::FIELD), ecn: Ecn::NotEct, ..*packet }
    }

    /// RFC 3168 section 6.1.3, RFC 8257 section 3.2.
    pub(super) fn note_ecn<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if packet.ecn == Ecn::Ce && self.ecn.ce < packet.seq {
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

    /// RFC 3168 section 6.1.2: reduce the window once per window of data.
    pub(super) fn on_ecn_echo(&mut self, packet: &Packet, old_head: Seq, delivered: u32) {
        if self.tcb.ecn_state == EcnState::Disabled {
            return;
        }
        if self.tcb.ecn_mode == EcnMode::Accurate {
            return self.on_marks_counted(delivered);
        }
        let echo = packet.flags.has(Flags::ECE);
        if packet.ack > old_head && echo {
            if self.ecn.echo < packet.ack {
                self.ecn.echo = packet.ack;
                self.tcb.ecn_state = EcnState::EceRcvd;
                if self.tcb.cong_state != CongState::Cwr {
                    self.enter_cwr(delivered);
                }
            }
        } else if self.tcb.ecn_state == EcnState::EceRcvd && !echo {
            self.tcb.ecn_state = EcnState::Idle;
        }
    }

    /// The same where marks are counted.  An algorithm that has the window alone sees the count, and decides.
    fn on_marks_counted(&mut self, delivered: u32) {
        let packets = delivered.div_ceil(self.tcb.segment_size);
        let marked = self.ecn.counters.newly_marked(packets);
        self.tcb.delivered_ce = self.tcb.delivered_ce.wrapping_add(marked);
        self.tcb.ecn_state = if marked > 0 { EcnState::EceRcvd } else { EcnState::Idle };
        let is_open = matches!(self.tcb.cong_state, CongState::Open | CongState::Disorder);
        if marked > 0 && is_open && !self.congestion.is_rate_control() {
            self.enter_cwr(delivered);
        }
    }

    fn enter_cwr(&mut self, delivered: u32) {
        let in_flight = self.bytes_in_flight();
        self.tcb.ssthresh = self.congestion.algorithm().ssthresh(&self.tcb, in_flight);
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
        if self.tcb.ecn_mode == EcnMode::Accurate {
            return self.ecn.counters.say();
        }
        // RFC 3168 section 6.1.2: CWR on the first new segment after the window was reduced.
        if self.tcb.ecn_state == EcnState::EceRcvd
            && self.ecn.echo > self.ecn.cwr
            && !is_retransmission
        {
            self.tcb.ecn_state = EcnState::CwrSent;
            self.ecn.cwr = seq;
            return Flags::CWR;
        }
        Flags::default()
    }

    /// A segment without data, where feedback is not classic: DCTCP sets ECT on everything (RFC 8257 section 3), accurate ECN
    /// says its count with everything but a handshake.
    #[inline(never)]
    pub(super) fn mark_control(&mut self, packet: &mut Packet) {
        if self.tcb.ecn_mode == EcnMode::Dctcp {
            packet.ecn = self.ecn_field(true);
        } else if !packet.flags.has(Flags::SYN) && !packet.flags.has(accurate_ecn::FIELD) {
            packet.flags = packet.flags.with(self.ecn.counters.say());
        }
    }
}
