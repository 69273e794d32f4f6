//! A re-sequencing buffer below a receiver's TCP: data that comes before what it follows is held back, in
//! the hope that this is on another way, and handed on in order (K. He et al., "Presto", ACM SIGCOMM 2015,
//! section 3.2; J. Cao et al., ACM CoNEXT 2013, on DRB).
//!
//! What is held so long that it counts as lost what is missing is handed on with all that stands before it,
//! and TCP answers with duplicate ACKs as it would have without.  The time is fixed; Presto's is twice the moving average of how
//! long reordering lasts, and it waits where two of its flowcells meet only.

use std::collections::VecDeque;

use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::packet::{Flags, Packet};

#[derive(Clone, Debug)]
pub struct Resequencer {
    timeout: Time,
    /// Behind the last byte that was handed on.
    passed: Seq,
    /// In the order of sequence numbers, each with its time of arrival.
    held: VecDeque<(Packet, Time)>,
}

impl Resequencer {
    /// `timeout`: the longest that a segment is held.
    pub fn new(timeout: Time) -> Self {
        Resequencer { timeout, passed: Seq(0), held: VecDeque::new() }
    }

    /// A segment comes.  Returns whether it is held; `next` is what the receiver expects.
    pub fn holds(&mut self, packet: &Packet, next: Seq, now: Time) -> bool {
        self.passed = self.passed.max(next);
        // Options beside a packet, which data of both directions at once would have, are those of the packet that came last.
        let has_place = packet.payload > 0 || packet.flags.has(Flags::FIN);
        if !has_place || packet.beside > 0 || packet.seq <= self.passed {
            return false;
        }
        let at = self.held.partition_point(|(other, _)| other.seq <= packet.seq);
        self.held.insert(at, (*packet, now));
        true
    }

    /// A segment is handed on.
    pub fn pass(&mut self, packet: &Packet) {
        self.passed = self.passed.max(packet.seq + u32::from(packet.payload));
    }

    /// The next segment that is in order, or that has been held too long, or is before one that has.
    pub fn next(&mut self, now: Time) -> Option<Packet> {
        let (first, _) = self.held.front()?;
        if first.seq <= self.passed || self.due().is_some_and(|due| due <= now) {
            return self.held.pop_front().map(|(packet, _)| packet);
        }
        None
    }

    /// When the first of those held has been held too long.
    pub fn due(&self) -> Option<Time> {
        self.held.iter().map(|&(_, came)| came + self.timeout).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(number: u32) -> Packet {
        Packet { seq: Seq(1 + 100 * number), payload: 100, flags: Flags::ACK, ..Packet::default() }
    }

    /// What is handed on of segments that come at these times, in us; a timeout of 50 us.
    fn handed_on(arrivals: &[(u64, u32)]) -> Vec<(u64, u32)> {
        let mut buffer = Resequencer::new(Time(50_000));
        let mut found = Vec::new();
        let mut settle = |buffer: &mut Resequencer, now: Time| {
            while let Some(packet) = buffer.next(now) {
                buffer.pass(&packet);
                found.push((now.0 / 1000, (packet.seq.0 - 1) / 100));
            }
        };
        for &(at, number) in arrivals {
            let now = Time(1000 * at);
            while let Some(due) = buffer.due().filter(|&due| due < now) {
                settle(&mut buffer, due);
            }
            if !buffer.holds(&data(number), Seq(1), now) {
                // As the socket does: at once.
                buffer.held.push_front((data(number), now));
            }
            settle(&mut buffer, now);
        }
        while let Some(due) = buffer.due() {
            settle(&mut buffer, due);
        }
        found
    }

    #[test]
    fn what_is_late_lets_those_behind_it_through_in_order() {
        assert_eq!(handed_on(&[(0, 0), (1, 2), (2, 3), (9, 1)]), [(0, 0), (9, 1), (9, 2), (9, 3)]);
    }

    #[test]
    fn nothing_is_held_longer_than_the_timeout() {
        let found = handed_on(&[(0, 0), (10, 2), (40, 4), (70, 3)]);
        assert_eq!(found, [(0, 0), (60, 2), (70, 3), (70, 4)], "at 60 us, 1 counts as lost");
    }

    #[test]
    fn what_is_sent_again_and_what_follows_a_loss_are_not_held() {
        let found = handed_on(&[(0, 0), (10, 2), (61, 3), (70, 1), (71, 4)]);
        assert_eq!(found, [(0, 0), (60, 2), (61, 3), (70, 1), (71, 4)]);
    }

    #[test]
    fn the_first_that_was_held_too_long_goes_with_what_stands_before_it() {
        let found = handed_on(&[(0, 0), (10, 4), (30, 2)]);
        assert_eq!(found, [(0, 0), (60, 2), (60, 4)]);
    }

    #[test]
    fn acknowledgements_are_never_held_and_a_fin_is() {
        let mut buffer = Resequencer::new(Time(50_000));
        let ack = Packet { seq: Seq(500), flags: Flags::ACK, ..Packet::default() };
        let fin = Packet { flags: Flags::ACK.with(Flags::FIN), ..ack };
        assert!(!buffer.holds(&ack, Seq(1), Time(0)));
        assert!(buffer.holds(&fin, Seq(1), Time(0)));
    }
}
