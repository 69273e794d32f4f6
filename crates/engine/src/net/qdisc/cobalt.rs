//! CoDel and BLUE alternate (ns-3's `CobaltQueueDisc`, after Linux's `sch_cake`; Palmei et al.,
//! "Design and evaluation of COBALT queue discipline", LANMAN 2019): CoDel without a dropping
//! interval, whose count also decays, and BLUE against flows that do not respond.
//!
//! CoDel's half, at each departure: while the sojourn time is above the target, drop or mark
//! whenever now >= next, and each time count += 1, next += interval / sqrt(count).  Below the
//! target, count -= 1 instead for each time that has passed, so that the pace is found again where
//! it was.
//!
//! BLUE's half, at most once in a target time: p += increment when a packet finds the queue full or
//! has been in it for longer than the threshold, p -= decrement when it is found empty.  Each
//! departure is dropped with probability p, whatever it could be marked with.

use super::codel::{CE_THRESHOLD, INTERVAL, TARGET, USE_ECN, USE_L4S};
use super::discipline::Discipline;
use super::flow_queue::Child;
use super::reasons::{CE_THRESHOLD_MARK, OVERLIMIT_DROP, TARGET_EXCEEDED_DROP};
use super::{BuildContext, Head, PacketFifo, Qdisc, QdiscContext};
use crate::base::attributes::{FRACTION, Kind, Param, Spec, param};
use crate::base::rng::RngStream;
use crate::base::units::QueueSize;
use crate::packet::PacketId;

pub const P_DROP: Param = param!["Pdrop"; FRACTION => "0"; "BLUE's drop probability at the start."];
pub const INCREMENT: Param = param!["Increment"; FRACTION => "0.00390625";
    "Step of BLUE's probability upwards, when the queue is full or too slow."];
pub const DECREMENT: Param = param!["Decrement"; FRACTION => "0.000244140625";
    "Step of BLUE's probability downwards, when the queue is empty."];
pub const BLUE_THRESHOLD: Param = param!["BlueThreshold"; Kind::Time => "400ms";
    "Sojourn time above which BLUE's probability is raised."];

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "CobaltQueueDisc",
        linux: &["cobalt"],
        is_in_linux: false,
        doc: "CoDel and BLUE alternate, the algorithm of Linux's CAKE.",
        source: "Palmei et al., IEEE LANMAN 2019",
        departures: &[
            "the time of BLUE's last change is kept in 32 bits",
            "a threshold for CE marks and the exemption of L4S packets",
            "`Pdrop` can be given",
            "what BLUE drops has CoDel's reason",
        ],
        params: &[
            param!["MaxSize", "limit"; Kind::QueueSize => "1500000B";
                "How much the queue holds, in packets or bytes."],
            INTERVAL,
            TARGET,
            USE_ECN,
            P_DROP,
            INCREMENT,
            DECREMENT,
            CE_THRESHOLD,
            USE_L4S,
            BLUE_THRESHOLD,
        ],
    },
    &[
        &[("MaxSize", "9000B"), ("Interval", "5ms"), ("Target", "1ms")],
        &[("Interval", "5ms"), ("Target", "1ms"), ("UseEcn", "true")],
    ],
);

const FORCED_MARK: &str = "forcedMark";

/// 1 / sqrt(count) for small counts, in 32 fractional bits.
const INV_SQRT: [u32; 16] = inv_sqrt_table();

const fn inv_sqrt_table() -> [u32; 16] {
    let mut table = [u32::MAX; 16];
    let mut x = u32::MAX;
    let mut count = 1;
    while count < table.len() {
        let mut step = 0;
        while step < 4 {
            x = newton_step(x, count as u32);
            step += 1;
        }
        table[count] = x;
        count += 1;
    }
    table
}

/// One step of Newton's method towards 1 / sqrt(count).
const fn newton_step(inv_sqrt: u32, count: u32) -> u32 {
    let x = inv_sqrt as u64;
    let x_squared = (x * x) >> 32;
    let error = (3u64 << 32).wrapping_sub(count as u64 * x_squared);
    ((error >> 2).wrapping_mul(x) >> 31) as u32
}

/// Instants in here are signed nanoseconds: the next drop may lie before time 0.
#[derive(Clone, Debug)]
pub struct Cobalt {
    queue: PacketFifo,
    limit: QueueSize,
    target: i64,
    interval: i64,
    use_ecn: bool,
    use_l4s: bool,
    ce_threshold: i64,
    blue_threshold: i64,
    increment: f64,
    decrement: f64,
    /// Its random numbers: replication and stream.
    run: u64,
    stream: u64,
    rng: RngStream,
    count: u32,
    inv_sqrt: u32,
    dropping: bool,
    drop_next: i64,
    /// BLUE's.
    probability: f64,
    /// When BLUE's probability was last changed; ns-3 keeps 32 bits of it, so that the pause
    /// between two changes is not kept in the first `target` after each 4.3 s.
    blue_changed: u32,
}

impl Cobalt {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        Cobalt {
            queue: PacketFifo::default(),
            limit: a.queue_size("MaxSize"),
            target: a.time("Target").ns(),
            interval: a.time("Interval").ns(),
            use_ecn: a.bool("UseEcn"),
            use_l4s: a.bool("UseL4s"),
            ce_threshold: a.time("CeThreshold").ns(),
            blue_threshold: a.time("BlueThreshold").ns(),
            increment: a.f64("Increment"),
            decrement: a.f64("Decrement"),
            run: cx.run,
            stream: cx.stream,
            rng: RngStream::fixed(cx.run, cx.stream),
            count: 0,
            inv_sqrt: u32::MAX,
            dropping: false,
            drop_next: 0,
            probability: a.f64("Pdrop"),
            blue_changed: 0,
        }
    }

    /// Sets the count, and with it the pace of drops.
    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.inv_sqrt = match INV_SQRT.get(count as usize) {
            Some(&x) => x,
            None => newton_step(self.inv_sqrt, count),
        };
    }

    /// The control law: interval / sqrt(count) after `from`.
    fn control_law(&self, from: i64) -> i64 {
        let interval = u64::from(self.interval as u32);
        from.wrapping_add(((interval * u64::from(self.inv_sqrt)) >> 32) as i64)
    }

    /// How late the next drop is; wraps, as an endless interval makes it.
    fn lateness(&self, now: i64) -> i64 {
        now.wrapping_sub(self.drop_next)
    }

    fn is_drop_due(&self, now: i64) -> bool {
        self.count > 0 && self.lateness(now) >= 0
    }

    /// BLUE changes its probability at most once in a target time.
    fn may_change_blue(&self, now: i64) -> bool {
        now - i64::from(self.blue_changed) > self.target
    }

    fn raise_blue(&mut self, now: i64) {
        self.probability = (self.probability + self.increment).min(1.0);
        self.blue_changed = now as u32;
    }

    fn on_full(&mut self, now: i64) {
        if self.may_change_blue(now) {
            self.raise_blue(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    fn on_empty(&mut self, now: i64) {
        if self.probability != 0.0 && self.may_change_blue(now) {
            self.probability = (self.probability - self.decrement).max(0.0);
            self.blue_changed = now as u32;
        }
        self.dropping = false;
        if self.is_drop_due(now) {
            self.set_count(self.count - 1);
            self.drop_next = self.control_law(self.drop_next);
        }
    }

    /// Whether the packet just taken out is dropped; marks it if that is what is due.
    fn drops(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let now = cx.now.ns();
        let sojourn = cx.sojourn(id).ns();
        if self.use_l4s && cx.is_l4s(id) {
            if sojourn > self.ce_threshold {
                cx.mark(id, CE_THRESHOLD_MARK);
            }
            return false;
        }

        let is_due = self.is_drop_due(now);
        // Before what follows postpones the next drop.
        let mut lateness = self.lateness(now);
        let was_dropping = std::mem::replace(&mut self.dropping, sojourn > self.target);
        if self.dropping {
            if !was_dropping {
                self.drop_next = self.control_law(now);
            }
            self.count = self.count.max(1);
        }

        let mut drop = false;
        let mut marked = false;
        if is_due && self.dropping {
            marked = self.use_ecn && cx.mark(id, FORCED_MARK);
            drop = !marked;
            self.set_count(self.count.saturating_add(1));
            self.drop_next = self.control_law(self.drop_next);
            lateness = self.lateness(now);
        } else if is_due {
            while self.is_drop_due(now) {
                self.set_count(self.count - 1);
                self.drop_next = self.control_law(self.drop_next);
            }
            lateness = self.lateness(now);
        }

        let may_mark = self.use_ecn && !self.use_l4s && !marked;
        if may_mark && sojourn > self.ce_threshold {
            cx.mark(id, CE_THRESHOLD_MARK);
        }

        if sojourn > self.blue_threshold && self.may_change_blue(now) {
            self.raise_blue(now);
        }
        if self.probability != 0.0 {
            // BLUE drops also what could be marked.
            let hit = self.rng.unit() < self.probability;
            drop = drop || hit;
        }

        if self.count == 0 {
            self.drop_next = now.wrapping_add(self.interval);
        } else if lateness > 0 && !drop {
            self.drop_next = now;
        }
        drop
    }
}

impl Qdisc for Cobalt {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        if !self.queue.has_room(self.limit, cx.packets[id].ip_bytes) {
            self.on_full(cx.now.ns());
            cx.drop_before_enqueue(id, OVERLIMIT_DROP);
            return false;
        }
        self.queue.push(id, cx);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        while let Some(id) = self.queue.pop(cx) {
            if !self.drops(id, cx) {
                return Some(id);
            }
            cx.drop_after_dequeue(id, TARGET_EXCEEDED_DROP);
        }
        self.on_empty(cx.now.ns());
        None
    }

    fn peek(&mut self, _cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.queue.head())
    }
}

impl Child for Cobalt {
    fn sibling(&self, index: u32) -> Self {
        let rng = RngStream::fixed(self.run, self.stream + u64::from(index));
        Cobalt { rng, ..self.clone() }
    }

    fn queue(&mut self) -> &mut PacketFifo {
        &mut self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Time;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    #[test]
    fn the_table_holds_inverse_square_roots() {
        for (count, &x) in INV_SQRT.iter().enumerate().skip(1) {
            let exact = (1u64 << 32) as f64 / (count as f64).sqrt();
            assert!((f64::from(x) / exact - 1.0).abs() < 1e-3, "{count}");
        }
    }

    /// Arrivals that do not slow down: CoDel's pace is not enough, BLUE's probability finds the
    /// excess, here one packet in three.
    #[test]
    fn blue_deals_with_a_flow_that_does_not_respond() {
        let mut bench = Bench::new("CobaltQueueDisc", &[("MaxSize", "300p"), ("UseEcn", "true")]);
        for i in 0..60_000u64 {
            bench.wait(Time(500_000));
            if i % 2 == 0 {
                bench.arrive(0, 1500, Ecn::Ect0);
            }
            if i % 3 == 0 {
                bench.depart();
            }
        }
        let dropped = bench.state.decisions.dropped_packets as f64 / f64::from(bench.arrivals);
        assert!((dropped - 1.0 / 3.0).abs() < 0.05, "{dropped}");
        // It is BLUE that drops, after the queue, not the limit.
        let after =
            bench.state.decisions.counts.iter().find(|c| c.reason.text == TARGET_EXCEEDED_DROP);
        assert!(after.unwrap().packets > bench.state.decisions.dropped_packets / 2);
    }
}
