//! Checks, lowers and runs a scenario (JSON) and prints the wall time:
//! `run_scenario FILE.json [PACKETS.csv]`.

#![allow(clippy::disallowed_methods, reason = "measures the wall time from outside")]

use std::path::Path;
use std::time::Instant;

use ccperf_engine::run::recording::Column;
use ccperf_engine::run::simulate::Simulation;
use ccperf_scenario::Canonical;

// As in the engine for Python.
#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: ccperf_memory::HugePages = ccperf_memory::HugePages;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: run_scenario FILE.json [PACKETS.csv]")?;
    let packets = args.next();
    let lowered = Canonical::from_json(&std::fs::read_to_string(file)?)?.lower();
    let start = Instant::now();
    let recording = Simulation::new(lowered, packets.as_deref().map(Path::new))?.finish()?;
    let wall = start.elapsed().as_secs_f64();
    let links = recording.table("links");
    let hops = links.and_then(|table| {
        table.columns.iter().find(|(name, _)| name == "tx_packets").map(
            |(_, column)| match column {
                Column::I64(values) => values.iter().sum::<i64>(),
                _ => 0,
            },
        )
    });
    let hops = hops.unwrap_or(0);
    println!("{wall:.6} s, {hops} packet-hops, {:.2} M/s", hops as f64 / wall / 1e6);
    Ok(())
}
