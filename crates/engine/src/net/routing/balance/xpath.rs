//! Explicit paths: the source names the path of each flow, and switches obey (S. Hu et al., "Explicit path control
//! in commodity data centers: design and applications", USENIX NSDI 2015).
//!
//! Flow n (there and back, in the scenario's order) takes path `Paths[n mod length] mod paths`, in the numbers of
//! [`super::sender`].  (XPath's compression of path identifiers into few table entries has no effect on packets.)

use super::HostContext;
use super::sender::{Sender, Sending};
use crate::base::attributes::{Kind, Spec, param};

pub const SPEC: Spec = Spec {
    ns3: "xpath",
    linux: &["ExplicitPaths"],
    is_in_linux: false,
    doc: "All shortest paths by hops; each flow takes the one that its source names.",
    source: "S. Hu et al., USENIX NSDI 2015",
    departures: &[],
    params: &[param![PATHS; Kind::Numbers { min: 0, max: 65_535 } => "0 1 2 3";
            "The path of the first flow, the second, ...; then from the front again."]],
};

const PATHS: &str = "Paths";

#[derive(Debug)]
pub struct XPath {
    paths: Vec<u32>,
}

impl XPath {
    pub fn new(cx: &HostContext<'_>) -> Self {
        XPath { paths: cx.attributes.numbers(PATHS) }
    }
}

impl Sender for XPath {
    fn choose(&mut self, sending: &Sending<'_>) -> u32 {
        self.paths[sending.packet.flow as usize % self.paths.len()] % sending.paths.count()
    }
}

#[cfg(test)]
mod tests {
    use crate::net::routing::balance::host_bench::HostBench;

    #[test]
    fn flows_take_the_paths_that_are_named() {
        let mut bench = HostBench::new("xpath", &[("Paths", "3 1 9")], 4);
        let paths: Vec<_> = (0..6).map(|flow| bench.send(flow, 100)).collect();
        assert_eq!(paths, [3, 1, 1, 3, 1, 1]);
        assert!((0..6).all(|flow| bench.send(flow, 100) == paths[flow as usize]));
    }
}
