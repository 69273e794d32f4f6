//! A connection over RoCE, and what its law knows of its path.

use ccperf_schema::lowered::{Application, Flow, Lowered};

use super::{find, path};
use crate::base::attributes::Attributes;
use crate::base::error::Error;
use crate::host::hosts::{ACK_HEADER, Address, Roce};
use crate::host::rate_control;
use crate::packet::PPP_HEADER;

pub fn build(flow: &Flow, address: Address, scenario: &Lowered) -> Result<Roce, Error> {
    let refused = |why: &str| Error::Scenario(format!("flow {}: {why}", flow.name));
    let Application::Greedy { bytes, write_bytes, .. } = flow.application else {
        return Err(refused("RoCE sends greedily only"));
    };
    let missing = || refused("no control of its rate");
    let algorithm = flow.congestion_control.as_ref().ok_or_else(missing)?;
    let spec = find(rate_control::SPECS, algorithm)?;
    let headers = rate_control::headers(spec.ns3);
    let sizes = [write_bytes, ACK_HEADER].map(|bytes| bytes + headers + PPP_HEADER);
    let hops = [&flow.path[..], &flow.return_path];
    let path = path::of(hops, sizes, flow.added_delay_ns, &scenario.links);
    let given = Attributes::new(spec, &algorithm.attributes);
    let control = rate_control::build(spec.ns3, &given, &path).ok_or_else(missing)?;
    if bytes.div_ceil(write_bytes.into()) >= u64::from(u32::MAX) {
        return Err(refused("more packets than can be numbered"));
    }
    Ok(Roce::new(address, [write_bytes, headers], bytes, control))
}
