//! An added delay is drawn for each flow.

use ccperf_engine::base::rng::RngStream;
use ccperf_engine::base::time::Time;
use ccperf_engine::base::units;
use ccperf_schema::written::AddedDelay;

/// The next one; a checked one cannot fail.
pub fn draw(added: &AddedDelay, stream: &mut RngStream) -> Time {
    let time = |text: &String| units::parse_time(text).unwrap_or_default();
    match added {
        AddedDelay::Constant { delay } => time(delay),
        AddedDelay::Classes { delays, weights } => {
            let weight = |i: usize| weights.as_ref().map_or(1.0, |weights| weights[i]);
            let total: f64 = (0..delays.len()).map(weight).sum();
            let mut left = stream.unit() * total;
            let chosen = (0..delays.len()).find(|&i| {
                left -= weight(i);
                left < 0.0
            });
            time(&delays[chosen.unwrap_or(delays.len() - 1)])
        }
        AddedDelay::Uniform { min, max } => {
            let [min, max] = [min, max].map(|text| time(text).0 as f64);
            Time((min + (max - min) * stream.unit()).round() as u64)
        }
        AddedDelay::Cdf { points } => {
            let p = stream.unit();
            let above = points.iter().position(|point| point.1 >= p).unwrap_or(points.len() - 1);
            let (high, upper) = (time(&points[above].0).0 as f64, points[above].1);
            let (low, lower) = match above.checked_sub(1) {
                Some(below) => (time(&points[below].0).0 as f64, points[below].1),
                None => (high, 0.0),
            };
            let share = if upper > lower { (p - lower) / (upper - lower) } else { 1.0 };
            Time((low + (high - low) * share).round() as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, count: usize) -> Vec<u64> {
        let added: AddedDelay = serde_json::from_str(text).unwrap();
        let mut stream = RngStream::fixed(1, 7);
        (0..count).map(|_| draw(&added, &mut stream).0).collect()
    }

    #[test]
    fn classes_come_as_often_as_their_weights_say() {
        let text =
            r#"{"type": "Classes", "delays": ["1us", "20us", "160us"], "weights": [1, 0, 3]}"#;
        let all = drawn(text, 40_000);
        let share = |ns: u64| all.iter().filter(|&&each| each == ns).count() as f64 / 40_000.0;
        assert!((share(1_000) - 0.25).abs() < 0.01);
        assert_eq!(share(20_000), 0.0);
        assert!((share(160_000) - 0.75).abs() < 0.01);
    }

    #[test]
    fn without_weights_all_classes_are_alike() {
        let all = drawn(r#"{"type": "Classes", "delays": ["0s", "1us", "2us", "3us"]}"#, 40_000);
        for ns in [0, 1_000, 2_000, 3_000] {
            let count = all.iter().filter(|&&each| each == ns).count();
            assert!((count as f64 / 10_000.0 - 1.0).abs() < 0.03, "{ns}: {count}");
        }
    }

    #[test]
    fn a_uniform_delay_has_the_mean_of_its_ends() {
        let all = drawn(r#"{"type": "Uniform", "min": "10us", "max": "30us"}"#, 40_000);
        assert!(all.iter().all(|ns| (10_000..=30_000).contains(ns)));
        assert!((all.iter().sum::<u64>() as f64 / 40_000.0 / 20_000.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_distribution_may_begin_with_a_step_and_is_linear_after_it() {
        let text = r#"{"type": "Cdf", "points": [["10us", 0.5], ["30us", 1.0]]}"#;
        let all = drawn(text, 40_000);
        let steps = all.iter().filter(|&&ns| ns == 10_000).count() as f64 / 40_000.0;
        assert!((steps - 0.5).abs() < 0.01);
        let mean = all.iter().sum::<u64>() as f64 / 40_000.0;
        assert!((mean / 15_000.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_constant_delay_is_what_it_says() {
        assert_eq!(drawn(r#"{"type": "Constant", "delay": "40us"}"#, 2), [40_000, 40_000]);
    }
}
