use ccperf_schema::lowered::DeviceQueue;
use ccperf_schema::written::Algorithm;
use serde_json::{Value, json};

use super::*;

/// Its name stands in the schema, which does not know the engine.
#[test]
fn routes_are_static_where_nothing_is_said() {
    let said = Scenario::from_json(&small().to_string()).unwrap().routing;
    assert_eq!(said, Algorithm::named(ccperf_engine::net::routing::balance::STATIC.ns3));
}

/// One flow over a bottleneck, as small as the format allows.
pub(super) fn small() -> Value {
    json!({
        "stop_time": "1s",
        "nodes": ["a", "r", "b"],
        "links": [
            {"name": "left", "ends": ["a", "r"], "rate": "8Gbps", "delay": "1ms"},
            {"name": "right", "ends": ["r", "b"], "rate": "16Mbps", "delay": "5.5ms"}
        ],
        "flows": [{"source": "a", "destination": "b", "cc": {"type": "newreno"}}]
    })
}

fn with(pointer: &str, value: Value) -> Value {
    let mut scenario = small();
    set(&mut scenario, pointer, value);
    scenario
}

/// Sets a field, which need not exist yet.
pub(super) fn set(scenario: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = scenario.pointer_mut(parent).unwrap();
    match parent {
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        object => object[key] = value,
    }
}

fn problems(scenario: &Value) -> Vec<(String, String)> {
    match Canonical::from_json(&scenario.to_string()) {
        Ok(_) => vec![],
        Err(e) => e.0.into_iter().map(|p| (p.path, p.message)).collect(),
    }
}

pub(super) fn canonical(scenario: &Value) -> Canonical {
    Canonical::from_json(&scenario.to_string()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn defaults_are_filled_in() {
    let canonical: Value = serde_json::from_str(&canonical(&small()).to_json()).unwrap();
    let direction = json!({
        "rate": null, "qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "1000p"}},
        "device_queue": "100p", "device_queues": 1, "device_select": "flow", "queue_limits": null,
        "mtu": "1500B", "loss": 0.0, "loss_stream": null, "drop": []
    });
    assert_eq!(
        canonical,
        json!({
            "label": "", "stop_time": "1s", "seed": 1,
            "nodes": ["a", "r", "b"],
            "links": [
                {"name": "left", "ends": ["a", "r"], "rate": "8Gbps", "delay": "1ms",
                 "addresses": ["10.0.0.1", "10.0.0.2"], "forward": direction, "reverse": direction},
                {"name": "right", "ends": ["r", "b"], "rate": "16Mbps", "delay": "5.5ms",
                 "addresses": ["10.0.0.5", "10.0.0.6"], "forward": direction, "reverse": direction}
            ],
            "changes": [],
            "flows": [{
                "name": "flow_1", "source": "a", "destination": "b",
                "source_port": 49152, "destination_port": 5001, "start": "0s", "stop": null, "receiver_stop": null,
                "application": {"type": "Greedy", "bytes": "0B", "write": "512B"},
                "cc": {"type": "TcpNewReno", "attributes": {}},
                "recovery": "TcpPrrRecovery", "tos": 0, "return_tos": 0, "tcp": {}
            }],
            "pings": [],
            "recording": {"interval": "30ms", "changes": false}
        })
    );
}

#[test]
fn one_child_stands_for_all_queues_each_with_streams_of_its_own() {
    let mut scenario = small();
    set(&mut scenario, "/links/1/forward", json!({"device_queues": 3, "qdisc": {"type": "mq"}}));
    let canonical = canonical(&scenario);
    let qdisc = canonical.scenario().links[1].forward.qdisc.clone().unwrap();
    assert_eq!(qdisc.kind, "MqQueueDisc");
    assert_eq!(qdisc.children, [Algorithm::named("FqCoDelQueueDisc")]);
    let lowered = canonical.lower();
    let children = &lowered.links[1].directions[0].qdisc.as_ref().unwrap().children;
    assert_eq!(children.len(), 3);
    assert!(children.iter().all(|child| child.kind == "FqCoDelQueueDisc"));
    assert!(children[0].stream != children[1].stream && children[1].stream != children[2].stream);
}

#[test]
fn the_lowered_form_has_integers_and_routes() {
    let mut scenario = small();
    set(
        &mut scenario,
        "/links/1/forward",
        json!({
            "rate": "1.5Mbps", "device_queue": "3004B", "mtu": "1500B", "loss": 0.01, "drop": [7, 3],
            "qdisc": {"type": "ns3::fifoqueuedisc", "attributes": {"limit": "2.8kp"}}
        }),
    );
    set(&mut scenario, "/links/1/reverse", json!({"qdisc": null}));
    set(
        &mut scenario,
        "/changes",
        json!([
            {"time": "0.5s", "link": "right", "rate": "32mbit"},
            {"time": "0.5s", "link": "left", "loss": 0.5, "direction": "reverse"},
            {"time": "0s", "link": "left", "delay": "2ms"}
        ]),
    );
    set(
        &mut scenario,
        "/flows/0/tcp",
        json!({
            "SegmentSize": 1448, "tcp_sack": false, "MinRto": "0.2s", "useecn": "on"
        }),
    );
    let lowered = canonical(&scenario).lower();
    let right = &lowered.links[1];
    let [forward, reverse] = &right.directions;
    assert_eq!((right.ends, right.delay_ns), ([1, 2], 5_500_000));
    assert_eq!((&*right.direction_name(0), forward.rate_bps), ("right_forward", 1_500_000));
    assert_eq!((&*right.direction_name(1), reverse.rate_bps), ("right_reverse", 16_000_000));
    assert!(matches!(forward.device_queue, DeviceQueue::Bytes(3004)));
    let qdisc = forward.qdisc.as_ref().unwrap();
    assert_eq!(
        (qdisc.kind.as_str(), qdisc.attributes["MaxSize"].as_str()),
        ("FifoQueueDisc", "2800p")
    );
    assert!(reverse.qdisc.is_none());
    assert_eq!((forward.loss, &forward.drops), (0.01, &vec![3, 7]));

    let [rate, loss, delay] = &lowered.changes[..] else { panic!() };
    assert_eq!((rate.time_ns, rate.link, rate.rate_bps), (500_000_000, 1, [Some(32_000_000); 2]));
    assert_eq!((loss.link, loss.loss), (0, [None, Some(0.5)]));
    assert_eq!((delay.time_ns, delay.delay_ns), (0, Some(2_000_000)));

    let flow = &lowered.flows[0];
    assert_eq!((&flow.path, &flow.return_path), (&vec![[0, 0], [1, 0]], &vec![[1, 1], [0, 1]]));
    assert_eq!(flow.source_address.to_string(), "10.0.0.1");
    assert_eq!(flow.destination_address.to_string(), "10.0.0.6");
    let socket: Vec<_> = flow.socket.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(
        socket,
        [("MinRto", "200000000ns"), ("Sack", "false"), ("SegmentSize", "1448"), ("UseEcn", "On")]
    );
}

#[test]
fn the_canonical_form_is_a_fixed_point() {
    let mut scenario = small();
    set(&mut scenario, "/links/1/forward", json!({"rate": "1500kbps", "loss": 0.25}));
    set(&mut scenario, "/flows/0/tcp", json!({"tcp_wmem": "400000"}));
    let once = canonical(&scenario);
    let twice = Canonical::from_json(&once.to_json()).unwrap();
    assert_eq!(once, twice);
    let lowered = |c: &Canonical| serde_json::to_string(&c.lower()).unwrap();
    assert_eq!(lowered(&once), lowered(&twice));
}

/// One mistake in the small scenario: the path it must be reported at, and words of the message.
#[test]
fn each_mistake_is_reported_at_its_field() {
    let flow = |name: &str| json!({"name": name, "source": "a", "destination": "b", "cc": {"type": "newreno"}});
    let link =
        |a: &str, b: &str| json!({"name": "new", "ends": [a, b], "rate": "1Mbps", "delay": "1ms"});
    let change = |fields: &str| -> Value { serde_json::from_str(fields).unwrap() };
    let udp = |fields: Value| {
        let mut flow = json!({"source": "a", "destination": "b", "transport": "UDP",
                              "application": {"type": "CBR", "rate": "1Mbps"}});
        flow.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        flow
    };
    #[rustfmt::skip]
    let cases = [
        // (where, what, path, words)
        ("/stop_time", json!("0s"), "stop_time", "above 0"),
        ("/stop_time", json!("15"), "stop_time", "has no unit"),
        ("/stop_time", json!("-1s"), "stop_time", "negative"),
        ("/stop_time", json!("292y"), "stop_time", "too large"),
        ("/nodes/-", json!("a"), "nodes[3]", "already the name of nodes[0]"),
        ("/nodes/-", json!("x y"), "nodes[3]", "not a name"),
        ("/links/1/name", json!("left"), "links[1].name", "already the name of links[0]"),
        ("/links/1/rate", json!("0Mbps"), "links[1].rate", "above 0"),
        ("/links/1/rate", json!("16mbps"), "links[1].rate", "bytes per second"),
        ("/links/1/delay", json!("1.5ns"), "links[1].delay", "lose precision"),
        ("/links/1/forward", json!({"rate": "0bps"}), "links[1].forward.rate", "above 0"),
        ("/links/1/forward", json!({"loss": 1.5}), "links[1].forward.loss", "probability"),
        ("/links/1/forward", json!({"loss": -0.1}), "links[1].forward.loss", "probability"),
        ("/links/1/forward", json!({"mtu": "20B"}), "links[1].forward.mtu", "between"),
        ("/links/1/forward", json!({"mtu": "100kB"}), "links[1].forward.mtu", "65535B"),
        ("/links/1/forward", json!({"device_queue": "0p"}), "links[1].forward.device_queue", "1p"),
        ("/links/1/forward", json!({"device_queue": "1500B"}), "links[1].forward.device_queue", "1502B"),
        ("/links/1/forward", json!({"drop": [1, 1]}), "links[1].forward.drop[1]", "twice"),
        ("/links/1/forward", json!({"qdisc": {"type": "FifoQueuDisc"}}), "links[1].forward.qdisc.type", "did you mean `FifoQueueDisc`?"),
        ("/links/1/forward", json!({"qdisc": {"type": "fifo", "attributes": {"MaxSize": "0p"}}}), "links[1].forward.qdisc.attributes.MaxSize", "drop everything"),
        ("/links/1/forward", json!({"qdisc": {"type": "fifo", "attributes": {"MaxSize": 20}}}), "links[1].forward.qdisc.attributes.MaxSize", "has no unit"),
        ("/links/1/forward", json!({"qdisc": {"type": "fifo", "attributes": {"MaxSice": "1p"}}}), "links[1].forward.qdisc.attributes.MaxSice", "did you mean `MaxSize`?"),
        ("/links/1/forward", json!({"qdisc": {"type": "fifo", "attributes": {"MaxSize": "1p", "limit": "2p"}}}), "links[1].forward.qdisc.attributes.limit", "twice"),
        ("/links/1/addresses", json!(["10.0.0.1", "10.0.0.5"]), "links[1].addresses", "one /30"),
        ("/links/1/addresses", json!(["10.0.0.0", "10.0.0.1"]), "links[1].addresses", "one /30"),
        ("/links/1/addresses", json!(["10.0.0.1", "10.0.0.1"]), "links[1].addresses", "one /30"),
        ("/links/1/addresses", json!(["10.0.0.1", "here"]), "links[1].addresses[1]", "`here` is not the address"),
        ("/links/1/addresses", json!(["224.0.0.1", "10.0.0.2"]), "links[1].addresses[0]", "not the address of a host"),
        ("/links/-", link("a", "a"), "links[2].ends", "joins two nodes"),
        ("/links/-", link("a", "bb"), "links[2].ends[1]", "no node `bb`"),
        ("/changes", json!([change(r#"{"time": "0.1s", "link": "rigt", "rate": "1Mbps"}"#)]), "changes[0].link", "did you mean `right`?"),
        ("/changes", json!([change(r#"{"time": "1s", "link": "right", "rate": "1Mbps"}"#)]), "changes[0].time", "never happen"),
        ("/changes", json!([change(r#"{"time": "0s", "link": "right"}"#)]), "changes[0]", "changes nothing"),
        ("/changes", json!([change(r#"{"time": "0s", "link": "right", "rate": "0Mbps"}"#)]), "changes[0].rate", "above 0"),
        ("/changes", json!([change(r#"{"time": "0s", "link": "right", "loss": 2}"#)]), "changes[0].loss", "probability"),
        ("/changes", json!([change(r#"{"time": "0s", "link": "right", "delay": "1ms", "direction": "forward"}"#)]), "changes[0].direction", "both directions"),
        ("/flows", json!([]), "flows", "at least one"),
        ("/flows/0/source", json!("aa"), "flows[0].source", "no node `aa`; did you mean `a`?"),
        ("/flows/0/destination", json!("a"), "flows[0].destination", "the source as well"),
        ("/flows/0/start", json!("1s"), "flows[0].start", "never start"),
        ("/flows/0/stop", json!("0s"), "flows[0].stop", "not after start"),
        ("/flows/0/cc", json!({"type": "TcpNewRen"}), "flows[0].cc.type", "did you mean `TcpNewReno`?"),
        ("/flows/0/cc", json!({"type": "zzz"}), "flows[0].cc.type", "there are TcpNewReno"),
        ("/flows/0/cc", json!({"type": "highspeed", "attributes": {"Beta": 1}}), "flows[0].cc.attributes.Beta", "it has none"),
        ("/flows/0/cc", Value::Null, "flows[0].cc", "is missing"),
        ("/flows/0", udp(json!({"cc": {"type": "newreno"}})), "flows[0].cc", "leave it out"),
        ("/flows/0", udp(json!({"application": {"type": "Greedy"}})), "flows[0].application.type", "CBR, Poisson or OnOff"),
        ("/flows/0", udp(json!({"application": {"type": "CBR", "rate": "1Mbps", "write": "65508B"}})),
         "flows[0].application.write", "write at most 65507B"),
        ("/flows/0", udp(json!({"recovery": "TcpClassicRecovery"})), "flows[0].recovery", "leave it out"),
        ("/flows/0", udp(json!({"tcp": {"SegmentSize": 1000}})), "flows[0].tcp", "leave it out"),
        ("/flows/0", udp(json!({"dscp": 8})), "flows[0].dscp", "over UDP write tos"),
        ("/flows/0", udp(json!({"return_tos": 8})), "flows[0].return_tos", "nothing comes back"),
        ("/links/0/forward", json!({"device_queues": 0}), "links[0].forward.device_queues", "0 is not from 1 to 256"),
        ("/links/0/forward", json!({"device_queues": 5, "device_select": "priority"}),
         "links[0].forward.device_queues", "5 is not from 1 to 4 for device_select `priority`"),
        ("/links/0/forward", json!({"qdisc": {"type": "mq"}}),
         "links[0].forward.qdisc.type", "needs a device with at least 2 device_queues"),
        ("/links/0/forward", json!({"device_queues": 3, "qdisc": {"type": "mq", "children": [
            {"type": "codel"}, {"type": "fifo"}]}}),
         "links[0].forward.qdisc.children", "2 are given for 3 device_queues; give one for all, or one each"),
        ("/links/0/forward", json!({"device_queues": 2, "qdisc": {"type": "mq", "children": [{"type": "mq"}]}}),
         "links[0].forward.qdisc.children[0].type", "can only be the root"),
        ("/links/0/forward", json!({"device_queues": 2, "qdisc": {"type": "mq", "children": [{"type": "a:B"}]}}),
         "links[0].forward.qdisc.children[0].type", "a:B cannot be a child"),
        ("/links/0/forward", json!({"qdisc": {"type": "codel", "children": [{"type": "fifo"}]}}),
         "links[0].forward.qdisc.children", "CoDelQueueDisc has none; these have: PrioQueueDisc"),
        ("/links/0/forward", json!({"qdisc": {"type": "prio", "children": [{"type": "fifo"}]}}),
         "links[0].forward.qdisc.children", "only one is given; PrioQueueDisc takes 2 to 16"),
        ("/links/0/forward", json!({"qdisc": {"type": "cake"}}), "links[0].forward.qdisc.type", "write linux:cake"),
        ("/links/0/forward", json!({"qdisc": {"type": "linux:htb"}}),
         "links[0].forward.qdisc.type", "knows; there are bfifo, cake"),
        ("/links/0/forward", json!({"qdisc": {"type": "linux:sqf"}}), "links[0].forward.qdisc.type", "did you mean `sfq`?"),
        ("/links/0/forward", json!({"qdisc": {"type": "red", "attributes": {"MinTh": -1}}}),
         "links[0].forward.qdisc.attributes.MinTh", "-1 is below 0; write 0 or more"),
        ("/links/0/forward", json!({"qdisc": {"type": "red", "attributes": {"QW": -0.5}}}),
         "links[0].forward.qdisc.attributes.QW", "-0.5 is no weight"),
        ("/links/0/forward", json!({"qdisc": {"type": "marking_red", "attributes": {"KMin": "5p", "KMax": "200kB"}}}),
         "links[0].forward.qdisc.attributes.KMin", "5p and KMax, 200000B, must both be in packets, or both in bytes"),
        ("/links/0/forward", json!({"qdisc": {"type": "red", "attributes": {"QW": 3}}}),
         "links[0].forward.qdisc.attributes.QW", "3 is not between -2 and 1"),
        ("/links/0/forward", json!({"qdisc": {"type": "pie", "attributes": {"A": -1}}}),
         "links[0].forward.qdisc.attributes.A", "-1 is below 0; write 0 or more"),
        ("/links/0/forward", json!({"qdisc": {"type": "cobalt", "attributes": {"Pdrop": 1.5}}}),
         "links[0].forward.qdisc.attributes.Pdrop", "1.5 is not between 0 and 1"),
        ("/links/0/forward", json!({"qdisc": {"type": "tbf", "children": [{"type": "tbf"}]}}),
         "links[0].forward.qdisc.children[0].type", "TbfQueueDisc sends by a clock of its own"),
        ("/links/0/forward", json!({"qdisc": {"type": "tbf", "children": [{"type": "red", "attributes": {"MinTh": 30}}]}}),
         "links[0].forward.qdisc.children[0].attributes.MinTh", "above MaxTh"),
        ("/flows/0/tos", json!(17), "flows[0].tos", "17 sets the two ECN bits; write a multiple of 4"),
        ("/flows/0/return_tos", json!(3), "flows[0].return_tos", "a multiple of 4"),
        ("/flows/0/recovery", json!("TcpPrrRecovry"), "flows[0].recovery", "did you mean `TcpPrrRecovery`?"),
        ("/flows/0/application", json!({"type": "Greedy", "write": "0B"}), "flows[0].application.write", "never send"),
        ("/flows/0/application", json!({"type": "Greedy", "write": "200kB"}), "flows[0].application.write", "send buffer"),
        ("/flows/0/application", json!({"type": "Greedy", "bytes": "12"}), "flows[0].application.bytes", "no unit"),
        ("/flows/0/application", json!({"type": "CBR"}), "flows[0].application", "rate"),
        ("/flows/0/application", json!({"type": "CBR", "rate": "0bps"}), "flows[0].application.rate", "above 0"),
        ("/flows/0/application", json!({"type": "CBR", "rate": "100Tbps"}), "flows[0].application.rate", "lower the rate"),
        ("/flows/0/application", json!({"type": "Poisson", "rate": "1Mbps", "write": "200kB"}), "flows[0].application.write", "send buffer"),
        ("/flows/0/application", json!({"type": "OnOff", "on_time": "Uniform(max=0s)"}), "flows[0].application.on_time", "never send"),
        ("/flows/0/application", json!({"type": "OnOff", "off_time": "Pareto(mean=1s)"}), "flows[0].application.off_time", "not a distribution"),
        ("/flows/0/tcp", json!({"SegmentSize": 65484}), "flows[0].tcp.SegmentSize", "at most 65483"),
        ("/flows/0/tcp", json!({"SegmentSize": 0}), "flows[0].tcp.SegmentSize", "from 1"),
        ("/flows/0/tcp", json!({"DelAckCount": "two"}), "flows[0].tcp.DelAckCount", "whole number"),
        ("/flows/0/tcp", json!({"MaxWindowSize": 65536}), "flows[0].tcp.MaxWindowSize", "to 65535"),
        ("/flows/0/tcp", json!({"Sack": "maybe"}), "flows[0].tcp.Sack", "neither true nor false"),
        ("/flows/0/tcp", json!({"UseEcn": "Maybe"}), "flows[0].tcp.UseEcn", "Off, On, AcceptOnly"),
        ("/flows/0/tcp", json!({"MinRto": 1}), "flows[0].tcp.MinRto", "has no unit"),
        ("/flows/0/tcp", json!({"MaxSegLifetime": -1}), "flows[0].tcp.MaxSegLifetime", "below 0"),
        ("/flows/0/tcp", json!({"MaxSegLifetime": "nan"}), "flows[0].tcp.MaxSegLifetime", "not a number"),
        ("/flows/0/source_port", json!(0), "flows[0].source_port", "from 1 to 65535"),
        ("/flows/-", flow("flow_1"), "flows[1].name", "already the name of flows[0]"),
        ("/flows/0/receiver_stop", json!("0s"), "flows[0].receiver_stop", "leave it out"),
        ("/links/1/forward", json!({"loss_stream": 4503599627370496u64}), "links[1].forward.loss_stream", "write one below"),
        ("/links/1/forward", json!({"queue_limits": {"hold_time": "1"}}), "links[1].forward.queue_limits.hold_time", "no unit"),
        ("/links/1/forward", json!({"queue_limits": {}, "device_queues": 2}), "links[1].forward.queue_limits", "for one queue, not 2"),
        ("/pings", json!([{"source": "a", "destination": "c"}]), "pings[0].destination", "no node `c`"),
        ("/pings", json!([{"source": "a", "destination": "b", "interval": "0s"}]), "pings[0].interval", "no time between"),
        ("/pings", json!([{"source": "a", "destination": "b", "size": "15B"}]), "pings[0].size", "between 16B and 1472B"),
        ("/pings", json!([{"source": "a", "destination": "b", "start": "2s"}]), "pings[0].start", "not before stop_time"),
        ("/pings", json!([{"source": "a", "destination": "b", "name": "flow_1"}]), "pings[0].name", "of a flow"),
        ("/pings", json!([{"source": "a", "destination": "b"}, {"source": "a", "destination": "b"}]), "pings[1]", "already"),
        ("/recording", json!({"interval": "0s"}), "recording.interval", "above 0"),
        ("/recording", json!({"interval": "1ns"}), "recording.interval", "longer interval"),
        ("/recording", json!({"interval": "90ns"}), "recording.interval", "makes 4.6 GB of samples, all together 4.6 GB, more than the 4.0 GB"),
        ("/pings", json!([{"source": "a", "destination": "b", "interval": "5ns"}]), "pings[0].interval", "4.8 GB"),
        ("/recording", json!({"flows": ["flow"]}), "recording.flows[0]", "no flow `flow`; there are flow_1"),
        ("/recording", json!({"links": ["right_back"]}), "recording.links[0]", "no link `right_back`"),
        ("/recording", json!({"queues": {"links": "all", "interval": "0s"}}), "recording.queues.interval", "above 0"),
        ("/recording", json!({"queues": {"links": "all", "interval": "30ns"}}), "recording.queues.interval", "5.3 GB"),
        ("/stop_time", json!("2000000000s"), "stop_time", "the longest time is 1000000000s"),
        ("/links/1/delay", json!("5000000000s"), "links[1].delay", "too large"),
        ("/links/1/delay", json!("1000001s"), "links[1].delay", "the longest delay of a link is 1000000s"),
        ("/links/1/rate", json!("18446744073709551615bps"), "links[1].rate", "the highest rate is 1000000Gbps"),
        ("/links/1/forward", json!({"rate": "1001Tbps"}), "links[1].forward.rate", "the highest rate"),
        ("/recording", json!({"changes": ["flow_2"]}), "recording.changes[0]", "no flow `flow_2`"),
        ("/flows/0/group", json!("a b"), "flows[0].group", "is not a name"),
        ("/flows/0/group", json!("small"), "flows[0].group", "name it otherwise"),
        // Mistakes of shape.
        ("/seed", json!(-1), "seed", "-1"),
        ("/speed", json!(1), "speed", "unknown field `speed`"),
        ("/flows/0/cc", json!({"type": "newreno", "attributes": {"Beta": []}}), "flows[0].cc.attributes.Beta", "a string, a number or a boolean"),
        ("/changes", json!([change(r#"{"time": "0s", "link": "right", "direction": "up"}"#)]), "changes[0].direction", "unknown variant `up`"),
    ];
    for (pointer, value, path, words) in cases {
        let found = problems(&with(pointer, value.clone()));
        assert_eq!(found.len(), 1, "{pointer} = {value}: {found:?}");
        assert_eq!(found[0].0, path, "{pointer} = {value}: {found:?}");
        assert!(found[0].1.contains(words), "{pointer} = {value}: {found:?}");
    }
}

#[test]
fn what_is_recorded_is_named_by_positions() {
    let recorded = |recording| {
        let mut scenario = small();
        set(
            &mut scenario,
            "/flows/-",
            json!({"source": "a", "destination": "b", "cc": {"type": "cubic"}}),
        );
        set(&mut scenario, "/recording", recording);
        Canonical::from_json(&scenario.to_string()).unwrap().lower().recording
    };
    let all = recorded(json!({}));
    assert_eq!((all.flows, all.ports, all.changes), (vec![0, 1], vec![0, 1, 2, 3], vec![]));
    assert_eq!((all.queue_ports, all.completions), (vec![], false));
    let some = recorded(json!({
        "flows": ["flow_2"], "links": ["right_reverse", "left"], "changes": ["flow_2", "flow_1"],
        "queues": {"links": ["right_forward"], "interval": "20us"},
    }));
    assert_eq!((some.flows, some.ports, some.changes), (vec![1], vec![0, 1, 3], vec![0, 1]));
    assert_eq!((some.queue_interval_ns, some.queue_ports), (20_000, vec![2]));
    let none = recorded(json!({"flows": "none", "links": [], "changes": true}));
    assert_eq!((none.flows, none.ports, none.changes), (vec![], vec![], vec![0, 1]));
}

/// ns-3's driver is that profile, and knows no attribute that names it.
#[test]
fn a_tcp_names_its_profile_and_the_one_that_every_backend_has_goes_without_saying() {
    let named = |name: &str| with("/flows/0/tcp", json!({"Profile": name}));
    let scenario = Canonical::from_json(&named("ns3-3.44").to_string()).unwrap();
    assert!(scenario.lower().flows[0].socket.is_empty());
    let [(path, message)] = &problems(&named("windows"))[..] else { panic!("one problem") };
    assert_eq!(path, "flows[0].tcp.Profile");
    assert!(message.contains("ns3-3.44"), "{message}");
}

#[test]
fn an_attribute_of_a_later_release_needs_its_profile() {
    let ledbat = json!({"type": "ledbat", "attributes": {"AllowedIncrease": "2"}});
    let old = with("/flows/0/cc", ledbat);
    let [(path, message)] = &problems(&old)[..] else { panic!("one problem") };
    assert_eq!(path, "flows[0].cc.attributes.AllowedIncrease");
    assert!(message.contains("came with ns-3 3.47") && message.contains("\"ns3-3.48\""));
    let mut new = old.clone();
    new["flows"][0]["tcp"] = json!({"Profile": "ns3-3.48"});
    assert!(Canonical::from_json(&new.to_string()).is_ok());
}

#[test]
fn an_attribute_keeps_to_the_bounds_of_its_profile() {
    for (name, value) in [("MinCwnd", "0"), ("Gain", "0")] {
        let mut scenario =
            with("/flows/0/cc", json!({"type": "ledbat", "attributes": {name: value}}));
        assert!(Canonical::from_json(&scenario.to_string()).is_ok(), "ns-3 3.44 takes it");
        scenario["flows"][0]["tcp"] = json!({"Profile": "ns3-3.48"});
        let [(path, message)] = &problems(&scenario)[..] else { panic!("one problem") };
        assert_eq!(path, &format!("flows[0].cc.attributes.{name}"));
        assert!(message.contains("ns3-3.48; write at least"), "{message}");
    }
}

#[test]
fn a_scenario_that_says_nothing_of_recording_keeps_its_canonical_form() {
    let canonical = Canonical::from_json(&small().to_string()).unwrap().to_json();
    let canonical: Value = serde_json::from_str(&canonical).unwrap();
    assert_eq!(canonical["recording"], json!({"interval": "30ms", "changes": false}));
    let spelt_out = json!({"flows": "all", "links": "all", "changes": [], "completions": false});
    let again = Canonical::from_json(&with("/recording", spelt_out).to_string()).unwrap().to_json();
    assert_eq!(canonical, serde_json::from_str::<Value>(&again).unwrap());
}

/// 3000 bytes are two full segments of 1448 and one of 104; the bottleneck has 16 Mbps, 2 bits a us.
#[test]
fn the_ideal_completion_time_is_that_of_arithmetic() {
    let ideal = |bytes: &str, attributes: Value| {
        let mut scenario = small();
        set(&mut scenario, "/flows/0/application", json!({"type": "Greedy", "bytes": bytes}));
        set(&mut scenario, "/flows/0/tcp", attributes);
        Canonical::from_json(&scenario.to_string()).unwrap().lower().flows[0].ideal_ns
    };
    let propagation = 2 * 2 * 6_500_000;
    // 3000 B and three headers of 54 B are 1581 us at 16 Mbps; 158 B are 158 ns at 8 Gbps.
    let segments = json!({"SegmentSize": "1448"});
    assert_eq!(ideal("3000B", segments.clone()), Some(propagation + 1_581_000 + 158));
    let bare = json!({"SegmentSize": "1448", "Timestamp": "false"});
    assert_eq!(ideal("3000B", bare), Some(propagation + 1_563_000 + 146));
    assert_eq!(ideal("0B", segments), None);
}

/// Of 1502 bytes at 7 Mbps 0.43 ns are cut off, each time: a flow alone is not faster than its ideal.
#[test]
fn the_ideal_completion_time_rounds_each_segment_as_links_do() {
    let mut scenario = small();
    set(&mut scenario, "/flows/0/application", json!({"type": "Greedy", "bytes": "1448kB"}));
    set(&mut scenario, "/flows/0/tcp", json!({"SegmentSize": "1448"}));
    set(&mut scenario, "/links/1/rate", json!("7Mbps"));
    let found = Canonical::from_json(&scenario.to_string()).unwrap().lower().flows[0].ideal_ns;
    assert_eq!(found, Some(2 * 2 * 6_500_000 + 1000 * 1_716_571 + 1502));
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let mut scenario = small();
    set(&mut scenario, "/stop_time", json!("soon"));
    set(&mut scenario, "/links/0/rate", json!("0bps"));
    set(&mut scenario, "/flows/0/cc", json!({"type": "renoo"}));
    set(&mut scenario, "/flows/0/stop", json!("16"));
    let paths: Vec<_> = problems(&scenario).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["stop_time", "links[0].rate", "flows[0].stop", "flows[0].cc.type"]);
}

/// A name that is given twice leaves indices above the number of names.
#[test]
fn a_doubled_node_does_not_confuse_the_routes() {
    let scenario = with("/nodes", json!(["a", "r", "a", "b"]));
    let paths: Vec<_> = problems(&scenario).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["nodes[2]"]);
}

#[test]
fn a_destination_out_of_reach() {
    let scenario = with("/links", json!([small()["links"][0]]));
    assert_eq!(
        problems(&scenario),
        [(
            "flows[0].destination".to_owned(),
            "no links lead from `a` to `b`; add some, or choose ends that are joined".to_owned()
        )]
    );
}

/// A chain of 64 links is the longest that packets survive.
#[test]
fn the_time_to_live_bounds_the_path() {
    let chain = |links: usize| {
        let node = |i: usize| format!("n{i}");
        let mut scenario = small();
        set(&mut scenario, "/nodes", (0..=links).map(node).collect());
        let link = |i| json!({"name": format!("l{i}"), "ends": [node(i), node(i + 1)], "rate": "1Mbps", "delay": "1ms"});
        set(&mut scenario, "/links", (0..links).map(link).collect());
        set(&mut scenario, "/flows/0/source", json!("n0"));
        set(&mut scenario, "/flows/0/destination", json!(node(links)));
        scenario
    };
    assert_eq!(problems(&chain(64)), []);
    assert_eq!(problems(&chain(65))[0].0, "flows[0].destination");
}

#[test]
fn ports_are_the_next_free_at_each_node() {
    let flow = |source: &str, destination: &str| json!({"source": source, "destination": destination, "cc": {"type": "newreno"}});
    let mut scenario = small();
    set(
        &mut scenario,
        "/flows",
        json!([flow("a", "b"), flow("a", "b"), flow("a", "r"), flow("r", "b")]),
    );
    set(&mut scenario, "/flows/3/destination_port", json!(5002));
    let lowered = canonical(&scenario).lower();
    let ports: Vec<_> = lowered.flows.iter().map(|f| (f.source_port, f.destination_port)).collect();
    assert_eq!(ports, [(49152, 5001), (49153, 5003), (49154, 5001), (49152, 5002)]);

    set(&mut scenario, "/flows/2/destination_port", json!(7));
    set(&mut scenario, "/flows/2/destination", json!("b"));
    set(&mut scenario, "/flows/3/destination_port", json!(7));
    // Flow 3 comes from `a`, flow 4 from `r`: they may share a port of `b`.
    assert_eq!(problems(&scenario), []);
    set(&mut scenario, "/flows/0/destination_port", json!(7));
    let (path, message) = &problems(&scenario)[0];
    assert_eq!(path, "flows[2].destination_port");
    assert!(message.contains("in use by flow `flow_1`"), "{message}");
}

#[test]
fn addresses_given_are_skipped_by_those_counted() {
    let mut scenario = small();
    set(&mut scenario, "/links/1/addresses", json!(["10.0.0.2", "10.0.0.1"]));
    let lowered = canonical(&scenario).lower();
    assert_eq!(lowered.links[0].addresses.map(|a| a.to_string()), ["10.0.0.5", "10.0.0.6"]);
    set(&mut scenario, "/links/0/addresses", json!(["10.0.0.1", "10.0.0.2"]));
    assert_eq!(problems(&scenario)[0].0, "links[1].addresses");
}

#[test]
fn another_flow_shifts_no_stream() {
    let one = canonical(&small()).lower();
    let mut scenario = small();
    let first =
        json!({"name": "first", "source": "a", "destination": "b", "cc": {"type": "newreno"}});
    set(&mut scenario, "/flows/0/name", json!("flow_1"));
    let old = scenario["flows"][0].clone();
    set(&mut scenario, "/flows", json!([first, old]));
    let two = canonical(&scenario).lower();
    let stream = |lowered: &Lowered, i: usize| {
        lowered.flows[i].congestion_control.as_ref().map(|algorithm| algorithm.stream)
    };
    assert_eq!(stream(&one, 0), stream(&two, 1));
    assert_ne!(stream(&two, 0), stream(&two, 1));
    assert_eq!(one.links[1].directions[0].loss_stream, two.links[1].directions[0].loss_stream);
}

#[test]
fn every_default_in_the_tables_is_a_value_of_its_kind() {
    use names::Registry::{CongestionControl, Qdisc, Recovery, Routing};
    let tables = [CongestionControl, Qdisc, Recovery, Routing].into_iter().flat_map(|r| r.specs());
    for spec in tables.copied().chain([&ccperf_engine::host::tcp::socket_params::SOCKET]) {
        for param in spec.params {
            let value = attributes::normalise(param.kind, param.default);
            assert!(value.is_ok(), "{}::{}: {value:?}", spec.ns3, param.ns3);
        }
    }
}
