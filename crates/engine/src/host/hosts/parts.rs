//! A list of large items that grows without moving those that are there.

use std::ops::{Index, IndexMut};

/// Items in parts of 1024. Only the first part, which is all that most runs need, grows; the others are made
/// whole: megabytes in one block, which the system gives in large pages.
#[derive(Debug)]
pub struct Parts<T> {
    parts: Vec<Vec<T>>,
}

const BITS: u32 = 10;
const PART: usize = 1 << BITS;

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Parts { parts: vec![Vec::new()] }
    }
}

#[allow(clippy::len_without_is_empty, reason = "nobody asks")]
impl<T> Parts<T> {
    pub fn len(&self) -> usize {
        (self.parts.len() - 1) * PART + self.parts.last().map_or(0, Vec::len)
    }

    pub fn push(&mut self, item: T) {
        if self.parts.last().is_none_or(|part| part.len() == PART) {
            self.parts.push(Vec::with_capacity(PART));
        }
        self.parts.last_mut().expect("there is room now").push(item);
    }

    pub fn get(&self, index: usize) -> Option<&T> {
        self.parts.get(index >> BITS)?.get(index % PART)
    }
}

impl<T> Index<usize> for Parts<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self.parts[index >> BITS][index % PART]
    }
}

impl<T> IndexMut<usize> for Parts<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.parts[index >> BITS][index % PART]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_where_they_were_put_and_stay_there() {
        let mut parts = Parts::default();
        assert_eq!((parts.len(), parts.get(0)), (0, None));
        for n in 0..PART {
            parts.push(n);
        }
        let first = &raw const parts[0];
        for n in PART..3 * PART + 7 {
            parts.push(n);
        }
        assert_eq!(first, &raw const parts[0]);
        assert_eq!(parts.len(), 3 * PART + 7);
        assert!((0..parts.len()).all(|n| parts[n] == n));
        for n in [0, 1, PART - 1, PART, 2 * PART + 1, 3 * PART + 6] {
            assert_eq!((parts[n], parts.get(n)), (n, Some(&n)));
        }
        parts[PART] = 5;
        assert_eq!((parts[PART], parts.get(parts.len())), (5, None));
    }
}
