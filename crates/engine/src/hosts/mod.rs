//! What sends and receives: the two ends of every flow, at the edge of the network.
//!
//! An [`Endpoint`] is both ends of what one flow number stands for.  A new kind of traffic is one file
//! here, one variant, and one arm in each `match` below.

mod parts;
mod ping;
mod tcp;
mod transfers;
mod udp;

use std::ops::Range;

pub use parts::Parts;
pub use ping::Ping;
pub use tcp::Connection;
pub use transfers::{Maker, Outcome, Transfers};
pub use udp::Datagrams;

use crate::event::Token;
use crate::lowered::MAX_ENDPOINTS;
use crate::network::Network;
use crate::packet::Packet;

/// The two ends of a flow, or of a ping.
///
/// Connections, which nearly all endpoints are, lie in a list side by side.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "the others are few")]
pub enum Endpoint {
    Tcp(Connection),
    Udp(Box<Datagrams>),
    Ping(Ping),
    /// Of a transfer that is over: the next one takes the place.
    Nobody,
}

impl Endpoint {
    pub fn connection(&self) -> Option<&Connection> {
        match self {
            Endpoint::Tcp(connection) => Some(connection),
            Endpoint::Udp(_) | Endpoint::Ping(_) | Endpoint::Nobody => None,
        }
    }
}

/// Of a flow that has no endpoint now.
const NOWHERE: u32 = u32::MAX;

/// All endpoints.  Packets carry the number of their flow: flows that are written one by one first, then
/// transfers, which come and go, then pings.
#[derive(Debug)]
pub struct Hosts {
    endpoints: Parts<Endpoint>,
    /// By flow number, where its endpoint is.
    places: Vec<u32>,
    /// Places of nobody.
    free: Vec<u32>,
    transfers: Option<Transfers>,
}

impl Hosts {
    /// `endpoints` are those of flows and pings; transfers have the numbers `of_transfers` between them.
    pub fn new(
        endpoints: Parts<Endpoint>,
        of_transfers: Range<usize>,
        transfers: Option<Transfers>,
    ) -> Self {
        let (flows, end) = (of_transfers.start as u32, endpoints.len() as u32);
        let nowhere = of_transfers.map(|_| NOWHERE);
        let places = (0..flows).chain(nowhere).chain(flows..end).collect();
        Hosts { endpoints, places, free: Vec::new(), transfers }
    }

    fn at(&mut self, flow: u32) -> &mut Endpoint {
        &mut self.endpoints[self.places[flow as usize] as usize]
    }

    /// How many endpoints there are now.
    #[cfg(test)]
    pub fn live(&self) -> usize {
        self.endpoints.len() - self.free.len()
    }

    /// What the sender of a flow has done so far.
    pub fn outcome(&self, flow: u32) -> Outcome {
        match (self.endpoint(flow as usize), &self.transfers) {
            (Some(Endpoint::Tcp(connection)), _) => Outcome::from(&connection.sender.statistics),
            (Some(Endpoint::Udp(datagrams)), _) => {
                Outcome { segments_sent: datagrams.sent, ..Outcome::default() }
            }
            (None, Some(transfers)) => transfers.outcome(flow),
            _ => Outcome::default(),
        }
    }

    /// A transfer begins: its endpoint takes a place.
    fn admit(&mut self, flow: u32) {
        let Some(transfers) = &self.transfers else { return };
        let place = self.free.pop().unwrap_or(self.endpoints.len() as u32);
        assert!((place as usize) < MAX_ENDPOINTS, "more than {MAX_ENDPOINTS} transfers at once");
        if place as usize == self.endpoints.len() {
            self.endpoints.push(Endpoint::Nobody);
        }
        self.endpoints[place as usize] = Endpoint::Tcp(transfers.make(flow, place));
        self.places[flow as usize] = place;
    }

    /// Lets a transfer go if it is over.
    #[inline]
    fn dismiss(&mut self, flow: u32, network: &Network) {
        let place = self.places[flow as usize];
        if let Endpoint::Tcp(connection) = &self.endpoints[place as usize]
            && connection.is_passing
            && connection.is_over()
            && !network.is_under_way(flow)
            && let Some(transfers) = &mut self.transfers
        {
            transfers.note_end(flow, Outcome::from(&connection.sender.statistics));
            self.endpoints[place as usize] = Endpoint::Nobody;
            self.places[flow as usize] = NOWHERE;
            self.free.push(place);
        }
    }

    /// The ends of this flow; none of a transfer that has not begun, or is over.
    pub fn endpoint(&self, flow: usize) -> Option<&Endpoint> {
        self.endpoints.get(*self.places.get(flow)? as usize)
    }

    /// The TCP connection with this flow number.
    pub fn connection(&self, flow: usize) -> Option<&Connection> {
        self.endpoint(flow).and_then(Endpoint::connection)
    }

    /// All pings in their order.
    pub fn pings(&self) -> impl Iterator<Item = &Ping> {
        self.endpoints.iter().filter_map(|endpoint| match endpoint {
            Endpoint::Ping(ping) => Some(ping),
            Endpoint::Tcp(_) | Endpoint::Udp(_) | Endpoint::Nobody => None,
        })
    }

    /// The application of `flow` begins.
    #[cold]
    pub fn open(&mut self, flow: u32, network: &mut Network) {
        if self.places[flow as usize] == NOWHERE {
            self.admit(flow);
        }
        match self.at(flow) {
            Endpoint::Tcp(connection) => connection.open(network),
            Endpoint::Udp(datagrams) => datagrams.open(network.events()),
            Endpoint::Ping(ping) => ping.send(network),
            Endpoint::Nobody => {}
        }
    }

    /// The application of `flow` stops.
    #[cold]
    pub fn close(&mut self, flow: u32, network: &mut Network) {
        match self.at(flow) {
            Endpoint::Tcp(connection) => connection.close(network),
            Endpoint::Udp(datagrams) => datagrams.close(network.now()),
            Endpoint::Ping(ping) => ping.stop(),
            Endpoint::Nobody => {}
        }
    }

    /// The receiving application of `flow` closes.
    #[cold]
    pub fn close_receiver(&mut self, flow: u32, network: &mut Network) {
        match self.at(flow) {
            Endpoint::Tcp(connection) => connection.close_receiver(network),
            Endpoint::Udp(datagrams) => datagrams.close_receiver(),
            Endpoint::Ping(_) | Endpoint::Nobody => {}
        }
    }

    /// Something is due in the application of `flow`.
    #[inline(never)] // most runs have none, and are faster without it in their loop
    pub fn on_application(&mut self, flow: u32, network: &mut Network) {
        match self.at(flow) {
            Endpoint::Tcp(connection) => connection.on_application(network),
            Endpoint::Udp(datagrams) => datagrams.on_application(network),
            Endpoint::Ping(ping) => ping.on_due(network),
            Endpoint::Nobody => {}
        }
    }

    /// A packet has come to the host that it is for.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet, network: &mut Network) {
        let flow = packet.flow;
        if let Endpoint::Tcp(connection) = self.at(flow) {
            connection.on_segment(packet, network);
        } else {
            self.deliver_otherwise(packet, network);
        }
        if self.transfers.is_some() {
            self.dismiss(flow, network);
        }
    }

    #[inline(never)]
    fn deliver_otherwise(&mut self, packet: &Packet, network: &mut Network) {
        match self.at(packet.flow) {
            Endpoint::Udp(datagrams) => datagrams.deliver(packet, network),
            Endpoint::Ping(ping) => ping.deliver(packet, network),
            Endpoint::Tcp(_) | Endpoint::Nobody => {}
        }
    }

    /// A timer of the endpoint at `place` fires.  Returns the flow, if it is still there.
    pub fn on_timer(&mut self, place: u32, token: Token, network: &mut Network) -> Option<u32> {
        let Endpoint::Tcp(connection) = &mut self.endpoints[place as usize] else { return None };
        connection.on_timer(token, network);
        let flow = connection.flow;
        if self.transfers.is_some() {
            self.dismiss(flow, network);
        }
        Some(flow)
    }
}
