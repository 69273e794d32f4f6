//! A first-in first-out queue that marks: what the marking disciplines of data centres have in common.
//!
//! A discipline is a [`Law`], which says what is marked.  What cannot be marked passes unmarked; only a full
//! queue drops.

use std::fmt;

use super::reasons::LIMIT_EXCEEDED;
use super::{BuildContext, Head, PacketFifo, Qdisc, QdiscContext};
use crate::base::attributes::{Kind, Param, param};
use crate::base::time::Time;
use crate::base::units::QueueSize;
use crate::packet::PacketId;

/// How much such a queue holds.
pub const MAX_SIZE: Param = param!["MaxSize", "limit"; Kind::QueueSize => "100p";
    "How much the queue holds, in packets or bytes."];

/// What is marked, and when.
pub trait Law: fmt::Debug + Send {
    fn start(&mut self, _cx: &mut QdiscContext<'_>) {}

    /// There is room for the packet, which is not yet in the queue.
    fn at_enqueue(&mut self, _id: PacketId, _queue: &PacketFifo, _cx: &mut QdiscContext<'_>) {}

    /// The packet has left the queue.
    fn at_dequeue(&mut self, _id: PacketId, _queue: &PacketFifo, _cx: &mut QdiscContext<'_>) {}

    /// A packet was asked for, and there was none.
    fn found_none(&mut self) {}

    fn timer(&mut self, _tag: u32, _queue: &PacketFifo, _cx: &mut QdiscContext<'_>) {}

    /// As [`Qdisc::passes`], for a packet that has room.
    fn passes(&mut self) -> bool {
        true
    }
}

#[derive(Debug)]
pub struct Marking<L> {
    pub(super) queue: PacketFifo,
    limit: QueueSize,
    pub law: L,
}

impl<L> Marking<L> {
    pub fn by(law: L, cx: &BuildContext<'_>) -> Self {
        Marking { queue: PacketFifo::default(), limit: cx.attributes.queue_size(MAX_SIZE.ns3), law }
    }
}

impl<L: Law> Qdisc for Marking<L> {
    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        self.law.start(cx);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        if !self.queue.has_room(self.limit, cx.packets[id].ip_bytes) {
            cx.drop_before_enqueue(id, LIMIT_EXCEEDED);
            return false;
        }
        self.law.at_enqueue(id, &self.queue, cx);
        self.queue.push(id, cx);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        let Some(id) = self.queue.pop(cx) else {
            self.law.found_none();
            return None;
        };
        self.law.at_dequeue(id, &self.queue, cx);
        Some(id)
    }

    fn peek(&mut self, _cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.queue.head())
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.law.timer(tag, &self.queue, cx);
        false
    }

    fn passes(&mut self, ip_bytes: u32, _now: Time) -> bool {
        self.queue.has_room(self.limit, ip_bytes) && self.law.passes()
    }
}
