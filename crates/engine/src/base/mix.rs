//! A hash of a number, for tables and for choices that look random.

/// The finisher of SplitMix64 (G. L. Steele et al., "Fast splittable pseudorandom number generators",
/// OOPSLA 2014; D. Stafford's variant 13), which spreads every bit over all.
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_splitmix64() {
        assert_eq!(mix(0), 0);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0xe220_a839_7b1d_cdaf, "its first, from 0");
    }
}
