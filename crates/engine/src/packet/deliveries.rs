//! When the last packet with data, or the FIN, of each flow came to its destination: where completion times end for
//! who receives.

use crate::base::time::Time;
use crate::packet::{Flags, Packet};

#[derive(Debug)]
pub struct Deliveries {
    last: Vec<Option<Time>>,
}

impl Deliveries {
    /// Of the first `flows` flows.
    pub fn new(flows: usize) -> Self {
        Deliveries { last: vec![None; flows] }
    }

    /// A packet has come to the host that it is for.
    pub fn received(&mut self, packet: &Packet, now: Time) {
        let ends = packet.flags.has(Flags::FIN) && !packet.flags.has(Flags::TRIMMED);
        let carries = packet.payload > 0 || ends;
        if let Some(last) = self.last.get_mut(packet.flow as usize)
            && carries
            && !packet.backward
        {
            *last = Some(now);
        }
    }

    /// The flows of which something has come, and when the last of it did.
    pub fn all(&self) -> impl Iterator<Item = (usize, Time)> {
        self.last.iter().enumerate().filter_map(|(flow, last)| Some((flow, (*last)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_and_the_other_direction_are_no_deliveries() {
        let mut deliveries = Deliveries::new(2);
        let data = Packet { flow: 1, payload: 100, ..Packet::default() };
        let fin = Packet { flow: 1, flags: Flags::FIN, ..Packet::default() };
        let ack = Packet { flow: 1, flags: Flags::ACK, ..Packet::default() };
        for (ms, packet) in [(1, data), (2, fin), (3, ack), (4, Packet { backward: true, ..data })]
        {
            deliveries.received(&packet, Time::from_ms(ms));
        }
        assert_eq!(deliveries.all().collect::<Vec<_>>(), [(1, Time::from_ms(2))]);
    }
}
