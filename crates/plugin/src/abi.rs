//! The structures of `ccperf.h`, which describes them.

use std::ffi::{c_char, c_void};

pub use crate::tcb::{SampleView, TcbView};
use ccperf_engine::base::time::Time;
use ccperf_engine::congestion_control_callbacks;
use ccperf_engine::host::tcp::CongState;
use ccperf_engine::host::tcp::control::{CaEvent, EarlyAck};
use ccperf_engine::host::tcp::rate::AckSample;

use crate::calls::{Answer, Argument};

/// Grows with every change of the structures but new functions and fields at their end.
pub const ABI_VERSION: u32 = 2;
/// The symbols that a library exports.
pub const CCA_SYMBOL: &str = "ccperf_cca_v2";
pub const QDISC_SYMBOL: &str = "ccperf_qdisc_v2";
pub const BALANCER_SYMBOL: &str = "ccperf_balancer_v2";

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
    /// Of a further structure that is handed over.
    pub other_size: u32,
}

impl Header {
    pub const fn of<Table, View, Other>() -> Header {
        Header {
            abi_version: ABI_VERSION,
            table_size: size_of::<Table>() as u32,
            view_size: size_of::<View>() as u32,
            other_size: size_of::<Other>() as u32,
        }
    }
}

type Object = *mut c_void;

macro_rules! table {
    ($(
        $(#[doc = $doc:literal])*
        fn $variant:ident $name:ident($tcb:ident: $access:tt $(, $arg:ident: $type:ty)*)
            $(-> $answer:ty)? $([$out:ident])? $(= $default:expr)?;
    )*) => {
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct CcaTable {
            pub header: Header,
            pub create: Option<unsafe extern "C" fn(*mut ConfigView) -> Object>,
            pub destroy: Option<unsafe extern "C" fn(Object)>,
            pub hears: Option<unsafe extern "C" fn(Object) -> u32>,
            $(pub $name: Option<
                unsafe extern "C" fn(
                    Object,
                    *mut TcbView,
                    $(<$type as Argument>::C,)*
                    $(early!($out))?
                ) -> <answer!($($answer)?) as Answer>::C,
            >,)*
        }
    };
}

macro_rules! early {
    ($out:ident) => { *mut EarlyAckView };
}

/// What a function without an answer answers.
macro_rules! answer {
    () => {
        ()
    };
    ($answer:ty) => {
        $answer
    };
}
pub(crate) use answer;

congestion_control_callbacks!(table);

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
    /// A number for the flow, 1 for the way back, and its TCP header's numbers and flags.
    pub flow: u32,
    pub backward: i32,
    pub seq: u32,
    pub ack: u32,
    pub flags: u32,
    /// Differentiated services code point (RFC 2474).
    pub dscp: i32,
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
