//! Connections of workloads, made when they begin.

use std::collections::HashMap;
use std::sync::Arc;

use ccperf_schema::lowered::{Lowered, Stack, Transport, Workload};

use super::connection::{self, Ends};
use super::trimming;
use crate::base::error::Error;
use crate::base::time::{Rate, Time};
use crate::host::application::{Application, Greedy, Source};
use crate::host::hosts::{
    Address, AnyEndpoint, Dependents, Maker, Member, Persistent, Transfers, Trimming, Waiting,
};
use crate::host::path::Path;
use crate::host::tcp::Config;
use crate::host::user::UserCode;

/// The transfers of all workloads; none if there are no workloads.
///
/// # Errors
/// What a stack names and this engine does not have.
pub fn build(scenario: &Lowered, user: Box<dyn UserCode>) -> Result<Option<Transfers>, Error> {
    if scenario.workloads.is_empty() {
        return Ok(None);
    }
    let first = scenario.flows.len() as u32;
    let count = scenario.flow_count() - scenario.flows.len();
    let watched = scenario.recording.flows.iter().chain(&scenario.recording.changes).copied();
    let stacks = scenario.stacks.iter().map(|stack| OfStack::new(stack, scenario.seed, &*user));
    let maker = Workloads {
        stacks: stacks.collect::<Result<_, _>>()?,
        workloads: scenario.workloads.iter().map(|w| Sizes::new(w, scenario)).collect(),
        seed: scenario.seed,
        user,
    };
    let mut transfers = Transfers::new(first, count, watched, Box::new(maker));
    let is_related =
        |workload: &Workload| !workload.wait_ns.is_empty() || workload.connections.is_some();
    if scenario.workloads.iter().any(is_related) {
        transfers.relate(dependents(scenario, count), persistent(scenario));
    }
    Ok(Some(transfers))
}

/// Who waits for whom, through all workloads.
fn dependents(scenario: &Lowered, count: usize) -> Dependents {
    let mut all = vec![Waiting::default(); count];
    let firsts = scenario.first_transfers().map(|flow| flow - scenario.flows.len());
    let firsts = firsts.collect::<Vec<_>>();
    for (workload, &first) in scenario.workloads.iter().zip(&firsts) {
        if let Some(requests) = workload.answers {
            for (i, &wait) in workload.wait_ns.iter().enumerate() {
                all[first + i].missing = 1;
                all[first + i].delay = Time(wait);
                all[firsts[requests] + i].before.push((first + i) as u32);
            }
            continue;
        }
        for (i, (after, &wait)) in workload.after.iter().zip(&workload.wait_ns).enumerate() {
            let number = first + i;
            all[number].missing = after.len() as u32;
            all[number].delay = Time(wait);
            for &other in after {
                all[first + other as usize].before.push(number as u32);
            }
        }
    }
    Dependents::new(all)
}

/// Whose connections carry one transfer after another.
fn persistent(scenario: &Lowered) -> Persistent {
    let (mut members, mut most) = (Vec::new(), Vec::new());
    for workload in &scenario.workloads {
        let Some(connections) = workload.connections else {
            members.extend(vec![None; workload.len()]);
            continue;
        };
        let mut pools = HashMap::new();
        for (i, &pair) in workload.pair.iter().enumerate() {
            let pool = *pools.entry(pair).or_insert_with(|| {
                most.push(connections);
                most.len() as u32 - 1
            });
            let [link, direction] = scenario.pairs[pair as usize].path[0];
            members.push(Some(Member {
                pool,
                bytes: workload.bytes[i],
                port: (2 * link + direction) as u32,
                added_delay: Time(workload.added_delay_ns.get(i).copied().unwrap_or(0)),
            }));
        }
    }
    Persistent::new(members, &most)
}

#[derive(Debug)]
struct Workloads {
    stacks: Vec<OfStack>,
    workloads: Vec<Sizes>,
    seed: u64,
    user: Box<dyn UserCode>,
}

/// A stack with the settings of both ends.
#[derive(Debug)]
struct OfStack {
    stack: Stack,
    /// Of the sender and the receiver.
    configs: [Arc<Config>; 2],
}

/// A path to try a stack on.
const ANY: Path = Path { line: Rate(1_000_000_000), rtt: Time(1), switches: 0, packet: 1 };

impl OfStack {
    fn new(stack: &Stack, seed: u64, user: &dyn UserCode) -> Result<Self, Error> {
        let configs = connection::configs(&stack.socket, [stack.tos, stack.return_tos]);
        let made = OfStack { stack: stack.clone(), configs };
        // What can be made once can be made again.
        match stack.transport {
            Transport::Trimming => drop(trimming::control(&stack.congestion_control, &ANY)?),
            _ => made.ends(seed, user).check()?,
        }
        Ok(made)
    }

    fn ends<'a>(&'a self, seed: u64, user: &'a dyn UserCode) -> Ends<'a> {
        Ends { of: (&self.stack).into(), configs: &self.configs, seed, user }
    }
}

/// What the transfers of a workload differ in, for their applications.
#[derive(Debug)]
struct Sizes {
    stack: usize,
    write_bytes: u32,
    /// Between two writes.
    gap: Option<Time>,
    /// Their connections stay open.
    lasts: bool,
    bytes: Vec<u64>,
    /// Of each transfer, if switches may cut its packets.
    paths: Vec<Path>,
}

impl Sizes {
    fn new(workload: &Workload, scenario: &Lowered) -> Self {
        let &Workload { stack, write_bytes, .. } = workload;
        let lasts = workload.connections.is_some();
        let gap = workload.gap_ns.map(Time);
        let is_cut = scenario.stacks[stack].transport == Transport::Trimming;
        let paths = workload.pair.iter().enumerate().filter(|_| is_cut).map(|(i, &pair)| {
            let pair = &scenario.pairs[pair as usize];
            let hops = [&pair.path[..], &pair.return_path];
            let added = workload.added_delay_ns.get(i).copied().unwrap_or(0);
            trimming::path_of(hops, write_bytes, added, &scenario.links)
        });
        let paths = paths.collect();
        Sizes { stack, write_bytes, gap, lasts, bytes: workload.bytes.clone(), paths }
    }
}

impl Maker for Workloads {
    fn make(&self, number: u32, address: Address) -> AnyEndpoint {
        let mut number = number as usize;
        let workload = self.workloads.iter().find(|workload| {
            let is_in = number < workload.bytes.len();
            if !is_in {
                number -= workload.bytes.len();
            }
            is_in
        });
        let workload = workload.expect("as many transfers as were announced");
        let of = &self.stacks[workload.stack];
        let bytes = workload.bytes[number];
        if let Some(path) = workload.paths.get(number) {
            let control = trimming::control(&of.stack.congestion_control, path);
            let control = control.expect("it was made before");
            return AnyEndpoint::new(Trimming::new(address, workload.write_bytes, bytes, control));
        }
        let source = if let Some(gap) = workload.gap {
            Application::Source(Box::new(Source::regular(bytes, workload.write_bytes, gap)))
        } else {
            let mut greedy = Greedy::new(bytes, workload.write_bytes, false);
            greedy.lasts = workload.lasts;
            Application::Greedy(greedy)
        };
        let made = of.ends(self.seed, &*self.user).connect(address, source);
        made.unwrap_or_else(|error| {
            crate::host::user::fail(&of.stack.congestion_control.kind, error.to_string())
        })
    }
}
