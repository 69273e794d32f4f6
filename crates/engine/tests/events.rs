//! How many events small scenarios take, against the recorded table beside this file: the engine is fast
//! because most of ns-3's events need none here, and a change that brings them back shows on any machine.
//!
//! What is meant is written anew with `WRITE_EVENTS=1 cargo test -p ccperf-engine --test events`.

#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;

use ccperf_engine::base::time::Time;
use ccperf_engine::run::recording::{Column, Recording};
use ccperf_engine::run::simulate::Simulation;
use ccperf_scenario::Canonical;
use serde_json::{Value, json};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: all is done by the system's allocator; a counter of the thread's own, without a destructor,
// allocates nothing itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` took it from there.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `realloc`, and `alloc` took it from there.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/events.txt");

/// Flows between hosts of their own over one bottleneck.
fn dumbbell(flows: usize, of_bottleneck: &Value, of_flow: &Value) -> Value {
    let mut link = json!({"name": "btl", "ends": ["left", "right"], "delay": "2ms"});
    merge(&mut link, of_bottleneck);
    let (mut nodes, mut links, mut all) =
        (vec!["left".to_owned(), "right".to_owned()], vec![link], vec![]);
    for i in 0..flows {
        let (source, sink) = (format!("s{i}"), format!("d{i}"));
        for ends in [[source.clone(), "left".to_owned()], ["right".to_owned(), sink.clone()]] {
            let name = format!("{}_{}", ends[0], ends[1]);
            links.push(json!({"name": name, "ends": ends, "rate": "1Gbps", "delay": "500us"}));
        }
        let mut flow = json!({"source": source, "destination": sink, "cc": {"type": "TcpNewReno"},
                              "tcp": {"SegmentSize": "1448", "DelAckCount": "1"}});
        merge(&mut flow, of_flow);
        all.push(flow);
        nodes.extend([source, sink]);
    }
    json!({"nodes": nodes, "links": links, "flows": all, "stop_time": "1s"})
}

/// Hosts at a switch that marks, with transfers between them.
fn star(hosts: usize, transfers: usize) -> Value {
    let names: Vec<_> = (0..hosts).map(|i| format!("h{i}")).collect();
    let marks = json!({"type": "RedQueueDisc", "attributes": {
        "MinTh": "20", "MaxTh": "20", "QW": "1", "UseEcn": "true", "UseHardDrop": "false"}});
    let link = |name: &String| {
        json!({"name": name, "ends": [name, "switch"], "rate": "1Gbps", "delay": "5us",
               "forward": {"device_queue": "1p"}, "reverse": {"qdisc": marks, "device_queue": "1p"}})
    };
    let links: Vec<_> = names.iter().map(link).collect();
    let nodes: Vec<_> = names.iter().cloned().chain(["switch".to_owned()]).collect();
    json!({"nodes": nodes, "links": links, "stop_time": "50ms",
           "stacks": [{"name": "dc", "cc": {"type": "TcpDctcp"}, "tcp": {"MinRto": "5ms"}}],
           "workloads": [{"name": "web", "stack": "dc", "sizes": {"type": "WebSearch"},
                          "arrivals": {"type": "Poisson", "load": 0.5, "count": transfers}}]})
}

/// So many transfers that go on until the end, all between two hosts, with four segments in flight each.
fn crowd(transfers: u32) -> Value {
    let starts: Vec<_> = (0..transfers).map(|i| format!("{}us", 10 * i)).collect();
    let queue = json!({"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "20000p"}}});
    let link = |ends: [&str; 2]| {
        json!({"name": ends.join("_"), "ends": ends, "rate": "10Gbps", "delay": "200us",
               "forward": queue, "reverse": queue})
    };
    json!({"nodes": ["s", "left", "right", "d"],
           "links": [link(["s", "left"]), link(["left", "right"]), link(["right", "d"])],
           "stop_time": "80ms",
           "stacks": [{"name": "reno", "cc": {"type": "TcpNewReno"},
                       "tcp": {"SegmentSize": "1448", "RcvBufSize": "5792"}}],
           "workloads": [{"name": "crowd", "stack": "reno", "write": "5792B",
                          "sizes": {"type": "Constant", "bytes": "1000000000B"},
                          "arrivals": {"type": "Times", "times": starts},
                          "pairs": {"type": "Listed", "pairs": [["s", "d"]]}}],
           "recording": {"flows": "none", "links": "none"}})
}

fn merge(into: &mut Value, fields: &Value) {
    for (name, value) in fields.as_object().expect("fields") {
        into[name] = value.clone();
    }
}

fn scenarios() -> Vec<(&'static str, Value)> {
    let at = |rate: &str| json!({"rate": rate});
    let before = |rate: &str, kind: &str, device_queue: &str| json!({"rate": rate, "forward": {"qdisc": {"type": kind}, "device_queue": device_queue}});
    let under = |cc: &str| json!({"cc": {"type": cc}});
    let plain = json!({});
    let mut changing = dumbbell(1, &at("20Mbps"), &plain);
    changing["changes"] = json!([{"time": "400ms", "link": "btl", "rate": "5Mbps"},
                                 {"time": "700ms", "link": "btl", "delay": "9ms"}]);
    let mut pinging = dumbbell(1, &at("20Mbps"), &plain);
    pinging["pings"] = json!([{"source": "s0", "destination": "d0", "interval": "10ms"}]);
    let datagrams = json!({"transport": "UDP", "application": {"type": "CBR", "rate": "8Mbps"}});
    let mut of_datagrams = dumbbell(2, &at("10Mbps"), &plain);
    for flow in of_datagrams["flows"].as_array_mut().expect("flows") {
        for of_tcp in ["cc", "tcp"] {
            flow.as_object_mut().expect("a flow").remove(of_tcp);
        }
        merge(flow, &datagrams);
    }
    vec![
        ("one flow", dumbbell(1, &at("100Mbps"), &plain)),
        ("one flow, CUBIC", dumbbell(1, &at("100Mbps"), &under("TcpCubic"))),
        ("one flow, BBR", dumbbell(1, &at("100Mbps"), &under("TcpBbr"))),
        (
            "one flow, every second ACK",
            dumbbell(1, &at("100Mbps"), &json!({"tcp": {"DelAckCount": "2"}})),
        ),
        (
            "one flow, losses",
            dumbbell(1, &json!({"rate": "50Mbps", "forward": {"loss": 0.01}}), &plain),
        ),
        (
            "one flow, device queue of one",
            dumbbell(1, &before("50Mbps", "FifoQueueDisc", "1p"), &plain),
        ),
        ("five flows, CoDel", dumbbell(5, &before("50Mbps", "CoDelQueueDisc", "1p"), &plain)),
        ("five flows, FqCoDel", dumbbell(5, &before("50Mbps", "FqCoDelQueueDisc", "1p"), &plain)),
        ("forty flows", dumbbell(40, &at("400Mbps"), &plain)),
        ("forty flows, BBR", dumbbell(40, &at("400Mbps"), &under("TcpBbr"))),
        ("changing link", changing),
        ("ping beside a flow", pinging),
        ("datagrams", of_datagrams),
        ("data centre", star(8, 60)),
        ("large data centre", star(300, 1_000)),
        ("thousands of flows", crowd(2_500)),
    ]
}

fn hops(recording: &Recording) -> i64 {
    let links = recording.table("links").expect("links");
    let column = links.columns.iter().find(|(name, _)| *name == "tx_packets");
    match column.expect("counts packets") {
        (_, Column::I64(packets)) => packets.iter().sum(),
        _ => unreachable!("a count"),
    }
}

#[test]
fn scenarios_take_as_many_events_as_recorded() {
    let mut found = String::from("# scenario: packet-hops, events\n");
    for (name, scenario) in scenarios() {
        let lowered = Canonical::from_json(&scenario.to_string()).expect(name).lower();
        let mut simulation = Simulation::new(lowered, None).expect(name);
        let mut events = 0;
        while simulation.run_for(1).expect(name) {
            events += 1;
        }
        let hops = hops(&simulation.finish().expect(name));
        writeln!(found, "{name}: {hops}, {events}").expect("a string");
    }
    if std::env::var_os("WRITE_EVENTS").is_some() {
        return std::fs::write(RECORD, found).expect("the record");
    }
    let recorded = std::fs::read_to_string(RECORD).expect("the record");
    assert!(found == recorded, "found\n{found}recorded\n{recorded}");
}

/// After a while everything has grown as far as it must: what is left are samples, rings of larger
/// windows, and endpoints of transfers that begin.
#[test]
fn packets_and_events_allocate_nothing() {
    for (name, scenario) in scenarios() {
        let lowered = Canonical::from_json(&scenario.to_string()).expect(name).lower();
        let half = Time(lowered.stop_ns / 2);
        let mut simulation = Simulation::new(lowered, None).expect(name);
        simulation.run_until(half).expect(name);
        let (before, mut events) = (ALLOCATIONS.get(), 0);
        while simulation.run_for(1).expect(name) {
            events += 1;
        }
        let allocations = ALLOCATIONS.get() - before;
        assert!(50 * allocations < events, "{name}: {allocations} in {events} events");
    }
}
