//! Cube roots as Linux's CUBIC takes them for K: a guess by the leading bits, and one step of Newton's, in whole numbers.
//!
//! They are off by up to 0.2 %, which is some milliseconds of K.  By so much the window grows earlier or later than on the curve,
//! and a burst leaves an ACK earlier or later.

use crate::base::math;

/// By what a number begins with, 8 to 63: 64 times its root, for [`root`] to start from.  Measured: a kernel (7.3.4) was asked for
/// plateaus at 4,912 distances from 1 to 4 million segments, and these are the only numbers of which all its K come.
#[rustfmt::skip]
const GUESSES: [u16; 56] = [
    133, 139, 144, 148, 153, 157, 161, 166, 167, 171, 174, 178, 180, 183, 186, 189, 191, 195, 197, 200, 202, 204, 207, 209, 210, 212,
    214, 216, 219, 221, 223, 225, 227, 229, 231, 232, 234, 235, 237, 239, 241, 242, 244, 246, 247, 249, 250, 252, 254, 255, 256, 258,
    260, 261, 262, 264,
];
const FIRST: usize = 8;
/// So small ones are rounded.
const LEAST: u64 = 64;

pub(super) fn root(cube: u64) -> u64 {
    if cube < LEAST {
        return math::pow(cube as f64, 1.0 / 3.0).round() as u64;
    }
    let shift = cube.ilog2() / 3 - 1;
    let guess = (u64::from(GUESSES[(cube >> (3 * shift)) as usize - FIRST]) << shift) / 64;
    // Newton's has the square of the guess; the third is one in parts of 1024.
    (2 * guess + cube / (guess * (guess - 1))) * 341 / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a kernel (7.3.4): distances of the plateau in segments, and its K in 1024ths of a second.
    #[rustfmt::skip]
    const MEASURED: [(u64, u64); 66] = [
        (1, 1388), (2, 1750), (3, 2003), (4, 2203), (5, 2375), (16, 3500), (45, 4945), (49, 5088), (100, 6451), (200, 8125),
        (944534, 136182), (1049516, 141060), (1152585, 145547), (1258386, 149864), (1363212, 153942), (1468150, 157801),
        (1571934, 161450), (1676499, 165027), (1781052, 168283), (1888437, 171624), (1990608, 174664), (2098306, 177798),
        (2203214, 180674), (2308853, 183523), (2410134, 186183), (2515859, 188881), (2621100, 191453), (2725420, 194032),
        (2833890, 196544), (2935203, 198895), (3040136, 201218), (3142679, 203442), (3248684, 205745), (3358261, 208015),
        (3458012, 210002), (3567680, 212189), (3666490, 214134), (3775397, 216228), (3879959, 218256), (3987417, 220253),
        (4089861, 222129), (4186760, 223884), (537314, 112929), (550049, 113821), (563086, 114719), (576432, 115596),
        (590095, 116507), (602903, 117326), (615989, 118177), (629359, 119033), (641766, 119823), (655695, 120664),
        (668620, 121462), (681800, 122267), (695239, 123048), (707560, 123786), (721506, 124577), (734293, 125323),
        (747306, 126074), (760550, 126800), (774029, 127531), (786209, 128215), (800141, 128982), (812733, 129645),
        (825523, 130311), (838514, 131009),
    ];

    #[test]
    fn roots_are_those_of_the_kernel() {
        let by_segment = (1 << 40) / 410;
        for (segments, k) in MEASURED {
            assert_eq!(root(by_segment * segments), k, "{segments}");
        }
    }

    #[test]
    fn no_root_is_off_by_more_than_a_step_and_two_thousandths() {
        let cubes = (0..u64::BITS).flat_map(|bits| [1 << bits, (1 << bits) + (1 << bits) / 3]);
        for cube in (0..5000).chain(cubes).chain([u64::MAX]) {
            let exact = math::pow(cube as f64, 1.0 / 3.0);
            assert!((root(cube) as f64 - exact).abs() <= 1.0 + exact * 2e-3, "{cube}");
        }
    }
}
