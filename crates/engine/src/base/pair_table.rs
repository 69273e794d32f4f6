//! What is remembered of pairs: of nodes at a switch, of ways of a flow.

use crate::base::mix::mix;

/// A value for each pair that has been asked for: open addressing, linear probing, at most half full.  It
/// allocates when pairs are new only.
#[derive(Debug)]
pub struct PairTable<V> {
    slots: Vec<Option<(u64, V)>>,
    used: usize,
}

impl<V> Default for PairTable<V> {
    fn default() -> Self {
        PairTable { slots: Vec::new(), used: 0 }
    }
}

impl<V> PairTable<V> {
    const FIRST_SLOTS: usize = 64;

    /// The value of a pair, made by `first` if it has none.
    #[inline]
    pub fn entry(&mut self, [a, b]: [u32; 2], first: impl FnOnce() -> V) -> &mut V {
        if 2 * self.used >= self.slots.len() {
            self.grow();
        }
        let key = u64::from(a) << 32 | u64::from(b);
        let slot = self.find(key);
        let entry = &mut self.slots[slot];
        self.used += usize::from(entry.is_none());
        &mut entry.get_or_insert_with(|| (key, first())).1
    }

    /// The slot with this key, or the free one where it belongs.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = mix(key) as usize & mask;
        while self.slots[slot].as_ref().is_some_and(|(other, _)| *other != key) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let slots = (2 * self.slots.len()).max(Self::FIRST_SLOTS);
        let old = std::mem::take(&mut self.slots);
        self.slots.resize_with(slots, || None);
        for (key, value) in old.into_iter().flatten() {
            let slot = self.find(key);
            self.slots[slot] = Some((key, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_keeps_its_value_as_the_table_grows() {
        let mut table = PairTable::default();
        for a in 0..40 {
            for b in 0..40 {
                assert_eq!(*table.entry([a, b], || 100 * a + b), 100 * a + b);
            }
        }
        for a in 0..40 {
            for b in 0..40 {
                *table.entry([a, b], || unreachable!("it has one")) += 1;
                assert_eq!(*table.entry([a, b], || 0), 100 * a + b + 1);
            }
        }
    }
}
