//! Connections of workloads, made when they begin.

use std::sync::Arc;

use super::connection::{self, Ends};
use crate::base::error::Error;
use crate::base::time::Time;
use crate::host::hosts::{Address, AnyEndpoint, Dependents, Maker, Transfers, Waiting};
use crate::host::tcp::Config;
use crate::host::user::UserCode;
use crate::lowered::{self, Lowered, Stack, Workload};

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
        workloads: scenario.workloads.iter().map(Sizes::new).collect(),
        seed: scenario.seed,
        user,
    };
    let mut transfers = Transfers::new(first, count, watched, Box::new(maker));
    if scenario.workloads.iter().any(|workload| !workload.after.is_empty()) {
        transfers.wait(dependents(&scenario.workloads, count));
    }
    Ok(Some(transfers))
}

/// Who waits for whom, through all workloads.
fn dependents(workloads: &[Workload], count: usize) -> Dependents {
    let mut all = vec![Waiting::default(); count];
    let mut first = 0;
    for workload in workloads {
        for (i, (after, &wait)) in workload.after.iter().zip(&workload.wait_ns).enumerate() {
            let number = first + i;
            all[number].missing = after.len() as u32;
            all[number].delay = Time(wait);
            for &other in after {
                all[first + other as usize].before.push(number as u32);
            }
        }
        first += workload.len();
    }
    Dependents::new(all)
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

impl OfStack {
    fn new(stack: &Stack, seed: u64, user: &dyn UserCode) -> Result<Self, Error> {
        let configs = connection::configs(&stack.socket, [stack.tos, stack.return_tos]);
        let made = OfStack { stack: stack.clone(), configs };
        // What can be made once can be made again.
        made.ends(seed, user).check()?;
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
    bytes: Vec<u64>,
}

impl Sizes {
    fn new(workload: &Workload) -> Self {
        let &Workload { stack, write_bytes, .. } = workload;
        Sizes { stack, write_bytes, bytes: workload.bytes.clone() }
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
        let source =
            lowered::Application::Greedy { bytes, write_bytes: workload.write_bytes, eager: false };
        let made = of.ends(self.seed, &*self.user).connect(address, &source);
        made.unwrap_or_else(|error| {
            crate::host::user::fail(&of.stack.congestion_control.kind, error.to_string())
        })
    }
}
