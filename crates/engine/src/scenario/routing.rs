//! Static routes: the shortest path by hops, ties by link order.

/// A hop: link, and direction on it (0 forward, 1 reverse).
pub type Hop = [usize; 2];

/// Routes to any node, computed when first asked for.
pub struct Routes<'a> {
    links: &'a [[usize; 2]],
    /// Per node, the links at it in order: hop and the node it leads to.
    neighbours: Vec<Vec<(Hop, usize)>>,
    /// Per destination, the next hop from each node.
    towards: Vec<Option<Vec<Option<Hop>>>>,
}

impl<'a> Routes<'a> {
    pub fn new(nodes: usize, links: &'a [[usize; 2]]) -> Self {
        let mut neighbours = vec![Vec::new(); nodes];
        for (link, &[a, b]) in links.iter().enumerate() {
            neighbours[a].push(([link, 0], b));
            neighbours[b].push(([link, 1], a));
        }
        Routes { links, neighbours, towards: vec![None; nodes] }
    }

    /// The hops from `source` to `destination`; `None` if there is no way.
    pub fn path(&mut self, source: usize, destination: usize) -> Option<Vec<Hop>> {
        // An end system with one link is as far as its gateway and that link: with thousands of
        // them, tables are needed for the few nodes between them only.
        let mut path = Vec::new();
        let mut node = source;
        if let Some((hop, gateway)) = self.only_link(source)
            && source != destination
        {
            path.push(hop);
            node = gateway;
        }
        let (target, last_hop) = match self.only_link(destination) {
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
            let [link, direction] = next[node]?;
            path.push([link, direction]);
            node = self.links[link][1 - direction];
        }
        path.extend(last_hop);
        Some(path)
    }

    fn only_link(&self, node: usize) -> Option<(Hop, usize)> {
        match self.neighbours[node][..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Breadth first from the destination, so that every node has one next hop towards it whoever
    /// the sender is, as a routing table has.
    fn next_hops(&self, destination: usize) -> Vec<Option<Hop>> {
        let mut distance = vec![usize::MAX; self.neighbours.len()];
        distance[destination] = 0;
        let mut queue = std::collections::VecDeque::from([destination]);
        while let Some(node) = queue.pop_front() {
            for &(_, neighbour) in &self.neighbours[node] {
                if distance[neighbour] == usize::MAX {
                    distance[neighbour] = distance[node] + 1;
                    queue.push_back(neighbour);
                }
            }
        }
        let nearer = |node: usize| {
            let hops = self.neighbours[node].iter();
            let mut hops = hops.filter(|(_, to)| distance[*to] < distance[node]);
            hops.next().map(|&(hop, _)| hop)
        };
        (0..self.neighbours.len()).map(nearer).collect()
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
        let mut routes = Routes::new(5, &links);
        assert_eq!(routes.path(0, 3), Some(vec![[0, 0], [3, 0]]));
        assert_eq!(routes.path(3, 0), Some(vec![[2, 0], [1, 1]]));
        assert_eq!(routes.path(0, 0), Some(vec![]));
        assert_eq!(routes.path(0, 4), None);
    }

    #[test]
    fn end_systems_with_one_link() {
        // 0 - 1 - 2 - 3, and 4 behind 1.
        let links = [[0, 1], [2, 1], [2, 3], [4, 1]];
        let mut routes = Routes::new(6, &links);
        assert_eq!(routes.path(0, 3), Some(vec![[0, 0], [1, 1], [2, 0]]));
        assert_eq!(routes.path(0, 4), Some(vec![[0, 0], [3, 1]]));
        assert_eq!(routes.path(0, 1), Some(vec![[0, 0]]));
        assert_eq!(routes.path(1, 0), Some(vec![[0, 1]]));
        assert_eq!(routes.path(1, 3), Some(vec![[1, 1], [2, 0]]));
        assert_eq!(routes.path(0, 5), None);
        assert_eq!(routes.path(5, 0), None);
        assert_eq!(Routes::new(2, &[[0, 1]]).path(1, 0), Some(vec![[0, 1]]));
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
            let mut routes = Routes::new(8, &links);
            for (source, from_source) in distance.iter().enumerate() {
                for (destination, &length) in from_source.iter().enumerate() {
                    let Some(path) = routes.path(source, destination) else {
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
        let mut routes = Routes::new(3, &links);
        assert_eq!(routes.path(0, 2), Some(vec![[2, 0]]));
        assert_eq!(routes.path(2, 0), Some(vec![[2, 1]]));
    }
}
