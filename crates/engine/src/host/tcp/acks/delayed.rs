//! Every so many segments, or after some time (RFC 1122 section 4.2.3.2, as in ns-3): the first one after the
//! handshake at once.

use super::{AckPolicy, Answer};
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::tcb::Tcb;

#[derive(Debug)]
pub struct Delayed {
    /// Segments that wait for an ACK.
    waiting: u32,
    /// Segments per ACK.
    count: u32,
    timeout: Time,
}

impl AckPolicy for Delayed {
    fn new(config: &Config) -> Delayed {
        Delayed { waiting: 0, count: config.delayed_ack_count, timeout: config.delayed_ack_timeout }
    }

    fn on_established(&mut self, _now: Time) {
        self.waiting = self.count;
    }

    #[inline(always)]
    fn on_data(&mut self, _tcb: &Tcb) -> Answer {
        self.waiting += 1;
        if self.waiting < self.count { Answer::After(self.timeout) } else { Answer::Now }
    }

    #[inline(always)]
    fn on_ack_sent(&mut self) {
        self.waiting = 0;
    }
}
