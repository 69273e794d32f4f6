//! The option of accurate ECN (RFC 9768 section 3.2.3): each end says how many bytes have come with ECT(1), CE and ECT(0), in 24
//! bits each, of payload alone and whether they came before or not.
//!
//! ```text
//! r.e1b = r.e0b = 1, r.ceb = 0 at first, and more by the payload of each packet
//! s.ceb += d,  d = (field - s.ceb) mod 2^24, unless that is half of it or more: then the ACK is an old one
//! ```
//!
//! What it adds to the [ACE field](super::accurate): that wraps after seven marks, and where an ACK covers more packets the
//! bytes say how often (appendix A.2.2): the least count that ACE allows and that could have carried them, n with n MSS >= d.
//!
//! When it is sent, as by Linux with `tcp_ecn_option = 1` (section 3.2.3.3; with 2, its default, everything has it): in the
//! SYN-ACK and the ACK of it; with the ACK that a change of the ECN field asks for, at once, and the one behind it; with the two
//! behind a mark; each 2^22 bytes; three times a round trip.  In full, or as many fields as the header has room for beside SACK
//! blocks, if those are enough that have changed.
//!
//! When it is not (section 3.2.3.2): to a peer that has sent none; in a SYN-ACK that is retransmitted.  Fields that are 0 in the
//! handshake have been cleared on the way: then what the option says is nothing to go by.
//!
//! Departures: segments with data carry none, since the connections here send data one way; so if the ACK of the SYN-ACK is
//! lost, the receiver sends none either.  What else might be wrong with a path is not looked for, since no part of the network
//! does it.

use crate::base::time::Time;
use crate::packet::{Ecn, EcnOption};

/// Of a field.
const MASK: u32 = 0xff_ffff;
/// Of the fields in the order that is sent, kind 174: what each counts.
const ORDER: [Ecn; 3] = [Ecn::Ect1, Ecn::Ce, Ecn::Ect0];
/// Of the other, kind 172.
const OTHER_ORDER: [Ecn; 3] = [Ecn::Ect0, Ecn::Ce, Ecn::Ect1];
/// By the ECN field, [`Ecn`]: section 3.2.
const FIRST: [u32; 4] = [0, 1, 1, 0];
/// ACKs with the option for each change or mark.
const EACH: u8 = 2;
/// The option is there at least each so many bytes of one kind: 2^22.
const FAR: u32 = 22;
/// And so many times a round trip.
const BEACONS: u64 = 3;

/// What is known of the peer's option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Heard {
    #[default]
    Nothing,
    Counters,
    /// It is cleared on the way.
    Zeros,
}

#[derive(Clone, Copy, Debug)]
pub struct ByteCounters {
    /// By the ECN field: what has come here, and what the peer says that has come there.
    seen: [u32; 4],
    said: [u32; 4],
    heard: Heard,
    /// So many ACKs are to carry it.
    due: u8,
    /// So many fields have to be in it.
    least: u8,
    last: Ecn,
    sent_at: Time,
    /// The option of the segment that is being taken in.
    pub came: Option<EcnOption>,
}

impl Default for ByteCounters {
    fn default() -> Self {
        ByteCounters {
            seen: FIRST,
            said: FIRST,
            heard: Heard::Nothing,
            due: 0,
            least: 0,
            last: Ecn::NotEct,
            sent_at: Time::ZERO,
            came: None,
        }
    }
}

impl ByteCounters {
    /// A segment comes.  Returns whether it asks for an ACK at once: the ECN field has changed, and the peer reads of it.
    pub fn on_segment(&mut self, ecn: Ecn, payload: u32) -> bool {
        let has_changed = payload > 0 && ecn != self.last;
        if has_changed || ecn == Ecn::Ce {
            self.due = EACH;
        }
        if payload == 0 {
            return false;
        }
        self.last = ecn;
        if let Some(field) = ORDER.iter().position(|&of| of == ecn) {
            let before = self.seen[ecn as usize];
            let now = before.wrapping_add(payload);
            self.seen[ecn as usize] = now;
            self.least = self.least.max(field as u8 + 1);
            if before >> FAR != now >> FAR {
                self.due = self.due.max(1);
            }
        }
        has_changed && self.is_heard()
    }

    /// A SYN-ACK has come, or the ACK of one.
    pub fn on_first(&mut self) {
        let Some(option) = self.came.take() else { return };
        let fields = &option.fields[..usize::from(option.count)];
        // The one in the middle, CE's, begins with 0.
        let is_cleared = fields.iter().step_by(2).any(|&field| field == 0);
        self.heard = if is_cleared { Heard::Zeros } else { Heard::Counters };
        self.due = self.due.max(1);
    }

    /// The peer gets options.
    fn is_heard(&self) -> bool {
        self.heard != Heard::Nothing
    }

    /// The ACK that is being taken in acknowledges something new.  Returns by how many bytes marked CE the peer's count
    /// has grown; nothing if that is not said, or cannot be known.
    pub fn newly_marked(&mut self) -> Option<u32> {
        let option = self.came.take()?;
        if self.heard != Heard::Counters {
            return None;
        }
        let order = if option.is_ect0_first { OTHER_ORDER } else { ORDER };
        let mut marked = None;
        for (ecn, &field) in order.iter().zip(&option.fields[..usize::from(option.count)]) {
            let said = &mut self.said[*ecn as usize];
            let more = field.wrapping_sub(*said) & MASK;
            if more > MASK / 2 {
                return None; // an old one
            }
            *said = said.wrapping_add(more);
            if *ecn == Ecn::Ce {
                marked = Some(more);
            }
        }
        marked
    }

    /// Whether an ACK that leaves now is to carry it.
    pub fn is_due(&self, now: Time, round_trip: Time) -> bool {
        self.is_heard() && (self.due > 0 || (now - self.sent_at).0 * BEACONS >= round_trip.0)
    }

    /// What it says, in `room` bytes of the header; nothing if that is too small.
    pub fn option(&mut self, room: u32, now: Time) -> Option<EcnOption> {
        let fields = (room.saturating_sub(2) / 3).min(ORDER.len() as u32) as u8;
        if room < 2 || fields < self.least {
            return None;
        }
        self.due = self.due.saturating_sub(1);
        self.sent_at = now;
        let fields_of = ORDER.map(|ecn| self.seen[ecn as usize] & MASK);
        Some(EcnOption { is_ect0_first: false, fields: fields_of, count: fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: u32 = 40;
    const ROUND_TRIP: Time = Time(1_000_000);

    /// A receiver whose peer reads, after its part of the handshake.
    fn receiver() -> ByteCounters {
        let first = EcnOption { fields: [1, 0, 1], count: 3, ..EcnOption::default() };
        let mut counters = ByteCounters { came: Some(first), ..ByteCounters::default() };
        counters.on_first();
        counters.option(ROOM, Time::ZERO);
        counters
    }

    /// At the time of the last one.
    fn is_due(counters: &ByteCounters) -> bool {
        counters.is_due(counters.sent_at, ROUND_TRIP)
    }

    /// Section 3.2.3.3.
    #[test]
    fn four_megabytes_without_a_change_are_reported() {
        let mut counters = receiver();
        counters.on_segment(Ecn::Ect1, 1);
        for _ in 0..EACH {
            counters.option(ROOM, Time::ZERO);
        }
        counters.on_segment(Ecn::Ect1, (1 << 22) - 3);
        assert!(!is_due(&counters)); // with the 1 at first: one less
        counters.on_segment(Ecn::Ect1, 1);
        assert!(is_due(&counters));
        counters.option(ROOM, Time::ZERO);
        assert!(!is_due(&counters));
    }

    /// What has no payload changes nothing, but for a mark.
    #[test]
    fn only_bytes_count() {
        let mut counters = receiver();
        assert!(!counters.on_segment(Ecn::Ect0, 0));
        assert!(!is_due(&counters));
        assert!(!counters.on_segment(Ecn::Ce, 0));
        assert!(is_due(&counters));
        assert_eq!(counters.option(ROOM, Time::ZERO).unwrap().fields, [1, 0, 1]);
        assert!(counters.on_segment(Ecn::Ect1, 7));
        assert!(!counters.on_segment(Ecn::Ect1, 7));
        assert_eq!(counters.option(ROOM, Time::ZERO).unwrap().fields, [15, 0, 1]);
    }

    #[test]
    fn counts_go_round_in_24_bits() {
        let mut sender = receiver();
        let mut told = 0;
        let mut receiver = receiver();
        for _ in 0..5 {
            receiver.on_segment(Ecn::Ce, (1 << 23) - 1);
            sender.came = receiver.option(ROOM, Time::ZERO);
            told += sender.newly_marked().unwrap();
        }
        assert_eq!(told, 5 * ((1 << 23) - 1));
        // Half of it or more has to be an ACK of before.
        receiver.on_segment(Ecn::Ce, 1 << 23);
        sender.came = receiver.option(ROOM, Time::ZERO);
        assert_eq!(sender.newly_marked(), None);
    }

    #[test]
    fn room_for_less_than_has_changed_is_no_room() {
        let mut counters = receiver();
        assert_eq!(counters.option(2, Time::ZERO).unwrap().bytes(), 2);
        assert_eq!(counters.option(1, Time::ZERO), None);
        counters.on_segment(Ecn::Ect1, 1);
        assert_eq!(counters.option(4, Time::ZERO), None);
        assert_eq!(counters.option(5, Time::ZERO).unwrap().bytes(), 5);
        assert_eq!(counters.option(7, Time::ZERO).unwrap().count, 1);
        counters.on_segment(Ecn::Ect0, 1);
        assert_eq!(counters.option(10, Time::ZERO), None);
        assert_eq!(counters.option(11, Time::ZERO).unwrap().bytes(), EcnOption::LONGEST);
        assert_eq!(counters.option(ROOM, Time::ZERO).unwrap().bytes(), EcnOption::LONGEST);
    }
}
