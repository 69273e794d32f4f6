//! A host puts fragments together (RFC 791 section 3.2), as ns-3's `Ipv4L3Protocol`: what is not complete after
//! 30 s is given up.  As identifications have 16 bits, fragments of two packets may meet; then the older one's
//! bytes count.

use std::collections::{BTreeMap, VecDeque};

use crate::base::time::Time;
use crate::packet::{Flags, Fragment, IP_HEADER, Image, Packet};

/// ns-3's `FragmentExpirationTimeout`.
pub const EXPIRATION: Time = Time::from_secs(30);

/// Addresses and protocol, by their number, and the identification.
type Key = (u32, u16);

/// What has come of a packet.
#[derive(Debug, Default)]
struct Partial {
    /// Which of those that began here this is.
    number: u64,
    /// The oldest fragment with the transport's header, as another stack wrote it if it is another's; its flow is the
    /// packet's.
    first: Option<(Packet, Option<Image>)>,
    /// Offsets and bytes, by offset, those alike in the order in which they came.
    pieces: Vec<(u16, u16)>,
    /// Whether the last of them is not the packet's last.
    lacks_end: bool,
}

impl Partial {
    fn add(&mut self, fragment: Fragment, packet: &Packet, image: Option<Image>) {
        let at = self.pieces.partition_point(|&(offset, _)| offset <= fragment.offset);
        if at == self.pieces.len() {
            self.lacks_end = fragment.more;
        }
        self.pieces.insert(at, (fragment.offset, (packet.ip_bytes - IP_HEADER) as u16));
        if fragment.offset == 0 && self.first.is_none() {
            self.first = Some((*packet, image));
        }
    }

    /// Bytes of the packet's payload of IP, if nothing is missing.
    fn bytes(&self) -> Option<u16> {
        let reach = |end: u16, &(offset, bytes): &(u16, u16)| {
            (offset <= end).then(|| end.max(offset + bytes))
        };
        self.pieces.iter().try_fold(0, reach).filter(|_| !self.lacks_end)
    }
}

/// What has become of a fragment.
#[derive(Debug)]
pub enum Arrived {
    /// It waits; `is_alone`: of a packet of which there was none, while nothing else waited.
    Incomplete {
        is_alone: bool,
    },
    Complete(Packet, Option<Image>),
}

/// Fragments that wait at a host.
#[derive(Debug, Default)]
pub struct Reassembly {
    partials: BTreeMap<Key, Partial>,
    /// In the order in which they began, those that have become complete among them.
    deadlines: VecDeque<(Time, Key, u64)>,
    /// How many have begun.
    begun: u64,
}

impl Reassembly {
    /// `image`: the fragment's headers, if another stack wrote them.
    pub fn add(&mut self, key: Key, packet: &Packet, image: Option<Image>, now: Time) -> Arrived {
        let Some(fragment) = packet.fragment() else { return Arrived::Complete(*packet, image) };
        let mut is_alone = self.partials.is_empty();
        let (begun, deadlines) = (&mut self.begun, &mut self.deadlines);
        let mut is_new = false;
        let partial = self.partials.entry(key).or_insert_with(|| {
            is_new = true;
            *begun += 1;
            deadlines.push_back((now + EXPIRATION, key, *begun));
            Partial { number: *begun, ..Partial::default() }
        });
        is_alone &= is_new;
        partial.add(fragment, packet, image);
        match (partial.bytes(), partial.first) {
            (Some(bytes), Some((first, image))) => {
                self.partials.remove(&key);
                Arrived::Complete(whole(first, bytes, packet), image)
            }
            _ => Arrived::Incomplete { is_alone },
        }
    }

    /// When what has waited longest is given up.
    pub fn next_deadline(&mut self) -> Option<Time> {
        while let Some(&(deadline, key, number)) = self.deadlines.front() {
            if self.partials.get(&key).is_some_and(|partial| partial.number == number) {
                return Some(deadline);
            }
            self.deadlines.pop_front();
        }
        None
    }

    /// Gives up a packet whose time is over; returns its fragment with the transport's header, if that has come.
    pub fn take_expired(&mut self, now: Time) -> Option<Option<Packet>> {
        self.next_deadline().filter(|&deadline| deadline == now)?;
        let (_, key, _) = self.deadlines.pop_front()?;
        self.partials.remove(&key).map(|partial| partial.first.map(|(first, _)| first))
    }
}

/// The packet that `first` is a fragment of; its ECN bits are those of the fragment that came last.
fn whole(first: Packet, bytes: u16, last: &Packet) -> Packet {
    let header = (first.ip_bytes - IP_HEADER) as u16 - first.payload;
    Packet {
        ip_bytes: IP_HEADER + u32::from(bytes),
        payload: bytes - header,
        flags: first.flags.without(Flags::FRAGMENT),
        ecn: last.ecn,
        ..first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(offset: u16, bytes: u32, more: bool, seq: u32) -> Packet {
        let header = if offset == 0 { 32 } else { 0 };
        let mut piece = Packet {
            ip_bytes: IP_HEADER + bytes,
            payload: bytes as u16 - header,
            seq: crate::base::seq::Seq(seq),
            ..Packet::default()
        };
        piece.set_fragment(offset, more);
        piece
    }

    #[test]
    fn fragments_of_two_packets_with_one_identification_become_one_of_the_older() {
        let mut host = Reassembly::default();
        for (n, piece) in (0..).zip([piece(0, 1480, true, 1), piece(0, 1480, true, 5)]) {
            let arrived = host.add((0, 0), &piece, None, Time(n));
            assert!(matches!(arrived, Arrived::Incomplete { is_alone } if is_alone == (n == 0)));
        }
        let Arrived::Complete(whole, _) =
            host.add((0, 0), &piece(1480, 100, false, 5), None, Time(3))
        else {
            panic!("it is complete")
        };
        assert_eq!((whole.seq.0, whole.payload), (1, 1548));
    }

    #[test]
    fn the_end_alone_completes_nothing() {
        let mut host = Reassembly::default();
        for piece in [piece(2960, 10, false, 1), piece(0, 1480, true, 1)] {
            assert!(matches!(host.add((0, 0), &piece, None, Time(0)), Arrived::Incomplete { .. }));
        }
        let middle = piece(1480, 1480, true, 1);
        assert!(matches!(host.add((0, 0), &middle, None, Time(0)), Arrived::Complete(..)));
    }

    #[test]
    fn what_is_complete_does_not_expire_and_its_identification_is_free() {
        let mut host = Reassembly::default();
        host.add((0, 7), &piece(0, 1480, true, 1), None, Time(0));
        host.add((0, 7), &piece(1480, 8, false, 1), None, Time(1));
        assert_eq!(host.next_deadline(), None);
        host.add((0, 7), &piece(1480, 8, false, 1), None, Time(2));
        assert_eq!(host.next_deadline(), Some(EXPIRATION + Time(2)));
        assert!(host.take_expired(EXPIRATION).is_none());
        assert!(host.take_expired(EXPIRATION + Time(2)).is_some_and(|first| first.is_none()));
    }
}
