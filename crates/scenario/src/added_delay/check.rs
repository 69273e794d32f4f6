//! Checks of added delays.

use ccperf_engine::base::time::Time;
use ccperf_engine::base::units;
use ccperf_schema::written::AddedDelay;

use crate::check::{Path, Report};

/// As long as a day: what is longer is a mistake.
const MOST: Time = Time::from_secs(86_400);

impl Report {
    pub(crate) fn added_delay(&mut self, path: Path<'_>, added: &mut AddedDelay) {
        match added {
            AddedDelay::Constant { delay } => {
                self.at_most_a_day(&format_args!("{path}.delay"), delay);
            }
            AddedDelay::Classes { delays, weights } => {
                for (i, text) in delays.iter_mut().enumerate() {
                    self.at_most_a_day(&format_args!("{path}.delays[{i}]"), text);
                }
                if delays.is_empty() {
                    self.add(format!("{path}.delays"), "are none; give at least one");
                }
                if let Some(weights) = weights {
                    self.weights(&format_args!("{path}.weights"), weights, delays.len());
                }
            }
            AddedDelay::Uniform { min, max } => {
                let least = self.at_most_a_day(&format_args!("{path}.min"), min);
                let most = self.at_most_a_day(&format_args!("{path}.max"), max);
                if let (Some(least), Some(most)) = (least, most)
                    && least > most
                {
                    self.add(format!("{path}.max"), format!("{max} is below min ({min})"));
                }
            }
            AddedDelay::Cdf { points } => {
                self.delay_points(&format_args!("{path}.points"), points);
            }
        }
    }

    fn at_most_a_day(&mut self, path: Path<'_>, text: &mut String) -> Option<Time> {
        let time = self.time(path, text)?;
        if time > MOST {
            self.add(path, format!("{text} is more than a day"));
            return None;
        }
        Some(time)
    }

    fn weights(&mut self, path: Path<'_>, weights: &[f64], delays: usize) {
        if weights.len() != delays {
            let count = weights.len();
            self.add(path, format!("are {count} for {delays} delays; give one each"));
        }
        for (i, &weight) in weights.iter().enumerate() {
            if !(weight >= 0.0 && weight.is_finite()) {
                self.add(format!("{path}[{i}]"), format!("{weight} is not a weight from 0 up"));
                return;
            }
        }
        if weights.iter().sum::<f64>() == 0.0 {
            self.add(path, "are all 0; give at least one above 0");
        }
    }

    fn delay_points(&mut self, path: Path<'_>, points: &mut [(String, f64)]) {
        let mut before = (Time::ZERO, 0.0);
        for (i, (text, probability)) in points.iter_mut().enumerate() {
            let path = format!("{path}[{i}]");
            let Some(delay) = self.at_most_a_day(&format_args!("{path}[0]"), text) else { return };
            if !(0.0..=1.0).contains(probability) {
                let message = format!("{probability} is not a probability from 0 to 1");
                return self.add(format!("{path}[1]"), message);
            }
            if delay < before.0 || *probability < before.1 {
                let before = units::format_time(before.0);
                let message =
                    format!("({text}, {probability}) comes after {before}, but neither may fall");
                return self.add(path, message);
            }
            before = (delay, *probability);
        }
        match points.last() {
            None => self.add(path, "there are no points; write [delay, probability]"),
            Some((_, last)) if *last != 1.0 => {
                let i = points.len() - 1;
                self.add(format!("{path}[{i}]"), format!("the last probability is {last}, not 1"));
            }
            Some(_) => {}
        }
    }
}
