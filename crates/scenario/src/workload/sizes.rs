//! Sizes of transfers: distributions given by points of their cumulative distribution function.

use ccperf_engine::base::rng::RngStream;

/// Web search (M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, figure 4), as tabulated for
/// the evaluation of ECN# (J. Zhang et al., "Enabling ECN for Datacenter Networks with RTT Variations",
/// CoNEXT 2019).
const WEB_SEARCH: &[[f64; 2]] = &[
    [0.0, 0.0],
    [10e3, 0.15],
    [20e3, 0.2],
    [30e3, 0.3],
    [50e3, 0.4],
    [80e3, 0.53],
    [200e3, 0.6],
    [1e6, 0.7],
    [2e6, 0.8],
    [5e6, 0.9],
    [10e6, 0.97],
    [30e6, 1.0],
];

/// Data mining (A. Greenberg et al., "VL2: A Scalable and Flexible Data Center Network", SIGCOMM 2009,
/// figure 2), tabulated likewise.
const DATA_MINING: &[[f64; 2]] = &[
    [0.0, 0.0],
    [180.0, 0.1],
    [216.0, 0.2],
    [560.0, 0.3],
    [900.0, 0.4],
    [1_100.0, 0.5],
    [1_870.0, 0.6],
    [3_160.0, 0.7],
    [10e3, 0.8],
    [400e3, 0.9],
    [3.16e6, 0.95],
    [100e6, 0.98],
    [1e9, 1.0],
];

/// Like a key-value store's, most transfers far below a segment: the table that the load-balancing
/// programs beside those of ECN# call Facebook's.
const FACEBOOK: &[[f64; 2]] = &[
    [0.0, 0.0],
    [3.0, 0.28],
    [10.0, 0.32],
    [12.0, 0.44],
    [75.0, 0.5],
    [250.0, 0.75],
    [350.0, 0.9],
    [1_000.0, 0.965],
    [2_515.0, 0.98],
    [6_326.0, 0.99],
    [10_032.0, 0.995],
    [15_910.0, 0.997],
    [23_009.0, 0.9992],
    [24_094.0, 0.9996],
    [25_000.0, 0.9999],
    [100e3, 0.99999],
    [1e6, 1.0],
];

/// The largest transfer that a sequence of numbers of a connection is meant for.
pub const MAX_BYTES: f64 = 4e9;

/// How sizes are chosen.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// By inverting the function that is linear between these points.
    Cdf(Vec<[f64; 2]>),
    Uniform([u32; 2]),
    /// One after the other, and again from the first.
    Listed(Vec<u64>),
}

impl Distribution {
    pub fn web_search() -> Self {
        Distribution::Cdf(WEB_SEARCH.to_vec())
    }

    pub fn data_mining() -> Self {
        Distribution::Cdf(DATA_MINING.to_vec())
    }

    pub fn facebook() -> Self {
        Distribution::Cdf(FACEBOOK.to_vec())
    }

    /// In bytes: each piece of a function has the mean of its ends.
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Cdf(points) => {
                let [first, probability] = points[0];
                let pieces =
                    points.windows(2).map(|w| (w[0][0] + w[1][0]) / 2.0 * (w[1][1] - w[0][1]));
                first / 2.0 * probability + pieces.sum::<f64>()
            }
            Distribution::Uniform([min, max]) => (f64::from(*min) + f64::from(*max)) / 2.0,
            Distribution::Listed(sizes) => sizes.iter().sum::<u64>() as f64 / sizes.len() as f64,
        }
    }

    /// The size of transfer number `n`, from 0; at least a byte.
    pub fn draw(&self, n: u64, stream: &mut RngStream) -> u64 {
        match self {
            Distribution::Cdf(points) => inverse(points, stream.unit()).round().max(1.0) as u64,
            Distribution::Uniform([min, max]) => u64::from(stream.uniform_integer(*min, *max)),
            Distribution::Listed(sizes) => sizes[(n % sizes.len() as u64) as usize],
        }
    }
}

/// The least value whose probability is `p`, in (0, 1).
fn inverse(points: &[[f64; 2]], p: f64) -> f64 {
    let above = points.partition_point(|point| point[1] < p);
    let [high, upper] = points[above];
    let [low, lower] = if above > 0 { points[above - 1] } else { [0.0, 0.0] };
    if upper > lower { low + (high - low) * (p - lower) / (upper - lower) } else { high }
}

/// Why `points` are no distribution, with the number of the first that is wrong.
pub fn problem(points: &[[f64; 2]]) -> Option<(usize, String)> {
    let Some(&[_, last]) = points.last() else {
        return Some((0, "there are no points; write [bytes, probability]".to_owned()));
    };
    let mut before = [0.0, 0.0];
    for (i, &[bytes, probability]) in points.iter().enumerate() {
        if !(0.0..=MAX_BYTES).contains(&bytes) {
            return Some((i, format!("{bytes} is not a size from 0 to {MAX_BYTES} bytes")));
        }
        if !(0.0..=1.0).contains(&probability) {
            return Some((i, format!("{probability} is not a probability from 0 to 1")));
        }
        if bytes < before[0] || probability < before[1] {
            let [bytes_before, probability_before] = before;
            return Some((
                i,
                format!(
                    "({bytes}, {probability}) comes after ({bytes_before}, {probability_before}), \
                     but neither may fall"
                ),
            ));
        }
        before = [bytes, probability];
    }
    if last != 1.0 {
        return Some((points.len() - 1, format!("the last probability is {last}, not 1")));
    }
    if before[0] == 0.0 {
        return Some((points.len() - 1, "all sizes are 0".to_owned()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packaged_tables_have_the_published_means() {
        assert_eq!(Distribution::web_search().mean().round(), 1_711_250.0);
        assert!((Distribution::data_mining().mean() - 12_658_198.6).abs() < 0.05);
        for table in [WEB_SEARCH, DATA_MINING, FACEBOOK] {
            assert_eq!(problem(table), None);
        }
    }

    #[test]
    fn sizes_lie_on_the_lines_between_the_points() {
        let points = [[0.0, 0.0], [100.0, 0.5], [100.0, 0.75], [300.0, 1.0]];
        for (p, size) in [(0.25, 50.0), (0.5, 100.0), (0.6, 100.0), (0.875, 200.0), (1.0, 300.0)] {
            assert_eq!(inverse(&points, p), size, "{p}");
        }
        assert_eq!(inverse(&[[10.0, 0.5], [20.0, 1.0]], 0.25), 5.0);
    }

    #[test]
    fn drawn_sizes_have_the_mean_and_none_is_empty() {
        let mut stream = RngStream::fixed(1, 1);
        for sizes in
            [Distribution::web_search(), Distribution::facebook(), Distribution::Uniform([3, 9])]
        {
            let drawn: Vec<_> = (0..200_000).map(|n| sizes.draw(n, &mut stream)).collect();
            let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
            assert!((mean / sizes.mean() - 1.0).abs() < 0.05, "{mean} {}", sizes.mean());
            assert!(drawn.iter().all(|&size| size > 0));
        }
    }

    #[test]
    fn what_is_no_distribution_is_named() {
        for (points, at, words) in [
            (&[][..], 0, "no points"),
            (&[[10.0, 0.5], [5.0, 1.0]], 1, "neither may fall"),
            (&[[10.0, 0.5], [20.0, 0.4], [30.0, 1.0]], 1, "neither may fall"),
            (&[[10.0, 0.5], [20.0, 0.9]], 1, "not 1"),
            (&[[-1.0, 0.0], [20.0, 1.0]], 0, "not a size"),
            (&[[1.0, f64::NAN], [20.0, 1.0]], 0, "not a probability"),
            (&[[0.0, 1.0]], 0, "all sizes are 0"),
        ] {
            let (i, message) = problem(points).unwrap();
            assert_eq!(i, at, "{message}");
            assert!(message.contains(words), "{message}");
        }
    }
}
