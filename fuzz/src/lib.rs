//! What reads a stranger's input, as functions of bytes: each returns for whatever it is given, or has
//! found a bug by panicking.
//!
//! Guided by coverage: `make fuzz TARGET=scenario`.  One file again, with any compiler:
//! `cargo run -p ccperf-fuzz --bin scenario -- FILE`.  `cargo test -p ccperf-fuzz` has a short run of
//! each, from the saved corpora.

mod json;
mod script;
mod user_code;

use ccperf_engine::base::units;
use ccperf_engine::run::simulate::Simulation;
use ccperf_scenario::Canonical;
use ccperf_schema::Settings;

pub use json::{Draw, mutated};
pub use user_code::user_code;

/// A target, and how its input is changed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub name: &'static str,
    pub takes: fn(&[u8]),
    /// The folder of its saved inputs.
    pub corpus: &'static str,
    /// Whether another value in the place of one makes sense of its input.
    pub is_json: bool,
}

pub const TARGETS: [Target; 6] = [
    Target { name: "scenario", takes: scenario, corpus: "scenario", is_json: true },
    Target { name: "run", takes: run, corpus: "scenario", is_json: true },
    Target { name: "settings", takes: settings, corpus: "settings", is_json: true },
    Target { name: "units", takes: units, corpus: "units", is_json: false },
    Target { name: "parquet", takes: parquet, corpus: "parquet", is_json: false },
    Target { name: "user_code", takes: user_code, corpus: "user_code", is_json: false },
];

/// A legal run may be a long one.
const EVENTS: u64 = 20_000;

/// A scenario is refused, or keeps its canonical form.
pub fn scenario(data: &[u8]) {
    let Some(canonical) = accepted(data) else { return };
    let again = Canonical::from_json(&canonical.to_json());
    assert_eq!(again.as_ref(), Ok(&canonical), "its canonical form is another scenario");
}

/// What is accepted runs.
pub fn run(data: &[u8]) {
    let Some(canonical) = accepted(data) else { return };
    if let Ok(mut simulation) = Simulation::new(canonical.lower(), None) {
        first_events(&mut simulation);
    }
}

/// The settings that a page has for a scenario, changed: refused, or a scenario again.
pub fn settings(data: &[u8]) {
    let base = Canonical::from_json(include_str!("../scenarios/dumbbell.json")).expect("is legal");
    let Some(changed) = text(data).and_then(|text| Settings::from_json(text).ok()) else { return };
    if let Ok(changed) = base.what_if(&changed) {
        assert!(Canonical::from_json(&changed.to_json()).is_ok(), "settings make what is refused");
    }
}

/// Texts with units are refused, or mean a number.
pub fn units(data: &[u8]) {
    let Some(text) = text(data) else { return };
    if let Ok(time) = units::parse_time(text) {
        assert_eq!(units::parse_time(&units::format_time(time)), Ok(time), "{text}");
    }
    if let Ok(rate) = units::parse_rate(text) {
        assert_eq!(units::parse_rate(&units::format_rate(rate)), Ok(rate), "{text}");
    }
    if let Ok(size) = units::parse_size(text) {
        assert_eq!(units::parse_size(&units::format_size(size)), Ok(size), "{text}");
    }
    let _ = (units::parse_queue_size(text), units::parse_numbers(text));
}

/// The rows of the saved tables, or whatever they have.
const ROWS: [Option<usize>; 4] = [None, Some(0), Some(2), Some(40)];

/// A stored table is refused, or has what was promised.
pub fn parquet(data: &[u8]) {
    for rows in ROWS {
        if let Ok(columns) = ccperf_parquet::read(data, rows, 1 << 20) {
            let rows = rows.or(columns.first().map(|(_, values)| values.len())).unwrap_or(0);
            assert!(columns.iter().all(|(_, values)| values.len() == rows), "other rows");
        }
    }
}

fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

fn accepted(data: &[u8]) -> Option<Canonical> {
    Canonical::from_json(text(data)?).ok()
}

/// To the end, if it is near.
fn first_events(simulation: &mut Simulation) {
    // User code may fail here; the engine may not.
    if simulation.run_for(EVENTS).is_ok() {
        simulation.so_far().expect("files can be read");
    }
}

/// The `main` of a target: libFuzzer's, or without it one that takes files.
#[macro_export]
macro_rules! fuzz {
    ($target:expr) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $target(data));

        #[cfg(not(fuzzing))]
        fn main() {
            for path in std::env::args().skip(1) {
                $target(&std::fs::read(&path).expect("a file that can be read"));
                println!("{path}: fine");
            }
        }
    };
}

/// As [`fuzz!`], for input in JSON: half of the changes put another value in the place of one.
#[macro_export]
macro_rules! fuzz_json {
    ($target:expr) => {
        $crate::fuzz!($target);

        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
            let text = std::str::from_utf8(&data[..size]).ok().filter(|_| seed % 2 == 0);
            let Some(text) = text else { return libfuzzer_sys::fuzzer_mutate(data, size, most) };
            let changed = $crate::mutated(text, text, &mut $crate::Draw(seed.into()));
            let length = changed.len().min(most);
            data[..length].copy_from_slice(&changed.as_bytes()[..length]);
            length
        });
    };
}
