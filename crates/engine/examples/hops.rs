#![allow(clippy::disallowed_methods)]
use std::time::Instant;
use ccperf_engine::recording::Column;
use ccperf_engine::simulate::Simulation;
use std::hash::Hasher;
fn cpu() -> f64 { let s = std::fs::read_to_string("/proc/self/schedstat").unwrap(); s.split(' ').next().unwrap().parse::<f64>().unwrap()/1e9 }
fn main() {
    let mut args = std::env::args().skip(1);
    let text = std::fs::read_to_string(args.next().unwrap()).unwrap();
    let repeats: usize = args.next().map_or(1, |n| n.parse().unwrap());
    let mut best = f64::MAX;
    for _ in 0..repeats {
        let lowered = serde_json::from_str(&text).unwrap();
        let wall = Instant::now();
        let c = cpu();
        let sim = Simulation::new(lowered, None).unwrap();
        let setup = cpu() - c;
        let recording = sim.finish().unwrap();
        let t = cpu() - c;
        best = best.min(t);
        let mut hops = 0; let mut h = std::hash::DefaultHasher::new();
        for table in &recording.tables { 
            if !["flows","links","drops","flow_samples","link_samples"].contains(&&*table.name) { continue }
            for (name, column) in &table.columns {
            if ["failure_dropped","bottleneck","base_rtt_ns"].contains(&&**name) { continue }
            match column {
                Column::I64(v) => { if *name == "tx_packets" { hops = v.iter().sum::<i64>(); } for x in v { h.write_i64(*x) } }
                Column::F64(v) => for x in v { h.write_u64(x.to_bits()) },
                _ => {}
            } } }
        println!("{:.4} s cpu (setup {:.4}), {:.4} wall, {hops} hops, {:.2} M/s, {:.1} ns/hop, tables {:016x}", t, setup, wall.elapsed().as_secs_f64(), hops as f64/t/1e6, t*1e9/hops as f64, h.finish());
    }
    if repeats > 1 { println!("best {best:.4}"); }
}
