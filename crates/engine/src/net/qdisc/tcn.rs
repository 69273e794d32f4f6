//! TCN (Bai, Chen, Chen, Kim and Wu, "Enabling ECN over generic packet scheduling", CoNEXT 2016;
//! the driver of the ns-3 backend has a class of this name): marks each departure whose sojourn
//! time is above the threshold, and nothing else.
//!
//! With one queue on a link of constant rate C that is a step at K = C threshold bytes, seen when
//! packets leave.  Under a scheduler the time holds whatever share of C the queue has, which no K
//! does (section 3).
//!
//! What cannot be marked passes unmarked; only a full queue drops.

use super::discipline::Discipline;
use super::marking::{Law, MAX_SIZE, Marking};
use super::{BuildContext, PacketFifo, QdiscContext};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::time::Time;
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "TcnQueueDisc",
        linux: &["TCN"],
        is_in_linux: false,
        doc: "Marks what has been queued for longer than a threshold.",
        source: "Bai et al., ACM CoNEXT 2016",
        departures: &[],
        params: &[
            MAX_SIZE,
            param!["Threshold", "threshold"; Kind::Threshold => "10us";
                "Sojourn time above which packets are marked."],
        ],
    },
    &[&[("MaxSize", "40p")], &[("MaxSize", "9000B")]],
);

const THRESHOLD_MARK: &str = "Sojourn time above threshold";

pub type Tcn = Marking<Threshold>;

#[derive(Debug)]
pub struct Threshold(Time);

impl Tcn {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        Marking::by(Threshold(cx.attributes.time("Threshold")), cx)
    }
}

impl Law for Threshold {
    fn at_dequeue(&mut self, id: PacketId, _queue: &PacketFifo, cx: &mut QdiscContext<'_>) {
        if cx.sojourn(id) > self.0 {
            cx.mark(id, THRESHOLD_MARK);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::base::time::Time;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    #[test]
    fn what_was_queued_for_longer_than_the_threshold_is_marked() {
        let mut bench = Bench::new("TcnQueueDisc", &[("Threshold", "70us")]);
        for (sojourn_ns, sent, left) in [
            (70_000, Ecn::Ect0, Ecn::Ect0),
            (70_001, Ecn::Ect0, Ecn::Ce),
            (70_001, Ecn::Ect1, Ecn::Ce),
            (70_001, Ecn::NotEct, Ecn::NotEct),
        ] {
            bench.arrive(0, 1500, sent);
            bench.wait(Time(sojourn_ns));
            assert_eq!(bench.depart().unwrap().ecn, left);
        }
    }

    /// At 10 Gbps 70 us are 87,500 bytes: the packets that find more than that before them are
    /// marked.
    #[test]
    fn at_a_constant_rate_the_threshold_is_a_length() {
        let mut bench = Bench::new("TcnQueueDisc", &[("Threshold", "70us")]);
        for _ in 0..80 {
            bench.arrive(0, 1250, Ecn::Ect0);
        }
        let mut first = None;
        for packet in 0..80 {
            if bench.depart().unwrap().ecn == Ecn::Ce {
                first.get_or_insert(packet);
            }
            bench.wait(Time(1000)); // 1250 B at 10 Gbps
        }
        assert_eq!(first, Some(87_500 / 1250 + 1));
        assert_eq!(bench.state.decisions.marked_packets, 80 - 71);
    }
}
