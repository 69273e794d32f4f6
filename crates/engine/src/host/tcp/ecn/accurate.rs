//! Accurate ECN (RFC 9768): each end counts the CE marks that come in, and says the lowest three bits of the count with every
//! segment, in the flags AE, CWR and ECE (the ACE field).
//!
//! ```text
//! r.cep = 5, and one more with each packet marked CE       ACE = r.cep mod 8
//! s.cep += d,  d = (ACE - s.cep) mod 8
//! ```
//!
//! If an ACK covers more than seven packets, d may have wrapped; the sender then takes the least count that the bytes marked
//! allow, if the ACK says these in its [option](super::option), and otherwise the largest that fits (section 3.2.2.5.2, appendix
//! A.2).  An ACK that acknowledges or SACKs nothing new says nothing: it may be older than the last one.
//!
//! The handshake (section 3.1.1): AE, CWR and ECE on the SYN ask; the SYN-ACK agrees with how the SYN came, or says in
//! ECE alone that it knows only RFC 3168; the client's ACK says how the SYN-ACK came.
//!
//! Departures: nothing tests for middleboxes (sections 3.2.2.3 and 3.2.2.4), since no part of the network writes these fields; a
//! SYN that is lost is sent again as it was, but with the profile `linux`, where the third asks for no ECN.

use super::option::ByteCounters;
use super::{Agreement, Echo, EcnFeedback, Ect, Leaving, Rules};
use crate::base::seq::Seq;
use crate::host::tcp::tcb::{CongState, EcnState, Tcb};
use crate::packet::{Ecn, EcnOption, Flags, Packet};

/// The ACE field.
const FIELD: Flags = Flags::ECN;

pub const RULES: Rules =
    Rules { request: FIELD, requests: 2, ect: Ect::Agreed, needs_peer: true, reads_all: true };

/// The first value of both counters (section 3.2).
const FIRST: u32 = 5;
/// What the field can count.
const WRAP: u32 = 8;
/// So many marks are acknowledged at once (section 3.2.2.5.1).
const MOST_UNSAID: u32 = 2;

#[derive(Debug, Default)]
pub struct Accurate {
    /// How the SYN came that was accepted.
    syn_came: Ecn,
    /// From the first segment on.  Apart, for every connection has room for an `Accurate`.
    counted: Option<Box<Counted>>,
}

#[derive(Debug, Default)]
struct Counted {
    counters: Counters,
    bytes: ByteCounters,
}

impl Accurate {
    fn counters(&mut self) -> &mut Counters {
        &mut self.counted.get_or_insert_default().counters
    }

    fn bytes(&mut self) -> &mut ByteCounters {
        &mut self.counted.get_or_insert_default().bytes
    }
}

impl EcnFeedback for Accurate {
    fn is_asked_for(&mut self, syn: &Packet) -> bool {
        self.syn_came = syn.ecn;
        syn.flags.has(Flags::AE)
    }

    fn answer(&self) -> Flags {
        how_it_came(self.syn_came)
    }

    fn agreement(&mut self, syn_ack: &Packet) -> Agreement {
        match number(syn_ack.flags) {
            0b010 | 0b011 | 0b100 | 0b110 => {
                self.counters().on_syn_ack(syn_ack.ecn);
                self.bytes().on_first();
                Agreement::Asked(how_it_came(syn_ack.ecn))
            }
            0b001 | 0b101 => Agreement::Classic,
            _ => Agreement::NoEcn,
        }
    }

    fn read(&mut self, packet: &Packet, option: Option<&EcnOption>, may_answer: bool) -> Packet {
        self.bytes().came = option.copied();
        if packet.flags.has(Flags::SYN) {
            return *packet;
        }
        self.counters().on_segment(packet.ecn, packet.flags, packet.payload > 0);
        if may_answer && packet.payload == 0 {
            self.counters().on_answer();
            self.bytes().on_first();
        }
        let asks = self.bytes().on_segment(packet.ecn, packet.payload.into());
        self.counters().is_ack_due |= asks;
        Packet { flags: packet.flags.without(FIELD), ecn: Ecn::NotEct, ..*packet }
    }

    /// An algorithm that has the window alone sees the count, and decides.
    fn on_ack(&mut self, tcb: &mut Tcb, echo: Echo<'_>) -> bool {
        let packets = echo.delivered.div_ceil(tcb.segment_size);
        let bytes = if packets > 0 { self.bytes().newly_marked() } else { None };
        let carriers = bytes.map(|bytes| bytes.div_ceil(tcb.segment_size));
        let marked = self.counters().newly_marked(packets, carriers);
        tcb.delivered_ce = tcb.delivered_ce.wrapping_add(marked);
        tcb.ecn_state = if marked > 0 { EcnState::EceRcvd } else { EcnState::Idle };
        let is_open = matches!(tcb.cong_state, CongState::Open | CongState::Disorder);
        marked > 0 && is_open && !echo.is_rate_control
    }

    #[inline]
    fn on_data_sent(&mut self, _tcb: &mut Tcb, _seq: Seq, _is_retransmission: bool) -> Flags {
        self.counters().say()
    }

    /// With everything but a handshake.
    fn on_control_sent(&mut self, flags: Flags) -> Flags {
        let is_handshake = flags.has(Flags::SYN) || flags.has(FIELD);
        if is_handshake { Flags::default() } else { self.counters().say() }
    }

    fn option(&mut self, leaving: Leaving) -> Option<EcnOption> {
        let Leaving { flags, is_first_syn, room, now, round_trip } = leaving;
        let is_due = if flags.has(Flags::SYN) {
            // A SYN-ACK that agrees.
            is_first_syn && flags.has(Flags::ACK) && flags.has(FIELD)
        } else {
            flags.has(Flags::ACK) && self.bytes().is_due(now, round_trip)
        };
        if is_due { self.bytes().option(room, now) } else { None }
    }

    fn is_ack_due(&self) -> bool {
        self.counted.as_ref().is_some_and(|counted| counted.counters.is_ack_due)
    }

    fn restart(&mut self) {
        self.counted = None;
    }
}

#[derive(Clone, Copy, Debug)]
struct Counters {
    /// s.cep and r.cep.
    said: u32,
    seen: u32,
    /// s.cep when bytes were heard of last.
    said_then: u32,
    /// Marks seen since this end has said how many.
    unsaid: u32,
    /// The last packet was marked.
    was_marked: bool,
    is_ack_due: bool,
    /// ACE of the segment that is being taken in.
    field: u32,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            said: FIRST,
            seen: FIRST,
            said_then: FIRST,
            unsaid: 0,
            was_marked: false,
            is_ack_due: false,
            field: FIRST,
        }
    }
}

impl Counters {
    /// A segment arrives; it answers the SYN-ACK, or the handshake is over.
    fn on_segment(&mut self, ecn: Ecn, flags: Flags, has_data: bool) {
        self.field = number(flags);
        let is_marked = ecn == Ecn::Ce;
        if is_marked {
            self.seen = self.seen.wrapping_add(1);
            self.unsaid += 1;
            self.is_ack_due |= has_data && (!self.was_marked || self.unsaid >= MOST_UNSAID);
        }
        self.was_marked = is_marked;
    }

    /// The SYN-ACK came so marked: counted, since the ACK that says so may be lost.
    fn on_syn_ack(&mut self, ecn: Ecn) {
        self.seen = FIRST + u32::from(ecn == Ecn::Ce);
    }

    /// The ACK of the SYN-ACK, which says how that came.
    fn on_answer(&mut self) {
        if self.field == number(how_it_came(Ecn::Ce)) {
            self.said = FIRST + 1;
            self.said_then = self.said;
        }
    }

    /// Marks that the segment which is being taken in tells of; it acknowledges or SACKs so many packets.  `carriers`: so many
    /// at least have the bytes had that were marked since the last time that these were known.
    fn newly_marked(&mut self, packets: u32, carriers: Option<u32>) -> u32 {
        if packets == 0 {
            return 0;
        }
        let least = self.field.wrapping_sub(self.said) % WRAP;
        let most = if packets < WRAP || packets < least {
            least
        } else {
            packets - (packets - least) % WRAP
        };
        let marked = carriers.map_or(most, |carriers| {
            let new = carriers.saturating_sub(self.said.wrapping_sub(self.said_then));
            (least + new.saturating_sub(least).next_multiple_of(WRAP)).min(most)
        });
        self.said = self.said.wrapping_add(marked);
        if carriers.is_some() {
            self.said_then = self.said;
        }
        marked
    }

    /// ACE of a segment that leaves.
    fn say(&mut self) -> Flags {
        self.unsaid = 0;
        self.is_ack_due = false;
        flags(self.seen % WRAP)
    }
}

/// In a SYN-ACK, or in the ACK of one: how what it answers came (sections 3.1.1 and 3.2.2.1).
const fn how_it_came(ecn: Ecn) -> Flags {
    flags(match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

const fn number(flags: Flags) -> u32 {
    (flags.has(Flags::AE) as u32) << 2
        | (flags.has(Flags::CWR) as u32) << 1
        | flags.has(Flags::ECE) as u32
}

const fn flags(number: u32) -> Flags {
    let ae = if number & 4 != 0 { Flags::AE.0 } else { 0 };
    let cwr = if number & 2 != 0 { Flags::CWR.0 } else { 0 };
    let ece = if number & 1 != 0 { Flags::ECE.0 } else { 0 };
    Flags(ae | cwr | ece)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_fits_its_flags() {
        for n in 0..WRAP {
            assert_eq!(number(flags(n)), n);
        }
    }

    proptest! {
        /// With an ACK at least every seven packets, whatever is marked and however ACKs are lost in between, the sender's count
        /// is the receiver's.
        #[test]
        fn marks_counted_are_marks_made(
            marks in prop::collection::vec(any::<bool>(), 1..400),
            lost in prop::collection::vec(0_usize..8, 1..400),
        ) {
            let (mut sender, mut receiver) = (Counters::default(), Counters::default());
            let (mut made, mut told, mut packets) = (0, 0, 0);
            let mut lost = lost.iter().cycle();
            let mut next = *lost.next().unwrap();
            for &is_marked in &marks {
                let ecn = if is_marked { Ecn::Ce } else { Ecn::Ect1 };
                receiver.on_segment(ecn, flags(FIRST), true);
                made += u32::from(is_marked);
                packets += 1;
                if packets > next.min(6) as u32 {
                    sender.on_segment(Ecn::NotEct, receiver.say(), false);
                    told += sender.newly_marked(packets, None);
                    prop_assert_eq!(told, made);
                    packets = 0;
                    next = *lost.next().unwrap();
                }
            }
        }

        /// With more, it is never less, and never more than fits.
        #[test]
        fn where_the_count_may_have_wrapped_the_sender_assumes_the_worst(
            packets in 8_u32..60,
            share in 0.0..1.0,
        ) {
            let made = (f64::from(packets) * share) as u32;
            let (mut sender, mut receiver) = (Counters::default(), Counters::default());
            for i in 0..packets {
                let ecn = if i < made { Ecn::Ce } else { Ecn::Ect1 };
                receiver.on_segment(ecn, flags(FIRST), true);
            }
            sender.on_segment(Ecn::NotEct, receiver.say(), false);
            let told = sender.newly_marked(packets, None);
            prop_assert!((made..=packets).contains(&told));
            prop_assert_eq!((told - made) % WRAP, 0);
        }
    }

    proptest! {
        /// With the option, too, and however many packets an ACK covers.
        #[test]
        fn marks_counted_are_marks_made_where_bytes_are_known(
            marks in prop::collection::vec(any::<bool>(), 1..400),
            lost in prop::collection::vec(0_usize..60, 1..400),
        ) {
            const SEGMENT: u32 = 1448;
            let (mut sender, mut receiver) = (Counters::default(), Counters::default());
            let (mut made, mut told, mut packets, mut since) = (0, 0, 0, 0);
            let mut lost = lost.iter().cycle();
            let mut next = *lost.next().unwrap();
            for &is_marked in &marks {
                let ecn = if is_marked { Ecn::Ce } else { Ecn::Ect1 };
                receiver.on_segment(ecn, flags(FIRST), true);
                made += u32::from(is_marked);
                since += u32::from(is_marked);
                packets += 1;
                if packets > next as u32 {
                    sender.on_segment(Ecn::NotEct, receiver.say(), false);
                    let carriers = (since * SEGMENT).div_ceil(SEGMENT);
                    told += sender.newly_marked(packets, Some(carriers));
                    prop_assert_eq!(told, made);
                    (packets, since) = (0, 0);
                    next = *lost.next().unwrap();
                }
            }
        }
    }

    #[test]
    fn an_ack_of_nothing_new_says_nothing() {
        let mut sender = Counters::default();
        sender.on_segment(Ecn::NotEct, flags(FIRST - 1), false);
        assert_eq!(sender.newly_marked(0, None), 0);
        sender.on_segment(Ecn::NotEct, flags(FIRST + 1), false);
        assert_eq!(sender.newly_marked(1, None), 1);
    }

    #[test]
    fn a_marked_ack_is_counted_and_not_acknowledged_at_once() {
        for (payload, is_due) in [(0, false), (1000, true)] {
            let mut feedback = Accurate::default();
            let marked = Packet { ecn: Ecn::Ce, flags: Flags::ACK, payload, ..Packet::default() };
            let rest = feedback.read(&marked, None, false);
            assert_eq!((rest.ecn, feedback.is_ack_due()), (Ecn::NotEct, is_due));
            assert_eq!(number(feedback.on_control_sent(Flags::ACK)), FIRST + 1);
        }
    }

    /// The first mark after none, and every second one.
    #[test]
    fn marks_are_acknowledged_at_once_when_they_begin_and_when_they_are_two() {
        let mut receiver = Counters::default();
        let mut arrives = |ecn| {
            receiver.on_segment(ecn, flags(FIRST), true);
            let is_due = receiver.is_ack_due;
            if is_due {
                receiver.say();
            }
            is_due
        };
        let due: Vec<bool> = [Ecn::Ect1, Ecn::Ce, Ecn::Ce, Ecn::Ce, Ecn::Ce, Ecn::Ect1, Ecn::Ce]
            .map(&mut arrives)
            .into();
        assert_eq!(due, [false, true, false, true, false, false, true]);
    }
}
