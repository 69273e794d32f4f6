//! DCTCP as Linux has it (RFC 8257; Linux's `tcp_dctcp.c`), in whole segments and 1024ths.
//!
//! Once per window of data, of what ACKs have delivered in it, alpha loses a share g, and gains g times the share that
//! came under ECE (section 3.3).  A mark leaves cwnd (1 - alpha / 2), a loss a half (section 3.5), both two segments
//! at least.  It grows as Reno does, and is Reno where the peer has not agreed to ECN.

use super::BuildContext;
use super::linux_reno::{LinuxReno, half, window_of};
use crate::base::seq::Seq;
use crate::host::tcp::control::{CaEvent, CongestionControl, Delivered, EarlyAck};
use crate::host::tcp::{CongState, EcnMode, EcnState, Tcb, UseEcn};
use crate::packet::Ecn;

/// Alpha of a path that marks everything.
const WHOLE: u32 = 1024;
const WHOLE_BITS: u32 = WHOLE.ilog2();

#[derive(Debug)]
pub struct DctcpLinux {
    /// g = 2^-shift, or the next smaller one.
    shift: u32,
    ect: Ecn,
    reno: LinuxReno,
    alpha: u32,
    /// Segments delivered in this window, and those of them under ECE.
    delivered: u32,
    marked: u32,
    /// SND.NXT when this window began; none before the first.
    window_end: Option<Seq>,
}

pub(super) fn new(cx: &BuildContext<'_>, ect: Ecn) -> DctcpLinux {
    let a = &cx.attributes;
    let g = a.f64("DctcpShiftG");
    let shift = (0..WHOLE_BITS).find(|&shift| f64::from(WHOLE >> shift) <= g * f64::from(WHOLE));
    DctcpLinux {
        shift: shift.unwrap_or(WHOLE_BITS),
        ect,
        reno: LinuxReno::new(true),
        alpha: (a.f64("DctcpAlphaOnInit") * f64::from(WHOLE)).round() as u32,
        delivered: 0,
        marked: 0,
        window_end: None,
    }
}

impl DctcpLinux {
    fn end_window(&mut self) {
        // What is too small for a share of it goes as a whole.
        let share = match self.alpha >> self.shift {
            0 => self.alpha,
            share => share,
        };
        let gained = (self.marked << (WHOLE_BITS - self.shift)) / self.delivered.max(1);
        self.alpha = (self.alpha - share + gained).min(WHOLE);
        (self.delivered, self.marked) = (0, 0);
    }
}

impl CongestionControl for DctcpLinux {
    fn init(&mut self, tcb: &mut Tcb) {
        tcb.use_ecn = UseEcn::On;
        tcb.ecn_mode = EcnMode::Dctcp;
        tcb.ect = self.ect;
    }

    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        if tcb.cong_state == CongState::Recovery || tcb.ecn_state == EcnState::Disabled {
            return half(tcb);
        }
        let window = tcb.cwnd_segments();
        let less = u64::from(window) * u64::from(self.alpha) / u64::from(2 * WHOLE);
        window_of(window - less as u32, tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        self.reno.cong_avoid(tcb, segments_acked);
    }

    fn on_delivered(&mut self, tcb: &Tcb, delivered: Delivered) {
        let Delivered { ack, segments, has_echo } = delivered;
        self.delivered += segments;
        self.marked += if has_echo { segments } else { 0 };
        if self.window_end.is_none_or(|end| ack >= end) {
            self.end_window();
            self.window_end = Some(tcb.high_tx_mark);
        }
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        if event == CaEvent::Loss {
            tcb.ssthresh = half(tcb);
        }
        None
    }

    /// A loss in CWR, which has reduced the window by alpha.
    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        if (tcb.cong_state, state) == (CongState::Cwr, CongState::Recovery) {
            tcb.ssthresh = half(tcb);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS};
    use super::*;
    use crate::host::tcp::control::TcpStack;

    fn dctcp(attributes: &[(&str, &str)]) -> Driver {
        let mut d = Driver::on(TcpStack::Linux, "TcpDctcp", attributes).with_cwnd(100);
        d.tcb.ecn_state = EcnState::Idle;
        d.with_ssthresh(100)
    }

    /// A segment is acknowledged, with as many on their way as before.
    fn ack(d: &mut Driver, has_echo: bool) {
        let ack = d.tcb.last_acked_seq + MSS;
        d.tcb.last_acked_seq = ack;
        d.tcb.high_tx_mark = ack + 100 * MSS;
        let delivered = Delivered { ack, segments: 1, has_echo };
        d.control.algorithm().on_delivered(&d.tcb, delivered);
    }

    /// A window of them; so many ACKs have ECE.
    fn window(d: &mut Driver, marked: u32) {
        for i in 0..100 {
            ack(d, i < marked);
        }
    }

    /// In 1024ths, as an enormous window shows it.
    fn alpha(d: &mut Driver) -> u32 {
        let tcb = Tcb { cwnd: 4096 * MSS, ..d.tcb.clone() };
        (4096 - d.control.algorithm().ssthresh(&tcb, 0) / MSS) / 2
    }

    #[test]
    fn alpha_loses_a_sixteenth_a_window_and_gains_one_of_the_marked_share() {
        let mut d = dctcp(&[]);
        ack(&mut d, false); // a window of its own
        let mut wanted = 1024 - 64;
        assert_eq!(alpha(&mut d), wanted);
        for marked in [0, 100, 100, 37, 1, 0, 0] {
            window(&mut d, marked);
            wanted = wanted - wanted / 16 + marked * 64 / 100;
            assert_eq!(alpha(&mut d), wanted, "{marked}");
        }
    }

    #[test]
    fn alpha_goes_down_to_nothing_and_never_above_one() {
        let mut d = dctcp(&[("DctcpAlphaOnInit", "0.0147")]); // 15: no sixteenth is left of it
        ack(&mut d, false);
        assert_eq!(alpha(&mut d), 0);
        let mut d = dctcp(&[]);
        ack(&mut d, true);
        window(&mut d, 100);
        assert_eq!(alpha(&mut d), 1024);
    }

    #[test]
    fn a_mark_leaves_what_alpha_says_and_a_loss_half_of_whole_segments() {
        let mut d = dctcp(&[("DctcpAlphaOnInit", "0.25")]).with_cwnd(25);
        assert_eq!(d.ssthresh_on_loss(), 22); // 25 - 3.125
        for old in [CongState::Cwr, CongState::Open] {
            d.tcb.cong_state = old;
            d.state(CongState::Recovery);
            assert_eq!(d.ssthresh_on_loss(), 12);
        }
        d.set_cwnd(3);
        assert_eq!(d.ssthresh_on_loss(), 2);
    }

    /// What is left of the reduction of CWR is not by alpha any more.
    #[test]
    fn a_loss_in_cwr_and_a_timeout_leave_half_too() {
        let small = [("DctcpAlphaOnInit", "0.25")];
        let mut d = dctcp(&small).with_cwnd(25);
        d.state(CongState::Cwr);
        d.state(CongState::Recovery);
        assert_eq!(d.ssthresh(), 12);
        let mut d = dctcp(&small).with_cwnd(25);
        d.timeout();
        assert_eq!(d.ssthresh(), 12);
    }

    #[test]
    fn it_is_reno_with_a_peer_that_has_no_ecn() {
        let mut d = dctcp(&[("DctcpAlphaOnInit", "0")]).with_cwnd(20).with_ssthresh(20);
        assert_eq!(d.ssthresh_on_loss(), 20);
        d.tcb.ecn_state = EcnState::Disabled;
        assert_eq!(d.ssthresh_on_loss(), 10);
        d.acks(20, 1);
        assert_eq!(d.cwnd(), 21);
    }
}
