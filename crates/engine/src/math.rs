//! The transcendental functions, one implementation for every platform.
//!
//! `f64::ln`, `exp` and `powf` are those of the C library at hand: glibc's with and without fused
//! multiplication, musl's and Apple's differ in the last bit now and then, and a browser has none.
//! A run would then depend on the machine, while its id names only the scenario and the engine.
//! So the functions stand in the engine, and clippy.toml forbids the others.  What IEEE 754 defines
//! to the last bit (the four operations, roots, rounding) is the same everywhere and stays as it is.

/// Natural logarithm.
pub(crate) fn ln(x: f64) -> f64 {
    libm::log(x)
}

pub(crate) fn exp(x: f64) -> f64 {
    libm::exp(x)
}

pub(crate) fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// The third power, rounded once: a C library's `pow(x, 3.0)` in all but one of a thousand cases,
/// where `x * x * x` is another number in every fourth.
///
/// For |x| between 2^-300 and 2^300; CUBIC's seconds since the last loss are.
pub(crate) fn cube(x: f64) -> f64 {
    let (square, square_error) = product(x, x);
    let (cube, cube_error) = product(square, x);
    cube + (cube_error + square_error * x)
}

/// A product and what rounding it took away, exactly (T. J. Dekker, "A floating-point technique for
/// extending the available precision", 1971).
fn product(a: f64, b: f64) -> (f64, f64) {
    let (a_high, a_low) = halves(a);
    let (b_high, b_low) = halves(b);
    let rounded = a * b;
    let error = a_low * b_low - (rounded - a_high * b_high - a_low * b_high - a_high * b_low);
    (rounded, error)
}

/// Two numbers of at most 26 bits whose sum is `x`.
fn halves(x: f64) -> (f64, f64) {
    let shifted = x * 134_217_729.0; // 2^27 + 1
    let high = shifted - (shifted - x);
    (high, x - high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_are_the_number_and_their_products_are_exact() {
        let x = 1.0 / 3.0;
        let (high, low) = halves(x);
        assert_eq!(high + low, x);
        assert_eq!(high.to_bits().trailing_zeros(), 27);
    }

    /// Whoever changes what the functions yield changes results of all runs.
    #[test]
    fn values_are_these_to_the_last_bit() {
        let values =
            [ln(0.1), exp(-0.001), pow(200.0 / 0.4, 1.0 / 3.0), pow(0.998, 17.0), cube(0.1)];
        assert_eq!(
            values,
            [
                -2.3025850929940455,
                0.999000499833375,
                7.937005259840997,
                0.9665385978827735,
                0.0010000000000000002
            ]
        );
    }

    #[test]
    fn what_has_no_value_is_not_a_number() {
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert!(ln(-1.0).is_nan());
        assert!(pow(-8.0, 1.0 / 3.0).is_nan());
        assert!(cube(f64::NAN).is_nan());
        assert_eq!(exp(1e3), f64::INFINITY);
    }

    proptest! {
        /// Integers whose cube has at most 128 bits have it exactly, to be rounded once.
        #[test]
        fn a_cube_is_rounded_once(x in 0u64..1 << 42, exponent in -60i32..60) {
            let scale = f64::from_bits(((1023 + exponent) as u64) << 52);
            let exact = u128::from(x).pow(3) as f64;
            prop_assert_eq!(cube(x as f64 * scale), exact * scale * scale * scale);
        }

        #[test]
        fn logarithm_and_exponential_undo_each_other(x in -300.0..300.0) {
            prop_assert!((ln(exp(x)) - x).abs() < 1e-15 * (1.0 + x.abs()));
            prop_assert!((pow(exp(x), 2.0) / exp(2.0 * x) - 1.0).abs() < 1e-12);
        }
    }
}
