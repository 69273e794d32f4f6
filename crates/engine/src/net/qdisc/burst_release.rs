//! A link that sends only at fixed times, a few packets each time: how acknowledgements arrive over
//! a slotted medium (ccperf's own; the C++ driver of the ns-3 backend has the same class).

use super::discipline::Discipline;
use super::fifo::Fifo;
use super::{BuildContext, Qdisc, QdiscContext};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::time::Time;
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "BurstReleaseQueueDisc",
        linux: &["burst_release"],
        is_in_linux: false,
        doc: "Lets a few packets leave at fixed intervals and none in between.",
        source: "ccperf's ACK compression experiment",
        departures: &[],
        params: &[
            param!["Interval", "interval"; Kind::Period => "5ms";
                "The time between two slots; the first is at time 0."],
            // That of the attribute `Quota` which all ns-3 disciplines have.
            param!["Quota", "quota"; Kind::Uint { min: 1, max: u32::MAX as u64 } => "64";
                "How many packets may leave in a slot; what is not used is lost."],
            param!["MaxSize", "limit"; Kind::QueueSize => "1000000p";
                "How much the queue holds, in packets or bytes."],
        ],
    },
    &[&[("MaxSize", "20p"), ("Interval", "2ms"), ("Quota", "3")]],
)
.waking();

#[derive(Debug)]
pub struct BurstRelease {
    queue: Fifo,
    interval: Time,
    quota: u32,
    /// Packets that may still leave in this slot.
    left: u32,
    /// A slot is being served: nothing leaves between slots.
    slot: Option<Time>,
}

impl BurstRelease {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        BurstRelease {
            queue: Fifo::with_limit(cx.attributes.queue_size("MaxSize")),
            interval: cx.attributes.time("Interval"),
            quota: cx.attributes.u32("Quota"),
            left: 0,
            slot: None,
        }
    }
}

impl Qdisc for BurstRelease {
    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        cx.set_timer(Time::ZERO, 0);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        self.queue.enqueue(id, cx)
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        if self.slot != Some(cx.now) || self.left == 0 {
            return None;
        }
        let id = self.queue.dequeue(cx)?;
        self.left -= 1;
        Some(id)
    }

    fn timer(&mut self, _tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.left = self.quota;
        self.slot = Some(cx.now);
        cx.set_timer(self.interval, 0);
        true
    }

    fn run_quota(&self) -> u32 {
        self.quota
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    #[test]
    fn at_most_the_quota_leaves_and_only_in_slots() {
        let given = [("Interval", "2ms"), ("Quota", "3")];
        let mut bench = Bench::new("BurstReleaseQueueDisc", &given);
        bench.wait(Time::from_ms(1));
        for _ in 0..7 {
            bench.arrive(0, 52, Ecn::NotEct);
            assert!(bench.depart().is_none());
        }
        bench.wait(Time::from_ms(20));
        let times: Vec<_> = bench.sent.iter().map(|(at, _)| at.ms()).collect();
        assert_eq!(times, [2, 2, 2, 4, 4, 4, 6]);
        // What earlier slots did not use is lost.
        bench.wait(Time(1));
        bench.arrive(0, 52, Ecn::NotEct);
        assert!(bench.depart().is_none());
    }
}
