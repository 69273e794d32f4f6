//! YeAH as Linux has it (Baiocchi, Castellani, Vacirca, PFLDnet 2007; Linux's `tcp_yeah.c`), in whole segments and
//! microseconds.
//!
//! Fast mode is Scalable TCP's growth, slow mode Reno's.  Which it is is decided once a round of three samples or more, by
//! the queue in segments and the queueing delay as a share of the least round trip, exactly.

use super::linux_reno::{LinuxReno, beyond_slow_start, window_of};
use crate::base::seq::Seq;
use crate::host::tcp::control::{Acked, CaEvent, CongestionControl, EarlyAck};
use crate::host::tcp::{CongState, Tcb};

const LEAST_WINDOW: u32 = 2;
/// Of so many samples all may come from delayed ACKs.
const FEW: u32 = 2;
/// Before the first sample.
const NONE: u32 = i32::MAX as u32;

/// The attributes, of both stacks.
#[derive(Debug)]
pub(super) struct Settings {
    pub alpha: u32,
    pub gamma: u32,
    pub delta: u32,
    pub epsilon: u32,
    pub phy: u32,
    pub rho: u32,
    pub zeta: u32,
    pub ai_factor: u32,
}

#[derive(Debug)]
pub struct YeahLinux {
    settings: Settings,
    reno: LinuxReno,
    /// In microseconds, of the connection and of this round.
    base_rtt: u32,
    min_rtt: u32,
    samples: u32,
    /// SND.NXT when this round began.
    round_end: Seq,
    /// The last estimate, in segments.
    queue: u32,
    /// Rounds in slow mode without a break, and in fast mode.
    slow_rounds: u32,
    fast_rounds: u32,
    /// What competing Reno flows' windows are taken to be, in segments.
    reno_window: u32,
}

pub(super) fn new(settings: Settings) -> YeahLinux {
    YeahLinux {
        settings,
        reno: LinuxReno::new(true),
        base_rtt: NONE,
        min_rtt: NONE,
        samples: 0,
        round_end: Seq(0),
        queue: 0,
        slow_rounds: 0,
        fast_rounds: 0,
        reno_window: LEAST_WINDOW,
    }
}

impl YeahLinux {
    fn begin_round(&mut self, tcb: &Tcb) {
        self.round_end = tcb.high_tx_mark;
        (self.samples, self.min_rtt) = (0, NONE);
    }

    fn grow(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if let Some(left) = beyond_slow_start(tcb, segments_acked) {
            let window = tcb.cwnd_segments();
            let is_fast = self.slow_rounds == 0;
            let count = if is_fast { window.min(self.settings.ai_factor.max(1)) } else { window };
            self.reno.grow_by_count(tcb, left, count);
        }
    }

    fn choose_mode(&mut self, tcb: &mut Tcb) {
        let queueing = self.min_rtt - self.base_rtt;
        let queued = u64::from(tcb.cwnd_segments()) * u64::from(queueing);
        self.queue = (queued / u64::from(self.min_rtt)) as u32;
        let is_long = self.queue > self.settings.alpha;
        if is_long || queueing > self.base_rtt / self.settings.phy {
            self.go_slowly(tcb, is_long);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > self.settings.zeta {
                (self.reno_window, self.fast_rounds) = (LEAST_WINDOW, 0);
            }
            self.slow_rounds = 0;
        }
    }

    fn go_slowly(&mut self, tcb: &mut Tcb, is_long: bool) {
        let mut window = tcb.cwnd_segments();
        if is_long && window > self.reno_window {
            let most = window.checked_shr(self.settings.epsilon).unwrap_or(0);
            let less = (self.queue / self.settings.gamma).min(most);
            window = (window - less).max(self.reno_window);
            tcb.cwnd = window * tcb.segment_size;
            tcb.ssthresh = tcb.cwnd;
        }
        if self.reno_window <= LEAST_WINDOW {
            self.reno_window = (window / 2).max(LEAST_WINDOW);
        } else {
            self.reno_window += 1;
        }
        self.slow_rounds += 1;
    }
}

impl CongestionControl for YeahLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        let window = tcb.cwnd_segments();
        let half = (window / 2).max(LEAST_WINDOW);
        let taken = if self.slow_rounds < self.settings.rho {
            let least = window.checked_shr(self.settings.delta).unwrap_or(0);
            self.queue.min(half).max(least)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_window = (self.reno_window / 2).max(LEAST_WINDOW);
        window_of(window.saturating_sub(taken), tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !tcb.may_grow() {
            return;
        }
        self.grow(tcb, segments_acked);
        if tcb.last_acked_seq > self.round_end {
            if self.samples > FEW {
                self.choose_mode(tcb);
            }
            self.begin_round(tcb);
        }
    }

    fn on_acked(&mut self, _tcb: &Tcb, acked: Acked) {
        if let Some(us) = acked.rtt_us() {
            let us = us + 1; // never 0
            self.base_rtt = self.base_rtt.min(us);
            self.min_rtt = self.min_rtt.min(us);
            self.samples += 1;
        }
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        if event == CaEvent::TxStart {
            self.base_rtt = NONE;
            self.begin_round(tcb);
        }
        None
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        if state == CongState::Open {
            self.begin_round(tcb);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use crate::host::tcp::control::TcpStack;

    /// In a window of so many segments, and past a round of 100 ms.
    fn yeah(window: u32) -> Driver {
        let d = Driver::on(TcpStack::Linux, "TcpYeah", &[]);
        let mut d = d.with_cwnd(window).with_ssthresh(2);
        d.rounds(1);
        d.set_cwnd(window);
        d
    }

    #[test]
    fn it_is_scalable_while_the_queue_is_short_and_reno_when_it_is_long() {
        for (rtt, grown) in [(105, 8), (120, 2)] {
            let mut d = yeah(400).with_rtt(rtt); // 67 are queued at 120 ms
            d.acks(1000, 1);
            d.set_cwnd(400);
            d.acks(800, 1);
            let got = d.cwnd() - 400;
            assert!(got.abs_diff(grown) <= 2, "{rtt} ms: {got}");
        }
    }

    #[test]
    fn more_than_alpha_in_the_queue_leaves_the_window() {
        let mut d = yeah(1000).with_rtt(120); // a sixth is queued
        let mut before = d.cwnd();
        while d.cwnd() >= before {
            before = d.cwnd();
            d.ack(1);
        }
        assert!((before * 5 / 6).abs_diff(d.cwnd()) <= 1, "{before} to {}", d.cwnd());
        assert_eq!(d.ssthresh(), d.cwnd());
    }

    #[test]
    fn a_loss_takes_what_is_queued_an_eighth_at_least_and_half_at_most() {
        for (rtt, window, left) in [(101, 400, 350), (120, 400, 334), (120, 100, 50)] {
            let mut d = yeah(400).with_rtt(rtt);
            d.acks(1000, 1);
            d.set_cwnd(window);
            let got = d.ssthresh_on_loss();
            assert!(got.abs_diff(left) <= 2, "{rtt} ms, {window} segments: {got}");
        }
    }

    #[test]
    fn after_many_rounds_in_slow_mode_a_loss_takes_half() {
        let mut d = yeah(200).with_rtt(120);
        for _ in 0..20 {
            d.rounds(1);
            d.set_cwnd(200);
        }
        assert_eq!(d.ssthresh_on_loss(), 100);
    }
}
