//! Digit-reversal bouncing: each packet between two hosts takes the next path after the one before it (J.
//! Cao et al., "Per-packet load-balanced, low-latency routing for Clos-based data center networks", ACM
//! CoNEXT 2013).
//!
//! The paper's hosts write the core switch on each packet, in the order of numbers whose digits are
//! reversed, so that neighbours on the list part as early as they can.  Here every switch keeps one counter
//! for each pair of hosts whose packets it has a choice for, and takes its ports in turn: of a sequence that
//! a switch deals out to n others, each of them deals out every n-th packet, which is the same order.
//!
//! A pair's first packet at a switch takes a port at random, `uniform(0, ports - 1)`, so that pairs are not in step.

use super::{Balancer, BuildContext, Choice};
use crate::base::attributes::Spec;
use crate::base::pair_table::PairTable;
use crate::base::rng::RngStream;

pub const SPEC: Spec = Spec {
    ns3: "drb",
    linux: &["RoundRobin"],
    is_in_linux: false,
    doc: "All shortest paths by hops; the packets between two hosts take them in turn.",
    source: "J. Cao et al., ACM CoNEXT 2013",
    departures: &[],
    params: &[],
};

#[derive(Debug)]
pub struct Drb {
    stream: RngStream,
    /// Of each pair of hosts: the port that its next packet takes.
    next: PairTable<u32>,
}

impl Drb {
    pub fn new(cx: &BuildContext<'_>) -> Self {
        Drb { stream: cx.random(), next: PairTable::default() }
    }
}

impl Balancer for Drb {
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
        let ports = choice.ports.len() as u32;
        let pair = [choice.origin.node, choice.origin.destination];
        let stream = &mut self.stream;
        let next = self.next.entry(pair, || stream.uniform_integer(0, ports - 1));
        // Fewer ports than before: links have failed.
        let port = if *next < ports { *next } else { 0 };
        *next = if port + 1 < ports { port + 1 } else { 0 };
        port
    }
}

#[cfg(test)]
mod tests {
    use crate::net::routing::balance::bench::Bench;

    #[test]
    fn packets_of_a_pair_take_the_ports_in_turn() {
        let mut bench = Bench::new("drb", &[], 4);
        let first = bench.pick(0);
        let picks: Vec<_> = (0..8).map(|_| bench.pick(0)).collect();
        let expected: Vec<_> = (1..9).map(|i| (first + i) % 4).collect();
        assert_eq!(picks, expected);
    }

    #[test]
    fn pairs_do_not_disturb_each_other() {
        let mut bench = Bench::new("drb", &[], 4);
        let starts = [bench.pick(0), bench.pick(2)];
        for step in 1..9 {
            // Flow 1 is between the hosts of flow 0.
            assert_eq!(bench.pick(if step % 2 == 0 { 0 } else { 1 }), (starts[0] + step) % 4);
            assert_eq!(bench.pick(2), (starts[1] + step) % 4);
        }
    }

    #[test]
    fn pairs_begin_at_random() {
        let mut bench = Bench::new("drb", &[], 4);
        let mut counts = [0; 4];
        (0..400).for_each(|pair| counts[bench.pick(2 * pair) as usize] += 1);
        assert!(counts.iter().all(|count| (60..=140).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_counter_beyond_the_ports_that_are_left_begins_anew() {
        let mut bench = Bench::new("drb", &[], 4);
        while bench.pick(0) != 2 {}
        bench.set_ports(2);
        assert_eq!([bench.pick(0), bench.pick(0), bench.pick(0)], [0, 1, 0]);
    }
}
