//! Which ports can pause, and how switches have them do so.

use ccperf_schema::lowered::{Direction, Flow, Link, Lowered, Pfc, Transport};

use crate::base::time::Rate;
use crate::host::rate_control::reads_telemetry;
use crate::net::qdisc::is_whole_queue;
use crate::packet::PPP_HEADER;
use crate::packet::ingress::{Rules, Threshold};

/// By port: it is one whose priorities can be paused, since its link pauses, or its switch has to know what leaves,
/// or senders over RoCE or of packets that may be cut take turns at it, or packets collect what switches say of them, or its discipline has all
/// the queues there are.
pub fn pausable(scenario: &Lowered) -> Vec<bool> {
    let mut holds_back = vec![false; scenario.nodes.len()];
    for link in &scenario.links {
        for (direction, switch) in arriving(link) {
            holds_back[switch] |= direction.pfc.is_some();
        }
    }
    let ports = scenario.links.iter().flat_map(|link| {
        let pauses = link.directions.iter().any(|direction| direction.pfc.is_some());
        link.ends.map(|end| pauses || holds_back[end])
    });
    let mut ports: Vec<_> = ports.collect();
    if scenario.flows.iter().any(collects) {
        ports.fill(true);
    }
    for flow in scenario.flows.iter().filter(|flow| flow.transport.takes_turns()) {
        let [link, side] = flow.path[0];
        ports[2 * link + side] = true;
    }
    for workload in &scenario.workloads {
        if scenario.stacks[workload.stack].transport.takes_turns() {
            for &pair in &workload.pair {
                let [link, side] = scenario.pairs[pair as usize].path[0];
                ports[2 * link + side] = true;
            }
        }
    }
    let directions = scenario.links.iter().flat_map(|link| &link.directions);
    for (port, direction) in ports.iter_mut().zip(directions) {
        *port |= direction.qdisc.as_ref().is_some_and(|root| is_whole_queue(&root.kind));
    }
    ports
}

/// Whether switches write into packets of this flow.
fn collects(flow: &Flow) -> bool {
    let law = flow.congestion_control.as_ref();
    flow.transport == Transport::Roce && law.is_some_and(|law| reads_telemetry(&law.kind))
}

/// By port, of what comes over its wire; none if no link pauses.
pub fn rules(scenario: &Lowered) -> Option<Vec<Option<Rules>>> {
    let directions = scenario.links.iter().flat_map(arriving);
    let rules = directions
        .map(|(direction, switch)| Some(of(direction, direction.pfc.as_deref()?, switch)))
        .collect::<Vec<_>>();
    rules.iter().any(Option::is_some).then_some(rules)
}

/// Both directions of a link, each with the node that it leads to.
fn arriving(link: &Link) -> impl Iterator<Item = (&Direction, usize)> {
    let [first, second] = link.ends;
    link.directions.iter().zip([second, first])
}

fn of(direction: &Direction, pfc: &Pfc, switch: usize) -> Rules {
    Rules {
        switch: switch as u32,
        priorities: pfc.priorities.iter().fold(0, |bits, &priority| bits | 1 << priority),
        threshold: match pfc.alpha.zip(pfc.buffer_bytes) {
            Some((alpha, buffer)) => Threshold::Dynamic { alpha, buffer },
            None => Threshold::Static(pfc.xoff_bytes.unwrap_or(0)),
        },
        hysteresis: pfc.hysteresis_bytes,
        headroom: pfc.headroom_bytes,
        frame: u64::from(direction.mtu_bytes + PPP_HEADER),
        quanta: pfc.quanta,
        rate: Rate(direction.rate_bps),
    }
}
