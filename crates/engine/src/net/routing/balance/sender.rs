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
    /// Whether it answers data.
    pub fn is_answer(&self) -> bool {
        is_answer(self.packet)
    }

    /// Whether it says that data met congestion.
    pub fn is_marked(&self) -> bool {
        says_marked(self.packet)
    }
}

/// A PULL (`PSH|ACK`) asks for more, and says nothing of what was sent.
fn is_answer(packet: &Packet) -> bool {
    let is_pull = packet.flags.has(Flags::NUMBERED) && packet.flags.has(Flags::PSH);
    packet.flags.has(Flags::ACK) && !is_pull
}

fn is_nack(packet: &Packet) -> bool {
    packet.flags.has(Flags::NUMBERED) && packet.flags.has(Flags::RST)
}

/// By ECE, or by a NACK (`RST|ACK`): a packet was cut, or is missing.  In a handshake the flag agrees to ECN (RFC 3168,
/// section 6.1.1), and says nothing of marks.
fn says_marked(packet: &Packet) -> bool {
    packet.flags.has(Flags::ECE) && !packet.flags.has(Flags::SYN) || is_nack(packet)
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
    /// Behind the last byte, or packet, that was sent.
    sent: Seq,
    /// What was acknowledged.
    acked: Seq,
    /// When the last acknowledgement came.
    answered: Option<Time>,
    /// All that was sent, in bytes.
    pub bytes: u64,
    /// What its numbers count, and which packet an answer is about.
    numbers: Numbers,
    /// Behind the packet that was sent last, and how many NACKs have not been heeded, where packets are counted.
    last: Seq,
    asked: u32,
}

/// What the sequence numbers of a flow count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Numbers {
    /// Bytes, and datagrams have none.
    #[default]
    Bytes,
    /// Packets; an answer has the first one that is missing (RoCE).
    Packets,
    /// Packets; an answer has that of the packet which it is about (those that may be cut).
    Each,
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
        if packet.flags.has(Flags::NUMBERED) {
            return self.on_numbered(packet, now);
        }
        if end > self.sent {
            self.sent = end;
            return Sent::New;
        }
        if self.answered == Some(now) { Sent::Again } else { Sent::Late }
    }

    /// Here a sender goes back, or sends at its own pace what NACKs asked for: a timer speaks of the first packet of a
    /// row that nobody asked for.
    fn on_numbered(&mut self, packet: &Packet, now: Time) -> Sent {
        let is_each = packet.flags.has(Flags::MAY_TRIM);
        self.numbers = if is_each { Numbers::Each } else { Numbers::Packets };
        let goes_on = packet.seq == std::mem::replace(&mut self.last, packet.seq + 1);
        if self.last > self.sent {
            self.sent = self.last;
            return Sent::New;
        }
        let was_asked = self.asked > 0;
        self.asked = self.asked.saturating_sub(1);
        if goes_on || was_asked || self.answered == Some(now) { Sent::Again } else { Sent::Late }
    }

    /// A packet of the other end comes.  Returns how much, in its numbers, is acknowledged for the first time.
    pub fn on_answer(&mut self, packet: &Packet, now: Time) -> u32 {
        if !packet.flags.has(Flags::ACK) {
            return 0;
        }
        self.answered = Some(now);
        if !is_answer(packet) {
            return 0;
        }
        let acked = match self.numbers {
            Numbers::Each if is_nack(packet) => self.acked,
            Numbers::Each => packet.ack + 1,
            Numbers::Packets | Numbers::Bytes => packet.ack,
        };
        self.asked += u32::from(is_nack(packet));
        let new = acked - self.acked;
        if new <= 0 {
            return 0;
        }
        self.acked = acked;
        new as u32
    }

    /// Behind the last byte, or packet, that was sent.
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
        if !is_answer(packet) {
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

    fn numbered(number: u32, flags: Flags) -> Packet {
        let flags = flags.with(Flags::NUMBERED);
        Packet { seq: Seq(number), payload: 1000, ip_bytes: 1044, flags, ..Packet::default() }
    }

    fn answer(number: u32, flags: Flags) -> Packet {
        Packet { ack: Seq(number), ip_bytes: 48, flags: flags.with(Flags::NUMBERED), ..ack(0) }
    }

    const NACK: Flags = Flags::ACK.with(Flags::RST);

    /// Numbers from 0 on, each 100 ns after the other.
    fn send(
        watch: &mut Watch,
        numbers: std::ops::Range<u32>,
        flags: Flags,
        from: u64,
    ) -> Vec<Sent> {
        let at = |number: u32| Time(from + 100 * u64::from(number));
        numbers.map(|number| watch.on_send(&numbered(number, flags), at(number))).collect()
    }

    #[test]
    fn a_round_trip_of_counted_packets_ends_with_the_last_of_them() {
        for (flags, behind) in [(Flags::default(), 1), (Flags::MAY_TRIM, 0)] {
            let (mut watch, mut rounds) = (Watch::default(), Rounds::default());
            for number in 0..10 {
                watch.on_send(&numbered(number, flags), Time(number.into()));
                rounds.on_send(&watch);
            }
            // The first one's ends the first round trip, the tenth's the next.
            let mut ends = |number: u32| {
                let answer = answer(number + behind, Flags::ACK);
                assert_eq!(watch.on_answer(&answer, Time(1_000)), 1);
                rounds.on_answer(&answer, &watch).is_some()
            };
            let ended: Vec<_> = (0..10).filter(|&number| ends(number)).collect();
            assert_eq!(ended, [0, 9]);
        }
    }

    #[test]
    fn who_goes_back_for_a_missing_packet_was_asked_and_after_a_silence_a_timer_was() {
        let mut watch = Watch::default();
        assert_eq!(send(&mut watch, 0..5, Flags::default(), 0), [Sent::New; 5]);
        assert_eq!(watch.on_answer(&answer(2, NACK), Time(10_000)), 2, "it has those before");
        assert_eq!(send(&mut watch, 2..5, Flags::default(), 10_000), [Sent::Again; 3]);
        let late = send(&mut watch, 2..5, Flags::default(), 90_000);
        assert_eq!(late, [Sent::Late, Sent::Again, Sent::Again], "one timeout");
        assert_eq!(send(&mut watch, 5..6, Flags::default(), 90_000), [Sent::New]);
    }

    #[test]
    fn of_what_was_cut_nothing_is_acknowledged_and_a_pull_is_no_answer() {
        let mut watch = Watch::default();
        send(&mut watch, 0..5, Flags::MAY_TRIM, 0);
        assert_eq!(watch.on_send(&answer(0, NACK), Time(10_000)), Sent::Control);
        assert_eq!(watch.on_answer(&answer(0, NACK), Time(10_000)), 0);
        assert_eq!(watch.on_answer(&answer(3, Flags::ACK), Time(10_000)), 4);
        assert_eq!(watch.on_answer(&answer(900, Flags::ACK.with(Flags::PSH)), Time(10_000)), 0);
        assert_eq!(watch.acked(), Seq(4));
        assert_eq!(send(&mut watch, 0..1, Flags::MAY_TRIM, 20_000), [Sent::Again]);
        assert_eq!(send(&mut watch, 0..1, Flags::MAY_TRIM, 90_000), [Sent::Late]);
        assert!(says_marked(&answer(0, NACK)));
        assert!(!says_marked(&answer(0, Flags::ACK)));
        assert!(!says_marked(&Packet { flags: NACK, ..ack(0) }), "TCP's end of a connection");
    }
}
