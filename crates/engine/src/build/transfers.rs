//! Connections of workloads, made when they begin.

use std::sync::Arc;

use super::connection;
use crate::application::Application;
use crate::error::Error;
use crate::hosts::{Address, AnyEndpoint, Connection, Maker, Transfers};
use crate::lowered::{self, Lowered, Stack, Workload};
use crate::tcp::Config;
use crate::user::UserCode;

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
    let stacks = scenario.stacks.iter().map(|stack| Ends::new(stack, scenario.seed, &*user));
    let maker = Workloads {
        stacks: stacks.collect::<Result<_, _>>()?,
        workloads: scenario.workloads.iter().map(Sizes::new).collect(),
        seed: scenario.seed,
        user,
    };
    Ok(Some(Transfers::new(first, count, watched, Box::new(maker))))
}

#[derive(Debug)]
struct Workloads {
    stacks: Vec<Ends>,
    workloads: Vec<Sizes>,
    seed: u64,
    user: Box<dyn UserCode>,
}

/// A stack with the settings of both ends.
#[derive(Debug)]
struct Ends {
    stack: Stack,
    /// Of the sender and the receiver.
    configs: [Arc<Config>; 2],
}

impl Ends {
    fn new(stack: &Stack, seed: u64, user: &dyn UserCode) -> Result<Self, Error> {
        let configs = connection::configs(&stack.socket, [stack.tos, stack.return_tos]);
        // What can be made once can be made again.
        connection::build_socket(stack.into(), Arc::clone(&configs[0]), seed, user)?;
        Ok(Ends { stack: stack.clone(), configs })
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
        let Ends { stack, configs } = &self.stacks[workload.stack];
        let socket = |config: &Arc<Config>| {
            let made =
                connection::build_socket(stack.into(), Arc::clone(config), self.seed, &*self.user);
            made.unwrap_or_else(|error| {
                crate::user::fail(&stack.congestion_control.kind, error.to_string())
            })
        };
        // As for flows: the receiver's algorithm is made first.
        let receiver = socket(&configs[1]);
        let sender = socket(&configs[0]);
        let bytes = workload.bytes[number];
        let source =
            lowered::Application::Greedy { bytes, write_bytes: workload.write_bytes, eager: false };
        Connection::new(address, sender, receiver, Application::new(&source, self.seed)).into()
    }
}
