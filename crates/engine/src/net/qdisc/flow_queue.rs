//! Flow queueing (RFC 8290 sections 3 and 4): packets are hashed into queues, each run by a child
//! discipline of its own, and the queues are served by a deficit round robin that prefers new
//! flows.  Shared by `FqCoDelQueueDisc`, `FqPieQueueDisc` and `FqCobaltQueueDisc`.
//!
//! A queue with credits (bytes) may send and pays with the packet's size; without, it gets a
//! quantum and goes to the end of the old ones.  New queues go before old ones; one that is found
//! empty goes to the end of the old ones, and from there leaves the schedule.

use std::collections::{BTreeMap, VecDeque};

use super::discipline::Contradiction;
use super::reasons::OVERLIMIT_DROP;
use super::{BuildContext, FlowKey, PacketFifo, Qdisc, QdiscContext, packet_limit};
use crate::base::attributes::{Attributes, Kind, Param, U32, param};
use crate::base::time::Time;
use crate::packet::PacketId;

/// Of every discipline that is made of it: see [`Spec::departures`](crate::base::attributes::Spec).
pub const DEPARTURES: [&str; 3] = [
    "the quantum is the device's MTU, always",
    "a queue is made when its first packet comes and kept",
    "the hash is murmur3 over the five fields, optionally set-associative as in Linux's `sch_cake`",
];

pub const MAX_SIZE: Param = param!["MaxSize", "limit"; Kind::PacketLimit => "10240p";
    "How much all queues hold together, in packets."];
pub const FLOWS: Param = param!["Flows", "flows"; Kind::Uint { min: 1, max: u32::MAX as u64 } => "1024";
    "The number of queues."];
pub const DROP_BATCH_SIZE: Param = param!["DropBatchSize", "drop_batch"; U32 => "64";
    "How many packets at most are dropped from the fattest queue when the limit is exceeded."];
pub const PERTURBATION: Param = param!["Perturbation"; U32 => "0";
    "Hashed together with the addresses and ports."];
pub const SET_ASSOCIATIVE: Param = param!["EnableSetAssociativeHash"; Kind::Bool => "false";
    "Look for a free queue in a set of queues when two flows collide."];
pub const SET_WAYS: Param = param!["SetWays"; Kind::Uint { min: 1, max: u32::MAX as u64 } => "8";
    "The size of such a set; Flows must be a multiple of it."];

/// What ties the parameters of all flow-queueing disciplines together.
pub(super) fn check(a: &Attributes<'_>) -> Result<(), Contradiction> {
    let (flows, ways) = (a.u32(FLOWS.ns3), a.u32(SET_WAYS.ns3));
    if a.bool(SET_ASSOCIATIVE.ns3) && flows % ways != 0 {
        let problem = format!("Flows, {flows}, must be a multiple of SetWays, {ways}");
        return Err((SET_WAYS.ns3, problem));
    }
    if a.bool("UseL4s") && a.time("CeThreshold") == Time::MAX {
        return Err(("CeThreshold", "must be given with UseL4s".to_owned()));
    }
    Ok(())
}

/// A discipline that can run one of the queues.
pub trait Child: Qdisc {
    /// A new one with the same parameters, for the queue created as number `index` (from 0).  The
    /// tags of its timers are this number.
    fn sibling(&self, index: u32) -> Self;

    fn queue(&mut self) -> &mut PacketFifo;
}

/// One queue with its place in the round robin.
#[derive(Debug)]
struct Flow<C> {
    child: C,
    /// Bytes that it may still send in this round (RFC 8290 calls them credits).
    deficit: i32,
    /// It is in one of the two lists.
    active: bool,
}

/// A place of the hash table that has been used.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    queue: u32,
    /// The hash value that was put here last.
    tag: u32,
}

/// How packets find their queue.
#[derive(Debug)]
struct Classifier {
    flows: u32,
    perturbation: u32,
    /// The size of a set of the set-associative hash, if that is used.
    ways: Option<u32>,
    buckets: BTreeMap<u32, Bucket>,
    /// What is known of each flow and direction: its hash if set-associative, else its queue.
    cache: Vec<Option<u32>>,
}

#[derive(Debug)]
pub struct FlowQueueing<C> {
    /// Apart, for queues are made seldom, and all ports have room for the largest discipline.
    prototype: Box<C>,
    classifier: Classifier,
    queues: Vec<Flow<C>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    quantum: i32,
    limit: u32,
    drop_batch: u32,
}

impl<C: Child> FlowQueueing<C> {
    /// Reads the parameters common to all flow-queueing disciplines; queues get children like
    /// `prototype`.  The quantum is the device's MTU, as in ns-3.
    pub(super) fn around(prototype: C, cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        FlowQueueing {
            prototype: Box::new(prototype),
            classifier: Classifier {
                flows: a.u32(FLOWS.ns3),
                perturbation: a.u32(PERTURBATION.ns3),
                ways: a.bool(SET_ASSOCIATIVE.ns3).then(|| a.u32(SET_WAYS.ns3)),
                buckets: BTreeMap::new(),
                cache: Vec::new(),
            },
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            quantum: cx.mtu as i32,
            limit: packet_limit(a),
            drop_batch: a.u32(DROP_BATCH_SIZE.ns3),
        }
    }

    /// The queue of a packet, made if it is the first in its bucket.
    fn classify(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> u32 {
        let packet = &cx.packets[id];
        let place = packet.flow as usize * 2 + usize::from(packet.backward);
        let known = self.classifier.cache.get(place).copied().flatten();
        if let (Some(queue), None) = (known, self.classifier.ways) {
            return queue;
        }
        let hash =
            known.unwrap_or_else(|| flow_hash(&cx.flow_key(id), self.classifier.perturbation));
        let bucket = match self.classifier.ways {
            None => hash % self.classifier.flows,
            Some(ways) => self.bucket_in_set(hash, ways),
        };
        let next = self.queues.len() as u32;
        let entry = self.classifier.buckets.entry(bucket);
        let entry = entry.or_insert(Bucket { queue: next, tag: hash });
        entry.tag = hash;
        let queue = entry.queue;
        if queue == next {
            let mut child = self.prototype.sibling(queue);
            cx.child(|cx| {
                child.attach(cx);
                child.start(cx);
            });
            self.queues.push(Flow { child, deficit: 0, active: false });
        }
        let cache = &mut self.classifier.cache;
        if place >= cache.len() {
            cache.resize(place + 1, None);
        }
        cache[place] = Some(if self.classifier.ways.is_some() { hash } else { queue });
        queue
    }

    /// The first bucket of the hash's set that is unused, idle or this flow's own, else the first.
    fn bucket_in_set(&self, hash: u32, ways: u32) -> u32 {
        let bucket = hash % self.classifier.flows;
        let first = bucket - bucket % ways;
        let is_usable = |bucket: &u32| match self.classifier.buckets.get(bucket) {
            None => true,
            Some(b) => b.tag == hash || !self.queues[b.queue as usize].active,
        };
        (first..first + ways).find(is_usable).unwrap_or(first)
    }

    /// The queue whose turn it is (RFC 8290 section 4.2): the first new one with credits, else the
    /// first old one.
    fn next_queue(&mut self) -> Option<u32> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = &mut self.queues[index as usize];
            if flow.deficit > 0 {
                return Some(index);
            }
            flow.deficit += self.quantum;
            list.pop_front();
            self.old.push_back(index);
        }
    }

    /// Makes room at the expense of the queue with most bytes: drops from its head half of it, at
    /// most one batch (RFC 8290 section 4.1).
    fn drop_from_fattest(&mut self, cx: &mut QdiscContext<'_>) {
        let mut fattest = 0;
        let mut most = 0;
        for (index, flow) in self.queues.iter_mut().enumerate() {
            let bytes = flow.child.queue().bytes();
            if bytes > most {
                (fattest, most) = (index, bytes);
            }
        }
        let queue = self.queues[fattest].child.queue();
        let mut dropped = 0;
        for _ in 0..self.drop_batch.max(1) {
            let Some(id) = queue.pop(cx) else { break };
            dropped += cx.packets[id].ip_bytes;
            cx.drop_after_dequeue(id, OVERLIMIT_DROP);
            if dropped >= most / 2 {
                break;
            }
        }
    }
}

impl<C: Child> Qdisc for FlowQueueing<C> {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let index = self.classify(id, cx);
        let flow = &mut self.queues[index as usize];
        if !flow.active {
            flow.active = true;
            flow.deficit = self.quantum;
            self.new.push_back(index);
        }
        let accepted = cx.child(|cx| flow.child.enqueue(id, cx));
        if cx.queued_packets() > self.limit {
            self.drop_from_fattest(cx);
        }
        accepted
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        loop {
            let index = self.next_queue()?;
            let flow = &mut self.queues[index as usize];
            if let Some(id) = cx.child(|cx| flow.child.dequeue(cx)) {
                flow.deficit -= cx.packets[id].ip_bytes as i32;
                return Some(id);
            }
            // An emptied new queue waits a round among the old ones before it may be new again.
            if self.new.pop_front().is_some() {
                self.old.push_back(index);
            } else {
                self.old.pop_front();
                flow.active = false;
            }
        }
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        let child = &mut self.queues[tag as usize].child;
        cx.child(|cx| child.timer(tag, cx))
    }
}

/// The hash of a packet's addresses (ns-3's `Ipv4QueueDiscItem::Hash`): murmur3 over source,
/// destination, protocol, ports and perturbation in network byte order.
pub fn flow_hash(key: &FlowKey, perturbation: u32) -> u32 {
    let mut bytes = [0; 17];
    bytes[0..4].copy_from_slice(&key.source.to_be_bytes());
    bytes[4..8].copy_from_slice(&key.destination.to_be_bytes());
    bytes[8] = key.protocol;
    bytes[9..11].copy_from_slice(&key.source_port.to_be_bytes());
    bytes[11..13].copy_from_slice(&key.destination_port.to_be_bytes());
    bytes[13..17].copy_from_slice(&perturbation.to_be_bytes());
    murmur3(&bytes, NS3_HASH_SEED)
}

/// The seed of ns-3's default hash function.
const NS3_HASH_SEED: u32 = 0x8BAD_F00D;

/// MurmurHash3_x86_32 (Austin Appleby, public domain).
fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    let scramble =
        |word: u32| word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut words = bytes.chunks_exact(4);
    let mut hash = seed;
    for word in &mut words {
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        hash = (hash ^ scramble(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let rest = words.remainder().iter().rev().fold(0, |rest, &byte| rest << 8 | u32::from(byte));
    hash ^= scramble(rest);
    hash ^= bytes.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    #[test]
    fn the_hash_is_murmur3() {
        // Appleby's own verification value for the empty string and "test", seed 0.
        assert_eq!(murmur3(b"", 0), 0);
        assert_eq!(murmur3(b"test", 0), 0xba6b_d213);
        // ns-3 3.44's Hash32 of the bytes 1 to 17.
        let bytes: Vec<u8> = (1..=17).collect();
        assert_eq!(murmur3(&bytes, NS3_HASH_SEED), 211_457_375);
    }

    /// Deficit round robin shares bytes, not packets, between flows that always have some.
    #[test]
    fn busy_flows_get_equal_bytes() {
        let mut bench = Bench::new("FqCoDelQueueDisc", &[]);
        let sizes = [1500, 700, 40];
        let mut bytes = [0u32; 3];
        for (flow, &size) in (0u32..).zip(&sizes) {
            for _ in 0..if size < 100 { 3000 } else { 200 } {
                assert!(bench.arrive(flow, size, Ecn::NotEct));
            }
        }
        for _ in 0..1500 {
            let packet = bench.depart().unwrap();
            bytes[packet.flow as usize] += packet.ip_bytes;
        }
        let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
        assert!(most - least <= 2 * 1500, "{bytes:?}");
    }

    #[test]
    fn a_sparse_flow_goes_first() {
        let mut bench = Bench::new("FqCoDelQueueDisc", &[]);
        for _ in 0..50 {
            bench.arrive(0, 1500, Ecn::NotEct);
        }
        for _ in 0..5 {
            bench.depart();
        }
        bench.arrive(1, 100, Ecn::NotEct);
        assert_eq!(bench.depart().unwrap().flow, 1);
        assert_eq!(bench.depart().unwrap().flow, 0);
    }

    #[test]
    fn an_overflow_halves_the_fattest_queue() {
        let given = [("MaxSize", "100p")];
        let mut bench = Bench::new("FqCoDelQueueDisc", &given);
        for _ in 0..80 {
            bench.arrive(0, 1000, Ecn::NotEct);
        }
        for _ in 0..20 {
            bench.arrive(1, 1000, Ecn::NotEct);
        }
        assert_eq!(bench.state.packets, 100);
        bench.arrive(1, 1000, Ecn::NotEct);
        assert_eq!((bench.state.packets, bench.state.decisions.dropped_packets), (61, 40));
        // From its head.
        let first = std::iter::from_fn(|| bench.depart()).find(|packet| packet.flow == 0);
        assert_eq!(first.unwrap().seq.0, 40);
    }
}
