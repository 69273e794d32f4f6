//! Who moves the congestion window: the algorithm together with loss recovery, or the algorithm alone.

use crate::host::tcp::control::{CaEvent, Callback, CongestionControl, Control};
use crate::host::tcp::rate::{AckSample, RateEstimator};
use crate::host::tcp::recovery::{AckKind, Recovery};
use crate::host::tcp::tcb::Tcb;

/// Under rate control all of this leaves the window alone, but for [`Self::sample`].
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
        if self.control.wants_samples() {
            RateEstimator::sampling()
        } else {
            RateEstimator::default()
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
        if !self.is_rate_control() {
            self.algorithm().cong_avoid(tcb, segments);
        }
    }

    /// An episode of Recovery or CWR begins; see [`Recovery::enter`].
    pub(super) fn enter(&mut self, tcb: &mut Tcb, unacked_bytes: u32, delivered_bytes: u32) {
        if !self.is_rate_control() {
            self.recovery.enter(tcb, unacked_bytes, delivered_bytes);
        }
    }

    /// An ACK in an episode; see [`Recovery::on_ack`].
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, delivered_bytes: u32, kind: AckKind) {
        if !self.is_rate_control() {
            self.recovery.on_ack(tcb, delivered_bytes, kind);
        }
    }

    /// Data sent in an episode.
    pub(super) fn on_sent(&mut self, bytes: u32) {
        self.recovery.on_sent(bytes);
    }

    /// The window that CWR aimed for is reached.
    pub(super) fn complete_cwr(&mut self, tcb: &mut Tcb) {
        if !self.is_rate_control() {
            tcb.cwnd = tcb.ssthresh;
            self.algorithm().cwnd_event(tcb, CaEvent::CompleteCwr);
        }
    }

    #[inline(always)]
    pub(super) fn hears(&self, callback: Callback) -> bool {
        self.control.hears(callback)
    }

    /// An ACK has been accounted for, and this is its sample.
    #[inline]
    pub(super) fn sample(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        if self.hears(Callback::OnAck) && sample.rate.acked_sacked > 0 {
            self.algorithm().on_ack(tcb, sample);
        }
        if self.is_rate_control() {
            self.algorithm().cong_control(tcb, sample);
        }
    }

    /// Whether the algorithm alone has window and pacing rate.
    #[inline]
    pub(super) fn is_rate_control(&self) -> bool {
        self.control.is_rate_control()
    }
}
