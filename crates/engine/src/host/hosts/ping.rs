//! ICMP echo requests (RFC 792) at equal distances and their replies, as ns-3's `Ping`.

use ccperf_schema::lowered;

use super::{Address, Echo, Endpoint, Host};
use crate::base::event::{Key, Token};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::packet::{ICMP_HEADER, IP_HEADER, Packet};

/// The only timer: a request is due.
const REQUEST: Token = Token(0);

/// Both ends: who asks and notes the replies, and who answers.
#[derive(Debug)]
pub struct Ping {
    address: Address,
    interval: Time,
    size: u32,
    /// When the next request is due.
    next: Option<Key>,
    /// Nobody waits for replies any more.
    stopped: bool,
    requests: Vec<Echo>,
}

impl Ping {
    pub fn new(ping: &lowered::Ping, address: Address) -> Self {
        let (interval, size) = (Time(ping.interval_ns), ping.size_bytes);
        Ping { address, interval, size, next: None, stopped: false, requests: Vec::new() }
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

impl Endpoint for Ping {
    fn address(&self) -> &Address {
        &self.address
    }

    /// Sends a request; the next one is due an interval later.
    fn open(&mut self, mut host: Host<'_>) {
        // The sequence number has 16 bits.
        let number = self.requests.len() as u16;
        self.requests.push((host.now(), None));
        host.send_if_routed(Packet {
            seq: Seq(u32::from(number)),
            ip_bytes: IP_HEADER + ICMP_HEADER + self.size,
            payload: self.size as u16,
            ..Packet::default()
        });
        self.next = Some(host.arm(self.interval, REQUEST));
    }

    fn close(&mut self, _host: Host<'_>) {
        self.next = None;
        self.stopped = true;
    }

    /// A request is due, if the event that runs now is the one set last.
    fn on_timer(&mut self, _token: Token, mut host: Host<'_>) {
        if self.next.take_if(|next| *next == host.event_key()).is_some() {
            self.open(host);
        }
    }

    /// A reply has come to the source, or a request to the destination, which answers it.
    #[cold]
    fn on_packet(&mut self, packet: &Packet, mut host: Host<'_>) {
        if packet.backward {
            self.on_reply(packet, host.now());
        } else {
            host.send(Packet {
                seq: packet.seq,
                ip_bytes: packet.ip_bytes,
                payload: packet.payload,
                backward: true,
                ..Packet::default()
            });
        }
    }

    fn echoes(&self) -> &[Echo] {
        &self.requests
    }
}
