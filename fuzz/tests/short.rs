//! Each target on its saved corpus and on changes of it.  Other ones, and more:
//! `FUZZ_SEED=7 FUZZ_EXECUTIONS=1000000 cargo test --release -p ccperf-fuzz -- --nocapture`.

use std::fs;
use std::path::Path;
use std::str::from_utf8;

use ccperf_fuzz::{Draw, TARGETS, Target, mutated};

fn environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.corpus);
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Bytes of one with bytes of another.
fn crossed(one: &[u8], other: &[u8], draw: &mut Draw) -> Vec<u8> {
    let (cut, from) = (draw.below(one.len() + 1), draw.below(other.len() + 1));
    let mut crossed = [&one[..cut], &other[from..]].concat();
    for _ in 0..draw.below(4) {
        let place = draw.below(crossed.len());
        if let Some(byte) = crossed.get_mut(place) {
            *byte = draw.below(256) as u8;
        }
    }
    crossed
}

fn short_run(name: &str, executions: u64) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let seed = environment("FUZZ_SEED").unwrap_or(1);
    let executions = environment("FUZZ_EXECUTIONS").unwrap_or(executions);
    println!("{name}: FUZZ_SEED={seed} FUZZ_EXECUTIONS={executions}");
    let (corpus, mut draw) = (corpus(target), Draw(seed));
    corpus.iter().for_each(|input| (target.takes)(input));
    for _ in 0..executions {
        let one = &corpus[draw.below(corpus.len())];
        let other = &corpus[draw.below(corpus.len())];
        let input = match (from_utf8(one), from_utf8(other)) {
            (Ok(one), Ok(other)) if target.is_json => mutated(one, other, &mut draw).into_bytes(),
            _ => crossed(one, other, &mut draw),
        };
        if std::panic::catch_unwind(|| (target.takes)(&input)).is_err() {
            panic!("{name} panics with {:?}", String::from_utf8_lossy(&input));
        }
    }
}

#[test]
fn scenarios_are_refused_or_keep_their_canonical_form() {
    short_run("scenario", 20_000);
}

#[test]
fn what_is_accepted_runs() {
    short_run("run", 300);
}

#[test]
fn settings_are_refused_or_make_a_scenario() {
    short_run("settings", 5_000);
}

#[test]
fn texts_are_refused_or_mean_a_number() {
    short_run("units", 300_000);
}

#[test]
fn stored_tables_are_refused_or_have_what_was_promised() {
    short_run("parquet", 10_000);
}

#[test]
fn user_code_that_answers_anything_runs_or_fails() {
    short_run("user_code", 300);
}
