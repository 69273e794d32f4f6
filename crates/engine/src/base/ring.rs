//! First in, first out, in a ring whose length is a power of two: what every packet goes through several
//! times.

use crate::base::fetch::fetch;

/// A queue that never shrinks.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// Empty, or a power of two long.
    slots: Box<[T]>,
    /// Where the first item is, counted on beyond the end of the slots.
    first: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring { slots: Box::default(), first: 0, len: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        self.first.wrapping_add(index) & (self.slots.len().wrapping_sub(1))
    }

    #[inline(always)]
    pub fn push_back(&mut self, item: T) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.slots[place] = item;
        self.len += 1;
    }

    /// The first item will be needed soon.
    pub fn fetch_first(&self) {
        self.first().into_iter().for_each(fetch);
    }

    /// The place of the item that comes next will be needed soon.
    pub fn fetch_next(&self) {
        self.slots.get(self.place(self.len)).into_iter().for_each(fetch);
    }

    #[inline(always)]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = self.front()?;
        self.drop_front();
        Some(first)
    }

    /// Lets the first item go, which there is.
    #[inline(always)]
    pub fn drop_front(&mut self) {
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
    }

    /// The first item in its place.
    #[inline(always)]
    pub fn first(&self) -> Option<&T> {
        if self.len > 0 { Some(&self.slots[self.place(0)]) } else { None }
    }

    #[inline(always)]
    pub fn front(&self) -> Option<T> {
        self.get(0)
    }

    #[inline(always)]
    pub fn back(&self) -> Option<T> {
        self.get(self.len.wrapping_sub(1))
    }

    #[inline(always)]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.len.wrapping_sub(1))
    }

    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<T> {
        if index < self.len { Some(self.slots[self.place(index)]) } else { None }
    }

    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index < self.len { Some(&mut self.slots[self.place(index)]) } else { None }
    }

    pub fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.len).filter_map(|index| self.get(index))
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// How many items `holds` is true of, which are the first ones.
    pub fn partition_point(&self, holds: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = (low + high) / 2;
            if holds(&self.slots[self.place(middle)]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots: Vec<T> = self.iter().collect();
        slots.resize((2 * self.len).max(4), T::default());
        (self.slots, self.first) = (slots.into(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_leave_in_the_order_in_which_they_came_however_many_there_are() {
        let mut ring = Ring::default();
        let (mut pushed, mut popped, mut x) = (0, 0, 7_u32);
        for round in 0..20_000 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if x >> 28 < if round % 400 < 200 { 9 } else { 7 } {
                ring.push_back(pushed);
                pushed += 1;
            } else if let Some(item) = ring.pop_front() {
                assert_eq!(item, popped);
                popped += 1;
            }
            assert_eq!(ring.len, pushed - popped);
            assert_eq!(ring.front(), (pushed > popped).then_some(popped));
            assert_eq!(ring.back(), (pushed > popped).then(|| pushed - 1));
            assert!(ring.iter().eq(popped..pushed));
        }
        assert!(pushed > 1_000);
    }

    #[test]
    fn places_are_found_by_halving() {
        let mut ring = Ring::default();
        (0..100).for_each(|i| ring.push_back(i));
        (0..37).for_each(|_| assert!(ring.pop_front().is_some()));
        for bound in 30..110 {
            let expected = (37..100).filter(|&i| i < bound).count();
            assert_eq!(ring.partition_point(|&i| i < bound), expected);
        }
    }
}
