//! Who moves the congestion window: the algorithm together with loss recovery, or the algorithm alone.

use crate::host::tcp::control::{CaEvent, CongestionControl, Control, RateControl};
use crate::host::tcp::rate::RateEstimator;
use crate::host::tcp::recovery::{AckKind, Recovery};
use crate::host::tcp::tcb::Tcb;

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

    /// Whether the algorithm sets the pacing rate itself.
    #[inline]
    pub(super) fn is_rate_control(&self) -> bool {
        matches!(self.control, Control::Rate(_))
    }
}
