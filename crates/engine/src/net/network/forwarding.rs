//! From node to node: what every node does with a packet, and what a failed link changes.

use super::steering::{Leaving, Steering};
use crate::base::event::EventQueue;
use crate::base::fetch::fetch;
use crate::base::time::Time;
use crate::net::routing::balance::failures::FailedPath;
use crate::net::routing::balance::{AnyBalancer, Balancer, Choice, Leaves, Paths, Ports, position};
use crate::net::routing::{Graph, Next, NextHop, Origin, Place, Table, Width};
use crate::packet::{Carried, Packet};

/// Routing tables of all nodes.
#[derive(Debug)]
pub struct Forwarding {
    table: Table,
    origins: Vec<[Origin; 2]>,
    /// One a node, if there may be several paths.
    balancers: Vec<AnyBalancer>,
    /// Theirs, in a row, if what all of them choose lasts; or else none.
    salts: Vec<u64>,
    /// How often they want to be called; never, if 0.
    period: Time,
    leaves: Leaves,
    /// If hosts choose the paths.
    steering: Option<Box<Steering>>,
    graph: Graph,
    /// The nodes that packets are for.
    destinations: Vec<u32>,
    /// By link.
    is_down: Vec<bool>,
    is_any_down: bool,
    /// Links are down, hosts choose, or packets carry their paths.
    is_first_hop_special: bool,
    /// Of each flow, there and back, if packets carry their paths; or else none.
    carried: Vec<[Carried; 2]>,
}

impl Forwarding {
    /// `balancers`: one a node, or none for one path between two nodes; `origins`: of each flow, there
    /// and back.
    pub fn new(
        graph: Graph,
        destinations: Vec<u32>,
        origins: Vec<[Origin; 2]>,
        balancers: Vec<AnyBalancer>,
        steering: Option<Steering>,
    ) -> Self {
        let is_down = vec![false; graph.links()];
        let table = Table::new(&graph, &destinations, width(&balancers), |_| true);
        let leaf = |node: usize| graph.only_link(node).map_or(node, |(_, gateway)| gateway) as u32;
        let leaves = if balancers.is_empty() {
            Leaves::default()
        } else {
            Leaves {
                destinations: destinations.iter().map(|&node| leaf(node as usize)).collect(),
                hosts: destinations.clone(),
                nodes: (0..graph.nodes()).map(leaf).collect(),
            }
        };
        Forwarding {
            table,
            origins,
            salts: balancers
                .iter()
                .map(Balancer::lasting_salt)
                .collect::<Option<_>>()
                .unwrap_or_default(),
            period: balancers.iter().map(Balancer::period).max().unwrap_or(Time::ZERO),
            balancers,
            leaves,
            is_first_hop_special: steering.is_some(),
            steering: steering.map(Box::new),
            graph,
            destinations,
            is_down,
            is_any_down: false,
            carried: Vec::new(),
        }
    }

    /// Whether hosts choose the paths.
    pub fn is_steered(&self) -> bool {
        self.steering.is_some()
    }

    /// How often hosts probe; never, if 0.
    pub fn probe_period(&self) -> Time {
        self.steering.as_ref().map_or(Time::ZERO, |steering| steering.period())
    }

    /// Packets and bytes of probes so far; none if nobody probes.
    pub fn probing(&self) -> Option<[u64; 2]> {
        let steering = self.steering.as_ref().filter(|steering| steering.period() > Time::ZERO);
        steering.map(|steering| steering.probing())
    }

    /// The paths that hosts found to have failed.
    pub fn failed_paths(&self) -> &[FailedPath] {
        self.steering.as_ref().map_or(&[], |steering| steering.failed())
    }

    /// The ports of all hosts.
    pub fn host_ports(&self) -> impl Iterator<Item = u32> {
        let hops = (0..self.graph.nodes()).filter_map(|node| self.graph.only_link(node));
        hops.map(|([link, direction], _)| (2 * link + direction) as u32)
    }

    /// The probes that are due.
    pub fn probes(&mut self, now: Time, ports: &dyn Ports) -> Vec<Packet> {
        let Some(mut steering) = self.steering.take() else { return Vec::new() };
        let find = |leaf, destination| self.paths(leaf, destination, ports);
        let probes = steering.probes(now, &self.leaves, &self.origins, find);
        self.steering = Some(steering);
        probes
    }

    /// A packet has come to its host: see [`Steering::receive`].
    pub fn notice_arrival(&mut self, packet: &Packet, now: Time) -> Result<(), Option<Packet>> {
        let Some(steering) = &mut self.steering else { return Ok(()) };
        let answered = self.origins[packet.flow as usize][usize::from(!packet.backward)];
        steering.receive(packet, answered, now, &self.leaves)
    }

    /// A host writes on a packet of its own which path it takes.
    fn steer(&mut self, packet: &mut Packet, origin: Origin, now: Time, ports: &dyn Ports) {
        let Some(mut steering) = self.steering.take() else { return };
        let rate = ports.rate(self.first_port(origin.node));
        let leaving = Leaving { origin, now, rate, leaves: &self.leaves };
        steering.send(packet, &leaving, |leaf, to| self.paths(leaf, to, ports));
        self.steering = Some(steering);
    }

    /// The paths from a switch to a destination, by their numbers.
    fn paths(&self, leaf: u32, destination: u32, ports: &dyn Ports) -> Paths {
        let (first, count) = self.path(leaf, destination, 0, ports);
        let rest = (1..count).map(|number| self.path(leaf, destination, number, ports).0);
        Paths { rates: std::iter::once(first).chain(rest).collect() }
    }

    /// The least rate between switches on a path, and how many such paths there are.
    fn path(&self, leaf: u32, destination: u32, number: u32, ports: &dyn Ports) -> (u64, u32) {
        let (mut node, mut rest, mut count, mut least) = (leaf as usize, number, 1, u64::MAX);
        while let Place::Row(row) = self.table.place(node) {
            let port = match self.table.next(row, destination) {
                Next::Port(port) => port,
                Next::Group(group) => {
                    let group = self.table.group(group).1;
                    let paths = group.len() as u32;
                    count = (count * paths).min(Self::MOST_PATHS);
                    let port = group[(rest % paths) as usize];
                    rest /= paths;
                    port
                }
                Next::Here | Next::Nowhere => break,
            };
            let hop = [port as usize / 2, port as usize % 2];
            let found = self.graph.neighbours(node).iter().find(|&&(other, _)| other == hop);
            let Some(&(_, next)) = found else { break };
            if matches!(self.table.place(next), Place::Row(_)) {
                least = least.min(ports.rate(port));
            }
            node = next;
        }
        (least, count)
    }

    /// What fits on a packet.
    const MOST_PATHS: u32 = 65_535;

    /// How often balancers want to be called; never, if 0.
    pub fn period(&self) -> Time {
        self.period
    }

    /// A period is over, for all nodes in order.
    pub fn tick(&mut self, now: Time, ports: &dyn Ports) {
        self.balancers.iter_mut().for_each(|balancer| balancer.tick(now, ports));
    }

    /// Where a packet at `node` is.
    pub fn place(&self, node: usize) -> Place {
        self.table.place(node)
    }

    #[inline]
    pub fn origin(&self, packet: &Packet) -> Origin {
        self.origins[packet.flow as usize][usize::from(packet.backward)]
    }

    /// What is sent in either direction of its flow will be needed soon.
    #[inline]
    pub fn fetch_origin(&self, packet: &Packet) {
        self.origins.get(packet.flow as usize).into_iter().for_each(fetch);
    }

    /// Where an answer to a packet starts, and where it goes.
    pub fn answering(&self, packet: &Packet) -> Origin {
        self.origins[packet.flow as usize][usize::from(!packet.backward)]
    }

    /// What starts there has the next number.
    pub fn add_origin(&mut self, origin: Origin) {
        self.origins.push([origin; 2]);
    }

    /// What the node with `row` does with a packet of its own.
    pub fn first_of(&self, row: u32, destination: u32) -> Next {
        match self.table.next(row, destination) {
            Next::Group(group) => Next::Port(self.table.group(group).1[0]),
            one => one,
        }
    }

    /// What a host does with a packet of its own.
    #[inline]
    pub fn first_hop(
        &mut self,
        packet: &mut Packet,
        origin: Origin,
        events: &EventQueue,
        ports: &dyn Ports,
    ) -> Next {
        if self.is_first_hop_special {
            if let Some(both) = self.carried.get(packet.flow as usize) {
                packet.notes = both[usize::from(packet.backward)].0;
            } else if self.has_path(origin) {
                self.steer(packet, origin, events.now().time, ports);
            } else {
                return Next::Nowhere;
            }
        }
        self.usual_first_hop(origin)
    }

    /// The same while that is nothing special.
    #[inline]
    pub fn usual_first_hop(&self, origin: Origin) -> Next {
        match self.table.place(origin.node as usize) {
            Place::Leaf(port) => Next::Port(port),
            // Hosts with several links have one path each: `ccperf_scenario::routing` sees to it.
            Place::Row(row) => self.table.next(row, origin.destination),
        }
    }

    /// Whether a packet would get anywhere.
    pub fn has_path(&self, origin: Origin) -> bool {
        !self.is_any_down || self.reaches(origin)
    }

    /// Links are down, hosts choose the paths, or packets carry them.
    #[inline]
    pub fn is_first_hop_special(&self) -> bool {
        self.is_first_hop_special
    }

    /// Whether what a node does with a packet is the same whenever it comes, unless links fail.
    pub fn is_lasting(&self) -> bool {
        !self.is_steered() && self.salts.len() == self.balancers.len()
    }

    /// What the node with `row` will do with a packet, if that lasts.
    #[inline(always)] // on every hop
    pub fn ahead(&self, row: u32, packet: &Packet) -> NextHop {
        let next = self.table.next_hop(row, packet.destination);
        next.group().map_or(next, |group| self.lasting_choice(group, packet))
    }

    #[inline(never)] // dumbbells have none
    fn lasting_choice(&self, group: u32, packet: &Packet) -> NextHop {
        let (node, ports) = self.table.group(group);
        let origin = &self.origins[packet.flow as usize][usize::from(packet.backward)];
        let chosen = position(origin.hash, self.salts[node as usize], ports.len());
        NextHop::port(ports[chosen as usize])
    }

    /// Finds what packets carry if every choice among several paths lasts, every flow has a path, and it fits.
    /// `leads_to`: by port.  Returns whether they do.
    pub fn lay_paths(&mut self, leads_to: impl Fn(u32) -> Place) -> bool {
        if self.salts.is_empty() || !self.is_lasting() {
            return false;
        }
        let of_flow = |(flow, both): (usize, &[Origin; 2])| {
            let [there, back] = [0, 1].map(|direction| {
                let origin = &both[direction];
                let packet = Packet {
                    flow: flow as u32,
                    backward: direction == 1,
                    destination: origin.destination,
                    ..Packet::default()
                };
                self.carried_by(&packet, *origin, &leads_to)
            });
            Some([there?, back?])
        };
        let found: Option<Vec<_>> = self.origins.iter().enumerate().map(of_flow).collect();
        self.carried = found.unwrap_or_default();
        self.is_first_hop_special |= !self.carried.is_empty();
        !self.carried.is_empty()
    }

    fn carried_by(
        &self,
        packet: &Packet,
        origin: Origin,
        leads_to: impl Fn(u32) -> Place,
    ) -> Option<Carried> {
        let Next::Port(mut last) = self.usual_first_hop(origin) else { return None };
        let mut is_broken = false;
        let ports = std::iter::from_fn(|| {
            let Place::Row(row) = leads_to(last) else { return None };
            match self.ahead(row, packet).unpack() {
                Next::Port(port) => last = port,
                Next::Here => return None,
                Next::Group(_) | Next::Nowhere => {
                    is_broken = true;
                    return None;
                }
            }
            Some(last)
        });
        let path = Carried::over(ports)?;
        (!is_broken).then_some(path)
    }

    /// What the node with `row` does with a packet.
    #[inline]
    pub fn at(&mut self, row: u32, packet: &mut Packet, now: Time, ports: &dyn Ports) -> Next {
        match self.table.next(row, packet.destination) {
            Next::Group(group) => self.choose(group, packet, now, ports),
            one => one,
        }
    }

    fn choose(&mut self, group: u32, packet: &mut Packet, now: Time, all: &dyn Ports) -> Next {
        let (node, ports) = self.table.group(group);
        let origin = self.origins[packet.flow as usize][usize::from(packet.backward)];
        let leaves_of = &self.leaves;
        let mut choice = Choice { packet, origin, now, group, ports, all, leaves_of };
        Next::Port(ports[self.balancers[node as usize].pick(&mut choice) as usize])
    }

    /// Whether there is a path for what starts there.
    fn reaches(&self, origin: Origin) -> bool {
        let node = origin.node as usize;
        let (row, gateway) = match (self.table.place(node), self.graph.only_link(node)) {
            (Place::Row(row), _) => (Some(row), node),
            (Place::Leaf(_), Some(([link, _], _))) if self.is_down[link] => return false,
            (Place::Leaf(_), Some((_, gateway))) => match self.table.place(gateway) {
                Place::Row(row) => (Some(row), gateway),
                Place::Leaf(_) => (None, gateway),
            },
            (Place::Leaf(_), None) => return false,
        };
        match row {
            Some(row) => self.table.next(row, origin.destination) != Next::Nowhere,
            None => gateway == self.destinations[origin.destination as usize] as usize,
        }
    }

    /// The first port of a host, which stands for it where there is no other.
    pub fn first_port(&self, node: u32) -> u32 {
        let ([link, direction], _) = self.graph.neighbours(node as usize)[0];
        (2 * link + direction) as u32
    }

    /// Links fail or come back, and every table is right at once.
    pub fn reroute(&mut self, down: &[usize], up: &[usize]) {
        down.iter().for_each(|&link| self.is_down[link] = true);
        up.iter().for_each(|&link| self.is_down[link] = false);
        self.is_any_down = self.is_down.contains(&true);
        self.is_first_hop_special = self.is_any_down || self.is_steered();
        let width = width(&self.balancers);
        self.table = Table::new(&self.graph, &self.destinations, width, |link| !self.is_down[link]);
        self.balancers.iter_mut().for_each(Balancer::reroute);
        if let Some(steering) = &mut self.steering {
            steering.reroute();
        }
    }
}

fn width(balancers: &[AnyBalancer]) -> Width {
    if balancers.is_empty() {
        Width::One
    } else if balancers.iter().any(Balancer::sees_every_hop) {
        Width::Grouped
    } else {
        Width::All
    }
}
