//! Datagrams (UDP, RFC 768): a source that sends whatever becomes of it, and who counts what arrives, as
//! ns-3's `OnOffApplication` and `PacketSink` over `UdpSocketImpl`.

use crate::application::{Due, Source, Transfer};
use crate::departures::Departures;
use crate::event::EventQueue;
use crate::network::Network;
use crate::packet::{Ecn, ICMP_HEADER, IP_HEADER, Options, Packet, UDP_HEADER};
use crate::seq::Seq;
use crate::time::Time;

/// What a message about a datagram quotes of it (RFC 792): its IP header and eight bytes.
const QUOTED: u32 = IP_HEADER + 8;

/// Both ends.  All that comes from the destination are messages that nobody listens there, which change
/// nothing.
#[derive(Debug)]
pub struct Datagrams {
    flow: u32,
    ecn: Ecn,
    source: Source,
    /// Somebody reads what arrives.
    is_heard: bool,
    pub sent: u64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub departures: Departures,
}

impl Datagrams {
    /// `flow`: the number that its packets carry; `tos`: their type of service, with the ECN bits.
    /// `is_heard`: whether somebody listens at the destination at first.
    pub fn new(flow: u32, tos: u8, source: Source, is_heard: bool) -> Self {
        Datagrams {
            flow,
            ecn: Ecn::of(tos),
            source,
            is_heard,
            sent: 0,
            sent_bytes: 0,
            received_bytes: 0,
            departures: Departures::default(),
        }
    }

    pub fn transfer(&self) -> &Transfer {
        &self.source.transfer
    }

    pub fn open(&mut self, events: &mut EventQueue) {
        self.source.on_connected(self.flow, events);
        if self.source.has_periods() {
            // There is no handshake: ns-3's class learns that it is connected while it still asks for it,
            // and then begins its first period once more, with another length.
            self.source.on_connected(self.flow, events);
        }
    }

    pub fn close(&mut self, now: Time) {
        self.source.cancel(now);
    }

    /// Nobody listens at the destination any more.
    pub fn close_receiver(&mut self) {
        self.is_heard = false;
    }

    /// The source switches on or off, or sends the packet that is due.
    pub fn on_application(&mut self, network: &mut Network) {
        match self.source.take_due(network.events().now()) {
            Some(Due::Switch) => self.source.switch(self.flow, network.events()),
            Some(Due::Send) => {
                self.send(network);
                self.source.on_sent(true, self.flow, network.events());
                self.source.transfer.send_off();
            }
            None => {}
        }
    }

    fn send(&mut self, network: &mut Network) {
        let (now, size) = (network.now(), self.source.write_size());
        let mut datagram = Packet {
            // Its number: UDP has none, but whoever reads a trace wants to tell datagrams apart.
            seq: Seq(self.sent as u32),
            ip_bytes: IP_HEADER + UDP_HEADER + size,
            payload: size as u16,
            flow: self.flow,
            ecn: self.ecn,
            options: Options::new(false),
            ..Packet::default()
        };
        datagram.set_stamp(now);
        self.sent += 1;
        self.sent_bytes += u64::from(size);
        self.departures.note(now);
        network.send(datagram);
    }

    /// A datagram has come to the destination, which reads it, or says that nobody does; or such a
    /// message has come to the source.
    pub fn deliver(&mut self, datagram: &Packet, network: &mut Network) {
        if datagram.backward {
            return;
        }
        let bytes = u32::from(datagram.payload);
        self.received_bytes += u64::from(bytes);
        if self.is_heard {
            self.source.transfer.on_datagram_read(datagram.stamp(), network.now(), bytes);
        } else {
            network.send(Packet {
                ip_bytes: IP_HEADER + ICMP_HEADER + QUOTED,
                payload: QUOTED as u16,
                flow: self.flow,
                backward: true,
                ..Packet::default()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_keeps_every_nanosecond() {
        let mut packet = Packet::default();
        for stamp in [0, 1, u64::from(u32::MAX), 1 << 32, Time::MAX.0] {
            packet.set_stamp(Time(stamp));
            assert_eq!(packet.stamp(), Time(stamp));
        }
    }
}
