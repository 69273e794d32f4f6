//! Illinois as Linux has it (Liu, Basar, Srikant, 2008; Linux's `tcp_illinois.c`): alpha in 128ths, beta in 64ths, delays
//! of samples in microseconds.
//!
//! Once a round of data alpha and beta follow the mean delay of its samples; windows below `WinThresh` segments are
//! Reno's.  An ACK counts the segments that it acknowledges in order, and grows nothing else if slow start was not over.

use super::BuildContext;
use super::linux_reno::{LinuxReno, is_slow_start, window_of};
use crate::base::seq::Seq;
use crate::host::tcp::control::{Acked, CongestionControl};
use crate::host::tcp::{CongState, Tcb};

const ALPHA_PARTS: u32 = 128;
const BETA_PARTS: u32 = 64;

/// Of alpha or beta, in their parts; whatever a user gives, 32 bits go round as Linux's do.
#[derive(Clone, Copy, Debug)]
struct Range {
    min: u32,
    max: u32,
    base: u32,
}

#[derive(Debug)]
pub struct IllinoisLinux {
    alphas: Range,
    betas: Range,
    win_thresh: u32,
    theta: u32,
    reno: LinuxReno,
    alpha: u32,
    beta: u32,
    /// Of this round.
    sum_us: u64,
    samples: u16,
    /// SND.NXT when it began.
    round_end: Seq,
    /// Of the connection.
    least_us: u32,
    most_us: u32,
    /// The mean has been above a hundredth of the largest delay; rounds that it has been below since.
    was_above: bool,
    rounds_below: u32,
    /// Segments that the ACK acknowledges, for its first call.
    acked: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> IllinoisLinux {
    let a = &cx.attributes;
    let range = |names: [&str; 3], parts: u32| {
        let [min, max, base] = names.map(|name| (a.f64(name) * f64::from(parts)) as u32);
        Range { min, max, base }
    };
    let alphas = range(["AlphaMin", "AlphaMax", "AlphaBase"], ALPHA_PARTS);
    let betas = range(["BetaMin", "BetaMax", "BetaBase"], BETA_PARTS);
    IllinoisLinux {
        alphas,
        betas,
        win_thresh: a.u32("WinThresh"),
        theta: a.u32("Theta"),
        reno: LinuxReno::new(true),
        alpha: alphas.max,
        beta: betas.base,
        sum_us: 0,
        samples: 0,
        round_end: Seq(0),
        least_us: i32::MAX as u32,
        most_us: 0,
        was_above: false,
        rounds_below: 0,
        acked: 0,
    }
}

/// Liu, Basar, Srikant, section 3: 1 / alpha rises with the delay beyond a hundredth of the largest.
fn alpha_at(mean: u32, most: u32, alphas: Range) -> u32 {
    let least = most / 100;
    let (mean, most) = (mean - least, most - least);
    let range = alphas.max.wrapping_sub(alphas.min);
    let slower = mean.wrapping_mul(range).checked_div(alphas.min).unwrap_or(u32::MAX);
    most.wrapping_mul(alphas.max) / most.saturating_add(slower).max(1)
}

/// Beta rises from a tenth of the largest delay to eight tenths.
fn beta_at(mean: u32, most: u32, betas: Range) -> u32 {
    let (low, high) = (most / 10, most * 8 / 10);
    if mean <= low {
        betas.min
    } else if mean >= high || high <= low {
        betas.max
    } else {
        let from_high = betas.min.wrapping_mul(high - mean);
        from_high.wrapping_add(betas.max.wrapping_mul(mean - low)) / (high - low)
    }
}

impl IllinoisLinux {
    fn begin_round(&mut self, tcb: &Tcb) {
        self.round_end = tcb.high_tx_mark;
        (self.samples, self.sum_us) = (0, 0);
    }

    fn end_round(&mut self, tcb: &Tcb) {
        if tcb.cwnd_segments() < self.win_thresh {
            (self.alpha, self.beta) = (self.alphas.base, self.betas.base);
        } else if self.samples > 0 {
            let mean = (self.sum_us / u64::from(self.samples)) as u32;
            let (mean, most) = (mean.saturating_sub(self.least_us), self.most_us - self.least_us);
            if mean > most / 100 {
                self.was_above = true;
                self.alpha = alpha_at(mean, most, self.alphas);
            } else {
                self.stay_below();
            }
            self.beta = beta_at(mean, most, self.betas);
        }
        self.begin_round(tcb);
    }

    /// The delay is low: after having been high so for some rounds.
    fn stay_below(&mut self) {
        if self.was_above {
            self.rounds_below += 1;
            if self.rounds_below < self.theta {
                return;
            }
            (self.was_above, self.rounds_below) = (false, 0);
        }
        self.alpha = self.alphas.max;
    }
}

impl CongestionControl for IllinoisLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        let window = tcb.cwnd_segments();
        let left = window.saturating_sub(window.wrapping_mul(self.beta) / BETA_PARTS);
        window_of(left, tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if tcb.last_acked_seq > self.round_end {
            self.end_round(tcb);
        }
        if !tcb.may_grow() || is_slow_start(tcb, segments_acked) {
            return;
        }
        self.reno.acked += std::mem::replace(&mut self.acked, 1);
        let window = tcb.cwnd_segments();
        let earned = self.reno.acked.wrapping_mul(self.alpha) / ALPHA_PARTS;
        if earned >= window {
            let grown = (earned / window).saturating_mul(tcb.segment_size);
            tcb.cwnd = tcb.cwnd.saturating_add(grown);
            self.reno.forget();
        }
    }

    fn on_acked(&mut self, _tcb: &Tcb, acked: Acked) {
        self.acked = acked.segments;
        let Some(us) = acked.rtt_us() else { return };
        let us = us.min(u32::MAX / self.alphas.max.max(1));
        self.least_us = self.least_us.min(us);
        self.most_us = self.most_us.max(us);
        self.samples = self.samples.wrapping_add(1);
        self.sum_us += u64::from(us);
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        if state == CongState::Loss {
            (self.alpha, self.beta) = (self.alphas.base, self.betas.base);
            (self.was_above, self.rounds_below) = (false, 0);
            self.begin_round(tcb);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use super::*;
    use crate::host::tcp::control::TcpStack;

    fn illinois() -> Driver {
        Driver::on(TcpStack::Linux, "TcpIllinois", &[]).with_cwnd(100).with_ssthresh(100)
    }

    /// In windows of 100 segments after samples of 100 and 200 ms and rounds of this RTT: segments grown, and left by a loss.
    fn after(rtt: u64) -> (u32, u32) {
        let mut d = illinois();
        d.ack(1);
        d.set_rtt(200);
        d.ack(1);
        d.set_rtt(rtt);
        let mut grown = 0;
        for round in 0..20 {
            d.set_cwnd(100);
            d.acks(100, 1);
            grown += if round < 3 { 0 } else { d.cwnd() - 100 };
        }
        d.set_cwnd(100);
        (grown, d.ssthresh_on_loss())
    }

    #[test]
    fn the_longer_the_queue_the_less_it_grows_and_the_more_it_reduces() {
        let all: Vec<_> = [105, 130, 150, 170, 190].map(after).into();
        assert!(all.is_sorted_by(|a, b| a.0 >= b.0 && a.1 >= b.1), "{all:?}");
        assert_eq!((all[0].1, all[4].1), (88, 50));
        assert!(all[0].0 > 10 * all[4].0, "{all:?}");
    }

    #[test]
    fn alpha_and_beta_are_the_papers_between_their_bounds() {
        let alphas = Range { min: 38, max: 1280, base: 128 };
        let betas = Range { min: 8, max: 32, base: 32 };
        for (mean, alpha, beta) in [(1001, 1279, 8), (50_000, 74, 21), (100_000, 38, 32)] {
            let (a, b) = (alpha_at(mean, 100_000, alphas), beta_at(mean, 100_000, betas));
            assert!(a.abs_diff(alpha) <= 2 && b.abs_diff(beta) <= 1, "{mean}: {a}, {b}");
        }
    }

    #[test]
    fn alpha_comes_back_after_five_rounds_of_low_delay() {
        let mut d = illinois();
        d.rounds(2);
        d.set_rtt(200);
        d.rounds(2);
        d.set_rtt(100);
        let grown: Vec<_> = (0..8)
            .map(|_| {
                d.set_cwnd(100);
                d.acks(100, 1);
                d.cwnd() - 100
            })
            .collect();
        let first = grown.iter().position(|&grown| grown >= 9);
        assert!(first.is_some_and(|first| (4..=6).contains(&first)), "{grown:?}");
    }

    #[test]
    fn small_windows_and_what_follows_a_timeout_are_renos() {
        let mut d = illinois().with_ssthresh(2);
        d.set_cwnd(10);
        d.rounds(4);
        assert_eq!(d.cwnd(), 14);
        let mut d = illinois();
        d.timeout();
        d = d.with_ssthresh(2);
        d.set_cwnd(100);
        assert_eq!(d.ssthresh_on_loss(), 50);
    }
}
