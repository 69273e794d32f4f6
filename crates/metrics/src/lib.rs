//! The statistics in metrics' names: over time, over the values that exist; and rates of counters.
//!
//! Sums of floating-point numbers depend on their order, and metrics are published to the last bit. So the order is
//! kept that NumPy has, with which they were computed first: a column that is alone is added by halves ([`halves`]), and
//! so is each row; columns side by side are added from the first row to the last.

/// Samples over time: `columns` of them at each point, NaN where there is no value.
#[derive(Clone, Copy)]
pub struct Series<'a> {
    /// Row by row.
    pub values: &'a [f64],
    pub columns: usize,
}

/// The plain mean of each column; NaN for a column without values.
pub fn mean(series: Series) -> Vec<f64> {
    series.sums(|_, value| value).into_iter().map(|(sum, count)| ratio(sum, count as f64)).collect()
}

/// The coefficient of variation of each column: sample deviation (ddof 1) over mean.
pub fn cov(series: Series) -> Vec<f64> {
    let centres = mean(series);
    let squares = series.sums(|column, value| {
        let away = value - centres[column];
        away * away
    });
    let of = |((sum, count), centre): ((f64, usize), &f64)| {
        ratio(ratio(sum, count as f64 - 1.0).sqrt(), *centre)
    };
    squares.into_iter().zip(&centres).map(of).collect()
}

/// The nearest-rank percentile of each column; NaN for a column without values.
///
/// That is the least value that at least `percent` % of the column's values do not exceed.
pub fn percentiles(series: Series, percent: usize) -> Vec<f64> {
    let mut found = Vec::new();
    let of = |column| {
        found.clear();
        found.extend(series.column(column).filter(|value| !value.is_nan()));
        let rank = (percent * found.len()).div_ceil(100).max(1);
        let at = found.get(rank - 1).map(|_| rank - 1);
        at.map_or(f64::NAN, |at| *found.select_nth_unstable_by(at, f64::total_cmp).1)
    };
    (0..series.columns).map(of).collect()
}

/// The sum of each row, over the values that exist; NaN for a row without values.
pub fn row_sums(series: Series) -> Vec<f64> {
    let of = |row: &[f64]| {
        let sum = halves(0, row.len(), &|i| row[i]);
        if !sum.is_nan() || row.iter().all(|value| value.is_nan()) {
            return sum;
        }
        halves(0, row.len(), &|i| existing(row[i]))
    };
    series.values.chunks_exact(series.columns.max(1)).map(of).collect()
}

/// What counters of bytes gain from each row to the next, in Mbps, rounded down to whole bit/s.
pub fn rates(counters: &[i64], columns: usize, interval_ns: u64) -> Vec<f64> {
    const SECOND_NS: i64 = 1_000_000_000;
    let interval = interval_ns.max(1);
    let later = counters.get(columns..).unwrap_or_default();
    let rate = |(&before, &after): (&i64, &i64)| {
        let bits = 8 * (i128::from(after) - i128::from(before));
        let narrow = i64::try_from(bits).ok().and_then(|bits| bits.checked_mul(SECOND_NS));
        let per_second = match narrow {
            Some(product) => product.div_euclid(interval as i64) as f64,
            None => (bits * i128::from(SECOND_NS)).div_euclid(interval.into()) as f64,
        };
        per_second / 1e6
    };
    counters.iter().zip(later).map(rate).collect()
}

impl Series<'_> {
    fn rows(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    fn column(&self, column: usize) -> impl Iterator<Item = f64> {
        self.values.iter().skip(column).step_by(self.columns.max(1)).copied()
    }

    /// Of each column the sum of what is made of its values, and how many of that exist.
    fn sums(&self, made: impl Fn(usize, f64) -> f64) -> Vec<(f64, usize)> {
        let all = self.added(&made);
        let count =
            |column| self.column(column).filter(|&value| !made(column, value).is_nan()).count();
        if !all.iter().any(|sum| sum.is_nan()) {
            return all.into_iter().map(|sum| (sum, self.rows())).collect();
        }
        let those = self.added(&|column, value| existing(made(column, value)));
        those.into_iter().enumerate().map(|(column, sum)| (sum, count(column))).collect()
    }

    fn added(&self, made: &impl Fn(usize, f64) -> f64) -> Vec<f64> {
        if self.columns == 1 {
            return vec![halves(0, self.values.len(), &|i| made(0, self.values[i]))];
        }
        let mut sums = vec![0.0; self.columns];
        for row in self.values.chunks_exact(self.columns.max(1)) {
            for (column, (sum, &value)) in sums.iter_mut().zip(row).enumerate() {
                *sum += made(column, value);
            }
        }
        sums
    }
}

/// The sum of `count` values from `first` on: the sums of both halves, or of eight lanes where they are few.
fn halves(first: usize, count: usize, value: &impl Fn(usize) -> f64) -> f64 {
    const LANES: usize = 8;
    if count > 128 {
        let half = count / 2 - count / 2 % LANES;
        return halves(first, half, value) + halves(first + half, count - half, value);
    }
    if count < LANES {
        return (first..first + count).fold(0.0, |sum, i| sum + value(i));
    }
    let mut lanes: [f64; LANES] = std::array::from_fn(|lane| value(first + lane));
    let whole = count - count % LANES;
    for at in (LANES..whole).step_by(LANES) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += value(first + at + lane);
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    (first + whole..first + count).fold(sum, |sum, i| sum + value(i))
}

/// A value, or what adds nothing where there is none.
fn existing(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value }
}

/// NaN where the denominator is not above zero.
fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: f64 = f64::NAN;

    fn series(values: &[f64], columns: usize) -> Series<'_> {
        Series { values, columns }
    }

    #[test]
    fn what_does_not_exist_counts_nowhere() {
        let values = [1.0, NONE, 3.0, 4.0, NONE, 8.0];
        assert_eq!(mean(series(&values, 2)), [2.0, 6.0]);
        assert_eq!(row_sums(series(&values, 2)), [1.0, 7.0, 8.0]);
        assert_eq!(percentiles(series(&values, 2), 50), [1.0, 4.0]);
        assert!(mean(series(&[NONE, NONE], 1))[0].is_nan());
        assert!(percentiles(series(&[NONE, NONE], 1), 99)[0].is_nan());
        assert!(row_sums(series(&[NONE, NONE], 2))[0].is_nan());
        assert!(mean(series(&[], 1))[0].is_nan());
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(cov(series(&[1.0, 3.0], 1)), [2.0_f64.sqrt() / 2.0]);
        assert!(cov(series(&[1.0], 1))[0].is_nan());
    }

    #[test]
    fn rates_are_rounded_down_to_whole_bits_and_never_overflow() {
        assert_eq!(rates(&[0, 7, 1, 8, 3, 8], 2, 3_000_000_000), [2e-6, 2e-6, 5e-6, 0.0]);
        assert_eq!(rates(&[0, 1 << 50], 1, 1_000_000_000), [(1_u64 << 53) as f64 / 1e6]);
        assert!(rates(&[5], 1, 0).is_empty());
        assert!(rates(&[i64::MIN, i64::MAX], 1, 1)[0] > 1e19);
    }

    /// 0.1 added a thousand times is too small by 1e-12; by halves it is not.
    #[test]
    fn one_column_is_added_by_halves_and_several_row_by_row() {
        let (alone, both) = (vec![0.1; 1000], vec![0.1; 2000]);
        let one_by_one = alone.iter().fold(0.0, |sum, value| sum + value) / 1000.0;
        assert_ne!(mean(series(&alone, 1)), [one_by_one]);
        assert_eq!(mean(series(&both, 2)), [one_by_one; 2]);
    }
}
