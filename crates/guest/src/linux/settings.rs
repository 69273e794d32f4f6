//! What hosts and flows are to be, in the kernel's terms.  Whoever starts the guest has decided all of it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde::Deserialize;

/// The file `stack.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Variables of the whole kernel, by their names in sysctl(8).
    pub variables: BTreeMap<String, String>,
    pub machines: Vec<Machine>,
    /// By number of the flow; none of those that are not TCP's.
    pub flows: Vec<Option<Connection>>,
    /// Modules to be loaded, in this order.
    #[serde(default)]
    pub modules: Vec<Module>,
    /// Of links' directions that have one of the kernel's, in their order.
    pub disciplines: Vec<Discipline>,
    /// How often their statistics are written, in ns; 0: never.
    #[serde(default)]
    pub statistics_ns: u64,
}

/// A queue discipline of the kernel's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discipline {
    /// As tc(8) calls it.
    pub kind: String,
    /// The attributes inside `TCA_OPTIONS`.
    pub options: Vec<u8>,
    /// Of the device that it is on.
    pub mtu: u32,
    /// Packets, for disciplines whose limit is that of their device.
    pub queue: u32,
}

/// A namespace of the kernel's: hosts that have the same settings and nothing to say to each other.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub addresses: Vec<Ipv4Addr>,
    pub mtu: u32,
    pub variables: BTreeMap<String, String>,
    /// To those who need something else than the default route: metrics by their names in ip-route(8).
    pub routes: BTreeMap<Ipv4Addr, BTreeMap<String, u32>>,
}

/// Of both sockets of a flow.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// Where source and destination are among the machines.
    pub machines: [usize; 2],
    /// What the kernel calls the congestion control.
    pub control: String,
    pub segment_bytes: i32,
    /// None: the kernel tunes it.
    pub send_buffer: Option<i32>,
    pub receive_buffer: Option<i32>,
    pub no_delay: bool,
    /// So much waits in the socket to be sent for the first time, at most.
    pub waiting_bytes: u32,
    /// The algorithm sets a pacing rate that counts.
    pub is_paced: bool,
}

/// A file to be loaded into the kernel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    pub path: String,
    /// As on a command line: `increase=4 beta=512`.
    pub parameters: String,
}
