//! Flow queueing with COBALT (ns-3's `FqCobaltQueueDisc`).

use super::BuildContext;
use super::cobalt::{self, Cobalt};
use super::codel::{CE_THRESHOLD, INTERVAL, TARGET, USE_ECN, USE_L4S};
use super::discipline::Discipline;
use super::flow_queue::{self, FlowQueueing};
use crate::base::attributes::{Param, Spec};

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "FqCobaltQueueDisc",
        linux: &["fq_cobalt"],
        is_in_linux: false,
        doc: "Flow queueing with COBALT in each queue.",
        source: "RFC 8290 and Palmei et al., IEEE LANMAN 2019",
        departures: &flow_queue::DEPARTURES,
        params: &[
            Param { default: "true", ..USE_ECN },
            INTERVAL,
            TARGET,
            flow_queue::MAX_SIZE,
            flow_queue::FLOWS,
            flow_queue::DROP_BATCH_SIZE,
            flow_queue::PERTURBATION,
            CE_THRESHOLD,
            flow_queue::SET_ASSOCIATIVE,
            flow_queue::SET_WAYS,
            USE_L4S,
            cobalt::P_DROP,
            cobalt::INCREMENT,
            cobalt::DECREMENT,
            cobalt::BLUE_THRESHOLD,
        ],
    },
    &[
        &[("MaxSize", "40p"), ("Interval", "5ms"), ("Target", "1ms")],
        &[("MaxSize", "40p"), ("EnableSetAssociativeHash", "true"), ("Flows", "8")],
    ],
)
.checked(flow_queue::check);

pub type FqCobalt = FlowQueueing<Cobalt>;

impl FqCobalt {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        FlowQueueing::around(Cobalt::new(cx), cx)
    }
}
