//! Flow queueing with PIE (ns-3's `FqPieQueueDisc`, Linux's `fq_pie`).

use super::BuildContext;
use super::codel::{USE_ECN, USE_L4S};
use super::discipline::Discipline;
use super::flow_queue::{self, FlowQueueing};
use super::pie::Pie;
use super::pie_params as params;
use crate::base::attributes::{Param, Spec};

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "FqPieQueueDisc",
        linux: &["fq_pie"],
        is_in_linux: true,
        doc: "Flow queueing with PIE in each queue.",
        source: "RFC 8290 and RFC 8033",
        departures: &flow_queue::DEPARTURES,
        params: &[
            Param { default: "true", ..USE_ECN },
            Param {
                doc: "Without effect, as in ns-3: the queues use 0.1.",
                ..params::MARK_ECN_THRESHOLD
            },
            params::L4S_THRESHOLD,
            USE_L4S,
            params::MEAN_PACKET_SIZE,
            params::A,
            params::B,
            params::T_UPDATE,
            params::S_UPDATE,
            flow_queue::MAX_SIZE,
            params::DEQUEUE_THRESHOLD,
            params::REFERENCE,
            params::MAX_BURST,
            params::RATE_ESTIMATOR,
            params::CAP_DROP_ADJUSTMENT,
            params::DERANDOMIZATION,
            flow_queue::FLOWS,
            flow_queue::DROP_BATCH_SIZE,
            flow_queue::PERTURBATION,
            flow_queue::SET_ASSOCIATIVE,
            flow_queue::SET_WAYS,
        ],
    },
    &[&[("MaxSize", "40p"), ("A", "100")]],
)
.checked(flow_queue::check);

pub type FqPie = FlowQueueing<Pie>;

impl FqPie {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        FlowQueueing::around(Pie::for_flows(cx), cx)
    }
}
