//! What HighSpeed TCP takes from the window (RFC 3649, section 5 and appendix B).

use crate::base::math::ln;

/// RFC 3649 appendix B: entry i (from 0) is the largest window in segments with a(w) = i + 1, and
/// b(w) there.  (53667 breaks the progression of the formula by ten; ns-3 and Linux both have it.)
#[rustfmt::skip]
pub(super) const TABLE: [(u32, f64); 73] = [
    (38, 0.50), (118, 0.44), (221, 0.41), (347, 0.38), (495, 0.37), (663, 0.35), (851, 0.34),
    (1058, 0.33), (1284, 0.32), (1529, 0.31), (1793, 0.30), (2076, 0.29), (2378, 0.28),
    (2699, 0.28), (3039, 0.27), (3399, 0.27), (3778, 0.26), (4177, 0.26), (4596, 0.25),
    (5036, 0.25), (5497, 0.24), (5979, 0.24), (6483, 0.23), (7009, 0.23), (7558, 0.22),
    (8130, 0.22), (8726, 0.22), (9346, 0.21), (9991, 0.21), (10661, 0.21), (11358, 0.20),
    (12082, 0.20), (12834, 0.20), (13614, 0.19), (14424, 0.19), (15265, 0.19), (16137, 0.19),
    (17042, 0.18), (17981, 0.18), (18955, 0.18), (19965, 0.17), (21013, 0.17), (22101, 0.17),
    (23230, 0.17), (24402, 0.16), (25618, 0.16), (26881, 0.16), (28193, 0.16), (29557, 0.15),
    (30975, 0.15), (32450, 0.15), (33986, 0.15), (35586, 0.14), (37253, 0.14), (38992, 0.14),
    (40808, 0.14), (42707, 0.13), (44694, 0.13), (46776, 0.13), (48961, 0.13), (51258, 0.13),
    (53667, 0.12), (56230, 0.12), (58932, 0.12), (61799, 0.12), (64851, 0.11), (68113, 0.11),
    (71617, 0.11), (75401, 0.10), (79517, 0.10), (84035, 0.10), (89053, 0.10), (94717, 0.09),
];

/// b(w) by the formula.
pub(super) fn reduction(window: f64) -> f64 {
    (0.1 - 0.5) * (ln(window) - ln(38.0)) / (ln(83_000.0) - ln(38.0)) + 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::pow;

    /// RFC 3649 section 5.
    fn formula(window: f64) -> (f64, f64) {
        let b = reduction(window);
        let p = 0.078 / pow(window, 1.2);
        (window * window * p * 2.0 * b / (2.0 - b), b)
    }

    #[test]
    fn the_table_is_the_formula() {
        for (row, &(window, b)) in TABLE.iter().enumerate() {
            let wanted = formula(f64::from(window));
            assert!((wanted.0 - (row as f64 + 1.0)).abs() < 0.05, "a({window})");
            assert!((wanted.1 - b).abs() < 0.006, "b({window})");
        }
    }
}
