//! The parameters of PIE.

use super::codel::{CE_THRESHOLD, USE_ECN, USE_L4S};
use crate::base::attributes::{Attributes, FRACTION, Kind, NOT_NEGATIVE, Param, Spec, U32, param};
use crate::base::time::Time;
use crate::base::units::QueueSize;

/// The parameters that flow queueing has, too.
pub const MEAN_PACKET_SIZE: Param = param!["MeanPktSize"; Kind::Uint { min: 1, max: u32::MAX as u64 } => "1000";
    "Mean packet size in bytes, for a limit in bytes."];
pub const A: Param = param!["A"; NOT_NEGATIVE => "0.125";
    "Weight of the delay's deviation from the reference, in 1/s."];
pub const B: Param = param!["B"; NOT_NEGATIVE => "1.25"; "Weight of the delay's change, in 1/s."];
pub const T_UPDATE: Param = param!["Tupdate", "tupdate"; Kind::Period => "15ms";
    "Time between two computations of the probability."];
pub const S_UPDATE: Param = param!["Supdate"; Kind::Time => "0ns";
    "Without effect, as in ns-3, where the first computation is scheduled before it is set."];
pub const DEQUEUE_THRESHOLD: Param = param!["DequeueThreshold"; U32 => "16384";
    "Backlog in bytes from which the departure rate is measured."];
pub const REFERENCE: Param = param!["QueueDelayReference", "target"; Kind::Time => "15ms";
    "Queueing delay to aim at."];
pub const MAX_BURST: Param = param!["MaxBurstAllowance"; Kind::Time => "150ms";
    "How long nothing is dropped after an idle time."];
pub const RATE_ESTIMATOR: Param = param!["UseDequeueRateEstimator", "dq_rate_estimator"; Kind::Bool => "false";
    "Estimate the delay from backlog and departure rate, not from time stamps."];
pub const CAP_DROP_ADJUSTMENT: Param = param!["UseCapDropAdjustment"; Kind::Bool => "true";
    "Raise the probability by 2 % at most once it is 10 % (RFC 8033 section 5.5)."];
pub const DERANDOMIZATION: Param = param!["UseDerandomization"; Kind::Bool => "false";
    "Space drops more evenly than by chance alone (RFC 8033 section 5.4)."];
/// Unlike CoDel, PIE does not ask it of other packets.
pub const L4S_THRESHOLD: Param = Param {
    doc: "With UseL4s, sojourn time above which L4S packets are marked; without effect otherwise, as in ns-3.",
    ..CE_THRESHOLD
};
pub const MARK_ECN_THRESHOLD: Param = param!["MarkEcnThreshold"; FRACTION => "0.1";
    "Probability from which packets are dropped even if they could be marked."];

pub const SPEC: Spec = Spec {
    ns3: "PieQueueDisc",
    linux: &["pie"],
    is_in_linux: true,
    doc: "Proportional integral controller of the queueing delay.",
    source: "RFC 8033",
    departures: &[],
    params: &[
        MEAN_PACKET_SIZE,
        A,
        B,
        T_UPDATE,
        S_UPDATE,
        param!["MaxSize", "limit"; Kind::QueueSize => "25p";
            "How much the queue holds, in packets or bytes."],
        DEQUEUE_THRESHOLD,
        REFERENCE,
        MAX_BURST,
        RATE_ESTIMATOR,
        CAP_DROP_ADJUSTMENT,
        USE_ECN,
        MARK_ECN_THRESHOLD,
        DERANDOMIZATION,
        param!["ActiveThreshold"; Kind::Time => "+9.22337e+18ns";
            "Queueing delay at which PIE becomes active; always active by default."],
        L4S_THRESHOLD,
        USE_L4S,
    ],
};

#[derive(Clone, Debug)]
pub(super) struct Params {
    pub limit: QueueSize,
    pub mean_packet_size: u32,
    pub a: f64,
    pub b: f64,
    pub t_update: Time,
    pub dequeue_threshold: u32,
    /// In seconds.
    pub reference: f64,
    pub max_burst: Time,
    pub rate_estimator: bool,
    pub cap_drop_adjustment: bool,
    pub derandomization: bool,
    pub use_ecn: bool,
    pub mark_ecn_threshold: f64,
    pub ce_threshold: Time,
    pub use_l4s: bool,
    /// `None`: always active.
    pub active_threshold: Option<Time>,
}

impl Params {
    /// Reads the parameters that flow queueing hands on to its children.  (It has a
    /// `MarkEcnThreshold` of its own, but ns-3 does not hand that one on.)
    pub fn for_flows(a: &Attributes<'_>) -> Self {
        Params {
            limit: a.queue_size("MaxSize"),
            mean_packet_size: a.u32("MeanPktSize"),
            a: a.f64("A"),
            b: a.f64("B"),
            t_update: a.time("Tupdate"),
            dequeue_threshold: a.u32("DequeueThreshold"),
            reference: a.time("QueueDelayReference").secs_f64(),
            max_burst: a.time("MaxBurstAllowance"),
            rate_estimator: a.bool("UseDequeueRateEstimator"),
            cap_drop_adjustment: a.bool("UseCapDropAdjustment"),
            derandomization: a.bool("UseDerandomization"),
            use_ecn: a.bool("UseEcn"),
            mark_ecn_threshold: 0.1,
            ce_threshold: a.time("CeThreshold"),
            use_l4s: a.bool("UseL4s"),
            active_threshold: None,
        }
    }

    pub fn new(a: &Attributes<'_>) -> Self {
        let active = a.time("ActiveThreshold");
        Params {
            mark_ecn_threshold: a.f64("MarkEcnThreshold"),
            active_threshold: (active != Time::MAX).then_some(active),
            ..Params::for_flows(a)
        }
    }
}
