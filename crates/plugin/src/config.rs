//! What a scenario says of an algorithm, for whoever makes one in Rust.

use std::collections::BTreeMap;
use std::str::FromStr;

/// Attributes and seed.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub attributes: BTreeMap<String, String>,
    /// The run's seed, for algorithms that draw random numbers.
    pub seed: u64,
}

impl Config {
    /// Itself, if all attributes are among `names`; another ends the run with an error that says so.  A slip in a
    /// name would leave a default in force.
    pub fn only(&self, names: &[&str]) -> &Config {
        if let Some(other) = self.attributes.keys().find(|name| !names.contains(&name.as_str())) {
            panic!("there is no attribute {other}; there are: {}", names.join(", "));
        }
        self
    }

    /// The attribute `name`, or `default` if it is not given.  A value that does not parse ends the
    /// run with an error that says so.
    pub fn get<T: FromStr>(&self, name: &str, default: T) -> T {
        match self.attributes.get(name) {
            None => default,
            Some(text) => text.parse().unwrap_or_else(|_| {
                panic!("attribute {name}: `{text}` is not a {}", std::any::type_name::<T>())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Config;

    fn config(name: &str) -> Config {
        Config { attributes: [(name.to_owned(), "0.5".to_owned())].into(), seed: 1 }
    }

    #[test]
    fn an_attribute_that_is_known_is_read() {
        assert!((config("beta").only(&["alpha", "beta"]).get("beta", 0.7) - 0.5_f64).abs() < 1e-9);
    }

    #[test]
    #[should_panic(expected = "there is no attribute betta; there are: alpha, beta")]
    fn another_is_refused() {
        let _ = config("betta").only(&["alpha", "beta"]);
    }
}
