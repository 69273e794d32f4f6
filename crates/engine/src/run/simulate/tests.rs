//! The shortcuts of the event queue, and what must hold for every scenario.

mod ahead;
mod long_tables;
mod outside;
mod pauses;
mod rate_laws;
mod roce;
mod transfers;
mod trimming;

use std::io::Write;
use std::sync::{Arc, Mutex};

use ccperf_schema::lowered::Lowered;
use serde_json::{Value, json};

use super::Simulation;
use crate::base::time::Time;
use crate::run::dice::{Dice, lower, try_lower};
use crate::run::recording::{Column, Recording};

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn algorithms() -> Vec<&'static str> {
    crate::host::congestion::SPECS.iter().map(|spec| spec.ns3).collect()
}

/// Two to five hosts on each side of a bottleneck that is always in trouble.
fn random_scenario(seed: u64) -> Value {
    let mut dice = Dice(seed);
    let hosts = 1 + dice.roll(4);
    let bytes = dice.pick(&["0B", "0B", "60000B", "401B"]);
    let is_paced = dice.roll(3) == 0;
    let rate = dice.pick(&["500kbps", "2Mbps", "10Mbps", "20Mbps"]);
    let qdiscs = ["FifoQueueDisc", "CoDelQueueDisc", "FqCoDelQueueDisc", "RedQueueDisc", "none"];
    let qdisc = dice.pick(&qdiscs);
    let limit = dice.pick(&["1p", "3p", "10p", "40p"]);
    let ecn = dice.pick(&["Off", "On"]);
    let profile = dice.pick(&["ns3-3.44", "ns3-3.44", "linux"]);
    let discipline = match qdisc {
        "none" => Value::Null,
        "FifoQueueDisc" => json!({"type": qdisc, "attributes": {"MaxSize": limit}}),
        "RedQueueDisc" => {
            let weight = dice.pick(&["1", "0.02"]);
            json!({"type": qdisc, "attributes": {"MaxSize": limit, "UseEcn": ecn == "On", "QW": weight,
                                                 "MinTh": "2", "MaxTh": dice.pick(&["2", "9"])}})
        }
        _ => json!({"type": qdisc, "attributes": {"MaxSize": limit, "UseEcn": ecn == "On"}}),
    };
    let mut pings = Vec::new();
    let mut nodes = Vec::new();
    let mut links = vec![json!({
        "name": "btl", "ends": ["left", "right"], "rate": rate,
        "delay": dice.pick(&["100us", "3ms", "10ms"]),
        "forward": {"qdisc": discipline.clone(), "device_queue": dice.pick(&["1p", "2p", "10p"]),
                    "loss": if dice.roll(3) == 0 { 0.02 } else { 0.0 }},
        "reverse": {"device_queue": dice.pick(&["1p", "5p"])},
    })];
    let mut flows = Vec::new();
    for i in 0..hosts {
        let (source, destination) = (format!("s{i}"), format!("d{i}"));
        nodes.extend([source.clone(), destination.clone()]);
        let access = dice.pick(&["50Mbps", "1Gbps"]);
        links.push(
            json!({"name": source, "ends": [source, "left"], "rate": access, "delay": "500us"}),
        );
        links.push(json!({"name": destination, "ends": ["right", destination], "rate": access,
                          "delay": dice.pick(&["500us", "4ms"])}));
        let application = if is_paced {
            let lengths = ["5ms", "Exponential(mean=20ms)", "Uniform(min=1ms,max=30ms)"];
            match dice.roll(3) {
                0 => json!({"type": "CBR", "bytes": bytes, "rate": "2Mbps"}),
                1 => json!({"type": "Poisson", "bytes": bytes, "rate": "5Mbps"}),
                _ => json!({"type": "OnOff", "bytes": bytes, "rate": "20Mbps",
                            "on_time": dice.pick(&lengths), "off_time": dice.pick(&lengths)}),
            }
        } else {
            json!({"type": "Greedy", "bytes": bytes})
        };
        if dice.roll(4) == 0 {
            pings.push(json!({"source": source, "destination": destination, "interval": "11ms"}));
        }
        flows.push(json!({
            "source": source, "destination": destination,
            "start": dice.pick(&["0s", "0s", "100ms"]), "stop": dice.pick(&["3s", "1.5s"]),
            "receiver_stop": if dice.roll(6) == 0 { json!("2s") } else { Value::Null },
            "application": application,
            "cc": {"type": dice.pick(&algorithms())},
            "recovery": dice.pick(&["TcpPrrRecovery", "PrrRfc6937", "TcpClassicRecovery"]),
            "tcp": {
                "Profile": profile,
                "SegmentSize": dice.pick(&["536", "1448", "1000"]),
                "DelAckCount": dice.pick(&["1", "2"]),
                "Sack": dice.pick(&["true", "true", "false"]),
                "Timestamp": dice.pick(&["true", "true", "false"]),
                "UseEcn": ecn,
                "SndBufSize": dice.pick(&["131072", "20000", "1000000"]),
                "RcvBufSize": dice.pick(&["131072", "10000", "1000000"]),
            },
        }));
        if is_paced && bytes != "401B" && dice.roll(3) == 0 {
            let flow = flows.last_mut().unwrap().as_object_mut().unwrap();
            for of_tcp in ["cc", "recovery", "tcp"] {
                flow.remove(of_tcp);
            }
            flow.insert("transport".into(), json!("UDP"));
        }
    }
    nodes.extend(["left".to_string(), "right".to_string()]);
    let forward = links[0]["forward"].as_object_mut().unwrap();
    if dice.roll(4) == 0 {
        forward.insert("queue_limits".into(), json!({"hold_time": "5ms"}));
    } else if dice.roll(3) == 0 {
        let select = dice.pick(&["flow", "priority"]);
        forward.insert("device_queues".into(), json!(2 + dice.roll(3)));
        forward.insert("device_select".into(), json!(select));
        if !discipline.is_null() && dice.roll(3) > 0 {
            let mq = json!({"type": "MqQueueDisc", "children": [discipline]});
            forward.insert("qdisc".into(), mq);
        }
        for flow in &mut flows {
            flow["tos"] = json!(8 * dice.roll(4));
        }
    }
    json!({
        "stop_time": "3s", "seed": 1 + dice.roll(5), "nodes": nodes, "links": links, "flows": flows,
        "pings": pings,
        "recording": {"queues": {"links": ["btl"], "interval": "1ms"}, "completions": true},
        "changes": [
            {"time": "1s", "link": "btl", "rate": dice.pick(&["1Mbps", "30Mbps"])},
            {"time": "1.2s", "link": "btl", "delay": dice.pick(&["10us", "20ms"])},
        ],
    })
}

/// Two racks under up to three spines, with links that fail.
fn random_fabric(seed: u64) -> Value {
    let mut dice = Dice(seed);
    let spines = 1 + dice.roll(3);
    let qdisc = match dice.pick(&["FifoQueueDisc", "CoDelQueueDisc", "FqCoDelQueueDisc", "none"]) {
        "none" => Value::Null,
        kind => json!({"type": kind, "attributes": {"MaxSize": dice.pick(&["5p", "30p"])}}),
    };
    let port = json!({"qdisc": qdisc, "device_queue": dice.pick(&["1p", "2p", "20p"])});
    let mut nodes = vec!["leaf_0".to_string(), "leaf_1".to_string()];
    let mut links = Vec::new();
    let mut link = |name: String, ends: [String; 2], rate: &str, delay: &str| {
        links.push(json!({"name": name, "ends": ends, "rate": rate, "delay": delay,
                          "forward": port, "reverse": port}));
    };
    for i in 0..6 {
        nodes.push(format!("h{i}"));
        link(format!("h{i}"), [format!("h{i}"), format!("leaf_{}", i % 2)], "100Mbps", "2us");
    }
    for i in 0..spines {
        nodes.push(format!("spine_{i}"));
        for leaf in 0..2 {
            let ends = [format!("leaf_{leaf}"), format!("spine_{i}")];
            let delay = dice.pick(&["5us", "5us", "40us"]);
            link(format!("l{leaf}_{i}"), ends, dice.pick(&["50Mbps", "100Mbps"]), delay);
        }
    }
    let mut failures = Vec::new();
    for _ in 0..dice.roll(4) {
        let down = 1 + dice.roll(60);
        let up = (dice.roll(3) > 0).then(|| format!("{}ms", down + 1 + dice.roll(30)));
        let (leaf, spine) = (dice.roll(2), dice.roll(spines));
        failures.push(match dice.roll(3) {
            0 => json!({"node": format!("spine_{spine}"), "down": format!("{down}ms"), "up": up}),
            1 => {
                json!({"link": format!("h{}", dice.roll(6)), "down": format!("{down}ms"), "up": up})
            }
            _ => json!({"link": format!("l{leaf}_{spine}"), "down": format!("{down}ms"), "up": up}),
        });
    }
    let flows: Vec<_> = (0..8)
        .map(|_| {
            let (source, other) = (dice.roll(6), 1 + dice.roll(5));
            json!({
                "source": format!("h{source}"), "destination": format!("h{}", (source + other) % 6),
                "start": format!("{}ms", dice.roll(20)), "cc": {"type": dice.pick(&algorithms())},
                "application": {"type": "Greedy", "bytes": dice.pick(&["0B", "30000B"])},
                "tcp": {"MinRto": "10ms", "Profile": dice.pick(&["ns3-3.44", "ns3-dev"])},
            })
        })
        .collect();
    json!({
        "stop_time": "100ms", "seed": 1 + dice.roll(9), "nodes": nodes, "links": links, "flows": flows,
        "routing": {"type": dice.pick(&["static", "ecmp", "random"])}, "failures": failures,
    })
}

fn run(scenario: &Value, plain: bool) -> (Vec<u8>, Recording) {
    run_lowered(lower(scenario), plain)
}

fn run_lowered(lowered: Lowered, plain: bool) -> (Vec<u8>, Recording) {
    let buffer = Buffer::default();
    let mut simulation = Simulation::with_packets_to(lowered, Box::new(buffer.clone())).unwrap();
    if plain {
        simulation.network.queue_every_event();
    }
    let recording = simulation.finish().unwrap();
    let trace = std::mem::take(&mut *buffer.0.lock().unwrap());
    (trace, recording)
}

#[test]
fn a_trace_that_is_written_elsewhere_is_that_of_a_file() {
    let scenario = random_scenario(4);
    let buffer = Buffer::default();
    let elsewhere = Simulation::with_packets_to(lower(&scenario), Box::new(buffer.clone()));
    let path = std::env::temp_dir().join(format!("ccperf-{}.headers.csv", std::process::id()));
    let in_file = Simulation::new(lower(&scenario), Some(&path));
    let recordings = [elsewhere, in_file].map(|simulation| simulation.unwrap().finish().unwrap());
    let rows = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(text(&recordings[0]), text(&recordings[1]));
    assert!(rows.len() > 10_000);
    assert!(*buffer.0.lock().unwrap() == rows);
}

/// Why a packet was dropped, of its row in a trace.
fn reason(row: &str) -> &str {
    row.split(',').nth(10).unwrap()
}

/// The tables of a run whose packets nobody records, which lets them take the shortest way.
fn run_unseen(scenario: &Value) -> String {
    text(&Simulation::new(lower(scenario), None).unwrap().finish().unwrap())
}

/// The same with the order of events found as in networks of data centres.
fn run_unseen_as_large(scenario: &Value) -> String {
    let mut simulation = Simulation::new(lower(scenario), None).unwrap();
    simulation.network.expect_many();
    text(&simulation.finish().unwrap())
}

/// The same with the memory of endpoints asked for ahead, as where there are many.
fn run_unseen_as_crowd(scenario: &Value) -> String {
    let mut simulation = Simulation::new(lower(scenario), None).unwrap();
    simulation.network.crowd();
    text(&simulation.finish().unwrap())
}

/// Numbers that are none are equal to themselves in it.
fn text(recording: &Recording) -> String {
    format!("{:?}", recording.tables)
}

fn column<'a>(recording: &'a Recording, table: &str, column: &str) -> &'a [i64] {
    let table = recording.table(table).unwrap();
    match &table.columns.iter().find(|(name, _)| name == column).unwrap().1 {
        Column::I64(values) => values,
        _ => panic!("{column} is not a column of integers"),
    }
}

#[test]
fn queueing_every_event_changes_nothing() {
    for seed in 0..150 {
        let scenario = random_scenario(seed);
        let (lazy, _) = run(&scenario, false);
        let (plain, recording) = run(&scenario, true);
        assert!(lazy.len() > 1_000, "seed {seed} sends nothing");
        assert!(lazy == plain, "seed {seed} differs: {scenario}");
        for unseen in [run_unseen, run_unseen_as_large, run_unseen_as_crowd] {
            assert!(unseen(&scenario) == text(&recording), "seed {seed} differs: {scenario}");
        }
    }
}

/// Flows that begin together over links that are alike: packets come in the nanosecond in which others leave, before and
/// after, and queues that mark are as long as they may be.
fn lockstep(seed: u64) -> Value {
    let mut dice = Dice(seed);
    let hosts = 3 + dice.roll(5);
    let discipline = match dice.roll(5) {
        0 => {
            json!({"type": "FifoQueueDisc", "attributes": {"MaxSize": dice.pick(&["3p", "9000B"])}})
        }
        1 => json!({"type": "StepRedQueueDisc",
                    "attributes": {"MaxSize": "30p", "MarkingThreshold": dice.pick(&["2p", "4500B"])}}),
        2 => json!({"type": "CoDelQueueDisc"}),
        _ => json!({"type": "RedQueueDisc", "attributes": {
            "MaxSize": dice.pick(&["4p", "40p"]), "UseEcn": dice.roll(4) > 0, "UseHardDrop": dice.roll(4) == 0,
            "QW": dice.pick(&["1", "1", "0.1"]), "MinTh": dice.pick(&["1", "3"]), "MaxTh": dice.pick(&["3", "6"])}}),
    };
    let port = json!({"qdisc": discipline, "device_queue": dice.pick(&["1p", "1p", "1p", "2p"])});
    // Times of packets are multiples of a few nanoseconds, so that they meet.
    let [rate, stop] =
        [["4Gbps", "3ms"], ["8Gbps", "2ms"], ["800Gbps", "40us"]][dice.roll(3) as usize];
    let spines = 1 + dice.roll(2);
    let ends = |i: u64| [format!("h{i}"), format!("leaf_{}", i % 2)];
    let up = |i: u64| [format!("leaf_{}", i % 2), format!("spine_{}", i / 2)];
    let link = |ends: [String; 2]| json!({"name": ends.join("_"), "ends": ends, "rate": rate, "delay": "1us", "forward": port, "reverse": port});
    let links: Vec<_> = (0..hosts).map(ends).chain((0..2 * spines).map(up)).map(link).collect();
    let mut nodes: Vec<_> = (0..hosts).map(|i| format!("h{i}")).collect();
    nodes.extend(["leaf_0".to_owned(), "leaf_1".to_owned()]);
    nodes.extend((0..spines).map(|i| format!("spine_{i}")));
    let sink = dice.roll(hosts);
    let flows: Vec<_> = (0..2 * hosts)
        .filter(|flow| flow % hosts != sink)
        .map(|flow| {
            let other = if flow < hosts { sink } else { (flow + 1) % hosts };
            json!({"source": format!("h{}", flow % hosts), "destination": format!("h{other}"),
                   "cc": {"type": "TcpDctcp"}, "tcp": {"MinRto": "1ms"},
                   "application": {"type": "Greedy", "bytes": dice.pick(&["0B", "100000B"])}})
        })
        .collect();
    json!({"stop_time": stop, "nodes": nodes, "links": links, "flows": flows,
           "routing": {"type": dice.pick(&["static", "ecmp"])},
           "recording": {"interval": "10us"}})
}

#[test]
fn queueing_every_event_changes_nothing_where_flows_run_in_lockstep() {
    for seed in 0..60 {
        let scenario = lockstep(seed);
        let (_, recording) = run(&scenario, true);
        let sent: i64 = column(&recording, "links", "tx_packets").iter().sum();
        assert!(sent > 300, "seed {seed} sends nothing");
        for (how, unseen) in
            [("small", run_unseen(&scenario)), ("large", run_unseen_as_large(&scenario))]
        {
            assert!(unseen == text(&recording), "seed {seed} differs as {how}: {scenario}");
        }
    }
}

/// At such rates acknowledgements come in the nanosecond in which what they made room for would be looked
/// for, before and after.
#[test]
fn samples_so_far_do_not_wait_for_the_next_event() {
    for seed in 0..10 {
        let mut both = [false, true].map(|plain| {
            let mut simulation = Simulation::new(lower(&random_scenario(seed)), None).unwrap();
            if plain {
                simulation.network.queue_every_event();
            }
            simulation
        });
        for us in (0..3_000_000).step_by(7_310) {
            let [lazy, plain] = both.each_mut().map(|simulation| {
                simulation.run_until(Time(1_000 * us)).unwrap();
                text(&simulation.so_far().unwrap())
            });
            assert!(lazy == plain, "seed {seed} differs at {us} us");
        }
    }
}

#[test]
fn queueing_every_event_changes_nothing_where_acknowledgements_come_at_once() {
    for (rate, cc) in
        [("2000Gbps", "TcpNewReno"), ("8000Gbps", "TcpNewReno"), ("8000Gbps", "TcpBbr")]
    {
        for write in ["512B", "5000B"] {
            let link = |name: &str, ends: [&str; 2]| json!({"name": name, "ends": ends, "rate": rate, "delay": "50us"});
            let flow = json!({"source": "a", "destination": "c", "cc": {"type": cc},
                              "application": {"type": "Greedy", "write": write}});
            let scenario = json!({
                "nodes": ["a", "b", "c"], "links": [link("ab", ["a", "b"]), link("bc", ["b", "c"])],
                "flows": [flow.clone(), flow], "stop_time": "2ms",
            });
            let (lazy, _) = run(&scenario, false);
            let (plain, recording) = run(&scenario, true);
            assert!(lazy.len() > 10_000, "{rate} {cc} sends nothing");
            assert!(
                lazy == plain && run_unseen(&scenario) == text(&recording),
                "{rate} {cc} {write}"
            );
        }
    }
}

#[test]
fn queueing_every_event_changes_nothing_where_links_fail() {
    // Some cut a flow off for all its life, and are refused.
    let is_taken = |scenario: &Value| try_lower(scenario).is_ok();
    let taken = (0..).map(|seed| (seed, random_fabric(seed))).filter(|(_, it)| is_taken(it));
    for (seed, scenario) in taken.take(150) {
        let (lazy, recording) = run(&scenario, false);
        let (plain, tables) = run(&scenario, true);
        assert!(lazy.len() > 1_000, "seed {seed} sends nothing");
        assert!(lazy == plain, "seed {seed} differs: {scenario}");
        assert!(run_unseen(&scenario) == text(&tables), "seed {seed} differs: {scenario}");
        // What was lost is counted, and nothing else is.
        let text = String::from_utf8(lazy).unwrap();
        let lost = text.lines().filter(|row| ["Link down", "No route"].contains(&reason(row)));
        let counted: i64 = column(&recording, "links", "failure_dropped").iter().sum();
        assert_eq!(lost.count() as i64, counted, "seed {seed}");
    }
}

/// From a over two routers to b, whose link fails while packets are on the way to the second.
fn broken_line(profile: &str) -> Value {
    let link = |ends: [&str; 2]| json!({"name": ends.concat(), "ends": ends, "rate": "100Mbps", "delay": "1ms"});
    json!({
        "nodes": ["a", "r", "s", "b"], "links": [link(["a", "r"]), link(["r", "s"]), link(["s", "b"])],
        "flows": [{"name": "f", "source": "a", "destination": "b", "cc": {"type": "TcpNewReno"},
                   "application": {"type": "Greedy"}, "tcp": {"Profile": profile}}],
        "failures": [{"link": "sb", "down": "50ms"}], "stop_time": "80ms",
    })
}

#[test]
fn a_router_without_a_route_tells_the_sender_of_each_packet_as_the_development_tree() {
    for (profile, tells) in [("ns3-3.44", false), ("ns3-3.48", false), ("ns3-dev", true)] {
        let (trace, _) = run(&broken_line(profile), false);
        let text = String::from_utf8(trace).unwrap();
        let rows: Vec<Vec<_>> = text.lines().map(|row| row.split(',').collect()).collect();
        let is =
            |row: &[&str], link: &str, event: &str, flow: &str| row[1..4] == [link, event, flow];
        // What has come, and goes no further: the host has no route either, and is told nothing.
        let lost = ["rs_forward", "ar_forward"].map(|link| {
            let pairs = rows.windows(2);
            pairs.filter(|p| is(&p[0], link, "rx", "f") && is(&p[1], link, "drop", "f")).count()
        });
        assert!(lost[0] > 1 && lost[1] > 1, "{profile}: {lost:?} packets had no route");
        // What the second router says passes the first.
        let told = if tells { [lost[0], lost[0] + lost[1]] } else { [0, 0] };
        let come = ["rs_reverse", "ar_reverse"].map(|link| {
            let come = rows.iter().filter(|row| is(row, link, "rx", "?"));
            come.filter(|row| row[4..10] == ["0", "0", "28", "58", "", "NotECT"]).count()
        });
        assert_eq!(come, told, "{profile}");
    }
}

#[test]
fn repeating_a_run_gives_the_same_bytes() {
    for seed in 200..210 {
        let scenario = random_scenario(seed);
        let (first, second) = (run(&scenario, false), run(&scenario, false));
        assert!(first.0 == second.0, "seed {seed}");
        assert_eq!(format!("{:?}", first.1), format!("{:?}", second.1), "seed {seed}");
    }
}

#[test]
fn windows_and_bytes_stay_in_bounds() {
    for seed in 300..400 {
        let scenario = random_scenario(seed);
        let (trace, recording) = run(&scenario, false);
        let flows = scenario["flows"].as_array().unwrap();
        let values = |name| column(&recording, "flow_samples", name);
        for (row, &flow) in values("flow").iter().enumerate() {
            let size: i64 = flows[flow as usize]["tcp"]["SegmentSize"]
                .as_str()
                .map_or(1, |n| n.parse().unwrap());
            let (cwnd, sent) = (values("cwnd_bytes")[row], values("sent_bytes")[row]);
            // Proportional rate reduction sets the window to what is in flight, which may be less than
            // a segment, before the lost segment leaves whatever the window; and what DCTCP falls to has no
            // floor (a departure of ns-3's).
            let has_floor = flows[flow as usize]["cc"]["type"] != "TcpDctcp";
            let is_classic = flows[flow as usize]["recovery"] == "TcpClassicRecovery";
            let retransmitted = if is_classic { 0 } else { size };
            let in_flight = (values("in_flight_bytes")[row] - retransmitted).max(1);
            let least = if has_floor { size.min(in_flight) } else { 1 };
            assert!(cwnd == 0 || cwnd >= least, "seed {seed}: cwnd {cwnd} of {size}");
            assert!(values("read_bytes")[row] <= values("received_bytes")[row], "seed {seed}");
            assert!(values("received_bytes")[row] <= sent, "seed {seed}: made up data");
            assert!(values("read_bytes")[row] <= values("written_bytes")[row], "seed {seed}");
        }
        // Every packet that was sent arrived, was lost, or is still on the wire.
        let text = String::from_utf8(trace).unwrap();
        let count = |event: &str, why: &str| {
            text.lines().filter(|l| l.contains(event) && reason(l).ends_with(why)).count() as i64
        };
        let tx: i64 = column(&recording, "links", "tx_packets").iter().sum();
        let lost: i64 = column(&recording, "links", "loss_dropped").iter().sum();
        assert_eq!(count(",tx,", ""), tx, "seed {seed}");
        assert_eq!(count(",drop,", "Link loss"), lost, "seed {seed}");
        assert!(count(",rx,", "") + lost <= tx, "seed {seed}");
        let dropped: i64 = column(&recording, "links", "qdisc_dropped").iter().sum::<i64>()
            + column(&recording, "links", "device_dropped").iter().sum::<i64>()
            + lost;
        assert_eq!(count(",drop,", ""), dropped, "seed {seed}: a packet was lost without a record");
    }
}

/// A schedule has one pending event; as many entries of `changes` have one each.
#[test]
fn a_schedule_is_as_many_changes() {
    for seed in 500..540 {
        let mut dice = Dice(seed);
        let mut scheduled = random_scenario(seed);
        let mut listed = scheduled.clone();
        let mut changes = scheduled["changes"].as_array().unwrap().clone();
        for (link, direction) in [(0, "both"), (0, "forward"), (1, "reverse")] {
            let times: Vec<u64> = (0..200).map(|i| 1 + 14_999_999 * i + dice.roll(1000)).collect();
            let rates: Vec<u64> = times.iter().map(|_| 100_000 * (1 + dice.roll(300))).collect();
            let losses: Vec<f64> = times.iter().map(|_| dice.roll(4) as f64 / 100.0).collect();
            let delays: Vec<u64> = times.iter().map(|_| 1_000_000 * dice.roll(20)).collect();
            let mut schedule = json!({
                "direction": direction, "times_ns": times, "rates_bps": rates, "losses": losses,
            });
            let has_delays = direction == "both";
            if has_delays {
                schedule["delays_ns"] = json!(delays);
            }
            for i in 0..times.len() {
                let mut change = json!({
                    "time": format!("{}ns", times[i]), "link": listed["links"][link]["name"],
                    "direction": direction, "rate": format!("{}bps", rates[i]), "loss": losses[i],
                });
                if has_delays {
                    change["delay"] = json!(format!("{}ns", delays[i]));
                }
                changes.push(change);
            }
            let schedules = &mut scheduled["links"][link]["schedules"];
            match schedules.as_array_mut() {
                Some(schedules) => schedules.push(schedule),
                None => *schedules = json!([schedule]),
            }
        }
        listed["changes"] = json!(changes);
        let (of_schedule, _) = run(&scheduled, false);
        let (of_changes, _) = run(&listed, false);
        assert!(of_schedule == of_changes, "seed {seed} differs: {scheduled}");
    }
}
