//! Pauses (PFC) as timelines with known answers: when the frame leaves, how long what it says lasts, and what a switch needs
//! to lose nothing.

use serde_json::{Value, json};

use super::{Dice, column, run, run_unseen, text};

/// Of the MTU, 12.016 us at 1 Gbps.
const FRAME: u64 = 1502;

/// `senders` hosts, a switch and a receiver, 1 Gbps all; datagrams of the MTU in priority 3, back to back.
fn incast(senders: usize, pfc: &Value, more: &Value) -> Value {
    let mut nodes = vec![json!("switch"), json!("receiver")];
    let queue = json!({"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "100000p"}}});
    let mut links = vec![json!({"name": "out", "ends": ["switch", "receiver"], "rate": "1Gbps",
        "delay": "1us", "forward": queue, "reverse": queue})];
    let mut flows = Vec::new();
    for i in 0..senders {
        let name = format!("h{i}");
        let mut forward = queue.clone();
        forward["pfc"] = pfc.clone();
        nodes.push(json!(name));
        links
            .push(json!({"name": name, "ends": [name, "switch"], "rate": "1Gbps", "delay": "10us",
            "forward": forward, "reverse": queue}));
        flows.push(json!({"source": name, "destination": "receiver", "transport": "UDP",
            "destination_port": 9 + i, "tos": 96, "application": cbr("1Gbps")}));
    }
    let mut scenario = json!({"stop_time": "2ms", "nodes": nodes, "links": links, "flows": flows});
    for (field, value) in more.as_object().unwrap() {
        scenario[field] = value.clone();
    }
    scenario
}

/// Of 1472 B with headers of 28 and 2.
fn cbr(rate: &str) -> Value {
    json!({"type": "CBR", "rate": rate, "write": "1472B"})
}

/// Rows of the packet trace that have these words.
pub(super) fn rows(trace: &[u8], words: &[&str]) -> Vec<(u64, String)> {
    let text = String::from_utf8(trace.to_vec()).unwrap();
    let chosen = text.lines().filter(|line| {
        let fields: Vec<_> = line.split(',').collect();
        words.iter().all(|word| fields.contains(word))
    });
    chosen.map(|line| (line.split(',').next().unwrap().parse().unwrap(), line.to_owned())).collect()
}

fn one(recording: &crate::run::recording::Recording, table: &str, name: &str) -> i64 {
    column(recording, table, name)[0]
}

#[test]
fn a_pause_lasts_its_quanta_of_512_bit_times_from_when_the_frame_has_come() {
    // Two into one: the switch holds 10 frames of one sender when that has sent about 20.
    let pfc = json!({"xoff": "15000B", "quanta": 200, "hysteresis": "15000B"});
    let (trace, recording) = run(&incast(2, &pfc, &json!({})), false);
    let paused = rows(&trace, &["h0_reverse", "rx", "PAUSE"]);
    let sent = rows(&trace, &["h0_reverse", "tx", "PAUSE"]);
    // 64 B at 1 Gbps and 10 us of wire.
    assert_eq!(paused[0].0 - sent[0].0, 512 + 10_000);
    // Renewed after half of 200 quanta of 512 ns; the frame says so of priority 3 both times.
    assert_eq!(sent[1].0 - sent[0].0, 100 * 512);
    assert!(sent[0].1.contains(&format!(",{},", 8 << 8 | 8)));
    // The packet that had begun is sent to its end, and none until the pause is over.
    let data = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    let last = data.iter().filter(|(at, _)| *at <= paused[0].0).count();
    assert!(data[last].0 - data[last - 1].0 > 100 * 512);
    assert_eq!(column(&recording, "links", "loss_dropped").iter().sum::<i64>(), 0);
}

#[test]
fn without_renewal_it_ends_by_itself() {
    // The renewal is lost: it is the second frame on the way back.
    let pfc = json!({"xoff": "15000B", "quanta": 200, "hysteresis": "15000B"});
    let mut scenario = incast(2, &pfc, &json!({}));
    scenario["links"][1]["reverse"]["drop"] = json!([1]);
    let (trace, recording) = run(&scenario, false);
    let frames = rows(&trace, &["h0_reverse", "rx", "PAUSE"]);
    let paused = frames[0].0;
    let data = rows(&trace, &["h0_forward", "tx", "flow_1"]);
    let next = data.iter().find(|(at, _)| *at > paused).unwrap().0;
    let end = paused + 200 * 512;
    // At the end of its quanta it sends at once, not a nanosecond before.
    assert_eq!(next, end);
    // Each frame says until when from then on, or that it is over; what is after the run does not count.
    let (mut until, mut time) = (0, 0);
    for (at, line) in &frames {
        let pauses = line.contains(&format!(",{},", 8 << 8 | 8));
        let new = if pauses { at + 200 * 512 } else { *at };
        time += new - at;
        time -= until.max(*at) - at;
        until = new;
    }
    time -= until.max(2_000_000) - 2_000_000;
    assert_eq!(one(&recording, "pauses", "paused_ns"), time as i64);
    // Whether somebody looks or not.
    assert_eq!(text(&recording), run_unseen(&scenario));
}

#[test]
fn what_priorities_of_a_port_drop_is_counted_together() {
    let mut scenario = incast(2, &json!({"xoff": "1MB"}), &json!({}));
    scenario["links"][0]["forward"]["qdisc"]["attributes"]["MaxSize"] = json!("10p");
    scenario["flows"][1]["tos"] = json!(32);
    let (trace, recording) = run(&scenario, false);
    let dropped = rows(&trace, &["out_forward", "drop"]).len() as i64;
    assert_eq!(column(&recording, "drops", "packets"), [dropped]);
    assert_eq!(column(&recording, "drops", "bytes"), [dropped * 1500]);
}

/// A sender whose switch cannot send on: a second one of higher priority takes the whole link.  The return path is taken by
/// frames of the MTU, so that a pause frame waits for one of them.
fn blocked(headroom: u64, delay_us: u64) -> Value {
    let pfc = json!({"xoff": format!("{}B", 10 * FRAME), "headroom": format!("{headroom}B")});
    let mut scenario = incast(1, &pfc, &json!({"stop_time": "3ms"}));
    scenario["links"][1]["delay"] = json!(format!("{delay_us}us"));
    scenario["links"][0]["forward"]["rate"] = json!("1kbps");
    let back = json!({"source": "other", "destination": "h0", "transport": "UDP",
        "destination_port": 99, "application": cbr("1Gbps"), "start": "3us"});
    scenario["nodes"].as_array_mut().unwrap().push(json!("other"));
    scenario["flows"].as_array_mut().unwrap().push(back);
    let queue = scenario["links"][1]["reverse"].clone();
    scenario["links"].as_array_mut().unwrap().push(json!({"name": "other", "rate": "1Gbps",
        "ends": ["other", "switch"], "delay": "1us", "forward": queue, "reverse": queue}));
    scenario
}

#[test]
fn the_headroom_that_the_formula_gives_loses_nothing_and_a_frame_less_loses_one() {
    for delay_us in [1, 10, 37, 100] {
        let (trace, recording) = run(&blocked(1_000_000, delay_us), false);
        let needed = one(&recording, "pauses", "peak_headroom_bytes") as u64;
        let sent = rows(&trace, &["h0_reverse", "tx", "PAUSE"])[0].0;
        // The first one has gone on at once; ten of the others fill the threshold.
        let told = rows(&trace, &["h0_forward", "rx", "flow_1"])[10].0;
        assert!(sent > told, "the frame waits for one of the MTU");
        // What comes between XOFF and the end of the last frame, which begins before the pause frame has come.
        let stop = sent + 512 + delay_us * 1000;
        let data = rows(&trace, &["h0_forward", "tx", "flow_1"]);
        let late = data.iter().filter(|(at, _)| *at < stop).count() as u64 - 11;
        assert_eq!(needed, late * FRAME);
        // 2 d R + 2 MTU + the pause frame: never less than what is needed, and less than two frames more.
        let formula = 2 * delay_us * 125 + 2 * 1502 + 64;
        assert!(needed <= formula && formula < needed + 2 * FRAME, "{needed} {formula}");
        for (headroom, lost) in [(formula, 0), (needed, 0), (needed - 1, 1), (needed - FRAME, 1)] {
            let (_, recording) = run(&blocked(headroom, delay_us), false);
            assert_eq!(one(&recording, "pauses", "dropped"), lost, "{delay_us} us, {headroom} B");
        }
    }
}

#[test]
fn an_incast_of_any_size_loses_nothing_and_fills_the_link() {
    for senders in [2, 5, 16] {
        let more = json!({"stop_time": "20ms"});
        let (_, recording) = run(&incast(senders, &json!({"xoff": "30000B"}), &more), false);
        for name in ["loss_dropped", "qdisc_dropped", "device_dropped"] {
            assert_eq!(column(&recording, "links", name).iter().sum::<i64>(), 0, "{name}");
        }
        // All but the first packet's way there.
        let sent = one(&recording, "links", "tx_bytes");
        assert!(sent > 2_500_000 - 5000, "{sent}");
        let shares = &column(&recording, "links", "tx_packets")[2..];
        let shares: Vec<_> = shares.iter().step_by(2).collect();
        assert!(shares.iter().all(|&&share| share > 0), "{shares:?}");
        for peak in column(&recording, "pauses", "peak_bytes") {
            assert!(*peak <= 30_000 + 2 * 1250 + 2 * 1502 + 64, "{peak}");
        }
    }
}

#[test]
fn what_is_not_of_the_priority_goes_on() {
    let pfc = json!({"xoff": "15000B"});
    let mut scenario = incast(1, &pfc, &json!({}));
    scenario["links"][0]["forward"]["rate"] = json!("1kbps");
    let other = json!({"source": "h0", "destination": "beside", "transport": "UDP",
        "destination_port": 99, "tos": 0, "application": cbr("500Mbps")});
    scenario["nodes"].as_array_mut().unwrap().push(json!("beside"));
    let queue = scenario["links"][1]["reverse"].clone();
    scenario["links"].as_array_mut().unwrap().push(json!({"name": "beside", "rate": "1Gbps",
        "ends": ["switch", "beside"], "delay": "1us", "forward": queue, "reverse": queue}));
    for (tos, goes) in [(0, true), (96, false)] {
        let mut scenario = scenario.clone();
        let mut other = other.clone();
        other["tos"] = json!(tos);
        scenario["flows"].as_array_mut().unwrap().push(other);
        let (trace, _) = run(&scenario, false);
        let arrived = rows(&trace, &["beside_forward", "rx", "flow_2"]).len();
        // 2 ms at 500 Mbps, or what is before it holds it up.
        assert_eq!(arrived > 70, goes, "{arrived}");
    }
}

/// A host with datagrams in priority 0 and RoCE in priority 3, for receivers at links of 1 Mbps and 1 Gbps; the switch has
/// the host pause priority 0 alone.
#[test]
fn a_sender_whose_priority_may_send_does_not_wait_for_the_pause_of_another() {
    let queue = json!({"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "100000p"}}});
    let mut forward = queue.clone();
    forward["pfc"] = json!({"xoff": "15000B", "priorities": [0]});
    let link = |name: &str, ends: [&str; 2], rate: &str, forward: &Value| json!({"name": name, "ends": ends, "rate": rate, "delay": "1us", "forward": forward, "reverse": queue});
    let scenario = json!({
        "stop_time": "20ms",
        "nodes": ["h0", "switch", "slow", "fast"],
        "links": [
            link("h0", ["h0", "switch"], "1Gbps", &forward),
            link("slow", ["switch", "slow"], "1Mbps", &queue),
            link("fast", ["switch", "fast"], "1Gbps", &queue),
        ],
        "flows": [
            {"source": "h0", "destination": "slow", "transport": "UDP", "application": cbr("10Mbps")},
            {"source": "h0", "destination": "fast", "transport": "ROCE", "cc": {"type": "dcqcn"},
             "dscp": 24, "start": "15ms", "application": {"type": "Greedy", "bytes": "10kB", "write": "1000B"}},
        ],
    });
    let (trace, _) = run(&scenario, false);
    assert!(!rows(&trace, &["h0_reverse", "rx", "PAUSE"]).is_empty());
    let sent = rows(&trace, &["h0_forward", "tx", "flow_2"]);
    assert_eq!((sent.len(), sent[0].0), (10, 15_000_000));
}

/// What waits behind the token buckets of two priorities, one packet a millisecond and ten: each has its own tokens.
#[test]
fn a_priority_that_is_held_back_does_not_hold_back_another() {
    let bucket = json!({"type": "TbfQueueDisc", "attributes": {"Rate": "12Mbps", "Burst": "1500", "MaxSize": "100000p"}});
    let mut scenario = incast(2, &json!({"xoff": "1MB"}), &json!({"stop_time": "50ms"}));
    scenario["links"][0]["forward"] = json!({"qdisc": bucket});
    scenario["flows"][0]["tos"] = json!(32);
    scenario["flows"][0]["application"] = cbr("50Mbps");
    scenario["flows"][1]["application"] =
        json!({"type": "CBR", "rate": "1Gbps", "write": "122B", "bytes": "122kB"});
    let (trace, _) = run(&scenario, false);
    let sent = |flow: &str| rows(&trace, &["out_forward", "tx", flow]).len() as i64;
    let (large, small) = (sent("flow_1"), sent("flow_2"));
    // 12 Mbps are 50 packets of 1500 B in 50 ms, and 500 of 150 B, besides what the bucket holds at first.
    assert!((large - 50).abs() <= 2 && (small - 510).abs() <= 3, "{large}, {small}");
}

#[test]
fn a_response_time_delays_the_effect_and_the_headroom_allows_for_it() {
    let arrivals = |response: &str| {
        let pfc = json!({"xoff": "15000B", "response": response});
        let mut scenario = incast(1, &pfc, &json!({}));
        scenario["links"][0]["forward"]["rate"] = json!("1kbps");
        let (trace, recording) = run(&scenario, false);
        assert_eq!(one(&recording, "pauses", "dropped"), 0);
        rows(&trace, &["h0_forward", "rx", "flow_1"]).len()
    };
    // 50 frames more in 600 us.
    assert_eq!(arrivals("600us"), arrivals("0s") + 50);
}

/// Of scenarios with pauses: few hosts and switches in a row, all that can be random about them.
fn random(seed: u64) -> Value {
    let mut dice = Dice(seed);
    let switches = 1 + dice.roll(3);
    let mut nodes: Vec<String> = (0..switches).map(|i| format!("s{i}")).collect();
    let mut links = Vec::new();
    let pfc = if dice.roll(2) == 0 {
        json!({"xoff": dice.pick(&["1500B", "20kB", "60kB"]), "quanta": dice.pick(&["300", "65535"])
            .parse::<u32>().unwrap(), "response": dice.pick(&["0s", "3us"])})
    } else {
        json!({"alpha": dice.pick(&["0.125", "1", "8"]).parse::<f64>().unwrap(), "buffer": "100kB",
            "priorities": [0, 3]})
    };
    let qdisc = match dice.roll(4) {
        0 => {
            json!({"type": "RedQueueDisc", "attributes": {"MinTh": "5", "MaxTh": "20", "MaxSize": "50p",
            "UseEcn": "true"}})
        }
        1 => json!({"type": "CoDelQueueDisc", "attributes": {"MaxSize": "20p"}}),
        2 => json!({"type": "TbfQueueDisc", "attributes": {"Rate": "30Mbps"}}),
        _ => json!({"type": "FifoQueueDisc", "attributes": {"MaxSize": "10000p"}}),
    };
    let mut link = |name: String, ends: [String; 2], rate: &str| {
        let direction = |dice: &mut Dice| {
            let mut direction =
                json!({"qdisc": qdisc, "loss": if dice.roll(5) == 0 { 0.01 } else { 0.0 }});
            if dice.roll(4) > 0 {
                direction["pfc"] = pfc.clone();
            }
            direction
        };
        let (forward, reverse) = (direction(&mut dice), direction(&mut dice));
        links.push(json!({"name": name, "ends": ends, "rate": rate, "delay": "5us",
            "forward": forward, "reverse": reverse}));
    };
    for i in 1..switches {
        link(format!("l{i}"), [format!("s{}", i - 1), format!("s{i}")], "100Mbps");
    }
    let hosts = 2 + seed % 4;
    for i in 0..hosts {
        nodes.push(format!("h{i}"));
        link(format!("h{i}"), [format!("h{i}"), format!("s{}", i % switches)], "100Mbps");
    }
    let flows: Vec<_> = (0..2 * hosts)
        .map(|i| {
            let (source, other) = (dice.roll(hosts), 1 + dice.roll(hosts - 1));
            let ends = [source, (source + other) % hosts].map(|host| format!("h{host}"));
            let mut flow = json!({"source": ends[0], "destination": ends[1],
                "tos": 4 * dice.roll(64), "destination_port": 9 + i});
            let kind = dice.roll(3);
            if kind == 0 {
                flow["transport"] = json!("ROCE");
                flow["cc"] =
                    json!({"type": dice.pick(&["dcqcn", "line_rate", "hpcc", "swift", "timely"])});
                let bytes = dice.pick(&["0B", "100kB", "1B"]);
                let write = dice.pick(&["1000B", "1414B"]);
                flow["application"] = json!({"type": "Greedy", "bytes": bytes, "write": write});
            } else if kind == 1 {
                flow["transport"] = json!("UDP");
                flow["application"] = cbr(dice.pick(&["20Mbps", "120Mbps"]));
                flow["application"]["write"] = json!(dice.pick(&["1472B", "1470B", "300B"]));
            } else {
                flow["cc"] = json!({"type": dice.pick(&["TcpNewReno", "TcpDctcp", "TcpBbr"])});
                flow["tcp"] = json!({"SegmentSize": "1400"});
                flow["application"] =
                    json!({"type": "Greedy", "bytes": dice.pick(&["0B", "200kB"])});
            }
            flow
        })
        .collect();
    json!({"stop_time": "60ms", "nodes": nodes, "links": links, "flows": flows})
}

/// What has come over a wire, less what was lost on it, has been sent on, was dropped, or is still there.
fn check_conservation(seed: u64, trace: &[u8], recording: &crate::run::recording::Recording) {
    let tx: i64 = column(recording, "links", "tx_packets").iter().sum();
    let begun = rows(trace, &["tx"]).len() as i64;
    assert_eq!(tx, begun, "seed {seed}");
    let lost: i64 = column(recording, "links", "loss_dropped").iter().sum();
    let unfit = recording
        .table("pauses")
        .map_or(0, |_| column(recording, "pauses", "dropped").iter().sum::<i64>());
    let refused = rows(trace, &["drop", "Headroom full"]).len() as i64;
    assert!(refused == unfit && unfit <= lost, "seed {seed}: {refused} {unfit} {lost}");
}

#[test]
fn queueing_every_event_changes_nothing_where_links_pause() {
    for seed in 0..100 {
        let scenario = random(seed);
        let (usual, recording) = run(&scenario, false);
        let (plain, _) = run(&scenario, true);
        assert!(usual == plain, "seed {seed}: {scenario}");
        check_conservation(seed, &usual, &recording);
    }
}

#[test]
fn with_their_default_headroom_switches_lose_nothing() {
    let mut pauses = 0;
    for seed in 0..60 {
        let mut scenario = random(seed);
        for link in scenario["links"].as_array_mut().unwrap() {
            link["forward"]["loss"] = json!(0.0);
            link["reverse"]["loss"] = json!(0.0);
        }
        let (_, recording) = run(&scenario, false);
        if recording.table("pauses").is_some() {
            assert_eq!(
                column(&recording, "pauses", "dropped").iter().sum::<i64>(),
                0,
                "seed {seed}"
            );
            pauses += column(&recording, "pauses", "pauses").iter().sum::<i64>();
        }
    }
    assert!(pauses > 500, "{pauses}");
}
