//! LetFlow: bursts of a flow that are far enough apart take paths at random (E. Vanini et al., "Let it flow:
//! resilient asymmetric load balancing with flowlet switching", USENIX NSDI 2017).
//!
//! ```text
//! packet of a flow at now:   if now - last > FlowletTimeout, or the flow is new:  port = uniform(0, ports - 1)
//!                            last = now
//! ```
//!
//! A flow on a congested path has its packets spread out and is more likely to leave it, so that flows find the
//! better paths though nobody measures them.
//!
//! The paper's switches detect gaps between one and two timeouts, by an age bit that a timer sets, and flows
//! may share an entry of their table; here each flow and direction has its own, with the time of its last packet.

use super::flowlets::Flowlets;
use super::{Balancer, BuildContext, Choice};
use crate::base::attributes::{Kind, Param, Spec, param};
use crate::base::rng::RngStream;

pub const SPEC: Spec = Spec {
    ns3: "letflow",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; each burst of a flow takes one at random.",
    source: "E. Vanini et al., USENIX NSDI 2017",
    departures: &[],
    params: &[FLOWLET_TIMEOUT],
};

/// Of all schemes that switch flowlets.
pub const FLOWLET_TIMEOUT: Param = param!["FlowletTimeout"; Kind::Period => "500us";
    "A packet that comes later than this after the one before it begins a new burst."];

#[derive(Debug)]
pub struct LetFlow {
    stream: RngStream,
    flowlets: Flowlets,
}

impl LetFlow {
    pub fn new(cx: &BuildContext<'_>) -> Self {
        let timeout = cx.attributes.time(FLOWLET_TIMEOUT.ns3);
        LetFlow { stream: cx.random(), flowlets: Flowlets::new(timeout) }
    }
}

impl Balancer for LetFlow {
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
        let (flowlet, goes_on) = self.flowlets.at(choice.path(), choice.now);
        if goes_on && let Some(kept) = position(choice.ports, flowlet.port) {
            return kept;
        }
        let chosen = self.stream.uniform_integer(0, choice.ports.len() as u32 - 1);
        flowlet.port = choice.ports[chosen as usize];
        chosen
    }
}

/// Where a port is in its group, if it (still) is there.
#[inline]
pub fn position(ports: &[u32], port: u32) -> Option<u32> {
    ports.iter().position(|&other| other == port).map(|at| at as u32)
}

#[cfg(test)]
mod tests {
    use crate::net::routing::balance::bench::Bench;

    #[test]
    fn a_gap_of_the_timeout_is_not_yet_a_new_flowlet() {
        for flow in 0..50 {
            let mut bench = Bench::new("letflow", &[("FlowletTimeout", "100us")], 8);
            let first = bench.pick(flow);
            for _ in 0..20 {
                bench.advance(100_000);
                assert_eq!(bench.pick(flow), first, "a gap of exactly the timeout");
            }
        }
    }

    #[test]
    fn a_nanosecond_more_is_one() {
        let mut bench = Bench::new("letflow", &[("FlowletTimeout", "100us")], 8);
        let mut counts = [0; 8];
        for _ in 0..800 {
            counts[bench.pick(0) as usize] += 1;
            bench.advance(100_001);
        }
        assert!(counts.iter().all(|count| (60..=140).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_timeout_counts_from_the_last_packet_not_from_the_first() {
        let mut bench = Bench::new("letflow", &[("FlowletTimeout", "100us")], 8);
        let first = bench.pick(0);
        for _ in 0..100 {
            bench.advance(60_000);
            assert_eq!(bench.pick(0), first);
        }
    }

    #[test]
    fn a_flow_whose_port_is_gone_takes_another_at_once() {
        let mut bench = Bench::new("letflow", &[], 4);
        while bench.pick(0) != 3 {
            bench.advance(1_000_000);
        }
        bench.set_ports(3);
        let other = bench.pick(0);
        assert!(other < 3);
        assert_eq!(bench.pick(0), other);
    }
}
