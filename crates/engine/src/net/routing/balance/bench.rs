//! One balancer on a bench: a node with as many ports as a test wants, whose queues it fills.

use super::{AnyBalancer, Balancer, BuildContext, Choice, Leaves, Ports, SPECS, build};
use crate::base::attributes::Attributes;
use crate::base::time::Time;
use crate::net::routing::Origin;
use crate::packet::Packet;

/// Ports that are what a test says.
#[derive(Debug, Default)]
pub struct Given {
    pub waiting: Vec<u32>,
    pub sent: Vec<u64>,
    pub rates: Vec<u64>,
}

impl Ports for Given {
    fn waiting_bytes(&self, port: u32) -> u32 {
        self.waiting[port as usize / 2]
    }

    fn sent_bytes(&self, port: u32) -> u64 {
        self.sent[port as usize / 2]
    }

    fn rate(&self, port: u32) -> u64 {
        self.rates[port as usize / 2]
    }
}

/// A balancer at node 0, whose ports are the forward directions of the first links.
#[derive(Debug)]
pub struct Bench {
    pub balancer: AnyBalancer,
    pub given: Given,
    pub now: Time,
    ports: Vec<u32>,
}

impl Bench {
    /// With these attributes, and so many ports of 10 Gbit/s.
    pub fn new(name: &str, attributes: &[(&str, &str)], ports: usize) -> Bench {
        let spec = SPECS.iter().find(|spec| spec.ns3 == name).expect("a registered balancer");
        let given = attributes.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let given = given.collect();
        let attributes = Attributes::new(spec, &given);
        let numbers: Vec<u32> = (0..ports as u32).map(|i| 2 * i).collect();
        let cx = BuildContext {
            attributes,
            node: 0,
            ports: &numbers,
            stream: 7,
            run: 1,
            has_loads: false,
        };
        let balancer = build(name, &cx).expect("it chooses");
        let given = Given {
            waiting: vec![0; ports],
            sent: vec![0; ports],
            rates: vec![10_000_000_000; ports],
        };
        Bench { balancer, given, now: Time(1_000), ports: numbers }
    }

    pub fn advance(&mut self, ns: u64) {
        self.now = Time(self.now.0 + ns);
    }

    pub fn set_waiting(&mut self, bytes: &[u32]) {
        self.given.waiting = bytes.to_vec();
    }

    /// The ports' numbers.
    pub fn numbers(&self) -> Vec<u32> {
        self.ports.clone()
    }

    /// Only the first ports are left.
    pub fn set_ports(&mut self, ports: usize) {
        self.ports.truncate(ports);
        self.balancer.reroute();
    }

    /// The port of a packet of `flow`; flows 2n and 2n + 1 are between the same hosts.
    pub fn pick(&mut self, flow: u32) -> u32 {
        let origin = Origin { node: 100 + flow / 2, destination: 0, hash: u64::from(flow) };
        let mut packet = Packet { flow, ip_bytes: 1500, ..Packet::default() };
        self.balancer.pick(&mut Choice {
            packet: &mut packet,
            origin,
            now: self.now,
            group: 0,
            ports: &self.ports,
            all: &self.given,
            leaves_of: &Leaves::default(),
        })
    }
}
