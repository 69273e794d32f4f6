//! Levels of strict priority between classes, for the schedulers that share a link by DSCP.

use super::discipline::Contradiction;
use super::{BuildContext, Classes, QdiscContext};
use crate::base::attributes::{Attributes, Kind, Param, param};
use crate::packet::PacketId;

pub const PRIORITIES: Param = param!["Priorities", "priorities"; Kind::Numbers { min: 0, max: 255 } => "0";
    "The priority of each class, or one for all; the classes with the largest go first."];

/// As many priorities as there are numbers in `classes`, or one.
pub fn check(a: &Attributes<'_>, classes: &str) -> Result<(), Contradiction> {
    let (count, priorities) = (a.numbers(classes).len(), a.numbers(PRIORITIES.ns3).len());
    if priorities == 1 || priorities == count {
        return Ok(());
    }
    let problem = format!("are {priorities} for {count} {classes}; give one for all, or one each");
    Err((PRIORITIES.ns3, problem))
}

/// The priority of each of `count` classes.
pub fn of_classes(cx: &BuildContext<'_>, count: usize) -> Vec<u32> {
    let given = cx.attributes.numbers(PRIORITIES.ns3);
    given.into_iter().cycle().take(count).collect()
}

/// The class of a packet: its DSCP, or the last class if that is none of theirs.
pub fn classify(classes: &Classes, id: PacketId, cx: &QdiscContext<'_>) -> usize {
    usize::from(cx.dscp(id)).min(classes.len() - 1)
}
