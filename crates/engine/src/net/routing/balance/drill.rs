//! DRILL(d, m): each packet takes the port with the shortest queue among a few at random and those that
//! were the shortest before (S. Ghorbani et al., "DRILL: micro load balancing for low-latency data center
//! networks", ACM SIGCOMM 2017).
//!
//! ```text
//! candidates = Samples different ports at random, then the remembered ones that are not among them
//! chosen     = the one with the fewest bytes waiting, the first of equals
//! remembered = the Memory candidates with the fewest bytes waiting, by bytes and then in this order
//! ```
//!
//! each switch remembers for each group of ports.  Samples are drawn one after the other, number i as
//! `uniform(i, ports - 1)` of a list of the group's positions, in which it changes places with the one at i; the
//! list is in order again for the next packet.  (The paper's quiver, which splits flows by the symmetric
//! components of an asymmetric network, is not modelled: in our networks all equally long paths are one group.)

use super::{Balancer, BuildContext, Choice};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::rng::RngStream;

pub const SPEC: Spec = Spec {
    ns3: "drill",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; each packet takes the shortest queue of a few.",
    source: "S. Ghorbani et al., ACM SIGCOMM 2017",
    departures: &[],
    params: &[
        param![SAMPLES, "d"; Kind::Uint { min: 1, max: MOST } => "2";
            "Ports that are drawn for each packet."],
        param![MEMORY, "m"; Kind::Uint { min: 0, max: MOST } => "1";
            "Ports that are remembered as the shortest ones of the packet before."],
    ],
};

const SAMPLES: &str = "Samples";
const MEMORY: &str = "Memory";
const MOST: u64 = 64;

#[derive(Debug)]
pub struct Drill {
    stream: RngStream,
    samples: usize,
    memory: usize,
    /// By group, positions in it; as many groups as have been asked for.
    remembered: Vec<Vec<u32>>,
    /// Work of one packet: positions to draw from; candidates with the bytes that wait there.
    positions: Vec<u32>,
    candidates: Vec<(u32, u32)>,
}

impl Drill {
    pub fn new(cx: &BuildContext<'_>) -> Self {
        Drill {
            stream: cx.random(),
            samples: cx.attributes.u32(SAMPLES) as usize,
            memory: cx.attributes.u32(MEMORY) as usize,
            remembered: Vec::new(),
            positions: Vec::new(),
            candidates: Vec::new(),
        }
    }
}

impl Balancer for Drill {
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
        let group = choice.group as usize;
        if group >= self.remembered.len() {
            self.remembered.resize_with(group + 1, Vec::new);
        }
        let ports = choice.ports.len();
        let waiting = |position: u32| choice.all.waiting_bytes(choice.ports[position as usize]);
        self.positions.clear();
        self.positions.extend(0..ports as u32);
        self.candidates.clear();
        for i in 0..self.samples.min(ports) {
            let drawn = self.stream.uniform_integer(i as u32, ports as u32 - 1);
            self.positions.swap(i, drawn as usize);
            let position = self.positions[i];
            self.candidates.push((waiting(position), position));
        }
        let remembered = &mut self.remembered[group];
        for &position in &*remembered {
            if self.candidates.iter().all(|&(_, other)| other != position) {
                self.candidates.push((waiting(position), position));
            }
        }
        // Stable, and for the few that there are an insertion sort, which allocates nothing.
        for end in 1..self.candidates.len() {
            let mut at = end;
            while at > 0 && self.candidates[at - 1].0 > self.candidates[at].0 {
                self.candidates.swap(at - 1, at);
                at -= 1;
            }
        }
        remembered.clear();
        remembered.extend(self.candidates.iter().take(self.memory).map(|&(_, position)| position));
        self.candidates[0].1
    }

    fn reroute(&mut self) {
        self.remembered.iter_mut().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use crate::net::routing::balance::bench::Bench;

    #[test]
    fn with_all_ports_as_samples_the_shortest_queue_is_found_at_once() {
        let mut bench = Bench::new("drill", &[("Samples", "8"), ("Memory", "0")], 8);
        bench.set_waiting(&[9, 8, 7, 3, 7, 8, 9, 9]);
        assert!((0..50).all(|_| bench.pick(0) == 3));
    }

    #[test]
    fn what_was_shortest_stays_a_candidate() {
        let mut bench = Bench::new("drill", &[("Samples", "1"), ("Memory", "1")], 8);
        bench.set_waiting(&[5, 5, 5, 0, 5, 5, 5, 5]);
        while bench.pick(0) != 3 {}
        assert!((0..200).all(|_| bench.pick(0) == 3), "remembered, and never longer than a sample");
        // Now it is the longest: the first sample wins, and is remembered in its place.
        bench.set_waiting(&[5, 5, 5, 9, 5, 5, 5, 5]);
        while bench.pick(0) == 3 {}
        assert!((0..200).all(|_| bench.pick(0) != 3));
    }

    #[test]
    fn without_memory_a_sample_is_taken_however_long_its_queue() {
        let mut bench = Bench::new("drill", &[("Samples", "1"), ("Memory", "0")], 4);
        bench.set_waiting(&[0, 100, 100, 100]);
        let mut counts = [0; 4];
        (0..400).for_each(|_| counts[bench.pick(0) as usize] += 1);
        assert!(counts.iter().all(|count| (60..=140).contains(count)), "{counts:?}");
    }

    #[test]
    fn samples_come_first_among_equals() {
        let mut bench = Bench::new("drill", &[("Samples", "2"), ("Memory", "1")], 4);
        let mut counts = [0; 4];
        (0..400).for_each(|_| counts[bench.pick(0) as usize] += 1);
        assert!(counts.iter().all(|count| (60..=140).contains(count)), "{counts:?}");
    }

    #[test]
    fn failures_make_it_forget() {
        let mut bench = Bench::new("drill", &[("Samples", "1"), ("Memory", "1")], 4);
        bench.set_waiting(&[9, 9, 9, 0]);
        while bench.pick(0) != 3 {}
        bench.set_ports(3);
        assert!((0..50).all(|_| bench.pick(0) < 3));
    }
}
