//! REPS: packets take the paths again of which unmarked acknowledgements have come (T. Bonato et al., "REPS: recycled
//! entropy packet spraying for adaptive load balancing and failure mitigation", arXiv 2407.21625).
//!
//! ```text
//! a ring of Entries paths, each to be used once, the oldest first; explore = Explore
//! sending:   frozen:                          the next of the ring, used before or not
//!            explore > 0, or none to be used: a random one;  explore -= 1
//!            else:                            the oldest one to be used
//! an acknowledgement without ECE:  its path into the ring, over the oldest one if all are to be used
//!                                  frozen for FreezingTimeout: frozen no longer, explore = Explore
//! a retransmission by the timer:   frozen from now on, unless explore > 0 or it is
//! ```
//!
//! So a path that is congested or dead drops out by itself: no acknowledgement without a mark brings it back.  The paper's
//! entropies are of 16 bits, which switches hash; a path's number is what is left of one here.  The sizes are the paper's, the
//! time to be frozen is ours.  It needs an acknowledgement for each segment that tells whether that was marked: DCTCP, without
//! delayed acknowledgements.  What carries no data returns on the path of what it answers.

use super::HostContext;
use super::sender::{Coming, Sender, Sending, Sent, Watch, grown, other_path_of, path_of};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::rng::RngStream;
use crate::base::time::Time;

pub const SPEC: Spec = Spec {
    ns3: "reps",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; hosts send packets by paths of which unmarked ACKs have come.",
    source: "T. Bonato et al., arXiv 2407.21625",
    departures: &[],
    params: &[
        param![ENTRIES; Kind::Uint { min: 1, max: 1024 } => "8";
            "So many paths of a flow are remembered."],
        param![EXPLORE; Kind::Uint { min: 0, max: 1_000_000 } => "64";
            "Packets by random paths at first, and after a failure: a bandwidth-delay product."],
        param![FREEZING; Kind::Time => "1ms";
            "For so long after a timeout only paths that are remembered are used."],
    ],
};

const ENTRIES: &str = "Entries";
const EXPLORE: &str = "Explore";
const FREEZING: &str = "FreezingTimeout";

#[derive(Debug)]
pub struct Reps {
    stream: RngStream,
    entries: usize,
    explore: u32,
    freezing: Time,
    flows: Vec<Flow>,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    watch: Watch,
    ring: Ring,
    /// Packets that have gone by random paths since the beginning, or since it was frozen.
    explored: u32,
    /// Until when it is, or was the last time.
    frozen: Option<Time>,
}

/// Paths that were acknowledged, the newest over the oldest.
#[derive(Clone, Debug, Default)]
struct Ring {
    paths: Vec<u32>,
    /// Behind the newest.
    head: usize,
    /// So many of the newest have not been used since.
    fresh: usize,
}

impl Ring {
    fn keep(&mut self, path: u32, entries: usize) {
        if self.paths.len() < entries {
            self.paths.insert(self.head, path);
        } else {
            self.paths[self.head] = path;
        }
        self.head = (self.head + 1) % entries;
        self.fresh = (self.fresh + 1).min(entries);
    }

    /// The oldest of those that have not been used.
    fn take(&mut self) -> Option<u32> {
        let count = self.paths.len();
        let at = (self.head + count).checked_sub(self.fresh).filter(|_| self.fresh > 0)?;
        self.fresh -= 1;
        Some(self.paths[at % count])
    }

    /// All of them in turn, used or not.
    fn turn(&mut self) -> Option<u32> {
        if let Some(fresh) = self.take() {
            return Some(fresh);
        }
        let count = self.paths.len();
        let path = *self.paths.get(self.head % count.max(1))?;
        self.head = (self.head + 1) % count;
        Some(path)
    }
}

impl Reps {
    pub fn new(cx: &HostContext<'_>) -> Self {
        let attributes = &cx.attributes;
        Reps {
            stream: cx.random(),
            entries: attributes.u32(ENTRIES) as usize,
            explore: attributes.u32(EXPLORE),
            freezing: attributes.time(FREEZING),
            flows: Vec::new(),
        }
    }
}

impl Sender for Reps {
    fn choose(&mut self, sending: &Sending<'_>) -> u32 {
        let count = sending.paths.count();
        let flow = grown(&mut self.flows, path_of(sending.packet));
        let sent = flow.watch.on_send(sending.packet, sending.now);
        let random = || self.stream.uniform_integer(0, count - 1);
        if sent == Sent::Control {
            return sending.answers.filter(|&path| path < count).unwrap_or_else(random);
        }
        let explores = flow.explored < self.explore;
        if sent == Sent::Late && flow.frozen.is_none() && !explores {
            flow.frozen = Some(sending.now + self.freezing);
        }
        let known = if flow.frozen.is_some() {
            flow.ring.turn()
        } else if explores {
            flow.explored += 1;
            None
        } else {
            flow.ring.take()
        };
        known.filter(|&path| path < count).unwrap_or_else(random)
    }

    fn notice(&mut self, coming: &Coming<'_>) {
        let flow = grown(&mut self.flows, other_path_of(coming.packet));
        flow.watch.on_answer(coming.packet, coming.now);
        let Some((path, _)) = coming.answers else { return };
        if coming.is_marked() || !coming.is_answer() {
            return;
        }
        if flow.frozen.is_some_and(|until| coming.now >= until) {
            (flow.frozen, flow.explored) = (None, 0);
        }
        flow.ring.keep(path, self.entries);
    }

    fn reroute(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.ring = Ring::default());
    }
}

#[cfg(test)]
mod tests {
    use crate::net::routing::balance::host_bench::HostBench;

    /// So many paths that a random one is hardly ever one of those that are asked for.
    const MANY: usize = 60_000;

    /// A flow that has explored, and nothing in flight.
    fn bench(attributes: &[(&str, &str)]) -> HostBench {
        let mut all = vec![("Explore", "0")];
        all.extend(attributes);
        let mut bench = HostBench::new("reps", &all, MANY);
        bench.send(0, 100);
        bench
    }

    fn acknowledge(bench: &mut HostBench, paths: impl IntoIterator<Item = u32>) {
        paths.into_iter().for_each(|path| bench.answer_of(0, path, 0, false));
    }

    fn sent(bench: &mut HostBench, count: usize) -> Vec<u32> {
        (0..count).map(|_| bench.send(0, 100)).collect()
    }

    #[test]
    fn what_was_acknowledged_goes_again_in_that_order_and_once() {
        let mut bench = bench(&[]);
        acknowledge(&mut bench, [7, 3, 9]);
        assert_eq!(sent(&mut bench, 3), [7, 3, 9]);
        acknowledge(&mut bench, [5, 7]);
        assert_eq!(sent(&mut bench, 2), [5, 7]);
        let rest = sent(&mut bench, 20);
        assert!(rest.iter().all(|path| ![3, 5, 7, 9].contains(path)), "{rest:?} are random");
    }

    #[test]
    fn what_was_marked_does_not() {
        let mut bench = bench(&[]);
        acknowledge(&mut bench, [7]);
        bench.answer_of(0, 3, 0, true);
        acknowledge(&mut bench, [9]);
        let paths = sent(&mut bench, 3);
        assert_eq!(paths[..2], [7, 9]);
        assert_ne!(paths[2], 3);
    }

    #[test]
    fn of_more_than_the_ring_holds_the_newest_are_left() {
        let mut bench = bench(&[]);
        acknowledge(&mut bench, 1..=11);
        assert_eq!(sent(&mut bench, 8), Vec::from_iter(4..=11));
    }

    #[test]
    fn at_first_it_explores_whatever_was_acknowledged() {
        let mut bench = HostBench::new("reps", &[("Explore", "20")], MANY);
        bench.send(0, 100);
        acknowledge(&mut bench, [7, 3]);
        let paths = sent(&mut bench, 21);
        assert!(!paths[..19].contains(&7), "{paths:?}");
        assert_eq!(paths[19..], [7, 3]);
    }

    /// Eight paths are known, one of two spines fails, the timer expires.
    #[test]
    fn after_a_timeout_only_known_paths_are_used_until_it_is_over() {
        let mut bench = bench(&[("FreezingTimeout", "100us")]);
        acknowledge(&mut bench, 1..=3);
        sent(&mut bench, 1);
        bench.advance(50_000);
        assert_eq!(bench.send_again(0, 100), 2);
        assert_eq!(sent(&mut bench, 7), [3, 1, 2, 3, 1, 2, 3], "again and again");
        acknowledge(&mut bench, [1]);
        assert_eq!(bench.send(0, 100), 1, "what is fresh goes first");
        bench.advance(99_999);
        acknowledge(&mut bench, [2]);
        assert_eq!(sent(&mut bench, 2).len(), 2);
        bench.advance(1);
        acknowledge(&mut bench, [5]);
        assert_eq!(bench.send(0, 100), 5);
        assert!(bench.send(0, 100) > 11, "random again");
    }

    #[test]
    fn a_path_that_marks_is_left_by_all_but_those_that_explore() {
        let mut bench = HostBench::new("reps", &[("Explore", "16")], 4);
        let mut on_first = 0;
        for i in 0..1016 {
            let path = bench.send(0, 100);
            on_first += u32::from(i >= 32 && path == 0);
            bench.answer_of(0, path, 0, path == 0);
        }
        assert!(on_first < 10, "{on_first} of 984");
    }
}
