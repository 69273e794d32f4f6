//! What chooses among ports by which a packet comes equally near to its destination: one file each, one
//! line in the registry below each.
//!
//! A balancer chooses at every node that forwards; each node has one of its own, with what it remembers.
//! (Schemes that choose at the sender, by a label that hosts write on packets and switches obey, belong to
//! the hosts: they would set a field of [`crate::packet::Packet`], which has room for it, where
//! `hosts/` sends, and a balancer would read it here.)

use std::collections::BTreeMap;

use crate::attributes::{Attributes, Spec};

/// A packet at a node with several ways to go.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Of the packet's flow and direction: see [`flow_hash`].
    pub flow_hash: u64,
    /// How many ports there are, at least two.
    pub ports: u32,
}

/// Chooses for one node.
pub trait Balancer: std::fmt::Debug + Send {
    /// The port to take, by its position in the group, which is in the order of links.
    fn pick(&mut self, choice: Choice) -> u32;
}

/// What a balancer may read while it is built.
#[derive(Debug)]
pub struct BuildContext<'a> {
    pub attributes: Attributes<'a>,
    /// The node that it is for.
    pub node: u32,
    /// Its random stream, as a number for ns-3's `SetStream`, and the replication (ns-3's `RngRun`).
    pub stream: u64,
    pub run: u64,
}

/// One way only: the first in the order of links.
pub const STATIC: Spec = Spec {
    ns3: "static",
    linux: &[],
    doc: "One path between two nodes: the shortest by hops, the first in the order of links.",
    source: "",
    params: &[],
};

macro_rules! registry {
    ($($variant:ident = $module:ident,)*) => {
        $(mod $module;)*

        /// Any balancer.
        #[derive(Debug)]
        pub enum AnyBalancer {
            $($variant($module::$variant),)*
        }

        impl Balancer for AnyBalancer {
            #[inline]
            fn pick(&mut self, choice: Choice) -> u32 {
                match self {
                    $(AnyBalancer::$variant(balancer) => balancer.pick(choice),)*
                }
            }
        }

        /// Every kind of routing, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[&STATIC, $(&$module::SPEC,)*];

        /// The balancer with this name; none for [`STATIC`].
        pub fn build(name: &str, cx: &BuildContext<'_>) -> Option<AnyBalancer> {
            $(if name == $module::SPEC.ns3 {
                return Some(AnyBalancer::$variant($module::$variant::new(cx)));
            })*
            None
        }
    };
}

registry! {
    Ecmp = ecmp,
    RandomEcmp = random,
}

/// What is not given and has the scenario's seed as its value.
pub const SEED: &str = "Seed";

/// Fills in a seed that was left out.
pub fn with_seed(spec: &Spec, attributes: &mut BTreeMap<String, String>, seed: u64) {
    if spec.params.iter().any(|param| param.ns3 == SEED) {
        attributes.entry(SEED.to_owned()).or_insert_with(|| seed.to_string());
    }
}

/// The finisher of SplitMix64 (G. L. Steele et al., "Fast splittable pseudorandom number generators",
/// OOPSLA 2014; D. Stafford's variant 13), which spreads every bit over all.
pub(crate) const fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The hash of a flow in one direction, the same for all its packets:
///
/// `mix(mix(source << 32 | destination) ^ (protocol << 32 | source port << 16 | destination port))`,
/// with IPv4 addresses as numbers, and 0 for the ports of ICMP.
pub const fn flow_hash(addresses: [u32; 2], protocol: u8, ports: [u16; 2]) -> u64 {
    let addresses = (addresses[0] as u64) << 32 | addresses[1] as u64;
    let ports = (protocol as u64) << 32 | (ports[0] as u64) << 16 | ports[1] as u64;
    mix(mix(addresses) ^ ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 10.0.0.1:49152 to 10.0.0.6:5001.
    #[test]
    fn the_hash_of_a_flow_is_as_documented() {
        assert_eq!(mix(0), 0);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0xe220_a839_7b1d_cdaf, "SplitMix64's first, from 0");
        let hash = |ends: [u32; 2], protocol, ports| flow_hash(ends, protocol, ports);
        assert_eq!(hash([0x0a00_0001, 0x0a00_0006], 6, [49152, 5001]), 0x6b39_87c1_35b0_9c2c);
        assert_eq!(hash([0x0a00_0006, 0x0a00_0001], 6, [5001, 49152]), 0xbaf7_efb0_0a35_046c);
        assert_eq!(hash([0x0a00_0001, 0x0a00_0006], 1, [0, 0]), 0x5446_c00f_9870_27de);
    }
}
