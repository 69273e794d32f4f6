//! RoCE and the laws of its rate, as timelines and steady states with known answers.

use serde_json::{Value, json};

use super::pauses::rows;
use super::{column, run};
use crate::run::recording::{Column, Recording};

/// A packet of 1000 B at 40 Gbps, in ns: 1046 B on the wire.
const PACKET_NS: f64 = 209.2;

/// Senders, a switch and a receiver at 40 Gbps, 1 us each way; RED marks at the switch.
pub(super) fn star(senders: usize, cc: &str, bytes: &str, red: &Value) -> Value {
    let queue = json!({"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "100000p"}}});
    let mut nodes = vec![json!("switch"), json!("receiver")];
    let mut links = vec![json!({"name": "out", "ends": ["switch", "receiver"], "rate": "40Gbps",
        "delay": "1us", "forward": {"qdisc": red}, "reverse": queue})];
    let mut flows = Vec::new();
    for i in 0..senders {
        let name = format!("h{i}");
        let mut forward = queue.clone();
        forward["pfc"] = json!({"xoff": "100kB"});
        nodes.push(json!(name));
        links
            .push(json!({"name": name, "ends": [name, "switch"], "rate": "40Gbps", "delay": "1us",
            "forward": forward, "reverse": queue}));
        flows.push(json!({"source": name, "destination": "receiver", "transport": "ROCE", "cc": {"type": cc},
            "application": {"type": "Greedy", "bytes": bytes, "write": "1000B"}}));
    }
    json!({"stop_time": "2ms", "nodes": nodes, "links": links, "flows": flows})
}

pub(super) fn unmarked() -> Value {
    json!({"type": "FifoQueueDisc", "attributes": {"MaxSize": "100000p"}})
}

/// Kmin, Kmax in packets and Pmax.
fn marked(min: &str, max: &str, inverse: &str) -> Value {
    json!({"type": "RedQueueDisc", "attributes": {"MinTh": min, "MaxTh": max, "LInterm": inverse, "QW": "1",
        "MaxSize": "100000p", "UseEcn": "true", "UseHardDrop": "false", "Gentle": "false", "Wait": "false"}})
}

pub(super) fn total(recording: &Recording, name: &str) -> i64 {
    column(recording, "links", name).iter().sum()
}

/// Its packets are lost from 1 ms on; a timeout is 10 ms.
#[test]
fn a_sender_that_has_stopped_counts_no_timeouts() {
    for (stop, timeouts) in [("60ms", 5), ("2ms", 0)] {
        let mut scenario = star(1, "dcqcn", "0B", &unmarked());
        scenario["stop_time"] = json!("60ms");
        scenario["changes"] =
            json!([{"time": "1ms", "link": "out", "direction": "forward", "loss": 1.0}]);
        scenario["flows"][0]["stop"] = json!(stop);
        let (_, recording) = run(&scenario, false);
        assert_eq!(column(&recording, "flows", "rtos"), [timeouts]);
    }
}

#[test]
fn alone_it_sends_at_the_rate_of_its_link_from_the_first_packet_on() {
    let mut scenario = star(1, "dcqcn", "1000kB", &unmarked());
    scenario["recording"] = json!({"interval": "100us"});
    let (trace, recording) = run(&scenario, false);
    let sent = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    assert_eq!(sent.len(), 1000);
    let time = (sent[999].0 - sent[0].0) as f64;
    assert!((time - 999.0 * PACKET_NS).abs() < 999.0, "{time}");
    assert!(sent[999].1.contains(",FIN,"));
    // The last packet's way there through two links, and that of its ACK, of 50 B, back.
    let done = sent[999].0 as f64 + 2.0 * (PACKET_NS + 1000.0) + 2.0 * (10.0 + 1000.0);
    let flows = recording.table("flows").unwrap();
    let (_, Column::F64(completed)) =
        flows.columns.iter().find(|(name, _)| name == "completion_ns").unwrap()
    else {
        panic!("times that there may not be are numbers")
    };
    assert!((completed[0] - done).abs() <= 2.0, "{completed:?} {done}");
    assert_eq!(column(&recording, "flows", "retransmissions"), [0]);
    for name in ["sent_bytes", "received_bytes", "read_bytes", "acked_bytes"] {
        assert_eq!(column(&recording, "flow_samples", name).last(), Some(&1_000_000), "{name}");
    }
    let samples = recording.table("flow_samples").unwrap();
    let (_, Column::F64(delays)) =
        samples.columns.iter().find(|(name, _)| name == "one_way_delay_ns").unwrap()
    else {
        panic!("times that there may not be are numbers")
    };
    assert_eq!(delays.last(), Some(&(2.0 * (PACKET_NS.floor() + 1000.0))));
}

#[test]
fn senders_of_one_host_take_turns_at_its_link() {
    let mut scenario = star(1, "line_rate", "0B", &unmarked());
    for port in [7, 8] {
        let mut flow = scenario["flows"][0].clone();
        flow["destination_port"] = json!(port);
        scenario["flows"].as_array_mut().unwrap().push(flow);
    }
    let (trace, recording) = run(&scenario, false);
    let each: Vec<_> = (1..4)
        .map(|i| rows(&trace, &["h0_forward", "tx", &format!("flow_{i}")]).len() as i64)
        .collect();
    assert!(each.iter().max().unwrap() - each.iter().min().unwrap() <= 1, "{each:?}");
    // They fill the link, and nothing waits in its queue.
    assert!(each.iter().sum::<i64>() >= (2e6 / PACKET_NS) as i64 - 3, "{each:?}");
    assert_eq!(total(&recording, "qdisc_dropped"), 0);
}

#[test]
fn a_receiver_notifies_once_in_fifty_microseconds_at_most() {
    // All that finds two packets or more in the queue is marked.
    let (trace, _) = run(&star(2, "dcqcn", "0B", &marked("1", "2", "1")), false);
    for flow in ["flow_1", "flow_2"] {
        let marked: Vec<_> = rows(&trace, &["out_forward", "rx", flow])
            .into_iter()
            .filter(|(_, line)| line.contains(",CE,"))
            .collect();
        let told = rows(&trace, &["out_reverse", "tx", flow, "ECE"]);
        assert!(told.len() > 3, "{}", told.len());
        // The first mark is told at once, and each next one 50 us later or more.
        assert_eq!(told[0].0, marked[0].0);
        for pair in told.windows(2) {
            let due = pair[0].0 + 50_000;
            let next = marked.iter().find(|(at, _)| *at >= due).unwrap().0;
            assert!(pair[1].0 >= next && pair[1].0 <= next + 30, "{pair:?}");
        }
    }
}

#[test]
fn what_is_missing_is_asked_for_once_and_all_from_there_is_sent_again() {
    let mut scenario = star(1, "line_rate", "1000kB", &unmarked());
    scenario["links"][0]["forward"]["drop"] = json!([100]);
    scenario["recording"] = json!({"completions": true});
    let (trace, recording) = run(&scenario, false);
    let asked = rows(&trace, &["out_reverse", "tx", "RST|ACK"]);
    assert_eq!(asked.len(), 1);
    let late = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    let again = late.windows(2).position(|pair| number(&pair[1].1) <= number(&pair[0].1)).unwrap();
    assert_eq!(number(&late[again + 1].1), 100);
    let retransmitted = column(&recording, "flows", "retransmissions")[0];
    assert_eq!(retransmitted, number(&late[again].1) - 100 + 1);
    assert_eq!(column(&recording, "completions", "finished"), [1]);
    assert_eq!(column(&recording, "flows", "rtos"), [0]);
}

fn number(line: &str) -> i64 {
    line.split(',').nth(4).unwrap().parse().unwrap()
}

#[test]
fn the_last_packet_comes_again_after_a_timeout() {
    let mut scenario = star(1, "line_rate", "10kB", &unmarked());
    scenario["links"][0]["forward"]["drop"] = json!([9]);
    scenario["recording"] = json!({"completions": true});
    scenario["stop_time"] = json!("30ms");
    let (trace, recording) = run(&scenario, false);
    assert_eq!(column(&recording, "flows", "rtos"), [1]);
    assert_eq!(column(&recording, "flows", "retransmissions"), [1]);
    let last = rows(&trace, &["h0_forward", "tx", "flow_1"])[10].0;
    let acked = rows(&trace, &["h0_reverse", "rx", "flow_1"])[8].0;
    assert_eq!(last - acked, 10_000_000);
    assert_eq!(column(&recording, "completions", "finished"), [1]);
}

#[test]
fn with_pauses_an_incast_loses_nothing_and_dcqcn_pauses_less_and_shares_alike() {
    let red = marked("5", "200", "5");
    let run_with = |cc: &str| {
        let mut scenario = star(8, cc, "0B", &red);
        scenario["stop_time"] = json!("30ms");
        run(&scenario, false).1
    };
    let [plain, controlled] = ["line_rate", "dcqcn"].map(run_with);
    for recording in [&plain, &controlled] {
        assert_eq!(total(recording, "loss_dropped") + total(recording, "qdisc_dropped"), 0);
        assert_eq!(column(recording, "flows", "retransmissions").iter().sum::<i64>(), 0);
    }
    let pauses =
        |recording: &Recording| column(recording, "pauses", "paused_ns").iter().sum::<i64>();
    assert!(pauses(&controlled) * 20 < pauses(&plain), "{}", pauses(&controlled));
    let sent = column(&controlled, "flows", "segments_sent");
    let (sum, squares) =
        sent.iter().fold((0.0, 0.0), |(s, q), &n| (s + n as f64, q + (n * n) as f64));
    let jain = sum * sum / (sent.len() as f64 * squares);
    assert!(jain > 0.9, "{jain} {sent:?}");
    // Nearly all of the link is used, the first milliseconds included.
    assert!(sum > 0.85 * 30e6 / PACKET_NS, "{sum}");
}
