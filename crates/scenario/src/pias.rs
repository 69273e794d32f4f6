//! Checks of PIAS: code points that rise with the bytes of a flow (W. Bai et al., "Information-Agnostic
//! Flow Scheduling for Commodity Data Centers", NSDI 2015).

use ccperf_engine::base::units;
use ccperf_schema::lowered::Transport;
use ccperf_schema::written::{Application, Flow};

use super::check::{MAX_DSCP, Path, Report};

impl Report {
    pub(super) fn pias(&mut self, path: Path<'_>, thresholds: &mut [String], [dscp, tos]: [u8; 2]) {
        let mut before = 0;
        for (i, text) in thresholds.iter_mut().enumerate() {
            let path = format!("{path}.pias[{i}]");
            let Some(bytes) = self.size(&path, text) else { continue };
            if bytes == 0 {
                self.add(path, "0B is reached at once; raise dscp instead");
            } else if bytes <= before {
                self.add(path, format!("{text} is not above the threshold in front of it"));
            } else if u32::try_from(bytes).is_err() {
                self.add(path, format!("{text} is more than a transfer may have"));
            }
            before = before.max(bytes);
        }
        if !thresholds.is_empty() && tos > 0 {
            self.add(format!("{path}.pias"), "overwrites the type of service; leave tos out");
        }
        let highest = usize::from(dscp) + thresholds.len();
        if !thresholds.is_empty() && highest > usize::from(MAX_DSCP) {
            let message = format!("rises from {dscp} to {highest}, beyond {MAX_DSCP}");
            self.add(format!("{path}.pias"), message);
        }
    }

    /// Numbers of bytes start again after 4 GB.
    pub(super) fn demotes_what_ends(&mut self, path: Path<'_>, flow: &Flow) {
        if flow.pias.is_empty() {
            return;
        }
        let is_finite = match &flow.application {
            Application::Greedy { bytes, .. }
            | Application::Cbr { bytes, .. }
            | Application::OnOff { bytes, .. }
            | Application::Poisson { bytes, .. } => units::parse_size(bytes)
                .is_ok_and(|bytes| bytes > 0 && u32::try_from(bytes).is_ok()),
        };
        if !is_finite {
            let message = "is for transfers of at most 4 GB; give the application bytes";
            self.add(format!("{path}.pias"), message);
        }
        if flow.transport == Transport::Udp {
            self.add(format!("{path}.pias"), "is for TCP; leave it out");
        }
    }
}
