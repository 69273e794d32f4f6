//! The queues in front of bottlenecks.

use ccperf_engine::base::units;
use ccperf_schema::written::{Algorithm, Direction, Scenario};

use super::super::names::{Registry, find_param};
use super::path::{Paths, Port, no_flow};

/// How ns-3's disciplines call their limit.
const LIMIT: &str = "MaxSize";

pub fn discipline(scenario: &Scenario, paths: &Paths) -> Option<String> {
    let direction = side(scenario, paths.bottlenecks().next()?);
    direction.qdisc.as_ref().map(|qdisc| qdisc.kind.clone())
}

pub fn limit(scenario: &Scenario, paths: &Paths) -> Option<String> {
    let direction = side(scenario, paths.bottlenecks().next()?);
    let Some(qdisc) = &direction.qdisc else {
        return Some(direction.device_queue.clone());
    };
    let given = qdisc.attributes.get(LIMIT);
    given.cloned().or_else(|| {
        let spec = Registry::Qdisc.find(&qdisc.kind).ok()?;
        find_param(spec, LIMIT).ok().map(|param| param.default.to_owned())
    })
}

pub fn set_discipline(scenario: &mut Scenario, paths: &Paths, kind: &str) -> Result<(), String> {
    let spec = Registry::Qdisc.find(kind)?;
    let takes_limit = find_param(spec, LIMIT).is_ok();
    each(scenario, paths, |direction| {
        let limit = match &direction.qdisc {
            Some(qdisc) if qdisc.kind == spec.ns3 => return Ok(()),
            Some(qdisc) => qdisc.attributes.get(LIMIT).cloned(),
            // What waited in the device waits in the discipline now.
            None => Some(std::mem::replace(&mut direction.device_queue, "1p".to_owned())),
        };
        let mut qdisc = Algorithm::named(spec.ns3);
        if let Some(limit) = limit {
            if !takes_limit {
                return Err(format!(
                    "{} has no limit of its own, and the buffer has one, {limit}; take another",
                    spec.ns3
                ));
            }
            qdisc.attributes.insert(LIMIT.to_owned(), limit);
        }
        direction.qdisc = Some(qdisc);
        Ok(())
    })
}

pub fn set_limit(scenario: &mut Scenario, paths: &Paths, limit: &str) -> Result<(), String> {
    units::parse_queue_size(limit)?;
    each(scenario, paths, |direction| {
        match &mut direction.qdisc {
            None => direction.device_queue = limit.to_owned(),
            Some(qdisc) => {
                let spec = Registry::Qdisc.find(&qdisc.kind)?;
                if find_param(spec, LIMIT).is_err() {
                    return Err(format!("{} has no limit of its own", spec.ns3));
                }
                qdisc.attributes.insert(LIMIT.to_owned(), limit.to_owned());
            }
        }
        Ok(())
    })
}

fn each(
    scenario: &mut Scenario,
    paths: &Paths,
    mut change: impl FnMut(&mut Direction) -> Result<(), String>,
) -> Result<(), String> {
    if paths.bottlenecks().next().is_none() {
        return Err(no_flow());
    }
    for [link, side] in paths.bottlenecks() {
        let link = &mut scenario.links[link];
        change(if side == 0 { &mut link.forward } else { &mut link.reverse })?;
    }
    Ok(())
}

fn side(scenario: &Scenario, [link, side]: Port) -> &Direction {
    let link = &scenario.links[link];
    if side == 0 { &link.forward } else { &link.reverse }
}
