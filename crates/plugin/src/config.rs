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
