//! CoDel that marks where it would drop, in the form of the ECN# authors' simulator (the driver of
//! the ns-3 backend has a class of this name).
//!
//! At each departure, with the control law of RFC 8289 (section 3.3): the queue stands if the
//! sojourn time has been at or above the target for an interval, and at least `MinBytes` are left.
//! Then
//!
//! - not marking yet: mark; count = count - last count, if that is above 1 and the last next is
//!   less than 16 intervals ago, else 1; last count = count; next = now + interval / sqrt(count);
//! - marking, and now >= next: mark; count += 1; next += interval / sqrt(count).
//!
//! One mark a departure at most.  A packet that cannot be marked passes, and leaves all that as it
//! was.  When the queue does not stand, or is found empty, marking ends.
//!
//! Unlike `CoDelQueueDisc` with `UseEcn`: nothing is dropped but by a full queue, and the next mark
//! is counted from when this one was due, not from now.  Time is in units of 1024 ns, the inverse
//! root one step of Newton's method a mark, as there.

use super::codel::{INTERVAL, ONE, TARGET, newton_step, ticks};
use super::discipline::Discipline;
use super::marking::{Law, MAX_SIZE, Marking};
use super::reasons::TARGET_EXCEEDED_MARK;
use super::{BuildContext, PacketFifo, QdiscContext};
use crate::base::attributes::{Kind, Param, Spec, U32, param};
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "MarkingCoDelQueueDisc",
        linux: &["MarkingCoDel", "marking_codel"],
        is_in_linux: false,
        doc: "CoDel that marks where it would drop, and lets pass what cannot be marked.",
        source: "RFC 8289 and the simulator of Zhang, Bai and Chen, ACM CoNEXT 2019",
        departures: &[],
        params: &[
            MAX_SIZE,
            param!["MinBytes"; U32 => "1500"; "No marks while less than this is queued, in bytes."],
            Param {
                kind: Kind::Period,
                doc: "How long the sojourn time must exceed the target before packets are marked.",
                ..INTERVAL
            },
            Param { kind: Kind::Threshold, ..TARGET },
        ],
    },
    &[
        &[("MaxSize", "9000B"), ("Interval", "5ms"), ("Target", "1ms")],
        &[("Interval", "500us"), ("Target", "100us"), ("MinBytes", "0")],
    ],
);

pub type MarkingCoDel = Marking<ControlLaw>;

#[derive(Debug)]
pub struct ControlLaw {
    min_bytes: u32,
    target: u32,
    interval: u32,
    is_marking: bool,
    /// Marks since marking began, and what that count started from.
    count: u32,
    last_count: u32,
    inv_sqrt: u16,
    /// When the sojourn time will have been at the target for an interval; 0 while below.
    first_above: u32,
    next: u32,
}

impl MarkingCoDel {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        let law = ControlLaw {
            min_bytes: a.u32("MinBytes"),
            target: ticks(a.time(TARGET.ns3)),
            interval: ticks(a.time(INTERVAL.ns3)),
            is_marking: false,
            count: 0,
            last_count: 0,
            inv_sqrt: ONE,
            first_above: 0,
            next: 0,
        };
        Marking::by(law, cx)
    }
}

impl ControlLaw {
    /// The control law: interval / sqrt(count) after `from`.
    fn after(&self, from: u32) -> u32 {
        let gap = u64::from(self.interval) * (u64::from(self.inv_sqrt) << 16);
        from.wrapping_add((gap >> 32) as u32)
    }

    fn is_standing(&mut self, sojourn: u32, queued: u32, now: u32) -> bool {
        if sojourn < self.target || queued < self.min_bytes {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = now.wrapping_add(self.interval);
            return false;
        }
        now > self.first_above
    }

    fn begin(&mut self, now: u32) {
        self.is_marking = true;
        let marks = self.count.wrapping_sub(self.last_count) as i32;
        if marks > 1 && now.wrapping_sub(self.next) < self.interval.wrapping_mul(16) {
            self.count = marks as u32;
            self.inv_sqrt = newton_step(self.inv_sqrt, self.count);
        } else {
            self.count = 1;
            self.inv_sqrt = ONE;
        }
        self.last_count = self.count;
        self.next = self.after(now);
    }

    fn go_on(&mut self) {
        self.count = self.count.wrapping_add(1);
        self.inv_sqrt = newton_step(self.inv_sqrt, self.count);
        self.next = self.after(self.next);
    }
}

impl Law for ControlLaw {
    fn at_dequeue(&mut self, id: PacketId, queue: &PacketFifo, cx: &mut QdiscContext<'_>) {
        let now = ticks(cx.now);
        if !self.is_standing(ticks(cx.sojourn(id)), queue.bytes(), now) {
            self.is_marking = false;
        } else if !self.is_marking {
            if cx.mark(id, TARGET_EXCEEDED_MARK) {
                self.begin(now);
            }
        } else if now >= self.next && cx.mark(id, TARGET_EXCEEDED_MARK) {
            self.go_on();
        }
    }

    fn found_none(&mut self) {
        self.is_marking = false;
    }

    /// Without a sojourn time the queue is not standing.
    fn passes(&mut self) -> bool {
        if self.target == 0 {
            return false;
        }
        self.first_above = 0;
        self.is_marking = false;
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::base::time::Time;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    /// A standing queue of 200 packets, one of which leaves each 50 us: when marks were made, in s.
    fn marks(ecn: Ecn, departures: u32) -> Vec<f64> {
        let mut bench = Bench::new("MarkingCoDelQueueDisc", &[("MaxSize", "1000p")]);
        for _ in 0..200 {
            bench.arrive(0, 1000, ecn);
        }
        let mut marks = Vec::new();
        for _ in 0..departures {
            bench.arrive(0, 1000, ecn);
            bench.wait(Time(50_000));
            if bench.depart().unwrap().ecn == Ecn::Ce {
                marks.push(bench.now.secs_f64());
            }
        }
        assert_eq!(bench.state.decisions.dropped_packets, 0);
        marks
    }

    /// The n-th mark comes interval / sqrt(n) after the one before was due (RFC 8289 section 3.3).
    #[test]
    fn marks_come_at_intervals_that_shrink_with_the_square_root() {
        let marks = marks(Ecn::Ect0, 40_000);
        assert!((0.105..0.1051).contains(&marks[0]), "first mark at {}", marks[0]);
        for (n, gap) in (1..).zip(marks.windows(2).map(|pair| pair[1] - pair[0])) {
            let law = 0.1 / f64::from(n).sqrt();
            // One step of Newton's method a mark has not yet found the roots of 2, 3 and 4.
            let error = if (2..5).contains(&n) { 0.3 } else { 0.02 };
            assert!((gap - law).abs() < 52e-6 + error * law, "{n}: {gap} instead of {law}");
        }
        assert!(marks.len() > 80);
    }

    #[test]
    fn what_cannot_be_marked_passes_and_is_not_counted() {
        assert!(marks(Ecn::NotEct, 10_000).is_empty());
    }
}
