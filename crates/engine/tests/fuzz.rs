//! Mutations of a saved corpus: whatever a scenario or a text says, it is refused or it runs.
//!
//! Nothing panics, sums that overflow included (the test profile checks them), and what is accepted
//! keeps its canonical form.  Mutations are not guided by coverage.  More, and other ones:
//! `FUZZ_EXECUTIONS=1000000 FUZZ_SEED=7 cargo test -p ccperf-engine --test fuzz -- --nocapture`.

use std::fs;
use std::path::Path;

use ccperf_engine::scenario::Canonical;
use ccperf_engine::simulate::Simulation;
use ccperf_engine::units;

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }
}

/// What stands at the edge of something.
const WORDS: [&str; 28] = [
    "0",
    "1",
    "-1",
    "255",
    "65536",
    "4294967295",
    "18446744073709551615",
    "1e300",
    "0.5",
    "\"0s\"",
    "\"1ns\"",
    "\"1000000000s\"",
    "\"9223372036854775807ns\"",
    "\"0bps\"",
    "\"1bps\"",
    "\"1000Tbps\"",
    "\"0p\"",
    "\"1p\"",
    "\"4294967295p\"",
    "\"1B\"",
    "\"65535B\"",
    "null",
    "true",
    "[]",
    "{}",
    "\"TcpBbr\"",
    "\"FqPieQueueDisc\"",
    "\"Exponential(mean=1ns)\"",
];

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn start(name: &str, executions: u64) -> (Draw, u64) {
    let seed = environment("FUZZ_SEED", 1);
    let executions = environment("FUZZ_EXECUTIONS", executions);
    println!("{name}: FUZZ_SEED={seed} FUZZ_EXECUTIONS={executions}");
    (Draw(seed), executions)
}

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Puts another value, or a piece of another scenario, in the place of one or a few.
fn mutated(corpus: &[String], draw: &mut Draw) -> String {
    let mut text = corpus[draw.below(corpus.len())].clone();
    for _ in 0..=draw.below(3) {
        let values: Vec<usize> = text.match_indices(':').map(|(at, _)| at + 1).collect();
        if values.is_empty() {
            break;
        }
        let from = values[draw.below(values.len())];
        let to = from + text[from..].find([',', '}', ']']).unwrap_or(0);
        let value = if draw.below(4) == 0 {
            let other = &corpus[draw.below(corpus.len())];
            let at = draw.below(other.len());
            other.chars().skip(at).take(1 + draw.below(40)).collect::<String>()
        } else {
            WORDS[draw.below(WORDS.len())].to_owned()
        };
        text.replace_range(from..to, &value);
    }
    text
}

#[test]
fn scenarios_are_refused_or_keep_their_canonical_form() {
    let (mut draw, executions) = start("scenarios", 20_000);
    let corpus = corpus();
    let mut accepted = 0;
    for _ in 0..executions {
        let text = mutated(&corpus, &mut draw);
        if let Ok(canonical) = Canonical::from_json(&text) {
            accepted += 1;
            let again = Canonical::from_json(&canonical.to_json());
            assert_eq!(again.as_ref(), Ok(&canonical), "{text}");
        }
    }
    println!("{accepted} accepted");
    assert!(accepted > 0);
}

#[test]
fn what_is_accepted_runs() {
    let (mut draw, executions) = start("runs", 300);
    let corpus = corpus();
    for _ in 0..executions {
        let text = mutated(&corpus, &mut draw);
        let Ok(canonical) = Canonical::from_json(&text) else { continue };
        let run = std::panic::catch_unwind(|| {
            let mut simulation = Simulation::new(canonical.lower(), None)?;
            // A legal run may be a long one.
            simulation.run_for(20_000)?;
            if simulation.run_for(1)? { Ok(()) } else { simulation.finish().map(drop) }
        });
        assert!(run.is_ok(), "panics: {text}");
    }
}

#[test]
fn texts_are_refused_or_mean_a_number() {
    let (mut draw, executions) = start("texts", 300_000);
    let pieces = [
        "0",
        "1",
        "9",
        ".",
        "-",
        "+",
        "e",
        "E",
        "18446744073709551615",
        "0.000000001",
        " ",
        "M",
        "k",
        "Ki",
        "T",
        "bps",
        "bit",
        "B/s",
        "s",
        "ms",
        "us",
        "ns",
        "ps",
        "y",
        "p",
        "B",
        "kB",
        ",",
        "é",
    ];
    for _ in 0..executions {
        let count = 1 + draw.below(6);
        let text: String = (0..count).map(|_| pieces[draw.below(pieces.len())]).collect();
        let _ = (units::parse_rate(&text), units::parse_time(&text), units::parse_size(&text));
        let _ = (units::parse_queue_size(&text), units::parse_numbers(&text));
    }
}
