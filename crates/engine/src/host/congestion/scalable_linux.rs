//! Scalable TCP as Linux has it (Kelly, CCR 2003; Linux's `tcp_scalable.c`), in whole segments: as Reno, but a segment
//! for each hundred that are acknowledged, and a loss takes an eighth of cwnd.

use super::BuildContext;
use super::linux_reno::{LinuxReno, beyond_slow_start, window_of};
use crate::host::tcp::Tcb;
use crate::host::tcp::control::CongestionControl;

#[derive(Debug)]
pub struct ScalableLinux {
    ai_factor: u32,
    md_factor: f64,
    reno: LinuxReno,
}

pub(super) fn new(cx: &BuildContext<'_>) -> ScalableLinux {
    let a = &cx.attributes;
    ScalableLinux {
        ai_factor: if a.is_given("AIFactor") { a.u32("AIFactor") } else { 100 },
        md_factor: a.f64("MDFactor"),
        reno: LinuxReno::new(true),
    }
}

impl CongestionControl for ScalableLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        let window = tcb.cwnd_segments();
        let taken = (f64::from(window) * self.md_factor) as u32;
        window_of(window.saturating_sub(taken), tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !tcb.may_grow() {
            return;
        }
        if let Some(left) = beyond_slow_start(tcb, segments_acked) {
            let count = tcb.cwnd_segments().min(self.ai_factor);
            self.reno.grow_by_count(tcb, left, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use crate::host::tcp::control::TcpStack;

    #[test]
    fn growth_and_loss_are_shares_of_the_window() {
        for window in [20, 200, 1000, 5000] {
            let d = Driver::on(TcpStack::Linux, "TcpScalable", &[]);
            let mut d = d.with_cwnd(window).with_ssthresh(window);
            assert_eq!(d.ssthresh_on_loss(), window - window / 8);
            d.acks(window / 2, 2);
            assert_eq!(d.cwnd(), window + (window / 100).max(1));
        }
    }

    #[test]
    fn what_is_left_of_slow_start_counts() {
        let d = Driver::on(TcpStack::Linux, "TcpScalable", &[]);
        let mut d = d.with_cwnd(499).with_ssthresh(500);
        d.ack(101);
        assert_eq!(d.cwnd(), 501);
    }
}
