//! A flow over NDP.

use super::find;
use crate::base::attributes::Attributes;
use crate::base::error::Error;
use crate::host::hosts::{Address, Ndp};
use crate::host::receiver_driven::{self, ndp::Settings};
use crate::lowered::{Algorithm, Application, Flow};

pub fn build(flow: &Flow, address: Address) -> Result<Ndp, Error> {
    let refused = |why: &str| Error::Scenario(format!("flow {}: {why}", flow.name));
    let Application::Greedy { bytes, write_bytes, .. } = flow.application else {
        return Err(refused("NDP sends greedily only"));
    };
    let missing = || refused("no receiver-driven transport");
    let algorithm = flow.congestion_control.as_ref().ok_or_else(missing)?;
    let settings = settings(algorithm)?;
    if bytes.div_ceil(write_bytes.into()) >= u64::from(u32::MAX) {
        return Err(refused("more packets than can be numbered"));
    }
    Ok(Ndp::new(address, write_bytes, bytes, settings))
}

/// What a flow or a stack says of it.
pub fn settings(algorithm: &Algorithm) -> Result<Settings, Error> {
    let spec = find(receiver_driven::SPECS, algorithm)?;
    Ok(Settings::new(&Attributes::new(spec, &algorithm.attributes)))
}
