//! How large packets may be.

use ccperf_engine::net::routing::balance::STATIC;
use ccperf_schema::written::{ChangesOf, Link, Scenario};

/// What IP's header can say.
const LARGEST_PACKET: u32 = u16::MAX as u32;

/// How large packets may be.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// In flight.
    pub mtu: u32,
    /// Why larger ones are not cut; `None`: they are.
    pub uncut: Option<&'static str>,
}

/// Why packets cannot be cut in a scenario, if they cannot.
pub(super) fn why_not_cut(s: &Scenario) -> Option<&'static str> {
    let follows = |of: &ChangesOf| !matches!(of, ChangesOf::Every(false));
    [
        (s.routing.kind != STATIC.ns3, "where each packet's path is chosen"),
        (s.links.iter().any(Link::pauses), "where links pause"),
        (s.recording.flow_monitor, "with a flow monitor"),
        (s.recording.balancing || follows(&s.recording.paths), "where paths are recorded"),
    ]
    .into_iter()
    .find_map(|(is_so, why)| is_so.then_some(why))
}

impl Room {
    /// The most that fits beside these headers, and why, if more is asked for.
    pub(super) fn refuses(self, bytes: u64, headers: u32) -> Option<(u32, String)> {
        let Room { mtu, uncut } = self;
        let (limit, why) = match uncut {
            Some(why) => (mtu, format!("the path's MTU of {mtu}B, and no packet is cut {why}")),
            None => (LARGEST_PACKET, format!("the largest packet of IP, {LARGEST_PACKET}B")),
        };
        let most = limit - headers;
        (bytes > u64::from(most)).then_some((most, why))
    }
}
