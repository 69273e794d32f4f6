//! The first events of some lanes, of which the soonest is found without a branch.

use super::{Entry, Key, NEVER};

/// So many lanes have a place.
pub const HEADS: usize = 8;

#[derive(Debug)]
pub struct Heads([Entry; HEADS]);

impl Default for Heads {
    fn default() -> Self {
        Heads([NEVER; HEADS])
    }
}

impl Heads {
    #[inline(always)]
    pub fn set(&mut self, place: usize, head: Entry) {
        self.0[place] = head;
    }

    /// The soonest; [`NEVER`] if there is none.
    #[inline(always)]
    pub fn first(&self) -> Entry {
        let [a, b, c, d, e, f, g, h] = self.0;
        sooner(sooner(sooner(a, b), sooner(c, d)), sooner(sooner(e, f), sooner(g, h)))
    }

    /// Whether all are due later.
    #[inline(always)]
    pub fn are_after(&self, key: Key) -> bool {
        self.0.iter().fold(true, |all, head| all & (head.time > key.time.0))
            || self.0.iter().all(|head| head.key() > key)
    }

    pub fn all(&self) -> impl Iterator<Item = Entry> {
        self.0.into_iter().filter(|&head| head != NEVER)
    }
}

/// The sooner of two.
#[inline(always)]
pub fn sooner(one: Entry, other: Entry) -> Entry {
    let is_later = other.order() < one.order();
    Entry {
        time: if is_later { other.time } else { one.time },
        word: if is_later { other.word } else { one.word },
    }
}
