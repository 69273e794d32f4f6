//! Conversions from floating point to integers as C++ compilers for x86-64 make them.
//!
//! Where the value does not fit, C++ leaves the result open and Rust saturates.  ns-3 gets there
//! (H-TCP's beta is -1 before its first RTT sample, CUBIC's W(t) passes 2^32 segments after half an
//! hour without loss), so these functions pin what `cvttsd2si` yields.

/// `static_cast<int64_t>`: the lowest integer stands for every value that does not fit.
fn to_i64(x: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2^63
    if x < LIMIT { x as i64 } else { i64::MIN } // from below Rust saturates at that number
}

/// `static_cast<uint32_t>`: truncated to 64 bits, of which the lower 32 are kept.
pub(crate) fn to_u32(x: f64) -> u32 {
    to_i64(x) as u32
}

/// `static_cast<int32_t>`.
pub(crate) fn to_i32(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 { x as i32 } else { i32::MIN }
}

/// `static_cast<uint64_t>`: the upper half of the range is shifted down first.
pub(crate) fn to_u64(x: f64) -> u64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if x >= LIMIT { (to_i64(x - LIMIT) as u64) ^ (1 << 63) } else { to_i64(x) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_truncated_towards_zero() {
        assert_eq!(to_u32(2.999), 2);
        assert_eq!(to_i32(-2.999), -2);
        assert_eq!(to_u64(1e19), 10_000_000_000_000_000_000);
    }

    #[test]
    fn what_does_not_fit_is_what_the_processor_leaves() {
        assert_eq!(to_u32(-1.0), u32::MAX);
        assert_eq!(to_u32(4_294_967_296.0 + 5.0), 5);
        assert_eq!(to_u32(1e30), 0);
        assert_eq!(to_u32(f64::NAN), 0);
        assert_eq!(to_i32(3e9), i32::MIN);
        assert_eq!(to_u64(f64::INFINITY), 0);
    }
}
