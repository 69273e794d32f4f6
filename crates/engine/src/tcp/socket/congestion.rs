//! Who moves the congestion window: the algorithm together with loss recovery, or the algorithm alone.

use crate::cpp;
use crate::tcp::control::{CaEvent, CongestionControl, Control, RateControl};
use crate::tcp::rate::RateEstimator;
use crate::tcp::recovery::{AckKind, Recovery};
use crate::tcp::tcb::Tcb;
use crate::time::Rate;

/// Under rate control all of this leaves the window alone, but for [`Self::rate_control`].
#[derive(Debug)]
pub(super) struct Congestion {
    control: Control,
    recovery: Box<dyn Recovery>,
}

impl Congestion {
    pub(super) fn new(control: Control, recovery: Box<dyn Recovery>) -> Congestion {
        Congestion { control, recovery }
    }

    /// What the algorithm needs to know of the delivery rate.
    pub(super) fn rate_estimator(&self) -> RateEstimator {
        match self.control {
            Control::Window(_) => RateEstimator::default(),
            Control::Rate(_) => RateEstimator::sampling(),
        }
    }

    /// For what both kinds of control are told.
    #[inline]
    pub(super) fn algorithm(&mut self) -> &mut dyn CongestionControl {
        self.control.algorithm()
    }

    /// `segments` of new data are acknowledged in Open or Loss.
    #[inline]
    pub(super) fn grow(&mut self, tcb: &mut Tcb, segments: u32) {
        if let Control::Window(algorithm) = &mut self.control {
            algorithm.cong_avoid(tcb, segments);
        }
    }

    /// An episode of Recovery or CWR begins; see [`Recovery::enter`].
    pub(super) fn enter(&mut self, tcb: &mut Tcb, unacked_bytes: u32, delivered_bytes: u32) {
        if let Control::Window(_) = self.control {
            self.recovery.enter(tcb, unacked_bytes, delivered_bytes);
        }
    }

    /// An ACK in an episode; see [`Recovery::on_ack`].
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, delivered_bytes: u32, kind: AckKind) {
        if let Control::Window(_) = self.control {
            self.recovery.on_ack(tcb, delivered_bytes, kind);
        }
    }

    /// Data sent in an episode.
    pub(super) fn on_sent(&mut self, bytes: u32) {
        self.recovery.on_sent(bytes);
    }

    /// The window that CWR aimed for is reached.
    pub(super) fn complete_cwr(&mut self, tcb: &mut Tcb) {
        if let Control::Window(algorithm) = &mut self.control {
            tcb.cwnd = tcb.ssthresh;
            algorithm.cwnd_event(tcb, CaEvent::CompleteCwr);
        }
    }

    /// The algorithm that wants a sample of the delivery rate with each ACK, if it does.
    #[inline]
    pub(super) fn rate_control(&mut self) -> Option<&mut dyn RateControl> {
        match &mut self.control {
            Control::Window(_) => None,
            Control::Rate(algorithm) => Some(&mut **algorithm),
        }
    }

    /// As Linux does: a multiple of cwnd / sRTT, larger in early slow start.
    #[inline]
    pub(super) fn update_pacing_rate(&self, tcb: &mut Tcb) {
        if !tcb.pacing || matches!(self.control, Control::Rate(_)) {
            return;
        }
        let percent =
            if tcb.cwnd < tcb.ssthresh / 2 { tcb.pacing_ss_ratio } else { tcb.pacing_ca_ratio };
        let factor = f64::from(percent) / 100.0;
        let bits = f64::from(tcb.cwnd.max(tcb.bytes_in_flight).wrapping_mul(8));
        let rate = Rate(cpp::to_u64(bits * factor / tcb.srtt.secs_f64()));
        // The product has 32 bits, as in ns-3; where it wraps to 0, ns-3 divides by zero next.
        if rate > Rate(0) {
            tcb.pacing_rate = rate.min(tcb.max_pacing_rate);
        }
    }
}
