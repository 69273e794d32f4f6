//! The transcendental functions, correctly rounded: the same on every platform.
//!
//! `f64::ln`, `exp` and `powf` are those of the C library at hand: glibc's with and without fused
//! multiplication, musl's and Apple's differ in the last bit now and then, and a browser has none.
//! A run would then depend on the machine, while its id names only the scenario and the engine.
//! The number nearest to the true value is the one result that all can agree on; clippy.toml
//! forbids the others.  What IEEE 754 defines to the last bit (the four operations, roots, rounding)
//! is the same everywhere and stays as it is.

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    pxfm::f_log(x)
}

pub(crate) fn exp(x: f64) -> f64 {
    pxfm::f_exp(x)
}

pub fn pow(x: f64, y: f64) -> f64 {
    pxfm::f_pow(x, y)
}

/// A number by which others are divided again and again, for the remainders: two multiplications each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    divisor: u32,
    /// 2^64 / `divisor`, rounded up; wrapped to 0 for 1.
    reciprocal: u64,
}

impl Divisor {
    pub(crate) fn new(divisor: u32) -> Divisor {
        Divisor { divisor, reciprocal: (u64::MAX / u64::from(divisor)).wrapping_add(1) }
    }

    pub(crate) fn get(self) -> u32 {
        self.divisor
    }

    /// `n` modulo the divisor (Lemire, Kaser and Kurz 2019, "Faster remainder by direct computation", theorem 1).
    #[inline]
    pub(crate) fn remainder_of(self, n: u32) -> u32 {
        let fraction = self.reciprocal.wrapping_mul(u64::from(n));
        ((u128::from(fraction) * u128::from(self.divisor)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn remainders_are_those_of_a_division(n: u32, divisor in 1..=u32::MAX, small in 1..5_000_u32) {
            for divisor in [divisor, small, 1, u32::MAX] {
                prop_assert_eq!(Divisor::new(divisor).remainder_of(n), n % divisor);
                let multiple = n - n % divisor;
                prop_assert_eq!(Divisor::new(divisor).remainder_of(multiple), 0);
            }
        }
    }

    /// Computed with 60 decimal digits.  At each of these arguments glibc 2.36 with fused
    /// multiplication yields a neighbour.
    #[test]
    fn values_are_the_nearest_ones_where_glibc_misses_them() {
        for (x, y, nearest) in [
            (50.4835, 3.0, 128661.42886638288),
            (29.266, 3.0, 25066.292593095997),
            (24257.5, 1.0 / 3.0, 28.94778555292776),
            (2580.0, 1.0 / 3.0, 13.715339700741746),
            (2.0, 17.865, 238726.63285713535),
            (2.0, 13.704, 13344.891913342415),
            (0.99286, 113.0, 0.4449852552230881),
            (0.99704, 801.0, 0.09306324523458702),
        ] {
            assert_eq!(pow(x, y), nearest, "{x} to the power of {y}");
        }
        for (x, nearest) in [
            (-0.025519, 0.9748038575164951),
            (-0.00808, 0.9919525554582912),
            (-0.062696, 0.9392289558962316),
        ] {
            assert_eq!(exp(x), nearest, "exp({x})");
        }
        for (x, nearest) in [
            (0.609198, -0.4956119409606099),
            (0.902444, -0.10264864056176919),
            (0.924931, -0.07803613884662164),
        ] {
            assert_eq!(ln(x), nearest, "ln({x})");
        }
    }

    #[test]
    fn what_has_no_value_is_not_a_number() {
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert!(ln(-1.0).is_nan());
        assert!(pow(-8.0, 1.0 / 3.0).is_nan());
        assert!(pow(f64::NAN, 3.0).is_nan());
        assert_eq!(exp(1e3), f64::INFINITY);
    }

    proptest! {
        /// Integers whose cube has at most 126 bits have it exactly, to be rounded once.
        #[test]
        fn a_cube_is_rounded_once(x in 1u64..1 << 42, exponent in -60i32..60) {
            let scale = f64::from_bits(((1023 + exponent) as u64) << 52);
            let exact = u128::from(x).pow(3) as f64;
            prop_assert_eq!(pow(x as f64 * scale, 3.0), exact * scale * scale * scale);
        }

        #[test]
        fn logarithm_and_exponential_undo_each_other(x in -300.0..300.0) {
            prop_assert!((ln(exp(x)) - x).abs() < 1e-15 * (1.0 + x.abs()));
            prop_assert!((pow(exp(x), 2.0) / exp(2.0 * x) - 1.0).abs() < 1e-12);
        }
    }
}
