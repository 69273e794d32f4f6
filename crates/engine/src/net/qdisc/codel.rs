//! Controlled delay (RFC 8289; ns-3's `CoDelQueueDisc`, which follows Linux's `sch_codel`): drops
//! at the head while the sojourn time has stayed above the target for an interval, at times that
//! come closer with the square root of the number of drops.
//!
//! At each departure (sections 5.4 and 5.5): the queue stands if the sojourn time has been at or
//! above the target for an interval, and at least `MinBytes` are left.  The first drop then is at
//! once, each further one at next += interval / sqrt(count) (section 3.3); count starts from 1, or
//! from where it was if the last time is less than 16 intervals ago.

use super::discipline::Discipline;
use super::flow_queue::Child;
use super::reasons::{
    CE_THRESHOLD_MARK, OVERLIMIT_DROP, TARGET_EXCEEDED_DROP, TARGET_EXCEEDED_MARK,
};
use super::{BuildContext, PacketFifo, Qdisc, QdiscContext};
use crate::base::attributes::{Kind, Param, Spec, U32, param};
use crate::base::time::Time;
use crate::base::units::QueueSize;
use crate::packet::PacketId;

pub const USE_ECN: Param = param!["UseEcn", "ecn"; Kind::Bool => "false";
    "Mark packets that can be marked instead of dropping them."];
pub const USE_L4S: Param = param!["UseL4s"; Kind::Bool => "false";
    "Mark L4S packets at CeThreshold, and do nothing else to them."];
pub const CE_THRESHOLD: Param = param!["CeThreshold", "ce_threshold"; Kind::Time => "+9.22337e+18ns";
    "With UseEcn, sojourn time above which packets that can be marked are marked; with UseL4s only L4S packets."];
pub const INTERVAL: Param = param!["Interval", "interval"; Kind::Time => "100ms";
    "How long the sojourn time must exceed the target before packets are dropped."];
pub const TARGET: Param = param!["Target", "target"; Kind::Time => "5ms";
    "Acceptable standing sojourn time."];

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "CoDelQueueDisc",
        linux: &["codel"],
        is_in_linux: true,
        doc: "Controlled delay: keeps the standing queueing delay near a target.",
        source: "RFC 8289",
        departures: &[
            "time is in units of 1024 ns and 32 bits",
            "the inverse root is one step of Newton's method for each drop",
            "a mark is the end of a departure, so that there is one at most, and the next is \
             counted from now",
            "a threshold for CE marks, and the exemption of L4S packets from all else",
        ],
        params: &[
            USE_ECN,
            USE_L4S,
            param!["MaxSize", "limit"; Kind::QueueSize => "1500000B";
                "How much the queue holds, in packets or bytes."],
            param!["MinBytes"; U32 => "1500"; "No drops while less than this is queued, in bytes."],
            INTERVAL,
            TARGET,
            CE_THRESHOLD,
        ],
    },
    &[
        &[("MaxSize", "9000B"), ("Interval", "5ms"), ("Target", "1ms")],
        &[("Interval", "5ms"), ("Target", "1ms"), ("UseEcn", "true")],
    ],
);

/// What a child gets, since flow queueing has no such parameter.
pub(super) const DEFAULT_MIN_BYTES: u32 = 1500;

/// CoDel's clock: 32 bits of 1024 ns, which wrap after 73 minutes.
pub(super) fn ticks(time: Time) -> u32 {
    (time.0 >> 10) as u32
}

/// 1 / sqrt(count) in 16 fractional bits.
pub(super) const ONE: u16 = u16::MAX;

/// One step of Newton's method towards 1 / sqrt(count).
pub(super) fn newton_step(inv_sqrt: u16, count: u32) -> u16 {
    let x = u64::from(inv_sqrt) << 16;
    let x_squared = (x * x) >> 32;
    let error = (3u64 << 32).wrapping_sub(u64::from(count) * x_squared);
    // A quarter of it, so that the product with x stays within 64 bits.
    let half = (error >> 2).wrapping_mul(x) >> 31;
    (half as u32 >> 16) as u16
}

/// The parameters of one instance.
#[derive(Clone, Debug)]
pub(super) struct Params {
    pub limit: QueueSize,
    pub target: Time,
    pub interval: Time,
    pub min_bytes: u32,
    pub use_ecn: bool,
    pub use_l4s: bool,
    pub ce_threshold: Time,
}

#[derive(Clone, Debug)]
pub struct CoDel {
    queue: PacketFifo,
    limit: QueueSize,
    target: u32,
    interval: u32,
    min_bytes: u32,
    use_ecn: bool,
    use_l4s: bool,
    ce_threshold: u32,
    /// Drops and marks since the dropping state was entered, and what that count started from.
    count: u32,
    last_count: u32,
    dropping: bool,
    inv_sqrt: u16,
    /// When the sojourn time will have been above the target for an interval; 0 while below.
    first_above: u32,
    drop_next: u32,
}

impl CoDel {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        CoDel::with(&Params {
            limit: a.queue_size("MaxSize"),
            target: a.time("Target"),
            interval: a.time("Interval"),
            min_bytes: a.u32("MinBytes"),
            use_ecn: a.bool("UseEcn"),
            use_l4s: a.bool("UseL4s"),
            ce_threshold: a.time("CeThreshold"),
        })
    }

    pub(super) fn with(params: &Params) -> Self {
        CoDel {
            queue: PacketFifo::default(),
            limit: params.limit,
            target: ticks(params.target),
            interval: ticks(params.interval),
            min_bytes: params.min_bytes,
            use_ecn: params.use_ecn,
            use_l4s: params.use_l4s,
            ce_threshold: ticks(params.ce_threshold),
            count: 0,
            last_count: 0,
            dropping: false,
            inv_sqrt: ONE,
            first_above: 0,
            drop_next: 0,
        }
    }

    /// The control law (RFC 8289 section 3.3): interval / sqrt(count) after `from`.
    fn control_law(&self, from: u32) -> u32 {
        let inv_sqrt = u64::from(self.inv_sqrt) << 16;
        from.wrapping_add(((u64::from(self.interval) * inv_sqrt) >> 32) as u32)
    }

    /// Whether the queue has been too long for an interval, judged by the packet just taken out.
    fn is_standing(&mut self, id: Option<PacketId>, cx: &QdiscContext<'_>) -> bool {
        let is_short = id.is_none_or(|id| {
            ticks(cx.sojourn(id)) < self.target || self.queue.bytes() < self.min_bytes
        });
        let now = ticks(cx.now);
        if is_short {
            self.first_above = 0;
            false
        } else if self.first_above == 0 {
            self.first_above = now.wrapping_add(self.interval);
            false
        } else {
            now > self.first_above
        }
    }

    /// Dequeues in the dropping state: leaves it, or drops or marks what is due.  Returns the
    /// packet to send and whether it was marked.
    fn go_on_dropping(
        &mut self,
        head: PacketId,
        cx: &mut QdiscContext<'_>,
    ) -> (Option<PacketId>, bool) {
        let now = ticks(cx.now);
        let mut packet = Some(head);
        self.dropping = self.is_standing(packet, cx);
        while let Some(id) = packet
            && self.dropping
            && now >= self.drop_next
        {
            self.count = self.count.wrapping_add(1);
            self.inv_sqrt = newton_step(self.inv_sqrt, self.count);
            if self.use_ecn && cx.mark(id, TARGET_EXCEEDED_MARK) {
                self.drop_next = self.control_law(now);
                return (packet, true);
            }
            cx.drop_after_dequeue(id, TARGET_EXCEEDED_DROP);
            packet = self.queue.pop(cx);
            self.dropping = self.is_standing(packet, cx);
            if self.dropping {
                self.drop_next = self.control_law(self.drop_next);
            }
        }
        (packet, false)
    }

    /// Dequeues outside the dropping state: perhaps enters it, with one drop or mark.  Returns the
    /// packet to send and whether it was marked.
    fn maybe_start_dropping(
        &mut self,
        head: PacketId,
        cx: &mut QdiscContext<'_>,
    ) -> (Option<PacketId>, bool) {
        if !self.is_standing(Some(head), cx) {
            return (Some(head), false);
        }
        let mut packet = Some(head);
        let marked = self.use_ecn && cx.mark(head, TARGET_EXCEEDED_MARK);
        if !marked {
            cx.drop_after_dequeue(head, TARGET_EXCEEDED_DROP);
            packet = self.queue.pop(cx);
            self.is_standing(packet, cx);
        }
        self.dropping = true;
        // Soon after the last time the rate of then is the better start (RFC 8289 section 4.3).
        let now = ticks(cx.now);
        let drops = self.count.wrapping_sub(self.last_count) as i32;
        let is_recent = now.wrapping_sub(self.drop_next) < self.interval.wrapping_mul(16);
        if drops > 1 && is_recent {
            self.count = drops as u32;
            self.inv_sqrt = newton_step(self.inv_sqrt, self.count);
        } else {
            self.count = 1;
            self.inv_sqrt = ONE;
        }
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        (packet, marked)
    }

    fn mark_above_threshold(&self, id: PacketId, cx: &mut QdiscContext<'_>) {
        if ticks(cx.sojourn(id)) > self.ce_threshold {
            cx.mark(id, CE_THRESHOLD_MARK);
        }
    }
}

impl Qdisc for CoDel {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        if !self.queue.has_room_with_held(self.limit, cx.packets[id].ip_bytes, cx) {
            cx.drop_before_enqueue(id, OVERLIMIT_DROP);
            return false;
        }
        self.queue.push(id, cx);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        let Some(head) = self.queue.pop(cx) else {
            self.dropping = false;
            return None;
        };
        if self.use_l4s && cx.is_l4s(head) {
            self.mark_above_threshold(head, cx);
            return Some(head);
        }
        let (packet, marked) = if self.dropping {
            self.go_on_dropping(head, cx)
        } else {
            self.maybe_start_dropping(head, cx)
        };
        // Linux tests the threshold of a marked packet, too; ns-3 counts one mark for a packet.
        if let Some(id) = packet
            && self.use_ecn
            && !self.use_l4s
            && !marked
        {
            self.mark_above_threshold(id, cx);
        }
        packet
    }

    /// Without a sojourn time the queue is not standing, and nothing is marked.
    fn passes(&mut self, ip_bytes: u32, _now: Time) -> bool {
        if self.use_l4s || self.target == 0 || !self.queue.has_room(self.limit, ip_bytes) {
            return false;
        }
        self.first_above = 0;
        self.dropping = false;
        true
    }
}

impl Child for CoDel {
    fn sibling(&self, _index: u32) -> Self {
        self.clone()
    }

    fn queue(&mut self) -> &mut PacketFifo {
        &mut self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    #[test]
    fn newtons_method_finds_the_inverse_square_root() {
        let mut x = ONE;
        for count in 2..2000 {
            x = newton_step(x, count);
            let exact = 65536.0 / f64::from(count).sqrt();
            let error = f64::from(x) / exact - 1.0;
            assert!(count < 6 || error.abs() < 0.03, "{count}: {error}");
        }
    }

    /// Under a standing queue the n-th drop comes interval / sqrt(n) after the one before (RFC 8289
    /// section 3.3).
    #[test]
    fn drops_come_at_intervals_that_shrink_with_the_square_root() {
        let mut bench = Bench::new("CoDelQueueDisc", &[("MaxSize", "1000000p")]);
        let step = Time(50_000);
        let mut drops = Vec::new();
        for _ in 0..200 {
            bench.arrive(0, 1000, Ecn::NotEct);
        }
        while drops.len() < 40 {
            bench.arrive(0, 1000, Ecn::NotEct);
            bench.wait(step);
            let before = bench.state.decisions.dropped_packets;
            bench.depart();
            if bench.state.decisions.dropped_packets > before {
                drops.push(bench.now.secs_f64());
                bench.arrive(0, 1000, Ecn::NotEct);
            }
        }
        assert!((0.105..0.1051).contains(&drops[0]), "first drop at {}", drops[0]);
        for (n, gap) in (1..).zip(drops.windows(2).map(|pair| pair[1] - pair[0])) {
            let law = 0.1 / f64::from(n).sqrt();
            // One step of Newton's method a drop has not yet found the roots of 2, 3 and 4.
            let error = if (2..5).contains(&n) { 0.3 } else { 0.02 };
            let grid = step.secs_f64() + 2e-6;
            assert!((gap - law).abs() < grid + error * law, "{n}: {gap} instead of {law}");
        }
    }

    #[test]
    fn a_short_queue_is_left_alone() {
        let mut bench = Bench::new("CoDelQueueDisc", &[]);
        for _ in 0..1000 {
            bench.arrive(0, 1500, Ecn::NotEct);
            bench.wait(Time::from_ms(50));
            assert!(bench.depart().is_some());
        }
        assert_eq!(bench.state.decisions.dropped_packets, 0);
    }

    #[test]
    fn above_the_threshold_what_can_be_marked_is_marked() {
        let given = [("UseEcn", "true"), ("CeThreshold", "1ms")];
        let mut bench = Bench::new("CoDelQueueDisc", &given);
        for (sojourn_us, sent, left) in [
            (900, Ecn::Ect0, Ecn::Ect0),
            (1100, Ecn::Ect0, Ecn::Ce),
            (1100, Ecn::NotEct, Ecn::NotEct),
        ] {
            bench.arrive(0, 1500, sent);
            bench.wait(Time(sojourn_us * 1000));
            assert_eq!(bench.depart().unwrap().ecn, left);
        }
        assert_eq!(bench.state.decisions.marked_packets, 1);
    }
}
