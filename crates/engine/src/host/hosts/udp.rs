//! Datagrams (UDP, RFC 768): a source that sends whatever becomes of it, and who counts what arrives, as
//! ns-3's `OnOffApplication` and `PacketSink` over `UdpSocketImpl`.

use super::{Address, Endpoint, Host, Outcome, Sample};
use crate::base::event::Token;
use crate::base::seq::Seq;
use crate::host::application::{Due, Source};
use crate::host::departures::Departures;
use crate::packet::{Ecn, ICMP_HEADER, IP_HEADER, Options, Packet, UDP_HEADER};

/// What a message about a datagram quotes of it (RFC 792): its IP header and eight bytes.
const QUOTED: u32 = IP_HEADER + 8;

/// The only timer: something is due in the source.
const APPLICATION: Token = Token(0);

/// Both ends.  All that comes from the destination are messages that nobody listens there, which change
/// nothing.
#[derive(Debug)]
pub struct Datagrams {
    address: Address,
    ecn: Ecn,
    source: Source,
    /// Somebody reads what arrives.
    is_heard: bool,
    sent: u64,
    sent_bytes: u64,
    received_bytes: u64,
    departures: Departures,
}

impl Datagrams {
    /// `tos`: the type of service of its packets, with the ECN bits.  `is_heard`: whether somebody listens at the
    /// destination at first.
    pub fn new(address: Address, tos: u8, source: Source, is_heard: bool) -> Self {
        Datagrams {
            address,
            ecn: Ecn::of(tos),
            source,
            is_heard,
            sent: 0,
            sent_bytes: 0,
            received_bytes: 0,
            departures: Departures::default(),
        }
    }

    fn send(&mut self, host: &mut Host<'_>) {
        let (now, size) = (host.now(), self.source.write_size());
        let mut datagram = Packet {
            // Its number: UDP has none, but whoever reads a trace wants to tell datagrams apart.
            seq: Seq(self.sent as u32),
            ip_bytes: IP_HEADER + UDP_HEADER + size,
            payload: size as u16,
            ecn: self.ecn,
            options: Options::new(false),
            ..Packet::default()
        };
        datagram.set_stamp(now);
        self.sent += 1;
        self.sent_bytes += u64::from(size);
        self.departures.note(now);
        host.send(datagram);
    }
}

impl Endpoint for Datagrams {
    fn address(&self) -> &Address {
        &self.address
    }

    fn open(&mut self, mut host: Host<'_>) {
        let due = host.event(APPLICATION);
        self.source.on_connected(due, host.events());
        if self.source.has_periods() {
            // There is no handshake: ns-3's class learns that it is connected while it still asks for it,
            // and then begins its first period once more, with another length.
            self.source.on_connected(due, host.events());
        }
    }

    fn close(&mut self, host: Host<'_>) {
        self.source.cancel(host.now());
    }

    /// Nobody listens at the destination any more.
    fn close_receiver(&mut self, _host: Host<'_>) {
        self.is_heard = false;
    }

    /// The source switches on or off, or sends the packet that is due.
    fn on_timer(&mut self, token: Token, mut host: Host<'_>) {
        let due = host.event(token);
        match self.source.take_due(host.event_key()) {
            Some(Due::Switch) => self.source.switch(due, host.events()),
            Some(Due::Send) => {
                self.send(&mut host);
                self.source.on_sent(self.source.write_size(), due, host.events());
                self.source.transfer.send_off();
            }
            None => {}
        }
    }

    /// A datagram has come to the destination, which reads it, or says that nobody does; or such a
    /// message has come to the source.
    fn on_packet(&mut self, datagram: &Packet, mut host: Host<'_>) {
        if datagram.backward {
            return;
        }
        let bytes = u32::from(datagram.payload);
        self.received_bytes += u64::from(bytes);
        if self.is_heard {
            self.source.transfer.on_datagram_read(datagram.stamp(), host.now(), bytes);
        } else {
            host.send_if_routed(Packet {
                ip_bytes: IP_HEADER + ICMP_HEADER + QUOTED,
                payload: QUOTED as u16,
                backward: true,
                ..Packet::default()
            });
        }
    }

    fn outcome(&self) -> Outcome {
        Outcome { segments_sent: self.sent, ..Outcome::default() }
    }

    fn sample(&self) -> Sample {
        let transfer = &self.source.transfer;
        Sample {
            sent_bytes: self.sent_bytes,
            received_bytes: self.received_bytes,
            written_bytes: self.sent_bytes,
            read_bytes: transfer.read,
            mean_gap: self.departures.mean_gap,
            one_way_delay: transfer.one_way_delay,
            ..Sample::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Time;

    #[test]
    fn a_stamp_keeps_every_nanosecond() {
        let mut packet = Packet::default();
        for stamp in [0, 1, u64::from(u32::MAX), 1 << 32, Time::MAX.0] {
            packet.set_stamp(Time(stamp));
            assert_eq!(packet.stamp(), Time(stamp));
        }
    }
}
