//! FlowBender: a flow whose acknowledgements are marked too often takes another path (A. Kabbani et al.,
//! "FlowBender: flow-level adaptive routing for improved latency and throughput in datacenter networks", ACM
//! CoNEXT 2014).
//!
//! ```text
//! each round trip (the acknowledgement of what was sent last when it began ends it):
//!     F = acknowledgements with ECE / acknowledgements
//!     F > Threshold:  after Rounds of these in a row  V += 1;     F <= Threshold:  the count begins anew
//! a retransmission by the timer:  V += 1
//! path = hash(flow, V)
//! ```
//!
//! V goes into the hash that switches choose by, so that the new path can be the old one.  It needs a transport whose
//! acknowledgements tell which segments were marked: DCTCP.

use super::HostContext;
use super::sender::{
    Coming, Rounds, Sender, Sending, Sent, Watch, among, grown, other_path_of, path_of,
};
use crate::base::attributes::{FRACTION, Kind, Spec, param};
use crate::base::mix::mix;

pub const SPEC: Spec = Spec {
    ns3: "flowbender",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; a flow that is marked too often takes another one.",
    source: "A. Kabbani et al., ACM CoNEXT 2014",
    departures: &[],
    params: &[
        param![THRESHOLD, "T"; FRACTION => "0.05";
            "A larger part of marked acknowledgements in a round trip is too much."],
        param![ROUNDS, "N"; Kind::Uint { min: 1, max: 1000 } => "1";
            "Round trips in a row that have to be so."],
    ],
};

const THRESHOLD: &str = "Threshold";
const ROUNDS: &str = "Rounds";

#[derive(Debug)]
pub struct FlowBender {
    threshold: f64,
    rounds: u32,
    flows: Vec<Flow>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    watch: Watch,
    round: Rounds,
    v: u32,
    /// Round trips in a row with too many marks.
    bad: u32,
}

impl FlowBender {
    pub fn new(cx: &HostContext<'_>) -> Self {
        let attributes = &cx.attributes;
        FlowBender {
            threshold: attributes.f64(THRESHOLD),
            rounds: attributes.u32(ROUNDS),
            flows: Vec::new(),
        }
    }
}

impl Sender for FlowBender {
    fn choose(&mut self, sending: &Sending<'_>) -> u32 {
        let flow = grown(&mut self.flows, path_of(sending.packet));
        if flow.watch.on_send(sending.packet, sending.now) == Sent::Late {
            flow.v += 1;
        }
        flow.round.on_send(&flow.watch);
        among(mix(sending.origin.hash ^ mix(u64::from(flow.v))), sending.paths.count())
    }

    fn notice(&mut self, coming: &Coming<'_>) {
        let flow = grown(&mut self.flows, other_path_of(coming.packet));
        flow.watch.on_answer(coming.packet, coming.now);
        let Some(share) = flow.round.on_answer(coming.packet, &flow.watch) else { return };
        flow.bad = if share > self.threshold { flow.bad + 1 } else { 0 };
        if flow.bad == self.rounds {
            (flow.v, flow.bad) = (flow.v + 1, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::net::routing::balance::host_bench::HostBench;

    /// How often a flow changes its V (seen as its path among very many) in `rounds` round trips of 100
    /// acknowledgements, so many of them marked.
    fn changes(attributes: &[(&str, &str)], marked: u32, rounds: u32) -> u32 {
        let mut bench = HostBench::new("flowbender", attributes, 60_000);
        let (mut path, mut changes) = (bench.send(0, 100), 0);
        for _ in 0..rounds {
            for _ in 0..100 {
                let next = bench.send(0, 100);
                changes += u32::from(next != path);
                path = next;
            }
            // The first one ends a round trip, since one more is always on its way.
            for i in 0..100 {
                bench.answer(0, 100, (1..=marked).contains(&i));
            }
        }
        changes
    }

    #[test]
    fn five_marks_in_a_hundred_are_not_more_than_the_threshold() {
        assert_eq!(changes(&[], 5, 20), 0);
    }

    #[test]
    fn more_are() {
        assert!(changes(&[], 8, 20) >= 18);
    }

    #[test]
    fn with_several_rounds_it_waits_for_as_many_in_a_row() {
        let changes = changes(&[("Rounds", "4")], 50, 20);
        assert!((4..=5).contains(&changes), "{changes}");
    }

    #[test]
    fn a_timeout_changes_the_path_at_once() {
        let mut bench = HostBench::new("flowbender", &[], 60_000);
        let path = bench.send(0, 100);
        bench.answer(0, 0, false);
        assert_eq!(bench.send_again(0, 100), path, "in answer to an acknowledgement");
        bench.advance(1_000_000);
        assert_ne!(bench.send_again(0, 100), path);
    }
}
