//! A bound on what a run takes: the tables of its recording, and the packets under way.

use std::collections::HashMap;

use ccperf_engine::base::time::Time;
use ccperf_engine::base::units;
use ccperf_engine::run::recording::TABLES;
use ccperf_schema::lowered::Transport;
use ccperf_schema::written::{Ping, Scenario};

use super::check::{Report, Routes};
use super::recording::Index;
use super::traffic::{Traffic, traffic};

/// All together, in bytes.  While it runs most samples of a long run lie in a file, but who asks for a table has
/// it in memory.
const MOST: u64 = 4_000_000_000;
/// Rows of `changes` for a data segment, its ACK included, as measured: between a half and two.
const CHANGES: u64 = 2;
/// The name in a row of `changes`, which is a text.
const NAME: u64 = 40;
/// A packet, and what its sender keeps of it until it is acknowledged.
const PACKET: u64 = 64 + 96;

/// Bytes in a row of a table: its columns hold 8 each.
fn row(table: &str) -> u64 {
    let spec = TABLES.iter().find(|spec| spec.name == table);
    8 * spec.map_or(0, |spec| spec.columns.len()) as u64
}

/// Something that takes memory, the field that is to blame, and what to do about it.
struct Cost {
    bytes: u64,
    path: String,
    what: &'static str,
    fix: &'static str,
}

impl Report {
    /// Checks what a run can take until `stop`; the scenario has no other problem.  `transfers`: how
    /// many each workload has.
    pub(super) fn memory(
        &mut self,
        s: &Scenario,
        transfers: &[usize],
        routes: Option<&mut Routes<'_>>,
        stop: Option<Time>,
    ) {
        let Some(stop) = stop else { return };
        let mut costs = samples(s, transfers, stop);
        if let (Some(routes), 0) = (routes, self.count()) {
            let traffic = traffic(s, routes, stop);
            costs.extend(changes(s, transfers, &traffic));
            costs.extend(packets(s, &traffic));
        }
        let all = costs.iter().fold(0u64, |sum, cost| sum.saturating_add(cost.bytes));
        // The first of equals.
        let most = costs.into_iter().rev().max_by_key(|cost| cost.bytes);
        if let Some(Cost { bytes, path, what, fix }) = most
            && all > MOST
        {
            let (bytes, all, most) = (gigabytes(bytes), gigabytes(all), gigabytes(MOST));
            self.add(
                path,
                format!(
                    "makes {bytes} of {what}, all together {all}, more than the {most} that a run may \
                     keep in memory; {fix}"
                ),
            );
        }
    }
}

/// The tables that grow with time.
fn samples(s: &Scenario, transfers: &[usize], stop: Time) -> Vec<Cost> {
    let mut costs = Vec::new();
    let mut add = |bytes, path: String| {
        costs.push(Cost { bytes, path, what: "samples", fix: "write a longer interval" });
    };
    let asked = &s.recording;
    let all = Index::of_flows(&s.flows, &s.workloads, transfers.iter().copied());
    let ports = Index::of_links(&s.links);
    let flows = row("flow_samples") * all.selected(&asked.flows).len() as u64;
    let links = row("link_samples") * ports.selected(&asked.links).len() as u64;
    if let Some(rows) = rows(&asked.interval, stop) {
        add(rows.saturating_mul(flows + links), "recording.interval".to_owned());
    }
    if let Some(queues) = &asked.queues
        && let Some(rows) = rows(&queues.interval, stop)
    {
        let ports = ports.selected(&queues.links).len() as u64;
        let bytes = rows.saturating_mul(row("queue_samples") * ports);
        add(bytes, "recording.queues.interval".to_owned());
    }
    for (i, ping) in s.pings.iter().enumerate() {
        if let Some(rows) = active(ping, stop).and_then(|time| rows(&ping.interval, time)) {
            add(rows.saturating_mul(row("pings")), format!("pings[{i}].interval"));
        }
    }
    costs
}

/// Every change of a sender's state; flows that share a bottleneck share its packets.
fn changes(s: &Scenario, transfers: &[usize], traffic: &Traffic) -> Option<Cost> {
    let all = Index::of_flows(&s.flows, &s.workloads, transfers.iter().copied());
    let followed = all.followed(&s.recording.changes);
    let mut through: HashMap<usize, u64> = HashMap::new();
    for sending in &traffic.flows {
        if followed.binary_search(&(sending.flow as u32)).is_ok() {
            let sum = through.entry(sending.bottleneck).or_default();
            *sum = sum.saturating_add(sending.packets);
        }
    }
    let packets = through
        .iter()
        .map(|(port, sum)| *sum.min(&traffic.sent[port]))
        .fold(0, u64::saturating_add);
    (packets > 0).then(|| Cost {
        bytes: packets.saturating_mul(CHANGES * (row("changes") + NAME)),
        path: "recording.changes".to_owned(),
        what: "changes",
        fix: "follow fewer flows, or stop earlier",
    })
}

/// Packets under way: no more than sockets send ahead, and than links hold.
fn packets(s: &Scenario, traffic: &Traffic) -> Option<Cost> {
    let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
    let windows = if s.workloads.is_empty() {
        sum(&mut traffic.flows.iter().map(|sending| sending.window))
    } else {
        u64::MAX
    };
    let held = sum(&mut traffic.held.values().copied());
    let cost = |count: u64, path: String, fix| {
        Some(Cost { bytes: count.saturating_mul(PACKET), path, what: "packets under way", fix })
    };
    if windows <= held {
        let widest = traffic.flows.iter().max_by_key(|sending| sending.window)?;
        let path = format!("flows[{}]", widest.flow);
        return match s.flows[widest.flow].transport {
            Transport::Tcp => {
                let fix = "make it smaller, or the receiver's buffer";
                cost(windows, format!("{path}.tcp.SndBufSize"), fix)
            }
            Transport::Udp | Transport::Roce | Transport::Trimming => {
                cost(windows, path, "lower the rate of its first link")
            }
        };
    }
    let (port, _) = traffic.held.iter().max_by_key(|&(port, held)| (*held, usize::MAX - port))?;
    cost(held, format!("links[{}]", port / 2), "shorten its queues, or lower its rate or delay")
}

/// How many rows a table gets in `time`; none if the interval is wrong, which has been said.
fn rows(interval: &str, time: Time) -> Option<u64> {
    let interval = units::parse_time(interval).ok().filter(|interval| !interval.is_zero())?;
    Some(time.0 / interval.0)
}

fn active(ping: &Ping, end: Time) -> Option<Time> {
    let start = units::parse_time(&ping.start).ok()?;
    let stop = ping.stop.as_deref().map_or(Ok(end), units::parse_time).ok()?;
    let stop = stop.min(end);
    (stop > start).then(|| stop - start)
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::Canonical;

    /// One flow over 1 Gbps, for 60 s.
    fn scenario() -> Value {
        json!({
            "stop_time": "60s", "nodes": ["a", "r", "b"],
            "links": [
                {"name": "in", "ends": ["a", "r"], "rate": "100Gbps", "delay": "1ms"},
                {"name": "out", "ends": ["r", "b"], "rate": "1Gbps", "delay": "1ms"},
            ],
            "flows": [{"source": "a", "destination": "b", "cc": {"type": "newreno"},
                       "tcp": {"SegmentSize": "1448", "SndBufSize": "9000000", "RcvBufSize": "9000000"}}],
        })
    }

    fn refused(change: impl FnOnce(&mut Value)) -> Option<String> {
        let mut scenario = scenario();
        change(&mut scenario);
        let error = Canonical::from_json(&scenario.to_string()).err()?;
        assert_eq!(error.0.len(), 1, "{error}");
        Some(error.to_string())
    }

    #[test]
    fn changes_count_by_the_packets_of_the_bottleneck() {
        assert_eq!(refused(|s| s["recording"] = json!({"changes": true})), None);
        let longer = |s: &mut Value| {
            s["recording"] = json!({"changes": true});
            s["stop_time"] = json!("600s");
        };
        let said = refused(longer).unwrap();
        assert!(said.starts_with("recording.changes: makes 7.2 GB of changes"), "{said}");
        assert!(said.ends_with("follow fewer flows, or stop earlier"), "{said}");
        // Of a flow that ends by itself there are no more than its bytes make.
        let finite = |s: &mut Value| {
            longer(s);
            s["flows"][0]["application"] = json!({"type": "Greedy", "bytes": "100MB"});
        };
        assert_eq!(refused(finite), None);
        let stopped = |s: &mut Value| {
            longer(s);
            s["flows"][0]["stop"] = json!("10s");
        };
        assert_eq!(refused(stopped), None);
        // A window is sent once a round trip.
        let slow = |s: &mut Value| {
            longer(s);
            s["flows"][0]["tcp"]["SndBufSize"] = json!("40000");
        };
        assert_eq!(refused(slow), None);
    }

    #[test]
    fn flows_that_share_a_bottleneck_share_its_packets() {
        let many = |s: &mut Value| {
            s["recording"] = json!({"changes": true});
            s["flows"] = std::iter::repeat_n(s["flows"][0].clone(), 100).collect();
        };
        assert_eq!(refused(many), None);
    }

    #[test]
    fn a_change_of_rate_counts() {
        let faster = |s: &mut Value| {
            s["recording"] = json!({"changes": true});
            s["changes"] = json!([{"time": "1s", "link": "out", "rate": "90Gbps"}]);
        };
        assert!(refused(faster).unwrap().starts_with("recording.changes: makes"));
    }

    #[test]
    fn packets_under_way_count_by_what_both_sockets_and_links_let_through() {
        let far = |s: &mut Value| s["links"][0]["delay"] = json!("60s");
        assert_eq!(refused(far), None, "a buffer of 9 MB holds the sender back");
        let greedy = |s: &mut Value| {
            s["flows"][0]["tcp"] = json!({"SegmentSize": "1448", "SndBufSize": "1000000000", "RcvBufSize": "1000000000"});
        };
        assert_eq!(refused(greedy), None, "the links hold little");
        let both = |s: &mut Value| {
            greedy(s);
            s["flows"] = std::iter::repeat_n(s["flows"][0].clone(), 80).collect();
            s["links"][0]["delay"] = json!("60s");
            s["links"][1]["rate"] = json!("10Gbps");
        };
        let said = refused(both).unwrap();
        assert!(said.starts_with("flows[79].tcp.SndBufSize: makes"), "{said}");
        assert!(said.contains("of packets under way"), "{said}");
        // Nothing holds a datagram back but the links.
        let datagrams = |s: &mut Value| {
            s["flows"] = json!([{"source": "a", "destination": "b", "transport": "UDP",
                "application": {"type": "CBR", "rate": "50Gbps", "write": "1000B"}}]);
            s["links"][0]["delay"] = json!("60s");
        };
        let said = refused(datagrams).unwrap();
        assert!(said.starts_with("flows[0]: makes"), "{said}");
        assert!(said.ends_with("lower the rate of its first link"), "{said}");
        let queues = |s: &mut Value| {
            datagrams(s);
            s["stop_time"] = json!("600s");
            s["links"][0]["delay"] = json!("10s");
        };
        let said = refused(queues).unwrap();
        assert!(said.starts_with("links[0]: makes"), "{said}");
        assert!(said.ends_with("shorten its queues, or lower its rate or delay"), "{said}");
    }
}
