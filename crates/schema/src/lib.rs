//! The two forms of a scenario, as data and as JSON: `written` is what users write, `lowered` what backends run; and
//! the settings that every scenario has.
//!
//! Nothing here depends on the engine, so a change of the engine's code leaves this crate, and all that reading and
//! writing JSON is compiled to, as they are.

pub mod lowered;
mod problem;
mod settings;
pub mod written;

pub use problem::{Problem, ScenarioError};
pub use settings::Settings;
