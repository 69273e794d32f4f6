use crate::event::{Event, EventQueue, Key};
use crate::lowered;
use crate::packet::{ICMP_HEADER, IP_HEADER, Packet};
use crate::seq::Seq;
use crate::time::Time;

/// Sends ICMP echo requests (RFC 792) at equal distances and notes the replies, as ns-3's `Ping`.
#[derive(Debug)]
pub struct Ping {
    /// Whose packets they are: behind the flows.
    flow: u16,
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
    pub fn new(ping: &lowered::Ping, flow: u16) -> Self {
        let (interval, size) = (Time(ping.interval_ns), ping.size_bytes);
        Ping { flow, interval, size, next: None, stopped: false, requests: Vec::new() }
    }

    /// The request that is due now; it is counted as sent.
    pub fn request(&mut self, now: Time) -> Packet {
        // The sequence number has 16 bits.
        let number = self.requests.len() as u16;
        self.requests.push((now, None));
        Packet {
            seq: Seq(u32::from(number)),
            ip_bytes: IP_HEADER + ICMP_HEADER + self.size,
            payload: self.size as u16,
            flow: self.flow,
            ..Packet::default()
        }
    }

    /// The next request is due one interval from now.
    pub fn schedule_next(&mut self, events: &mut EventQueue) {
        let event = Event::Application(u32::from(self.flow));
        self.next = Some(events.schedule(self.interval, event));
    }

    /// Whether the event that runs now is the one set last.
    pub fn take_due(&mut self, now: Key) -> bool {
        let due = self.next == Some(now);
        if due {
            self.next = None;
        }
        due
    }

    pub fn stop(&mut self) {
        self.next = None;
        self.stopped = true;
    }

    /// The reply to `request`, from the destination.
    pub fn reply(request: &Packet) -> Packet {
        Packet {
            seq: request.seq,
            ip_bytes: request.ip_bytes,
            payload: request.payload,
            flow: request.flow,
            backward: true,
            ..Packet::default()
        }
    }

    /// A reply has arrived at the source.
    pub fn on_reply(&mut self, reply: &Packet, now: Time) {
        if self.stopped {
            return;
        }
        if let Some((sent, rtt)) = self.requests.get_mut(reply.seq.0 as usize) {
            *rtt = Some(now - *sent);
        }
    }
}
