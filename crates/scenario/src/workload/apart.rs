//! Nodes of which each node may have to do with some only: not with itself, nor with others of its set.

use std::collections::HashMap;

/// A list of nodes; in what follows, those of it that are apart from a node.  With a list for each of thousands of nodes
/// they would be millions, so only the places of the others are known.
#[derive(Debug)]
pub struct Apart<'a> {
    nodes: &'a [usize],
    sets: &'a [Option<usize>],
    /// By set, the places of its nodes in the list; and by node, of those that are in none.
    of_set: HashMap<usize, Vec<usize>>,
    of_node: HashMap<usize, Vec<usize>>,
}

impl<'a> Apart<'a> {
    /// `sets`: for each node, which one it is in.
    pub fn new(nodes: &'a [usize], sets: &'a [Option<usize>]) -> Self {
        let (mut of_set, mut of_node) = (HashMap::new(), HashMap::new());
        for (place, &node) in nodes.iter().enumerate() {
            let places: &mut Vec<_> = match sets[node] {
                Some(set) => of_set.entry(set).or_default(),
                None => of_node.entry(node).or_default(),
            };
            places.push(place);
        }
        Apart { nodes, sets, of_set, of_node }
    }

    /// The places of those that are not apart from a node, in order.
    fn others(&self, node: usize) -> &[usize] {
        let places = match self.sets[node] {
            Some(set) => self.of_set.get(&set),
            None => self.of_node.get(&node),
        };
        places.map_or(&[], |places| places)
    }

    pub fn count(&self, node: usize) -> usize {
        self.nodes.len() - self.others(node).len()
    }

    /// The one at `index`, in the order of the list.
    pub fn get(&self, node: usize, index: usize) -> usize {
        let others = self.others(node);
        // Before each of the others there are as many that count as its place says, less the others before it.
        let (mut low, mut high) = (0, others.len());
        while low < high {
            let middle = (low + high) / 2;
            if others[middle] - middle <= index {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.nodes[index + low]
    }

    /// All of them, in the order of the list.
    pub fn iter(&self, node: usize) -> impl Iterator<Item = usize> {
        (0..self.count(node)).map(move |index| self.get(node, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn those_of_other_sets_are_apart_and_oneself_is_not(
            nodes in prop::collection::vec(0_usize..12, 0..30),
            sets in prop::collection::vec(prop::option::of(0_usize..4), 12),
        ) {
            let apart = Apart::new(&nodes, &sets);
            for node in 0..12 {
                let may = |&&other: &&usize| {
                    other != node && (sets[node].is_none() || sets[node] != sets[other])
                };
                let expected: Vec<_> = nodes.iter().filter(may).copied().collect();
                prop_assert_eq!(apart.count(node), expected.len());
                prop_assert_eq!(apart.iter(node).collect::<Vec<_>>(), expected);
            }
        }
    }
}
