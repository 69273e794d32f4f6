//! Who moves the congestion window: the algorithm together with loss recovery, or the algorithm alone.

use crate::base::time::Time;
use crate::host::tcp::control::{CaEvent, Callback, CongestionControl, Control, TcpStack};
use crate::host::tcp::profile::changes::{Change, Changes};
use crate::host::tcp::rate::{AckSample, Law, RateEstimator};
use crate::host::tcp::recovery::{AckKind, Episode, Recovery};
use crate::host::tcp::tcb::{CongState, Tcb};

/// Under rate control all of this leaves the window alone, but for [`Self::sample`].
#[derive(Debug)]
#[repr(C)]
pub(super) struct Congestion {
    recovery: Box<dyn Recovery>,
    /// The algorithm is told of CWR, as of the other states ([`Change::CwrEvents`]).
    is_told_of_cwr: bool,
    pub(super) control: Control,
}

impl Congestion {
    pub(super) fn new(
        control: Control,
        recovery: Box<dyn Recovery>,
        changes: Changes,
    ) -> Congestion {
        Congestion { control, recovery, is_told_of_cwr: changes.has(Change::CwrEvents) }
    }

    /// What the algorithm needs to know of the delivery rate.
    pub(super) fn rate_estimator(&self, stack: TcpStack) -> RateEstimator {
        if self.control.wants_samples() {
            RateEstimator::sampling(match stack {
                _ if self.control.wants_round_trips() => Law::Draft,
                TcpStack::Ns3 => Law::Ns3,
                TcpStack::Linux => Law::Linux,
            })
        } else if self.control.is_rate_control() {
            RateEstimator::counting()
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
            self.control.grow(tcb, segments);
        }
    }

    /// The connection opens.
    pub(super) fn init(&mut self, tcb: &mut Tcb) {
        self.control.init(tcb);
    }

    /// See [`Control::begin_slow_start`].
    pub(super) fn begin_slow_start(&mut self, tcb: &Tcb) {
        self.control.begin_slow_start(tcb);
    }

    /// See [`Control::ssthresh`].
    pub(super) fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32 {
        self.control.ssthresh(tcb, bytes_in_flight)
    }

    /// An ACK has acknowledged so many segments.
    #[inline]
    pub(super) fn pkts_acked(&mut self, tcb: &mut Tcb, segments: u32, rtt: Time) {
        self.control.pkts_acked(tcb, segments, rtt);
    }

    /// The state machine is about to enter `state`.
    pub(super) fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        self.control.set_state(tcb, state);
    }

    /// An episode of Recovery or CWR begins; see [`Recovery::enter`].
    pub(super) fn enter(&mut self, tcb: &mut Tcb, episode: Episode) {
        if !self.is_rate_control() {
            self.recovery.enter(tcb, episode);
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

    /// An episode of CWR is about to begin, or, with Open, to end.
    pub(super) fn on_cwr(&mut self, tcb: &mut Tcb, state: CongState) {
        if self.is_told_of_cwr {
            self.control.set_state(tcb, state);
        }
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
        self.control.sample(tcb, sample);
    }

    /// See [`CongestionControl::limits_itself`].
    #[inline]
    pub(super) fn limits_itself(&self) -> bool {
        self.control.limits_itself()
    }

    /// Whether the algorithm alone has window and pacing rate.
    #[inline]
    pub(super) fn is_rate_control(&self) -> bool {
        self.control.is_rate_control()
    }
}
