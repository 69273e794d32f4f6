//! A ring in which what is added together lies side by side.

/// The last of many rows, counted from the first there ever was.
#[derive(Debug, Default)]
pub(super) struct Rows<T> {
    rows: Vec<T>,
    /// As many of them there are at most, a power of two.
    count: usize,
    pub(super) next: u64,
}

impl<T: Copy> Rows<T> {
    /// Room for `count` rows, a power of two; it is in use only once they are written.
    pub(super) fn new(count: usize) -> Self {
        Rows { rows: Vec::with_capacity(count), count, next: 0 }
    }

    /// Adds these side by side, so that [`Rows::slice`] has them.  Returns where the first of them is; they are not
    /// [within reach](Rows::reach) if they are too many.
    pub(super) fn add(&mut self, rows: &[T]) -> u64 {
        let mut at = self.next as usize & (self.count - 1);
        if at + rows.len() > self.count {
            self.next += (self.count - at) as u64;
            at = 0;
        }
        let first = self.next;
        if rows.len() > self.count {
            self.next = (first + 1 + rows.len() as u64).next_multiple_of(self.count as u64);
            return first;
        }
        let there = (self.rows.len() - at).min(rows.len());
        self.rows[at..at + there].copy_from_slice(&rows[..there]);
        self.rows.extend_from_slice(&rows[there..]);
        self.next += rows.len() as u64;
        first
    }

    /// So many that were added together.
    pub(super) fn slice(&self, first: u64, rows: usize) -> &[T] {
        let at = first as usize & (self.count - 1);
        &self.rows[at..at + rows]
    }

    /// Whether those from `first` on are among so many eighths of what is kept.
    pub(super) fn reach(&self, first: u64, eighths: usize) -> bool {
        self.next - first <= (self.count / 8 * eighths) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the end of the ring, too: then some places before it stay empty.
    #[test]
    fn rows_that_were_added_together_lie_side_by_side() {
        let mut rows = Rows::new(16);
        for n in 0..200_u64 {
            let added: Vec<_> = (0..n % 9).map(|i| 100 * n + i).collect();
            let first = rows.add(&added);
            assert_eq!(rows.slice(first, added.len()), added);
            assert!(rows.reach(first, 8));
        }
        let first = rows.add(&[0; 17]);
        assert!(!rows.reach(first, 8));
        let next = rows.add(&[1, 2]);
        assert_eq!(rows.slice(next, 2), [1, 2]);
    }
}
