//! What every node that forwards knows: for each destination the next hop, or a group of them.

use std::collections::HashMap;

use super::{Graph, Hop};

/// What a node does with a packet for some destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is there.
    Here,
    /// It leaves by this port: 2 * link + direction.
    Port(u32),
    /// It leaves by one of a group's ports: see [`Table::group`].
    Group(u32),
    /// There is no path.
    Nowhere,
}

/// [`Next`] in one word: ports, and groups with the highest bit set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextHop(u32);

impl NextHop {
    pub const HERE: NextHop = NextHop(u32::MAX);
    const NOWHERE: NextHop = NextHop(u32::MAX - 1);
    const GROUP: u32 = 1 << 31;

    pub fn port(port: u32) -> NextHop {
        NextHop(port)
    }

    /// The port's, or one that no port has.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The group, if it is one.
    #[inline]
    pub fn group(self) -> Option<u32> {
        let is_group = self.0 >= NextHop::GROUP && self.0 < NextHop::NOWHERE.0;
        is_group.then(|| self.0 - NextHop::GROUP)
    }

    #[inline]
    pub fn unpack(self) -> Next {
        match self {
            NextHop(port) if port < NextHop::GROUP => Next::Port(port),
            NextHop::HERE => Next::Here,
            NextHop::NOWHERE => Next::Nowhere,
            NextHop(group) => Next::Group(group - NextHop::GROUP),
        }
    }
}

/// Where a packet is, as the table knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An end system with this only port out of it.  It forwards nothing, so that it needs no row, and
    /// what arrives there is for it.
    Leaf(u32),
    /// A node that forwards, with its row.
    Row(u32),
}

/// How many equal-cost paths are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The first in the order of links.
    One,
    /// All of them.
    All,
    /// All of them, in a group even if there is only one: whoever chooses sees every hop.
    Grouped,
}

/// A node and its ports, as a part of all groups' ports.
#[derive(Debug)]
struct Group {
    node: u32,
    first: u32,
    end: u32,
}

/// Next hops of all nodes that forward, towards all destinations that are asked for.
///
/// An end system with one link is as far as its gateway and that link, so that a search is needed for
/// each gateway only, however many hosts there are.
#[derive(Debug)]
pub struct Table {
    /// Row by row, one entry a destination.
    next: Vec<NextHop>,
    groups: Vec<Group>,
    /// Of all groups, one after the other, each in the order of links.
    group_ports: Vec<u32>,
    places: Vec<Place>,
}

impl Table {
    /// `destinations`: the nodes that packets are for; `is_up`: whether a link is.
    pub fn new(
        graph: &Graph,
        destinations: &[u32],
        width: Width,
        is_up: impl Fn(usize) -> bool,
    ) -> Self {
        let width_of_row = destinations.len();
        let mut routers = Vec::new();
        let mut places = Vec::with_capacity(graph.nodes());
        for node in 0..graph.nodes() {
            places.push(match graph.only_link(node) {
                Some((hop, _)) => Place::Leaf(port(hop)),
                None => {
                    routers.push(node);
                    Place::Row(((routers.len() - 1) * width_of_row) as u32)
                }
            });
        }
        let mut table = Table {
            next: vec![NextHop::NOWHERE; routers.len() * width_of_row],
            groups: Vec::new(),
            group_ports: Vec::new(),
            places,
        };
        let mut known = HashMap::new();
        // What each router does with packets for a gateway.
        let mut towards: HashMap<usize, Vec<NextHop>> = HashMap::new();
        for (column, &destination) in destinations.iter().enumerate() {
            let destination = destination as usize;
            let (target, last) = match graph.only_link(destination) {
                Some(([link, _], _)) if !is_up(link) => continue,
                Some(([link, direction], gateway)) => (gateway, Some(port([link, 1 - direction]))),
                None => (destination, None),
            };
            let entries = towards.entry(target).or_insert_with(|| {
                let distance = graph.distances(target, &is_up);
                let entry = |&node: &usize| {
                    let nearer = |&&([link, _], to): &&(Hop, usize)| {
                        is_up(link) && distance[node] != usize::MAX && distance[to] < distance[node]
                    };
                    let mut ports = graph.neighbours(node).iter().filter(nearer);
                    let first = ports.next().map(|&(hop, _)| port(hop));
                    let all = || first.into_iter().chain(ports.map(|&(hop, _)| port(hop)));
                    match (first, width) {
                        (None, _) => NextHop::NOWHERE,
                        (Some(first), Width::One) => NextHop(first),
                        (Some(_), _) => table.entry(node, all().collect(), width, &mut known),
                    }
                };
                routers.iter().map(entry).collect()
            });
            for (row, (&router, &entry)) in routers.iter().zip(entries.iter()).enumerate() {
                table.next[row * width_of_row + column] = match last {
                    None if router == target => NextHop::HERE,
                    Some(last) if router == target => {
                        table.entry(router, vec![last], width, &mut known)
                    }
                    _ => entry,
                };
            }
        }
        table
    }

    fn entry(
        &mut self,
        node: usize,
        ports: Vec<u32>,
        width: Width,
        known: &mut HashMap<Vec<u32>, u32>,
    ) -> NextHop {
        if let ([only], Width::One | Width::All) = (&ports[..], width) {
            return NextHop(*only);
        }
        let group = *known.entry(ports).or_insert_with_key(|ports| {
            let first = self.group_ports.len() as u32;
            self.group_ports.extend_from_slice(ports);
            let end = self.group_ports.len() as u32;
            self.groups.push(Group { node: node as u32, first, end });
            self.groups.len() as u32 - 1
        });
        NextHop(NextHop::GROUP | group)
    }

    /// What the node with `row` does with a packet for the `destination` with this position.
    #[inline]
    pub fn next(&self, row: u32, destination: u32) -> Next {
        self.next_hop(row, destination).unpack()
    }

    /// The same in one word.
    #[inline]
    pub fn next_hop(&self, row: u32, destination: u32) -> NextHop {
        self.next[(row + destination) as usize]
    }

    /// The node that a group belongs to, and its ports.
    #[inline]
    pub fn group(&self, group: u32) -> (u32, &[u32]) {
        let &Group { node, first, end } = &self.groups[group as usize];
        (node, &self.group_ports[first as usize..end as usize])
    }

    /// Where a packet at `node` is.
    pub fn place(&self, node: usize) -> Place {
        self.places[node]
    }
}

/// The number of the port that sends into a direction of a link.
fn port([link, direction]: Hop) -> u32 {
    (2 * link + direction) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::routing::Paths;
    use proptest::prelude::*;

    /// All ports by which packets for `destination` may leave `node`.
    fn ports(table: &Table, node: usize, destination: u32) -> Vec<u32> {
        match table.place(node) {
            Place::Leaf(port) => vec![port],
            Place::Row(row) => match table.next(row, destination) {
                Next::Port(port) => vec![port],
                Next::Group(group) => table.group(group).1.to_vec(),
                Next::Here | Next::Nowhere => vec![],
            },
        }
    }

    #[test]
    fn equally_short_ways_are_a_group_in_the_order_of_links() {
        // Two hosts behind 0 and 3 of a square whose upper side is a double link.
        let links = [[0, 1], [0, 2], [1, 3], [1, 3], [2, 3], [4, 0], [5, 3]];
        let graph = Graph::new(6, links);
        let all = Table::new(&graph, &[5, 4], Width::All, |_| true);
        assert_eq!(ports(&all, 0, 0), [0, 2]);
        assert_eq!(ports(&all, 1, 0), [4, 6]);
        assert_eq!(ports(&all, 3, 0), [13]);
        assert_eq!(ports(&all, 3, 1), [5, 7, 9]);
        let one = Table::new(&graph, &[5, 4], Width::One, |_| true);
        assert_eq!(ports(&one, 0, 0), [0]);
        let broken = Table::new(&graph, &[5, 4], Width::All, |link| link != 0 && link != 5);
        assert_eq!(ports(&broken, 0, 0), [2]);
        assert_eq!(ports(&broken, 1, 0), [4, 6]);
        assert_eq!(ports(&broken, 0, 1), [0; 0], "its only link is down");
    }

    fn graphs() -> impl Strategy<Value = Vec<[usize; 2]>> {
        let link =
            (0usize..8, 0usize..8).prop_filter_map("a loop", |(a, b)| (a != b).then_some([a, b]));
        prop::collection::vec(link, 1..16)
    }

    proptest! {
        /// Whatever is chosen at each node, a packet arrives after as many hops as the distance says:
        /// no path has a loop, and none is longer than another.
        #[test]
        fn every_way_is_a_shortest_path(links in graphs(), down in prop::collection::vec(any::<bool>(), 16)) {
            let graph = Graph::new(8, links.iter().copied());
            let is_up = |link: usize| !down[link];
            let destinations: Vec<u32> = (0..8).collect();
            let table = Table::new(&graph, &destinations, Width::All, is_up);
            for &to in &destinations {
                let distance = graph.distances(to as usize, is_up);
                for node in (0..8).filter(|&node| matches!(table.place(node), Place::Row(_))) {
                    let nearer = ports(&table, node, to);
                    let is_reached = distance[node] != usize::MAX;
                    prop_assert_eq!(nearer.is_empty(), node == to as usize || !is_reached);
                    for port in nearer {
                        let (link, direction) = (port as usize / 2, port as usize % 2);
                        prop_assert!(is_up(link));
                        prop_assert_eq!(links[link][direction], node);
                        prop_assert_eq!(distance[links[link][1 - direction]] + 1, distance[node]);
                    }
                }
            }
        }

        /// With one path, it is the path that the scenario's flows are told.
        #[test]
        fn the_first_ways_are_the_paths(links in graphs()) {
            let graph = Graph::new(8, links.iter().copied());
            let destinations: Vec<u32> = (0..8).collect();
            let table = Table::new(&graph, &destinations, Width::One, |_| true);
            let mut paths = Paths::new(8, &links);
            for source in 0..8 {
                for to in 0..8usize {
                    let Some(path) = paths.between(source, to) else { continue };
                    let mut node = source;
                    for [link, direction] in path {
                        prop_assert_eq!(ports(&table, node, to as u32), [port([link, direction])]);
                        node = links[link][1 - direction];
                    }
                    prop_assert_eq!(node, to);
                }
            }
        }
    }
}
