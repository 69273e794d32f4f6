//! Numbers of random streams.

/// Streams that one component may use, counted from its first.
const BLOCK: u64 = 1 << 8;
/// Blocks to choose from; all stream numbers stay below 2^52, exact in JSON and in a double.
const BLOCKS: u64 = 1 << 44;

/// The first stream of the component at this path, e.g. `links/btl/forward/qdisc`.
///
/// The number depends on the path alone (FNV-1a, finished as in SplitMix64): adding a flow shifts
/// nobody else's draws, and two runs with the same seed draw the same numbers at the same place.
/// Among a thousand components two share a block with a probability of 3e-8.
pub fn first_stream(path: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in path.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    (hash % BLOCKS) * BLOCK
}

/// The stream that a scenario names: from 0 on one assigned explicitly; -1 - n is the nth of those that
/// ns-3 assigns by itself, which lie as far behind the explicit ones as they are from the end.
pub fn given(number: i64) -> u64 {
    match u64::try_from(number) {
        Ok(explicit) => explicit,
        Err(_) => FIRST_AUTOMATIC + number.unsigned_abs() - 1,
    }
}

/// Explicit streams begin in the middle of all that there are, and wrap.
const FIRST_AUTOMATIC: u64 = 1 << 63;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_numbers_are_explicit_or_automatic() {
        use ccperf_engine::base::rng::RngStream;
        assert_eq!(given(50), 50);
        let mut named = RngStream::fixed(7, given(-73));
        assert_eq!(named.unit(), RngStream::new(1, 72, 7).unit());
    }

    use std::collections::BTreeSet;

    #[test]
    fn blocks_are_apart_and_small_enough_for_every_reader() {
        let paths = (0..10_000).map(|i| format!("links/l{i}/forward/loss"));
        let streams: BTreeSet<_> = paths.map(|path| first_stream(&path)).collect();
        assert_eq!(streams.len(), 10_000);
        assert!(streams.iter().all(|s| s % BLOCK == 0 && *s < 1 << 52));
    }

    /// Recordings made with an earlier version must stay reproducible.
    #[test]
    fn the_numbers_never_change() {
        assert_eq!(first_stream("links/btl/forward/loss"), 3_463_052_456_368_384);
    }
}
