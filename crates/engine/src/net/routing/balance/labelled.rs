//! What switches do where hosts choose: they take the path whose number is on the packet (see [`super::sender`]).
//!
//! If the hosts' scheme wants to know, each port measures its load as in CONGA (intervals of 32 us, a fifth less each),
//! and a packet collects the largest one on its way: `min(255, floor(X * 256 / full))`.

use super::loads::Loads;
use super::{Balancer, BuildContext, Choice, Ports};
use crate::base::time::Time;

const INTERVAL: Time = Time(32_000);
const FACTOR: f64 = 0.2;

#[derive(Debug)]
pub struct Labelled {
    loads: Option<Loads>,
}

impl Labelled {
    /// Nobody wants to know how much of links is used.
    pub fn without_loads() -> Self {
        Labelled { loads: None }
    }

    pub fn new(cx: &BuildContext<'_>) -> Self {
        Labelled { loads: cx.has_loads.then(|| Loads::new(cx.ports, INTERVAL, FACTOR)) }
    }
}

impl Balancer for Labelled {
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
        let ports = choice.ports.len() as u32;
        let note = choice.packet.notes[0];
        let (number, used) = (note & 0xffff, note >> 16);
        let chosen = number % ports;
        let used = self.loads.as_ref().map_or(used, |loads| {
            used.max(u32::from(loads.level(choice.ports[chosen as usize], choice.all, 256)))
        });
        choice.packet.notes[0] = (number / ports) | (used << 16);
        chosen
    }

    fn sees_every_hop(&self) -> bool {
        self.loads.is_some()
    }

    fn period(&self) -> Time {
        self.loads.as_ref().map_or(Time::ZERO, |_| INTERVAL)
    }

    fn tick(&mut self, _now: Time, ports: &dyn Ports) {
        if let Some(loads) = &mut self.loads {
            loads.tick(ports);
        }
    }
}
