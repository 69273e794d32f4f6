//! Runs in parts have the tables of runs on one thread, to the byte.

use serde_json::{Value, json};

use super::*;
use crate::base::event::journal::LONGEST;
use crate::run::dice::{Dice, lower};
use crate::run::recording::Table;

fn alone(scenario: &Value) -> Vec<Table> {
    let simulation = Simulation::new(lower(scenario), None).unwrap();
    simulation.finish().unwrap().read().unwrap()
}

/// The tables, and how many parts have made them.
fn in_parts(scenario: &Value, threads: usize) -> (Vec<Table>, usize) {
    match run(&lower(scenario), threads, &mut |_| true).unwrap() {
        Outcome::Done(recording, parts) => (recording.read().unwrap(), parts),
        other => panic!("{other:?}"),
    }
}

fn assert_same(ours: &[Table], theirs: &[Table], what: &str) {
    for (our, their) in ours.iter().zip(theirs) {
        // NaN is not equal to itself; its text is.
        assert_eq!(format!("{our:?}"), format!("{their:?}"), "{what}");
    }
    assert_eq!(ours.len(), theirs.len(), "{what}");
}

fn qdisc(dice: &mut Dice) -> Value {
    match dice.pick(&["fifo", "red", "step", "codel", "fq", "shared"]) {
        "fifo" => json!({"type": "FifoQueueDisc", "attributes": {"MaxSize": "20p"}}),
        "red" => json!({"type": "RedQueueDisc", "attributes": {
            "MaxSize": "60p", "MinTh": "5", "MaxTh": "15", "UseEcn": true, "QW": "0.2"}}),
        "step" => json!({"type": "RedQueueDisc", "attributes": {
            "MaxSize": "100p", "MinTh": "9", "MaxTh": "9", "UseEcn": true, "UseHardDrop": false, "QW": "1"}}),
        "codel" => json!({"type": "CoDelQueueDisc", "attributes": {
            "MaxSize": "40p", "Target": "20us", "Interval": "200us", "UseEcn": true}}),
        "fq" => json!({"type": "FqCoDelQueueDisc", "attributes": {"MaxSize": "60p"}}),
        _ => {
            json!({"type": "SharedBufferQueueDisc", "attributes": {"PoolBytes": "60000", "Alpha": "1"}})
        }
    }
}

/// Racks under spines, or pods of two racks under cores.  Some flows begin together, in lockstep.
fn random_fabric(seed: u64) -> Value {
    let dice = &mut Dice(seed);
    let (racks, hosts, switches) = (2 + dice.roll(5), 1 + dice.roll(3), 1 + dice.roll(3));
    let port = json!({"qdisc": qdisc(dice), "device_queue": dice.pick(&["1p", "3p"])});
    let (rate, delay) = (dice.pick(&["1Gbps", "10Gbps"]), dice.pick(&["0s", "1us", "20us"]));
    let has_pods = dice.roll(2) == 0;
    let (mut nodes, mut links) = (Vec::<String>::new(), Vec::new());
    let mut link = |a: &str, b: &str, delay: &str| {
        for node in [a, b] {
            if !nodes.iter().any(|known| known == node) {
                nodes.push(node.to_string());
            }
        }
        links
            .push(json!({"name": format!("{a}-{b}"), "ends": [a, b], "rate": rate, "delay": delay,
                          "forward": port, "reverse": port}));
    };
    let mut ends = Vec::new();
    for rack in 0..racks {
        for host in 0..hosts {
            link(&format!("h{rack}_{host}"), &format!("rack{rack}"), "1us");
            ends.push(format!("h{rack}_{host}"));
        }
        for switch in 0..switches {
            let pod = if has_pods { rack / 2 } else { 0 };
            link(&format!("rack{rack}"), &format!("spine{pod}_{switch}"), delay);
        }
    }
    for pod in 0..if has_pods { racks.div_ceil(2) } else { 0 } {
        for core in 0..2 {
            link(&format!("spine{pod}_{}", core % switches), &format!("core{core}"), delay);
        }
    }
    let cc = dice.pick(&["TcpDctcp", "TcpCubic", "TcpNewReno", "TcpBbr"]);
    let tcp = json!({"MinRto": dice.pick(&["200us", "1ms"]), "UseEcn": "On",
                     "DelAckTimeout": dice.pick(&["40us", "200ms"]),
                     "Profile": dice.pick(&["ns3-3.44", "linux"])});
    let count = ends.len() as u64;
    let flows: Vec<_> = (0..dice.roll(7))
        .map(|_| {
            let (from, other) = (dice.roll(count), 1 + dice.roll(count - 1));
            json!({"source": ends[from as usize], "destination": ends[((from + other) % count) as usize],
                   "start": dice.pick(&["0s", "0s", "100us"]), "cc": {"type": cc}, "tcp": tcp,
                   "stop": dice.pick(&["3ms", "2ms"]),
                   "application": {"type": "Greedy", "bytes": dice.pick(&["0B", "40000B"])}})
        })
        .collect();
    let web = json!({"name": "web", "stack": "dc", "sizes": {"type": "Uniform", "min": "1kB", "max": "90kB"},
                     "arrivals": {"type": "Poisson", "load": 0.6, "count": 40}});
    let query = json!({"name": "query", "stack": "dc",
                       "sizes": {"type": "Uniform", "min": "1kB", "max": "30kB"},
                       "pairs": {"type": "Incast"},
                       "arrivals": {"type": "Times", "times": ["0s", "1ms", "1ms"]}});
    json!({
        "stop_time": "3ms", "seed": 1 + dice.roll(9), "nodes": nodes, "links": links, "flows": flows,
        "stacks": [{"name": "dc", "cc": {"type": cc}, "tcp": tcp}],
        "workloads": if dice.roll(3) == 0 { json!([web]) } else { json!([query, web]) },
        "routing": {"type": dice.pick(&["static", "ecmp"])},
        "recording": {"flows": "none", "interval": "50us", "completions": true},
    })
}

#[test]
fn parts_make_what_one_thread_makes() {
    let seeds = std::env::var("SEEDS").map_or(8, |n| n.parse().unwrap());
    for seed in 0..seeds {
        let scenario = random_fabric(seed);
        let expected = alone(&scenario);
        for threads in [2, 3, 8] {
            let (found, parts) = in_parts(&scenario, threads);
            assert!(parts > 1, "seed {seed}");
            assert_same(&found, &expected, &format!("seed {seed}, {parts} parts"));
        }
    }
}

/// Nothing is drawn, and everything happens everywhere at the same nanosecond.
#[test]
fn racks_in_lockstep_keep_their_order() {
    assert_same_in_lockstep("1us", "3ms");
    // What is remembered of this is of many seconds.
    assert_same_in_lockstep("400ms", "20s");
}

fn assert_same_in_lockstep(delay: &str, stop_time: &str) {
    let mut scenario = random_fabric(3);
    let ends: Vec<_> = (0..4).map(|i| format!("h{}_0", i)).collect();
    let link = |a: &str, b: &str| json!({"name": format!("{a}-{b}"), "ends": [a, b], "rate": "10Gbps", "delay": delay});
    let mut links: Vec<_> = (0..4).map(|i| link(&format!("h{i}_0"), &format!("rack{i}"))).collect();
    links.extend((0..4).map(|i| link(&format!("rack{i}"), "spine")));
    let flows = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3), (2, 0), (3, 1)].map(|(a, b)| {
        json!({"source": ends[a], "destination": ends[b], "cc": {"type": "TcpDctcp"}, "start": "0s"})
    });
    let racks = (0..4).map(|i| format!("rack{i}"));
    let nodes: Vec<_> = ends.iter().cloned().chain(racks).chain(["spine".to_string()]).collect();
    scenario["stop_time"] = json!(stop_time);
    scenario["recording"]["interval"] = json!(delay);
    scenario["nodes"] = json!(nodes);
    scenario["links"] = json!(links);
    scenario["flows"] = json!(flows);
    scenario["workloads"] = json!([]);
    scenario["stacks"] = json!([]);
    let expected = alone(&scenario);
    for threads in [2, 4] {
        let (found, parts) = in_parts(&scenario, threads);
        assert_same(&found, &expected, &format!("{parts} parts"));
    }
}

/// Transfers that are over go, in whichever parts their ends are.
#[test]
fn who_watches_is_told_and_can_end_the_run() {
    let scenario = lower(&random_fabric(5));
    let mut told = Vec::new();
    let outcome = run(&scenario, 2, &mut |now| {
        told.push(now);
        true
    });
    assert!(matches!(outcome, Ok(Outcome::Done(..))));
    assert!(told.is_sorted() && !told.is_empty());
    let outcome = run(&scenario, 2, &mut |_| false);
    assert!(matches!(outcome, Ok(Outcome::Ended)));
}

#[test]
fn what_parts_would_have_to_agree_on_is_left_to_one_thread() {
    let mut all = vec![("has one rack only", random_fabric(1), "nothing")];
    let mut change = |why: &'static str, what: &'static str, value: Value| {
        let mut scenario = random_fabric(1);
        scenario[what] = value;
        all.push((why, scenario, what));
    };
    change("samples flows", "recording", json!({"flows": "all"}));
    change(
        "records what comes to hosts",
        "recording",
        json!({"flows": "none", "deliveries": true}),
    );
    change(
        "has pings",
        "pings",
        json!([{"source": "h0_0", "destination": "h1_0", "interval": "1ms"}]),
    );
    change("has failures", "failures", json!([{"link": "h0_0-rack0", "down": "1ms", "up": "2ms"}]));
    change(
        "has packets whose paths are decided on their way",
        "routing",
        json!({"type": "random"}),
    );
    for (why, scenario, what) in &all[1..] {
        match run(&lower(scenario), 2, &mut |_| true) {
            Ok(Outcome::Alone(said)) => assert_eq!(said, *why, "{what}"),
            other => panic!("{what}: {other:?}"),
        }
    }
    assert!(
        matches!(run(&lower(&all[0].1), 1, &mut |_| true), Ok(Outcome::Alone(why)) if why == all[0].0)
    );
}

/// The least time from one part to another is that of the fastest link between them, for the smallest packet.
#[test]
fn a_window_is_a_links_delay_and_the_shortest_transmission() {
    for seed in 0..20 {
        let scenario = lower(&random_fabric(seed));
        let partition = Partition::new(&scenario, 2).unwrap();
        let crossing = (0..2 * scenario.links.len()).filter(|&port| partition.leaves[port]);
        let least = crossing.map(|port| {
            let link = &scenario.links[port / 2];
            // 30 bytes at a rate in Gbps.
            link.delay_ns + (240_000_000_000 / link.directions[port % 2].rate_bps).div_ceil(1)
        });
        assert_eq!(Some(partition.window.0), least.min());
        assert!(partition.window <= LONGEST);
    }
}
