//! What sends and receives: the two ends of every flow, at the edge of the network.
//!
//! An [`Endpoint`] is both ends of what one flow number stands for.  A new kind of traffic is one file
//! here, one variant, and one arm in each `match` below.

mod ping;
mod tcp;
mod udp;

pub use ping::Ping;
pub use tcp::{Connection, Side};
pub use udp::Datagrams;

use crate::network::Network;
use crate::packet::Packet;
use crate::tcp::Timer;

/// The two ends of a flow, or of a ping.
#[derive(Debug)]
pub enum Endpoint {
    Tcp(Box<Connection>),
    Udp(Box<Datagrams>),
    Ping(Ping),
}

impl Endpoint {
    pub fn connection(&self) -> Option<&Connection> {
        match self {
            Endpoint::Tcp(connection) => Some(connection),
            Endpoint::Udp(_) | Endpoint::Ping(_) => None,
        }
    }
}

/// All endpoints by the number that their packets carry: flows first, pings behind them.
#[derive(Debug)]
pub struct Hosts {
    endpoints: Vec<Endpoint>,
}

impl Hosts {
    pub fn new(endpoints: Vec<Endpoint>) -> Self {
        Hosts { endpoints }
    }

    /// The ends of this flow.
    pub fn endpoint(&self, flow: usize) -> Option<&Endpoint> {
        self.endpoints.get(flow)
    }

    /// The TCP connection with this flow number.
    pub fn connection(&self, flow: usize) -> Option<&Connection> {
        self.endpoint(flow).and_then(Endpoint::connection)
    }

    /// All flows, connections and datagrams, in the order of their numbers.
    pub fn flows(&self) -> impl Iterator<Item = &Endpoint> {
        self.endpoints.iter().filter(|endpoint| !matches!(endpoint, Endpoint::Ping(_)))
    }

    /// All pings in their order.
    pub fn pings(&self) -> impl Iterator<Item = &Ping> {
        self.endpoints.iter().filter_map(|endpoint| match endpoint {
            Endpoint::Ping(ping) => Some(ping),
            Endpoint::Tcp(_) | Endpoint::Udp(_) => None,
        })
    }

    /// The application of `flow` begins.
    #[cold]
    pub fn open(&mut self, flow: u32, network: &mut Network) {
        match &mut self.endpoints[flow as usize] {
            Endpoint::Tcp(connection) => connection.open(network),
            Endpoint::Udp(datagrams) => datagrams.open(network.events()),
            Endpoint::Ping(ping) => ping.send(network),
        }
    }

    /// The application of `flow` stops.
    #[cold]
    pub fn close(&mut self, flow: u32, network: &mut Network) {
        match &mut self.endpoints[flow as usize] {
            Endpoint::Tcp(connection) => connection.close(network),
            Endpoint::Udp(datagrams) => datagrams.close(network.now()),
            Endpoint::Ping(ping) => ping.stop(),
        }
    }

    /// The receiving application of `flow` closes.
    #[cold]
    pub fn close_receiver(&mut self, flow: u32, network: &mut Network) {
        match &mut self.endpoints[flow as usize] {
            Endpoint::Tcp(connection) => connection.close_receiver(network),
            Endpoint::Udp(_) | Endpoint::Ping(_) => {}
        }
    }

    /// Something is due in the application of `flow`.
    #[inline(never)] // most runs have none, and are faster without it in their loop
    pub fn on_application(&mut self, flow: u32, network: &mut Network) {
        match &mut self.endpoints[flow as usize] {
            Endpoint::Tcp(connection) => connection.on_application(network),
            Endpoint::Udp(datagrams) => datagrams.on_application(network),
            Endpoint::Ping(ping) => ping.on_due(network),
        }
    }

    /// A packet has come to the host that it is for.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet, network: &mut Network) {
        match &mut self.endpoints[packet.flow as usize] {
            Endpoint::Tcp(connection) => connection.on_segment(packet, network),
            Endpoint::Udp(datagrams) => datagrams.deliver(packet, network.now()),
            Endpoint::Ping(ping) => ping.deliver(packet, network),
        }
    }

    /// A socket's timer fires: `index` is that of [`crate::event::Event::Socket`].  Returns the flow.
    pub fn on_socket_timer(&mut self, index: u32, network: &mut Network) -> u32 {
        let (socket, timer) = (index / Timer::COUNT as u32, index as usize % Timer::COUNT);
        let (flow, side) =
            (socket / 2, if socket % 2 == 0 { Side::Sender } else { Side::Receiver });
        if let Endpoint::Tcp(connection) = &mut self.endpoints[flow as usize] {
            connection.on_timer(side, Timer::ALL[timer], index, network);
        }
        flow
    }
}
