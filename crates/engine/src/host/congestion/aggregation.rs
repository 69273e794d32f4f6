//! How much more than bandwidth times time is acknowledged in a burst (Linux's
//! `bbr_update_ack_aggregation`): the maximum of this window of rounds and the one before.

use crate::base::cpp;
use crate::base::time::{Rate, Time, seconds};
use crate::host::tcp::Tcb;
use crate::host::tcp::rate::RateSample;

#[derive(Debug)]
pub(super) struct Aggregation {
    window: u32,
    reset_threshold: u32,
    extra: [u32; 2],
    current: usize,
    rounds: u32,
    epoch_start: Time,
    epoch_acked: u32,
}

impl Aggregation {
    pub(super) fn new(window: u32, reset_threshold: u32) -> Aggregation {
        Aggregation {
            window,
            reset_threshold,
            extra: [0; 2],
            current: 0,
            rounds: 0,
            epoch_start: Time::ZERO,
            epoch_acked: 0,
        }
    }

    pub(super) fn start_epoch(&mut self, now: Time) {
        self.epoch_start = now;
        self.epoch_acked = 0;
    }

    pub(super) fn max(&self) -> u32 {
        self.extra[0].max(self.extra[1])
    }

    pub(super) fn update(&mut self, tcb: &Tcb, rs: &RateSample, max_bw: Rate, round_starts: bool) {
        if rs.acked_sacked == 0 || rs.delivered < 0 {
            return;
        }
        if round_starts {
            self.rounds = (self.rounds + 1).min(31);
            if self.rounds >= self.window {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.extra[self.current] = 0;
            }
        }
        let now = tcb.now;
        // In whole seconds, as ns-3 has it; mostly there are none, also after rounding.
        let elapsed = if now - self.epoch_start < Time::from_ms(999) {
            0
        } else {
            cpp::to_u32(seconds(now.ns()) - seconds(self.epoch_start.ns()))
        };
        let mut expected = (max_bw.0.wrapping_mul(u64::from(elapsed)) / 8) as u32;
        let acked = self.epoch_acked.wrapping_add(rs.acked_sacked);
        if self.epoch_acked <= expected || acked >= self.reset_threshold {
            self.start_epoch(now);
            expected = 0;
        }
        self.epoch_acked = self.epoch_acked.wrapping_add(rs.acked_sacked);
        let extra = self.epoch_acked.wrapping_sub(expected).min(tcb.cwnd);
        self.extra[self.current] = self.extra[self.current].max(extra);
    }
}
