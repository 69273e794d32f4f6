//! A discipline of its own for each transmit queue of a device (ns-3's `MqQueueDisc`, Linux's
//! `mq`).
//!
//! It never sees a packet: a packet enters the child of the queue that it is for, and each queue
//! wakes its own child (ns-3's `WAKE_CHILD`).  So there is nothing here to enqueue into, and the
//! device with several queues (`network/transmit_queues.rs`) runs the children.  By itself each is
//! what ns-3's `TrafficControlHelper::Default` gives the queues of such a device.

use super::discipline::{Children, Discipline};
use crate::base::attributes::Spec;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "MqQueueDisc",
        linux: &["mq"],
        is_in_linux: true,
        doc: "A child discipline for each transmit queue of a device that has several.",
        source: "tc-mq(8)",
        departures: &[],
        params: &[],
    },
    &[],
)
.with_children(Children::TransmitQueues { default: "FqCoDelQueueDisc" });
