//! CLOVE: bursts of flows take paths at random, by weights that marks shift, or the least used one (N. Katta et
//! al., "Clove: congestion-aware load balancing at the virtual edge", ACM CoNEXT 2017).
//!
//! A flowlet begins after a gap of more than `FlowletTimeout`.  It takes, by `Mode`,
//!
//! * `edge-flowlet`: a random path;
//! * `ecn`: the next by weighted round robin.  Each pair of hosts has weights, 1 at first.  An acknowledgement with ECE of a path,
//!   at most once in a `RelayInterval`, takes a third of the path's weight and gives it to the others in
//!   equal parts: those that were not marked in the last two intervals, or if there is none, all.  Round robin: every path gets its weight as
//!   credit, the one with the most (the first of equals) goes and pays the sum of weights.
//! * `int`: the path that was used least, by what the switches wrote on packets and came back with acknowledgements; a random one
//!   of equals.

use super::HostContext;
use super::flowlets::Flowlets;
use super::letflow::FLOWLET_TIMEOUT;
use super::sender::{Coming, Sender, Sending, path_of};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::pair_table::PairTable;
use crate::base::rng::RngStream;
use crate::base::time::Time;

pub const SPEC: Spec = Spec {
    ns3: "clove",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; hosts send each burst by one that was marked, or used, less.",
    source: "N. Katta et al., ACM CoNEXT 2017",
    departures: &[],
    params: &[
        FLOWLET_TIMEOUT,
        param![MODE; Kind::Enum(&[EDGE_FLOWLET, ECN, INT]) => ECN;
            "What hosts go by: chance, marks, or the loads that switches write on packets."],
        param![RELAY; Kind::Period => "40us";
            "The weight of a path shrinks at most once in this time; half a round trip."],
    ],
};

const MODE: &str = "Mode";
const EDGE_FLOWLET: &str = "edge-flowlet";
const ECN: &str = "ecn";
const INT: &str = "int";
const RELAY: &str = "RelayInterval";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Chance,
    Marks,
    Loads,
}

#[derive(Debug)]
pub struct Clove {
    mode: Mode,
    stream: RngStream,
    relay: Time,
    flowlets: Flowlets,
    /// By source and destination.
    pairs: PairTable<Vec<Path>>,
}

#[derive(Clone, Copy, Debug)]
struct Path {
    weight: f64,
    credit: f64,
    marked: Option<Time>,
    used: u8,
}

impl Clove {
    pub fn new(cx: &HostContext<'_>) -> Self {
        Clove {
            mode: match cx.attributes.text(MODE) {
                ECN => Mode::Marks,
                INT => Mode::Loads,
                _ => Mode::Chance,
            },
            stream: cx.random(),
            relay: cx.attributes.time(RELAY),
            flowlets: Flowlets::new(cx.attributes.time(FLOWLET_TIMEOUT.ns3)),
            pairs: PairTable::default(),
        }
    }
}

impl Sender for Clove {
    fn choose(&mut self, sending: &Sending<'_>) -> u32 {
        let count = sending.paths.count();
        let (flowlet, goes_on) = self.flowlets.at(path_of(sending.packet), sending.now);
        if goes_on && flowlet.port < count {
            return flowlet.port;
        }
        let pair = [sending.origin.node, sending.origin.destination];
        let new = Path { weight: 1.0, credit: 0.0, marked: None, used: 0 };
        let paths = self.pairs.entry(pair, Vec::new);
        // None yet, also where routes have changed and only an answer has come since.
        paths.resize(count as usize, new);
        flowlet.port = match self.mode {
            Mode::Chance => self.stream.uniform_integer(0, count - 1),
            Mode::Marks => next_by_weight(paths),
            Mode::Loads => {
                let least = paths.iter().map(|path| path.used).min().unwrap_or(0);
                let mut best = (0..).zip(&*paths).filter(|(_, path)| path.used == least);
                let equals = best.clone().count() as u32;
                let skip = self.stream.uniform_integer(0, equals - 1);
                best.nth(skip as usize).map_or(0, |(number, _)| number)
            }
        };
        flowlet.port
    }

    fn notice(&mut self, coming: &Coming<'_>) {
        let Some((number, used)) = coming.answers else { return };
        if !coming.is_answer() {
            return;
        }
        let pair = [coming.origin.node, coming.origin.destination];
        let paths = self.pairs.entry(pair, Vec::new);
        let Some(path) = paths.get_mut(number as usize) else { return };
        path.used = used;
        let may_shrink = path.marked.is_none_or(|last| coming.now.0 - last.0 >= self.relay.0);
        if coming.is_marked() && may_shrink {
            path.marked = Some(coming.now);
            shift(paths, number as usize, coming.now, self.relay);
        }
    }

    fn wants_load(&self) -> bool {
        self.mode == Mode::Loads
    }

    fn reroute(&mut self) {
        self.pairs = PairTable::default();
    }
}

/// The next path by weighted round robin.
fn next_by_weight(paths: &mut [Path]) -> u32 {
    let sum: f64 = paths.iter().map(|path| path.weight).sum();
    paths.iter_mut().for_each(|path| path.credit += path.weight);
    let mut chosen = 0;
    for number in 1..paths.len() {
        if paths[number].credit > paths[chosen].credit {
            chosen = number;
        }
    }
    paths[chosen].credit -= sum;
    chosen as u32
}

/// A third of a path's weight goes to those that are not congested.
fn shift(paths: &mut [Path], from: usize, now: Time, relay: Time) {
    let is_free = |path: &Path| path.marked.is_none_or(|last| now.0 - last.0 > 2 * relay.0);
    let has_free = paths.iter().enumerate().any(|(i, path)| i != from && is_free(path));
    let takes = |i: usize, path: &Path| i != from && (!has_free || is_free(path));
    let takers = paths.iter().enumerate().filter(|&(i, path)| takes(i, path)).count();
    if takers == 0 {
        return;
    }
    let part = paths[from].weight / 3.0;
    for (i, path) in paths.iter_mut().enumerate() {
        if takes(i, path) {
            path.weight += part / takers as f64;
        }
    }
    paths[from].weight -= part;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::routing::balance::host_bench::HostBench;

    fn paths(count: usize) -> Vec<Path> {
        vec![Path { weight: 1.0, credit: 0.0, marked: None, used: 0 }; count]
    }

    #[test]
    fn a_marked_path_gives_a_third_to_those_that_are_not() {
        let (mut paths, relay) = (paths(4), Time(40));
        paths[0].marked = Some(Time(1000));
        shift(&mut paths, 0, Time(1000), relay);
        let weights: Vec<_> = paths.iter().map(|path| path.weight).collect();
        let expected = [2.0 / 3.0, 10.0 / 9.0, 10.0 / 9.0, 10.0 / 9.0];
        assert!(weights.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{weights:?}");
    }

    /// (The reference has the test inverted, and reads behind the end of its table.)
    #[test]
    fn paths_that_are_congested_as_well_get_nothing() {
        let (mut paths, relay) = (paths(3), Time(40));
        paths[1].marked = Some(Time(950));
        shift(&mut paths, 0, Time(1000), relay);
        assert!((paths[1].weight - 1.0).abs() < 1e-12);
        assert!((paths[2].weight - 4.0 / 3.0).abs() < 1e-12);
        // Two intervals later it is free again; the sum never changes.
        shift(&mut paths, 0, Time(1031), relay);
        assert!(paths[1].weight > 1.0);
        assert!((paths.iter().map(|path| path.weight).sum::<f64>() - 3.0).abs() < 1e-12);
    }

    #[test]
    fn round_robin_goes_by_weight() {
        let mut paths = paths(3);
        (paths[0].weight, paths[2].weight) = (0.5, 1.5);
        let mut counts = [0; 3];
        (0..600).for_each(|_| counts[next_by_weight(&mut paths) as usize] += 1);
        assert_eq!(counts, [100, 200, 300]);
    }

    #[test]
    fn a_flowlet_keeps_its_path_up_to_the_timeout() {
        let mut bench = HostBench::new("clove", &[("FlowletTimeout", "100us")], 4);
        let path = bench.send(0, 100);
        for _ in 0..10 {
            bench.advance(100_000);
            assert_eq!(bench.send(0, 100), path);
        }
        bench.advance(100_001);
        assert_ne!(bench.send(0, 100), path, "round robin");
    }

    #[test]
    fn an_answer_that_comes_after_routes_have_changed_leaves_paths_to_choose_from() {
        for mode in [EDGE_FLOWLET, ECN, INT] {
            let mut bench = HostBench::new("clove", &[(MODE, mode)], 4);
            bench.send(0, 100);
            bench.reroute();
            bench.answer(0, 100, true);
            bench.advance(1_000_000);
            bench.send(0, 100);
        }
    }

    #[test]
    fn with_loads_a_flowlet_takes_the_least_used_path() {
        let attributes = [("FlowletTimeout", "100us"), ("Mode", "int")];
        let mut bench = HostBench::new("clove", &attributes, 3);
        bench.send(0, 100);
        for (path, used) in [(0, 90), (1, 30), (2, 60)] {
            bench.answer_of(0, path, used, false);
        }
        for _ in 0..20 {
            bench.advance(200_000);
            assert_eq!(bench.send(0, 100), 1);
        }
    }
}
