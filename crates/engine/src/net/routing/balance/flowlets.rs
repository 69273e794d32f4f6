//! Bursts of flows, as switches with a table of flowlets tell them apart.

use crate::base::time::Time;

/// What is remembered of a flow in one direction.
#[derive(Clone, Copy, Debug)]
pub struct Flowlet {
    /// When its last packet came, plus 1; 0 if there was none.
    seen: u64,
    /// The port that it takes; [`NONE`] at first.
    pub port: u32,
}

/// No port.
const NONE: u32 = u32::MAX;

impl Default for Flowlet {
    fn default() -> Self {
        Flowlet { seen: 0, port: NONE }
    }
}

/// The flowlets at one switch.
#[derive(Debug)]
pub struct Flowlets {
    timeout: Time,
    /// By flow and direction, as far as some have come.
    known: Vec<Flowlet>,
}

impl Flowlets {
    pub fn new(timeout: Time) -> Self {
        Flowlets { timeout, known: Vec::new() }
    }

    /// A packet comes.  Returns the flow's entry, and whether its last flowlet goes on.
    #[inline]
    pub fn at(&mut self, path: usize, now: Time) -> (&mut Flowlet, bool) {
        if path >= self.known.len() {
            self.grow(path);
        }
        let flowlet = &mut self.known[path];
        let goes_on = flowlet.seen > 0 && now.0 - (flowlet.seen - 1) <= self.timeout.0;
        flowlet.seen = now.0 + 1;
        (flowlet, goes_on)
    }

    /// The flow goes by this port from now on.
    pub fn set_port(&mut self, path: usize, port: u32) {
        self.known[path].port = port;
    }

    #[cold]
    fn grow(&mut self, path: usize) {
        self.known.resize((path + 1).next_power_of_two(), Flowlet::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flowlet_ends_when_a_packet_comes_later_than_the_timeout_and_not_before() {
        let mut flowlets = Flowlets::new(Time(100));
        let mut goes_on = |now| flowlets.at(0, Time(now)).1;
        assert_eq!([0, 100, 200, 301].map(&mut goes_on), [false, true, true, false]);
    }
}
