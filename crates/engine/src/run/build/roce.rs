//! A connection over RoCE, and what its law knows of its path.

use super::find;
use crate::base::attributes::Attributes;
use crate::base::error::Error;
use crate::base::time::{Rate, Time};
use crate::host::hosts::{ACK_HEADER, Address, Roce};
use crate::host::rate_control::{self, Path};
use crate::lowered::{Application, Flow, Lowered};
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
    let path = path(flow, write_bytes + headers + PPP_HEADER, headers, scenario);
    let given = Attributes::new(spec, &algorithm.attributes);
    let control = rate_control::build(spec.ns3, &given, &path).ok_or_else(missing)?;
    if bytes.div_ceil(write_bytes.into()) >= u64::from(u32::MAX) {
        return Err(refused("more packets than can be numbered"));
    }
    Ok(Roce::new(address, [write_bytes, headers], bytes, control))
}

/// Of a flow with full packets of so many bytes on the wire.
fn path(flow: &Flow, packet: u32, headers: u32, scenario: &Lowered) -> Path {
    let rate_of = |&[link, side]: &[usize; 2]| Rate(scenario.links[link].directions[side].rate_bps);
    let one_way = |path: &[[usize; 2]], bytes: u32| -> u64 {
        let hop =
            |hop: [usize; 2]| scenario.links[hop[0]].delay_ns + rate_of(&hop).tx_time(bytes).0;
        path.iter().copied().map(hop).sum()
    };
    let ack = headers + ACK_HEADER + PPP_HEADER;
    let there = one_way(&flow.path, packet) + flow.added_delay_ns;
    Path {
        line: rate_of(&flow.path[0]),
        rtt: Time(there + one_way(&flow.return_path, ack)),
        switches: flow.path.len() as u32 - 1,
        packet,
    }
}
