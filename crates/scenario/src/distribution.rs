//! Random lengths of time as text: `1s`, `Exponential(mean=1s)`, `Exponential(mean=1s,bound=5s)`,
//! `Uniform(min=0s,max=2s)`.  ns-3's form is taken as well, with its plain seconds:
//! `ns3::ExponentialRandomVariable[Mean=1|Bound=5]`.

use ccperf_engine::base::time::Time;
use ccperf_engine::base::units;
use ccperf_schema::lowered::Distribution;

const FORMS: &str = "write a time like 1s, Exponential(mean=1s) or Uniform(min=0s,max=2s)";
/// A bound far below the mean would have nearly all numbers drawn again.
const MEAN_TO_BOUND: u64 = 100;

/// A distribution of times, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    Constant(Time),
    Uniform {
        min: Time,
        max: Time,
    },
    /// `bound` 0: none.
    Exponential {
        mean: Time,
        bound: Time,
    },
}

impl Times {
    /// # Errors
    /// What is wrong with the text, and how to write it.
    pub fn parse(text: &str) -> Result<Times, String> {
        let Some((name, arguments, plain_seconds)) = call(text) else {
            return units::parse_time(text)
                .map(Times::Constant)
                .map_err(|e| format!("{e}; {FORMS}"));
        };
        let mut arguments = Arguments::parse(text, arguments, plain_seconds)?;
        let times = match name.to_ascii_lowercase().as_str() {
            "constant" => Times::Constant(arguments.take("constant", Some("1s"))?),
            "uniform" => Times::Uniform {
                min: arguments.take("min", Some("0s"))?,
                max: arguments.take("max", Some("1s"))?,
            },
            "exponential" => Times::Exponential {
                mean: arguments.take("mean", plain_seconds.then_some("1s"))?,
                bound: arguments.take("bound", Some("0s"))?,
            },
            _ => return Err(format!("`{text}` is not a distribution known here; {FORMS}")),
        };
        arguments.finish()?;
        times.check(text).map(|()| times)
    }

    fn check(self, text: &str) -> Result<(), String> {
        match self {
            Times::Uniform { min, max } if min > max => Err(format!("`{text}`: min is above max")),
            Times::Exponential { mean: Time::ZERO, .. } => {
                Err(format!("`{text}`: the mean must be above 0s"))
            }
            Times::Exponential { mean, bound }
                if !bound.is_zero() && bound.0 < mean.0 / MEAN_TO_BOUND =>
            {
                Err(format!("`{text}`: the bound is below a hundredth of the mean; raise it"))
            }
            _ => Ok(()),
        }
    }

    pub fn format(self) -> String {
        let time = units::format_time;
        match self {
            Times::Constant(value) => time(value),
            Times::Uniform { min, max } => format!("Uniform(min={},max={})", time(min), time(max)),
            Times::Exponential { mean, bound: Time::ZERO } => {
                format!("Exponential(mean={})", time(mean))
            }
            Times::Exponential { mean, bound } => {
                format!("Exponential(mean={},bound={})", time(mean), time(bound))
            }
        }
    }

    pub fn is_always_zero(self) -> bool {
        matches!(self, Times::Constant(Time::ZERO) | Times::Uniform { max: Time::ZERO, .. })
    }

    pub fn in_seconds(self) -> Distribution {
        let seconds = |time: Time| time.0 as f64 / 1e9;
        match self {
            Times::Constant(value) => Distribution::Constant(seconds(value)),
            Times::Uniform { min, max } => {
                Distribution::Uniform { min: seconds(min), max: seconds(max) }
            }
            Times::Exponential { mean, bound } => {
                Distribution::Exponential { mean: seconds(mean), bound: seconds(bound) }
            }
        }
    }
}

/// Name and arguments of `Name(...)` or `ns3::NameRandomVariable[...]`, and whether it is the latter.
fn call(text: &str) -> Option<(&str, &str, bool)> {
    let open = text.find(['(', '['])?;
    let (name, rest) = text.split_at(open);
    let inner = match &rest[..1] {
        "(" => rest[1..].strip_suffix(')')?,
        _ => rest[1..].strip_suffix(']')?,
    };
    let name = name.strip_prefix("ns3::").unwrap_or(name);
    let plain = name.strip_suffix("RandomVariable");
    Some((plain.unwrap_or(name), inner, plain.is_some()))
}

struct Arguments<'a> {
    text: &'a str,
    values: Vec<(String, Time)>,
}

impl<'a> Arguments<'a> {
    fn parse(text: &'a str, inner: &str, plain_seconds: bool) -> Result<Self, String> {
        let mut values: Vec<(String, Time)> = Vec::new();
        for item in inner.split([',', '|']).filter(|item| !item.trim().is_empty()) {
            let Some((name, value)) = item.split_once('=') else {
                return Err(format!("`{text}`: `{item}` is not name=value; {FORMS}"));
            };
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            let time = match value.parse::<f64>() {
                Ok(seconds) if plain_seconds && (0.0..1e9).contains(&seconds) => {
                    Time::from_secs_f64(seconds)
                }
                _ => units::parse_time(value).map_err(|e| format!("`{text}`: {e}"))?,
            };
            if values.iter().any(|(other, _)| *other == name) {
                return Err(format!("`{text}`: {name} is given twice"));
            }
            values.push((name, time));
        }
        Ok(Arguments { text, values })
    }

    fn take(&mut self, name: &str, default: Option<&str>) -> Result<Time, String> {
        match self.values.iter().position(|(other, _)| other == name) {
            Some(at) => Ok(self.values.remove(at).1),
            None => match default {
                Some(default) => units::parse_time(default),
                None => Err(format!("`{}`: {name} is missing; {FORMS}", self.text)),
            },
        }
    }

    fn finish(self) -> Result<(), String> {
        match self.values.first() {
            Some((name, _)) => Err(format!("`{}` has no `{name}`; {FORMS}", self.text)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_one_canonical_text() {
        for (text, canonical) in [
            ("1000ms", "1s"),
            ("Exponential(mean=1s)", "Exponential(mean=1s)"),
            ("exponential( Mean = 500ms , bound=2s)", "Exponential(mean=500ms,bound=2s)"),
            ("Uniform(max=2s)", "Uniform(min=0s,max=2s)"),
            ("ns3::ConstantRandomVariable[Constant=0.5]", "500ms"),
            ("ns3::ExponentialRandomVariable[Mean=0.35|Bound=0]", "Exponential(mean=350ms)"),
            ("ns3::UniformRandomVariable[Min=0.1|Max=1]", "Uniform(min=100ms,max=1s)"),
        ] {
            let times = Times::parse(text).unwrap();
            assert_eq!(times.format(), canonical);
            assert_eq!(Times::parse(canonical).unwrap(), times);
        }
    }

    #[test]
    fn mistakes_say_how_to_write_it() {
        for (text, words) in [
            ("1", "no unit"),
            ("Pareto(mean=1s)", "not a distribution"),
            ("Exponential()", "mean is missing"),
            ("Exponential(mean=0s)", "above 0s"),
            ("Exponential(mean=1s,bound=1ms)", "hundredth"),
            ("Exponential(mean=1)", "no unit"),
            ("Exponential(mean=1s,mean=2s)", "given twice"),
            ("Uniform(min=2s,max=1s)", "min is above max"),
            ("Uniform(2s)", "not name=value"),
            ("Uniform(mean=2s)", "no `mean`"),
            ("Uniform(max=2s", "Exponential(mean=1s)"),
        ] {
            let error = Times::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn seconds_are_the_nearest_double() {
        let times = Times::parse("Exponential(mean=350ms,bound=700ms)").unwrap();
        assert_eq!(times.in_seconds(), Distribution::Exponential { mean: 0.35, bound: 0.7 });
    }
}
