//! A flow of datagrams with its source.

use crate::application::Application;
use crate::error::Error;
use crate::hosts::Datagrams;
use crate::lowered::Flow;

/// `number`: the flow's, which its packets carry.
pub fn build(flow: &Flow, number: u32, seed: u64) -> Result<Datagrams, Error> {
    match Application::new(&flow.application, seed) {
        Application::Source(source) => Ok(Datagrams::new(number, flow.tos, *source, flow.is_heard)),
        Application::Greedy(_) => {
            Err(Error::Scenario(format!("flow {} sends greedily over UDP", flow.name)))
        }
    }
}
