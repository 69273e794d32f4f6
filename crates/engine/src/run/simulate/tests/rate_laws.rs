//! Laws of a sender's rate over a switch: telemetry as a timeline, and the steady states that their papers' formulas give.

use serde_json::{Value, json};

use super::pauses::rows;
use super::roce::{star, total, unmarked};
use super::{column, run};
use crate::run::recording::{Column, Recording};

/// Bytes on the wire of a packet of 1000 B without telemetry, and with it.
const PLAIN: f64 = 1046.0;
const TELLING: f64 = 1088.0;

/// Bits in a ns.
const LINE: f64 = 40.0;

/// The round trip of a packet of so many bytes through [`star`], and of its ACK, without queues: two links of 1 us each way.
fn round_trip(packet: f64, ack: f64) -> f64 {
    2.0 * (8.0 * packet / LINE).round() + 2.0 * (8.0 * ack / LINE).round() + 4000.0
}

/// A run of [`star`] with samples of the queue in front of the receiver.
fn sampled(senders: usize, cc: &str, attributes: &Value, [stop, every]: [&str; 2]) -> Recording {
    let mut scenario = star(senders, cc, "0B", &unmarked());
    scenario["stop_time"] = json!(stop);
    for flow in scenario["flows"].as_array_mut().unwrap() {
        flow["cc"]["attributes"] = attributes.clone();
    }
    scenario["recording"] = json!({"interval": "50us", "links": ["out_forward"],
        "queues": {"links": ["out_forward"], "interval": every}});
    let (_, recording) = run(&scenario, false);
    for cause in ["qdisc_dropped", "loss_dropped"] {
        assert_eq!(total(&recording, cause), 0);
    }
    assert_eq!(column(&recording, "flows", "retransmissions").iter().sum::<i64>(), 0);
    recording
}

/// The mean of the second half of a column.
fn settled(recording: &Recording, table: &str, name: &str) -> f64 {
    let table = recording.table(table).unwrap();
    let values: Vec<f64> = match &table.columns.iter().find(|column| column.0 == name).unwrap().1 {
        Column::I64(values) => values.iter().map(|&value| value as f64).collect(),
        Column::F64(values) => values.clone(),
        _ => panic!("{name} are no numbers"),
    };
    let half = &values[values.len() / 2..];
    half.iter().sum::<f64>() / half.len() as f64
}

/// The share of the receiver's link that the second half of the run used.
fn used(recording: &Recording) -> f64 {
    let [sent, at] = ["tx_bytes", "time_ns"].map(|name| column(recording, "link_samples", name));
    let (half, last) = (sent.len() / 2, sent.len() - 1);
    (sent[last] - sent[half]) as f64 * 8.0 / (LINE * (at[last] - at[half]) as f64)
}

/// Between the largest and the smallest, of what flows have sent.
fn spread(recording: &Recording) -> f64 {
    let sent = column(recording, "flows", "segments_sent");
    *sent.iter().max().unwrap() as f64 / *sent.iter().min().unwrap() as f64
}

#[test]
fn telemetry_makes_packets_and_acknowledgements_42_bytes_longer_and_a_flow_later_by_that() {
    for (cc, packet, ack) in [("hpcc", TELLING, 92.0), ("swift", PLAIN, 50.0)] {
        // Alone, with a window that is never short.
        let mut scenario = star(1, cc, "20kB", &unmarked());
        scenario["recording"] = json!({"completions": true});
        let (trace, recording) = run(&scenario, false);
        let word = |bytes: f64| format!("{bytes}");
        assert_eq!(rows(&trace, &["out_forward", "tx", &word(packet)]).len(), 20, "{cc}");
        assert_eq!(rows(&trace, &["out_reverse", "tx", &word(ack)]).len(), 20, "{cc}");
        let first = rows(&trace, &["h0_reverse", "rx", "flow_1"])[0].0;
        assert_eq!(first as f64, round_trip(packet, ack), "{cc}");
        assert_eq!(column(&recording, "completions", "finished"), [1]);
    }
}

#[test]
fn hpcc_uses_eta_of_a_link_and_what_its_flows_add_and_nothing_waits() {
    let bytes = round_trip(TELLING, 92.0) * LINE / 8.0;
    for (flows, additive) in [(1, 80.0), (2, 80.0), (2, 300.0), (8, 80.0)] {
        let recording =
            sampled(flows, "hpcc", &json!({"WAI": format!("{additive}")}), ["4ms", "4us"]);
        // U = eta + N W_AI / (B T), of which a packet or two that wait are a part where many flows meet.
        let expected = 0.95 + flows as f64 * additive / bytes;
        let missing = expected - used(&recording);
        let queue = settled(&recording, "queue_samples", "qdisc_bytes");
        assert!(queue < 2.0 * TELLING, "{flows}: {queue}");
        assert!((-0.001..0.001 + queue / bytes).contains(&missing), "{flows}: {missing} {queue}");
        assert!(spread(&recording) < 1.25, "{}", spread(&recording));
        // W = U B T / N.
        let window = settled(&recording, "flow_samples", "cwnd_bytes") * flows as f64;
        assert!((window / (expected * bytes) - 1.0).abs() < 0.06, "{flows}: {window} {bytes}");
    }
}

#[test]
fn what_flows_of_hpcc_add_beyond_the_link_waits_in_its_queue() {
    let bytes = round_trip(TELLING, 92.0) * LINE / 8.0;
    // (U - 1) B T, but for the three packets that meet by chance.
    let waiting = |additive: f64| {
        let attributes = json!({"WAI": format!("{additive}")});
        let recording = sampled(8, "hpcc", &attributes, ["4ms", "4us"]);
        assert!(used(&recording) > 0.99);
        let queue = settled(&recording, "queue_samples", "qdisc_bytes");
        let expected = 8.0 * additive - 0.05 * bytes;
        assert!((queue - expected).abs() < 3.0 * TELLING, "{queue} {expected}");
        queue
    };
    let more = waiting(2000.0) - waiting(1000.0);
    assert!((more / 8000.0 - 1.0).abs() < 0.1, "{more}");
}

#[test]
fn an_incast_of_hpcc_is_over_after_a_few_round_trips() {
    let recording = sampled(16, "hpcc", &json!({"MaxStage": "0"}), ["1ms", "1us"]);
    let [queue, at] =
        ["qdisc_bytes", "time_ns"].map(|name| column(&recording, "queue_samples", name));
    let most = *queue.iter().max().unwrap() as f64;
    // Fifteen of sixteen windows of the link wait at first.
    let bytes = round_trip(TELLING, 92.0) * LINE / 8.0;
    assert!((most / (15.0 * bytes) - 1.0).abs() < 0.1, "{most}");
    // They take as many round trips of the link to leave.  What is added meanwhile is half of that: the reference stays that
    // of the link until the ACK of what is sent after the first one, as in the authors' simulator (1.4 at 100 Gbps).
    let gone = queue.iter().zip(at).rfind(|(queue, _)| **queue as f64 > bytes).unwrap();
    let least = 15.0 * round_trip(TELLING, 92.0);
    assert!((1.3..1.65).contains(&(*gone.1 as f64 / least)), "{} {least}", gone.1);
}

/// The target of Swift with its defaults, of a flow with this window behind one switch, in ns.
fn target(cwnd: f64) -> f64 {
    let slope = 100_000.0 / (10f64.sqrt() - 0.1);
    26_000.0 + (slope * (1.0 / cwnd.sqrt() - 0.1)).clamp(0.0, 100_000.0)
}

#[test]
fn swift_holds_the_delay_at_its_target_which_grows_with_the_number_of_flows() {
    for flows in [1, 4, 16, 64] {
        let recording = sampled(flows, "swift", &json!({}), ["12ms", "12us"]);
        // cwnd = delay C / N, and delay = target(cwnd), by bisection.
        let (mut low, mut high) = (1_000.0, 1_000_000.0);
        for _ in 0..60 {
            let delay = f64::midpoint(low, high);
            let cwnd = delay * LINE / 8.0 / PLAIN / flows as f64;
            (low, high) = if target(cwnd) > delay { (delay, high) } else { (low, delay) };
        }
        let delay = settled(&recording, "flow_samples", "srtt_ns");
        // A host's own link takes part with one flow alone: what it queues there is no delay of the network.
        let expected = if flows == 1 { round_trip(PLAIN, 50.0) } else { low };
        assert!((delay / expected - 1.0).abs() < 0.12, "{flows}: {delay} {expected}");
        assert!(used(&recording) > 0.98, "{flows}: {}", used(&recording));
    }
}

#[test]
fn swift_paces_a_window_below_a_packet() {
    // 200 flows at a target of 5 us: 25 kB are 24 packets.
    let attributes = json!({"BaseTarget": "10us", "FsRange": "0s", "HopScale": "0s"});
    let recording = sampled(100, "swift", &attributes, ["10ms", "10us"]);
    assert_eq!(column(&recording, "pauses", "pauses").iter().sum::<i64>(), 0);
    let queue = settled(&recording, "queue_samples", "qdisc_bytes");
    // What 10 us hold is less than half a packet of each.
    assert!(queue < 100.0 * PLAIN, "{queue}");
    assert!(used(&recording) > 0.9, "{}", used(&recording));
}

#[test]
fn two_flows_of_timely_share_a_link_below_its_thresholds() {
    // Two flows grow until what waits does, and their gradients hold it there.
    let recording = sampled(2, "timely", &json!({}), ["30ms", "30us"]);
    let delay = settled(&recording, "flow_samples", "srtt_ns");
    assert!((2.0 * round_trip(PLAIN, 50.0)..50e3).contains(&delay), "{delay}");
    assert!(used(&recording) > 0.9, "{}", used(&recording));
    assert!(spread(&recording) < 1.1, "{}", spread(&recording));
}

#[test]
fn a_segment_of_timely_leaves_back_to_back_and_the_next_one_as_its_rate_says() {
    let mut scenario = star(1, "timely", "100kB", &unmarked());
    // Every round trip is too long: the rate falls to its least, a hundredth of the link.
    scenario["flows"][0]["cc"]["attributes"] =
        json!({"TLow": "0s", "THigh": "1us", "MinRate": "0.01", "Segment": "4500", "Beta": "1"});
    let (trace, _) = run(&scenario, false);
    let sent: Vec<_> = rows(&trace, &["h0_forward", "tx", "flow_1"]).iter().map(|r| r.0).collect();
    let gaps: Vec<_> = sent.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let late = &gaps[gaps.len() - 24..];
    // Four packets, and then what is left of 4 x 1046 B at 400 Mbps.
    let whole = 4.0 * PLAIN * 8.0 / 0.4;
    let long: Vec<_> = late.iter().filter(|gap| **gap > 1000.0).collect();
    assert!(late.len() == 24 && long.len() == 6, "{late:?}");
    for gap in long {
        assert!((gap + 3.0 * 8.0 * PLAIN / LINE - whole).abs() < 5.0, "{gap} {whole}");
    }
}
