//! What surrounds a queue discipline while it works: the clock, the packets, the counters, the
//! trace.

use crate::base::time::{Rate, Time};
use crate::packet::flow_monitor::LostIn;
use crate::packet::trace::{PacketEvent, PacketTrace, Row};
use crate::packet::verdict::{Reason, Verdict};
use crate::packet::{Ecn, FlowKey, FlowKeys, Packet, PacketId, PacketPool};

/// Packets and bytes for one verdict and reason.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    pub verdict: Verdict,
    pub reason: Reason,
    pub packets: u64,
    pub bytes: u64,
}

/// Backlog and statistics of one root discipline (ns-3's `QueueDisc::Stats`).
#[derive(Debug)]
#[repr(C)]
pub struct QdiscState {
    /// Packets and bytes in the discipline now.
    pub packets: u32,
    pub bytes: u32,
    pub enqueued_packets: u64,
    /// [`NOBODY_YET`] before the first.
    last_sojourn: Time,
    pub dequeued_packets: u64,
    /// Apart, since most packets are neither dropped nor marked.
    pub decisions: Box<Decisions>,
}

const NOBODY_YET: Time = Time(u64::MAX);

/// What a root discipline has dropped and marked.
#[derive(Debug, Default)]
pub struct Decisions {
    pub dropped_packets: u64,
    pub dropped_bytes: u64,
    pub marked_packets: u64,
    pub counts: Vec<Counts>,
}

impl Default for QdiscState {
    fn default() -> Self {
        QdiscState {
            packets: 0,
            bytes: 0,
            enqueued_packets: 0,
            dequeued_packets: 0,
            last_sojourn: NOBODY_YET,
            decisions: Box::default(),
        }
    }
}

impl QdiscState {
    /// Time in the queue of the packet dequeued last, those dropped then included.
    pub fn last_sojourn(&self) -> Option<Time> {
        (self.last_sojourn != NOBODY_YET).then_some(self.last_sojourn)
    }

    /// A packet is now in the queue.
    #[inline(always)]
    pub fn count_enqueued(&mut self, packet: &mut Packet, now: Time) {
        packet.enqueued = now;
        self.packets += 1;
        self.bytes += packet.ip_bytes;
        self.enqueued_packets += 1;
    }

    /// A packet has left the queue.
    #[inline(always)]
    pub fn count_dequeued(&mut self, packet: &Packet, now: Time) {
        self.packets -= 1;
        self.bytes -= packet.ip_bytes;
        self.dequeued_packets += 1;
        self.last_sojourn = now - packet.enqueued;
    }

    /// A packet that has just left is in the queue again, until it leaves in this nanosecond.
    pub fn count_put_back(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += packet.ip_bytes;
        self.dequeued_packets -= 1;
    }

    /// A packet was enqueued and dequeued at once.
    #[inline]
    pub fn count_passed(&mut self) {
        self.enqueued_packets += 1;
        self.dequeued_packets += 1;
        self.last_sojourn = Time::ZERO;
    }
}

impl Decisions {
    fn count(&mut self, verdict: Verdict, reason: Reason, bytes: u32) {
        let found = self.counts.iter_mut().find(|c| c.verdict == verdict && c.reason == reason);
        match found {
            Some(c) => {
                c.packets += 1;
                c.bytes += u64::from(bytes);
            }
            None => {
                self.counts.push(Counts { verdict, reason, packets: 1, bytes: u64::from(bytes) })
            }
        }
    }
}

/// Handed to a discipline with every call.
#[derive(Debug)]
pub struct QdiscContext<'a> {
    pub now: Time,
    pub packets: &'a mut PacketPool,
    pub state: &'a mut QdiscState,
    /// Indexed by flow; forward direction first, then backward.
    pub flow_keys: &'a FlowKeys,
    pub rate: Rate,
    pub port: u32,
    pub trace: Option<&'a mut PacketTrace>,
    /// Timers that the discipline has asked for and the caller has not yet scheduled.
    pub timers: &'a mut Vec<(Time, u32)>,
    pub nesting: Nesting,
}

/// Where in the root the discipline that is called is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nesting {
    /// How many levels below the root; see [`QdiscContext::child`].
    pub depth: u8,
    /// Packets in the root that are not in it.
    outside: u32,
    /// Size of the packet that was taken out of it to be looked at and still counts as queued; or
    /// 0.
    held: u32,
    /// It is only asked what comes next; see [`QdiscContext::peeking`].
    is_peek: bool,
}

impl Nesting {
    /// All that is queued is in a discipline at this depth.
    pub fn at(depth: u8) -> Self {
        Nesting { depth, ..Nesting::default() }
    }
}

impl QdiscContext<'_> {
    /// The packet `id` is now in the queue.
    pub fn enqueued(&mut self, id: PacketId) {
        self.state.count_enqueued(&mut self.packets[id], self.now);
        self.record(PacketEvent::Enqueue, id, Reason { text: "", depth: 0 });
    }

    /// The packet `id` has left the queue.
    pub fn dequeued(&mut self, id: PacketId) {
        if self.nesting.is_peek {
            return;
        }
        self.state.count_dequeued(&self.packets[id], self.now);
    }

    /// The arriving packet `id` is refused; it ceases to exist.
    pub fn drop_before_enqueue(&mut self, id: PacketId, reason: &'static str) {
        self.drop(id, reason, Verdict::DropBeforeEnqueue);
    }

    /// The packet `id`, already reported as dequeued, is dropped; it ceases to exist.
    pub fn drop_after_dequeue(&mut self, id: PacketId, reason: &'static str) {
        if std::mem::take(&mut self.nesting.is_peek) {
            self.dequeued(id);
            self.nesting.is_peek = true;
        }
        self.drop(id, reason, Verdict::DropAfterDequeue);
    }

    /// Sets the CE mark if the packet's transport is ECN capable (RFC 3168 section 5), and returns
    /// whether the packet is marked now.
    pub fn mark(&mut self, id: PacketId, reason: &'static str) -> bool {
        let packet = &mut self.packets[id];
        if packet.ecn == Ecn::NotEct {
            return false;
        }
        packet.ecn = Ecn::Ce;
        let bytes = packet.ip_bytes;
        let why = self.reason(reason);
        self.state.decisions.marked_packets += 1;
        self.state.decisions.count(Verdict::Mark, why, bytes);
        self.record(PacketEvent::Mark, id, why);
        true
    }

    /// Cuts the payload off a packet that may lose it; `is_queued`: it has been reported as enqueued.
    pub fn trim(&mut self, id: PacketId, is_queued: bool, reason: &'static str) {
        let bytes = u32::from(self.packets[id].payload);
        self.packets[id].trim();
        if is_queued {
            self.state.bytes -= bytes;
        }
        let why = self.reason(reason);
        self.state.decisions.count(Verdict::Trim, why, bytes);
        self.record(PacketEvent::Trim, id, why);
    }

    /// Calls the discipline's `timer(tag)` after `delay`.
    pub fn set_timer(&mut self, delay: Time, tag: u32) {
        self.timers.push((delay, tag));
    }

    /// Addresses and ports of the packet.
    pub fn flow_key(&self, id: PacketId) -> FlowKey {
        let packet = &self.packets[id];
        *self.flow_keys.of(packet)
    }

    /// What the packet's type of service asks for.
    pub fn priority(&self, id: PacketId) -> u8 {
        self.flow_keys.priority(&self.packets[id])
    }

    /// The packet's differentiated services code point (RFC 2474).
    pub fn dscp(&self, id: PacketId) -> u8 {
        self.flow_keys.dscp(&self.packets[id])
    }

    /// Calls a child discipline: what it drops and marks is counted as a child's decision.
    pub fn child<T>(&mut self, call: impl FnOnce(&mut Self) -> T) -> T {
        let above = self.nesting;
        self.nesting = Nesting { depth: above.depth + 1, held: 0, ..above };
        let result = call(self);
        self.nesting = above;
        result
    }

    /// Calls a child discipline beside which there are `others` packets in the root.  A packet of
    /// `held` bytes, if not 0, has been taken out of it to be looked at.
    pub fn class<T>(&mut self, others: u32, held: u32, call: impl FnOnce(&mut Self) -> T) -> T {
        let above = self.nesting;
        self.nesting = Nesting { depth: above.depth + 1, outside: others, held, ..above };
        let result = call(self);
        self.nesting = above;
        result
    }

    /// Calls `dequeue` of a discipline for its packet to be looked at: what it returns stays
    /// queued, what it drops has left.
    pub fn peeking<T>(&mut self, dequeue: impl FnOnce(&mut Self) -> T) -> T {
        let is_peek = std::mem::replace(&mut self.nesting.is_peek, true);
        let result = dequeue(self);
        self.nesting.is_peek = is_peek;
        result
    }

    /// Size of the packet that was taken out of the discipline that is called to be looked at, and
    /// still counts as queued; 0 without one.
    pub fn held_bytes(&self) -> u32 {
        self.nesting.held
    }

    /// Packets in the discipline that is called.
    pub fn queued_packets(&self) -> u32 {
        self.state.packets - self.nesting.outside
    }

    /// How long the packet has been in the discipline.
    pub fn sojourn(&self, id: PacketId) -> Time {
        self.now - self.packets[id].enqueued
    }

    /// Whether the packet belongs to L4S: ECT(1), or CE and then possibly so (RFC 9331 section
    /// 5.1).
    pub fn is_l4s(&self, id: PacketId) -> bool {
        matches!(self.packets[id].ecn, Ecn::Ect1 | Ecn::Ce)
    }

    fn reason(&self, text: &'static str) -> Reason {
        Reason { text, depth: self.nesting.depth }
    }

    fn drop(&mut self, id: PacketId, reason: &'static str, verdict: Verdict) {
        let bytes = self.packets[id].ip_bytes;
        self.state.decisions.dropped_packets += 1;
        self.state.decisions.dropped_bytes += u64::from(bytes);
        let why = self.reason(reason);
        self.state.decisions.count(verdict, why, bytes);
        self.record(PacketEvent::Drop, id, why);
        self.packets.report_loss(id, LostIn::Discipline, self.now);
        self.packets.remove(id);
    }

    fn record(&mut self, event: PacketEvent, id: PacketId, why: Reason) {
        if let Some(trace) = self.trace.as_deref_mut() {
            let (at, port, packet) = (self.now, self.port, self.packets.headers(id));
            trace.push(Row { at, port, event, packet, reason: why });
        }
    }
}
