//! Header-only packets in a pool, addressed by a small id.  Nothing is allocated per packet once
//! the pool has grown to the largest number of packets alive at the same time.

use crate::fetch::fetch;
use crate::flow_monitor::{FlowMonitor, LostIn};
use crate::path_monitor::PathMonitor;
use crate::seq::Seq;
use crate::time::Time;

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

/// ICMP echo header (RFC 792).
pub const ICMP_HEADER: u32 = 8;

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

/// The flag bits of the TCP header (RFC 9293 section 3.1, RFC 3168 section 6.1).
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
    /// Not TCP's: the packet is a fragment, see [`Packet::fragment`].
    pub const FRAGMENT: Flags = Flags(0x100);

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

/// What a packet carries: the fields of its headers that somebody reads, and its sizes.  SACK blocks,
/// which few packets have, are kept beside it: see [`PacketPool::sacks`].
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
    /// How many SACK blocks it has.
    pub sacks: u8,
    /// The one behind it in the [`PacketList`] that it is in.
    pub next: u32,
    /// What balancers write on it for those behind them; 0 when a host sends it.  Where packets may be cut,
    /// which excludes balancers: IP's identification, and what fragment it is.
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

impl Packet {
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

/// A packet with the SACK blocks that are kept beside it.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    pub packet: &'a Packet,
    pub sacks: &'a [SackBlock],
}

/// The slab that holds every packet of a simulation.
#[derive(Debug, Default)]
pub struct PacketPool {
    slots: Vec<Packet>,
    /// The place that was freed last, linked with those before it; none if it is beyond all slots.
    free: u32,
    /// Packets are counted or monitored.
    is_observed: bool,
    /// Of the packets that have some; as long as was needed so far.
    sacks: Vec<SackBlocks>,
    /// The first flow whose packets are counted, and how many each has now.
    watched: u32,
    under_way: Vec<u32>,
    /// What becomes of packets, if somebody wants to know.
    monitor: Option<Box<FlowMonitor>>,
    paths: Option<Box<PathMonitor>>,
}

impl PacketPool {
    #[inline(always)]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if self.is_observed {
            self.observe_inserted(packet.flow);
        }
        let id = PacketId(self.free);
        match self.slots.get_mut(id.0 as usize) {
            Some(slot) => {
                self.free = slot.next;
                *slot = packet;
                id
            }
            None => self.grow(packet),
        }
    }

    #[cold]
    fn grow(&mut self, packet: Packet) -> PacketId {
        let id = PacketId(self.slots.len() as u32);
        self.slots.push(packet);
        self.free = u32::MAX;
        id
    }

    /// Counts the packets of `count` flows from `first` on.
    pub fn watch(&mut self, first: u32, count: usize) {
        (self.watched, self.under_way) = (first, vec![0; count]);
        self.is_observed |= count > 0;
    }

    /// Whether there is a packet of a flow that is watched.
    pub fn is_under_way(&self, flow: u32) -> bool {
        let count = self.under_way.get(flow.wrapping_sub(self.watched) as usize);
        count.is_some_and(|&count| count > 0)
    }

    fn count_of(&mut self, flow: u32) -> Option<&mut u32> {
        self.under_way.get_mut(flow.wrapping_sub(self.watched) as usize)
    }

    #[inline(never)]
    fn observe_inserted(&mut self, flow: u32) {
        if let Some(count) = self.count_of(flow) {
            *count += 1;
        }
    }

    #[inline(never)]
    fn observe_removed(&mut self, id: PacketId) {
        if let Some(count) = self.count_of(self.slots[id.0 as usize].flow) {
            *count -= 1;
        }
        if let Some(monitor) = &mut self.monitor {
            monitor.gone(id.0 as usize);
        }
        if let Some(paths) = &mut self.paths {
            paths.gone(id.0 as usize);
        }
    }

    #[inline(always)]
    pub fn remove(&mut self, id: PacketId) {
        if self.is_observed {
            self.observe_removed(id);
        }
        self.slots[id.0 as usize].next = self.free;
        self.free = id.0;
    }

    /// From now on what becomes of packets is told to `monitor`.
    pub fn set_monitor(&mut self, monitor: FlowMonitor) {
        self.monitor = Some(Box::new(monitor));
        self.is_observed = true;
    }

    pub fn monitor(&self) -> Option<&FlowMonitor> {
        self.monitor.as_deref()
    }

    /// From now on the ways of packets are told to `paths`.
    pub fn set_paths(&mut self, paths: PathMonitor) {
        self.paths = Some(Box::new(paths));
        self.is_observed = true;
    }

    pub fn paths(&self) -> Option<&PathMonitor> {
        self.paths.as_deref()
    }

    /// A packet that is about to be removed is lost where it is noticed.
    #[inline]
    pub fn report_loss(&mut self, id: PacketId, loss: LostIn, now: Time) {
        if let Some(monitor) = &mut self.monitor {
            let bytes = self.slots[id.0 as usize].ip_bytes;
            monitor.lost(id.0 as usize, loss, bytes, now);
        }
    }

    /// A host sends a packet.
    #[inline]
    pub fn report_sent(&mut self, id: PacketId, now: Time) {
        if let Some(monitor) = &mut self.monitor {
            let Packet { flow, backward, ip_bytes, .. } = self.slots[id.0 as usize];
            monitor.sent(id.0 as usize, [flow, u32::from(backward)], ip_bytes, now);
        }
        if let Some(paths) = &mut self.paths {
            let Packet { flow, backward, .. } = self.slots[id.0 as usize];
            if !backward {
                paths.sent(id.0 as usize, flow, now);
            }
        }
    }

    /// A packet goes on from a switch; it came over `port`.
    #[inline]
    pub fn report_forwarded(&mut self, id: PacketId, port: u32, now: Time) {
        if let Some(monitor) = &mut self.monitor {
            monitor.forwarded(id.0 as usize, now);
        }
        if let Some(paths) = &mut self.paths {
            paths.forwarded(id.0 as usize, port);
        }
    }

    /// A packet is where it was to go.
    #[inline]
    pub fn report_received(&mut self, id: PacketId, now: Time) {
        if let Some(monitor) = &mut self.monitor {
            let bytes = self.slots[id.0 as usize].ip_bytes;
            monitor.received(id.0 as usize, bytes, now);
        }
        if let Some(paths) = &mut self.paths {
            paths.received(id.0 as usize);
        }
    }

    /// Gives a packet its SACK blocks.
    pub fn set_sacks(&mut self, id: PacketId, blocks: &[SackBlock]) {
        let index = id.0 as usize;
        if index >= self.sacks.len() {
            self.sacks.resize(self.slots.len(), SackBlocks::default());
        }
        self.sacks[index][..blocks.len()].copy_from_slice(blocks);
        self.slots[index].sacks = blocks.len() as u8;
    }

    /// The SACK blocks of a packet that has some: the first [`Packet::sacks`] of these.
    pub fn sacks(&self, id: PacketId) -> SackBlocks {
        self.sacks[id.0 as usize]
    }

    /// A packet with its SACK blocks.
    pub fn headers(&self, id: PacketId) -> Headers<'_> {
        let packet = &self[id];
        let count = usize::from(packet.sacks);
        let sacks = if count > 0 { &self.sacks[id.0 as usize][..count] } else { &[] };
        Headers { packet, sacks }
    }

    /// Packets alive now.
    #[cfg(test)]
    pub fn alive(&self) -> usize {
        let next = |&free: &u32| self.slots.get(free as usize).map(|slot| slot.next);
        let free = std::iter::successors(Some(self.free), next);
        self.slots.len() + 1 - free.count()
    }
}

/// Packets in a row, first in, first out.  They are linked through the pool, so that a list has no memory
/// of its own; a packet is in one list at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketList {
    /// Valid unless the list is empty.
    first: u32,
    last: u32,
    len: u32,
}

impl PacketList {
    #[inline]
    pub fn push(&mut self, id: PacketId, packets: &mut PacketPool) {
        if self.len == 0 {
            self.first = id.0;
        } else {
            packets.slots[self.last as usize].next = id.0;
        }
        self.last = id.0;
        self.len += 1;
    }

    #[inline]
    pub fn pop(&mut self, packets: &PacketPool) -> Option<PacketId> {
        let id = self.first()?;
        self.first = packets[id].next;
        self.len -= 1;
        if let Some(next) = packets.slots.get(self.first as usize) {
            // It goes next, and may have waited for long.
            fetch::<{ size_of::<Packet>() }, _>(next);
        }
        Some(id)
    }

    pub fn first(&self) -> Option<PacketId> {
        (self.len > 0).then_some(PacketId(self.first))
    }

    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl std::ops::Index<PacketId> for PacketPool {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.slots[id.0 as usize]
    }
}

impl std::ops::IndexMut<PacketId> for PacketPool {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_in_one_pool_do_not_mix() {
        let mut packets = PacketPool::default();
        let mut lists = [PacketList::default(); 2];
        for _ in 0..3 {
            for list in &mut lists {
                let ids = [(); 2].map(|()| packets.insert(Packet::default()));
                ids.iter().for_each(|&id| list.push(id, &mut packets));
                assert_eq!(list.pop(&packets), Some(ids[0]));
                assert_eq!(list.first(), Some(ids[1]));
                assert_eq!(list.pop(&packets), Some(ids[1]));
                assert!(list.pop(&packets).is_none() && list.is_empty());
                ids.iter().for_each(|&id| packets.remove(id));
            }
        }
    }

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
