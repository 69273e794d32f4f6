//! How much of a switch's ports is used: CONGA's discounting rate estimator (M. Alizadeh et al., ACM SIGCOMM
//! 2014, section 3.2).

use super::Ports;
use crate::base::time::{Rate, Time};

/// A port that does not leave the node.
const NOT_HERE: u16 = u16::MAX;

/// The loads of a node's ports.
#[derive(Debug)]
pub struct Loads {
    interval: Time,
    factor: f64,
    /// Of every port; 0: each has its own.
    rate: u64,
    ports: Vec<u32>,
    /// By the number of a port: its position among the node's.
    positions: Vec<u16>,
    loads: Vec<Load>,
}

/// The load of one port.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// X after the last period, and how much had been sent then.
    bytes: f64,
    sent: u64,
}

impl Loads {
    /// `ports`: those of the node, in the order of links.
    pub fn new(ports: &[u32], interval: Time, factor: f64) -> Self {
        let mut positions = Vec::new();
        for (position, &port) in (0..).zip(ports) {
            if port as usize >= positions.len() {
                positions.resize(port as usize + 1, NOT_HERE);
            }
            positions[port as usize] = position;
        }
        let loads = vec![Load::default(); ports.len()];
        Loads { interval, factor, rate: 0, ports: ports.to_vec(), positions, loads }
    }

    /// With levels of this rate in place of each port's own, unless it is 0.
    pub fn relative_to(self, rate: Rate) -> Self {
        Loads { rate: rate.0, ..self }
    }

    /// How many ports there are.
    pub fn count(&self) -> usize {
        self.ports.len()
    }

    /// The place of a port among the node's.
    #[inline]
    pub fn position(&self, port: u32) -> u16 {
        self.positions[port as usize]
    }

    /// X of a port.
    #[inline]
    pub fn bytes(&self, port: u32, ports: &dyn Ports) -> f64 {
        let load = &self.loads[usize::from(self.position(port))];
        load.bytes + (ports.sent_bytes(port) - load.sent) as f64
    }

    /// The load of a port in `levels` steps of its rate, the last one for all that is beyond.
    #[inline]
    pub fn level(&self, port: u32, ports: &dyn Ports, levels: u32) -> u8 {
        let rate = if self.rate > 0 { self.rate } else { ports.rate(port) };
        let full = rate as f64 * (self.interval.0 as f64 / self.factor) / 8e9;
        let level = self.bytes(port, ports) * f64::from(levels) / full;
        // (What is sent just after a rate has fallen can be far more than that rate.)
        level.min(f64::from(levels - 1)) as u8
    }

    /// A period is over.
    pub fn tick(&mut self, ports: &dyn Ports) {
        for (load, &port) in self.loads.iter_mut().zip(&self.ports) {
            let sent = ports.sent_bytes(port);
            load.bytes += (sent - load.sent) as f64;
            load.bytes *= 1.0 - self.factor;
            load.sent = sent;
        }
    }
}
