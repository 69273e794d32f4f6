//! A direction of a link, with its queue discipline and its device.

use std::slice::from_ref;

use ccperf_schema::lowered::{Algorithm, Direction};

use super::{find, refused};
use crate::base::attributes::Attributes;
use crate::base::error::Error;
use crate::base::time::{Rate, Time};
use crate::host::user::{Setup, UserCode, is_user_code};
use crate::net::network::{
    DelayVariation, Device, DeviceFifo, OtherDevice, Pausable, Port, Several, Single, Transmitter,
};
use crate::net::qdisc::{self, AnyQdisc, Pool, Scheduled};
use crate::packet::ingress::PRIORITIES;

/// What its disciplines are made with.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    pub seed: u64,
    pub user: &'a dyn UserCode,
    /// Of the switch that it is in.
    pub pool: &'a Pool,
}

/// `port`: its number; `can_pause`: its priorities.
pub fn build(
    direction: &Direction,
    port: u32,
    delay: Time,
    can_pause: bool,
    of: Surroundings<'_>,
) -> Result<Port, Error> {
    let Surroundings { seed, user, pool } = of;
    let hold_time = direction.queue_limits_hold_ns.map(Time);
    let mut transmitter = Transmitter::new(
        port,
        Rate(direction.rate_bps),
        delay,
        DelayVariation::new(direction, seed),
    );
    // Byte limits count what was sent at each wake.
    transmitter.is_plain = hold_time.is_some();
    let build =
        |algorithm: &Algorithm| build_qdisc(algorithm, direction.mtu_bytes, seed, user, pool);
    let queue = || DeviceFifo::new(direction.device_queue, direction.mtu_bytes);
    let device = if can_pause {
        OtherDevice::Pausable(pausable(direction, build)?).into()
    } else if direction.device_queues == 1 {
        let qdisc = direction.qdisc.as_deref().map(build).transpose()?;
        Device::Single(Single::new(qdisc, queue(), hold_time))
    } else {
        let root = direction.qdisc.as_deref();
        let is_mq = root.is_some_and(|root| root.kind == qdisc::MQ);
        let each = root.map_or(&[][..], |root| if is_mq { &root.children } else { from_ref(root) });
        let each = each.iter().map(build).collect::<Result<_, _>>()?;
        let queues = (0..direction.device_queues).map(|_| queue()).collect();
        OtherDevice::Several(Several::new(queues, direction.device_select, each, is_mq)).into()
    };
    Ok(Port::new(transmitter, device))
}

/// A device with a discipline for each priority, all alike.
fn pausable(
    direction: &Direction,
    build: impl Fn(&Algorithm) -> Result<AnyQdisc, Error>,
) -> Result<Pausable, Error> {
    let missing = || Error::Scenario("a device that can be paused has no discipline".to_owned());
    let root = direction.qdisc.as_deref().ok_or_else(missing)?;
    let of = |priority: usize| {
        // What they draw is not alike.
        Algorithm { stream: root.stream.wrapping_add(priority as u64), ..root.clone() }
    };
    let disciplines = (0..PRIORITIES).map(|priority| build(&of(priority)));
    let response = direction.pfc.as_ref().map_or(0, |pfc| pfc.response_ns);
    Ok(Pausable::new(disciplines.collect::<Result<_, _>>()?, Time(response)))
}

fn build_qdisc(
    algorithm: &Algorithm,
    mtu: u32,
    seed: u64,
    user: &dyn UserCode,
    pool: &Pool,
) -> Result<AnyQdisc, Error> {
    if is_user_code(&algorithm.kind) {
        let setup = Setup::new(algorithm, seed);
        if algorithm.children.is_empty() {
            let made = user.queue_disc(setup);
            return Ok(AnyQdisc::Dyn(made.map_err(|message| refused(algorithm, message))?));
        }
        let made = user.scheduler(setup).map_err(|message| refused(algorithm, message))?;
        let inside = algorithm.children.iter();
        let inside = inside.map(|child| build_qdisc(child, mtu, seed, user, pool));
        let classes = inside.collect::<Result<Vec<_>, _>>()?;
        return Ok(AnyQdisc::Dyn(Box::new(Scheduled::new(classes, made))));
    }
    let spec = find(qdisc::SPECS, algorithm)?;
    let attributes = Attributes::new(spec, &algorithm.attributes);
    let children = algorithm.children.iter().map(|child| build_qdisc(child, mtu, seed, user, pool));
    let children = children.collect::<Result<Vec<_>, _>>()?;
    let stream = algorithm.stream;
    let pool = Pool::clone(pool);
    let mut cx = qdisc::BuildContext { attributes, mtu, stream, run: seed, children, pool };
    let unknown = || Error::Scenario(format!("{} cannot be used here", algorithm.kind));
    qdisc::build(&algorithm.kind, &mut cx).ok_or_else(unknown)
}
