//! Schemes where hosts choose the path and switches obey.
//!
//! The paths from a host's switch to another one have numbers from 0 on.  A host writes one on each packet; each
//! switch with n paths takes the one at number mod n in the order of links, and divides the number by n for those
//! behind it.  So every path has a number, and in a leaf-spine without parallel links it is that of the uplink.
//! The host that a packet comes to writes the packet's number on the next one that it sends back, so that who
//! sends knows which path was acknowledged, or marked.

use super::Leaves;
use super::failures::FailedPath;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::net::routing::Origin;
use crate::packet::{Flags, Packet};

/// The paths between two switches.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Of each path, by its number: the least rate on it in bit/s, when it was asked for first.
    pub rates: Vec<u64>,
}

impl Paths {
    pub fn count(&self) -> u32 {
        self.rates.len() as u32
    }
}

/// A host sends a packet.
#[derive(Debug)]
pub struct Sending<'a> {
    pub packet: &'a Packet,
    pub origin: Origin,
    pub now: Time,
    pub paths: &'a Paths,
    /// Of the host's link, in bit/s.
    pub rate: u64,
    /// The path of the last packet that came back for this one's flow.
    pub answers: Option<u32>,
    pub leaves_of: &'a Leaves,
}

/// A packet comes to its host.
#[derive(Debug)]
pub struct Coming<'a> {
    pub packet: &'a Packet,
    /// Of the packets that it answers: where they come from and go to.
    pub origin: Origin,
    pub now: Time,
    /// The path of the packet that it answers, and how much of that path was used, from 0 to 255.
    pub answers: Option<(u32, u8)>,
    pub leaves_of: &'a Leaves,
}

impl Coming<'_> {
    /// Whether it says that data was marked.
    pub fn is_marked(&self) -> bool {
        says_marked(self.packet)
    }
}

/// In a handshake the flag agrees to ECN (RFC 3168, section 6.1.1), and says nothing of marks.
fn says_marked(packet: &Packet) -> bool {
    packet.flags.has(Flags::ECE) && !packet.flags.has(Flags::SYN)
}

/// A packet of a probe: to the other end of a pair of agents and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    pub pair: u32,
    pub path: u32,
}

/// Agents that probe: hosts behind different switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agents {
    pub leaves: [u32; 2],
}

/// Chooses for all hosts.
pub trait Sender: Send {
    /// The number of the packet's path.
    fn choose(&mut self, sending: &Sending<'_>) -> u32;

    /// A packet has come to its host.
    fn notice(&mut self, _coming: &Coming<'_>) {}

    /// A probe has come back after `rtt`, `is_marked` on its way there.
    fn learn(&mut self, _agents: Agents, _probe: Probe, _rtt: Time, _is_marked: bool, _now: Time) {}

    /// How often [`Sender::probes`] is called; never, if 0.
    fn period(&self) -> Time {
        Time::ZERO
    }

    /// A period is over: which probes to send.  `paths`: of each pair of agents how many.
    fn probes(&mut self, _agents: &[Agents], _paths: &[u32], _probes: &mut Vec<Probe>) {}

    /// Whether switches are to note how much of their links is used.
    fn wants_load(&self) -> bool {
        false
    }

    /// Links have failed or come back: paths have other numbers.
    fn reroute(&mut self) {}

    /// The paths that were found to have failed, in order.
    fn failed(&self) -> &[FailedPath] {
        &[]
    }
}

crate::opaque!(Sender);

/// What can be seen from outside of the data that one end of a flow sends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch {
    /// Behind the last byte that was sent.
    sent: Seq,
    /// What was acknowledged.
    acked: Seq,
    /// When the last acknowledgement came.
    answered: Option<Time>,
    /// All that was sent, in bytes.
    pub bytes: u64,
}

/// What a packet of a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Nothing that will be acknowledged.
    Control,
    /// New data, SYN or FIN; datagrams and pings.
    New,
    /// Sent again in answer to an acknowledgement.
    Again,
    /// Sent again by itself: a timer has expired.
    Late,
}

impl Watch {
    /// A packet is sent.
    pub fn on_send(&mut self, packet: &Packet, now: Time) -> Sent {
        self.bytes += u64::from(packet.ip_bytes);
        if packet.flags == Flags::default() {
            return Sent::New; // not TCP
        }
        let end = end_of(packet);
        if end == packet.seq {
            return Sent::Control;
        }
        if end > self.sent {
            self.sent = end;
            return Sent::New;
        }
        if self.answered == Some(now) { Sent::Again } else { Sent::Late }
    }

    /// A packet of the other end comes.  Returns how many bytes are acknowledged for the first time.
    pub fn on_answer(&mut self, packet: &Packet, now: Time) -> u32 {
        if !packet.flags.has(Flags::ACK) {
            return 0;
        }
        self.answered = Some(now);
        let new = packet.ack - self.acked;
        if new <= 0 {
            return 0;
        }
        self.acked = packet.ack;
        new as u32
    }

    /// Behind the last byte that was sent.
    pub fn sent(&self) -> Seq {
        self.sent
    }

    pub fn acked(&self) -> Seq {
        self.acked
    }
}

/// Marks counted by round trips: each ends with the acknowledgement of what had been sent last when it began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    end: Seq,
    acknowledgements: u32,
    marked: u32,
}

impl Rounds {
    /// After [`Watch::on_send`]: the first packet begins the first round trip.
    pub fn on_send(&mut self, watch: &Watch) {
        if self.end == Seq::default() {
            self.end = watch.sent();
        }
    }

    /// After [`Watch::on_answer`]; the share of marked acknowledgements, if a round trip is over.
    pub fn on_answer(&mut self, packet: &Packet, watch: &Watch) -> Option<f64> {
        if !packet.flags.has(Flags::ACK) {
            return None;
        }
        self.acknowledgements += 1;
        self.marked += u32::from(says_marked(packet));
        if watch.acked() < self.end {
            return None;
        }
        let share = f64::from(self.marked) / f64::from(self.acknowledgements);
        *self = Rounds { end: watch.sent(), acknowledgements: 0, marked: 0 };
        Some(share)
    }
}

/// Behind the last sequence number of a packet.
fn end_of(packet: &Packet) -> Seq {
    let flags = packet.flags;
    let control = u32::from(flags.has(Flags::SYN)) + u32::from(flags.has(Flags::FIN));
    packet.seq + (u32::from(packet.payload) + control)
}

/// The value at a place of a list that grows to it.
pub fn grown<V: Default + Clone>(list: &mut Vec<V>, at: usize) -> &mut V {
    if at >= list.len() {
        list.resize((at + 1).next_power_of_two(), V::default());
    }
    &mut list[at]
}

/// The flow and direction of a packet in one small number.
pub fn path_of(packet: &Packet) -> usize {
    2 * packet.flow as usize + usize::from(packet.backward)
}

/// That of the packets that it answers.
pub fn other_path_of(packet: &Packet) -> usize {
    path_of(packet) ^ 1
}

/// Where a number from a hash falls among so many.
pub fn among(hash: u64, paths: u32) -> u32 {
    (((hash >> 32) * u64::from(paths)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u32) -> Packet {
        Packet {
            seq: Seq(seq),
            payload: 1000,
            ip_bytes: 1040,
            flags: Flags::ACK,
            ..Packet::default()
        }
    }

    fn ack(ack: u32) -> Packet {
        Packet { ack: Seq(ack), ip_bytes: 40, flags: Flags::ACK, ..Packet::default() }
    }

    #[test]
    fn what_is_sent_again_without_an_answer_was_a_timer() {
        let mut watch = Watch::default();
        let syn = Packet { flags: Flags::SYN, ..Packet::default() };
        assert_eq!(watch.on_send(&syn, Time(0)), Sent::New);
        assert_eq!(watch.on_send(&syn, Time(5_000)), Sent::Late, "a lost SYN");
        assert_eq!(watch.on_answer(&ack(1), Time(6_000)), 1);
        assert_eq!(watch.on_send(&ack(0), Time(6_000)), Sent::Control);
        assert_eq!(watch.on_send(&data(1), Time(6_000)), Sent::New);
        assert_eq!(watch.on_send(&data(1001), Time(6_000)), Sent::New);
        assert_eq!(watch.on_answer(&ack(1), Time(7_000)), 0);
        assert_eq!(watch.on_send(&data(1), Time(7_000)), Sent::Again, "after a duplicate");
        assert_eq!(watch.on_send(&data(1), Time(9_000)), Sent::Late);
        assert_eq!(watch.on_answer(&ack(2001), Time(9_500)), 2000);
    }
}
