//! The parameters of RED, and those that follow from them.

use crate::base::attributes::{Attributes, FRACTION, Kind, NOT_NEGATIVE, Spec, U32, param};
use crate::base::math;
use crate::base::time::Time;
use crate::base::units::QueueSize;

const POSITIVE: Kind = Kind::Uint { min: 1, max: u32::MAX as u64 };
/// A probability is divided or multiplied by it.
const FACTOR: Kind = Kind::Real { min: 0.001, max: f64::INFINITY };

pub const SPEC: Spec = Spec {
    ns3: "RedQueueDisc",
    linux: &["red"],
    is_in_linux: true,
    doc: "Random early detection, with its gentle, adaptive and nonlinear variants.",
    source: "Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993",
    departures: &[],
    params: &[
        param!["MeanPktSize", "avpkt"; POSITIVE => "500"; "Mean packet size in bytes."],
        param!["IdlePktSize"; U32 => "0"; "Without effect, as in ns-3."],
        param!["Wait"; Kind::Bool => "true"; "Wait between two early drops."],
        param!["Gentle"; Kind::Bool => "true";
            "Raise the probability to 1 from MaxTh to twice MaxTh, not at once."],
        param!["ARED"; Kind::Bool => "false";
            "Adaptive RED: sets MinTh, MaxTh, QW and AdaptMaxP by itself."],
        param!["AdaptMaxP", "adaptive"; Kind::Bool => "false"; "Adapt the maximum probability (AIMD)."],
        param!["FengAdaptive"; Kind::Bool => "false";
            "Adapt the maximum probability as Feng et al. do (MIMD)."],
        param!["NLRED"; Kind::Bool => "false"; "Nonlinear RED: a quadratic probability."],
        param!["MinTh"; NOT_NEGATIVE => "5"; "Lower threshold of the average, in the unit of MaxSize."],
        param!["MaxTh"; NOT_NEGATIVE => "15"; "Upper threshold of the average, in the unit of MaxSize."],
        param!["MaxSize", "limit"; Kind::QueueSize => "25p";
            "How much the queue holds, in packets or bytes."],
        param!["QW"; Kind::Real { min: -2.0, max: 1.0 } => "0.002";
            "Weight of the present length in the average; 0, -1, -2: derived from the bandwidth."],
        param!["LInterm"; Kind::Real { min: 1.0, max: f64::INFINITY } => "50"; "Inverse of the maximum probability."],
        param!["TargetDelay"; Kind::Time => "5ms"; "Queueing delay that ARED aims at."],
        param!["Interval"; Kind::Time => "500ms"; "Time between two adaptations (AIMD)."],
        param!["Top"; FRACTION => "0.5"; "Upper bound of the adapted probability."],
        param!["Bottom"; FRACTION => "0";
            "Lower bound of the adapted probability; 0: derived from Rtt and LinkBandwidth."],
        param!["Alpha"; FRACTION => "0.01"; "Increment of the adapted probability."],
        param!["Beta"; FRACTION => "0.9"; "Factor of the adapted probability's decrease."],
        param!["FengAlpha"; FACTOR => "3"; "Divisor of Feng's decrease."],
        param!["FengBeta"; FACTOR => "2"; "Factor of Feng's increase."],
        param!["LastSet"; Kind::Time => "0ns"; "When the probability counts as adapted last."],
        param!["Rtt"; Kind::Time => "100ms"; "Round-trip time from which Bottom is derived."],
        param!["Ns1Compat"; Kind::Bool => "false"; "A forced drop restarts the count."],
        param!["LinkBandwidth", "bandwidth"; Kind::Rate => "1500000bps"; "The link's rate."],
        param!["LinkDelay"; Kind::Time => "20ms"; "The link's delay, used when QW is -1."],
        param!["UseEcn", "ecn"; Kind::Bool => "false"; "Mark where possible instead of dropping."],
        param!["UseHardDrop", "harddrop"; Kind::Bool => "true";
            "Drop, not mark, above the thresholds' range."],
    ],
};

/// What every packet needs comes first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Params {
    pub limit: QueueSize,
    /// Packets of mean size that the link sends in a second.
    pub packets_per_second: f64,
    pub weight: f64,
    /// After idle times below this one the average is the queue as it is, as in switches that compare no
    /// average: with weight 1 nothing is kept.  0: always with another weight.
    pub forgets_for: Time,
    pub wait: bool,
    pub gentle: bool,
    pub nonlinear: bool,
    pub adapts: bool,
    pub feng: bool,
    pub ns1_compat: bool,
    pub use_ecn: bool,
    pub hard_drop: bool,
    pub min_th: f64,
    pub max_th: f64,
    pub mean_packet_size: u32,
    pub l_interm: f64,
    pub interval: Time,
    pub last_set: Time,
    pub top: f64,
    pub bottom: f64,
    pub alpha: f64,
    pub beta: f64,
    pub feng_alpha: f64,
    pub feng_beta: f64,
}

impl Params {
    pub fn new(a: &Attributes<'_>) -> Self {
        let limit = a.queue_size("MaxSize");
        let mean_packet_size = a.u32("MeanPktSize");
        let mean = f64::from(mean_packet_size);
        let bandwidth = a.rate("LinkBandwidth").0 as f64;
        let packets_per_second = bandwidth / (8.0 * mean);

        let automatic = a.bool("ARED");
        let given = |name| if automatic { 0.0 } else { a.f64(name) };
        let (mut min_th, mut max_th) = (given("MinTh"), given("MaxTh"));
        if min_th == 0.0 && max_th == 0.0 {
            // Half the queue that gives the target delay, at least 5 packets, and three times that
            // (adaptive RED, section 4.3).
            let target = a.time("TargetDelay").secs_f64() * packets_per_second;
            min_th = if target / 2.0 > 5.0 { target / 2.0 } else { 5.0 };
            if matches!(limit, QueueSize::Bytes(_)) {
                min_th *= mean;
            }
            max_th = 3.0 * min_th;
        }
        let weight = weight(given("QW"), packets_per_second, a.time("LinkDelay"));
        let (adapts, feng) = (automatic || a.bool("AdaptMaxP"), a.bool("FengAdaptive"));
        let forgets = weight == 1.0 && !adapts && !feng;
        Params {
            limit,
            mean_packet_size,
            packets_per_second,
            wait: a.bool("Wait"),
            gentle: a.bool("Gentle"),
            nonlinear: a.bool("NLRED"),
            adapts,
            feng,
            forgets_for: if forgets { uncounted(packets_per_second) } else { Time::ZERO },
            ns1_compat: a.bool("Ns1Compat"),
            use_ecn: a.bool("UseEcn"),
            hard_drop: a.bool("UseHardDrop"),
            min_th,
            max_th,
            weight,
            l_interm: a.f64("LInterm"),
            interval: a.time("Interval"),
            last_set: a.time("LastSet"),
            top: a.f64("Top"),
            bottom: match a.f64("Bottom") {
                // At most one packet per window of the bandwidth-delay product.
                0.0 => (8.0 * mean * a.time("Rtt").secs_f64() / bandwidth).min(0.01),
                bottom => bottom,
            },
            alpha: a.f64("Alpha"),
            beta: a.f64("Beta"),
            feng_alpha: a.f64("FengAlpha"),
            feng_beta: a.f64("FengBeta"),
        }
    }
}

/// An idle time in which fewer packets of mean size fit than a 32-bit number counts: one above wraps, and
/// then even weight 1 keeps the average.
fn uncounted(packets_per_second: f64) -> Time {
    const LONG: f64 = 1e18;
    Time((4e18 / packets_per_second).min(LONG) as u64)
}

/// The queue weight, or for the values 0, -1 and -2 one that makes the average follow in a time of
/// one second, of ten round-trip times, or of a tenth of a second.
fn weight(given: f64, packets_per_second: f64, link_delay: Time) -> f64 {
    if given == 0.0 {
        1.0 - math::exp(-1.0 / packets_per_second)
    } else if given == -1.0 {
        let rtt = 3.0 * (link_delay.secs_f64() + 1.0 / packets_per_second);
        let rtt = if rtt < 0.1 { 0.1 } else { rtt };
        1.0 - math::exp(-1.0 / (10.0 * rtt * packets_per_second))
    } else if given == -2.0 {
        1.0 - math::exp(-10.0 / packets_per_second)
    } else {
        given
    }
}
