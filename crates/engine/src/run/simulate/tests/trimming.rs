//! NDP and NSCC, as timelines and totals with known answers.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::pauses::rows;
use super::roce::total;
use super::{Simulation, column, lower, run};
use crate::run::dice::Dice;
use crate::run::recording::{Column, Recording};

/// A packet of 1000 B and a header at 40 Gbps, in ns: 1064 B and 64 B on the wire.
const PACKET: u64 = 213;
const HEADER: u64 = 13;

/// Senders, a switch and a receiver at 40 Gbps, 1 us each way.
fn star(senders: usize, bytes: &str, settings: &Value) -> Value {
    let host = json!({"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "10000p"}}});
    let switch = json!({"qdisc": {"type": "NdpQueueDisc"}});
    let mut nodes = vec![json!("switch"), json!("receiver")];
    let mut links = vec![json!({"name": "out", "ends": ["switch", "receiver"], "rate": "40Gbps",
        "delay": "1us", "forward": switch, "reverse": host})];
    let mut flows = Vec::new();
    for i in 0..senders {
        let name = format!("h{i}");
        nodes.push(json!(name));
        links
            .push(json!({"name": name, "ends": [name, "switch"], "rate": "40Gbps", "delay": "1us",
            "forward": host, "reverse": switch}));
        flows.push(json!({"source": name, "destination": "receiver", "transport": "TRIMMING",
            "cc": {"type": "ndp", "attributes": settings},
            "application": {"type": "Greedy", "bytes": bytes, "write": "1000B"}}));
    }
    json!({"stop_time": "20ms", "nodes": nodes, "links": links, "flows": flows,
        "recording": {"completions": true}})
}

fn numbers<'a>(recording: &'a Recording, table: &str, name: &str) -> &'a [f64] {
    let table = recording.table(table).unwrap();
    match table.columns.iter().find(|(known, _)| known == name) {
        Some((_, Column::F64(values))) => values,
        _ => panic!("{name} is a number that there may not be"),
    }
}

fn field(line: &str, at: usize) -> i64 {
    line.split(',').nth(at).unwrap().parse().unwrap()
}

/// Packets and bytes that were cut.
fn trimmed(recording: &Recording) -> [i64; 2] {
    let drops = recording.table("drops").unwrap();
    let (_, Column::Str(verdicts)) =
        drops.columns.iter().find(|(name, _)| name == "verdict").unwrap()
    else {
        panic!("verdicts are words")
    };
    ["packets", "bytes"].map(|name| {
        let of = verdicts.iter().zip(column(recording, "drops", name));
        of.filter(|(verdict, _)| *verdict == "trim").map(|(_, count)| count).sum()
    })
}

#[test]
fn alone_it_fills_its_link_from_the_first_packet_on() {
    let mut scenario = star(1, "1000kB", &json!({}));
    scenario["recording"]["interval"] = json!("100us");
    let (trace, recording) = run(&scenario, false);
    let sent = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    assert_eq!(sent.len(), 1000);
    assert!(sent.windows(2).all(|pair| pair[1].0 - pair[0].0 == PACKET));
    assert!(sent[999].1.contains(",FIN,"));
    let completed = numbers(&recording, "completions", "end_ns")[0];
    // The last packet goes over two links, and its ACK back.
    let due = 1000 * PACKET + PACKET + 2 * HEADER + 4000;
    assert_eq!(completed, due as f64);
    assert_eq!(trimmed(&recording), [0, 0]);
    for name in ["retransmissions", "rtos"] {
        assert_eq!(column(&recording, "flows", name), [0], "{name}");
    }
    for name in ["sent_bytes", "received_bytes", "read_bytes", "acked_bytes", "written_bytes"] {
        assert_eq!(column(&recording, "flow_samples", name).last(), Some(&1_000_000), "{name}");
    }
    // While it sends, a window and what is on its way at the receiver's rate are in flight.
    let in_flight = column(&recording, "flow_samples", "in_flight_bytes");
    assert!((20_000..=30_000).contains(&in_flight[1]), "{in_flight:?}");
    assert_eq!(in_flight.last(), Some(&0));
    let delays = numbers(&recording, "flow_samples", "one_way_delay_ns");
    assert_eq!(delays.last(), Some(&((2 * PACKET + 2000) as f64)));
    let round_trip = (2 * PACKET + 2000 + 2 * HEADER + 2000) as i64;
    assert_eq!(numbers(&recording, "flow_samples", "srtt_ns").last(), Some(&(round_trip as f64)));
    // The rate that the receiver asks for is the link's.
    let rates = column(&recording, "flow_samples", "pacing_rate_bps");
    assert!(rates[1].abs_diff(40_000_000_000) < 100_000_000, "{rates:?}");
}

#[test]
fn pulls_of_a_host_are_a_packets_time_apart_and_its_flows_take_turns() {
    let (trace, _) = run(&star(4, "300kB", &json!({})), false);
    let pulls = rows(&trace, &["out_reverse", "tx", "PSH|ACK"]);
    assert!(pulls.len() > 1000, "{}", pulls.len());
    for pair in pulls.windows(2) {
        // A NACK or an ACK may be on the wire, which takes a header's time, or a second one's.
        assert!(pair[1].0 - pair[0].0 + 2 * HEADER >= PACKET, "{pair:?}");
    }
    let mean = (pulls[1000].0 - pulls[0].0) as f64 / 1000.0;
    assert!((mean - PACKET as f64).abs() < 0.1, "{mean}");
    // From when all have something to ask for, until the first has all.
    let names = |line: &str| line.split(',').nth(3).unwrap().to_owned();
    for four in pulls[100..1000].chunks(4) {
        let mut flows: Vec<_> = four.iter().map(|(_, line)| names(line)).collect();
        flows.sort_unstable();
        assert_eq!(flows, ["flow_1", "flow_2", "flow_3", "flow_4"], "{four:?}");
    }
}

/// The receiver's link carries all bytes of all flows once, and the headers of what was cut.
#[test]
fn an_incast_ends_when_the_link_has_carried_it() {
    for senders in [4, 16, 64] {
        let settings = json!({"InitialWindow": "15"}); // so that there is room for all headers
        let (_, recording) = run(&star(senders, "200kB", &settings), false);
        let packets = 200 * senders as u64;
        let cut = trimmed(&recording)[0] as u64;
        let last = numbers(&recording, "completions", "end_ns").iter().copied().fold(0.0, f64::max);
        // The first packet's way there, all of them, and the last one's ACK.
        let ideal = (PACKET + 2000 + packets * PACKET + 2 * HEADER + 2000) as f64;
        assert!(last >= ideal, "{senders}: {last} {ideal}");
        let with_headers = ideal + (cut * HEADER) as f64;
        assert!(last < 1.03 * with_headers, "{senders}: {last} {with_headers} ({ideal})");
        assert_eq!(column(&recording, "flows", "rtos").iter().sum::<i64>(), 0);
        assert_eq!(total(&recording, "qdisc_dropped"), 0);
        let again: i64 = column(&recording, "flows", "retransmissions").iter().sum();
        assert_eq!(again as u64, cut, "{senders}: each packet that was cut goes again");
    }
}

/// Ten senders whose first window is all they have.  While it comes, ten packets in a packet's time, the link
/// has more headers than it can send, so that ten of them go with each packet of data.
#[test]
fn of_first_windows_at_once_as_many_packets_are_cut_as_the_link_and_the_queue_leave() {
    let (senders, window) = (10, 16);
    let (trace, _) = run(&star(senders, "16kB", &json!({})), false);
    let first = rows(&trace, &["h0_forward", "tx", "flow_1"])[0].0;
    let last = first + window * PACKET;
    let arrived = last + 1000;
    let cut = rows(&trace, &["out_forward", "trim"]);
    let cut = cut.iter().filter(|(at, _)| *at <= arrived).count() as f64;
    let sent = ((window - 1) * PACKET) as f64 / (PACKET + 10 * HEADER) as f64;
    // Eight wait at the end, and one is being sent from the beginning on.
    let whole = sent + 8.0 + 1.0;
    let due = (senders as u64 * window) as f64 - whole;
    assert!((cut - due).abs() <= 2.0, "{cut} {due}");
}

#[test]
fn what_was_cut_goes_again_when_it_is_asked_for_and_before_what_is_new() {
    let (trace, _) = run(&star(8, "100kB", &json!({})), false);
    let nacks = rows(&trace, &["h0_reverse", "rx", "flow_1", "RST|ACK"]);
    let pulls = rows(&trace, &["h0_reverse", "rx", "flow_1", "PSH|ACK"]);
    let sent = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    assert!(!nacks.is_empty());
    // It may send 30 packets at once and one for each PULL, and does as soon as the one before it has left.
    let asked = [0; 30].into_iter().chain(pulls.iter().map(|(at, _)| *at));
    // What goes is the first of the NACKs that have come by then and has not gone again, if there is one.
    let mut nacks = nacks.into_iter().peekable();
    let (mut free, mut lost, mut fresh) = (0, VecDeque::new(), 0);
    for ((left, line), asked) in sent.iter().zip(asked) {
        assert_eq!(*left, free.max(asked), "{line}");
        free = left + PACKET;
        while let Some((_, nack)) = nacks.next_if(|(nacked, _)| nacked <= left) {
            lost.push_back(field(&nack, 5));
        }
        let due = lost.pop_front().unwrap_or_else(|| {
            fresh += 1;
            fresh - 1
        });
        assert_eq!(field(line, 4), due, "{line}");
    }
}

/// A link loses the 101st packet: nobody answers it, and a timeout after it left it goes again.
#[test]
fn a_packet_that_is_lost_goes_again_after_a_timeout() {
    let mut scenario = star(1, "1000kB", &json!({"Timeout": "300us"}));
    scenario["links"][0]["forward"]["drop"] = json!([100]);
    let (trace, recording) = run(&scenario, false);
    let sent = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    let of: Vec<_> = sent.iter().filter(|(_, line)| field(line, 4) == 100).collect();
    assert_eq!(of.len(), 2);
    let wait = of[1].0 - of[0].0;
    // The timer looks at all packets, from the oldest on: at 100 it does when 0 would be due and again at that of 100.
    assert!((300_000..300_000 + PACKET).contains(&wait), "{wait}");
    assert_eq!(column(&recording, "flows", "rtos"), [1]);
    assert_eq!(column(&recording, "flows", "retransmissions"), [1]);
    assert_eq!(column(&recording, "completions", "finished"), [1]);
}

/// Of ten packets, one at a time, the third PULL is lost: nothing comes, and the receiver asks once more.
#[test]
fn a_pull_that_is_lost_is_made_up_for_by_the_next_one() {
    let mut scenario = star(1, "10kB", &json!({"InitialWindow": "1", "Timeout": "300us"}));
    // ACK and PULL in turn: the sixth packet is the third PULL.
    scenario["links"][0]["reverse"]["drop"] = json!([5]);
    let (trace, recording) = run(&scenario, false);
    let pulls = rows(&trace, &["out_reverse", "tx", "PSH|ACK"]);
    // The lost one went behind an ACK.
    assert_eq!(pulls[3].0 - (pulls[2].0 - HEADER), 300_000);
    // Two packets for the two that were asked for, and all that is to come.
    let sent = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    assert_eq!(sent[4].0 - sent[3].0, PACKET);
    assert_eq!(sent.len(), 10);
    assert_eq!(column(&recording, "completions", "finished"), [1]);
    assert_eq!(column(&recording, "flows", "rtos"), [0]);
}

/// Whatever comes is cut, and all that the receiver says after the first NACK is lost.
#[test]
fn a_packet_that_was_cut_goes_unasked_after_sixteen_timeouts_without_a_word() {
    let mut scenario = star(1, "1000B", &json!({"Timeout": "100us"}));
    scenario["links"][0]["forward"]["qdisc"]["attributes"] = json!({"DataLimit": "500B"});
    scenario["links"][0]["reverse"]["drop"] = json!((1..1000).collect::<Vec<_>>());
    scenario["stop_time"] = json!("1800us");
    let (trace, recording) = run(&scenario, false);
    let nacked = rows(&trace, &["h0_reverse", "rx", "RST|ACK"]);
    let sent: Vec<_> =
        rows(&trace, &["h0_forward", "tx", "flow_1"]).iter().map(|(at, _)| *at).collect();
    assert_eq!(nacked.len(), 1);
    let unasked = nacked[0].0 + 1_600_000;
    // The answer to that is lost, too, so that it goes again after a timeout.
    assert_eq!(sent, [0, unasked, unasked + 100_000]);
    assert_eq!(column(&recording, "flows", "rtos"), [2]);
}

/// Each call in vain doubles the wait.
#[test]
fn a_receiver_that_hears_nothing_asks_less_and_less_often() {
    let mut scenario = star(1, "0B", &json!({"Timeout": "100us"}));
    scenario["flows"][0]["stop"] = json!("200us");
    scenario["stop_time"] = json!("2ms");
    let (trace, _) = run(&scenario, false);
    let pulls = rows(&trace, &["out_reverse", "tx", "PSH|ACK"]);
    let late: Vec<_> = pulls.iter().map(|(at, _)| *at).filter(|&at| at > 220_000).collect();
    let waits: Vec<_> = late.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits, [200_000, 400_000, 800_000]);
}

#[test]
fn an_ack_that_is_lost_costs_a_timeout_and_a_packet_that_is_there_already() {
    let mut scenario = star(1, "10kB", &json!({"InitialWindow": "1"}));
    scenario["links"][0]["reverse"]["drop"] = json!([4]);
    let (trace, recording) = run(&scenario, false);
    let sent = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    let numbers: Vec<_> = sent.iter().map(|(_, line)| field(line, 4)).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2]);
    assert_eq!(sent[10].0 - sent[2].0, 1_000_000);
    assert_eq!(column(&recording, "completions", "acked_bytes"), [10_000]);
    assert_eq!(column(&recording, "flows", "rtos"), [1]);
}

#[test]
fn senders_of_one_host_take_turns_at_its_link() {
    let mut scenario = star(1, "0B", &json!({"InitialWindow": "1000"}));
    for port in [7, 8] {
        let mut flow = scenario["flows"][0].clone();
        flow["destination_port"] = json!(port);
        scenario["flows"].as_array_mut().unwrap().push(flow);
    }
    scenario["stop_time"] = json!("500us");
    let (trace, recording) = run(&scenario, false);
    let each: Vec<_> = (1..4)
        .map(|i| rows(&trace, &["h0_forward", "tx", &format!("flow_{i}")]).len() as i64)
        .collect();
    // The first one begins before the others are there.
    assert!(each.iter().max().unwrap() - each.iter().min().unwrap() <= 2, "{each:?}");
    assert!(each.iter().sum::<i64>() >= (500_000 / PACKET) as i64 - 3, "{each:?}");
    assert_eq!(total(&recording, "qdisc_dropped"), 0);
}

/// Racks of hosts on a leaf-spine whose links are all alike, each host sends to one of another rack.
fn permutation(routing: &str, racks: usize, hosts: usize) -> Value {
    let host = json!({"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "10000p"}}});
    let switch = json!({"qdisc": {"type": "NdpQueueDisc"}});
    let (mut nodes, mut links, mut flows) = (Vec::new(), Vec::new(), Vec::new());
    let mut link = |name: String, ends: [String; 2], forward: &Value| {
        links.push(json!({"name": name, "ends": ends, "rate": "10Gbps", "delay": "500ns",
            "forward": forward, "reverse": switch}));
    };
    for spine in 0..hosts {
        nodes.push(format!("spine{spine}"));
    }
    for rack in 0..racks {
        nodes.push(format!("leaf{rack}"));
        for i in 0..hosts {
            let name = format!("h{}", rack * hosts + i);
            link(name.clone(), [name.clone(), format!("leaf{rack}")], &host);
            link(format!("l{rack}s{i}"), [format!("leaf{rack}"), format!("spine{i}")], &switch);
            nodes.push(name.clone());
            let to = (rack + 1 + i % (racks - 1)) % racks * hosts + i;
            flows.push(
                json!({"source": name, "destination": format!("h{to}"), "transport": "TRIMMING",
                "application": {"type": "Greedy", "write": "1400B"}}),
            );
        }
    }
    json!({"stop_time": "4ms", "nodes": nodes, "links": links, "flows": flows,
        "routing": {"type": routing}, "recording": {"interval": "1ms"}})
}

/// As in the paper: where each packet takes another path a permutation has over 90 % of all links, and where flows are
/// hashed it has not.
#[test]
fn a_permutation_fills_a_clos_where_packets_are_sprayed() {
    let share = |routing| {
        let (_, recording) = run(&permutation(routing, 4, 4), false);
        let (at, read) =
            ["time_ns", "read_bytes"].map(|name| column(&recording, "flow_samples", name)).into();
        let end = *at.last().unwrap();
        let read: i64 =
            at.iter().zip(read).filter(|(at, _)| **at == end).map(|(_, read)| read).sum();
        read as f64 * 8.0 / (16.0 * 10.0 * end as f64) * (1464.0 / 1400.0)
    };
    let [in_turn, random, hashed] = ["drb", "random", "ecmp"].map(share);
    assert!((0.9..1.0).contains(&in_turn), "{in_turn}");
    assert!(random < in_turn && hashed < random && hashed < 0.8, "{random} {hashed}");
}

/// Anything: sizes, windows, short queues, links that lose packets.
fn random_scenario(seed: u64) -> Value {
    let mut dice = Dice(seed);
    let senders = 1 + dice.roll(12) as usize;
    let bytes = dice.pick(&["1B", "1000B", "77777B", "200kB"]);
    let settings = json!({"InitialWindow": dice.pick(&["1", "7", "30", "500"]),
        "Timeout": dice.pick(&["200us", "1ms"])});
    let mut scenario = star(senders, bytes, &settings);
    let qdisc = json!({"type": "NdpQueueDisc", "attributes": {
        "DataLimit": dice.pick(&["8p", "1p", "3000B"]), "HeaderLimit": dice.pick(&["1125p", "5p"]),
        "HeaderWeight": dice.pick(&["10", "1"]), "TrimArriving": dice.pick(&["0.5", "0", "1"]),
        "MarkHigh": dice.pick(&["0", "3000", "20000"])}});
    scenario["links"][0]["forward"]["qdisc"] = qdisc;
    for link in scenario["links"].as_array_mut().unwrap() {
        for side in ["forward", "reverse"] {
            link[side]["loss"] = json!(if dice.roll(4) == 0 { 0.02 } else { 0.0 });
        }
        link["rate"] = json!(dice.pick(&["40Gbps", "10Gbps"]));
    }
    for (i, flow) in scenario["flows"].as_array_mut().unwrap().iter_mut().enumerate() {
        if dice.roll(4) == 0 && i > 0 {
            flow["source"] = json!("h0");
            flow["destination_port"] = json!(100 + i);
        }
        flow["application"]["write"] = json!(dice.pick(&["1000B", "1400B", "301B"]));
        if dice.roll(2) == 0 {
            flow["cc"] = json!({"type": "nscc", "attributes": {"Timeout": settings["Timeout"]}});
        }
    }
    scenario["stop_time"] = json!("2s");
    scenario["seed"] = json!(1 + seed);
    scenario
}

#[test]
fn whatever_is_cut_or_lost_all_comes_and_nothing_is_made_up() {
    for seed in 0..60 {
        let scenario = random_scenario(seed);
        let (trace, recording) = run(&scenario, false);
        let flows = scenario["flows"].as_array().unwrap().len() as i64;
        let finished: i64 = column(&recording, "completions", "finished").iter().sum();
        assert_eq!(finished, flows, "seed {seed}");
        let sent: i64 = column(&recording, "flows", "segments_sent").iter().sum();
        let again: i64 = column(&recording, "flows", "retransmissions").iter().sum();
        let fresh: i64 = scenario["flows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|flow| {
                let size = |name: &str| {
                    let text = flow["application"][name].as_str().unwrap();
                    crate::base::units::parse_size(text).unwrap() as i64
                };
                (size("bytes") + size("write") - 1) / size("write")
            })
            .sum();
        assert_eq!(sent, fresh + again, "seed {seed}");
        // Each packet of a sender has come, cut or whole, or was lost.
        let came = rows(&trace, &["out_forward", "rx"]).len() as i64;
        let forward = |line: &str| line.contains("_forward,");
        let lost = rows(&trace, &["drop"]).iter().filter(|(_, line)| forward(line)).count() as i64;

        assert_eq!(sent, came + lost, "seed {seed}");
        let cut = rows(&trace, &["trim"]).len() as i64;
        assert_eq!(trimmed(&recording)[0], cut, "seed {seed}");
        assert!(rows(&trace, &["rx", "TRIMMED"]).len() as i64 <= cut, "seed {seed}");
    }
}

#[test]
fn queueing_every_event_changes_nothing() {
    for seed in 0..30 {
        let mut scenario = random_scenario(seed);
        scenario["stop_time"] = json!("5ms");
        let (usual, plain) = (run(&scenario, false).0, run(&scenario, true).0);
        assert!(usual == plain, "seed {seed}");
    }
}

/// Ultra Ethernet's switches, and senders with a window: a round trip of the link is 22,308 B.
fn windows(senders: usize, bytes: &str) -> Value {
    let mut scenario = star(senders, bytes, &json!({}));
    for link in scenario["links"].as_array_mut().unwrap() {
        for side in ["forward", "reverse"] {
            if link[side]["qdisc"]["type"] == "NdpQueueDisc" {
                link[side]["qdisc"]["attributes"] = json!({"DataLimit": "22308B", "HeaderLimit": "3000p", "MarkLow": 4462, "MarkHigh": 17846});
            }
        }
    }
    for flow in scenario["flows"].as_array_mut().unwrap() {
        flow["cc"] = json!({"type": "nscc"});
    }
    scenario
}

#[test]
fn a_window_of_more_than_a_round_trip_fills_the_link_alone() {
    let mut scenario = windows(1, "1000kB");
    scenario["recording"]["interval"] = json!("100us");
    let (trace, recording) = run(&scenario, false);
    let sent = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    assert_eq!(sent.len(), 1000);
    assert!(sent.windows(2).all(|pair| pair[1].0 - pair[0].0 == PACKET));
    let completed = numbers(&recording, "completions", "end_ns")[0];
    let round_trip = 2 * PACKET + 2 * HEADER + 4000;
    assert_eq!(completed, (999 * PACKET + round_trip) as f64);
    assert_eq!(trimmed(&recording), [0, 0]);
    assert!(rows(&trace, &["PSH|ACK"]).is_empty());
    // Of 40 Gbps, and half of it more.
    let cwnd = column(&recording, "flow_samples", "cwnd_bytes");
    assert_eq!(cwnd[1], (1.5 * 5.0 * round_trip as f64) as i64);
    let in_flight = column(&recording, "flow_samples", "in_flight_bytes");
    assert!((20_000..=22_000).contains(&in_flight[1]), "{in_flight:?}");
}

/// First windows are one and a half round trips each, so that nearly all of them is cut; from then on the link is
/// busy with what it has to carry once.
#[test]
fn an_incast_of_windows_ends_when_the_link_has_carried_it() {
    for senders in [4, 16, 64] {
        let (_, recording) = run(&windows(senders, "200kB"), false);
        let cut = trimmed(&recording)[0];
        let last = numbers(&recording, "completions", "end_ns").iter().copied().fold(0.0, f64::max);
        let ideal = (PACKET + 4000 + 200 * senders as u64 * PACKET + 2 * HEADER) as f64;
        assert!(last >= ideal, "{senders}: {last} {ideal}");
        assert!(last < 1.1 * ideal, "{senders}: {last} {ideal} {cut}");
        let again: i64 = column(&recording, "flows", "retransmissions").iter().sum();
        assert_eq!(again, cut, "{senders}: each packet that was cut goes again");
        assert_eq!(column(&recording, "flows", "rtos").iter().sum::<i64>(), 0);
    }
}

/// What a switch marks comes back with the ACK of that packet, and with no other.
#[test]
fn an_ack_says_whether_its_packet_was_marked() {
    let (trace, _) = run(&windows(4, "200kB"), false);
    let key = |line: &str, at: usize| (line.split(',').nth(3).unwrap().to_owned(), field(line, at));
    let marked = rows(&trace, &["out_forward", "mark"]);
    assert!(marked.len() > 100, "{}", marked.len());
    let mut marked: Vec<_> = marked.iter().map(|(_, line)| key(line, 4)).collect();
    let echoed = rows(&trace, &["out_reverse", "tx", "ACK|ECE"]);
    let mut echoed: Vec<_> = echoed.iter().map(|(_, line)| key(line, 5)).collect();
    marked.sort();
    echoed.sort();
    assert_eq!(marked, echoed);
}

/// Of a window some 470,000 packets leave before the first one's timeout, on a path that carries none: each is lost.
/// What it costs a sender grows with the packets, not with their square, which nobody would wait for.
#[test]
fn a_large_window_is_lost_in_time_as_it_was_sent() {
    let mut scenario = star(1, "0B", &json!({}));
    scenario["stop_time"] = json!("60ms");
    scenario["links"][0]["forward"]["loss"] = json!(1.0);
    for link in scenario["links"].as_array_mut().unwrap() {
        link["rate"] = json!("400Gbps");
        link["delay"] = json!("5ms");
    }
    scenario["flows"][0]["cc"] = json!({"type": "nscc", "attributes": {"Timeout": "10ms"}});
    let recording = Simulation::new(lower(&scenario), None).unwrap().finish().unwrap();
    let again = column(&recording, "flows", "retransmissions")[0];
    let sent = column(&recording, "flows", "segments_sent")[0];
    assert!(sent - again > 400_000, "{sent} {again}");
}
