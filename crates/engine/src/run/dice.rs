//! Random scenarios of tests.

use ccperf_scenario::Canonical;
use ccperf_schema::ScenarioError;
use ccperf_schema::lowered::Lowered;
use serde_json::Value;

/// A small generator, so that a failing case is named by one number.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len() as u64) as usize]
    }
}

pub(crate) fn lower(scenario: &Value) -> Lowered {
    try_lower(scenario).unwrap()
}

pub(crate) fn try_lower(scenario: &Value) -> Result<Lowered, ScenarioError> {
    Ok(Canonical::from_json(&scenario.to_string())?.lower())
}
