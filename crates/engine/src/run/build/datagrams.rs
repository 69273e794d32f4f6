//! A flow of datagrams with its source.

use ccperf_schema::lowered::Flow;

use crate::base::error::Error;
use crate::host::application::Application;
use crate::host::hosts::{Address, Datagrams};

pub fn build(flow: &Flow, address: Address, seed: u64) -> Result<Datagrams, Error> {
    match Application::new(&flow.application, seed) {
        Application::Source(source) => {
            Ok(Datagrams::new(address, flow.tos, *source, flow.is_heard))
        }
        Application::Greedy(_) => {
            Err(Error::Scenario(format!("flow {} sends greedily over UDP", flow.name)))
        }
    }
}
