//! Whatever is put wherever into a scenario: it is refused, or it runs.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::{canonical, set, small};
use super::*;

/// Values that are right somewhere and wrong elsewhere.
fn odd_values() -> Vec<Value> {
    let texts = [
        "",
        "0",
        "1",
        "a",
        "r",
        "2",
        "0.5",
        "1.5",
        "1e-9",
        "1000",
        "1073741824",
        "4294967295",
        "1e300",
        "b",
        "left",
        "right",
        "flow_1",
        "0s",
        "1ns",
        "2ms",
        "1s",
        "1000s",
        "1e3s",
        "0.1ns",
        "-1s",
        "300y",
        "0bps",
        "1bps",
        "16Mbps",
        "16mbps",
        "18Ebps",
        "18000000000Gbps",
        "0p",
        "1p",
        "2.8kp",
        "4Gp",
        "0B",
        "1B",
        "75B",
        "1500B",
        "65535B",
        "64KiB",
        "1TiB",
        "true",
        "On",
        "newreno",
        "TcpNewReno",
        "TcpCubic",
        "fifo",
        "codel",
        "FqCoDelQueueDisc",
        "prr",
        "TcpClassicRecovery",
        "Greedy",
        "forward",
        "reverse",
        "both",
        "10.0.0.1",
        "10.0.0.2",
        "10.0.0.6",
        "255.255.255.255",
        "224.0.0.1",
        "0.0.0.0",
        "é\u{1F600}\n",
    ];
    let numbers = ["0", "1", "-1", "2", "3", "0.5", "1.5", "-0.0", "1e-300", "1e300", "65535"];
    let more =
        ["65536", "18446744073709551615", "18446744073709551616", "null", "true", "[]", "{}"];
    let parsed = numbers.iter().chain(&more).map(|text| serde_json::from_str(text).unwrap());
    texts.iter().map(|&text| json!(text)).chain(parsed).collect()
}

/// What a value seems to be, so that it can take the place of another of its kind.
fn kind(value: &Value) -> &str {
    match value {
        Value::String(text) if text.parse::<std::net::Ipv4Addr>().is_ok() => "address",
        Value::String(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
            // Mbps and bps, ms and s, kB and B, kp and p are alike.
            match text.chars().next_back() {
                Some(c) if c.is_ascii_digit() => "digits",
                _ if text.ends_with("bps") => "bps",
                _ => &text[text.len() - 1..],
            }
        }
        Value::String(_) => "word",
        Value::Number(_) => "number",
        Value::Bool(_) => "bool",
        _ => "other",
    }
}

/// The pointers to everything in a document.
fn pointers(value: &Value, prefix: &str, found: &mut Vec<String>) {
    found.push(prefix.to_owned());
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, inner)| pointers(inner, &format!("{prefix}/{key}"), found));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(i, inner)| pointers(inner, &format!("{prefix}/{i}"), found));
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is put wherever: there is an error with a path, or a scenario that is a fixed point,
    /// can be lowered, and runs.
    #[test]
    fn no_scenario_gets_past_the_checks_and_fails(
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..10),
            1..4,
        ),
        qdisc: prop::sample::Index,
        cc: prop::sample::Index,
    ) {
        let mut scenario = fast();
        set(&mut scenario, "/changes", json!([
            {"time": "1ms", "link": "left", "rate": "1Gbps"},
            {"time": "2ms", "link": "right", "loss": 0.5, "direction": "reverse"}
        ]));
        set(&mut scenario, "/flows/0/tcp", json!({
            "SegmentSize": "1448", "SndBufSize": "65536", "MinRto": "1s", "Sack": "true",
            "Profile": "ns3-dev"
        }));
        // Any algorithm, with every attribute spelt out.
        let spelt_out = |spec: &&ccperf_engine::base::attributes::Spec| {
            let attributes: serde_json::Map<_, _> =
                spec.params.iter().map(|p| (p.ns3.to_owned(), json!(p.default))).collect();
            json!({"type": spec.ns3, "attributes": attributes})
        };
        set(&mut scenario, "/links/1/forward", json!({
            "qdisc": spelt_out(qdisc.get(ccperf_engine::net::qdisc::SPECS)),
            "device_queues": 1 + 2 * u8::from(qdisc.get(ccperf_engine::net::qdisc::SPECS).ns3 == ccperf_engine::net::qdisc::MQ)
        }));
        set(&mut scenario, "/flows/0/cc", spelt_out(cc.get(ccperf_engine::host::congestion::SPECS)));
        let mut full: Value = serde_json::from_str(&canonical(&scenario).to_json()).unwrap();
        let values = odd_values();
        for (place, value, wild) in edits {
            let mut places = Vec::new();
            pointers(&full, "", &mut places);
            let old = full.pointer_mut(place.get(places.as_slice()).as_str()).unwrap();
            let alike = |new: &&Value| wild == 0 || kind(new) == kind(old);
            let candidates: Vec<_> = values.iter().filter(alike).cloned().collect();
            if !candidates.is_empty() {
                *old = value.get(&candidates).clone();
            }
        }
        match Canonical::from_json(&full.to_string()) {
            Err(error) => prop_assert!(!error.0.is_empty()),
            Ok(canonical) => {
                let again = Canonical::from_json(&canonical.to_json()).unwrap();
                prop_assert_eq!(&again, &canonical);
                run_briefly(&canonical);
            }
        }
    }

    #[test]
    fn no_text_crashes_the_reader(text in "\\PC{0,200}") {
        prop_assert!(Canonical::from_json(&text).is_err());
    }
}

/// Each attribute with each odd value that its table lets through: it runs.
#[test]
fn no_attribute_gets_past_the_checks_and_fails() {
    let mut base = fast();
    set(&mut base, "/links/1/forward", json!({}));
    // Which has all attributes.
    set(&mut base, "/flows/0/tcp", json!({"Profile": "ns3-dev"}));
    let algorithms =
        |place: &'static str, specs: &'static [&'static ccperf_engine::base::attributes::Spec]| {
            let attributes =
                specs.iter().flat_map(|spec| spec.params.iter().map(move |p| (spec, p)));
            attributes.map(move |(spec, p)| (place, spec.ns3, p))
        };
    let socket = ccperf_engine::host::tcp::socket_params::SOCKET.params;
    let cases = algorithms("/links/1/forward/qdisc", ccperf_engine::net::qdisc::SPECS)
        .chain(algorithms("/flows/0/cc", ccperf_engine::host::congestion::SPECS))
        .chain(socket.iter().map(|p| ("/flows/0/tcp", "", p)));
    let mut failures = Vec::new();
    for (place, kind, param) in cases {
        for value in odd_values() {
            let mut scenario = base.clone();
            let what = format!("{kind}.{} = {value}", param.ns3);
            let mut attributes = json!({param.ns3: value});
            if !kind.is_empty() {
                attributes = json!({"type": kind, "attributes": attributes});
            } else if param.ns3 != "EnablePacing" {
                attributes["EnablePacing"] = json!(true);
                if param.ns3 != "Profile" {
                    attributes["Profile"] = json!("ns3-dev");
                }
            }
            set(&mut scenario, place, attributes);
            let Ok(canonical) = Canonical::from_json(&scenario.to_string()) else { continue };
            if std::panic::catch_unwind(|| run_briefly(&canonical)).is_err() {
                failures.push(what);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn no_parameter_of_a_law_gets_past_the_checks_and_fails() {
    let mut base = fast();
    let queue = json!({"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "20p"}}});
    for direction in
        ["/links/0/forward", "/links/0/reverse", "/links/1/forward", "/links/1/reverse"]
    {
        set(&mut base, direction, queue.clone());
    }
    set(&mut base, "/flows/0/transport", json!("ROCE"));
    let (mut runs, mut failures) = (0, Vec::new());
    for spec in ccperf_engine::host::rate_control::SPECS {
        for (param, value) in
            spec.params.iter().flat_map(|p| odd_values().into_iter().map(move |v| (p, v)))
        {
            let what = format!("{}.{} = {value}", spec.ns3, param.ns3);
            let mut scenario = base.clone();
            let attributes = json!({param.ns3: value});
            set(&mut scenario, "/flows/0/cc", json!({"type": spec.ns3, "attributes": attributes}));
            let Ok(canonical) = Canonical::from_json(&scenario.to_string()) else { continue };
            runs += 1;
            if std::panic::catch_unwind(|| run_briefly(&canonical)).is_err() {
                failures.push(what);
            }
        }
    }
    assert!(failures.is_empty() && runs > 200, "{runs} {failures:#?}");
}

/// Many round trips fit into the few milliseconds for which this runs.
fn fast() -> Value {
    let mut scenario = small();
    set(&mut scenario, "/links/0/delay", json!("1us"));
    set(&mut scenario, "/links/1/delay", json!("10us"));
    set(&mut scenario, "/links/1/rate", json!("1Gbps"));
    scenario
}

fn run_briefly(canonical: &Canonical) {
    let mut run = ccperf_engine::run::simulate::Simulation::new(canonical.lower(), None).unwrap();
    run.run_until(ccperf_engine::base::time::Time::from_ms(5)).unwrap();
}
