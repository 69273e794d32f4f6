//! ECN# (Zhang, Bai and Chen, "Enabling ECN for datacenter networks with RTT variations", CoNEXT
//! 2019; the driver of the ns-3 backend has a class of this name): marks departures by two laws at
//! once.
//!
//! With the sojourn time s of the packet that leaves (section 3.3):
//!
//! - instantaneous: mark if s > `InstantaneousMarkingThreshold`, against bursts;
//! - persistent: once s has been at or above `PersistentMarkingTarget` for more than one
//!   `PersistentMarkingInterval`, mark, and then again whenever now >= next, with
//!
//! next = now + interval / sqrt(count), count = 1 at first, and 1 more for each further mark,
//!
//! until a packet has been queued for less than the target.  The first next is now + interval.
//! What cannot be marked passes unmarked; only a full queue drops.
//!
//! `Law` "readme" is that of the simulator which the authors published, and the formula above;
//! "paper" that of Algorithm 1: next += interval / sqrt(count), whenever now > next, so that marks
//! that came late do not delay those after them.
//!
//! Intervals are whole nanoseconds, rounded down.  The authors' simulator marks ECT(1) alone; here
//! ECT(0) can be marked as well.

use super::discipline::Discipline;
use super::marking::{Law, MAX_SIZE, Marking};
use super::{BuildContext, PacketFifo, QdiscContext};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::time::Time;
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "ECNSharpQueueDisc",
        linux: &["ECNSharp", "ecn_sharp", "ECN#"],
        is_in_linux: false,
        doc: "Marks by the sojourn time, at once above one threshold and persistently above another.",
        source: "Zhang, Bai and Chen, ACM CoNEXT 2019",
        departures: &[],
        params: &[
            MAX_SIZE,
            param!["InstantaneousMarkingThreshold", "ins_target"; Kind::Threshold => "20us";
                "Sojourn time above which every packet is marked."],
            param!["PersistentMarkingTarget", "pst_target"; Kind::Threshold => "10us";
                "Sojourn time from which on the queue counts as standing."],
            param!["PersistentMarkingInterval", "pst_interval"; Kind::Period => "100us";
                "How long the queue must stand before it is marked, and the first gap of marks."],
            param!["Law", "law"; Kind::Enum(&["readme", "paper"]) => "readme";
                "How further persistent marks are timed: as the authors' simulator does, or as Algorithm 1 of the \
                 paper says."],
        ],
    },
    &[&[("MaxSize", "40p")], &[("MaxSize", "9000B"), ("Law", "paper")]],
);

const INSTANTANEOUS_MARK: &str = "Instantaneous marking threshold exceeded";
const PERSISTENT_MARK: &str = "Persistent queue";

pub type EcnSharp = Marking<BothLaws>;

#[derive(Debug)]
pub struct BothLaws {
    threshold: Time,
    persistent: Persistent,
}

/// The second law.
#[derive(Debug)]
struct Persistent {
    target: Time,
    interval: Time,
    is_paper: bool,
    /// When the sojourn time will have been at the target for an interval; none while below.
    first_above: Option<Time>,
    /// While marking: how many marks, and when the next is due.
    marking: Option<(u32, Time)>,
}

impl Persistent {
    /// Whether the queue has been standing for an interval.
    fn is_standing(&mut self, sojourn: Time, now: Time) -> bool {
        if sojourn < self.target {
            self.first_above = None;
            return false;
        }
        now > *self.first_above.get_or_insert(now + self.interval)
    }

    /// Whether the packet that leaves now is due to be marked.
    fn is_due(&mut self, sojourn: Time, now: Time) -> bool {
        if !self.is_standing(sojourn, now) {
            self.marking = None;
            return false;
        }
        let Some((count, next)) = self.marking else {
            self.marking = Some((1, now + self.interval));
            return true;
        };
        let (is_due, from) = if self.is_paper { (now > next, next) } else { (now >= next, now) };
        if is_due {
            let count = count.saturating_add(1);
            let gap = self.interval.0 as f64 / f64::from(count).sqrt();
            self.marking = Some((count, from + Time(gap as u64)));
        }
        is_due
    }
}

impl EcnSharp {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        let law = BothLaws {
            threshold: a.time("InstantaneousMarkingThreshold"),
            persistent: Persistent {
                target: a.time("PersistentMarkingTarget"),
                interval: a.time("PersistentMarkingInterval"),
                is_paper: a.text("Law") == "paper",
                first_above: None,
                marking: None,
            },
        };
        Marking::by(law, cx)
    }
}

impl Law for BothLaws {
    fn at_dequeue(&mut self, id: PacketId, _queue: &PacketFifo, cx: &mut QdiscContext<'_>) {
        let sojourn = cx.sojourn(id);
        let is_due = self.persistent.is_due(sojourn, cx.now);
        if sojourn > self.threshold {
            cx.mark(id, INSTANTANEOUS_MARK);
        } else if is_due {
            cx.mark(id, PERSISTENT_MARK);
        }
    }

    /// Without a sojourn time the queue is not standing, and nothing is marked.
    fn passes(&mut self) -> bool {
        if self.persistent.target.is_zero() {
            return false;
        }
        self.persistent.first_above = None;
        self.persistent.marking = None;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    /// A departure each `step_us` from a queue in which every packet waits for `sojourn_us`: when
    /// marks were made, in us.
    fn marks(given: &[(&str, &str)], sojourn_us: u64, step_us: u64, count: u64) -> Vec<u64> {
        let mut bench = Bench::new("ECNSharpQueueDisc", given);
        let waiting = sojourn_us / step_us;
        let mut marked = Vec::new();
        for step in 0..count {
            bench.arrive(0, 1000, Ecn::Ect0);
            if step >= waiting && bench.depart().unwrap().ecn == Ecn::Ce {
                marked.push(bench.now.0 / 1000);
            }
            bench.wait(Time(step_us * 1000));
        }
        marked
    }

    #[test]
    fn every_packet_above_the_threshold_is_marked_at_once() {
        assert_eq!(marks(&[("PersistentMarkingTarget", "1s")], 21, 1, 30), Vec::from_iter(21..30));
        assert!(marks(&[("PersistentMarkingTarget", "1s")], 20, 1, 30).is_empty());
    }

    /// The law: the first mark when the queue has stood for more than an interval, then gaps of
    /// interval / sqrt(count), from one mark to the next.
    #[test]
    fn a_standing_queue_is_marked_at_intervals_that_shrink_with_the_square_root() {
        let marks = marks(&[], 15, 1, 3000);
        // 15 is the first departure, at 115 the interval has passed.
        assert_eq!(marks[..2], [116, 216]);
        let gap = |count: u64| (100.0 / (count as f64).sqrt()).ceil() as u64;
        for (pair, count) in marks[1..].windows(2).zip(2..) {
            assert_eq!(pair[1] - pair[0], gap(count), "{count}");
        }
        assert!(marks.len() > 60);
    }

    /// What README and paper say differently: where departures are far apart, the README's law
    /// forgets how late a mark was, the paper's does not; and the paper's waits for a time after
    /// the one computed.
    #[test]
    fn the_papers_law_makes_up_for_late_marks() {
        let standing =
            [("PersistentMarkingTarget", "10us"), ("InstantaneousMarkingThreshold", "1s")];
        let readme = marks(&standing, 30, 30, 400);
        let paper = marks(&[standing[0], standing[1], ("Law", "paper")], 30, 30, 400);
        assert_eq!(readme[..6], [150, 270, 360, 420, 480, 540]);
        assert_eq!(paper[..6], [150, 270, 330, 390, 450, 480]);
        // As fast as packets leave is as fast as either can mark; the paper's law gets there first.
        assert!(paper.len() > readme.len());
    }

    /// The very nanosecond: after an interval, and then when the next mark is due or after it.
    #[test]
    fn marks_are_due_to_the_nanosecond() {
        for (is_paper, due) in [(false, [102, 202]), (true, [102, 203])] {
            let (target, interval) = (Time(10), Time(100));
            let mut law =
                Persistent { target, interval, is_paper, first_above: None, marking: None };
            let marks = (1..210).filter(|&now| law.is_due(target, Time(now)));
            assert_eq!(Vec::from_iter(marks), due);
        }
    }

    #[test]
    fn one_short_sojourn_ends_the_marking() {
        let mut bench = Bench::new("ECNSharpQueueDisc", &[]);
        let mut leaves = |wait_us: u64| {
            bench.arrive(0, 1000, Ecn::Ect0);
            bench.wait(Time(wait_us * 1000));
            bench.depart().unwrap().ecn == Ecn::Ce
        };
        let before: Vec<_> = (0..9).map(|_| leaves(15)).collect();
        assert_eq!(before.iter().position(|&marked| marked), Some(7));
        assert!(!leaves(9));
        let after: Vec<_> = (0..9).map(|_| leaves(15)).collect();
        assert_eq!(after.iter().position(|&marked| marked), Some(7));
    }

    #[test]
    fn what_cannot_be_marked_passes() {
        let mut bench = Bench::new("ECNSharpQueueDisc", &[]);
        bench.arrive(0, 1000, Ecn::NotEct);
        bench.wait(Time::from_ms(1));
        assert_eq!(bench.depart().unwrap().ecn, Ecn::NotEct);
        assert_eq!(bench.state.decisions.dropped_packets, 0);
    }
}
