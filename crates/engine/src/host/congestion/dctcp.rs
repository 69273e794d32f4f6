//! DCTCP (RFC 8257; Alizadeh et al., SIGCOMM 2010; ns-3's `TcpDctcp`).  Where the stack is Linux's, `dctcp_linux.rs`.
//!
//! Sender (section 3.3): once per window, M = marked bytes / acknowledged bytes, then
//! alpha = (1 - g) alpha + g M; on entering CWR, ssthresh = cwnd (1 - alpha / 2).  Otherwise Reno
//! as Linux counts it.
//!
//! Receiver (section 3.2): ECE repeats the CE mark of the segments acknowledged; when the mark
//! changes while an ACK is being delayed, what came before is acknowledged at once with the old
//! mark.

use super::linux_reno::LinuxReno;
use super::{BuildContext, dctcp_linux};
use crate::base::attributes::{FRACTION, Kind, Spec, param};
use crate::base::cpp;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::control::{CaEvent, CongestionControl, Control, EarlyAck, TcpStack};
use crate::host::tcp::profile::changes::Change;
use crate::host::tcp::{CongState, EcnMode, EcnState, PreciseEcho, Tcb, UseEcn};
use crate::packet::Ecn;

pub const SPEC: Spec = Spec {
    ns3: "TcpDctcp",
    linux: &["dctcp"],
    is_in_linux: true,
    doc: "Reduces the window in proportion to the fraction of marked bytes.",
    source: "RFC 8257",
    departures: &[
        "bytes are counted as whole segments",
        "ssthresh has no floor of two segments",
        "growth does not need a flow limited by cwnd",
        "a loss, too, reduces by alpha / 2 (RFC 8257 section 3.3 step 8 wants a half)",
        "no reset of alpha after a timeout",
        "the acknowledgement that a change of marks sends at once (section 3.2) leaves out the \
         last segment before the change",
    ],
    params: &[
        param!["DctcpShiftG", "dctcp_shift_g"; FRACTION => "0.0625";
            "Weight g of the newest window in alpha, as a fraction (Linux writes 4: 2^-4)."],
        param!["DctcpAlphaOnInit", "dctcp_alpha_on_init"; FRACTION => "1";
            "First alpha, as a fraction (Linux writes 1024)."],
        param!["UseEct0"; Kind::Bool => "true"; "Send ECT(0); if false, ECT(1)."],
    ],
};

#[derive(Debug)]
pub struct Dctcp {
    g: f64,
    ect: Ecn,
    reno: LinuxReno,
    /// [`Change::DctcpLoss`].
    halves_on_loss: bool,
    alpha: f64,
    /// Bytes acknowledged in this window, and those of them under ECE.
    acked: u32,
    marked: u32,
    /// SND.NXT when this window began.
    window_end: Option<Seq>,
    echo: PreciseEcho,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    match cx.stack {
        TcpStack::Ns3 => of_ns3(cx).into(),
        TcpStack::Linux => dctcp_linux::new(cx, ect(cx)).into(),
    }
}

fn ect(cx: &BuildContext<'_>) -> Ecn {
    if cx.attributes.bool("UseEct0") { Ecn::Ect0 } else { Ecn::Ect1 }
}

pub(super) fn of_ns3(cx: &BuildContext<'_>) -> Dctcp {
    let a = &cx.attributes;
    Dctcp {
        g: a.f64("DctcpShiftG"),
        ect: ect(cx),
        reno: LinuxReno::new(false),
        halves_on_loss: cx.changes.has(Change::DctcpLoss),
        alpha: a.f64("DctcpAlphaOnInit"),
        acked: 0,
        marked: 0,
        window_end: None,
        echo: PreciseEcho::default(),
    }
}

impl CongestionControl for Dctcp {
    fn init(&mut self, tcb: &mut Tcb) {
        tcb.use_ecn = UseEcn::On;
        tcb.ecn_mode = EcnMode::Dctcp;
        tcb.ect = self.ect;
    }

    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        if self.halves_on_loss && tcb.cong_state == CongState::Loss {
            return (bytes_in_flight / 2).max(2 * tcb.segment_size); // RFC 5681
        }
        cpp::to_u32((1.0 - self.alpha / 2.0) * f64::from(tcb.cwnd))
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        self.reno.cong_avoid(tcb, segments_acked);
    }

    fn pkts_acked(&mut self, tcb: &mut Tcb, segments_acked: u32, _rtt: Time) {
        let bytes = segments_acked.wrapping_mul(tcb.segment_size);
        self.acked = self.acked.wrapping_add(bytes);
        if tcb.ecn_state == EcnState::EceRcvd {
            self.marked = self.marked.wrapping_add(bytes);
        }
        let end = *self.window_end.get_or_insert(tcb.next_tx_seq);
        if tcb.last_acked_seq >= end {
            let fraction = match self.acked {
                0 => 0.0,
                acked => f64::from(self.marked) / f64::from(acked),
            };
            self.alpha = (1.0 - self.g) * self.alpha + self.g * fraction;
            self.window_end = Some(tcb.next_tx_seq);
            self.acked = 0;
            self.marked = 0;
        }
    }

    fn cwnd_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        self.echo.on_event(tcb, event)
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS};
    use super::*;

    /// One window of ACKs, with or without ECE.
    fn window(d: &mut Driver, marked: u32) {
        for ack in 0..100 {
            d.tcb.ecn_state = if ack < marked { EcnState::EceRcvd } else { EcnState::Idle };
            d.tcb.cwnd = 100 * MSS; // growth is not the subject
            d.ack(1);
        }
    }

    #[test]
    fn alpha_is_a_moving_average_of_the_marked_fraction() {
        let mut d = Driver::new("TcpDctcp", &[]).with_ssthresh(100).with_cwnd(100);
        let mut alpha = 1.0;
        d.ack(1); // the window that alpha is first computed for begins here
        for marked in [0, 0, 0, 40, 40, 100, 7] {
            window(&mut d, marked);
            alpha = (1.0 - 0.0625) * alpha + 0.0625 * f64::from(marked) / 100.0;
        }
        let wanted = f64::from(d.tcb.cwnd) * (1.0 - alpha / 2.0);
        let got = f64::from(d.control.algorithm().ssthresh(&d.tcb, 0));
        assert!((got - wanted).abs() < 0.001 * wanted, "{got} for {wanted}");
    }

    #[test]
    fn a_change_of_the_mark_sends_the_delayed_ack_at_once() {
        let mut d = Driver::new("TcpDctcp", &[]);
        d.tcb.ecn_state = EcnState::Idle;
        assert_eq!(d.event(CaEvent::EcnNoCe), None);
        d.event(CaEvent::DelayedAck);
        d.tcb.next_rx_seq += MSS;
        let early = d.event(CaEvent::EcnIsCe);
        assert_eq!(early, Some(EarlyAck { ack: Seq(1), ece: false }));
        assert_eq!(d.tcb.ecn_state, EcnState::CeRcvd);
        d.tcb.next_rx_seq += MSS;
        assert_eq!(d.event(CaEvent::EcnIsCe), None);
        let early = d.event(CaEvent::EcnNoCe);
        assert_eq!(early, Some(EarlyAck { ack: Seq(1 + 2 * MSS), ece: true }));
        assert_eq!(d.tcb.ecn_state, EcnState::Idle);
    }

    #[test]
    fn no_early_ack_when_nothing_waits() {
        let mut d = Driver::new("TcpDctcp", &[]);
        d.event(CaEvent::EcnNoCe);
        d.event(CaEvent::DelayedAck);
        d.event(CaEvent::NonDelayedAck);
        assert_eq!(d.event(CaEvent::EcnIsCe), None);
    }
}
