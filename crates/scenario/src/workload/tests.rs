use ccperf_schema::lowered::Lowered;
use serde_json::{Value, json};

use crate::Canonical;

/// Hosts `h0`, `h1`, ... at a switch, 10 Gbps each.
fn star(hosts: usize, workload: Value) -> Value {
    let names: Vec<_> = (0..hosts).map(|i| format!("h{i}")).collect();
    let link = |name: &String| json!({"name": name, "ends": [name, "s"], "rate": "10Gbps", "delay": "10us"});
    let links: Vec<_> = names.iter().map(link).collect();
    let mut nodes = names;
    nodes.push("s".to_owned());
    let mut whole = json!({
        "name": "web", "stack": "dc", "sizes": {"type": "WebSearch"},
        "arrivals": {"type": "Poisson", "load": 0.5},
    });
    for (field, value) in workload.as_object().unwrap() {
        whole[field] = value.clone();
    }
    json!({
        "stop_time": "100ms", "nodes": nodes, "links": links,
        "stacks": [{"name": "dc", "cc": {"type": "dctcp"}, "tcp": {"SegmentSize": "1448"}}],
        "workloads": [whole],
    })
}

fn lowered(scenario: &Value) -> Lowered {
    Canonical::from_json(&scenario.to_string()).unwrap().lower()
}

/// Source, destination, start in ns and bytes of each transfer.
fn transfers(scenario: &Value) -> Vec<(usize, usize, u64, u64)> {
    let lowered = lowered(scenario);
    let workload = &lowered.workloads[0];
    let rest = workload.start_ns.iter().zip(&workload.bytes);
    let ends = workload.pair.iter().map(|&pair| &lowered.pairs[pair as usize]);
    ends.zip(rest)
        .map(|(pair, (&start, &bytes))| (pair.source, pair.destination, start, bytes))
        .collect()
}

#[test]
fn arrivals_come_in_order_with_the_load_that_was_asked_for() {
    let mut scenario = star(16, json!({"arrivals": {"type": "Poisson", "load": 0.6}}));
    scenario["stop_time"] = json!("5s");
    let found = lowered(&scenario);
    let workload = &found.workloads[0];
    assert!(workload.start_ns.is_sorted());
    // 0.6 x 160 Gbps / (8 x 1,711,250 B) = 7012 a second.
    let expected = 0.6 * 160e9 / (8.0 * 1_711_250.0) * 5.0;
    assert!((workload.len() as f64 / expected - 1.0).abs() < 0.02, "{}", workload.len());
    assert!((workload.realised_load.unwrap() / 0.6 - 1.0).abs() < 0.05);
    assert_eq!((workload.load, workload.mean_bytes), (Some(0.6), 1_711_250.0));
}

#[test]
fn nothing_drawn_depends_on_the_stack_or_on_what_else_there_is() {
    let scenario = star(8, json!({}));
    let drawn = transfers(&scenario);
    let mut other = scenario.clone();
    other["stacks"][0]["cc"] = json!({"type": "cubic"});
    other["links"][3]["forward"] = json!({"qdisc": {"type": "RedQueueDisc"}});
    let flow = json!({"source": "h0", "destination": "h1", "cc": {"type": "newreno"}});
    other["flows"] = json!([flow]);
    assert_eq!(transfers(&other), drawn);
    other["seed"] = json!(2);
    assert_ne!(transfers(&other), drawn);
}

#[test]
fn sizes_and_times_come_from_streams_of_their_own() {
    let times = |scenario: &Value| transfers(scenario).iter().map(|t| t.2).collect::<Vec<_>>();
    let arrivals = json!({"type": "Poisson", "load": 0.3, "count": 50});
    let constant =
        star(4, json!({"arrivals": arrivals, "sizes": {"type": "Constant", "bytes": "30kB"}}));
    let uniform = star(
        4,
        json!({"arrivals": arrivals, "sizes": {"type": "Uniform", "min": "20kB", "max": "40kB"}}),
    );
    assert_eq!(times(&constant), times(&uniform));
    assert_eq!(times(&constant).len(), 50);
    assert!(transfers(&uniform).iter().all(|t| (20_000..=40_000).contains(&t.3)));
}

#[test]
fn no_host_sends_to_itself_or_within_its_rack() {
    let apart = json!([["h0", "h1", "h2"], ["h3", "h4", "h5"]]);
    let found = transfers(&star(8, json!({"apart": apart})));
    let rack = |host: usize| if host < 6 { Some(host / 3) } else { None };
    assert!(found.len() > 20);
    for (source, destination, ..) in found {
        assert_ne!(source, destination);
        assert!(rack(source).is_none() || rack(source) != rack(destination));
    }
}

#[test]
fn rounds_have_the_shape_that_their_pairs_say() {
    let round = |pairs: &str, more: Value| {
        let mut workload = json!({
            "arrivals": {"type": "Times", "times": ["1ms", "2ms"]}, "pairs": {"type": pairs},
            "sizes": {"type": "Listed", "bytes": ["1kB", "2kB", "3kB"]},
        });
        for (field, value) in more.as_object().unwrap() {
            workload[field] = value.clone();
        }
        transfers(&star(5, workload))
    };
    let permutation = round("Permutation", json!({}));
    assert_eq!(permutation.len(), 10);
    for start in [1_000_000, 2_000_000] {
        let of_round = permutation.iter().filter(|t| t.2 == start);
        let mut receivers: Vec<_> = of_round.map(|t| t.1).collect();
        receivers.sort_unstable();
        assert_eq!(receivers, [0, 1, 2, 3, 4]);
    }
    assert!(permutation.iter().all(|t| t.0 != t.1));
    assert_eq!(
        permutation.iter().map(|t| t.3).take(4).collect::<Vec<_>>(),
        [1000, 2000, 3000, 1000]
    );

    let incast = round("Incast", json!({"destinations": ["h4"]}));
    assert_eq!(
        incast.iter().map(|t| (t.0, t.1)).take(4).collect::<Vec<_>>(),
        [(0, 4), (1, 4), (2, 4), (3, 4)]
    );
    assert_eq!(round("AllToAll", json!({})).len(), 2 * 5 * 4);
    assert_eq!(round("Random", json!({})).len(), 2);
    let pairs =
        json!({"pairs": {"type": "Listed", "pairs": [["h1", "h0"], ["h2", "h0"], ["h3", "h0"]]}});
    assert_eq!(
        round("Listed", pairs).iter().map(|t| (t.0, t.1)).collect::<Vec<_>>(),
        [(1, 0), (2, 0)]
    );
}

/// `h3` has three senders, `h4` has one: rounds of two and of one transfer, 1.5 on average.
#[test]
fn an_incast_has_its_load_where_some_destinations_have_fewer_senders() {
    let mut scenario = star(
        5,
        json!({
            "sources": ["h0", "h1", "h2"], "destinations": ["h3", "h4"],
            "apart": [["h0", "h1", "h4"]], "pairs": {"type": "Incast", "senders": 2},
            "sizes": {"type": "Constant", "bytes": "1MB"},
        }),
    );
    scenario["stop_time"] = json!("20s");
    let realised = lowered(&scenario).workloads[0].realised_load.unwrap();
    assert!((realised / 0.5 - 1.0).abs() < 0.02, "{realised}");
}

#[test]
fn no_two_connections_have_the_same_ports() {
    let mut scenario = star(
        3,
        json!({
            "arrivals": {"type": "Poisson", "load": 0.9, "count": 40_000},
            "pairs": {"type": "Listed", "pairs": [["h0", "h1"]]},
            "sizes": {"type": "Constant", "bytes": "100B"},
        }),
    );
    let flow = json!({"source": "h0", "destination": "h1", "cc": {"type": "newreno"}});
    scenario["flows"] = json!([flow, flow]);
    let found = lowered(&scenario);
    let workload = &found.workloads[0];
    let ports = workload.source_port.iter().zip(&workload.destination_port);
    let mut all: Vec<_> = ports.map(|(&a, &b)| (a, b)).collect();
    all.extend(found.flows.iter().map(|flow| (flow.source_port, flow.destination_port)));
    assert_eq!(all.len(), 40_002);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 40_002);
}

#[test]
fn what_makes_no_sense_is_named() {
    let poisson = |field: &str, value: Value| {
        let mut arrivals = json!({"type": "Poisson", "load": 0.5});
        arrivals[field] = value;
        json!({"arrivals": arrivals})
    };
    for (workload, path, words) in [
        (poisson("load", json!(1.5)), "arrivals.load", "1.5 is not between 0 and 1"),
        (poisson("load", json!(0.0)), "arrivals.load", "0 is not between 0 and 1"),
        (poisson("until", json!("0s")), "arrivals.until", "not after start"),
        (poisson("capacity", json!("0bps")), "arrivals.capacity", "never send"),
        (
            poisson("capacity", json!("1bps")),
            "arrivals",
            "makes no transfer before stop_time (100ms); raise load or stop_time",
        ),
        (
            poisson("until", json!("1ns")),
            "arrivals",
            "makes no transfer before until (1ns); raise load or until",
        ),
        (poisson("count", json!(0)), "arrivals.count", "are none"),
        (json!({"stack": "dcc"}), "stack", "no stack `dcc`; did you mean `dc`"),
        (json!({"sources": ["h9"]}), "sources[0]", "no node `h9`"),
        (json!({"sources": []}), "sources", "names no node"),
        (
            json!({"sources": ["h1"], "destinations": ["h1"]}),
            "destinations",
            "`h1` has nobody to send to",
        ),
        (
            json!({"sources": ["h1"], "destinations": ["h1"], "pairs": {"type": "AllToAll"}}),
            "destinations",
            "no source may send to any of them",
        ),
        (
            json!({"apart": [["h0", "h1", "h2", "h3"]], "pairs": {"type": "Incast"}}),
            "destinations",
            "no source may send to any of them",
        ),
        (
            json!({"pairs": {"type": "Incast", "senders": 4}}),
            "pairs.senders",
            "4 are more than the 3 that may send; lower it",
        ),
        (
            json!({"sizes": {"type": "Cdf", "points": [[5, 0.5], [3, 1.0]]}}),
            "sizes.points[1]",
            "neither may fall",
        ),
        (json!({"sizes": {"type": "Cdf", "points": []}}), "sizes.points[0]", "no points"),
        (json!({"sizes": {"type": "Constant", "bytes": "0B"}}), "sizes.bytes", "not from 1B"),
        (
            json!({"sizes": {"type": "Uniform", "min": "2kB", "max": "1kB"}}),
            "sizes.max",
            "below min",
        ),
        (
            json!({"pairs": {"type": "Permutation"}, "destinations": ["h1"]}),
            "pairs",
            "among the sources",
        ),
        (
            json!({"pairs": {"type": "Listed", "pairs": [["h1", "h1"]]}}),
            "pairs.pairs[0]",
            "the source as well",
        ),
        (
            json!({"arrivals": {"type": "Times", "times": ["2ms", "1ms"]}}),
            "arrivals.times[1]",
            "sort them",
        ),
        (json!({"write": "0B"}), "write", "never send"),
        (json!({"gap": "0s"}), "gap", "no pause"),
        (json!({"gap": "1ms", "connections": 1}), "gap", "leave out connections"),
        (json!({"name": "small"}), "name", "name it otherwise"),
    ] {
        let error = Canonical::from_json(&star(4, workload.clone()).to_string()).unwrap_err();
        let problems: Vec<_> =
            error.0.iter().map(|p| (p.path.as_str(), p.message.as_str())).collect();
        assert_eq!(problems.len(), 1, "{workload}: {problems:?}");
        assert_eq!(problems[0].0, format!("workloads[0].{path}"), "{problems:?}");
        assert!(problems[0].1.contains(words), "{problems:?}");
    }
}
