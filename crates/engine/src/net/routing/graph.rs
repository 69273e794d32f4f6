//! Nodes and the links between them.

use std::collections::VecDeque;

/// A hop: link, and direction on it (0 forward, 1 reverse).
pub type Hop = [usize; 2];

/// Which links are at which node.
#[derive(Debug)]
pub struct Graph {
    /// Per node, the links at it in order: hop and the node it leads to.
    neighbours: Vec<Vec<(Hop, usize)>>,
}

impl Graph {
    /// `links`: the ends of each.
    pub fn new(nodes: usize, links: impl IntoIterator<Item = [usize; 2]>) -> Self {
        let mut neighbours = vec![Vec::new(); nodes];
        for (link, [a, b]) in links.into_iter().enumerate() {
            neighbours[a].push(([link, 0], b));
            neighbours[b].push(([link, 1], a));
        }
        Graph { neighbours }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.neighbours.len()
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.neighbours.iter().map(Vec::len).sum::<usize>() / 2
    }

    /// The hops out of a node in the order of links, each with the node it leads to.
    pub fn neighbours(&self, node: usize) -> &[(Hop, usize)] {
        &self.neighbours[node]
    }

    /// The link of an end system that has no other one, and the node behind it: its gateway.
    pub fn only_link(&self, node: usize) -> Option<(Hop, usize)> {
        match self.neighbours[node][..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The distance of every node from `destination` in hops over links that are up; `usize::MAX` where
    /// there is no path.
    pub fn distances(&self, destination: usize, is_up: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut distance = vec![usize::MAX; self.neighbours.len()];
        distance[destination] = 0;
        let mut queue = VecDeque::from([destination]);
        while let Some(node) = queue.pop_front() {
            for &([link, _], neighbour) in &self.neighbours[node] {
                if is_up(link) && distance[neighbour] == usize::MAX {
                    distance[neighbour] = distance[node] + 1;
                    queue.push_back(neighbour);
                }
            }
        }
        distance
    }
}
