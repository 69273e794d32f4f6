//! BIC as Linux has it (Xu, Harfoush, Rhee, INFOCOM 2004; Linux's `tcp_bic.c`), in whole segments and 1024ths.
//!
//! The segments that are acknowledged for each one of growth are counted anew where the window is another, and 31 ms
//! later; the count is lower by half of the segments that an ACK covers on average.

use super::BuildContext;
use super::linux_reno::{LinuxReno, beyond_slow_start, window_of};
use crate::host::tcp::control::{Acked, CongestionControl};
use crate::host::tcp::{CongState, Tcb};

/// Of the window, what a loss leaves is in steps of 1 / 1024.
const STEPS: u32 = 1024;
const COUNT_STAYS_MS: u64 = 31;
/// Before the first loss the window grows by a twentieth a round at least.
const MOST_BEFORE_LOSS: u32 = 20;
/// Segments that an ACK covers are counted in sixteenths, two at first.
const SIXTEENTHS: u32 = 16;

#[derive(Debug)]
pub struct BicLinux {
    fast_convergence: bool,
    beta: u32,
    max_increment: u32,
    low_window: u32,
    smooth_part: u32,
    coefficient: u32,
    reno: LinuxReno,
    /// As counted last, of which window, and in which millisecond.
    count: u32,
    counted: Option<(u32, u64)>,
    /// In segments; 0 before the first loss.
    w_max: u32,
    segments_an_ack: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> BicLinux {
    let a = &cx.attributes;
    BicLinux {
        fast_convergence: a.bool("FastConvergence"),
        beta: (a.f64("Beta") * f64::from(STEPS)) as u32,
        max_increment: a.u32("MaxIncr"),
        low_window: a.u32("LowWnd"),
        smooth_part: if a.is_given("SmoothPart") { a.u32("SmoothPart") } else { 20 },
        coefficient: a.u32("BinarySearchCoefficient"),
        reno: LinuxReno::new(true),
        count: 0,
        counted: None,
        w_max: 0,
        segments_an_ack: 2 * SIXTEENTHS,
    }
}

impl BicLinux {
    fn count_of(&self, window: u32) -> u32 {
        if window <= self.low_window {
            return window;
        }
        let slowly = window.wrapping_mul(self.smooth_part) / self.coefficient;
        let fastest = window / self.max_increment;
        let count = if let Some(missing) = self.w_max.checked_sub(window).filter(|&left| left > 0) {
            match missing / self.coefficient {
                share if share > self.max_increment => fastest,
                0 | 1 => slowly,
                share => window / share,
            }
        } else {
            let (beyond, rounds) = (window - self.w_max, self.coefficient - 1);
            if beyond < self.coefficient {
                slowly
            } else if beyond < self.max_increment.wrapping_mul(rounds) {
                window.wrapping_mul(rounds) / beyond
            } else {
                fastest
            }
        };
        let count = if self.w_max == 0 { count.min(MOST_BEFORE_LOSS) } else { count };
        (count.wrapping_mul(SIXTEENTHS) / self.segments_an_ack).max(1)
    }

    fn begin(&mut self) {
        (self.count, self.counted, self.w_max) = (0, None, 0);
        self.segments_an_ack = 2 * SIXTEENTHS;
    }
}

impl CongestionControl for BicLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        let window = tcb.cwnd_segments();
        let converges = window < self.w_max && self.fast_convergence;
        self.w_max = if converges { window * (STEPS + self.beta) / (2 * STEPS) } else { window };
        let left = if window <= self.low_window { window / 2 } else { window * self.beta / STEPS };
        window_of(left, tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !tcb.may_grow() {
            return;
        }
        let Some(left) = beyond_slow_start(tcb, segments_acked) else { return };
        let (window, now) = (tcb.cwnd_segments(), tcb.now.ms());
        if !self.counted.is_some_and(|(of, at)| of == window && now - at <= COUNT_STAYS_MS) {
            self.counted = Some((window, now));
            self.count = self.count_of(window);
        }
        self.reno.grow_by_count(tcb, left, self.count);
    }

    fn on_acked(&mut self, tcb: &Tcb, acked: Acked) {
        if tcb.cong_state == CongState::Open {
            let share = self.segments_an_ack / SIXTEENTHS;
            self.segments_an_ack = self.segments_an_ack - share + acked.segments;
        }
    }

    fn set_state(&mut self, _tcb: &mut Tcb, state: CongState) {
        if state == CongState::Loss {
            self.begin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use crate::host::tcp::CongState;
    use crate::host::tcp::control::TcpStack;

    /// After a loss at 1,000 segments.
    fn bic() -> Driver {
        let mut d = Driver::on(TcpStack::Linux, "TcpBic", &[]).with_cwnd(1000).with_ssthresh(1000);
        d.fast_recovery();
        assert_eq!(d.cwnd(), 799); // 819 / 1024
        d
    }

    /// Where each ACK covers two segments.
    fn grown_in_a_round(d: &mut Driver, window: u32) -> u32 {
        d.set_cwnd(window);
        d.acks(window / 2, 2);
        d.cwnd() - window
    }

    #[test]
    fn a_round_covers_a_quarter_of_the_distance_twice_for_acks_of_two_segments() {
        // The distance shrinks on the way.
        for (window, most) in [(800, 32), (960, 20), (980, 10)] {
            let got = grown_in_a_round(&mut bic(), window);
            assert!(got <= most && 10 * got >= 7 * most, "from {window}: {got}");
        }
    }

    #[test]
    fn the_maximum_is_passed_slowly_and_left_fast() {
        let mut d = bic();
        assert!(grown_in_a_round(&mut d, 1000) <= 1);
        let got = grown_in_a_round(&mut d, 2000);
        assert!((31..=33).contains(&got), "{got}");
    }

    #[test]
    fn what_acks_cover_is_averaged_in_open_alone() {
        for (state, grown) in [(CongState::Disorder, 32), (CongState::Open, 64)] {
            let mut d = bic();
            d.state(state);
            for _ in 0..2 {
                d.set_cwnd(2000);
                d.acks(500, 4);
            }
            let got = d.cwnd() - 2000;
            assert!(got.abs_diff(grown) <= 1, "{state:?}: {got}");
        }
    }

    #[test]
    fn a_loss_below_the_maximum_lowers_it() {
        let mut d = bic();
        d.set_cwnd(900);
        assert_eq!(d.ssthresh_on_loss(), 719);
        d.set_cwnd(808); // of 809
        assert!(grown_in_a_round(&mut d, 808) <= 1);
    }

    #[test]
    fn small_windows_are_renos() {
        let mut d = Driver::on(TcpStack::Linux, "TcpBic", &[]).with_cwnd(14).with_ssthresh(14);
        assert_eq!(d.ssthresh_on_loss(), 7);
        d.acks(14, 1);
        assert_eq!(d.cwnd(), 15);
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut d = bic();
        d.timeout();
        d = d.with_ssthresh(2);
        d.set_cwnd(800);
        d.acks(400, 2);
        assert!(d.cwnd() >= 880, "{}", d.cwnd());
    }
}
