//! RED as DCTCP sets it (Alizadeh et al., SIGCOMM 2010, section 3.1; the driver of the ns-3 backend
//! has a class of this name): both thresholds at K, and the queue as it is in place of its average.
//!
//! An arrival is marked if what is queued before it is K or more, and more than one packet or byte.
//!  What cannot be marked passes unmarked, where RED would drop it; only a full queue drops.

use super::discipline::Discipline;
use super::marking::{Law, MAX_SIZE, Marking};
use super::{BuildContext, PacketFifo, QdiscContext};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::units::QueueSize;
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "StepRedQueueDisc",
        linux: &["StepRED", "step_red", "dctcp_red"],
        is_in_linux: false,
        doc: "Marks what arrives at a queue of K or more: RED as DCTCP sets it.",
        source: "Alizadeh et al., ACM SIGCOMM 2010",
        departures: &[],
        params: &[
            MAX_SIZE,
            // DCTCP's for 10 Gbps.
            param!["MarkingThreshold", "K"; Kind::MarkingLength => "65p";
                "K, in packets or in bytes, whatever the unit of MaxSize."],
        ],
    },
    &[&[("MaxSize", "40p"), ("MarkingThreshold", "5p")], &[("MarkingThreshold", "5000B")]],
);

const THRESHOLD_MARK: &str = "Queue at marking threshold";

/// A queue no longer than this is not marked, as in RED.
const SHORT: u32 = 1;

pub type StepRed = Marking<Step>;

#[derive(Debug)]
pub struct Step {
    threshold: QueueSize,
}

impl StepRed {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        Marking::by(Step { threshold: cx.attributes.queue_size("MarkingThreshold") }, cx)
    }
}

impl Law for Step {
    fn at_enqueue(&mut self, id: PacketId, queue: &PacketFifo, cx: &mut QdiscContext<'_>) {
        let queued = queue.measured_as(self.threshold);
        let (QueueSize::Packets(least) | QueueSize::Bytes(least)) = self.threshold;
        if queued >= least && queued > SHORT {
            cx.mark(id, THRESHOLD_MARK);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    fn marked(threshold: &str, ecn: Ecn) -> Vec<usize> {
        let given = [("MaxSize", "10p"), ("MarkingThreshold", threshold)];
        let mut bench = Bench::new("StepRedQueueDisc", &given);
        for _ in 0..12 {
            bench.arrive(0, 1000, ecn);
        }
        assert_eq!(bench.state.decisions.dropped_packets, 2);
        let packets = std::iter::from_fn(|| bench.depart()).enumerate();
        packets.filter(|(_, packet)| packet.ecn == Ecn::Ce).map(|(i, _)| i).collect()
    }

    #[test]
    fn what_finds_k_or_more_is_marked() {
        assert_eq!(marked("7p", Ecn::Ect0), [7, 8, 9]);
        assert_eq!(marked("7000B", Ecn::Ect0), [7, 8, 9]);
        assert_eq!(marked("7001B", Ecn::Ect0), [8, 9]);
        assert!(marked("7p", Ecn::NotEct).is_empty());
    }

    #[test]
    fn one_packet_is_no_queue() {
        assert_eq!(marked("1p", Ecn::Ect0)[0], 2);
    }
}
