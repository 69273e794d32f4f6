//! Checks of the schedules of links.

use ccperf_engine::base::limits::{FASTEST, LONGEST_DELAY};
use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::base::units;
use ccperf_schema::written::{DirectionName, Link, Schedule};

use super::check::{Path, Report};

impl Report {
    pub(super) fn schedules(&mut self, path: Path<'_>, link: &mut Link, stop: Option<Time>) {
        for (i, schedule) in link.schedules.iter_mut().enumerate() {
            self.schedule(&format_args!("{path}.schedules[{i}]"), schedule, stop);
        }
    }

    fn schedule(&mut self, path: Path<'_>, schedule: &mut Schedule, stop: Option<Time>) {
        self.ascending(&format_args!("{path}.times_ns"), &schedule.times_ns, stop);
        let rows = schedule.times_ns.len();
        let Schedule { rates_bps, delays_ns, losses, .. } = schedule;
        if rates_bps.is_none() && delays_ns.is_none() && losses.is_none() {
            self.add(path, "changes nothing; give rates_bps, delays_ns or losses");
        }
        if let Some(rates) = rates_bps {
            let path = format!("{path}.rates_bps");
            self.rows(&path, rates.len(), rows);
            if let Some(i) = rates.iter().position(|&rate| rate == 0) {
                self.add(
                    format!("{path}[{i}]"),
                    "0 would never send a packet; write a rate above 0, in bit/s",
                );
            }
            if let Some(i) = rates.iter().position(|&rate| Rate(rate) > FASTEST) {
                let message =
                    format!("{} is too large; the highest rate is {}", rates[i], FASTEST.0);
                self.add(format!("{path}[{i}]"), message);
            }
        }
        if let Some(delays) = delays_ns {
            self.rows(&format_args!("{path}.delays_ns"), delays.len(), rows);
            if let Some(i) = delays.iter().position(|&delay| Time(delay) > LONGEST_DELAY) {
                let most = LONGEST_DELAY.0;
                let message = format!("{} is too large; the longest delay is {most} ns", delays[i]);
                self.add(format!("{path}.delays_ns[{i}]"), message);
            }
            if schedule.direction != DirectionName::Both {
                self.add(
                    format!("{path}.direction"),
                    "a link has one delay for both directions; leave direction out",
                );
            }
        }
        if let Some(losses) = losses {
            let path = format!("{path}.losses");
            self.rows(&path, losses.len(), rows);
            for (i, loss) in losses.iter_mut().enumerate() {
                self.probability(&format_args!("{path}[{i}]"), loss);
            }
        }
    }

    fn ascending(&mut self, path: Path<'_>, times: &[u64], stop: Option<Time>) {
        if times.is_empty() {
            self.add(path, "has no times; leave the schedule out");
        }
        if let Some(i) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            self.add(
                format!("{path}[{}]", i + 1),
                format!("{} does not come after {}; times ascend", times[i + 1], times[i]),
            );
        } else if let (Some(&last), Some(stop)) = (times.last(), stop)
            && Time(last) >= stop
        {
            let (i, stop) = (times.len() - 1, units::format_time(stop));
            self.add(
                format!("{path}[{i}]"),
                format!("{last} ns is not before stop_time ({stop}): it would never happen"),
            );
        }
    }

    fn rows(&mut self, path: Path<'_>, found: usize, wanted: usize) {
        if found != wanted {
            self.add(path, format!("has {found} entries for {wanted} times; give one each"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::Canonical;

    fn problems(schedule: Value) -> Vec<String> {
        let scenario = json!({
            "stop_time": "1s", "nodes": ["a", "b"],
            "links": [{"name": "wire", "ends": ["a", "b"], "rate": "1Mbps", "delay": "1ms",
                       "schedules": [schedule]}],
            "flows": [{"source": "a", "destination": "b", "cc": {"type": "newreno"}}],
        });
        match Canonical::from_json(&scenario.to_string()) {
            Ok(_) => Vec::new(),
            Err(error) => error.0.iter().map(|p| format!("{}: {}", p.path, p.message)).collect(),
        }
    }

    #[test]
    fn columns_are_as_long_as_the_times_and_make_sense() {
        assert!(problems(json!({"times_ns": [0, 5], "rates_bps": [1, 2]})).is_empty());
        assert!(problems(json!({"times_ns": [3], "delays_ns": [0], "losses": [1.0]})).is_empty());
        for (schedule, path) in [
            (json!({"times_ns": [], "rates_bps": []}), "times_ns: has no times"),
            (json!({"times_ns": [0]}), ": changes nothing"),
            (json!({"times_ns": [0, 5], "rates_bps": [1]}), "rates_bps: has 1 entries for 2"),
            (json!({"times_ns": [0, 5], "rates_bps": [1, 0]}), "rates_bps[1]: 0 would never"),
            (json!({"times_ns": [0, 5, 5], "losses": [0, 0, 0]}), "times_ns[2]: 5 does not come"),
            (json!({"times_ns": [0, 1_000_000_000], "losses": [0, 0]}), "times_ns[1]: 1000000000"),
            (
                json!({"times_ns": [0], "rates_bps": [u64::MAX]}),
                "rates_bps[0]: 18446744073709551615",
            ),
            (
                json!({"times_ns": [0], "delays_ns": [1u64 << 60]}),
                "delays_ns[0]: 1152921504606846976",
            ),
            (json!({"times_ns": [0], "losses": [1.5]}), "losses[0]: 1.5 is not a probability"),
            (
                json!({"times_ns": [0], "delays_ns": [1], "direction": "forward"}),
                "direction: a link has one delay",
            ),
        ] {
            let found = problems(schedule);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(path), "{found:?}");
        }
    }
}
