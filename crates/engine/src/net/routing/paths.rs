//! One path between two nodes: the shortest by hops, ties by link order.

use super::{Graph, Hop};

/// Paths to any node, computed when first asked for.
#[derive(Debug)]
pub struct Paths {
    graph: Graph,
    /// Per hop, where it leads: by link and direction.
    ends: Vec<[usize; 2]>,
    /// Per destination, the next hop from each node.
    towards: Vec<Option<Box<[NextHop]>>>,
}

/// Where a node sends to, or that it cannot: four bytes, for there is one for each node and destination.
#[derive(Clone, Copy, Debug)]
struct NextHop(u32);

impl NextHop {
    const NONE: u32 = u32::MAX;

    fn new(hop: Option<Hop>) -> Self {
        NextHop(hop.map_or(Self::NONE, |[link, direction]| (2 * link + direction) as u32))
    }

    fn hop(self) -> Option<Hop> {
        (self.0 != Self::NONE).then_some([self.0 as usize / 2, self.0 as usize % 2])
    }
}

impl Paths {
    /// `links`: the ends of each.
    pub fn new(nodes: usize, links: &[[usize; 2]]) -> Self {
        let graph = Graph::new(nodes, links.iter().copied());
        Paths { graph, ends: links.to_vec(), towards: vec![None; nodes] }
    }

    /// The hops from `source` to `destination`; `None` if there is no path.
    pub fn between(&mut self, source: usize, destination: usize) -> Option<Vec<Hop>> {
        // An end system with one link is as far as its gateway and that link: with thousands of
        // them, tables are needed for the few nodes between them only.
        let mut path = Vec::new();
        let mut node = source;
        if let Some((hop, gateway)) = self.graph.only_link(source)
            && source != destination
        {
            path.push(hop);
            node = gateway;
        }
        let (target, last_hop) = match self.graph.only_link(destination) {
            Some(([link, direction], gateway)) if node != destination => {
                (gateway, Some([link, 1 - direction]))
            }
            _ => (destination, None),
        };
        if self.towards[target].is_none() {
            self.towards[target] = Some(self.next_hops(target));
        }
        let next = self.towards[target].as_ref()?;
        while node != target {
            let [link, direction] = next[node].hop()?;
            path.push([link, direction]);
            node = self.ends[link][1 - direction];
        }
        path.extend(last_hop);
        Some(path)
    }

    /// Every node has one next hop towards the destination whoever the sender is, as a routing table has.
    fn next_hops(&self, destination: usize) -> Box<[NextHop]> {
        let distance = self.graph.distances(destination, |_| true);
        let nearer = |node: usize| {
            let mut hops = self.graph.neighbours(node).iter();
            hops.find(|(_, to)| distance[*to] < distance[node]).map(|&(hop, _)| hop)
        };
        (0..self.graph.nodes()).map(nearer).map(NextHop::new).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_of_equally_short_paths() {
        // A square 0-1-3, 0-2-3; the link 0-2 comes before 0-1.
        let links = [[0, 2], [0, 1], [3, 1], [2, 3]];
        let mut paths = Paths::new(5, &links);
        assert_eq!(paths.between(0, 3), Some(vec![[0, 0], [3, 0]]));
        assert_eq!(paths.between(3, 0), Some(vec![[2, 0], [1, 1]]));
        assert_eq!(paths.between(0, 0), Some(vec![]));
        assert_eq!(paths.between(0, 4), None);
    }

    #[test]
    fn end_systems_with_one_link() {
        // 0 - 1 - 2 - 3, and 4 behind 1.
        let links = [[0, 1], [2, 1], [2, 3], [4, 1]];
        let mut paths = Paths::new(6, &links);
        assert_eq!(paths.between(0, 3), Some(vec![[0, 0], [1, 1], [2, 0]]));
        assert_eq!(paths.between(0, 4), Some(vec![[0, 0], [3, 1]]));
        assert_eq!(paths.between(0, 1), Some(vec![[0, 0]]));
        assert_eq!(paths.between(1, 0), Some(vec![[0, 1]]));
        assert_eq!(paths.between(1, 3), Some(vec![[1, 1], [2, 0]]));
        assert_eq!(paths.between(0, 5), None);
        assert_eq!(paths.between(5, 0), None);
        assert_eq!(Paths::new(2, &[[0, 1]]).between(1, 0), Some(vec![[0, 1]]));
    }

    proptest! {
        /// In any graph: there is a path where the distance is finite, it has that length, starts
        /// and ends where it should, and takes the first of the links that lead nearer.
        #[test]
        fn paths_are_shortest_by_the_first_links(
            links in prop::collection::vec((0usize..8, 0usize..8), 0..14)
        ) {
            let links: Vec<_> = links.iter().filter(|(a, b)| a != b).map(|&(a, b)| [a, b]).collect();
            let distance = all_distances(8, &links);
            let mut paths = Paths::new(8, &links);
            for (source, from_source) in distance.iter().enumerate() {
                for (destination, &length) in from_source.iter().enumerate() {
                    let Some(path) = paths.between(source, destination) else {
                        prop_assert_eq!(length, usize::MAX);
                        continue;
                    };
                    prop_assert_eq!(path.len(), length);
                    let mut node = source;
                    for [link, direction] in path {
                        prop_assert_eq!(links[link][direction], node);
                        // The first of the links that lead nearer.
                        let nearer = |to: usize| distance[to][destination] < distance[node][destination];
                        let leads_nearer =
                            |&[a, b]: &[usize; 2]| a == node && nearer(b) || b == node && nearer(a);
                        prop_assert_eq!(links.iter().position(leads_nearer), Some(link));
                        node = links[link][1 - direction];
                    }
                    prop_assert_eq!(node, destination);
                }
            }
        }
    }

    /// Floyd and Warshall's algorithm.
    fn all_distances(nodes: usize, links: &[[usize; 2]]) -> Vec<Vec<usize>> {
        let mut distance = vec![vec![usize::MAX; nodes]; nodes];
        (0..nodes).for_each(|node| distance[node][node] = 0);
        for &[a, b] in links {
            (distance[a][b], distance[b][a]) = (1, 1);
        }
        for via in 0..nodes {
            for a in 0..nodes {
                for b in 0..nodes {
                    let detour = distance[a][via].saturating_add(distance[via][b]);
                    distance[a][b] = distance[a][b].min(detour);
                }
            }
        }
        distance
    }

    #[test]
    fn fewer_hops_win_over_earlier_links() {
        let links = [[0, 1], [1, 2], [0, 2], [0, 2]];
        let mut paths = Paths::new(3, &links);
        assert_eq!(paths.between(0, 2), Some(vec![[2, 0]]));
        assert_eq!(paths.between(2, 0), Some(vec![[2, 1]]));
    }
}
