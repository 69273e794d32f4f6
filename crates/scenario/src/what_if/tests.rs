use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// As many flows, each between hosts of its own, over one bottleneck; flows over TCP take the
/// algorithms in turn.
fn dumbbell(flows: usize, kinds: &[&str]) -> Canonical {
    let sources = (0..flows).map(|i| format!("src_{i}"));
    let destinations = (0..flows).map(|i| format!("dst_{i}"));
    let nodes = sources.chain(destinations).chain(["left".to_owned(), "right".to_owned()]);
    let mut links = vec![json!({
        "name": "btl", "ends": ["left", "right"], "rate": "16Mbps", "delay": "5.5ms",
        "addresses": ["10.255.255.1", "10.255.255.2"],
        "forward": {"qdisc": {"type": "CoDelQueueDisc", "attributes": {"MaxSize": "20p"}}}
    })];
    for i in 0..flows {
        let (host, gateway) = (4 * i + 1, 4 * i + 2);
        links.push(json!({
            "name": format!("src_{i}"), "ends": [format!("src_{i}"), "left"],
            "rate": "8Gbps", "delay": "1ms",
            "addresses": [format!("10.0.0.{host}"), format!("10.0.0.{gateway}")],
        }));
        links.push(json!({
            "name": format!("dst_{i}"), "ends": ["right", format!("dst_{i}")],
            "rate": "8Gbps", "delay": "1ms",
            "addresses": [format!("20.0.0.{gateway}"), format!("20.0.0.{host}")],
        }));
    }
    let flow = |i: usize| {
        json!({
            "source": format!("src_{i}"), "destination": format!("dst_{i}"), "stop": "2s",
            "cc": {"type": kinds[i % kinds.len()]}
        })
    };
    read(&json!({
        "stop_time": "2s", "nodes": nodes.collect::<Value>(), "links": links,
        "flows": (0..flows).map(flow).collect::<Value>()
    }))
}

fn read(scenario: &Value) -> Canonical {
    Canonical::from_json(&scenario.to_string()).unwrap_or_else(|e| panic!("{e}"))
}

fn settings(json: Value) -> Settings {
    serde_json::from_value(json).unwrap()
}

fn complaints(scenario: &Canonical, changed: Value) -> Vec<(String, String)> {
    let error = scenario.what_if(&settings(changed)).unwrap_err();
    error.0.into_iter().map(|p| (p.path, p.message)).collect()
}

#[test]
fn a_scenario_says_what_it_has() {
    assert_eq!(
        serde_json::to_value(dumbbell(4, &["TcpCubic", "TcpBbr"]).settings()).unwrap(),
        json!({
            "cc": ["TcpCubic", "TcpBbr"], "flows": 4, "rate": "16Mbps", "rtt": "15ms",
            "buffer": "20p", "qdisc": "CoDelQueueDisc", "seed": 1, "stop_time": "2s"
        })
    );
}

#[test]
fn each_setting_is_what_it_was_set_to() {
    let wanted = settings(json!({
        "cc": ["TcpVegas"], "flows": 3, "rate": "64Mbps", "rtt": "100ms", "buffer": "30000B",
        "qdisc": "FqCoDelQueueDisc", "seed": 7, "stop_time": "5s"
    }));
    let scenario = dumbbell(1, &["TcpNewReno"]);
    // FQ-CoDel counts packets only, as the check finds.
    assert_eq!(
        complaints(&scenario, serde_json::to_value(&wanted).unwrap())[0].0,
        "links[0].forward.qdisc.attributes.MaxSize"
    );
    let wanted = Settings { buffer: Some("30p".to_owned()), ..wanted };
    let changed = scenario.what_if(&wanted).unwrap();
    assert_eq!(changed.settings(), wanted);
    assert!(changed.scenario().flows.iter().all(|flow| flow.stop.as_deref() == Some("5s")));
    // The way back has the bottleneck's rate, too, and keeps its queue.
    assert_eq!(changed.scenario().links[0].rate, "64Mbps");
    assert_eq!(changed.scenario().links[0].reverse, scenario.scenario().links[0].reverse);
}

#[test]
fn names_of_linux_are_known() {
    let changed = settings(json!({"cc": ["bbr"], "qdisc": "codel"}));
    let changed = dumbbell(1, &["TcpCubic"]).what_if(&changed).unwrap();
    assert_eq!(changed.settings().cc.unwrap(), ["TcpBbr"]);
    assert_eq!(changed.settings().qdisc.unwrap(), "CoDelQueueDisc");
}

#[test]
fn what_comes_later_changes_in_proportion() {
    let mut scenario: Value = serde_json::from_str(&dumbbell(1, &["TcpCubic"]).to_json()).unwrap();
    scenario["changes"] = json!([{"time": "1s", "link": "btl", "rate": "8Mbps", "delay": "10ms"}]);
    let changed = settings(json!({"rate": "4Mbps", "rtt": "25ms"}));
    let changed = read(&scenario).what_if(&changed).unwrap();
    let change = &changed.scenario().changes[0];
    assert_eq!((change.rate.as_deref(), change.delay.as_deref()), (Some("2Mbps"), Some("15ms")));
}

#[test]
fn a_port_without_discipline_has_its_device_as_buffer() {
    let mut scenario: Value = serde_json::from_str(&dumbbell(1, &["TcpCubic"]).to_json()).unwrap();
    scenario["links"][0]["forward"]["qdisc"] = Value::Null;
    scenario["links"][0]["forward"]["device_queue"] = json!("50p");
    let scenario = read(&scenario);
    assert_eq!(scenario.settings().buffer.unwrap(), "50p");
    assert_eq!(scenario.settings().qdisc, None);
    let changed = scenario.what_if(&settings(json!({"qdisc": "fifo"}))).unwrap();
    assert_eq!(changed.settings().buffer.unwrap(), "50p");
    assert_eq!(changed.scenario().links[0].forward.device_queue, "1p");
}

#[test]
fn a_buffer_without_a_limit_of_its_own_may_be_any_discipline() {
    let mut scenario: Value = serde_json::from_str(&dumbbell(1, &["TcpCubic"]).to_json()).unwrap();
    scenario["links"][0]["forward"]["qdisc"]["attributes"] = json!({});
    let scenario = read(&scenario);
    let changed = scenario.what_if(&settings(json!({"qdisc": "prio"}))).unwrap();
    assert_eq!(changed.settings().qdisc.unwrap(), "PrioQueueDisc");
    let both = json!({"qdisc": "prio", "buffer": "9p"});
    assert_eq!(complaints(&scenario, both)[0].0, "buffer");
}

#[test]
fn flows_that_share_hosts_still_do() {
    let mut scenario: Value = serde_json::from_str(&dumbbell(1, &["TcpCubic"]).to_json()).unwrap();
    let mut second = scenario["flows"][0].clone();
    second["name"] = json!("second");
    second["source_port"] = Value::Null;
    second["destination_port"] = Value::Null;
    scenario["flows"].as_array_mut().unwrap().push(second);
    let scenario = read(&scenario);
    let changed = scenario.what_if(&settings(json!({"flows": 5}))).unwrap();
    assert_eq!(changed.scenario().nodes, scenario.scenario().nodes);
    assert_eq!(changed.scenario().flows.len(), 5);
}

#[test]
fn what_cannot_be_is_told_by_its_name() {
    let scenario = dumbbell(2, &["TcpCubic"]);
    let said = complaints(
        &scenario,
        json!({"cc": ["cubik"], "rate": "16", "rtt": "3ms", "buffer": "many", "qdisc": "codle"}),
    );
    let names: Vec<_> = said.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["cc", "rate", "rtt", "qdisc", "buffer"]);
    assert!(said[0].1.contains("did you mean `TcpCubic`?"));
    assert_eq!(said[2].1, "3ms is too short: the links beside the bottleneck take 4ms of it");
    assert_eq!(complaints(&scenario, json!({"flows": 0}))[0].0, "flows");
    assert!(complaints(&scenario, json!({"flows": 65_536}))[0].1.contains("more than 1000"));
    assert_eq!(
        complaints(&scenario, json!({"rtt": "15000001ns"}))[0].1,
        "15000001ns does not split into 2 ways of whole ns; add 1ns"
    );
    assert_eq!(
        complaints(&scenario, json!({"rtt": "9223372036s"}))[0].1,
        "9223372036s is longer than any run; write a shorter time"
    );
    assert_eq!(
        complaints(&scenario, json!({"qdisc": "prio"})),
        [(
            "qdisc".to_owned(),
            "PrioQueueDisc has no limit of its own, and the buffer has one, 20p; take another"
                .to_owned()
        )]
    );
    assert!(
        Settings::from_json(r#"{"speed": "1Mbps"}"#).unwrap_err().0[0].message.contains("rate")
    );
    let wrong = Settings::from_json(r#"{"seed": -1, "flows": 4294967296, "rate": 5}"#);
    let names: Vec<_> = wrong.unwrap_err().0.into_iter().map(|problem| problem.path).collect();
    assert_eq!(names, ["rate", "seed"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_scenario_with_the_settings_it_has_is_itself(flows in 1usize..6, both: bool) {
        let scenario = dumbbell(flows, if both { &["TcpBbr", "TcpCubic"] } else { &["TcpBbr"] });
        prop_assert_eq!(scenario.what_if(&scenario.settings()).unwrap(), scenario);
    }

    /// From any number of flows to any other the topology's own scenario results.
    #[test]
    fn a_dumbbell_of_other_size_is_that_dumbbell(from in 1usize..9, to in 1usize..9) {
        let changed = settings(json!({"flows": to, "cc": ["TcpCubic"]}));
        let changed = dumbbell(from, &["TcpCubic"]).what_if(&changed).unwrap();
        prop_assert_eq!(changed, dumbbell(to, &["TcpCubic"]));
    }
}
