//! A random path for each packet, as ns-3's `Ipv4GlobalRouting` with `RandomEcmpRouting` draws it: uniform
//! among the ports, from a stream of the node's own.  Here a packet with one path draws nothing.

use super::{Balancer, BuildContext, Choice};
use crate::base::attributes::Spec;
use crate::base::rng::RngStream;

pub const SPEC: Spec = Spec {
    ns3: "random",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; every packet takes one at random at each node.",
    source: "ns-3's Ipv4GlobalRouting::RandomEcmpRouting",
    departures: &[],
    params: &[],
};

#[derive(Debug)]
pub struct RandomEcmp {
    stream: RngStream,
}

impl RandomEcmp {
    pub fn new(cx: &BuildContext<'_>) -> Self {
        RandomEcmp { stream: cx.random() }
    }
}

impl Balancer for RandomEcmp {
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
        self.stream.uniform_integer(0, choice.ports.len() as u32 - 1)
    }
}
