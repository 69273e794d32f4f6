//! A bound on what a recording holds: its tables are kept in memory until the run ends.

use super::check::Report;
use super::recording;
use super::spec::{Ping, Scenario};
use crate::recording::TABLES;
use crate::time::Time;
use crate::units;

/// All tables together, in bytes.  A table that grows is copied on the way, so that a run needs
/// about twice as much.
const MAX_TABLES: u64 = 4_000_000_000;

/// Bytes in a row of a table: its columns hold 8 each.
fn row(table: &str) -> u64 {
    let spec = TABLES.iter().find(|spec| spec.name == table);
    8 * spec.map_or(0, |spec| spec.columns.len()) as u64
}

impl Report {
    /// Checks what the tables that grow with time take until `stop`.  (How often state changes,
    /// nobody knows before.)  `transfers`: how many each workload has.
    pub(super) fn memory(&mut self, s: &Scenario, transfers: &[usize], stop: Option<Time>) {
        let Some(stop) = stop else { return };
        let mut costs = Vec::new();
        let asked = &s.recording;
        let all = recording::Flows::new(s, transfers.iter().copied());
        let flows = row("flow_samples") * all.selected(&asked.flows).len() as u64;
        let links = row("link_samples") * recording::ports(&asked.links, &s.links).len() as u64;
        if let Some(rows) = rows(&asked.interval, stop) {
            costs.push((rows.saturating_mul(flows + links), "recording.interval".to_owned()));
        }
        if let Some(queues) = &asked.queues
            && let Some(rows) = rows(&queues.interval, stop)
        {
            let ports = recording::ports(&queues.links, &s.links).len() as u64;
            let bytes = rows.saturating_mul(row("queue_samples") * ports);
            costs.push((bytes, "recording.queues.interval".to_owned()));
        }
        for (i, ping) in s.pings.iter().enumerate() {
            if let Some(rows) = active(ping, stop).and_then(|time| rows(&ping.interval, time)) {
                costs.push((rows.saturating_mul(row("pings")), format!("pings[{i}].interval")));
            }
        }
        let all = costs.iter().fold(0u64, |sum, (bytes, _)| sum.saturating_add(*bytes));
        // The first of equals.
        let most = costs.into_iter().rev().max_by_key(|(bytes, _)| *bytes);
        if let Some((bytes, path)) = most
            && all > MAX_TABLES
        {
            let (bytes, all, most) = (gigabytes(bytes), gigabytes(all), gigabytes(MAX_TABLES));
            self.add(
                path,
                format!(
                    "makes {bytes} of a recording of {all}, more than the {most} that are kept in \
                     memory; write a longer interval"
                ),
            );
        }
    }
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
