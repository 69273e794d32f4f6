//! Whether a segment that arrives is acceptable, and the answer if it is not (RFC 9293 section 3.10.7.4, first; RFC 7323
//! section 5).

use super::input::{control_flags, is_mere};
use super::{Environment, Socket, State};
use crate::base::time::Time;
use crate::host::tcp::control::TcpStack;
use crate::host::tcp::profile::Profile;
use crate::host::tcp::ticks::in_whole_ticks;
use crate::packet::{Flags, Packet};

/// In ticks of timestamps: by so much a segment may be overtaken (Linux's `TCP_PAWS_WINDOW`).
const LATEST: u32 = 1;
/// Linux's `tcp_invalid_ratelimit`.
const REFUSALS_APART: Time = Time::from_ms(500);

impl<P: Profile> Socket<P> {
    /// Protection against wrapped sequence numbers (PAWS, RFC 7323 section 5): the segment left before the one whose timestamp
    /// is to be echoed, by more than a tick.  It may be a duplicate ACK that was overtaken.
    pub(super) fn is_from_the_past(&self, packet: &Packet) -> bool {
        let recent = self.agreed.timestamp_to_echo;
        let is_late = self.agreed.timestamps
            && self.state >= State::SynRcvd
            && packet.options.has_timestamps()
            && recent > packet.ts_val + LATEST;
        let is_duplicate = control_flags(packet) == Flags::ACK
            && packet.payload == 0
            && packet.seq == self.receiving.reassembly.next_rx()
            && packet.ack == self.sending.scoreboard.head();
        is_late && !is_duplicate && !packet.flags.has(Flags::RST)
    }

    /// It is dropped, and answered unless it is a mere ACK: of those that are not older than the last, every half second.
    #[cold]
    pub(super) fn refuse_late<E: Environment>(&mut self, packet: &Packet, env: &mut E) {
        if self.state == State::TimeWait {
            return self.answer_in_time_wait(packet, env);
        }
        let next = self.receiving.reassembly.next_rx();
        if is_mere(packet) && (packet.seq < next || !self.may_refuse()) {
            return;
        }
        if packet.seq < next {
            self.note_duplicate(packet);
        }
        self.send_ack(env);
    }

    /// A mere ACK that was sent before data that has been acknowledged since (RFC 9293 section 3.10.7.4, first), or a SYN
    /// (RFC 5961 section 4): mostly a second answer to this end's.
    pub(super) fn is_challenged(&self, packet: &Packet) -> bool {
        if self.state < State::Established {
            return false;
        }
        if packet.flags.has(Flags::SYN) {
            return self.state != State::TimeWait;
        }
        control_flags(packet) == Flags::ACK
            && packet.payload == 0
            && packet.seq < self.receiving.highest_ack_sent
    }

    /// It is dropped, and answered, every half second at most.
    #[cold]
    pub(super) fn send_challenge_ack<E: Environment>(&mut self, env: &mut E) {
        if self.may_refuse() {
            self.send_ack(env);
        }
    }

    /// By the clock of the kernel's ticks.
    pub(super) fn may_refuse(&mut self) -> bool {
        let now = in_whole_ticks(self.tcb.now);
        let last = &mut self.receiving.last_refusal;
        let may = last.is_none_or(|last| now >= last + REFUSALS_APART);
        if may {
            *last = Some(now);
        }
        may
    }

    /// It belongs to a connection that is over, or never was (RFC 9293 section 3.10.7.2).  ns-3's listening socket is silent.
    #[inline(always)]
    pub(super) fn is_unheard_of(&self, packet: &Packet) -> bool {
        P::STACK == TcpStack::Linux && self.state == State::Listen && packet.flags.has(Flags::ACK)
    }

    /// The FIN has been heard before, so its ACK is lost or late.
    #[inline(always)]
    pub(super) fn is_fin_again(&self, packet: &Packet) -> bool {
        P::STACK == TcpStack::Linux
            && packet.flags.has(Flags::FIN)
            && (State::Established..State::TimeWait).contains(&self.state)
            && packet.seq + u32::from(packet.payload) < self.receiving.reassembly.next_rx()
    }

    pub(super) fn is_out_of_window(&self, packet: &Packet) -> bool {
        let next = self.receiving.reassembly.next_rx();
        match self.state {
            State::Listen | State::SynSent | State::SynRcvd => false,
            State::LastAck | State::Closing | State::CloseWait => packet.seq != next,
            _ => {
                packet.seq + u32::from(packet.payload) < next
                    || self.receiving.reassembly.max_rx() <= packet.seq
            }
        }
    }
}
