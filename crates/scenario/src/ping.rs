//! Checks of pings.

use std::collections::{BTreeSet, HashMap};

use ccperf_engine::base::time::Time;
use ccperf_engine::packet::{ICMP_HEADER, IP_HEADER};
use ccperf_schema::written::Ping;

use super::check::{Report, Routes, Shortest};

/// ns-3's `Ping` writes a signature into its packets.
const LEAST: u64 = 16;

impl Report {
    pub(super) fn pings(
        &mut self,
        pings: &mut [Ping],
        nodes: &HashMap<String, usize>,
        mut routes: Option<&mut Routes<'_>>,
        end: Option<Time>,
    ) {
        let mut pairs = BTreeSet::new();
        for (i, ping) in pings.iter_mut().enumerate() {
            let path = format!("pings[{i}]");
            self.active_times(&path, &mut ping.start, ping.stop.as_mut(), end, Shortest::Later);
            let interval = self.time(&format_args!("{path}.interval"), &mut ping.interval);
            if interval == Some(Time::ZERO) {
                self.add(format!("{path}.interval"), "0s leaves no time between; write 1s");
            }
            let size_path = format!("{path}.size");
            let size = self.size(&size_path, &mut ping.size);
            let ends = [&ping.source, &ping.destination];
            // What goes there comes back, perhaps over links that take less.
            let there = self.route(&path, ends, nodes, routes.as_deref_mut());
            let mtu = there.and_then(|there| {
                let back = self.route(&path, [ends[1], ends[0]], nodes, routes.as_deref_mut())?;
                Some(there.min(back))
            });
            let room = u64::from(mtu.unwrap_or(u32::from(u16::MAX)) - IP_HEADER - ICMP_HEADER);
            if size.is_some_and(|size| !(LEAST..=room).contains(&size)) {
                let size = &ping.size;
                self.add(size_path, format!("{size} is not between {LEAST}B and {room}B"));
            }
            if !pairs.insert([ping.source.clone(), ping.destination.clone()]) {
                self.add(path, "there is a ping between these nodes already; leave one");
            }
        }
    }
}
