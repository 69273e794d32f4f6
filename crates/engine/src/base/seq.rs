//! 32-bit TCP sequence numbers that wrap (RFC 793 section 3.3; ns-3's `SequenceNumber32`).

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Sub};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Add<u32> for Seq {
    type Output = Seq;
    fn add(self, n: u32) -> Seq {
        Seq(self.0.wrapping_add(n))
    }
}

impl AddAssign<u32> for Seq {
    fn add_assign(&mut self, n: u32) {
        self.0 = self.0.wrapping_add(n);
    }
}

impl Sub<u32> for Seq {
    type Output = Seq;
    fn sub(self, n: u32) -> Seq {
        Seq(self.0.wrapping_sub(n))
    }
}

impl Sub for Seq {
    type Output = i32;
    /// The signed distance, for numbers less than 2^31 apart.
    fn sub(self, rhs: Seq) -> i32 {
        self.0.wrapping_sub(rhs.0) as i32
    }
}

impl PartialOrd for Seq {
    fn partial_cmp(&self, other: &Seq) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Seq {
    /// Order on the circle: only meaningful within a window of 2^31.
    fn cmp(&self, other: &Seq) -> Ordering {
        (*self - *other).cmp(&0)
    }
}
