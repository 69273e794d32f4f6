//! A direction of a link, with its queue discipline and its device.

use super::{find, refused};
use crate::attributes::Attributes;
use crate::error::Error;
use crate::lowered::{Algorithm, Direction};
use crate::network::{Port, PortSetup, TransmitQueues};
use crate::qdisc::{self, AnyQdisc};
use crate::time::{Rate, Time};
use crate::user::{Setup, UserCode, is_user_code};

pub fn build(
    direction: &Direction,
    delay: Time,
    seed: u64,
    user: &dyn UserCode,
    loss_stream: usize,
) -> Result<Port, Error> {
    let build = |algorithm: &Algorithm| build_qdisc(algorithm, direction.mtu_bytes, seed, user);
    let mut qdisc = None;
    let mut queues = None;
    if direction.device_queues == 1 {
        qdisc = direction.qdisc.as_ref().map(build).transpose()?;
    } else {
        let root = direction.qdisc.as_slice();
        let is_mq = direction.qdisc.as_ref().is_some_and(|root| root.kind == qdisc::MQ);
        let each = if is_mq { &root[0].children[..] } else { root };
        let each = each.iter().map(build).collect::<Result<Vec<_>, _>>()?;
        let (count, size) = (usize::from(direction.device_queues), direction.device_queue);
        queues = Some(TransmitQueues::new(count, size, direction.device_select, each, is_mq));
    }
    Ok(Port::new(PortSetup {
        rate: Rate(direction.rate_bps),
        delay,
        mtu: direction.mtu_bytes,
        qdisc,
        queues,
        queue_limit: direction.device_queue,
        byte_limits: direction.queue_limits_hold_ns.map(Time),
        loss: direction.loss,
        loss_stream,
        drops: direction.drops.clone(),
    }))
}

fn build_qdisc(
    algorithm: &Algorithm,
    mtu: u32,
    seed: u64,
    user: &dyn UserCode,
) -> Result<AnyQdisc, Error> {
    if is_user_code(&algorithm.kind) {
        let made = user.queue_disc(Setup::new(algorithm, seed));
        return Ok(AnyQdisc::Dyn(made.map_err(|message| refused(algorithm, message))?));
    }
    let spec = find(qdisc::SPECS, algorithm)?;
    let attributes = Attributes::new(spec, &algorithm.attributes);
    let children = algorithm.children.iter().map(|child| build_qdisc(child, mtu, seed, user));
    let children = children.collect::<Result<Vec<_>, _>>()?;
    let stream = algorithm.stream;
    let mut cx = qdisc::BuildContext { attributes, mtu, stream, run: seed, children };
    let unknown = || Error::Scenario(format!("{} cannot be used here", algorithm.kind));
    qdisc::build(&algorithm.kind, &mut cx).ok_or_else(unknown)
}
