//! Queue disciplines: one file each, one line in the registry below each.

#[cfg(test)]
mod bench;
mod classes;
mod context;
mod discipline;
mod flow_queue;
mod marking;
mod mq;
mod packet_fifo;
mod pie_params;
mod priorities;
mod reasons;
mod red_params;
mod scheduled;
#[cfg(test)]
mod tests;

pub use crate::packet::{FlowKey, FlowKeys};
use classes::Classes;
pub use context::{Counts, Nesting, QdiscContext, QdiscState};
pub use discipline::{Children, Contradiction, Discipline};
pub(crate) use flow_queue::flow_hash;
pub use packet_fifo::PacketFifo;
pub use scheduled::{ClassView, Scheduled, Scheduler};

use crate::base::attributes::{Attributes, Spec};
use crate::base::time::Time;
use crate::base::units::QueueSize;
use crate::packet::PacketId;

/// A queue discipline: the words are those of `tc` and RFC 7567, the behaviour that of ns-3's class
/// named in each file.
///
/// Every packet that goes in is reported through the context exactly once as enqueued or dropped
/// before enqueue, every packet that comes out as dequeued (and perhaps dropped after that): from
/// these reports the context keeps backlog, counters and trace.
pub trait Qdisc: Send {
    /// The discipline is made, before the simulation runs: what ns-3's constructor schedules.
    fn attach(&mut self, _cx: &mut QdiscContext<'_>) {}

    /// Its node starts, at time 0: what ns-3's `Initialize` schedules.  (Children, which are made
    /// when they are needed, are attached and started at once.)
    fn start(&mut self, _cx: &mut QdiscContext<'_>) {}

    /// A packet arrives.  Calls [`QdiscContext::enqueued`] and returns true, or
    /// [`QdiscContext::drop_before_enqueue`] and returns false.
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool;

    /// The device has room.  Calls [`QdiscContext::dequeued`] for each packet taken out of a queue,
    /// and [`QdiscContext::drop_after_dequeue`] for those it then drops.
    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId>;

    /// A packet of `ip_bytes` comes to the empty discipline at `now`, and the device takes it, so
    /// that it would be enqueued and dequeued at once.  Returns true if all that only counts the
    /// packet; what else it does has then been done.  False: the calls are made.
    fn passes(&mut self, _ip_bytes: u32, _now: Time) -> bool {
        false
    }

    /// After [`Qdisc::passes`], and before anything else: at `at`, the time of that, another `dequeue`
    /// would have found nothing.  For who notes this and has not foreseen it in `passes`.
    fn found_empty(&mut self, _at: Time) {}

    /// Whoever is above this discipline asks for the packet that comes next.
    fn peek(&mut self, _cx: &mut QdiscContext<'_>) -> Head {
        Head::Undecided
    }

    /// A timer set with [`QdiscContext::set_timer`] has fired.  Returns true if the discipline may
    /// now have a packet to send (the caller then runs it, as ns-3's `QueueDisc::Run`).
    fn timer(&mut self, _tag: u32, _cx: &mut QdiscContext<'_>) -> bool {
        false
    }

    /// How many packets the device takes in one run (ns-3's attribute `Quota`).
    fn run_quota(&self) -> u32 {
        64
    }
}

crate::opaque!(Qdisc);

/// What a discipline can tell of the packet that leaves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// This one, if any.  (COBALT may yet drop it, as in ns-3.)
    Known(Option<PacketId>),
    /// Only `dequeue` decides (ns-3's classes without a `DoPeek` of their own).
    Undecided,
}

/// What a discipline may read while it is built.
#[derive(Debug)]
pub struct BuildContext<'a> {
    pub attributes: Attributes<'a>,
    /// The device's MTU in bytes.
    pub mtu: u32,
    /// The first of the discipline's random streams, as a number for ns-3's `SetStream`, and the
    /// replication (ns-3's `RngRun`).
    pub stream: u64,
    pub run: u64,
    /// Its children, which it takes.
    pub children: Vec<AnyQdisc>,
    /// Of the switch that it is in.
    pub pool: Pool,
}

/// The discipline of most ports.
pub const FIFO: &str = fifo::SPEC.spec.ns3;

/// Whether the queues of a discipline are all there are: there is no device queue below it.
pub fn is_whole_queue(kind: &str) -> bool {
    kind == ndp::SPEC.spec.ns3
}

/// The discipline that shares its switch's buffer.
pub const SHARED_BUFFER: &str = shared_buffer::SPEC.spec.ns3;

pub use shared_buffer::Pool;

/// Declares the enum of all disciplines and the table that everything else reads.  Those `without ns3` are none of
/// ns-3's, and its driver has none either.
macro_rules! registry {
    ($($variant:ident = $module:ident $(without $ns3:ident)?,)*) => {
        $(mod $module;)*

        /// What ns-3 does not have, and its driver neither.
        pub const OWN: &[&str] = &[$($(name!($module without $ns3),)?)*];

        /// Any queue discipline; calls are dispatched by `match`, as they are made for every packet.
        #[derive(Debug)]
        pub enum AnyQdisc {
            $($variant($module::$variant),)*
            /// A discipline from outside.
            Dyn(Box<dyn Qdisc>),
        }

        /// Every discipline, in the order in which they are listed to users.
        pub const DISCIPLINES: &[&Discipline] = &[$(&$module::SPEC,)* &mq::SPEC];

        /// Their names and parameters.
        pub const SPECS: &[&Spec] = &[$(&$module::SPEC.spec,)* &mq::SPEC.spec];

        /// The discipline with this ns-3 name; none for [`MQ`], which is a device's and not one.
        pub fn build(ns3: &str, cx: &mut BuildContext<'_>) -> Option<AnyQdisc> {
            $(if ns3 == $module::SPEC.spec.ns3 {
                return Some(AnyQdisc::$variant($module::$variant::new(cx)));
            })*
            None
        }

        impl AnyQdisc {
            /// Its packets, if they leave in the order in which they come, and all that it does when one leaves is
            /// to count it.
            pub fn as_fifo(&mut self) -> Option<&mut PacketFifo> {
                match self {
                    AnyQdisc::Fifo(fifo) => Some(&mut fifo.queue),
                    AnyQdisc::Red(red) => Some(&mut red.queue),
                    AnyQdisc::StepRed(step) => Some(&mut step.queue),
                    _ => None,
                }
            }
        }

        impl Qdisc for AnyQdisc {
            fn attach(&mut self, cx: &mut QdiscContext<'_>) {
                match self {
                    $(AnyQdisc::$variant(q) => q.attach(cx),)*
                    AnyQdisc::Dyn(q) => q.attach(cx),
                }
            }

            fn start(&mut self, cx: &mut QdiscContext<'_>) {
                match self {
                    $(AnyQdisc::$variant(q) => q.start(cx),)*
                    AnyQdisc::Dyn(q) => q.start(cx),
                }
            }

            #[inline]
            fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
                match self {
                    $(AnyQdisc::$variant(q) => q.enqueue(id, cx),)*
                    AnyQdisc::Dyn(q) => q.enqueue(id, cx),
                }
            }

            #[inline]
            fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
                match self {
                    $(AnyQdisc::$variant(q) => q.dequeue(cx),)*
                    AnyQdisc::Dyn(q) => q.dequeue(cx),
                }
            }

            #[inline(always)] // on every hop
            fn passes(&mut self, ip_bytes: u32, now: Time) -> bool {
                match self {
                    $(AnyQdisc::$variant(q) => q.passes(ip_bytes, now),)*
                    AnyQdisc::Dyn(q) => q.passes(ip_bytes, now),
                }
            }

            fn found_empty(&mut self, at: Time) {
                match self {
                    $(AnyQdisc::$variant(q) => q.found_empty(at),)*
                    AnyQdisc::Dyn(q) => q.found_empty(at),
                }
            }

            fn peek(&mut self, cx: &mut QdiscContext<'_>) -> Head {
                match self {
                    $(AnyQdisc::$variant(q) => q.peek(cx),)*
                    AnyQdisc::Dyn(q) => q.peek(cx),
                }
            }

            fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
                match self {
                    $(AnyQdisc::$variant(q) => q.timer(tag, cx),)*
                    AnyQdisc::Dyn(q) => q.timer(tag, cx),
                }
            }

            fn run_quota(&self) -> u32 {
                match self {
                    $(AnyQdisc::$variant(q) => q.run_quota(),)*
                    AnyQdisc::Dyn(q) => q.run_quota(),
                }
            }
        }
    };
}

macro_rules! name {
    ($module:ident without ns3) => {
        $module::SPEC.spec.ns3
    };
}

registry! {
    Fifo = fifo,
    CoDel = codel,
    FqCoDel = fq_codel,
    Pie = pie,
    FqPie = fq_pie,
    Cobalt = cobalt,
    FqCobalt = fq_cobalt,
    Red = red,
    PfifoFast = pfifo_fast,
    Prio = prio,
    Tbf = tbf,
    BurstRelease = burst_release,
    Policer = policer,
    EcnSharp = ecn_sharp,
    Tcn = tcn,
    StepRed = step_red,
    MarkingCoDel = marking_codel,
    MarkingPie = marking_pie,
    Dwrr = dwrr,
    Wfq = wfq,
    StrictPriority = strict_priority,
    SharedBuffer = shared_buffer,
    DualPi2 = dual_pi2 without ns3,
    MarkingRed = marking_red without ns3,
    Ndp = ndp without ns3,
}

/// The ns-3 name of the discipline whose children a device with several queues runs.
pub const MQ: &str = mq::SPEC.spec.ns3;

/// The discipline with this ns-3 name.
pub fn find(ns3: &str) -> Option<&'static Discipline> {
    DISCIPLINES.iter().copied().find(|discipline| discipline.spec.ns3 == ns3)
}

/// The limit of a discipline that counts packets only.
fn packet_limit(attributes: &Attributes<'_>) -> u32 {
    match attributes.queue_size("MaxSize") {
        QueueSize::Packets(limit) => limit,
        QueueSize::Bytes(_) => unreachable!("a `Kind::PacketLimit` is in packets"),
    }
}
