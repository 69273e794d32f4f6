//! PLB: a flow that stays congested takes another path, when it is idle if that comes soon (M. A. Qureshi et al., "PLB:
//! congestion signals are simple and effective for network load balancing", ACM SIGCOMM 2022; with the defaults of
//! Linux's `net.ipv4.tcp_plb_*`).
//!
//! ```text
//! each round trip:  F = acknowledgements with ECE / acknowledgements
//!     F >= Threshold:  rounds += 1                else  rounds = 0
//! sending with nothing in flight, rounds >= IdleRounds:  V += 1, rounds = 0
//! sending, rounds >= Rounds:                             V += 1, rounds = 0
//! a retransmission by the timer:                         V += 1, rounds = 0, and no other change for Suspend to 2 Suspend
//! path = hash(flow, V)
//! ```
//!
//! Beside FlowBender it waits for a pause in which nothing can be reordered.  V goes into the hash that switches choose by (the
//! flow label), so that the new path can be the old one.  It needs a transport whose acknowledgements tell which segments
//! were marked: DCTCP.  A `Suspend` of 0 leaves the pause out.

use super::HostContext;
use super::sender::{
    Coming, Rounds, Sender, Sending, Sent, Watch, among, grown, other_path_of, path_of,
};
use crate::base::attributes::{FRACTION, Kind, Spec, param};
use crate::base::mix::mix;
use crate::base::rng::RngStream;
use crate::base::time::Time;

pub const SPEC: Spec = Spec {
    ns3: "plb",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; a flow that stays congested takes another one, idle if it can.",
    source: "M. A. Qureshi et al., ACM SIGCOMM 2022",
    departures: &[],
    params: &[
        param![THRESHOLD, "cong_thresh"; FRACTION => "0.5";
            "As many marked acknowledgements in a round trip make it a congested one."],
        param![IDLE_ROUNDS, "idle_rehash_rounds"; Kind::Uint { min: 0, max: 31 } => "3";
            "Congested round trips in a row after which an idle flow moves; 0: it does not."],
        param![ROUNDS, "rehash_rounds"; Kind::Uint { min: 1, max: 31 } => "12";
            "Congested round trips in a row after which any flow moves."],
        param![SUSPEND, "suspend_rto_sec"; Kind::Time => "60s";
            "After a timeout a flow stays for so long, up to twice of it."],
    ],
};

const THRESHOLD: &str = "Threshold";
const IDLE_ROUNDS: &str = "IdleRounds";
const ROUNDS: &str = "Rounds";
const SUSPEND: &str = "Suspend";

#[derive(Debug)]
pub struct Plb {
    stream: RngStream,
    threshold: f64,
    idle_rounds: u32,
    rounds: u32,
    suspend: Time,
    flows: Vec<Flow>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    watch: Watch,
    round: Rounds,
    v: u32,
    /// Congested round trips in a row.
    congested: u32,
    stays_until: Time,
}

impl Plb {
    pub fn new(cx: &HostContext<'_>) -> Self {
        let attributes = &cx.attributes;
        Plb {
            stream: cx.random(),
            threshold: attributes.f64(THRESHOLD),
            idle_rounds: attributes.u32(IDLE_ROUNDS),
            rounds: attributes.u32(ROUNDS),
            suspend: attributes.time(SUSPEND),
            flows: Vec::new(),
        }
    }
}

impl Sender for Plb {
    fn choose(&mut self, sending: &Sending<'_>) -> u32 {
        let flow = grown(&mut self.flows, path_of(sending.packet));
        let is_idle = flow.watch.sent() == flow.watch.acked();
        let sent = flow.watch.on_send(sending.packet, sending.now);
        flow.round.on_send(&flow.watch);
        let patience = if is_idle && self.idle_rounds > 0 { self.idle_rounds } else { self.rounds };
        if sent == Sent::Late {
            (flow.v, flow.congested) = (flow.v + 1, 0);
            let longer = self.stream.uniform(0.0, 1.0);
            let ns = self.suspend.0 as f64 * (1.0 + longer);
            flow.stays_until = Time(sending.now.0 + ns as u64);
        } else if sent == Sent::New
            && flow.congested >= patience.min(self.rounds)
            && sending.now >= flow.stays_until
        {
            (flow.v, flow.congested) = (flow.v + 1, 0);
        }
        among(mix(sending.origin.hash ^ mix(u64::from(flow.v))), sending.paths.count())
    }

    fn notice(&mut self, coming: &Coming<'_>) {
        let flow = grown(&mut self.flows, other_path_of(coming.packet));
        flow.watch.on_answer(coming.packet, coming.now);
        if let Some(share) = flow.round.on_answer(coming.packet, &flow.watch) {
            flow.congested = if share >= self.threshold { (flow.congested + 1).min(31) } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::net::routing::balance::host_bench::HostBench;

    /// The paths of a flow that keeps one segment in flight, all of whose acknowledgements but every `clean`th are marked;
    /// with `pauses` everything is acknowledged before more is sent.
    fn paths(attributes: &[(&str, &str)], rounds: u32, clean: u32, pauses: bool) -> Vec<u32> {
        let mut bench = HostBench::new("plb", attributes, 60_000);
        let mut paths = vec![bench.send(0, 100)];
        for round in 1..=rounds {
            if pauses {
                bench.answer(0, 100, round % clean != 0);
                paths.push(bench.send(0, 100));
            } else {
                paths.push(bench.send(0, 100));
                bench.answer(0, 100, round % clean != 0);
            }
        }
        paths.dedup();
        paths
    }

    #[test]
    fn a_busy_flow_moves_after_twelve_congested_round_trips() {
        assert_eq!(paths(&[], 12, 1000, false).len(), 1);
        assert_eq!(paths(&[], 13, 1000, false).len(), 2);
    }

    #[test]
    fn an_idle_one_after_three() {
        assert_eq!(paths(&[], 2, 1000, true).len(), 1);
        assert_eq!(paths(&[], 3, 1000, true).len(), 2);
        assert_eq!(paths(&[("IdleRounds", "0")], 11, 1000, true).len(), 1);
    }

    #[test]
    fn a_round_trip_without_congestion_begins_the_count_anew() {
        assert_eq!(paths(&[], 40, 3, true).len(), 1);
        assert_eq!(paths(&[("Threshold", "0")], 40, 3, true).len(), 14);
    }

    #[test]
    fn after_a_timeout_it_moves_and_stays_for_a_while() {
        for (suspend, moves) in [("60s", false), ("0s", true)] {
            let mut bench = HostBench::new("plb", &[("Suspend", suspend)], 60_000);
            let before = bench.send(0, 100);
            bench.answer(0, 0, false);
            bench.advance(1_000_000);
            let after = bench.send_again(0, 100);
            assert_ne!(after, before);
            let mut last = after;
            for _ in 0..5 {
                bench.answer(0, 100, true);
                last = bench.send(0, 100);
            }
            assert_eq!(last != after, moves, "{suspend}");
        }
    }
}
