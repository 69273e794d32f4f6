//! Simulated time and link rates: integers, so that runs repeat to the bit.

use std::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a length of it, in nanoseconds (ns-3's `Time`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    pub const ZERO: Time = Time(0);
    /// Later than everything: "never", or "no sample yet".  Equals ns-3's `Time::Max()`.
    pub const MAX: Time = Time(i64::MAX as u64);

    pub const fn from_ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    pub const fn from_secs(s: u64) -> Time {
        Time(s * 1_000_000_000)
    }

    /// The nearest nanosecond, ties away from zero, as ns-3 rounds `Seconds(double)`: the product is
    /// formed exactly, in fixed point with 64 fractional binary digits.
    pub fn from_secs_f64(s: f64) -> Time {
        if s >= Time::MAX.0 as f64 / 1e9 {
            return Time::MAX;
        }
        let fraction = (s.fract() * (1u128 << 64) as f64).round() as u128;
        let fixed = ((s.trunc() as u128) << 64) + fraction;
        Time(((fixed * 1_000_000_000 + (1 << 63)) >> 64) as u64)
    }

    /// Nanoseconds as a signed number, for differences that may be negative.
    pub const fn ns(self) -> i64 {
        self.0 as i64
    }

    /// Seconds, to the bit what ns-3's `Time::GetSeconds` returns; see [`seconds`].
    pub fn secs_f64(self) -> f64 {
        seconds(self.ns())
    }

    /// Whole microseconds, truncated.
    pub const fn us(self) -> u64 {
        self.0 / 1000
    }

    /// Whole milliseconds, truncated.
    pub const fn ms(self) -> u64 {
        self.0 / 1_000_000
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Signed nanoseconds in seconds, to the bit what ns-3's `Time::GetSeconds` returns.
///
/// ns-3 does not divide: it multiplies by a reciprocal in 64.64 fixed point, which truncates at
/// 2^-64 s (so 1 ns keeps 34 significant bits), and then rounds twice, to the 64 bits of an x87
/// `long double` and to the 53 of a `double`.
#[inline]
pub fn seconds(ns: i64) -> f64 {
    let magnitude = rounded(fixed_point_seconds(ns.unsigned_abs()));
    if ns < 0 { -magnitude } else { magnitude }
}

/// Nanoseconds in seconds, as ns-3's `Time::To(Time::S)`: 64.64 fixed point, by a reciprocal.
fn fixed_point_seconds(ns: u64) -> u128 {
    /// 2^128 / 10^9, rounded up.
    const RECIPROCAL: u128 = u128::MAX / 1_000_000_000 + 1;
    const LOW: u128 = u64::MAX as u128;
    let n = u128::from(ns);
    n * (RECIPROCAL >> 64) + ((n * (RECIPROCAL & LOW)) >> 64)
}

/// A number with 64 fractional binary digits, rounded to 64 significant bits and then to 53, ties to
/// even.  Conversions from 128 bits are slow, and below one second there is nothing to round first.
#[inline]
fn rounded(n: u128) -> f64 {
    const UNIT: f64 = 1.0 / (1u128 << 64) as f64;
    match u64::try_from(n) {
        Ok(n) => n as f64 * UNIT,
        Err(_) => rounded_twice(n),
    }
}

/// The same for numbers from 1 on.
fn rounded_twice(n: u128) -> f64 {
    let excess = 64 - n.leading_zeros();
    let (kept, rest, half) = ((n >> excess) as u64, n & ((1 << excess) - 1), 1 << (excess - 1));
    let round_up = rest > half || (rest == half && kept & 1 == 1);
    // 2^64 - 1 and 2^64 are the same number to 53 bits.
    let kept = kept.saturating_add(u64::from(round_up));
    // Scaled by 2^(excess - 64), a power of two.
    kept as f64 / (1u64 << (64 - excess)) as f64
}

impl Add for Time {
    type Output = Time;
    fn add(self, rhs: Time) -> Time {
        Time(self.0 + rhs.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, rhs: Time) {
        self.0 += rhs.0;
    }
}

impl Sub for Time {
    type Output = Time;
    /// The result must not be negative; use [`Time::ns`] where it may be.
    fn sub(self, rhs: Time) -> Time {
        Time(self.0 - rhs.0)
    }
}

/// A transmission rate in bit/s (ns-3's `DataRate`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

impl Rate {
    /// The time to put `bytes` on the wire, rounded as ns-3 3.44 rounds it: the quotient bits/rate
    /// is truncated to 64 fractional binary digits *before* it is scaled to nanoseconds, and only
    /// then rounded half up.  An exact half therefore rounds down unless bits/rate has a finite
    /// binary expansion (1502 B at 256 Mbps: 46937.5 -> 46937 ns).
    pub fn tx_time(self, bytes: u32) -> Time {
        let bits = u128::from(bytes) * 8;
        let seconds = (bits << 64) / u128::from(self.0); // 64.64 fixed point
        let (whole, fraction) = (seconds >> 64, seconds & u128::from(u64::MAX));
        let scaled = fraction * 1_000_000_000; // < 2^94, still 64 fractional digits
        let rounded = (scaled + (1 << 63)) >> 64;
        Time((whole * 1_000_000_000 + rounded) as u64)
    }
}

impl Rate {
    /// Whole bits in a time, from ns-3's fixed-point seconds: one bit may be missing where the exact
    /// product is a whole number.
    pub fn bits_in(self, time: Time) -> u64 {
        ((fixed_point_seconds(time.0) * u128::from(self.0)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_truncated_after_the_reciprocal() {
        assert_eq!(Rate(20_000_000).bits_in(Time(400_000)), 7_999);
        assert_eq!(Rate(20_000_000).bits_in(Time::from_secs(1)), 20_000_000);
        assert_eq!(Rate(500_000).bits_in(Time(1_234_567)), 617);
    }

    #[test]
    fn an_exact_half_rounds_down_unless_it_is_a_binary_fraction() {
        assert_eq!(Rate(256_000_000).tx_time(1502), Time(46_937));
        assert_eq!(Rate(16_000_000).tx_time(1502), Time(751_000));
        // 1 bit at 2^31 bit/s would be 0.4656..; 8 bits at 16e9 bit/s is exactly half a nanosecond.
        assert_eq!(Rate(8_000_000_000).tx_time(58), Time(58));
    }

    /// The product of doubles is 299925798930.5, which rounds up; the number itself is a little less,
    /// and ns-3 3.44 rounds that.
    #[test]
    fn seconds_become_nanoseconds_without_rounding_twice() {
        let seconds = 299.9257989305;
        assert_eq!((seconds * 1e9f64).round() as u64, 299_925_798_931);
        assert_eq!(Time::from_secs_f64(seconds), Time(299_925_798_930));
        assert_eq!(Time::from_secs_f64(1.5e-9), Time(2));
        assert_eq!(Time::from_secs_f64(3.0), Time(3_000_000_000));
        assert_eq!(Time::from_secs_f64(1e300), Time::MAX);
        assert_eq!(Time::from_secs_f64(f64::INFINITY), Time::MAX);
    }

    /// By 128-bit arithmetic, as the words say it.
    #[test]
    fn seconds_are_rounded_to_64_bits_and_then_to_53() {
        let mut x = 7_u64;
        for i in 0..200_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let ns = x >> (i % 64);
            let n = fixed_point_seconds(ns);
            let excess = 64u32.saturating_sub(n.leading_zeros());
            let (unit, below) = (1u128 << excess, n & ((1u128 << excess) - 1));
            let up = 2 * below > unit || 2 * below == unit && (n >> excess) & 1 == 1;
            let to_64_bits = ((n >> excess) + u128::from(up)) << excess;
            assert_eq!(rounded(n), to_64_bits as f64 / (1u128 << 64) as f64, "{ns} ns");
        }
    }

    #[test]
    fn seconds_are_truncated_at_two_to_the_minus_64() {
        assert_eq!(seconds(0), 0.0);
        assert_eq!(seconds(1_000_000_000), 1.0);
        assert_eq!(seconds(-2_500_000_000), -2.5);
        // 2^64 / 10^9 = 18446744073.7...: the fraction is lost, so this is less than 1e-9.
        assert_eq!(seconds(1), 18_446_744_073.0 / (1u128 << 64) as f64);
        assert!(seconds(1) < 1e-9);
        assert_eq!(seconds(i64::MIN), -9_223_372_036.854_776);
    }
}
