//! Datagrams (UDP, RFC 768): a source that sends whatever becomes of it, and who counts what arrives, as
//! ns-3's `OnOffApplication` and `PacketSink` over `UdpSocketImpl`.

use crate::application::{Due, Source, Transfer};
use crate::departures::Departures;
use crate::event::EventQueue;
use crate::network::Network;
use crate::packet::{Ecn, IP_HEADER, Options, Packet, UDP_HEADER};
use crate::seq::Seq;
use crate::time::Time;

/// Both ends.  What comes from the destination is never for this flow, as it sends nothing.
#[derive(Debug)]
pub struct Datagrams {
    flow: u32,
    ecn: Ecn,
    source: Source,
    pub sent: u64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub departures: Departures,
}

impl Datagrams {
    /// `flow`: the number that its packets carry; `tos`: their type of service, with the ECN bits.
    pub fn new(flow: u32, tos: u8, source: Source) -> Self {
        Datagrams {
            flow,
            ecn: Ecn::of(tos),
            source,
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

    /// A datagram has come to the destination, which reads it.
    pub fn deliver(&mut self, datagram: &Packet, now: Time) {
        let bytes = u32::from(datagram.payload);
        self.received_bytes += u64::from(bytes);
        self.source.transfer.on_datagram_read(datagram.stamp(), now, bytes);
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
