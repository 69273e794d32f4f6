//! A bound on what a recording holds: its tables are kept in memory until the run ends.

use super::check::Report;
use super::spec::{Ping, Scenario};
use crate::time::Time;
use crate::units;

/// All tables together, in bytes.  A table that grows is copied on the way, so that a run needs about
/// twice as much.
const MAX_TABLES: u64 = 4_000_000_000;

/// Bytes in a row of each table that grows with time: its columns hold 8 each.
const FLOW_SAMPLE: u64 = 16 * 8;
const LINK_SAMPLE: u64 = 9 * 8;
const ECHO: u64 = 3 * 8;

impl Report {
    /// Checks what the tables that grow with time take until `stop`.  (How often state changes, nobody
    /// knows before.)
    pub(super) fn memory(&mut self, s: &Scenario, stop: Option<Time>) {
        let Some(stop) = stop else { return };
        let mut costs = Vec::new();
        let links = 2 * s.links.len() as u64;
        let row = FLOW_SAMPLE * s.flows.len() as u64 + LINK_SAMPLE * links;
        if let Some(rows) = rows(&s.recording.interval, stop) {
            costs.push((rows.saturating_mul(row), "recording.interval".to_owned()));
        }
        for (i, ping) in s.pings.iter().enumerate() {
            if let Some(rows) = active(ping, stop).and_then(|time| rows(&ping.interval, time)) {
                costs.push((rows.saturating_mul(ECHO), format!("pings[{i}].interval")));
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
