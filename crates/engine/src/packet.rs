//! Packets: headers without what they carry.

pub mod capture;
mod carried;
pub mod deliveries;
pub mod flow_monitor;
pub mod ingress;
pub mod path_monitor;
mod pool;
pub mod telemetry;
pub mod trace;
pub mod verdict;

use crate::base::seq::Seq;
use crate::base::time::Time;
use ingress::Pause;

pub use carried::Carried;
pub use pool::{Beside, Headers, PacketList, PacketPool};

/// Bytes that the point-to-point link adds to an IP packet (PPP, protocol field only; RFC 1661).
pub const PPP_HEADER: u32 = 2;
/// IPv4 header without options (RFC 791).
pub const IP_HEADER: u32 = 20;
/// TCP header without options (RFC 9293 section 3.1).
pub const TCP_HEADER: u32 = 20;

/// Timestamps, padded (RFC 7323 appendix A).
pub const TIMESTAMP_OPTION: u32 = 12;

/// UDP header (RFC 768).
pub const UDP_HEADER: u32 = 8;

/// All headers of RoCEv2, IP's included: after UDP's the base transport header of 12 bytes, and behind the payload four of a check
/// sum (InfiniBand Architecture Specification, annex A17).
pub const ROCE_HEADERS: u32 = IP_HEADER + UDP_HEADER + 12 + 4;

/// All headers of a packet that switches may cut, IP's included: without payload it has 64 bytes on the wire (Handley et al.
/// 2017).
pub const TRIMMING_HEADERS: u32 = 64 - PPP_HEADER;

/// ICMP echo header (RFC 792).
pub const ICMP_HEADER: u32 = 8;

/// IP's numbers of what it carries.
pub const PROTOCOL_ICMP: u8 = 1;
pub const PROTOCOL_TCP: u8 = 6;
pub const PROTOCOL_UDP: u8 = 17;

/// The two ECN bits of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    #[default]
    NotEct = 0,
    Ect1 = 1,
    Ect0 = 2,
    Ce = 3,
}

/// The priority that the type of service asks for (RFC 1349's bits, as read by ns-3's
/// `Socket::IpTos2Priority` and by Linux's `rt_tos2priority`): 0 best effort, 2 bulk, 6 interactive, 4
/// interactive bulk.
pub const fn priority(tos: u8) -> u8 {
    match tos >> 3 & 3 {
        0 => 0,
        1 => 2,
        2 => 6,
        _ => 4,
    }
}

/// The flag bits of the TCP header (RFC 9293 section 3.1, RFC 3168 section 6.1, RFC 9768 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    pub const FIN: Flags = Flags(0x01);
    pub const SYN: Flags = Flags(0x02);
    pub const RST: Flags = Flags(0x04);
    pub const PSH: Flags = Flags(0x08);
    pub const ACK: Flags = Flags(0x10);
    pub const URG: Flags = Flags(0x20);
    pub const ECE: Flags = Flags(0x40);
    pub const CWR: Flags = Flags(0x80);
    pub const AE: Flags = Flags(0x100);
    /// What says something of marks: RFC 3168, RFC 9768.
    pub const ECN: Flags = Flags(Flags::AE.0 | Flags::CWR.0 | Flags::ECE.0);
    /// Not TCP's: the packet is a fragment, see [`Packet::fragment`].
    pub const FRAGMENT: Flags = Flags(0x200);
    /// Not TCP's: it is a pause frame, see [`Packet::pause`].
    pub const PAUSE: Flags = Flags(0x400);
    /// Not TCP's: switches write into it what they know of their links, see [`telemetry`].
    pub const COLLECTS: Flags = Flags(0x800);
    /// Not TCP's: a switch may cut its payload off.
    pub const MAY_TRIM: Flags = Flags(0x1000);
    /// Not TCP's: one has.
    pub const TRIMMED: Flags = Flags(0x2000);
    /// Not TCP's: its numbers count packets, not bytes.
    pub const NUMBERED: Flags = Flags(0x4000);

    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// The TCP options of a packet besides SACK blocks, and which of them are there at all; and whether it
/// carries its flow's type of service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options(u8);

impl Options {
    const TIMESTAMPS: u8 = 1;
    const SACK_PERMITTED: u8 = 2;
    const WINDOW_SCALE: u8 = 4;
    const SERVICE: u8 = 8;
    /// The window shift, at most 14 (RFC 7323 section 2.3), in the upper half.
    const SHIFT: u32 = 4;

    /// Those of a socket's usual segment.
    pub const fn new(timestamps: bool) -> Options {
        Options(Options::SERVICE | if timestamps { Options::TIMESTAMPS } else { 0 })
    }

    pub const fn without_service(self) -> Options {
        Options(self.0 & !Options::SERVICE)
    }

    pub const fn has_service(self) -> bool {
        self.0 & Options::SERVICE != 0
    }

    /// Those of a SYN, too.
    pub fn with_syn(self, sack_permitted: bool, window_shift: Option<u8>) -> Options {
        let sack = if sack_permitted { Options::SACK_PERMITTED } else { 0 };
        let scale = window_shift.map_or(0, |n| Options::WINDOW_SCALE | n << Options::SHIFT);
        Options(self.0 | sack | scale)
    }

    pub const fn has_timestamps(self) -> bool {
        self.0 & Options::TIMESTAMPS != 0
    }

    pub const fn has_sack_permitted(self) -> bool {
        self.0 & Options::SACK_PERMITTED != 0
    }

    pub fn window_shift(self) -> Option<u8> {
        (self.0 & Options::WINDOW_SCALE != 0).then_some(self.0 >> Options::SHIFT)
    }
}

/// Which packet of the pool; valid until the packet is freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId(pub u32);

/// A `[left, right)` block of a SACK option (RFC 2018 section 3).
pub type SackBlock = (Seq, Seq);

/// As many as fit a header without other options (RFC 2018 section 3).
pub type SackBlocks = [SackBlock; 4];

/// The headers of a packet of a stack that is not ours, as it wrote them: IP's and TCP's with all options, at the
/// beginning (RFC 791, RFC 9293: 20 and at most 60 bytes).
pub type Image = [u8; 80];

/// What a packet carries: the fields of its headers that somebody reads, and its sizes.  SACK blocks
/// and the option of accurate ECN, which few packets have, are kept beside it: see [`PacketPool::beside`].
///
/// It fills a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Packet {
    /// When the queue discipline that holds it accepted it.
    pub enqueued: Time,
    pub seq: Seq,
    pub ack: Seq,
    /// TSval and TSecr in ms (RFC 7323); meaningful if `options` has timestamps.
    pub ts_val: u32,
    pub ts_ecr: u32,
    /// IP packet size in bytes: IP and TCP headers, options and payload.
    pub ip_bytes: u32,
    pub flow: u32,
    /// Where it goes, as the routing tables number the nodes that packets are for.
    pub destination: u32,
    pub payload: u16,
    /// The window field as it stands in the header (not yet scaled).
    pub window: u16,
    pub flags: Flags,
    /// True for packets from the flow's destination to its source.
    pub backward: bool,
    pub ecn: Ecn,
    pub options: Options,
    /// What is kept beside it: in the lower bits how many SACK blocks, and [`Packet::ECN_OPTION`].
    pub beside: u8,
    /// The one behind it in the [`PacketList`] that it is in.
    pub next: u32,
    /// What balancers write on it for those behind them; 0 when a host sends it.  Where their choices last, its
    /// path.  Where packets may be cut, which excludes balancers: IP's identification, and what fragment it is.
    pub notes: [u32; 3],
}

/// Which piece of a packet a fragment is (RFC 791 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    pub identification: u16,
    /// Bytes of IP's payload in front of it.
    pub offset: u16,
    /// It is not the last one.
    pub more: bool,
}

// One cache line.
const _: () = assert!(size_of::<Packet>() == 64);

impl Ecn {
    /// Of a type of service.
    pub const fn of(tos: u8) -> Ecn {
        match tos & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}

/// The option of accurate ECN (RFC 9768 section 3.2.3): one to three counts of 24 bits, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnOption {
    /// Kind 172: ECT(0), CE, ECT(1).  Otherwise 174: ECT(1), CE, ECT(0).
    pub is_ect0_first: bool,
    pub fields: [u32; 3],
    /// So many of them are there.
    pub count: u8,
}

impl EcnOption {
    pub const LONGEST: u32 = 11;

    pub const fn bytes(&self) -> u32 {
        2 + 3 * self.count as u32
    }
}

impl Packet {
    /// In `beside`: it has an [`EcnOption`].
    pub const ECN_OPTION: u8 = 0x80;

    pub const fn sacks(&self) -> usize {
        (self.beside & !Packet::ECN_OPTION) as usize
    }

    pub const fn has_ecn_option(&self) -> bool {
        self.beside & Packet::ECN_OPTION != 0
    }

    /// The next port of the path that it carries.
    #[inline(always)] // on every hop
    pub fn take_port(&mut self) -> u32 {
        let path = Carried(self.notes);
        self.notes = path.rest().0;
        path.next()
    }

    /// When a datagram was created, in place of TCP's timestamps.
    pub fn set_stamp(&mut self, time: Time) {
        (self.ts_val, self.ts_ecr) = ((time.0 >> 32) as u32, time.0 as u32);
    }

    pub fn stamp(&self) -> Time {
        Time(u64::from(self.ts_val) << 32 | u64::from(self.ts_ecr))
    }

    pub const fn wire_bytes(&self) -> u32 {
        self.ip_bytes + PPP_HEADER
    }

    /// The identification in its IP header.
    pub fn set_identification(&mut self, number: u16) {
        self.notes[0] = number.into();
    }

    pub const fn identification(&self) -> u16 {
        self.notes[0] as u16
    }

    /// Makes it this piece of the packet that it was; the identification stays.
    pub fn set_fragment(&mut self, offset: u16, more: bool) {
        self.flags = self.flags.with(Flags::FRAGMENT);
        self.notes[1] = u32::from(offset) | u32::from(more) << 16;
    }

    /// If it is one.
    pub fn fragment(&self) -> Option<Fragment> {
        self.flags.has(Flags::FRAGMENT).then(|| Fragment {
            identification: self.identification(),
            offset: self.notes[1] as u16,
            more: self.notes[1] >> 16 != 0,
        })
    }

    /// Makes it say this, which has [`Flags::PAUSE`].
    pub fn set_pause(&mut self, pause: Pause) {
        self.seq = Seq(u32::from(pause.pausing) << 8 | u32::from(pause.priorities));
        self.window = pause.quanta;
    }

    /// If it is a pause frame.
    pub fn pause(&self) -> Option<Pause> {
        self.flags.has(Flags::PAUSE).then_some(Pause {
            priorities: self.seq.0 as u8,
            pausing: (self.seq.0 >> 8) as u8,
            quanta: self.window,
        })
    }

    /// Cuts its payload off.
    pub fn trim(&mut self) {
        self.flags = self.flags.with(Flags::TRIMMED).without(Flags::MAY_TRIM);
        self.ip_bytes -= u32::from(self.payload);
        self.payload = 0;
    }

    /// Whether its transport's header is in it.
    pub fn has_transport_header(&self) -> bool {
        self.fragment().is_none_or(|fragment| fragment.offset == 0)
    }
}

/// What disciplines classify packets by; the same for all packets of a flow in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowKey {
    pub source: u32,
    pub destination: u32,
    pub source_port: u16,
    pub destination_port: u16,
    pub protocol: u8,
    /// The type of service: its upper six bits, and the priority that it asks for (ns-3's
    /// `SocketPriorityTag`, Linux's `skb->priority`).
    pub dscp: u8,
    pub priority: u8,
    /// The host marks all packets of the flow in this direction, also those that a socket sends
    /// without its type of service.
    pub is_marked: bool,
    /// Which of [`FlowKeys::demotions`] its packets are subject to, from 1; 0: none.
    pub demotion: u16,
}

/// What the packets of all flows are classified by.
#[derive(Clone, Debug, Default)]
pub struct FlowKeys {
    /// By flow, there and back.
    pub keys: Vec<[FlowKey; 2]>,
    /// PIAS: after so many bytes of the flow each a packet's code point is one higher.
    pub demotions: Vec<Vec<u32>>,
}

impl FlowKeys {
    pub fn of(&self, packet: &Packet) -> &FlowKey {
        &self.keys[packet.flow as usize][usize::from(packet.backward)]
    }

    /// The DSCP of a packet.
    pub fn dscp(&self, packet: &Packet) -> u8 {
        let key = self.of(packet);
        match key.demotion {
            0 if key.has_service(packet) => key.dscp,
            0 => 0,
            demotion => key.dscp + self.level(demotion, packet),
        }
    }

    /// The type of service in a packet's header, without the two ECN bits.
    pub fn service(&self, packet: &Packet) -> u8 {
        self.dscp(packet) << 2
    }

    /// The priority of a packet.
    pub fn priority(&self, packet: &Packet) -> u8 {
        let key = self.of(packet);
        match key.demotion {
            0 if key.has_service(packet) => key.priority,
            0 => 0,
            _ => priority(self.dscp(packet) << 2),
        }
    }

    /// How many of the thresholds the bytes in front of the packet's own have reached.
    fn level(&self, demotion: u16, packet: &Packet) -> u8 {
        let before = packet.seq.0.saturating_sub(1); // the SYN has the first number
        let thresholds = &self.demotions[usize::from(demotion) - 1];
        thresholds.iter().take_while(|&&threshold| threshold <= before).count() as u8
    }
}

impl FlowKey {
    fn has_service(&self, packet: &Packet) -> bool {
        self.is_marked || packet.options.has_service()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of Linux's tc-prio(8), which ns-3 repeats: types of service in hex and priorities.
    #[test]
    fn types_of_service_ask_for_priorities() {
        for (tos, expected) in [
            (0x00, 0),
            (0x04, 0),
            (0x08, 2),
            (0x0c, 2),
            (0x10, 6),
            (0x14, 6),
            (0x18, 4),
            (0x1c, 4),
            (0xe0, 0),
            (0xb8, 4),
        ] {
            assert_eq!(priority(tos), expected, "{tos:#x}");
        }
    }
}
