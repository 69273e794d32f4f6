//! Adaptive routing by queue length: each packet takes the port where the fewest bytes wait, at random among
//! equals (`uniform(0, equals - 1)`, drawn if there are several).
//!
//! What DRILL with a sample of all ports would do, and what switches for InfiniBand and for collective
//! communication are sold with.  It knows nothing of what waits behind the next switch.

use super::{Balancer, BuildContext, Choice};
use crate::base::attributes::Spec;
use crate::base::rng::RngStream;

pub const SPEC: Spec = Spec {
    ns3: "adaptive",
    linux: &["AdaptiveRouting"],
    is_in_linux: false,
    doc: "All shortest paths by hops; each packet takes the shortest queue of all.",
    source: "local adaptive routing, e.g. InfiniBand Architecture Specification 1.3, annex on adaptive routing",
    departures: &[],
    params: &[],
};

#[derive(Debug)]
pub struct Adaptive {
    stream: RngStream,
}

impl Adaptive {
    pub fn new(cx: &BuildContext<'_>) -> Self {
        Adaptive { stream: cx.random() }
    }
}

impl Balancer for Adaptive {
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
        let waiting = |port: &u32| choice.all.waiting_bytes(*port);
        let (mut least, mut equals) = (u32::MAX, 0);
        for bytes in choice.ports.iter().map(waiting) {
            match bytes.cmp(&least) {
                std::cmp::Ordering::Less => (least, equals) = (bytes, 1),
                std::cmp::Ordering::Equal => equals += 1,
                std::cmp::Ordering::Greater => {}
            }
        }
        let mut skip = if equals > 1 { self.stream.uniform_integer(0, equals - 1) } else { 0 };
        for (position, port) in (0..).zip(choice.ports) {
            if waiting(port) == least {
                if skip == 0 {
                    return position;
                }
                skip -= 1;
            }
        }
        unreachable!("one of them has the least")
    }
}

#[cfg(test)]
mod tests {
    use crate::net::routing::balance::bench::Bench;

    #[test]
    fn every_packet_takes_the_shortest_queue() {
        let mut bench = Bench::new("adaptive", &[], 4);
        for shortest in 0..4 {
            let mut waiting = [10; 4];
            waiting[shortest as usize] = 9;
            bench.set_waiting(&waiting);
            assert!((0..20).all(|_| bench.pick(0) == shortest));
        }
    }

    #[test]
    fn equals_are_taken_at_random() {
        let mut bench = Bench::new("adaptive", &[], 4);
        bench.set_waiting(&[3, 7, 3, 3]);
        let mut counts = [0; 4];
        (0..300).for_each(|_| counts[bench.pick(0) as usize] += 1);
        assert_eq!(counts[1], 0);
        assert!([0, 2, 3].iter().all(|&i| (60..=140).contains(&counts[i])), "{counts:?}");
    }
}
