//! A connection over RoCE.

use super::find;
use crate::base::attributes::Attributes;
use crate::base::error::Error;
use crate::base::time::Rate;
use crate::host::hosts::{Address, Roce};
use crate::host::rate_control;
use crate::lowered::{Application, Flow, Lowered};

pub fn build(flow: &Flow, address: Address, scenario: &Lowered) -> Result<Roce, Error> {
    let refused = |why: &str| Error::Scenario(format!("flow {}: {why}", flow.name));
    let Application::Greedy { bytes, write_bytes, .. } = flow.application else {
        return Err(refused("RoCE sends greedily only"));
    };
    let missing = || refused("no control of its rate");
    let algorithm = flow.congestion_control.as_ref().ok_or_else(missing)?;
    let spec = find(rate_control::SPECS, algorithm)?;
    let [link, side] = flow.path[0];
    let line = Rate(scenario.links[link].directions[side].rate_bps);
    let given = Attributes::new(spec, &algorithm.attributes);
    let control = rate_control::build(spec.ns3, &given, line).ok_or_else(missing)?;
    if bytes.div_ceil(write_bytes.into()) >= u64::from(u32::MAX) {
        return Err(refused("more packets than can be numbered"));
    }
    Ok(Roce::new(address, write_bytes, bytes, control))
}
