//! ICMP echo requests (RFC 792) at equal distances and their replies, as ns-3's `Ping`.

use crate::event::{Event, FlowEvent, Key};
use crate::lowered;
use crate::network::Network;
use crate::packet::{ICMP_HEADER, IP_HEADER, Packet};
use crate::seq::Seq;
use crate::time::Time;

/// Both ends: who asks and notes the replies, and who answers.
#[derive(Debug)]
pub struct Ping {
    /// The number that its packets carry: behind those of the flows.
    flow: u32,
    interval: Time,
    size: u32,
    /// When the next request is due.
    next: Option<Key>,
    /// Nobody waits for replies any more.
    stopped: bool,
    /// When each request was sent, and how long its reply took.
    pub requests: Vec<(Time, Option<Time>)>,
}

impl Ping {
    pub fn new(ping: &lowered::Ping, flow: u32) -> Self {
        let (interval, size) = (Time(ping.interval_ns), ping.size_bytes);
        Ping { flow, interval, size, next: None, stopped: false, requests: Vec::new() }
    }

    /// Sends a request; the next one is due an interval later.
    pub fn send(&mut self, network: &mut Network) {
        // The sequence number has 16 bits.
        let number = self.requests.len() as u16;
        self.requests.push((network.now(), None));
        network.send(Packet {
            seq: Seq(u32::from(number)),
            ip_bytes: IP_HEADER + ICMP_HEADER + self.size,
            payload: self.size as u16,
            flow: self.flow,
            ..Packet::default()
        });
        let due = Event::Flow(FlowEvent::Application, self.flow);
        self.next = Some(network.events().schedule(self.interval, due));
    }

    /// A request is due, if the event that runs now is the one set last.
    pub fn on_due(&mut self, network: &mut Network) {
        if self.next.take_if(|next| *next == network.events().now()).is_some() {
            self.send(network);
        }
    }

    pub fn stop(&mut self) {
        self.next = None;
        self.stopped = true;
    }

    /// A reply has come to the source, or a request to the destination, which answers it.
    #[cold]
    pub fn deliver(&mut self, packet: &Packet, network: &mut Network) {
        if packet.backward {
            self.on_reply(packet, network.now());
        } else {
            network.send(Packet {
                seq: packet.seq,
                ip_bytes: packet.ip_bytes,
                payload: packet.payload,
                flow: packet.flow,
                backward: true,
                ..Packet::default()
            });
        }
    }

    fn on_reply(&mut self, reply: &Packet, now: Time) {
        if self.stopped {
            return;
        }
        if let Some((sent, rtt)) = self.requests.get_mut(reply.seq.0 as usize) {
            *rtt = Some(now - *sent);
        }
    }
}
