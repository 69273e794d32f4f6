//! Hybla as Linux has it (Caini and Firrincieli, 2004; Linux's `tcp_hybla.c`), in whole segments and 128ths.
//!
//! Rho is reckoned in eighths from the smoothed round trip when that is the least so far, with 25 ms as reference; the first
//! window is rho.  An ACK counts once, however many segments it covers.  It is Reno outside of Open.

use super::BuildContext;
use super::linux_reno::{LinuxReno, half};
use crate::base::time::Time;
use crate::host::tcp::control::CongestionControl;
use crate::host::tcp::{CongState, Tcb};

const PARTS: u32 = 128;
const EIGHTHS: u32 = 8;
/// Rho counts as this at most in slow start.
const MOST_RHO: u32 = 16;

#[derive(Debug)]
pub struct HyblaLinux {
    reference_rtt: Time,
    reno: LinuxReno,
    /// In eighths; 0 before the connection is open.
    rho: u32,
    least_srtt: Time,
    /// Of a segment, in 128ths.
    earned: u32,
    enabled: bool,
}

pub(super) fn new(cx: &BuildContext<'_>) -> HyblaLinux {
    let a = &cx.attributes;
    let given = a.is_given("RRTT").then(|| a.time("RRTT"));
    HyblaLinux {
        reference_rtt: given.unwrap_or(Time::from_ms(25)).max(Time::from_ms(1)),
        reno: LinuxReno::new(true),
        rho: 0,
        least_srtt: Time::ZERO,
        earned: 0,
        enabled: true,
    }
}

/// 2^(eighths / 8) in 128ths.
fn power(eighths: u32) -> u32 {
    const FRACTIONS: [u32; EIGHTHS as usize] = [128, 139, 152, 165, 181, 197, 215, 234];
    FRACTIONS[(eighths % EIGHTHS) as usize] << (eighths / EIGHTHS).min(MOST_RHO)
}

impl HyblaLinux {
    fn measure(&mut self, tcb: &Tcb) {
        let eighths = u64::from(EIGHTHS) * tcb.srtt.0 / self.reference_rtt.0;
        self.rho = (eighths as u32).max(EIGHTHS);
        self.least_srtt = tcb.srtt;
    }

    /// What an ACK adds to the window, in 128ths of a segment.
    fn increment(&mut self, tcb: &Tcb) -> u32 {
        if tcb.cwnd < tcb.ssthresh {
            return power(self.rho) - PARTS;
        }
        let square = self.rho.wrapping_mul(self.rho).wrapping_mul(PARTS / EIGHTHS / EIGHTHS);
        let increment = square / tcb.cwnd_segments().max(1);
        if increment < PARTS {
            self.reno.acked += 1;
        }
        increment
    }
}

impl CongestionControl for HyblaLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        half(tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if tcb.srtt < self.least_srtt {
            self.measure(tcb);
        }
        if !tcb.may_grow() {
            return;
        }
        if !self.enabled {
            self.reno.grow(tcb, segments_acked);
            return;
        }
        let is_starting = tcb.cwnd < tcb.ssthresh;
        let increment = self.increment(tcb);
        self.earned += increment % PARTS;
        let mut window = tcb.cwnd_segments() + increment / PARTS + self.earned / PARTS;
        if self.earned >= PARTS {
            self.reno.forget();
        }
        self.earned %= PARTS;
        if increment == 0 && self.reno.acked >= window {
            window += 1;
            self.reno.forget();
        }
        tcb.cwnd = window.min(u16::MAX.into()) * tcb.segment_size;
        if is_starting {
            tcb.cwnd = tcb.cwnd.min(tcb.ssthresh);
        }
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        self.enabled = state == CongState::Open;
        if self.rho == 0 && self.enabled {
            self.measure(tcb);
            tcb.cwnd = self.rho / EIGHTHS * tcb.segment_size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use super::*;
    use crate::host::tcp::control::TcpStack;

    /// Of a path of 100 ms: rho is 4.
    fn hybla() -> Driver {
        Driver::on(TcpStack::Linux, "TcpHybla", &[])
    }

    #[test]
    fn powers_of_two_are_right_to_a_hundredth() {
        for eighths in 8..64 {
            let wanted = 128.0 * crate::base::math::pow(2.0, f64::from(eighths) / 8.0);
            assert!((f64::from(power(eighths)) / wanted - 1.0).abs() < 0.01, "{eighths}");
        }
    }

    #[test]
    fn the_first_window_is_rho_and_each_ack_of_slow_start_adds_two_to_its_power_less_one() {
        let mut d = hybla();
        assert_eq!(d.cwnd(), 4);
        d.acks(3, 2);
        assert_eq!(d.cwnd(), 4 + 3 * 15);
        d = d.with_ssthresh(60);
        d.ack(1);
        assert_eq!(d.cwnd(), 60);
    }

    #[test]
    fn a_window_of_acks_adds_the_square_of_rho() {
        let mut d = hybla().with_cwnd(400).with_ssthresh(400);
        d.acks(400, 1);
        assert!((414..=416).contains(&d.cwnd()), "{}", d.cwnd());
        let mut short = hybla().with_ssthresh(2);
        short.tcb.srtt = Time::from_ms(10);
        short.set_cwnd(50);
        short.acks(64, 1); // two 128ths each
        assert_eq!(short.cwnd(), 51);
    }

    #[test]
    fn a_window_beyond_128_segments_grows_on_a_short_path_too() {
        let mut d = hybla().with_ssthresh(2);
        d.tcb.srtt = Time::from_ms(10);
        d.set_cwnd(1000);
        d.acks(1000, 1);
        assert_eq!(d.cwnd(), 1001);
    }

    #[test]
    fn a_loss_leaves_half() {
        let mut d = hybla().with_cwnd(21);
        assert_eq!(d.ssthresh_on_loss(), 10);
        d.set_cwnd(3);
        assert_eq!(d.ssthresh_on_loss(), 2);
    }

    #[test]
    fn all_states_but_open_are_renos() {
        let mut d = hybla().with_cwnd(100).with_ssthresh(100);
        d.state(CongState::Disorder);
        d.acks(100, 1);
        assert_eq!(d.cwnd(), 101);
    }
}
