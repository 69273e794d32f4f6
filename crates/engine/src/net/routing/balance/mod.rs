//! What chooses among ports by which a packet comes equally near to its destination: one file each, one
//! line in the registry below each.
//!
//! A balancer chooses at every node that forwards; each node has one of its own, with what it remembers,
//! what it reads of its ports ([`Ports`]), and what it writes on packets for those behind it
//! ([`Packet::notes`]).
//!
//! Random numbers come from one stream a node, `stream` + node, drawn in the order in which packets come
//! to the node.

pub mod failures;
mod flowlets;
mod labelled;
mod loads;
mod rack;
mod sender;

use std::collections::BTreeMap;

use super::Origin;
use crate::base::attributes::{Attributes, Spec};
use crate::base::mix::mix;
use crate::base::rng::RngStream;
use crate::base::time::Time;
use crate::packet::Packet;

pub use ecmp::position;
pub use labelled::Labelled;
pub use sender::{
    Agents, Coming, Paths, Probe, Sender, Sending, Sent, Watch, grown, other_path_of, path_of,
};

/// A packet at a node with several paths to go; or with one, for balancers that see every hop.
#[derive(Debug)]
pub struct Choice<'a> {
    pub packet: &'a mut Packet,
    /// Where it comes from and goes to, and what it is known by.
    pub origin: Origin,
    pub now: Time,
    /// The group of ports; numbers change when links fail or come back.
    pub group: u32,
    /// The ports to choose from, in the order of links.
    pub ports: &'a [u32],
    pub all: &'a dyn Ports,
    /// Of each destination and of each node: the switch that it is behind, if it is a host, or itself.
    pub leaves_of: &'a Leaves,
}

/// The switches that hosts are behind.
#[derive(Debug, Default)]
pub struct Leaves {
    /// By [`Origin::destination`].
    pub destinations: Vec<u32>,
    /// The node itself, likewise.
    pub hosts: Vec<u32>,
    /// By node.
    pub nodes: Vec<u32>,
}

impl Choice<'_> {
    /// The packet's flow and direction in one small number.
    #[inline]
    pub fn path(&self) -> usize {
        2 * self.packet.flow as usize + usize::from(self.packet.backward)
    }

    /// The switch that the packet's host is behind.
    #[inline]
    pub fn source_leaf(&self) -> u32 {
        self.leaves_of.nodes[self.origin.node as usize]
    }

    /// The switch that the destination is behind.
    #[inline]
    pub fn destination_leaf(&self) -> u32 {
        self.leaves_of.destinations[self.origin.destination as usize]
    }
}

/// What a switch knows of its ports; port n is direction n % 2 of link n / 2.
pub trait Ports {
    /// Bytes that wait: IP packets in the discipline, and frames in the device queue.  What is being
    /// transmitted does not wait.
    fn waiting_bytes(&self, port: u32) -> u32;
    /// Bytes of the transmissions begun.
    fn sent_bytes(&self, port: u32) -> u64;
    /// In bit/s, at present.
    fn rate(&self, port: u32) -> u64;
}

crate::opaque!(Ports);

/// Chooses for one node.
pub trait Balancer: Send {
    /// The port to take, by its position in the group, which is in the order of links.
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32;

    /// With which salt it chooses [`position`], if it always does; then it need not be asked.
    fn lasting_salt(&self) -> Option<u64> {
        None
    }

    /// Whether packets with one path come to [`Balancer::pick`] as well.
    fn sees_every_hop(&self) -> bool {
        false
    }

    /// How often [`Balancer::tick`] wants to be called; never, if 0.
    fn period(&self) -> Time {
        Time::ZERO
    }

    /// A period is over.
    fn tick(&mut self, _now: Time, _ports: &dyn Ports) {}

    /// Links have failed or come back: groups have other numbers and other ports.
    fn reroute(&mut self) {}
}

crate::opaque!(Balancer);

/// What a balancer may read while it is built.
#[derive(Debug)]
pub struct BuildContext<'a> {
    pub attributes: Attributes<'a>,
    /// The node that it is for.
    pub node: u32,
    /// The ports out of the node, in the order of links.
    pub ports: &'a [u32],
    /// The first random stream, as a number for ns-3's `SetStream`, and the replication (ns-3's `RngRun`).
    pub stream: u64,
    pub run: u64,
    /// The hosts' scheme wants to know how much of links is used.
    pub has_loads: bool,
}

impl BuildContext<'_> {
    /// The node's own random numbers.
    pub fn random(&self) -> RngStream {
        RngStream::fixed(self.run, self.stream.wrapping_add(u64::from(self.node)))
    }
}

/// Where a user's balancer is at work.
#[derive(Clone, Copy, Debug)]
pub struct SwitchContext<'a> {
    pub node: u32,
    /// The ports out of the node, in the order of links.
    pub ports: &'a [u32],
}

/// What a scheme of hosts may read while it is built.
#[derive(Debug)]
pub struct HostContext<'a> {
    pub attributes: Attributes<'a>,
    /// As in [`BuildContext`].
    pub stream: u64,
    pub run: u64,
}

impl HostContext<'_> {
    /// The random numbers of all hosts.
    pub fn random(&self) -> RngStream {
        RngStream::fixed(self.run, self.stream)
    }
}

/// One path only: the first in the order of links.
pub const STATIC: Spec = Spec {
    ns3: "static",
    linux: &[],
    is_in_linux: false,
    doc: "One path between two nodes: the shortest by hops, the first in the order of links.",
    source: "ns-3's Ipv4GlobalRouting, the first route",
    departures: &[],
    params: &[],
};

macro_rules! registry {
    (
        switches { $($variant:ident = $module:ident,)* }
        hosts { $($scheme:ident = $host_module:ident,)* }
    ) => {
        $(mod $module;)*
        $(mod $host_module;)*

        /// Any balancer.
        #[derive(Debug)]
        pub enum AnyBalancer {
            $($variant($module::$variant),)*
            /// Of the schemes where hosts choose.
            Labelled(Labelled),
            /// A user's own.
            Dyn(Box<dyn Balancer>),
            /// None, at a host with one link.
            Nobody,
        }

        impl Balancer for AnyBalancer {
            #[inline]
            fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
                match self {
                    $(AnyBalancer::$variant(balancer) => balancer.pick(choice),)*
                    AnyBalancer::Labelled(balancer) => balancer.pick(choice),
                    AnyBalancer::Dyn(balancer) => balancer.pick(choice),
                    AnyBalancer::Nobody => 0,
                }
            }

            fn lasting_salt(&self) -> Option<u64> {
                match self {
                    $(AnyBalancer::$variant(balancer) => balancer.lasting_salt(),)*
                    AnyBalancer::Labelled(balancer) => balancer.lasting_salt(),
                    AnyBalancer::Dyn(_) => None,
                    // Of one port there is only one choice.
                    AnyBalancer::Nobody => Some(0),
                }
            }

            fn sees_every_hop(&self) -> bool {
                match self {
                    $(AnyBalancer::$variant(balancer) => balancer.sees_every_hop(),)*
                    AnyBalancer::Labelled(balancer) => balancer.sees_every_hop(),
                    AnyBalancer::Dyn(balancer) => balancer.sees_every_hop(),
                    AnyBalancer::Nobody => false,
                }
            }

            fn period(&self) -> Time {
                match self {
                    $(AnyBalancer::$variant(balancer) => balancer.period(),)*
                    AnyBalancer::Labelled(balancer) => balancer.period(),
                    AnyBalancer::Dyn(balancer) => balancer.period(),
                    AnyBalancer::Nobody => Time::ZERO,
                }
            }

            fn tick(&mut self, now: Time, ports: &dyn Ports) {
                match self {
                    $(AnyBalancer::$variant(balancer) => balancer.tick(now, ports),)*
                    AnyBalancer::Labelled(balancer) => balancer.tick(now, ports),
                    AnyBalancer::Dyn(balancer) => balancer.tick(now, ports),
                    AnyBalancer::Nobody => {}
                }
            }

            fn reroute(&mut self) {
                match self {
                    $(AnyBalancer::$variant(balancer) => balancer.reroute(),)*
                    AnyBalancer::Labelled(balancer) => balancer.reroute(),
                    AnyBalancer::Dyn(balancer) => balancer.reroute(),
                    AnyBalancer::Nobody => {}
                }
            }
        }

        /// Every kind of routing, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[&STATIC, $(&$module::SPEC,)* $(&$host_module::SPEC,)*];

        /// The balancer with this name; none for [`STATIC`].
        pub fn build(name: &str, cx: &BuildContext<'_>) -> Option<AnyBalancer> {
            $(if name == $module::SPEC.ns3 {
                return Some(AnyBalancer::$variant($module::$variant::new(cx)));
            })*
            $(if name == $host_module::SPEC.ns3 {
                return Some(AnyBalancer::Labelled(Labelled::new(cx)));
            })*
            None
        }

        /// The scheme of hosts with this name, if it is one.
        pub fn build_sender(name: &str, cx: &HostContext<'_>) -> Option<Box<dyn Sender>> {
            $(if name == $host_module::SPEC.ns3 {
                return Some(Box::new($host_module::$scheme::new(cx)));
            })*
            None
        }
    };
}

registry! {
    switches {
        Ecmp = ecmp,
        RandomEcmp = random,
        Drb = drb,
        LetFlow = letflow,
        Conga = conga,
        Drill = drill,
        Adaptive = adaptive,
    }
    hosts {
        Presto = presto,
        FlowBender = flowbender,
        Plb = plb,
        Reps = reps,
        Clove = clove,
        Hermes = hermes,
        XPath = xpath,
    }
}

/// What is not given and has the scenario's seed as its value.
pub const SEED: &str = "Seed";

/// Fills in a seed that was left out.
pub fn with_seed(spec: &Spec, attributes: &mut BTreeMap<String, String>, seed: u64) {
    if spec.params.iter().any(|param| param.ns3 == SEED) {
        attributes.entry(SEED.to_owned()).or_insert_with(|| seed.to_string());
    }
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
mod bench;
#[cfg(test)]
mod host_bench;

#[cfg(test)]
mod tests {
    use super::*;

    /// From 10.0.0.1:49152 to 10.0.0.6:5001.
    #[test]
    fn the_hash_of_a_flow_is_as_documented() {
        let hash = |ends: [u32; 2], protocol, ports| flow_hash(ends, protocol, ports);
        assert_eq!(hash([0x0a00_0001, 0x0a00_0006], 6, [49152, 5001]), 0x6b39_87c1_35b0_9c2c);
        assert_eq!(hash([0x0a00_0006, 0x0a00_0001], 6, [5001, 49152]), 0xbaf7_efb0_0a35_046c);
        assert_eq!(hash([0x0a00_0001, 0x0a00_0006], 1, [0, 0]), 0x5446_c00f_9870_27de);
    }
}
