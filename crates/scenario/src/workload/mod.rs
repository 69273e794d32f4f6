//! Workloads: many transfers, drawn from streams that do not depend on the schemes under test.

mod check;
mod generate;
mod lower;
mod partners;
mod sizes;

use std::collections::HashMap;

use super::streams;
use ccperf_engine::base::units;
use ccperf_schema::written::{Arrivals, Pairs, Scenario, Sizes, Workload};
use generate::When;
pub use generate::{Plan, Transfer};
pub use lower::lower;
use sizes::Distribution;

/// More transfers than can be numbered: the checks have found how many there are.
pub const ALL: usize = usize::MAX - 1;

/// A workload in numbers; its texts have been checked.
pub fn plan(workload: &Workload, s: &Scenario, nodes: &HashMap<&str, usize>) -> Plan {
    let time = |text: &str| units::parse_time(text).unwrap_or_default();
    let end = time(&s.stop_time);
    let node = |name: &String| nodes.get(name.as_str()).copied();
    let of = |names: &Option<Vec<String>>| match names {
        Some(names) => names.iter().filter_map(node).collect(),
        None => hosts(s, nodes),
    };
    let listed = match &workload.pairs {
        Pairs::Listed { pairs } => {
            let pairs = pairs.iter().filter_map(|[from, to]| Some([node(from)?, node(to)?]));
            pairs.collect::<Vec<[usize; 2]>>()
        }
        _ => Vec::new(),
    };
    let (sources, destinations) = if listed.is_empty() {
        (of(&workload.sources), of(&workload.destinations))
    } else {
        (listed.iter().map(|pair| pair[0]).collect(), listed.iter().map(|pair| pair[1]).collect())
    };
    let mut sets = vec![None; s.nodes.len()];
    for (i, set) in workload.apart.iter().enumerate() {
        set.iter().filter_map(node).for_each(|node| sets[node] = Some(i));
    }
    let (when, capacity) = match &workload.arrivals {
        Arrivals::Times { times } => (When::Times(times.iter().map(|t| time(t)).collect()), None),
        Arrivals::After { after, delays, start } => {
            let delays: Vec<_> = delays.iter().map(|text| time(text)).collect();
            (When::after(after, &delays, time(start)), None)
        }
        Arrivals::Answers { to, delay } => {
            let asks = s.workloads.iter().find(|other| other.name == *to);
            let requests = asks.map_or_else(Vec::new, |asks| plan(asks, s, nodes).transfers(ALL));
            (When::Answers { requests, delay: time(delay) }, None)
        }
        Arrivals::Poisson { load, capacity, start, until, count } => {
            let when = When::Poisson {
                load: *load,
                start: time(start),
                until: until.as_deref().map_or(end, time),
                count: count.unwrap_or(u64::MAX),
            };
            (when, capacity.as_deref().and_then(|text| units::parse_rate(text).ok()))
        }
    };
    Plan {
        when,
        pairs: workload.pairs.clone(),
        sizes: distribution(&workload.sizes),
        capacity: capacity.map_or_else(|| rates_out_of(&sources, s, nodes), |rate| rate.0 as f64),
        sources,
        destinations,
        sets,
        listed,
        end,
        stream: workload.stream.map_or_else(
            || streams::first_stream(&format!("workloads/{}", workload.name)),
            streams::given,
        ),
        seed: s.seed,
    }
}

fn distribution(sizes: &Sizes) -> Distribution {
    let bytes = |text: &String| units::parse_size(text).unwrap_or_default();
    match sizes {
        Sizes::WebSearch => Distribution::web_search(),
        Sizes::DataMining => Distribution::data_mining(),
        Sizes::Facebook => Distribution::facebook(),
        Sizes::Cdf { points } => Distribution::Cdf(points.clone()),
        Sizes::Constant { bytes: each } => Distribution::Listed(vec![bytes(each)]),
        Sizes::Uniform { min, max } => {
            Distribution::Uniform([bytes(min) as u32, bytes(max) as u32])
        }
        Sizes::Listed { bytes: list } => Distribution::Listed(list.iter().map(bytes).collect()),
    }
}

/// The nodes with one link, in the order of nodes.
fn hosts(s: &Scenario, nodes: &HashMap<&str, usize>) -> Vec<usize> {
    let mut links = vec![0; s.nodes.len()];
    for node in s.links.iter().flat_map(|link| &link.ends).filter_map(|end| nodes.get(end.as_str()))
    {
        links[*node] += 1;
    }
    (0..s.nodes.len()).filter(|&node| links[node] == 1).collect()
}

/// In bit/s, of all links of these nodes together, each node once.
fn rates_out_of(sources: &[usize], s: &Scenario, nodes: &HashMap<&str, usize>) -> f64 {
    let mut is_source = vec![false; s.nodes.len()];
    sources.iter().for_each(|&node| is_source[node] = true);
    let mut sum = 0.0;
    for link in &s.links {
        for (end, direction) in link.ends.iter().zip([&link.forward, &link.reverse]) {
            if nodes.get(end.as_str()).is_some_and(|&node| is_source[node]) {
                let rate = direction.rate.as_ref().unwrap_or(&link.rate);
                sum += units::parse_rate(rate).map_or(0.0, |rate| rate.0 as f64);
            }
        }
    }
    sum
}

/// What was asked for and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    pub load: Option<f64>,
    pub realised_load: Option<f64>,
    pub mean_bytes: f64,
}

impl Plan {
    pub fn offered(&self, transfers: &[Transfer]) -> Offered {
        let load = match self.when {
            When::Poisson { load, .. } => Some(load),
            When::Times(_) | When::After { .. } | When::Answers { .. } => None,
        };
        // Few digits: so that every reader of JSON reads the same number.
        let rounded = |value: f64, places: f64| (value * places).round() / places;
        Offered {
            load,
            realised_load: self.realised_load(transfers).map(|load| rounded(load, 1e6)),
            mean_bytes: rounded(self.sizes.mean(), 1e3),
        }
    }

    fn is_permutation(&self) -> bool {
        self.pairs == Pairs::Permutation
    }
}

#[cfg(test)]
mod tests;
