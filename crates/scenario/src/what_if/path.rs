//! Rates and delays of the paths of flows.

use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::base::units;
use ccperf_schema::lowered::Lowered;
use ccperf_schema::written::{Link, Scenario};

use super::super::Canonical;

/// A direction of a link: its number, and 0 for forward.
pub type Port = [usize; 2];

/// What a flow's path is at time 0.
pub struct Paths {
    /// Each once, in the order of flows.
    bottlenecks: Vec<(Port, u64)>,
    shortest: Option<Shortest>,
}

/// The flow with the least propagation delay there and back.
struct Shortest {
    rtt_ns: u64,
    /// The link of its bottleneck, and how often a round trip goes over it.
    link: usize,
    times: u64,
}

impl Paths {
    pub fn of(scenario: &Canonical) -> Paths {
        let lowered = scenario.lower();
        let mut bottlenecks: Vec<(Port, u64)> = Vec::new();
        let mut shortest: Option<Shortest> = None;
        for flow in &lowered.flows {
            let Some(&port) = flow.path.iter().min_by_key(|&&port| rate(&lowered, port)) else {
                continue;
            };
            if !bottlenecks.iter().any(|&(known, _)| known == port) {
                bottlenecks.push((port, rate(&lowered, port)));
            }
            let links = || flow.path.iter().chain(&flow.return_path).map(|&[link, _]| link);
            let rtt_ns = links().map(|link| lowered.links[link].delay_ns).sum();
            if shortest.as_ref().is_none_or(|known| rtt_ns < known.rtt_ns) {
                let times = links().filter(|&link| link == port[0]).count() as u64;
                shortest = Some(Shortest { rtt_ns, link: port[0], times });
            }
        }
        Paths { bottlenecks, shortest }
    }

    pub fn bottlenecks(&self) -> impl Iterator<Item = Port> {
        self.bottlenecks.iter().map(|&(port, _)| port)
    }

    pub fn rate(&self) -> Option<String> {
        self.bottlenecks.first().map(|&(_, bps)| units::format_rate(Rate(bps)))
    }

    pub fn rtt(&self) -> Option<String> {
        self.shortest.as_ref().map(|shortest| units::format_time(Time(shortest.rtt_ns)))
    }

    pub fn set_rate(&self, scenario: &mut Scenario, text: &str) -> Result<(), String> {
        let Rate(to) = units::parse_rate(text)?;
        if to == 0 {
            return Err(format!("{text} lets nothing through; write a rate above 0"));
        }
        if self.bottlenecks.is_empty() {
            return Err(no_flow());
        }
        for &([link, side], from) in &self.bottlenecks {
            let scaled = |bps: u64| {
                let bps = u128::from(bps) * u128::from(to) / u128::from(from);
                u64::try_from(bps).unwrap_or(u64::MAX).max(1)
            };
            let Link { name, rate, forward, reverse, schedules, .. } = &mut scenario.links[link];
            let direction = if side == 0 { forward } else { reverse };
            *direction.rate.as_mut().unwrap_or(rate) = text.to_owned();
            for bps in schedules.iter_mut().filter_map(|s| s.rates_bps.as_mut()).flatten() {
                *bps = scaled(*bps);
            }
            let changes = scenario.changes.iter_mut().filter(|change| change.link == *name);
            for later in changes.filter_map(|change| change.rate.as_mut()) {
                *later = units::format_rate(Rate(scaled(units::parse_rate(later)?.0)));
            }
        }
        Ok(())
    }

    pub fn set_rtt(&self, scenario: &mut Scenario, text: &str) -> Result<(), String> {
        let Time(to) = units::parse_time(text)?;
        if to == Time::MAX.0 {
            return Err(format!("{text} is longer than any run; write a shorter time"));
        }
        let Shortest { rtt_ns, link, times } = *self.shortest.as_ref().ok_or_else(no_flow)?;
        let longer = i128::from(to) - i128::from(rtt_ns);
        if longer % i128::from(times) != 0 {
            return Err(format!("{text} does not split into {times} ways of whole ns; add 1ns"));
        }
        let longer = longer / i128::from(times);
        let Link { name, delay, schedules, .. } = &mut scenario.links[link];
        let least =
            i128::from(rtt_ns) - i128::from(times) * i128::from(units::parse_time(delay)?.0);
        let moved = |ns: u64| {
            u64::try_from(i128::from(ns) + longer).map_err(|_| {
                let least = units::format_time(Time(least.try_into().unwrap_or(u64::MAX)));
                format!("{text} is too short: the links beside the bottleneck take {least} of it")
            })
        };
        let moved_text = |text: &str| {
            units::parse_time(text).and_then(|t| Ok(units::format_time(Time(moved(t.0)?))))
        };
        *delay = moved_text(delay)?;
        for ns in schedules.iter_mut().filter_map(|s| s.delays_ns.as_mut()).flatten() {
            *ns = moved(*ns)?;
        }
        let changes = scenario.changes.iter_mut().filter(|change| change.link == *name);
        for later in changes.filter_map(|change| change.delay.as_mut()) {
            *later = moved_text(later)?;
        }
        Ok(())
    }
}

fn rate(lowered: &Lowered, [link, side]: Port) -> u64 {
    lowered.links[link].directions[side].rate_bps
}

pub fn no_flow() -> String {
    "the scenario has transfers only, and no flow to tell its bottleneck by; change its links \
     themselves, by the experiment's options or in its file"
        .to_owned()
}
