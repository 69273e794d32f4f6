//! The structures of `ccperf.h`, which describes them.

use std::ffi::{c_char, c_void};

pub use crate::tcb::TcbView;

pub const ABI_VERSION: u32 = 1;
/// The symbols that a library exports.
pub const CCA_SYMBOL: &str = "ccperf_cca_v1";
pub const QDISC_SYMBOL: &str = "ccperf_qdisc_v1";
pub const BALANCER_SYMBOL: &str = "ccperf_balancer_v1";

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    pub name: *const c_char,
    pub value: *const c_char,
}

#[repr(C)]
#[derive(Debug)]
pub struct ConfigView {
    pub attributes: *const Attribute,
    pub attribute_count: i64,
    pub seed: i64,
    pub error: *const c_char,
}

/// A C string that a library leaves for the host, or null.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct ErrorText(pub(crate) *const c_char);

// SAFETY: it is read only by the thread that made the call.
unsafe impl Send for ErrorText {}
// SAFETY: as above.
unsafe impl Sync for ErrorText {}

impl ErrorText {
    pub const NONE: ErrorText = ErrorText(std::ptr::null());
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RateSampleView {
    pub delivery_rate_bps: i64,
    pub interval_ns: i64,
    pub delivered: i64,
    pub prior_delivered: i64,
    pub prior_time_ns: i64,
    pub send_elapsed_ns: i64,
    pub ack_elapsed_ns: i64,
    pub bytes_loss: i64,
    pub prior_in_flight: i64,
    pub acked_sacked: i64,
    pub total_delivered: i64,
    pub delivered_time_ns: i64,
    pub first_sent_time_ns: i64,
    pub app_limited: i64,
    pub is_app_limited: i32,
    pub reserved: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct EarlyAckView {
    pub send: i32,
    pub ece: i32,
    pub ack: u32,
    pub reserved: u32,
}

/// The beginning of each table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub abi_version: u32,
    pub table_size: u32,
    pub view_size: u32,
    pub reserved: u32,
}

impl Header {
    pub const fn of<Table, View>() -> Header {
        Header {
            abi_version: ABI_VERSION,
            table_size: size_of::<Table>() as u32,
            view_size: size_of::<View>() as u32,
            reserved: 0,
        }
    }
}

type Object = *mut c_void;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CcaTable {
    pub header: Header,
    pub create: Option<unsafe extern "C" fn(*mut ConfigView) -> Object>,
    pub destroy: Option<unsafe extern "C" fn(Object)>,
    pub init: Option<unsafe extern "C" fn(Object, *mut TcbView)>,
    pub ssthresh: Option<unsafe extern "C" fn(Object, *mut TcbView, i64) -> i64>,
    pub cong_avoid: Option<unsafe extern "C" fn(Object, *mut TcbView, i64)>,
    pub pkts_acked: Option<unsafe extern "C" fn(Object, *mut TcbView, i64, i64)>,
    pub set_state: Option<unsafe extern "C" fn(Object, *mut TcbView, i32)>,
    pub cwnd_event: Option<unsafe extern "C" fn(Object, *mut TcbView, i32, *mut EarlyAckView)>,
    pub cong_control: Option<unsafe extern "C" fn(Object, *mut TcbView, *const RateSampleView)>,
    pub has_cong_control: Option<unsafe extern "C" fn(Object) -> i32>,
}

/// A packet as a queue discipline sees it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Valid until the packet is dequeued or dropped.
    pub id: u32,
    /// IPv4 addresses.
    pub source: u32,
    pub destination: u32,
    pub source_port: u16,
    pub destination_port: u16,
    /// Size of the IP packet.
    pub bytes: i64,
    /// Size of the TCP segment's payload.
    pub payload: i64,
    /// When the discipline accepted it.
    pub enqueued_ns: i64,
    /// 0 not ECN capable, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: i32,
    pub protocol: i32,
}

/// The queue, and what a discipline can do to it during a call; see its methods.
#[repr(C)]
#[derive(Debug)]
pub struct Queue {
    pub now_ns: i64,
    pub(crate) error: *const c_char,
    /// In the discipline, without the packet that arrives.
    pub packets: i64,
    pub bytes: i64,
    /// Of the link.
    pub rate_bps: i64,
    pub(crate) host: *mut c_void,
    pub(crate) mark: unsafe extern "C" fn(*mut c_void, u32, *const c_char) -> i32,
    pub(crate) drop: unsafe extern "C" fn(*mut c_void, u32, *const c_char),
    pub(crate) set_timer: unsafe extern "C" fn(*mut c_void, i64, u32),
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QdiscTable {
    pub header: Header,
    pub create: Option<unsafe extern "C" fn(*mut ConfigView) -> Object>,
    pub destroy: Option<unsafe extern "C" fn(Object)>,
    pub enqueue: Option<unsafe extern "C" fn(Object, *mut Queue, *const Packet) -> i32>,
    pub dequeue: Option<unsafe extern "C" fn(Object, *mut Queue) -> i64>,
    pub timer: Option<unsafe extern "C" fn(Object, *mut Queue, u32) -> i32>,
}

/// A packet as a load balancer sees it at a switch.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// A number for what a switch would know by addresses and ports, and 1 for the way back.
    pub flow: u32,
    pub backward: i32,
    /// Of addresses, protocol and ports in this direction, each of its bits depending on all of theirs.
    pub hash: u64,
    /// Nodes, numbered as the scenario lists them from 0: the hosts, and the switches that they are behind.
    pub source: u32,
    pub destination: u32,
    pub source_leaf: u32,
    pub destination_leaf: u32,
    /// Size of the IP packet.
    pub bytes: i64,
    /// Size of the TCP segment's payload.
    pub payload: i64,
    pub seq: u32,
    pub ack: u32,
    /// The TCP header's.
    pub flags: u32,
    /// 0 not ECN capable, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: i32,
    /// Yours to change: what the switches behind this one read; 0 when a host sends the packet.
    pub notes: [u32; 3],
    pub reserved: u32,
}

/// The switch, and what a balancer may ask of its ports during a call; see its methods.
#[repr(C)]
#[derive(Debug)]
pub struct Switch {
    pub now_ns: i64,
    pub(crate) error: *const c_char,
    /// Its number among the nodes.
    pub node: u32,
    pub(crate) reserved: u32,
    pub(crate) port_count: i64,
    pub(crate) ports: *const u32,
    pub(crate) host: *mut c_void,
    pub(crate) waiting_bytes: unsafe extern "C" fn(*mut c_void, u32) -> i64,
    pub(crate) sent_bytes: unsafe extern "C" fn(*mut c_void, u32) -> i64,
    pub(crate) rate_bps: unsafe extern "C" fn(*mut c_void, u32) -> i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BalancerTable {
    pub header: Header,
    pub create: Option<unsafe extern "C" fn(*mut ConfigView) -> Object>,
    pub destroy: Option<unsafe extern "C" fn(Object)>,
    pub pick: Option<unsafe extern "C" fn(Object, *mut Switch, *mut Hop) -> i64>,
    pub sees_every_hop: Option<unsafe extern "C" fn(Object) -> i32>,
    pub period_ns: Option<unsafe extern "C" fn(Object) -> i64>,
    pub tick: Option<unsafe extern "C" fn(Object, *mut Switch)>,
}
