//! One switch's buffer, shared by its ports with dynamic thresholds (A. K. Choudhury and E. L. Hahne,
//! "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM ToN 6(2), 1998): before
//! any discipline, which is its child.
//!
//! A packet that arrives is dropped if the port's queue is not below alpha x (size - used), where `used` is
//! what all ports of the node with such a discipline have in their queues; or if it does not fit any more.
//! What the device has is not counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::discipline::{Children, Discipline};
use super::fifo::Fifo;
use super::{AnyQdisc, BuildContext, Classes, Head, Qdisc, QdiscContext};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::units::QueueSize;
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "SharedBufferQueueDisc",
        linux: &["shared_buffer"],
        is_in_linux: false,
        doc: "Drops above a dynamic threshold of the buffer that a switch's ports share.",
        source: "Choudhury and Hahne 1998",
        departures: &[],
        params: &[
            param!["PoolBytes", "pool"; Kind::Uint { min: 1, max: u32::MAX as u64 } => "1000000";
                "Size of the switch's buffer in bytes; the same at all its ports."],
            param!["Alpha", "alpha"; Kind::Real { min: 0.000_001, max: 1e6 } => "1";
                "A queue may have this many times what is free."],
        ],
    },
    &[&[("PoolBytes", "20000"), ("Alpha", "0.5")]],
)
.with_children(Children::Optional { least: 1, most: 1 });

const DEFAULT_LIMIT: QueueSize = QueueSize::Packets(1000);
const REASON: &str = "Shared buffer";

/// Bytes in the queues of one switch.
pub type Pool = Arc<AtomicU64>;

#[derive(Debug)]
pub struct SharedBuffer {
    queue: Classes,
    alpha: f64,
    size: u64,
    pool: Pool,
}

impl SharedBuffer {
    pub(super) fn new(cx: &mut BuildContext<'_>) -> Self {
        let mut queue = std::mem::take(&mut cx.children);
        if queue.is_empty() {
            queue.push(AnyQdisc::Fifo(Fifo::with_limit(DEFAULT_LIMIT)));
        }
        SharedBuffer {
            queue: Classes::new(queue),
            alpha: cx.attributes.f64("Alpha"),
            size: cx.attributes.u32("PoolBytes").into(),
            pool: Arc::clone(&cx.pool),
        }
    }

    /// Whether a packet may come in.
    fn admits(&self, queued: u32, bytes: u32) -> bool {
        let used = self.pool.load(Relaxed);
        let free = self.size.saturating_sub(used);
        f64::from(queued) < self.alpha * free as f64 && u64::from(bytes) <= free
    }

    /// Calls the discipline inside, and counts what that changes.
    fn counted<T>(
        &mut self,
        cx: &mut QdiscContext<'_>,
        call: impl FnOnce(&mut Classes, &mut QdiscContext<'_>) -> T,
    ) -> T {
        let before = u64::from(cx.state.bytes);
        let result = call(&mut self.queue, cx);
        // Adding and taking off wrap alike.
        self.pool.fetch_add(u64::from(cx.state.bytes).wrapping_sub(before), Relaxed);
        result
    }
}

impl Qdisc for SharedBuffer {
    fn attach(&mut self, cx: &mut QdiscContext<'_>) {
        self.queue.attach(cx);
    }

    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        self.queue.start(cx);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        if !self.admits(cx.state.bytes, cx.packets[id].ip_bytes) {
            cx.drop_before_enqueue(id, REASON);
            return false;
        }
        self.counted(cx, |queue, cx| queue.enqueue(0, id, cx))
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        self.counted(cx, |queue, cx| queue.dequeue(0, cx))
    }

    fn peek(&mut self, cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.counted(cx, |queue, cx| queue.peek(0, cx)))
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.counted(cx, |queue, cx| queue.timer(tag, cx))
    }
}

#[cfg(test)]
mod tests {
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    #[test]
    fn alone_a_queue_gets_alpha_over_one_more_than_alpha_of_the_buffer() {
        for (alpha, packets) in [("0.5", 34), ("1", 50), ("3", 75), ("1000000", 100)] {
            let given = [("PoolBytes", "100000"), ("Alpha", alpha)];
            let mut bench = Bench::new("SharedBufferQueueDisc", &given);
            let admitted = (0..150).filter(|_| bench.arrive(0, 1000, Ecn::NotEct)).count();
            assert_eq!(admitted, packets, "alpha {alpha}");
        }
    }

    #[test]
    fn what_leaves_makes_room() {
        let mut bench = Bench::new("SharedBufferQueueDisc", &[("PoolBytes", "10000")]);
        let admitted = (0..20).filter(|_| bench.arrive(0, 1000, Ecn::NotEct)).count();
        assert_eq!(admitted, 5);
        while bench.depart().is_some() {}
        let again = (0..20).filter(|_| bench.arrive(0, 1000, Ecn::NotEct)).count();
        assert_eq!(again, 5);
    }
}
