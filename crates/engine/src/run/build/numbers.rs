//! Refuses numbers that do not fit, and what is not there: a lowered scenario may come from anywhere.

use std::ops::RangeInclusive;

use ccperf_schema::lowered::{
    Application, Direction, Flow, Link, Lowered, OnOff, Pair, Ping, Poisson, Recording, SCHEMAS,
    Workload,
};

use crate::base::error::Error;
use crate::base::event::{NodeEvent, RunEvent};
use crate::base::limits::{
    FASTEST, LARGEST_BUFFER, LARGEST_WRITE, LONGEST, LONGEST_DELAY, MAX_ENDPOINTS, MAX_FLOWS,
    MAX_LINKS,
};
use crate::packet::ingress::PRIORITIES;

const TIME: RangeInclusive<u64> = 0..=LONGEST.0;
const INTERVAL: RangeInclusive<u64> = 1..=LONGEST.0;
const DELAY: RangeInclusive<u64> = 0..=LONGEST_DELAY.0;
const RATE: RangeInclusive<u64> = 1..=FASTEST.0;
const WRITE: RangeInclusive<u64> = 1..=LARGEST_WRITE;
/// Of an IP packet.
const SIZE: RangeInclusive<u64> = 1..=u16::MAX as u64;
/// Of what a datagram carries, without the headers of UDP and IP.
const DATAGRAM: RangeInclusive<u64> = 1..=(u16::MAX - 28) as u64;
/// A code point has six bits.
const MAX_DSCP: usize = 63;
const CONNECTIONS: RangeInclusive<u64> = 1..=u32::MAX as u64;
const QUEUES: RangeInclusive<u64> = 1..=256;
const PRIORITY: RangeInclusive<u64> = 0..=PRIORITIES as u64 - 1;
/// Of a switch's buffer: sums of them stay far from the end of 64 bits.
const BYTES: RangeInclusive<u64> = 0..=LARGEST_BUFFER;

type Checked = Result<(), Error>;

/// # Errors
/// The first number that does not fit, with the name of its field.
pub fn check(scenario: &Lowered) -> Checked {
    let schemas = u64::from(*SCHEMAS.start())..=u64::from(*SCHEMAS.end());
    within("schema", scenario.schema.into(), schemas)?;
    within("stop_ns", scenario.stop_ns, TIME)?;
    few_enough(scenario)?;
    let there = There {
        nodes: scenario.nodes.len(),
        links: scenario.links.len(),
        flows: scenario.flow_count(),
    };
    there.recording(&scenario.recording)?;
    scenario.links.iter().try_for_each(|link| there.link(link))?;
    for change in &scenario.changes {
        within("changes: time_ns", change.time_ns, TIME)?;
        below("changes: link", change.link, there.links)?;
        all("changes: rate_bps", change.rate_bps.into_iter().flatten(), RATE)?;
        all("changes: delay_ns", change.delay_ns, DELAY)?;
        change.loss.into_iter().flatten().try_for_each(|loss| share("changes: loss", loss))?;
    }
    for failure in &scenario.failures {
        within("failures: time_ns", failure.time_ns, TIME)?;
        all_below("failures: links", failure.down.iter().chain(&failure.up), there.links)?;
    }
    for fault in &scenario.faults {
        share("faults: loss", fault.loss)?;
        all("faults: times", [fault.start_ns, fault.stop_ns], TIME)?;
        let hosts = fault.sources.iter().chain(&fault.destinations).flatten();
        all_below("faults: nodes", hosts.chain([&fault.node]), there.nodes)?;
    }
    scenario.flows.iter().try_for_each(|flow| there.flow(flow))?;
    scenario.pings.iter().try_for_each(|ping| there.ping(ping))?;
    scenario.pairs.iter().try_for_each(|pair| there.pair(pair))?;
    for stack in &scenario.stacks {
        let dscps = [stack.dscp, stack.return_dscp];
        code_points("stacks", dscps, &stack.pias)?;
    }
    scenario.workloads.iter().enumerate().try_for_each(|(i, each)| workload(i, each, scenario))
}

/// What has an event each is numbered in one.
fn few_enough(scenario: &Lowered) -> Checked {
    let schedules = scenario.links.iter().map(|link| link.schedules.len()).sum();
    for (what, count, most) in [
        ("flows and pings", scenario.flow_count() + scenario.pings.len(), MAX_FLOWS),
        (
            "flows and pings without transfers",
            scenario.flows.len() + scenario.pings.len(),
            MAX_ENDPOINTS,
        ),
        ("links", scenario.links.len(), MAX_LINKS),
        ("nodes", scenario.nodes.len(), NodeEvent::THINGS),
        ("changes", scenario.changes.len(), RunEvent::THINGS),
        ("failures", scenario.failures.len(), RunEvent::THINGS),
        ("schedules", schedules, RunEvent::THINGS),
    ] {
        at_most(what, count, most)?;
    }
    Ok(())
}

/// How many of each thing can be referred to.
struct There {
    nodes: usize,
    links: usize,
    flows: usize,
}

impl There {
    fn recording(&self, recording: &Recording) -> Checked {
        within("recording: interval_ns", recording.interval_ns, INTERVAL)?;
        if !recording.queue_ports.is_empty() {
            within("recording: queue_interval_ns", recording.queue_interval_ns, INTERVAL)?;
        }
        let flows = recording.flows.iter().chain(&recording.changes).chain(&recording.paths);
        let ports = recording.ports.iter().chain(&recording.queue_ports);
        for (what, numbers) in [
            ("recording: flows", &recording.flows),
            ("recording: changes", &recording.changes),
            ("recording: paths", &recording.paths),
            ("recording: ports", &recording.ports),
            ("recording: queue_ports", &recording.queue_ports),
        ] {
            ascending(what, numbers)?;
        }
        all_below("recording: flows", flows.map(|&flow| flow as usize), self.flows)?;
        all_below("recording: ports", ports.map(|&port| port as usize), 2 * self.links)
    }

    fn link(&self, link: &Link) -> Checked {
        all_below("links: ends", link.ends, self.nodes)?;
        within("links: delay_ns", link.delay_ns, DELAY)?;
        link.directions.iter().try_for_each(direction)?;
        for schedule in &link.schedules {
            let count = schedule.times_ns.len();
            all("schedules: times_ns", schedule.times_ns.iter().copied(), TIME)?;
            for (what, column, range) in [
                ("schedules: rates_bps", &schedule.rates_bps, RATE),
                ("schedules: delays_ns", &schedule.delays_ns, DELAY),
            ] {
                if let Some(column) = column {
                    all(what, column.iter().copied(), range)?;
                    as_many(what, column.len(), count)?;
                }
            }
            if let Some(losses) = &schedule.losses {
                losses.iter().try_for_each(|&loss| share("schedules: losses", loss))?;
                as_many("schedules: losses", losses.len(), count)?;
            }
        }
        Ok(())
    }

    fn flow(&self, flow: &Flow) -> Checked {
        self.paths("flows", [flow.source, flow.destination], [&flow.path, &flow.return_path])?;
        all("flows: times", [flow.start_ns, flow.stop_ns, flow.receiver_stop_ns], TIME)?;
        within("flows: added_delay_ns", flow.added_delay_ns, DELAY)?;
        let (write, rate) = match flow.application {
            Application::Greedy { write_bytes, .. } => (write_bytes, None),
            Application::OnOff(OnOff { write_bytes, rate_bps, .. })
            | Application::Poisson(Poisson { write_bytes, rate_bps, .. }) => {
                (write_bytes, Some(rate_bps))
            }
        };
        let most = if flow.transport.is_tcp() { WRITE } else { DATAGRAM };
        within("flows: write_bytes", write.into(), most)?;
        code_points("flows", [flow.dscp, flow.return_dscp], &flow.pias)?;
        all("flows: rate_bps", rate, RATE)
    }

    fn ping(&self, ping: &Ping) -> Checked {
        self.paths("pings", [ping.source, ping.destination], [&ping.path, &ping.return_path])?;
        all("pings: times", [ping.start_ns, ping.stop_ns], TIME)?;
        within("pings: interval_ns", ping.interval_ns, INTERVAL)?;
        within("pings: size_bytes", ping.size_bytes.into(), 0..=*SIZE.end())
    }

    fn pair(&self, pair: &Pair) -> Checked {
        self.paths("pairs", [pair.source, pair.destination], [&pair.path, &pair.return_path])
    }

    /// Both ends, and a path of some links in each direction.
    fn paths(&self, what: &str, ends: [usize; 2], paths: [&Vec<[usize; 2]>; 2]) -> Checked {
        all_below(what, ends, self.nodes)?;
        for path in paths {
            as_many(what, path.len().min(1), 1)?;
            for &[link, direction] in path {
                below(what, link, self.links)?;
                below(what, direction, 2)?;
            }
        }
        Ok(())
    }
}

fn direction(direction: &Direction) -> Checked {
    within("links: rate_bps", direction.rate_bps, RATE)?;
    within("links: mtu_bytes", direction.mtu_bytes.into(), SIZE)?;
    within("links: device_queues", direction.device_queues.into(), QUEUES)?;
    if let Some(pfc) = &direction.pfc {
        let priorities = pfc.priorities.iter().map(|&priority| priority.into());
        all("links: pfc: priorities", priorities, PRIORITY)?;
        all("links: pfc: bytes", [pfc.hysteresis_bytes, pfc.headroom_bytes], BYTES)?;
        all("links: pfc: bytes", pfc.xoff_bytes.into_iter().chain(pfc.buffer_bytes), BYTES)?;
        within("links: pfc: quanta", pfc.quanta.into(), 1..=u16::MAX.into())?;
        within("links: pfc: response_ns", pfc.response_ns, DELAY)?;
        if pfc.xoff_bytes.is_some() == pfc.alpha.zip(pfc.buffer_bytes).is_some() {
            let message = "links: pfc: either xoff_bytes, or alpha and buffer_bytes";
            return Err(Error::Scenario(message.to_owned()));
        }
    }
    share("links: loss", direction.loss)
}

fn workload(number: usize, workload: &Workload, scenario: &Lowered) -> Checked {
    let transfers = workload.len();
    below("workloads: stack", workload.stack, scenario.stacks.len())?;
    within("workloads: write_bytes", workload.write_bytes.into(), WRITE)?;
    all("workloads: gap_ns", workload.gap_ns, INTERVAL)?;
    all_below(
        "workloads: pair",
        workload.pair.iter().map(|&pair| pair as usize),
        scenario.pairs.len(),
    )?;
    all("workloads: start_ns", workload.start_ns.iter().copied(), TIME)?;
    all("workloads: added_delay_ns", workload.added_delay_ns.iter().copied(), DELAY)?;
    for (what, column) in [
        ("workloads: pair", workload.pair.len()),
        ("workloads: source_port", workload.source_port.len()),
        ("workloads: destination_port", workload.destination_port.len()),
        ("workloads: bytes", workload.bytes.len()),
        ("workloads: ideal_ns", workload.ideal_ns.len()),
    ] {
        as_many(what, column, transfers)?;
    }
    let waits = !workload.after.is_empty() || !workload.wait_ns.is_empty();
    if waits || workload.answers.is_some() {
        as_many("workloads: wait_ns", workload.wait_ns.len(), transfers)?;
        all("workloads: wait_ns", workload.wait_ns.iter().copied(), TIME)?;
        let others = workload.answers.map_or(transfers, |_| 0);
        as_many("workloads: after", workload.after.len(), others)?;
        for (i, after) in workload.after.iter().enumerate() {
            all_below("workloads: after", after.iter().map(|&other| other as usize), i)?;
        }
    }
    if let Some(requests) = workload.answers {
        below("workloads: answers", requests, number)?;
        as_many("workloads: answers", transfers, scenario.workloads[requests].len())?;
    }
    let connections = workload.connections.unwrap_or(1).into();
    all("workloads: connections", [connections], CONNECTIONS)?;
    Ok(())
}

/// PIAS raises the first of them by one at each threshold.
fn code_points(what: &str, dscps: [u8; 2], pias: &[u32]) -> Checked {
    let highest = dscps.map(usize::from);
    at_most(&format!("{what}: dscp"), highest[0] + pias.len(), MAX_DSCP)?;
    at_most(&format!("{what}: return_dscp"), highest[1], MAX_DSCP)
}

fn at_most(what: &str, count: usize, most: usize) -> Checked {
    if count <= most {
        return Ok(());
    }
    Err(Error::Scenario(format!("{what}: {count} is more than {most}")))
}

fn ascending(what: &str, numbers: &[u32]) -> Checked {
    if numbers.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(Error::Scenario(format!("{what}: these numbers do not ascend")))
}

fn within(what: &str, number: u64, range: RangeInclusive<u64>) -> Checked {
    if range.contains(&number) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(Error::Scenario(format!("{what}: {number} is not between {least} and {most}")))
}

fn all(what: &str, numbers: impl IntoIterator<Item = u64>, range: RangeInclusive<u64>) -> Checked {
    numbers.into_iter().try_for_each(|number| within(what, number, range.clone()))
}

fn below(what: &str, number: usize, count: usize) -> Checked {
    if number < count {
        return Ok(());
    }
    Err(Error::Scenario(format!("{what}: there is no number {number} among {count}")))
}

fn all_below<N: std::borrow::Borrow<usize>>(
    what: &str,
    numbers: impl IntoIterator<Item = N>,
    count: usize,
) -> Checked {
    numbers.into_iter().try_for_each(|number| below(what, *number.borrow(), count))
}

fn as_many(what: &str, found: usize, wanted: usize) -> Checked {
    if found == wanted {
        return Ok(());
    }
    Err(Error::Scenario(format!("{what}: {found} instead of {wanted}")))
}

fn share(what: &str, number: f64) -> Checked {
    if (0.0..=1.0).contains(&number) {
        return Ok(());
    }
    Err(Error::Scenario(format!("{what}: {number} is no share of one")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::dice::lower;

    #[test]
    fn what_is_numbered_in_an_event_is_not_more_than_its_bits_tell() {
        let mut scenario = lower(&json!({"nodes": ["a", "b"], "stop_time": "1s",
            "links": [{"name": "l", "ends": ["a", "b"], "rate": "1Mbps", "delay": "1ms"}],
            "flows": [{"source": "a", "destination": "b", "cc": {"type": "newreno"}}]}));
        assert!(check(&scenario).is_ok());
        scenario.nodes.resize(NodeEvent::THINGS + 1, String::new());
        let said = check(&scenario).unwrap_err().to_string();
        assert_eq!(said, "nodes: 4194305 is more than 4194304");
    }

    #[test]
    fn code_points_have_six_bits_with_all_that_pias_adds() {
        assert!(code_points("flows", [60, 63], &[1, 2, 3]).is_ok());
        assert!(code_points("flows", [61, 0], &[1, 2, 3]).is_err());
        assert!(code_points("flows", [0, 64], &[]).is_err());
    }
}
