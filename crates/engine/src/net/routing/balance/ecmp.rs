//! Equal-cost multipath by a hash: all packets of a flow take one path (RFC 2992).
//!
//! The flow's hash (`flow_hash`) is mixed with the node's salt, so that nodes choose independently of each
//! other:
//!
//! ```text
//! salt   = mix(Seed + 0x9e3779b97f4a7c15 * (node + 1))     the node-th number of SplitMix64 from Seed
//! chosen = (mix(flow_hash ^ salt) >> 32) * ports >> 32     a position in the order of links
//! ```
//!
//! with 64-bit arithmetic that wraps, and nodes counted from 0 in the scenario's order.  RFC 2992 keeps
//! most flows on their way when a port comes or goes; this does not, as most switches do not.

use super::{Balancer, BuildContext, Choice, SEED};
use crate::base::attributes::{Spec, U64, param};
use crate::base::mix::mix;

pub const SPEC: Spec = Spec {
    ns3: "ecmp",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; a hash of addresses and ports chooses one for each flow.",
    source: "RFC 2992",
    departures: &[],
    params: &[param![SEED; U64 => "0"; "Of the hash; the scenario's seed, if it is not given."]],
};

/// The distance of the states of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The position among `ports` that a flow with this hash has at a node with this salt.
#[inline]
pub fn position(flow_hash: u64, salt: u64, ports: usize) -> u32 {
    let high = mix(flow_hash ^ salt) >> 32;
    ((high * ports as u64) >> 32) as u32
}

/// What makes nodes choose independently of each other.
pub fn salt(seed: u64, node: u32) -> u64 {
    mix(seed.wrapping_add(GOLDEN.wrapping_mul(u64::from(node) + 1)))
}

#[derive(Debug)]
pub struct Ecmp {
    salt: u64,
}

impl Ecmp {
    pub fn new(cx: &BuildContext<'_>) -> Self {
        Ecmp { salt: salt(cx.attributes.u64(SEED), cx.node) }
    }
}

impl Balancer for Ecmp {
    #[inline]
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
        position(choice.origin.hash, self.salt, choice.ports.len())
    }

    fn lasting_salt(&self) -> Option<u64> {
        Some(self.salt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::routing::balance::flow_hash;

    fn at(node: u32, seed: &str) -> Ecmp {
        Ecmp { salt: salt(seed.parse().expect("a number"), node) }
    }

    /// Flows from 64 ports of one host to another.
    fn picks(node: u32, seed: &str, ports: u32) -> Vec<u32> {
        let salt = at(node, seed).salt;
        let hash = |i: u16| flow_hash([0x0a00_0001, 0x0a00_0006], 6, [49152 + i, 5001]);
        (0..64).map(|i| position(hash(i), salt, ports as usize)).collect()
    }

    #[test]
    fn choices_are_as_documented() {
        assert_eq!(at(0, "1").salt, 0x910a_2dec_8902_5cc1);
        assert_eq!(picks(0, "1", 4)[..12], [0, 1, 0, 2, 0, 1, 2, 0, 0, 0, 3, 0]);
        assert_eq!(picks(5, "7", 3)[..12], [0, 0, 0, 1, 0, 2, 2, 1, 1, 1, 0, 2]);
    }

    #[test]
    fn flows_spread_over_all_ports_at_every_node() {
        for node in 0..50 {
            for ports in 2..9 {
                let picks = picks(node, "3", ports);
                for port in 0..ports {
                    let count = picks.iter().filter(|&&pick| pick == port).count();
                    let mean = 64.0 / f64::from(ports);
                    // Six standard deviations of a binomial distribution.
                    let most = mean + 6.0 * (mean * (1.0 - 1.0 / f64::from(ports))).sqrt();
                    assert!((count as f64) < most, "{count} of 64 on port {port} of {ports}");
                }
            }
        }
    }

    #[test]
    fn nodes_and_seeds_choose_independently() {
        let same = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        let here = picks(3, "1", 2);
        for other in [picks(4, "1", 2), picks(3, "2", 2)] {
            let count = same(&here, &other);
            // Half of them, and four standard deviations.
            assert!((16..=48).contains(&count), "{count} of 64 flows agree");
        }
    }
}
