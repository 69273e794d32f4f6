//! Packets in a pool, addressed by a small id.  Nothing is allocated per packet once the pool has grown to the
//! largest number of packets alive at the same time.

use super::{EcnOption, Image, Packet, PacketId, SackBlock, SackBlocks};
use crate::base::fetch::fetch;
use crate::base::time::Time;
use crate::packet::deliveries::Deliveries;
use crate::packet::flow_monitor::{FlowMonitor, LostIn};
use crate::packet::ingress::Ingress;
use crate::packet::path_monitor::PathMonitor;
use crate::packet::telemetry::Hops;

/// A packet with the options that are kept beside it.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    pub packet: &'a Packet,
    pub sacks: &'a [SackBlock],
    pub ecn_option: Option<&'a EcnOption>,
}

/// Options of TCP that few packets have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    pub sacks: SackBlocks,
    pub ecn_option: EcnOption,
}

impl Beside {
    /// These blocks, four at most, and nothing else.
    #[inline]
    pub fn of_blocks(blocks: &[SackBlock]) -> Beside {
        let mut beside = Beside::default();
        // One by one: that is as long as a call to have them copied.
        for (to, &block) in beside.sacks.iter_mut().zip(blocks) {
            *to = block;
        }
        beside
    }
}

/// That of a packet in a list of what few packets have, with room for all that there are now.
fn place<T: Clone + Default>(list: &mut Vec<T>, index: usize, places: usize) -> &mut T {
    if index >= list.len() {
        list.resize(places, T::default());
    }
    &mut list[index]
}

/// The slab that holds every packet of a simulation.
#[derive(Debug, Default)]
pub struct PacketPool {
    slots: Vec<Packet>,
    /// The place that was freed last, linked with those before it; none if it is beyond all slots.
    free: u32,
    /// Packets are counted or monitored.
    is_observed: bool,
    /// Of the packets that have some; each as long as was needed so far.
    sacks: Vec<SackBlocks>,
    ecn_options: Vec<EcnOption>,
    /// Of packets of other stacks; as long as was needed so far.
    images: Vec<Image>,
    /// What packets collect; as long as was needed so far.
    hops: Vec<Hops>,
    /// The first flow whose packets are counted, and how many each has now.
    watched: u32,
    under_way: Vec<u32>,
    /// What becomes of packets, if somebody wants to know.
    monitor: Option<Box<FlowMonitor>>,
    paths: Option<Box<PathMonitor>>,
    deliveries: Option<Box<Deliveries>>,
    /// What switches hold of them, where some hold senders back.
    ingress: Option<Box<Ingress>>,
}

impl PacketPool {
    #[inline(always)]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if self.is_observed {
            self.observe_inserted(packet.flow);
        }
        if self.free as usize >= self.slots.len() {
            self.grow();
        }
        let id = PacketId(self.free);
        let slot = &mut self.slots[id.0 as usize];
        self.free = slot.next;
        *slot = packet;
        id
    }

    /// Makes a free place.
    #[cold]
    fn grow(&mut self) {
        self.free = self.slots.len() as u32;
        self.slots.push(Packet { next: u32::MAX, ..Packet::default() });
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
        self.release(id);
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

    /// From now on what comes to hosts is told to `deliveries`.
    pub fn set_deliveries(&mut self, deliveries: Deliveries) {
        self.deliveries = Some(Box::new(deliveries));
    }

    pub fn deliveries(&self) -> Option<&Deliveries> {
        self.deliveries.as_deref()
    }

    /// From now on the ways of packets are told to `paths`.
    pub fn set_paths(&mut self, paths: PathMonitor) {
        self.paths = Some(Box::new(paths));
        self.is_observed = true;
    }

    pub fn paths(&self) -> Option<&PathMonitor> {
        self.paths.as_deref()
    }

    /// From now on `ingress` accounts for what switches hold.
    pub fn set_ingress(&mut self, ingress: Ingress) {
        self.ingress = Some(Box::new(ingress));
        self.is_observed = true;
    }

    pub fn ingress(&self) -> Option<&Ingress> {
        self.ingress.as_deref()
    }

    pub fn ingress_mut(&mut self) -> Option<&mut Ingress> {
        self.ingress.as_deref_mut()
    }

    /// A switch no longer holds a packet.
    pub fn release(&mut self, id: PacketId) {
        if let Some(ingress) = &mut self.ingress {
            ingress.release(id.0 as usize);
        }
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
            let Packet { flow, backward, payload, .. } = self.slots[id.0 as usize];
            if !backward {
                paths.sent(id.0 as usize, flow, payload > 0, now);
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
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.received(&self.slots[id.0 as usize], now);
        }
    }

    /// Gives a packet its SACK blocks.
    pub fn set_sacks(&mut self, id: PacketId, blocks: &[SackBlock]) {
        self.slots[id.0 as usize].beside = blocks.len() as u8;
        self.set_beside(id, &Beside::of_blocks(blocks));
    }

    /// Gives a packet the options that it says it has.
    #[inline]
    pub fn set_beside(&mut self, id: PacketId, beside: &Beside) {
        let (index, places) = (id.0 as usize, self.slots.len());
        *place(&mut self.sacks, index, places) = beside.sacks;
        if self.slots[index].has_ecn_option() {
            *place(&mut self.ecn_options, index, places) = beside.ecn_option;
        }
    }

    /// The options of a packet that has some: the first [`Packet::sacks`] of its blocks, and the other if
    /// [`Packet::has_ecn_option`].
    #[inline]
    pub fn read_beside(&self, id: PacketId, beside: &mut Beside) {
        let index = id.0 as usize;
        beside.sacks = self.sacks[index];
        if self.slots[index].has_ecn_option() {
            beside.ecn_option = self.ecn_options[index];
        }
    }

    /// Gives a packet its headers as another stack wrote them.
    pub fn set_image(&mut self, id: PacketId, image: &Image) {
        let index = id.0 as usize;
        if index >= self.images.len() {
            self.images.resize(self.slots.len(), [0; size_of::<Image>()]);
        }
        self.images[index] = *image;
    }

    /// The headers of a packet that [`PacketPool::set_image`] was called for; of others nothing, or what was in their
    /// place before.
    pub fn image(&self, id: PacketId) -> Option<Image> {
        self.images.get(id.0 as usize).copied()
    }

    /// The headers of the packet that was removed last, which [`PacketPool::set_image`] was called for: its place is
    /// the first free one until something is inserted.
    pub fn image_freed_last(&self) -> &Image {
        &self.images[self.free as usize]
    }

    /// Gives a packet what it has collected so far.
    pub fn set_hops(&mut self, id: PacketId, hops: &Hops) {
        let index = id.0 as usize;
        if index >= self.hops.len() {
            self.hops.resize(self.slots.len(), Hops::default());
        }
        self.hops[index] = *hops;
    }

    /// Of a packet that [`PacketPool::set_hops`] was called for.
    pub fn hops_mut(&mut self, id: PacketId) -> &mut Hops {
        &mut self.hops[id.0 as usize]
    }

    /// The same of the packet that was removed last, until something is inserted.
    pub fn hops_freed_last(&self) -> &Hops {
        &self.hops[self.free as usize]
    }

    /// A packet with the options beside it.
    pub fn headers(&self, id: PacketId) -> Headers<'_> {
        let (packet, index) = (&self[id], id.0 as usize);
        if packet.beside == 0 {
            return Headers { packet, sacks: &[], ecn_option: None };
        }
        let sacks = &self.sacks[index][..packet.sacks()];
        let ecn_option = packet.has_ecn_option().then(|| &self.ecn_options[index]);
        Headers { packet, sacks, ecn_option }
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
            fetch(next);
        }
        Some(id)
    }

    /// The packet that was taken last is the first again.
    pub fn put_back(&mut self, id: PacketId, packets: &mut PacketPool) {
        packets.slots[id.0 as usize].next = self.first;
        self.first = id.0;
        if self.len == 0 {
            self.last = id.0;
        }
        self.len += 1;
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
}
