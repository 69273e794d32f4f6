//! Flow queueing with CoDel (RFC 8290; ns-3's `FqCoDelQueueDisc`, Linux's `fq_codel`).

use super::BuildContext;
use super::codel::{self, CoDel};
use super::discipline::Discipline;
use super::flow_queue::{self, FlowQueueing};
use crate::base::attributes::{Param, Spec};

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "FqCoDelQueueDisc",
        linux: &["fq_codel"],
        is_in_linux: true,
        doc: "Flow queueing with CoDel in each queue.",
        source: "RFC 8290",
        departures: &flow_queue::DEPARTURES,
        params: &[
            Param { default: "true", ..codel::USE_ECN },
            codel::INTERVAL,
            codel::TARGET,
            flow_queue::MAX_SIZE,
            flow_queue::FLOWS,
            flow_queue::DROP_BATCH_SIZE,
            flow_queue::PERTURBATION,
            codel::CE_THRESHOLD,
            flow_queue::SET_ASSOCIATIVE,
            flow_queue::SET_WAYS,
            codel::USE_L4S,
        ],
    },
    &[
        &[("MaxSize", "40p"), ("Interval", "5ms"), ("Target", "1ms")],
        &[("MaxSize", "40p"), ("EnableSetAssociativeHash", "true"), ("Flows", "8")],
    ],
)
.checked(flow_queue::check);

pub type FqCoDel = FlowQueueing<CoDel>;

impl FqCoDel {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        let child = CoDel::with(&codel::Params {
            limit: a.queue_size("MaxSize"),
            target: a.time("Target"),
            interval: a.time("Interval"),
            min_bytes: codel::DEFAULT_MIN_BYTES,
            use_ecn: a.bool("UseEcn"),
            use_l4s: a.bool("UseL4s"),
            ce_threshold: a.time("CeThreshold"),
        });
        FlowQueueing::around(child, cx)
    }
}
