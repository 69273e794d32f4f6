//! What is wrong with a scenario.

use std::fmt;

/// One thing wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field, e.g. `flows[0].stop`; empty for the scenario as a whole.
    pub path: String,
    /// The value and what to do about it.
    pub message: String,
}

/// Everything that is wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError(pub Vec<Problem>);

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Problem { path, message }) in self.0.iter().enumerate() {
            let newline = if i > 0 { "\n" } else { "" };
            let colon = if path.is_empty() { "" } else { ": " };
            write!(f, "{newline}{path}{colon}{message}")?;
        }
        Ok(())
    }
}
