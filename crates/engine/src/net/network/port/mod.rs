//! A port is one direction of a link with everything in front of it: queue discipline, device queue,
//! transmitter, and what is lost on the way.

mod byte_limits;
mod delay_variation;
mod device_fifo;
mod dynamic_queue_limits;
mod faults;
mod feeder;
mod flow_control;
mod gilbert_elliott;
mod loss;
mod one_place;
mod pausable;
mod several;
mod single;
mod transmitter;

use super::common::Common;
use crate::base::time::Time;
use crate::net::qdisc::{AnyQdisc, Counts, Qdisc, QdiscContext, QdiscState};
use crate::net::routing::balance::Ports;
use crate::packet::PacketId;

pub use delay_variation::DelayVariation;
pub use device_fifo::DeviceFifo;
pub use faults::Fault;
pub use loss::Loss;
pub use pausable::Pausable;
pub use several::Several;
pub use single::Single;
pub use transmitter::Transmitter;

/// One direction of a link.
///
/// In a large network the way to its memory is what a port costs.  So the order of its fields is given, by
/// how often they are needed, and that of the parts that are in line as well: a packet that finds all
/// idle needs two cache lines of the transmitter and the flow control, and three of the queues and the
/// discipline.  What an arriving packet needs of the wire is not here: see `super::Wire`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Port {
    pub transmitter: Transmitter,
    device: Device,
}

/// The queues in front of a transmitter, with the disciplines that feed them.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "the large one is nearly all there are")]
pub enum Device {
    /// One queue, as most devices have; in line, for it is on the way of every packet.
    Single(Single),
    Other(Box<OtherDevice>),
}

/// The others, in a box of their own: to tell two kinds apart costs a hop less than three.
#[derive(Debug)]
pub enum OtherDevice {
    /// Several queues, each with flow control of its own.
    Several(Several),
    /// One whose priorities can be paused.
    Pausable(Pausable),
}

/// The same of whichever it is.
macro_rules! of_either {
    ($other:expr, $device:ident => $call:expr) => {
        match $other {
            OtherDevice::Several($device) => $call,
            OtherDevice::Pausable($device) => $call,
        }
    };
}

/// Backlog and counters of a port's queue disciplines, all of them together.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueStatistics {
    pub packets: u32,
    pub bytes: u32,
    /// Time in the queue of the packet dequeued last, those dropped then included.
    pub last_sojourn: Option<Time>,
    pub enqueued_packets: u64,
    pub dropped_packets: u64,
    pub marked_packets: u64,
}

impl QueueStatistics {
    fn of(state: &QdiscState) -> Self {
        QueueStatistics {
            packets: state.packets,
            bytes: state.bytes,
            last_sojourn: state.last_sojourn(),
            enqueued_packets: state.enqueued_packets,
            dropped_packets: state.decisions.dropped_packets,
            marked_packets: state.decisions.marked_packets,
        }
    }
}

impl From<OtherDevice> for Device {
    fn from(other: OtherDevice) -> Device {
        Device::Other(Box::new(other))
    }
}

impl Port {
    /// What an idle hop needs, in bytes from its beginning.
    pub const HOT: usize = 5 * 64;

    pub fn new(transmitter: Transmitter, device: Device) -> Self {
        Port { transmitter, device }
    }

    /// What passes here needs attention if somebody `looks`, or the device asks for it.
    pub fn attend(&mut self, looks: bool) {
        let has_shortcuts = match &self.device {
            Device::Single(single) => single.has_shortcuts(),
            Device::Other(_) => false,
        };
        self.transmitter.attend(looks || !has_shortcuts);
    }

    /// Packets that come here are all that could tell the order of what happens in one nanosecond.
    pub fn hurry(&mut self) {
        if let Device::Single(single) = &mut self.device {
            single.hurry();
        }
    }

    /// A packet comes to the port: into the queue discipline, or straight to the device.
    #[inline(always)] // on every hop
    pub fn enter(&mut self, id: PacketId, common: &mut Common) {
        match &mut self.device {
            Device::Single(single) => single.enter(id, &mut self.transmitter, common),
            Device::Other(other) => {
                of_either!(&mut **other, device => device.enter(id, &mut self.transmitter, common))
            }
        }
    }

    /// The transmitter is free again.
    pub fn on_tx_complete(&mut self, common: &mut Common) {
        self.transmitter.complete();
        match &mut self.device {
            Device::Single(single) => single.transmit_next(&mut self.transmitter, common),
            Device::Other(other) => {
                of_either!(&mut **other, device => device.transmit_next(&mut self.transmitter, common))
            }
        }
    }

    /// The device looks whether its queue has room, and lets the queue discipline go on.
    pub fn on_wake(&mut self, common: &mut Common) {
        match &mut self.device {
            Device::Single(single) => single.on_wake(&mut self.transmitter, common),
            Device::Other(other) => {
                of_either!(&mut **other, device => device.on_wake(&mut self.transmitter, common))
            }
        }
    }

    /// A timer of one of the disciplines fires.
    pub fn on_timer(&mut self, discipline: u32, tag: u32, common: &mut Common) {
        let transmitter = &mut self.transmitter;
        match &mut self.device {
            Device::Single(single) => single.on_timer(tag, transmitter, common),
            Device::Other(other) => {
                of_either!(&mut **other, device => device.on_timer(discipline, tag, transmitter, common))
            }
        }
    }

    /// With what can pause it, if something can.
    pub fn pausable(&mut self) -> Option<(&mut Pausable, &mut Transmitter)> {
        let Device::Other(other) = &mut self.device else { return None };
        match &mut **other {
            OtherDevice::Pausable(device) => Some((device, &mut self.transmitter)),
            OtherDevice::Several(_) => None,
        }
    }

    /// The device, if it can be paused.
    pub fn as_pausable(&self) -> Option<&Pausable> {
        let Device::Other(other) = &self.device else { return None };
        match &**other {
            OtherDevice::Pausable(device) => Some(device),
            OtherDevice::Several(_) => None,
        }
    }

    /// The disciplines have been made.
    pub fn attach_disciplines(&mut self, common: &mut Common) {
        self.each_discipline(common, |qdisc, cx| qdisc.attach(cx));
    }

    /// The disciplines start.
    pub fn start_disciplines(&mut self, common: &mut Common) {
        self.each_discipline(common, |qdisc, cx| qdisc.start(cx));
    }

    fn each_discipline(
        &mut self,
        common: &mut Common,
        call: impl Fn(&mut AnyQdisc, &mut QdiscContext<'_>),
    ) {
        let transmitter = &self.transmitter;
        match &mut self.device {
            Device::Single(single) => single.each_discipline(transmitter, common, call),
            Device::Other(other) => {
                of_either!(&mut **other, device => device.each_discipline(transmitter, common, call))
            }
        }
    }

    /// The link fails: what waits or is on the wire is lost.
    pub fn fail(&mut self, loss: &mut Loss, common: &mut Common) {
        match &mut self.device {
            Device::Single(single) => single.flush(&mut self.transmitter, loss, common),
            Device::Other(_) => {
                unreachable!("refused when the network was built")
            }
        }
        loss.doom(common.flights.on_wire(self.transmitter.port));
    }

    /// Of the disciplines, as they are now.
    pub fn queue_statistics(&self) -> QueueStatistics {
        match &self.device {
            Device::Single(single) => single.statistics(),
            Device::Other(other) => of_either!(&**other, device => device.statistics()),
        }
    }

    /// What the disciplines have dropped and marked, by verdict and reason in the order in which each
    /// came first.
    pub fn decisions(&self) -> Vec<Counts> {
        match &self.device {
            Device::Single(single) => single.decisions(),
            Device::Other(other) => of_either!(&**other, device => device.decisions()),
        }
    }

    /// The only queue discipline here is none of the engine's.
    pub fn is_fed_from_outside(&self) -> bool {
        match &self.device {
            Device::Single(single) => single.is_fed_from_outside(),
            Device::Other(_) => false,
        }
    }

    /// Bytes that wait: IP packets in the disciplines, frames in the device.
    pub fn waiting_bytes(&self) -> u32 {
        match &self.device {
            Device::Single(single) => single.waiting_bytes(),
            Device::Other(other) => of_either!(&**other, device => device.waiting_bytes()),
        }
    }

    /// Packets that the device refused.
    pub fn device_dropped(&self) -> u64 {
        match &self.device {
            Device::Single(single) => single.dropped,
            Device::Other(other) => match &**other {
                OtherDevice::Several(several) => several.dropped,
                OtherDevice::Pausable(_) => 0,
            },
        }
    }
}

impl Ports for Vec<Port> {
    fn waiting_bytes(&self, port: u32) -> u32 {
        self[port as usize].waiting_bytes()
    }

    fn sent_bytes(&self, port: u32) -> u64 {
        self[port as usize].transmitter.tx_bytes
    }

    fn rate(&self, port: u32) -> u64 {
        self[port as usize].transmitter.rate().0
    }
}

// What comes after it begins a cache line.
const _: () = assert!(size_of::<Port>() == 512);
