//! The flat form of a scenario that every backend runs: integers, indices, addresses, routes and
//! stream numbers, no names to resolve, and no defaults to know but those of [`link`].

mod link;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

pub use link::{
    DeviceQueue, DeviceSelect, Direction, GilbertElliott, Jitter, Link, Pfc, Reordering, Schedule,
};

/// The version of the format.
pub const SCHEMA: u32 = 3;
/// A reader refuses others than these: in those of version 2 nothing of a link is left out.
pub const SCHEMAS: RangeInclusive<u32> = 2..=SCHEMA;

/// One run, complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lowered {
    /// [`SCHEMA`].
    pub schema: u32,
    pub stop_ns: u64,
    /// The replication: ns-3's `RngRun` (its `RngSeed` is always 1).
    pub seed: u64,
    pub recording: Recording,
    /// In creation order.
    pub nodes: Vec<String>,
    /// In creation order.
    pub links: Vec<Link>,
    /// In scheduling order.
    pub changes: Vec<Change>,
    /// How nodes choose among paths of equal length: `static`, or a balancer's name.
    #[serde(default = "first_shortest")]
    pub routing: Algorithm,
    /// In order of time.
    #[serde(default)]
    pub failures: Vec<Failure>,
    /// What switches lose of the packets that come to them; the first one that takes a packet has it.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// In creation order.
    pub flows: Vec<Flow>,
    /// Whose transfers are flows like those above, numbered behind them, workload by workload, and named
    /// `<workload>_<n>`, n from 1.
    #[serde(default)]
    pub workloads: Vec<Workload>,
    /// What workloads refer to: how their ends speak TCP, and between which nodes there are transfers.
    #[serde(default)]
    pub stacks: Vec<Stack>,
    #[serde(default)]
    pub pairs: Vec<Pair>,
    /// In creation order, after the flows.
    pub pings: Vec<Ping>,
    /// Sysctls of the hosts where they are Linux's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub linux: BTreeMap<String, String>,
}

impl Lowered {
    /// # Errors
    /// What is not of this form.
    pub fn from_json(json: &str) -> serde_json::Result<Lowered> {
        serde_json::from_str(json)
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }

    /// The name of a port.
    pub fn port_name(&self, port: usize) -> String {
        self.links[port / 2].direction_name(port % 2)
    }

    /// The flow number of the first transfer of each workload.
    pub fn first_transfers(&self) -> impl Iterator<Item = usize> {
        self.workloads.iter().scan(self.flows.len(), |next, workload| {
            *next += workload.len();
            Some(*next - workload.len())
        })
    }

    /// How many flows there are, those of workloads included.
    pub fn flow_count(&self) -> usize {
        self.flows.len() + self.workloads.iter().map(Workload::len).sum::<usize>()
    }
}

/// What is recorded besides the counters.  Flows and ports are named by their positions, ascending; a port
/// is a link's direction, 2 x link + direction.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    pub interval_ns: u64,
    /// Sampled at each interval.
    pub flows: Vec<u32>,
    pub ports: Vec<u32>,
    /// Whose queues are sampled at each interval of their own.
    pub queue_interval_ns: u64,
    pub queue_ports: Vec<u32>,
    /// Senders of which every change of state is recorded.
    pub changes: Vec<u32>,
    /// Whether each transfer's end is recorded.
    pub completions: bool,
    /// Whether it is recorded when the last data of each flow comes to its destination.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deliveries: bool,
    /// Whether what the ends of each flow send and receive is counted as ns-3's `FlowMonitor` does.
    #[serde(default)]
    pub flow_monitor: bool,
    /// Whether what balancers do to flows is recorded: in which order packets come, and what probing takes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub balancing: bool,
    /// Flows of which each change of the path is recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<u32>,
}

/// An algorithm by ns-3's class name, with the attributes that were given, under ns-3's names and in
/// ns-3's spelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Algorithm {
    #[serde(rename = "type")]
    pub kind: String,
    pub attributes: BTreeMap<String, String>,
    /// First stream number of its random draws; 2^63 + n is the nth that ns-3 assigns by itself.
    pub stream: u64,
    /// The disciplines inside a queue discipline: of the device's queues, if this is `MqQueueDisc`.
    #[serde(default)]
    pub children: Vec<Algorithm>,
}

fn yes() -> bool {
    true
}

fn first_shortest() -> Algorithm {
    Algorithm {
        kind: "static".to_owned(),
        attributes: BTreeMap::new(),
        stream: 0,
        children: Vec::new(),
    }
}

/// Links, by their positions, that fail or come back at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub time_ns: u64,
    pub down: Vec<usize>,
    pub up: Vec<usize>,
}

/// A switch that loses packets, at the receiving end of each link to it, after what the link loses.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub node: usize,
    /// The probability for each packet that it hits; 1: all, and no number is drawn.
    pub loss: f64,
    /// It hits what begins at one of these nodes and is for one of those; `None`: all do.
    pub sources: Option<Vec<usize>>,
    pub destinations: Option<Vec<usize>>,
    pub start_ns: u64,
    /// Zero: for ever.
    pub stop_ns: u64,
    /// Stream number of its draws.
    pub stream: u64,
}

/// A scheduled change of a link.  Rates change per direction, the delay for both at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub time_ns: u64,
    pub link: usize,
    /// New rates, forward and reverse.
    pub rate_bps: [Option<u64>; 2],
    pub delay_ns: Option<u64>,
    /// New loss probabilities, forward and reverse.
    pub loss: [Option<f64>; 2],
}

/// How a flow's data gets from one end to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Transport {
    /// A connection.
    #[default]
    Tcp,
    /// Datagrams that nobody acknowledges.
    Udp,
    /// A reliable connection of RDMA (RoCEv2), whose sender has a rate.
    Roce,
    /// Packets that switches may cut to their headers (NDP's, Ultra Ethernet's).
    Trimming,
}

impl Transport {
    pub fn is_tcp(&self) -> bool {
        *self == Transport::Tcp
    }

    /// Its senders take turns at the links of their hosts.
    pub fn takes_turns(&self) -> bool {
        matches!(self, Transport::Roce | Transport::Trimming)
    }
}

/// What goes from one host to another, and the application on top of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    pub name: String,
    pub transport: Transport,
    pub source: usize,
    pub destination: usize,
    pub source_address: Ipv4Addr,
    pub destination_address: Ipv4Addr,
    pub source_port: u16,
    pub destination_port: u16,
    /// `[link, direction]` of each hop from source to destination (direction 0 forward, 1 reverse).
    pub path: Vec<[usize; 2]>,
    /// Likewise from destination to source.
    pub return_path: Vec<[usize; 2]>,
    pub start_ns: u64,
    /// Zero: never stopped.
    pub stop_ns: u64,
    /// When the receiving application closes; zero: never.
    pub receiver_stop_ns: u64,
    /// False: nobody ever listens at the destination, over UDP.
    #[serde(default = "yes")]
    pub is_heard: bool,
    pub application: Application,
    /// Of its transport; none over UDP.
    pub congestion_control: Option<Algorithm>,
    /// TCP's: `TcpClassicRecovery`, `TcpPrrRecovery` or `PrrRfc6937`.
    pub recovery: String,
    /// Type of service of the source's and of the destination's packets; the two ECN bits are 0 over TCP,
    /// which sets them itself.
    pub tos: u8,
    pub return_tos: u8,
    /// The class that its completion counts in; empty: none of its own.
    pub group: String,
    /// The least time that the transfer can take, if it is a finite one of a source that always has data.
    pub ideal_ns: Option<u64>,
    /// The DSCP that the source's host writes into all its packets of the flow, and the destination's;
    /// 0: none, the type of service stands.
    #[serde(default)]
    pub dscp: u8,
    #[serde(default)]
    pub return_dscp: u8,
    /// Propagation of the flow's packets beyond the delay of the first link of their path.
    #[serde(default)]
    pub added_delay_ns: u64,
    /// PIAS: after so many bytes of the flow each its packets have a code point that is one higher than
    /// `dscp`; ascending.
    #[serde(default)]
    pub pias: Vec<u32>,
    /// Socket attributes that were given, under ns-3's names (`TcpSocket`, `TcpSocketBase`,
    /// `TcpSocketState`), in ns-3's spelling.
    pub socket: BTreeMap<String, String>,
}

/// How both ends of a transfer speak to each other; its fields are those of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    pub name: String,
    /// TCP, or what switches may cut.
    #[serde(default, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    pub congestion_control: Algorithm,
    pub recovery: String,
    pub tos: u8,
    pub return_tos: u8,
    pub dscp: u8,
    pub return_dscp: u8,
    #[serde(default)]
    pub pias: Vec<u32>,
    pub socket: BTreeMap<String, String>,
}

/// From one node to another and back; its fields are those of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    pub source: usize,
    pub destination: usize,
    pub source_address: Ipv4Addr,
    pub destination_address: Ipv4Addr,
    pub path: Vec<[usize; 2]>,
    pub return_path: Vec<[usize; 2]>,
}

/// Finite transfers of sources that always have data, in columns of one entry a transfer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    pub name: String,
    pub stack: usize,
    pub write_bytes: u32,
    /// From one write to the next; `None`: as fast as TCP takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_ns: Option<u64>,
    /// The load that was asked for, and the one that the transfers drawn make.
    pub load: Option<f64>,
    pub realised_load: Option<f64>,
    /// Of the distribution of sizes.
    pub mean_bytes: f64,
    pub pair: Vec<u32>,
    pub source_port: Vec<u16>,
    pub destination_port: Vec<u16>,
    pub start_ns: Vec<u64>,
    pub bytes: Vec<u64>,
    /// The least time that each can take.
    pub ideal_ns: Vec<u64>,
    /// As a flow's; empty: none has any.
    #[serde(default)]
    pub added_delay_ns: Vec<u64>,
    /// Positions, within the workload, of transfers that have come to their destinations before each begins; those
    /// that wait for none begin at `start_ns`, which is the earliest time of the others.  Empty: none waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Vec<u32>>,
    /// How long after the last of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wait_ns: Vec<u64>,
    /// The position of an earlier workload: each transfer begins `wait_ns` after that one's transfer of the same
    /// number has come to its destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<usize>,
    /// How many connections two hosts have at most, which carry one transfer after another; `None`: each transfer
    /// has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
}

impl Workload {
    /// Of its transfers.
    pub fn names(&self) -> impl Iterator<Item = String> {
        (1..=self.len()).map(|n| format!("{}_{n}", self.name))
    }

    /// Whether a transfer begins when others have arrived.
    pub fn waits(&self, transfer: usize) -> bool {
        self.answers.is_some() || self.after.get(transfer).is_some_and(|after| !after.is_empty())
    }

    /// How many transfers it has.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }
}

/// ICMP echo requests at equal distances, answered by the destination (ns-3's `Ping`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    pub name: String,
    pub source: usize,
    pub destination: usize,
    pub source_address: Ipv4Addr,
    pub destination_address: Ipv4Addr,
    /// As a flow's.
    pub path: Vec<[usize; 2]>,
    pub return_path: Vec<[usize; 2]>,
    pub start_ns: u64,
    /// Zero: never stopped.
    pub stop_ns: u64,
    pub interval_ns: u64,
    /// Without the ICMP header.
    pub size_bytes: u32,
}

/// What produces a flow's data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Application {
    /// Always has data: writes of `write_bytes`, each stamped when it is created; one that does not
    /// fit keeps its stamp and waits.  `bytes` 0: without end, never closes.  Otherwise closes
    /// after that many bytes.
    Greedy {
        bytes: u64,
        write_bytes: u32,
        /// Writes before the connection is established, too, and parts of writes where there is room
        /// for no more.
        #[serde(default)]
        eager: bool,
    },
    OnOff(OnOff),
    Poisson(Poisson),
}

impl Application {
    /// What it sends in all; 0: without end.
    pub fn bytes(&self) -> u64 {
        match self {
            Application::Greedy { bytes, .. }
            | Application::OnOff(OnOff { bytes, .. })
            | Application::Poisson(Poisson { bytes, .. }) => *bytes,
        }
    }
}

/// Sends at a constant rate while it is on (ns-3's `OnOffApplication`); a constant bit rate is one
/// that is always on.  A packet that does not fit waits for the time of the next one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Closes with the packet that reaches this; 0: never.
    pub bytes: u64,
    pub write_bytes: u32,
    pub rate_bps: u64,
    /// Lengths of its periods in seconds.  The first one is off, from the connection on.
    pub on_s: Distribution,
    pub off_s: Distribution,
    /// Stream number of `on_s`; that of `off_s` is the next one.
    pub stream: u64,
}

/// Sends packets at the times of a Poisson process, from the connection on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Closes with the packet that reaches this; 0: never.
    pub bytes: u64,
    pub write_bytes: u32,
    /// Mean rate: the mean gap is that of `write_bytes` at this rate.
    pub rate_bps: u64,
    pub stream: u64,
}

/// What a random number is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    Constant(f64),
    Uniform {
        min: f64,
        max: f64,
    },
    /// Numbers above `bound` are drawn again; 0: no bound.
    Exponential {
        mean: f64,
        bound: f64,
    },
}
