//! What a simulation holds while it runs: what its allocations come to, on any machine the same.

#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ccperf_engine::base::time::Time;
use ccperf_engine::run::simulate::Simulation;
use ccperf_scenario::Canonical;
use serde_json::{Value, json};

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

/// Counts the bytes that each thread holds; nothing here crosses threads.
struct Counting;

fn hold(bytes: usize) {
    HELD.set(HELD.get().wrapping_add(bytes));
    MOST.set(MOST.get().max(HELD.get()));
}

fn release(bytes: usize) {
    HELD.set(HELD.get().wrapping_sub(bytes));
}

// SAFETY: all is done by the system's allocator; counters of the thread's own, without a destructor,
// allocate nothing themselves.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        hold(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        release(layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` took it from there.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        hold(size);
        release(layout.size());
        // SAFETY: the caller keeps the contract of `realloc`, and `alloc` took it from there.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn simulation(scenario: &Value) -> Simulation {
    let lowered = Canonical::from_json(&scenario.to_string()).expect("legal").lower();
    Simulation::new(lowered, None).expect("runs")
}

/// Bytes that the rest of a simulation takes at the most.
fn most_of(mut simulation: Simulation) -> usize {
    MOST.set(HELD.get());
    let before = HELD.get();
    while simulation.run_until(Time::MAX).expect("runs") {}
    MOST.get() - before
}

/// One flow over two links, sampled each 30 ms.  Its rate makes packets, not samples.
fn long(stop_time: &str) -> Value {
    let link = |name: &str, ends: [&str; 2]| json!({"name": name, "ends": ends, "rate": "100kbps", "delay": "10ms"});
    json!({
        "nodes": ["a", "r", "b"], "stop_time": stop_time,
        "links": [link("in", ["a", "r"]), link("out", ["r", "b"])],
        "flows": [{"source": "a", "destination": "b", "cc": {"type": "TcpNewReno"}}],
    })
}

#[test]
fn samples_of_a_long_run_take_no_memory() {
    let (long, longer) = (most_of(simulation(&long("500s"))), most_of(simulation(&long("1500s"))));
    assert!(longer <= long + 4_096, "{longer} B after three times as long, {long} B before");
    assert!(longer < 2 << 20, "{longer} B");
}

#[test]
fn flows_that_have_ended_take_no_samples() {
    let ended = |stop_time: &str| {
        let mut scenario = long(stop_time);
        let transfer = json!({"type": "Greedy", "bytes": "1kB"});
        scenario["flows"] = json!([{
            "source": "a", "destination": "b", "cc": {"type": "TcpNewReno"}, "application": transfer,
        }]);
        scenario["recording"] = json!({"links": "none"});
        simulation(&scenario)
    };
    let (short, long) = (most_of(ended("2s")), most_of(ended("200s")));
    assert!(long <= short + 128, "{long} B after 200 s, {short} B after 2 s");
}
