//! RED as RoCE's switches have it (Zhu et al., SIGCOMM 2015, section 3.1, its marks as in the ns-3 fork of HPCC, Li et al.,
//! SIGCOMM 2019): the queue as it is in place of its average, and each packet by itself.
//!
//! ```text
//! p = 0 up to KMin,   PMax (q - KMin) / (KMax - KMin) up to KMax,   1 above
//! ```
//!
//! with q what a packet leaves behind as it is sent.  The paper marks what arrives; as packets leave, the mark is as young
//! as it can be.  `RedQueueDisc` marks arrivals, and spaces its marks evenly: of as many as here, 2 / (1 + p) times.
//!
//! What cannot be marked passes unmarked; only a full queue drops.

use std::mem::discriminant;

use super::discipline::{Contradiction, Discipline};
use super::marking::{Law, MAX_SIZE, Marking};
use super::{BuildContext, PacketFifo, QdiscContext};
use crate::base::attributes::{Attributes, FRACTION, Kind, Spec, param};
use crate::base::rng::RngStream;
use crate::base::units::{QueueSize, format_queue_size};
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "MarkingRedQueueDisc",
        linux: &["MarkingRED", "marking_red"],
        doc: "Marks what leaves by the length of the queue as it is: RED as RoCE's switches have it.",
        source: "Zhu et al., ACM SIGCOMM 2015",
        is_in_linux: false,
        departures: &[],
        params: &[
            MAX_SIZE,
            // DCQCN's for 40 Gbps.
            param!["KMin"; Kind::MarkingLength => "5p";
                "Length up to which nothing is marked, in packets or in bytes, whatever the unit of MaxSize."],
            param!["KMax"; Kind::MarkingLength => "200p";
                "Length above which all is marked, in packets or in bytes as KMin."],
            param!["PMax"; FRACTION => "0.01"; "Probability of a mark at KMax."],
        ],
    },
    &[&[("MaxSize", "40p"), ("KMax", "20p"), ("PMax", "0.5")]],
)
.checked(check);

fn check(a: &Attributes<'_>) -> Result<(), Contradiction> {
    let [least, most] = ["KMin", "KMax"].map(|name| a.queue_size(name));
    if discriminant(&least) != discriminant(&most) {
        let [least, most] = [least, most].map(format_queue_size);
        return Err((
            "KMin",
            format!("{least} and KMax, {most}, must both be in packets, or both in bytes"),
        ));
    }
    let [min, max] = [length(least), length(most)];
    if min > max {
        return Err(("KMin", format!("{min} is above KMax, {max}")));
    }
    Ok(())
}

fn length(size: QueueSize) -> u32 {
    let (QueueSize::Packets(length) | QueueSize::Bytes(length)) = size;
    length
}

const QUEUE_MARK: &str = "Queue above marking threshold";

pub type MarkingRed = Marking<Line>;

#[derive(Debug)]
pub struct Line {
    unit: QueueSize,
    min: u32,
    max: u32,
    p_max: f64,
    rng: RngStream,
}

impl MarkingRed {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        let [unit, max] = ["KMin", "KMax"].map(|name| a.queue_size(name));
        let line = Line {
            unit,
            min: length(unit),
            max: length(max),
            p_max: a.f64("PMax"),
            rng: RngStream::fixed(cx.run, cx.stream),
        };
        Marking::by(line, cx)
    }
}

impl Line {
    /// Of a mark, with so much in the queue.
    fn probability(&self, queued: u32) -> f64 {
        if queued > self.max {
            1.0
        } else if queued > self.min {
            self.p_max * f64::from(queued - self.min) / f64::from(self.max - self.min)
        } else {
            0.0
        }
    }
}

impl Law for Line {
    fn at_dequeue(&mut self, id: PacketId, queue: &PacketFifo, cx: &mut QdiscContext<'_>) {
        let p = self.probability(queue.measured_as(self.unit));
        if p > 0.0 && self.rng.unit() < p {
            cx.mark(id, QUEUE_MARK);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    #[test]
    fn above_k_max_all_is_marked_and_up_to_k_min_nothing_as_it_leaves() {
        for (given, bytes) in [(["3p", "3p"], 1000), (["3000B", "3000B"], 1000)] {
            let given = [("MaxSize", "10p"), ("KMin", given[0]), ("KMax", given[1])];
            let mut bench = Bench::new("MarkingRedQueueDisc", &given);
            for _ in 0..8 {
                bench.arrive(0, bytes, Ecn::Ect0);
            }
            // They leave 7, 6, 5, 4, 3, 2, 1, 0 behind.
            let left: Vec<_> = std::iter::from_fn(|| bench.depart()).map(|p| p.ecn).collect();
            let (all, none) = ([Ecn::Ce; 4], [Ecn::Ect0; 4]);
            assert_eq!(left, [all, none].concat());
        }
    }

    #[test]
    fn between_both_the_share_of_marks_is_a_line() {
        let given = [("MaxSize", "100p"), ("KMin", "10p"), ("KMax", "50p"), ("PMax", "0.4")];
        for (queued, share) in [(10, 0.0), (20, 0.1), (30, 0.2), (50, 0.4), (51, 1.0)] {
            let mut bench = Bench::new("MarkingRedQueueDisc", &given);
            for _ in 0..queued {
                bench.arrive(0, 1000, Ecn::Ect0);
            }
            let n = 20_000;
            let marked = (0..n).filter(|_| {
                bench.arrive(0, 1000, Ecn::Ect0);
                bench.depart().unwrap().ecn == Ecn::Ce
            });
            let found = marked.count() as f64 / f64::from(n);
            // Three standard deviations.
            let deviation = 3.0 * (share * (1.0 - share) / f64::from(n)).sqrt();
            assert!((found - share).abs() <= deviation, "{queued}: {found}");
        }
    }

    #[test]
    fn what_cannot_be_marked_passes() {
        let given = [("MaxSize", "10p"), ("KMin", "0p"), ("KMax", "0p")];
        let mut bench = Bench::new("MarkingRedQueueDisc", &given);
        (0..12).for_each(|_| {
            bench.arrive(0, 1000, Ecn::NotEct);
        });
        assert_eq!(bench.state.decisions.dropped_packets, 2);
        assert!(std::iter::from_fn(|| bench.depart()).all(|packet| packet.ecn == Ecn::NotEct));
    }
}
