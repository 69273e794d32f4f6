//! HighSpeed TCP as Linux has it (RFC 3649; Linux's `tcp_highspeed.c`), in whole segments.
//!
//! Each ACK counts a(w) towards the next segment of growth, however many segments it covers; what a loss takes is that
//! of the window at the last ACK, in 256ths.

use super::highspeed_table::{TABLE, reduction};
use super::linux_reno::{LinuxReno, is_slow_start, window_of};
use crate::host::tcp::Tcb;
use crate::host::tcp::control::CongestionControl;

/// Linux's table ends one row before that of ns-3.
const ROWS: usize = TABLE.len() - 1;

#[derive(Debug)]
pub struct HighSpeedLinux {
    reno: LinuxReno,
    row: usize,
}

pub(super) fn new() -> HighSpeedLinux {
    HighSpeedLinux { reno: LinuxReno::new(true), row: 0 }
}

/// What a loss takes at a row, in 256ths: the formula's, not the table's two digits.
fn taken(row: usize) -> u32 {
    (256.0 * reduction(f64::from(TABLE[row].0))) as u32
}

impl CongestionControl for HighSpeedLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        let window = tcb.cwnd_segments();
        let left = window - (window.wrapping_mul(taken(self.row)) >> 8);
        window_of(left, tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !tcb.may_grow() || is_slow_start(tcb, segments_acked) {
            return;
        }
        let window = tcb.cwnd_segments();
        self.row = TABLE[..ROWS].partition_point(|&(largest, _)| largest < window).min(ROWS - 1);
        self.reno.acked += self.row as u32 + 1;
        if self.reno.acked >= window {
            self.reno.acked -= window;
            tcb.cwnd += tcb.segment_size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use crate::host::tcp::control::TcpStack;

    #[test]
    fn each_ack_counts_once_whatever_it_covers() {
        for segments_an_ack in [1, 2] {
            for (window, a) in [(38, 1), (1000, 8), (100_000, 72)] {
                let d = Driver::on(TcpStack::Linux, "TcpHighSpeed", &[]);
                let mut d = d.with_cwnd(window).with_ssthresh(window);
                d.acks(window / segments_an_ack, segments_an_ack);
                let grown = d.cwnd() - window;
                assert!(grown.abs_diff(a / segments_an_ack) <= 1, "from {window}: {grown}");
            }
        }
    }

    #[test]
    fn a_loss_takes_the_share_of_the_window_at_the_last_ack() {
        let mut d = Driver::on(TcpStack::Linux, "TcpHighSpeed", &[]).with_ssthresh(2);
        for (window, left) in [(38, 19), (1000, 676), (80_000, 72_188), (10, 5)] {
            d.set_cwnd(window);
            d.ack(1);
            assert_eq!(d.ssthresh_on_loss(), left, "{window}");
        }
    }
}
