//! What holds for every discipline.

use proptest::prelude::*;

use super::bench::Bench;
use super::{DISCIPLINES, MQ};
use crate::base::attributes::Attributes;
use crate::base::time::Time;
use crate::base::units::{QueueSize, parse_queue_size};
use crate::packet::Ecn;
use crate::packet::verdict::Verdict;

#[derive(Clone, Debug)]
enum Step {
    Arrive { flow: u32, bytes: u32, ecn: Ecn },
    Depart,
    Wait { micros: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect1), Just(Ecn::Ect0), Just(Ecn::Ce)];
    let bytes = prop_oneof![Just(40u32), Just(1500), 41u32..1500];
    prop_oneof![
        4 => (0u32..16, bytes, ecn)
            .prop_map(|(flow, bytes, ecn)| Step::Arrive { flow, bytes, ecn }),
        3 => Just(Step::Depart),
        1 => (1u64..20_000).prop_map(|micros| Step::Wait { micros }),
    ]
}

/// What has left so far, by flow.
struct Departures([Option<u32>; 16]);

impl Departures {
    fn check(&mut self, flow: u32, number: u32) {
        let last = &mut self.0[flow as usize];
        assert!(last.is_none_or(|last| last < number), "flow {flow} overtakes itself");
        *last = Some(number);
    }
}

fn check(ns3: &str, given: &[(&str, &str)], steps: &[Step]) {
    let mut bench = Bench::new(ns3, given);
    // A flow whose bucket was taken from it goes on in another queue.
    let is_rehashed = given.iter().any(|(name, _)| *name == "EnableSetAssociativeHash");
    // One whose packets differ in their codepoints is in both queues.
    let may_reorder = is_rehashed || ns3 == "DualPi2QueueDisc";
    let limit = given.iter().find(|(name, _)| *name == "MaxSize");
    let limit = limit.map(|(_, text)| parse_queue_size(text).unwrap());
    let mut departures = Departures([None; 16]);
    let (mut arrived_bytes, mut left_packets, mut left_bytes) = (0, 0, 0);
    for step in steps {
        match *step {
            Step::Arrive { flow, bytes, ecn } => {
                bench.arrive(flow, bytes, ecn);
                arrived_bytes += u64::from(bytes);
            }
            Step::Depart => {
                if let Some(packet) = bench.depart() {
                    bench.sent.push((bench.now, packet));
                }
            }
            Step::Wait { micros } => bench.wait(Time(micros * 1000)),
        }
        for (_, packet) in bench.sent.drain(..) {
            if !may_reorder {
                departures.check(packet.flow, packet.seq.0);
            }
            left_packets += 1;
            left_bytes += u64::from(packet.ip_bytes);
        }
        let s = &bench.state;
        match limit {
            Some(QueueSize::Packets(limit)) => assert!(s.packets <= limit),
            Some(QueueSize::Bytes(limit)) => assert!(s.bytes <= limit),
            None => {}
        }
        let dropped = |verdict| {
            let counts = s.decisions.counts.iter().filter(|c| c.verdict == verdict);
            counts.map(|c| c.packets).sum::<u64>()
        };
        let before = dropped(Verdict::DropBeforeEnqueue);
        let after = dropped(Verdict::DropAfterDequeue);
        assert_eq!(u64::from(bench.arrivals), s.enqueued_packets + before);
        assert_eq!(s.enqueued_packets, s.dequeued_packets + u64::from(s.packets));
        assert_eq!(s.dequeued_packets, left_packets + after);
        assert_eq!(s.decisions.dropped_packets, before + after);
        assert_eq!(s.decisions.marked_packets, dropped(Verdict::Mark));
        let trimmed = s.decisions.counts.iter().filter(|c| c.verdict == Verdict::Trim);
        let trimmed = trimmed.map(|c| c.bytes).sum::<u64>();
        let declared = super::find(ns3).is_some_and(|discipline| discipline.trims);
        assert!(declared || trimmed == 0);
        let bytes_left = left_bytes + s.decisions.dropped_bytes + trimmed;
        assert_eq!(arrived_bytes, bytes_left + u64::from(s.bytes));
        assert_eq!(bench.packets.alive(), s.packets as usize);
    }
}

fn contradiction(ns3: &str, given: &[(&str, &str)]) -> Option<&'static str> {
    let discipline = super::find(ns3).unwrap();
    let given = given.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let attributes = Attributes::new(&discipline.spec, &given);
    (discipline.check)(&attributes).err().map(|(name, _)| name)
}

#[test]
fn defaults_and_trials_do_not_contradict_themselves() {
    for discipline in DISCIPLINES {
        let ns3 = discipline.spec.ns3;
        assert!(ns3 == MQ || !discipline.trials.is_empty(), "say how to try {ns3}");
        for given in discipline.trials.iter().chain([&&[][..]]) {
            assert_eq!(contradiction(ns3, given), None, "{ns3}");
        }
    }
}

#[test]
fn contradictions_are_named() {
    let sets = [("EnableSetAssociativeHash", "true"), ("Flows", "10")];
    for (ns3, given, name) in [
        ("FqPieQueueDisc", &sets[..], "SetWays"),
        ("FqCobaltQueueDisc", &[("UseL4s", "true")], "CeThreshold"),
        ("RedQueueDisc", &[("MinTh", "20")], "MinTh"),
    ] {
        assert_eq!(contradiction(ns3, given), Some(name), "{ns3}");
    }
    assert_eq!(contradiction("CoDelQueueDisc", &[("MaxSize", "3000B")]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// What came in has left, was dropped or is queued; the limit holds; a flow keeps its order.
    #[test]
    fn packets_and_bytes_are_conserved(steps in prop::collection::vec(step(), 1..400)) {
        for discipline in DISCIPLINES.iter().filter(|discipline| discipline.spec.ns3 != MQ) {
            for given in discipline.trials {
                check(discipline.spec.ns3, given, &steps);
            }
        }
    }
}
