//! Packets that are larger than a link's MTU are cut where they would enter it (RFC 791 section 3.2), as in
//! ns-3's `Ipv4L3Protocol`; what is cut stays so until it is at its destination.

use std::collections::HashMap;

use super::Network;
use super::common::Common;
use super::reassembly::{Arrived, EXPIRATION, Reassembly};
use crate::base::event::{Event, NodeEvent};
use crate::base::time::Time;
use crate::packet::{FlowKey, ICMP_HEADER, IP_HEADER, Packet, PacketId, PacketPool};

/// What a message about a fragment quotes of it (RFC 792): its IP header and eight bytes.
const QUOTED: u32 = IP_HEADER + 8;

/// What the nodes of a network in which some packets do not fit all links need to know.
#[derive(Debug)]
pub struct Fragmentation {
    /// By port.
    mtus: Vec<u32>,
    /// By flow, there and back: which of `identifications` its packets have.
    streams: Vec<[u32; 2]>,
    /// What the next packet has, for each pair of addresses and protocol.
    identifications: Vec<u16>,
    /// The number of what belongs to flow 0 and has no ports: fragments but the first, and what the
    /// destination says about them.  The others' follow.
    first_portless: u32,
    /// By destination.
    hosts: Vec<Reassembly>,
}

/// What becomes of a packet that has come to its destination.
#[derive(Debug)]
pub enum Received {
    /// It is for the transport.
    Whole,
    /// Fragments wait for others; `timer`: it has to be set.
    Waiting { timer: bool },
    /// A message, which changes nothing.
    Message,
}

impl Network {
    /// From now on packets that do not fit a link are cut.
    pub fn cut_packets(&mut self, fragmentation: Fragmentation) {
        self.fragmentation = Some(Box::new(fragmentation));
        // Looking at packets is the way to notice them.
        self.common.is_observed = true;
        self.common.is_arrival_noticed = true;
    }

    /// A packet comes to a port, whole or in fragments.
    #[inline(never)]
    pub(super) fn enter_cut(&mut self, port: u32, id: PacketId) {
        let (Some(fragmentation), common) = (&self.fragmentation, &mut self.common) else { return };
        let mut pieces = fragmentation.cut(common.packets[id], port).peekable();
        let port = &mut self.ports[port as usize];
        if pieces.peek().is_none() {
            return port.enter(id, common);
        }
        let image = common.packets.image(id);
        common.packets.remove(id);
        for piece in pieces {
            let id = common.packets.insert(piece);
            if let Some(image) = &image {
                common.packets.set_image(id, image);
            }
            port.enter(id, common);
        }
    }

    /// A packet, maybe a fragment, has come to its host.  Returns it if it is whole and for the host's transport.
    pub(super) fn reassemble(&mut self, id: PacketId) -> Option<PacketId> {
        let Common { packets, events, .. } = &mut self.common;
        let destination = packets[id].destination;
        let received = self.fragmentation.as_mut()?.receive(id, packets, events.now().time);
        match received {
            Received::Whole => return Some(id),
            Received::Waiting { timer: true } => {
                events.schedule(EXPIRATION, Event::Node(NodeEvent::Reassembly, destination));
            }
            Received::Waiting { timer: false } | Received::Message => {}
        }
        packets.remove(id);
        None
    }

    /// Fragments at a destination may have waited too long.
    #[cold]
    pub fn on_reassembly(&mut self, destination: u32) {
        let now = self.now();
        let Some(fragmentation) = &mut self.fragmentation else { return };
        let (messages, next) = fragmentation.expire(destination, now);
        messages.into_iter().for_each(|message| self.send_if_routed(message));
        if let Some(delay) = next {
            self.common.events.schedule(delay, Event::Node(NodeEvent::Reassembly, destination));
        }
    }
}

impl Fragmentation {
    /// `keys`: of everything that has a number, at the end of `flows` flows once more, without ports.
    pub fn new(mtus: Vec<u32>, keys: &[[FlowKey; 2]], flows: usize, destinations: usize) -> Self {
        let mut known = HashMap::new();
        let mut stream = |key: &FlowKey| {
            let next = known.len() as u32;
            *known.entry((key.source, key.destination, key.protocol)).or_insert(next)
        };
        let first_portless = keys.len() - flows;
        let streams =
            keys[..first_portless].iter().map(|pair| [&pair[0], &pair[1]].map(&mut stream));
        let streams = streams.collect();
        Fragmentation {
            mtus,
            streams,
            identifications: vec![0; known.len()],
            first_portless: first_portless as u32,
            hosts: (0..destinations).map(|_| Reassembly::default()).collect(),
        }
    }

    /// A host sends a packet.
    pub fn identify(&mut self, packet: &mut Packet) {
        if let Some(streams) = self.streams.get(packet.flow as usize) {
            let stream = streams[usize::from(packet.backward)] as usize;
            let next = &mut self.identifications[stream];
            packet.set_identification(*next);
            *next = next.wrapping_add(1);
        }
    }

    /// The fragments in place of a packet at `port`, none if it fits.
    pub fn cut(&self, whole: Packet, port: u32) -> impl Iterator<Item = Packet> + use<> {
        let (total, mtu) = (whole.ip_bytes - IP_HEADER, self.mtus[port as usize]);
        // All but the last have a multiple of eight bytes.
        let room = (mtu - IP_HEADER) & !7;
        let end = if whole.ip_bytes > mtu { total } else { 0 };
        let portless = self.portless(whole.flow);
        let (before, follows) =
            whole.fragment().map_or((0, false), |piece| (u32::from(piece.offset), piece.more));
        let header = total - u32::from(whole.payload);
        (0..end).step_by(room as usize).map(move |start| {
            let bytes = room.min(total - start);
            let mut piece = whole;
            piece.ip_bytes = IP_HEADER + bytes;
            piece.payload = (bytes - if start == 0 { header } else { 0 }) as u16;
            if before + start > 0 {
                piece.flow = portless;
            }
            piece.set_fragment((before + start) as u16, follows || start + bytes < total);
            piece
        })
    }

    fn portless(&self, flow: u32) -> u32 {
        if flow < self.first_portless { self.first_portless + flow } else { flow }
    }

    fn flow_of(&self, packet: &Packet) -> u32 {
        packet.flow.checked_sub(self.first_portless).unwrap_or(packet.flow)
    }

    /// A packet has come to its destination; one that is complete with it takes its place.
    pub fn receive(&mut self, id: PacketId, packets: &mut PacketPool, now: Time) -> Received {
        let packet = &packets[id];
        let Some(fragment) = packet.fragment() else {
            let is_message = packet.flow >= self.first_portless;
            return if is_message { Received::Message } else { Received::Whole };
        };
        let flow = self.flow_of(packet);
        let stream = self.streams[flow as usize][usize::from(packet.backward)];
        let host = &mut self.hosts[packet.destination as usize];
        match host.add((stream, fragment.identification), packet, packets.image(id), now) {
            Arrived::Incomplete { is_alone } => Received::Waiting { timer: is_alone },
            Arrived::Complete(whole, image) => {
                packets[id] = whole;
                if let Some(image) = image {
                    packets.set_image(id, &image);
                }
                Received::Whole
            }
        }
    }

    /// Fragments have waited long at a destination.  Returns what it says to the senders, and after what time
    /// others will have.
    pub fn expire(&mut self, destination: u32, now: Time) -> (Vec<Packet>, Option<Time>) {
        let host = &mut self.hosts[destination as usize];
        let mut messages = Vec::new();
        while let Some(first) = host.take_expired(now) {
            // Only who has the transport's header knows whom a message concerns.
            if let Some(first) = first {
                messages.push(Packet {
                    ip_bytes: IP_HEADER + ICMP_HEADER + QUOTED,
                    payload: QUOTED as u16,
                    flow: self.first_portless + first.flow,
                    backward: !first.backward,
                    ..Packet::default()
                });
            }
        }
        (messages, host.next_deadline().map(|deadline| deadline - now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Image;

    const FLOWS: usize = 2;

    fn fragmentation(mtus: &[u32]) -> Fragmentation {
        let keys = [[FlowKey::default(); 2]; 2 * FLOWS];
        Fragmentation::new(mtus.to_vec(), &keys, FLOWS, 1)
    }

    fn segment(ip_bytes: u32) -> Packet {
        Packet { flow: 1, ip_bytes, payload: (ip_bytes - 52) as u16, ..Packet::default() }
    }

    /// Offset, payload, whether more follow, whether it has ports.
    fn places(pieces: impl Iterator<Item = Packet>) -> Vec<(u16, u16, bool, bool)> {
        let place = |piece: Packet| {
            let fragment = piece.fragment().expect("it is one");
            (fragment.offset, piece.payload, fragment.more, piece.flow == 1)
        };
        pieces.map(place).collect()
    }

    #[test]
    fn a_packet_is_cut_at_multiples_of_eight_bytes() {
        let fragmentation = fragmentation(&[1500, 1499, 576]);
        assert!(places(fragmentation.cut(segment(1500), 0)).is_empty());
        let one_more = places(fragmentation.cut(segment(1501), 0));
        assert_eq!(one_more, [(0, 1448, true, true), (1480, 1, false, false)]);
        let uneven = places(fragmentation.cut(segment(1500), 1));
        assert_eq!(uneven, [(0, 1440, true, true), (1472, 8, false, false)]);
        let three = places(fragmentation.cut(segment(1500), 2));
        let expected = [(0, 520, true, true), (552, 552, true, false), (1104, 376, false, false)];
        assert_eq!(three, expected);
    }

    #[test]
    fn fragments_are_cut_again_and_come_together_in_any_order() {
        let mut fragmentation = fragmentation(&[1500, 576]);
        let mut packet = Packet { beside: 0, ts_val: 7, ..segment(3052) };
        fragmentation.identify(&mut packet);
        let large: Vec<_> = fragmentation.cut(packet, 0).collect();
        let mut small: Vec<_> = large
            .iter()
            .flat_map(|piece| {
                let cut: Vec<_> = fragmentation.cut(*piece, 1).collect();
                if cut.is_empty() { vec![*piece] } else { cut }
            })
            .collect();
        assert_eq!((large.len(), small.len()), (3, 7));
        let bytes: u32 = small.iter().map(|piece| piece.ip_bytes - IP_HEADER).sum();
        assert_eq!(bytes, packet.ip_bytes - IP_HEADER);
        small.reverse();
        small.swap(2, 5);
        let mut packets = PacketPool::default();
        for (n, piece) in (1..).zip(&small) {
            let id = packets.insert(*piece);
            // Each has its own; those of the whole are those of its beginning.
            let offset = piece.fragment().map_or(0, |piece| piece.offset);
            packets.set_image(id, &[offset as u8; size_of::<Image>()]);
            let received = fragmentation.receive(id, &mut packets, Time(n));
            match received {
                Received::Waiting { timer } => assert_eq!(timer, n == 1),
                Received::Whole => assert_eq!(n, 7),
                Received::Message => panic!("it is data"),
            }
            if n == 7 {
                let whole = packets[id];
                assert_eq!((whole.flow, whole.ip_bytes, whole.payload), (1, 3052, 3000));
                assert_eq!((whole.ts_val, whole.fragment()), (7, None));
                assert_eq!(packets.image(id), Some([0; size_of::<Image>()]));
            }
        }
        assert!(fragmentation.expire(0, Time(u64::MAX)).0.is_empty());
    }

    #[test]
    fn a_mark_counts_if_it_is_on_the_fragment_that_came_last() {
        use crate::packet::Ecn;
        for (marked, expected) in [(0, Ecn::NotEct), (1, Ecn::Ce)] {
            let mut fragmentation = fragmentation(&[1500]);
            let mut pieces: Vec<_> = fragmentation.cut(segment(2000), 0).collect();
            pieces[marked].ecn = Ecn::Ce;
            let mut packets = PacketPool::default();
            let ids: Vec<_> = pieces.into_iter().map(|piece| packets.insert(piece)).collect();
            for &id in &ids {
                fragmentation.receive(id, &mut packets, Time(1));
            }
            assert_eq!(packets[ids[1]].ecn, expected);
        }
    }

    #[test]
    fn what_waits_for_its_rest_is_given_up_and_its_sender_told() {
        let mut fragmentation = fragmentation(&[1500]);
        let mut packets = PacketPool::default();
        for (n, kept) in (1..).zip([0, 1, 0]) {
            let mut packet = segment(2000);
            fragmentation.identify(&mut packet);
            let piece = fragmentation.cut(packet, 0).nth(kept).expect("of two");
            let id = packets.insert(piece);
            fragmentation.receive(id, &mut packets, Time(n));
        }
        let late = |n| Time::from_secs(30) + Time(n);
        let (messages, next) = fragmentation.expire(0, late(1));
        let [message] = messages[..] else { panic!("one message") };
        assert_eq!((message.flow, message.backward, message.ip_bytes), (3, true, 56));
        assert_eq!(next, Some(Time(1)));
        assert!(fragmentation.expire(0, late(2)).0.is_empty(), "nobody knows whose it is");
        let (messages, next) = fragmentation.expire(0, late(3));
        assert_eq!((messages.len(), next), (1, None));
    }
}
