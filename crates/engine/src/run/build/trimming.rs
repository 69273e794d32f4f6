//! A flow whose packets switches may cut.

use ccperf_schema::lowered::{Algorithm, Application, Flow, Link, Lowered};

use super::{find, path};
use crate::base::attributes::Attributes;
use crate::base::error::Error;
use crate::host::hosts::{Address, Trimming};
use crate::host::path::Path;
use crate::host::trimming::{self, Control};
use crate::packet::{PPP_HEADER, TRIMMING_HEADERS};

pub fn build(flow: &Flow, address: Address, scenario: &Lowered) -> Result<Trimming, Error> {
    let refused = |why: &str| Error::Scenario(format!("flow {}: {why}", flow.name));
    let Application::Greedy { bytes, write_bytes, .. } = flow.application else {
        return Err(refused("packets that switches cut are sent greedily only"));
    };
    let missing = || refused("nothing lets it send");
    let algorithm = flow.congestion_control.as_ref().ok_or_else(missing)?;
    let hops = [&flow.path[..], &flow.return_path];
    let path = path_of(hops, write_bytes, flow.added_delay_ns, &scenario.links);
    if bytes.div_ceil(write_bytes.into()) >= u64::from(u32::MAX) {
        return Err(refused("more packets than can be numbered"));
    }
    Ok(Trimming::new(address, write_bytes, bytes, control(algorithm, &path)?))
}

/// Of full packets with so much payload, which are answered by headers.
pub fn path_of(
    hops: [&[[usize; 2]]; 2],
    payload: u32,
    added_delay_ns: u64,
    links: &[Link],
) -> Path {
    let sizes = [payload, 0].map(|bytes| bytes + TRIMMING_HEADERS + PPP_HEADER);
    path::of(hops, sizes, added_delay_ns, links)
}

/// What a flow or a stack says of it.
pub fn control(algorithm: &Algorithm, path: &Path) -> Result<Box<dyn Control>, Error> {
    let spec = find(trimming::SPECS, algorithm)?;
    let given = Attributes::new(spec, &algorithm.attributes);
    trimming::build(spec.ns3, &given, path)
        .ok_or_else(|| Error::Scenario(format!("nobody builds {}", spec.ns3)))
}
