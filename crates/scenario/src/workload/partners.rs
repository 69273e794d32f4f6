//! Whom a node may send to, or hear from: of a list of nodes all but itself, or but those of its set.

use std::collections::HashMap;

/// Of a list of nodes the partners of any node.  A list for each of thousands would be millions long, so only the places of
/// those that are none are known.
#[derive(Debug)]
pub struct Partners<'a> {
    nodes: &'a [usize],
    sets: &'a [Option<usize>],
    /// By set, the places of its nodes in the list; and by node, of those that are in none.
    of_set: HashMap<usize, Vec<usize>>,
    of_node: HashMap<usize, Vec<usize>>,
}

impl<'a> Partners<'a> {
    /// `sets`: for each node, which of those that keep apart it is in.
    pub fn new(nodes: &'a [usize], sets: &'a [Option<usize>]) -> Self {
        let (mut of_set, mut of_node) = (HashMap::new(), HashMap::new());
        for (place, &node) in nodes.iter().enumerate() {
            let places: &mut Vec<_> = match sets[node] {
                Some(set) => of_set.entry(set).or_default(),
                None => of_node.entry(node).or_default(),
            };
            places.push(place);
        }
        Partners { nodes, sets, of_set, of_node }
    }

    /// The places of those that are no partners of a node, in order.
    fn excluded(&self, node: usize) -> &[usize] {
        let places = match self.sets[node] {
            Some(set) => self.of_set.get(&set),
            None => self.of_node.get(&node),
        };
        places.map_or(&[], |places| places)
    }

    /// How many a node has.
    pub fn count(&self, node: usize) -> usize {
        self.nodes.len() - self.excluded(node).len()
    }

    /// The one at `index`, in the order of the list.
    pub fn get(&self, node: usize, index: usize) -> usize {
        let excluded = self.excluded(node);
        // Before the nth of these are as many partners as its place says, less n; so many are before the wanted one.
        let (mut low, mut high) = (0, excluded.len());
        while low < high {
            let middle = (low + high) / 2;
            if excluded[middle] - middle <= index {
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
        fn partners_are_of_other_sets_and_not_oneself(
            nodes in prop::collection::vec(0_usize..12, 0..30),
            sets in prop::collection::vec(prop::option::of(0_usize..4), 12),
        ) {
            let partners = Partners::new(&nodes, &sets);
            for node in 0..12 {
                let may = |&&other: &&usize| {
                    other != node && (sets[node].is_none() || sets[node] != sets[other])
                };
                let expected: Vec<_> = nodes.iter().filter(may).copied().collect();
                prop_assert_eq!(partners.count(node), expected.len());
                prop_assert_eq!(partners.iter(node).collect::<Vec<_>>(), expected);
            }
        }
    }
}
