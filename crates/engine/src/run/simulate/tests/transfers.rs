//! Transfers that come and go against the same ones written as flows, which stay for the whole run.

use ccperf_schema::lowered::Lowered;
use serde_json::{Value, json};

use super::{Buffer, Dice, lower, run, run_lowered};
use crate::base::time::Time;
use crate::run::recording::Recording;
use crate::run::simulate::Simulation;

/// A star whose links may lose packets, with workloads of two stacks.
fn random_star(seed: u64) -> Value {
    let mut dice = Dice(seed);
    let hosts = 3 + dice.roll(4);
    let names: Vec<_> = (0..hosts).map(|i| format!("h{i}")).collect();
    let loss = [0.0, 0.0, 0.01, 0.05][dice.roll(4) as usize];
    let link = |name: &String| {
        json!({
            "name": name, "ends": [name, "s"], "rate": "100Mbps", "delay": "50us",
            "forward": {"loss": loss}, "reverse": {"qdisc": {"type": "FifoQueueDisc",
            "attributes": {"MaxSize": "30p"}}, "device_queue": "1p", "loss": loss},
        })
    };
    let links: Vec<_> = names.iter().map(link).collect();
    let mut nodes = names;
    nodes.push("s".to_owned());
    // Some runs see the end of TIME_WAIT, some see connections given up.
    let lifetime = dice.pick(&["0.001", "0.02", "120"]);
    let tcp = |sack: &str| {
        json!({
            "SegmentSize": "1448", "Sack": sack, "MinRto": "5ms", "ConnTimeout": "5ms",
            "MaxSegLifetime": lifetime, "DataRetries": "3", "ConnCount": "3",
        })
    };
    let sizes = [
        json!({"type": "Cdf", "points": [[0, 0], [3e3, 0.5], [30e3, 0.9], [200e3, 1]]}),
        json!({"type": "Facebook"}),
    ];
    let sizes = &sizes[dice.roll(2) as usize];
    json!({
        "stop_time": "400ms", "seed": 1 + dice.roll(5), "nodes": nodes, "links": links,
        "flows": [{"source": "h0", "destination": "h1", "cc": {"type": "cubic"}, "name": "long"}],
        "stacks": [
            {"name": "a", "cc": {"type": "newreno"}, "tcp": tcp("true")},
            {"name": "b", "cc": {"type": "dctcp"}, "tcp": tcp("false"), "recovery": "TcpClassicRecovery"},
        ],
        "workloads": [
            {"name": "web", "stack": "a", "sizes": sizes,
             "arrivals": {"type": "Poisson", "load": 0.5, "count": 60}},
            {"name": "query", "stack": "b", "sizes": {"type": "Uniform", "min": "1kB", "max": "60kB"},
             "pairs": {"type": "Incast"}, "arrivals": {"type": "Times", "times": ["0s", "50ms", "51ms"]}},
        ],
        "pings": [{"source": "h1", "destination": "h0", "interval": "11ms"}],
        "recording": {"flows": "none", "completions": true},
    })
}

/// The scenario with every transfer as a flow; `recording` is what is recorded of it.
fn written_out(scenario: &Value, recording: impl FnOnce(&[Value]) -> Value) -> Lowered {
    let lowered = lower(scenario);
    let mut flows = scenario["flows"].as_array().unwrap().clone();
    for workload in &lowered.workloads {
        let stack = &scenario["stacks"][workload.stack];
        for (i, name) in workload.names().enumerate() {
            let pair = &lowered.pairs[workload.pair[i] as usize];
            flows.push(json!({
                "name": name, "group": workload.name,
                "source": lowered.nodes[pair.source], "destination": lowered.nodes[pair.destination],
                "start": format!("{}ns", workload.start_ns[i]),
                "application": {"type": "Greedy", "bytes": format!("{}B", workload.bytes[i])},
                "cc": stack["cc"], "tcp": stack["tcp"],
                "recovery": stack.get("recovery").cloned().unwrap_or(json!("TcpPrrRecovery")),
            }));
        }
    }
    let mut written = scenario.clone();
    written["recording"] = recording(&flows);
    written["flows"] = Value::Array(flows);
    written.as_object_mut().unwrap().remove("stacks");
    written.as_object_mut().unwrap().remove("workloads");
    let mut written = lower(&written);
    // Flows that are written have ports of their own on each host, transfers only between the same two.
    let ports =
        lowered.workloads.iter().flat_map(|w| w.source_port.iter().zip(&w.destination_port));
    for (flow, (&source, &destination)) in
        written.flows[lowered.flows.len()..].iter_mut().zip(ports)
    {
        (flow.source_port, flow.destination_port) = (source, destination);
    }
    written
}

fn table(recording: &Recording, name: &str) -> String {
    format!("{:?}", recording.table(name))
}

#[test]
fn transfers_send_what_flows_send() {
    for seed in 0..24 {
        let scenario = random_star(seed);
        let (trace, recording) = run(&scenario, false);
        let (plain, _) = run(&scenario, true);
        let (of_flows, recording_of_flows) =
            run_lowered(written_out(&scenario, |_| scenario["recording"].clone()), false);
        assert!(trace.len() > 10_000, "seed {seed} sends nothing");
        assert!(trace == of_flows, "seed {seed} differs from flows: {scenario}");
        assert!(trace == plain, "seed {seed} differs from its plain run: {scenario}");
        for name in ["flows", "links", "drops", "link_samples", "completions", "pings"] {
            let (ours, theirs) = (table(&recording, name), table(&recording_of_flows, name));
            assert_eq!(ours, theirs, "seed {seed}, {name}: {scenario}");
        }
    }
}

#[test]
fn a_transfer_that_is_sampled_is_sampled_as_a_flow_is() {
    for seed in 100..104 {
        let mut scenario = random_star(seed);
        scenario["recording"] = json!({"flows": ["long", "query"], "changes": ["query"]});
        let written = written_out(&scenario, |flows| {
            let names = flows.iter().filter(|f| f["name"] == "long" || f["group"] == "query");
            let names: Vec<_> = names.map(|flow| flow["name"].clone()).collect();
            json!({"flows": names, "changes": names[1..], "completions": true})
        });
        let ((_, ours), (_, theirs)) = (run(&scenario, false), run_lowered(written, false));
        for name in ["flow_samples", "changes", "completions"] {
            assert_eq!(table(&ours, name), table(&theirs, name), "seed {seed}, {name}");
        }
    }
}

#[test]
fn those_that_are_over_leave_their_places() {
    let mut scenario = random_star(1);
    scenario["flows"] = json!([]);
    scenario["pings"] = json!([]);
    let lowered = lower(&scenario);
    let count = lowered.flow_count();
    let traced = Simulation::with_packets_to(lowered, Box::new(Buffer::default()));
    let mut simulation = traced.unwrap();
    let mut most = 0;
    for ms in 1..400 {
        simulation.run_until(Time::from_secs_f64(f64::from(ms) / 1e3)).unwrap();
        most = most.max(simulation.hosts.live());
    }
    assert!(most > 5 && most < count / 2, "{most} of {count}");
    assert!(simulation.hosts.live() < count / 4, "{} of {count}", simulation.hosts.live());
}

/// A star into one of whose links more comes than fits, so that transfers begin faster than they end.
fn crowded_star() -> Value {
    let link =
        |name: &str| json!({"name": name, "ends": [name, "s"], "rate": "1Mbps", "delay": "1ms"});
    json!({
        "stop_time": "5s", "nodes": ["a", "b", "s"], "links": [link("a"), link("b")],
        "stacks": [{"name": "t", "cc": {"type": "newreno"}}],
        "workloads": [{"name": "w", "stack": "t", "sizes": {"type": "Constant", "bytes": "10kB"},
            "sources": ["a"], "destinations": ["b"],
            "arrivals": {"type": "Times", "times": ["1ms", "2ms", "3ms", "4ms", "5ms"]}}],
    })
}

#[test]
fn a_transfer_without_a_place_ends_the_run_with_an_error() {
    let ended = |places: usize| {
        let mut simulation = Simulation::new(lower(&crowded_star()), None).unwrap();
        simulation.hosts.admit_at_most(places);
        simulation.finish().map(|recording| recording.tables.len())
    };
    assert!(ended(5).is_ok(), "there is a place for each");
    let error = ended(3).unwrap_err().to_string();
    let begins = "more than 3 transfers are under way at 0.004000000 s of simulated time";
    assert!(error.starts_with(begins), "{error}");
    assert!(error.contains("lower the load of its workloads"), "{error}");
}

#[test]
fn neither_has_the_receiver_of_another_part_a_place() {
    let mut simulation = Simulation::new(lower(&crowded_star()), None).unwrap();
    simulation.hosts.admit_at_most(1);
    assert!(simulation.hosts.expect(0).is_ok());
    assert!(simulation.hosts.expect(0).is_ok(), "it has its place");
    assert!(simulation.hosts.expect(1).is_err());
}
