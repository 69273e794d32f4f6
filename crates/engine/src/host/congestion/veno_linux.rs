//! Veno as Linux has it (Fu and Liew, JSAC 2003; Linux's `tcp_veno.c`), in whole segments and microseconds.
//!
//! The backlog, in halves of a segment, follows each ACK in Open: from the least round trip since the last one.  Below beta
//! congestion avoidance is Reno's and a loss leaves four fifths, above it every other segment of growth is left out
//! and a loss leaves a half.

use super::BuildContext;
use super::linux_reno::{LinuxReno, beyond_slow_start, window_of};
use crate::host::tcp::control::{Acked, CaEvent, CongestionControl, EarlyAck};
use crate::host::tcp::{CongState, Tcb};

/// Of so many samples all may come from delayed ACKs.
const FEW: u16 = 2;
/// Before the first sample.
const NONE: u32 = i32::MAX as u32;

#[derive(Debug)]
pub struct VenoLinux {
    /// In halves of a segment, as the backlog.
    beta: u32,
    backlog: u32,
    reno: LinuxReno,
    /// In microseconds, of the connection and since the last ACK.
    base_rtt: u32,
    min_rtt: u32,
    /// Of the connection, in 16 bits.
    samples: u16,
    enabled: bool,
    /// At a filled path the next segment of growth counts.
    grows: bool,
}

pub(super) fn new(cx: &BuildContext<'_>) -> VenoLinux {
    VenoLinux {
        beta: cx.attributes.u32("Beta").saturating_mul(2),
        backlog: 0,
        reno: LinuxReno::new(true),
        base_rtt: NONE,
        min_rtt: NONE,
        samples: 1, // that of the SYN
        enabled: true,
        grows: true,
    }
}

impl VenoLinux {
    fn on_new_ack(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let window = tcb.cwnd_segments();
        let target = 2 * u64::from(window) * u64::from(self.base_rtt) / u64::from(self.min_rtt);
        self.backlog = (2 * window).wrapping_sub(target as u32);
        if let Some(left) = beyond_slow_start(tcb, segments_acked) {
            self.avoid_congestion(tcb, left);
        }
        tcb.cwnd = tcb.cwnd.max(window_of(0, tcb));
    }

    fn avoid_congestion(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        let window = tcb.cwnd_segments();
        if self.backlog < self.beta {
            self.reno.grow_by_count(tcb, segments_acked, window);
        } else if self.reno.acked >= window {
            tcb.cwnd += if self.grows { tcb.segment_size } else { 0 };
            self.grows = !self.grows;
            self.reno.forget();
        } else {
            self.reno.acked += segments_acked;
        }
    }
}

impl CongestionControl for VenoLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        let window = tcb.cwnd_segments();
        let left = if self.backlog < self.beta { window * 4 / 5 } else { window / 2 };
        window_of(left, tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !self.enabled {
            self.reno.grow(tcb, segments_acked);
            return;
        }
        if !tcb.may_grow() {
            return;
        }
        if self.samples <= FEW {
            self.reno.grow(tcb, segments_acked);
        } else {
            self.on_new_ack(tcb, segments_acked);
        }
        self.min_rtt = NONE;
    }

    fn on_acked(&mut self, _tcb: &Tcb, acked: Acked) {
        if let Some(us) = acked.rtt_us() {
            let us = us + 1; // never 0
            self.base_rtt = self.base_rtt.min(us);
            self.min_rtt = self.min_rtt.min(us);
            self.samples = self.samples.wrapping_add(1);
        }
    }

    fn cwnd_event(&mut self, _tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        if event == CaEvent::TxStart {
            (self.base_rtt, self.min_rtt) = (NONE, NONE);
            (self.enabled, self.grows) = (true, true);
        }
        None
    }

    fn set_state(&mut self, _tcb: &mut Tcb, state: CongState) {
        self.enabled = state == CongState::Open;
        if self.enabled {
            self.min_rtt = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use super::*;
    use crate::host::tcp::control::TcpStack;

    /// A window of 100 segments of which so many are queued.
    fn with_backlog(segments: u64) -> Driver {
        let d = Driver::on(TcpStack::Linux, "TcpVeno", &[]);
        let mut d = d.with_cwnd(100).with_ssthresh(100);
        d.acks(3, 1);
        d.set_rtt(100 * 100 / (100 - segments));
        d.ack(1);
        d.set_cwnd(100);
        d
    }

    #[test]
    fn a_loss_with_a_short_queue_counts_as_random() {
        assert_eq!(with_backlog(1).ssthresh_on_loss(), 80);
        assert_eq!(with_backlog(10).ssthresh_on_loss(), 50);
    }

    #[test]
    fn a_filled_path_grows_by_every_other_segment() {
        let grown = |backlog| {
            let mut d = with_backlog(backlog);
            d.acks(1000, 1);
            d.cwnd() - 100
        };
        assert_eq!((grown(1), grown(10)), (9, 5));
    }

    #[test]
    fn what_begins_with_nothing_in_flight_forgets_the_least_round_trip() {
        let mut d = with_backlog(10);
        d.event(CaEvent::TxStart);
        d.ack(1);
        assert_eq!(d.ssthresh_on_loss(), 80);
    }

    #[test]
    fn all_states_but_open_are_renos() {
        let mut d = with_backlog(10);
        d.state(CongState::Disorder);
        d.acks(1000, 1);
        assert_eq!(d.cwnd(), 109);
    }
}
