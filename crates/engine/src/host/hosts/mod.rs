//! What sends and receives: the two ends of every flow, at the edge of the network.
//!
//! An [`Endpoint`] is both ends of what one flow number stands for.  A new kind of them is one file or folder here,
//! and the line below that names it.

mod dependents;
mod endpoint;
mod parts;
mod persistent;
mod ping;
mod roce;
mod tcp;
mod transfers;
mod trimming;
mod udp;

use std::any::Any;
use std::ops::Range;

pub use dependents::{Dependents, Waiting};
pub use endpoint::{Address, Echo, Endpoint, Host, Outcome, Sample, State};
pub use parts::Parts;
pub use persistent::{Member, Persistent};
pub use ping::Ping;
pub use roce::{ACK_HEADER, Roce};
pub use tcp::Connection;
pub use transfers::{Maker, Transfers};
pub use trimming::Trimming;
pub use udp::Datagrams;

use persistent::Beginning;

use crate::base::error::Failure;
use crate::base::event::Token;
use crate::base::limits::MAX_ENDPOINTS;
use crate::base::time::Time;
use crate::host::tcp::Ns3;
use crate::net::network::Network;
use crate::packet::Packet;

/// Who is at a place.
///
/// Connections, which nearly all endpoints are, lie in a list side by side, and are called without a detour.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "the others are few")]
pub enum AnyEndpoint {
    Usual(Connection),
    Other(Box<dyn Endpoint>),
    /// Of a transfer that is over: the next one takes the place.
    Nobody,
}

const _: () = assert!(size_of::<AnyEndpoint>() == size_of::<Connection>());

impl AnyEndpoint {
    pub fn new<E: Endpoint + 'static>(endpoint: E) -> Self {
        let mut endpoint = Some(endpoint);
        match (&mut endpoint as &mut dyn Any).downcast_mut::<Option<Connection>>() {
            Some(usual) => AnyEndpoint::Usual(usual.take().expect("it is there")),
            None => AnyEndpoint::Other(Box::new(endpoint.expect("nobody has taken it"))),
        }
    }

    /// None where there is nobody.
    pub fn get(&self) -> Option<&dyn Endpoint> {
        match self {
            AnyEndpoint::Usual(endpoint) => Some(endpoint),
            AnyEndpoint::Other(endpoint) => Some(&**endpoint),
            AnyEndpoint::Nobody => None,
        }
    }

    fn get_mut(&mut self) -> Option<&mut dyn Endpoint> {
        match self {
            AnyEndpoint::Usual(endpoint) => Some(endpoint),
            AnyEndpoint::Other(endpoint) => Some(&mut **endpoint),
            AnyEndpoint::Nobody => None,
        }
    }

    /// The flow of an endpoint that goes now.
    #[inline(always)]
    fn over(&self) -> Option<u32> {
        match self {
            AnyEndpoint::Usual(endpoint) => over(endpoint),
            AnyEndpoint::Other(endpoint) => over(&**endpoint),
            AnyEndpoint::Nobody => None,
        }
    }
}

#[inline(always)]
fn over<E: Endpoint + ?Sized>(endpoint: &E) -> Option<u32> {
    let &Address { flow, is_passing, .. } = endpoint.address();
    (is_passing && endpoint.is_over()).then_some(flow)
}

/// Of a flow that has no endpoint now.
const NOWHERE: u32 = u32::MAX;

/// More endpoints do not fit the caches: two kilobytes of each are in use.  From some thousand on it pays to look ahead; a
/// thousand are 2 % faster without.
const MANY: usize = 2_048;

/// All endpoints.  Packets carry the number of their flow: flows that are written one by one first, then
/// transfers, which come and go, then pings.
#[derive(Debug)]
pub struct Hosts {
    endpoints: Parts<AnyEndpoint>,
    /// By flow number, where its endpoint is.
    places: Vec<u32>,
    /// Places of nobody.
    free: Vec<u32>,
    transfers: Option<Transfers>,
    /// Where the two ends of a transfer may be in different parts of the network: those that are over here.  They go
    /// when they are over everywhere.
    finished: Option<Vec<u32>>,
    /// As many places there may be.
    most: usize,
}

impl Hosts {
    /// `endpoints` are those of flows and pings; transfers have the numbers `of_transfers` between them.
    pub fn new(
        endpoints: Parts<AnyEndpoint>,
        of_transfers: Range<usize>,
        transfers: Option<Transfers>,
    ) -> Self {
        let (flows, end) = (of_transfers.start as u32, endpoints.len() as u32);
        let nowhere = of_transfers.map(|_| NOWHERE);
        let places = (0..flows).chain(nowhere).chain(flows..end).collect();
        let (free, most) = (Vec::new(), MAX_ENDPOINTS);
        Hosts { endpoints, places, free, transfers, finished: None, most }
    }

    #[cfg(test)]
    pub fn admit_at_most(&mut self, places: usize) {
        self.most = places;
    }

    /// From now on a transfer that is over stays until [`Hosts::let_go`].
    pub fn keep_finished(&mut self) {
        self.finished = Some(Vec::new());
    }

    /// Transfers that are over since the last call, some of them more than once.
    pub fn take_finished(&mut self) -> Vec<u32> {
        self.finished.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether nothing happens at the ends of a transfer that are here, and none of its packets is here.
    pub fn is_over(&self, flow: u32, network: &Network) -> bool {
        let place = self.places[flow as usize] as usize;
        let is_silent = self.endpoints.get(place).is_none_or(|ends| ends.over().is_some());
        is_silent && !network.is_under_way(flow)
    }

    /// A transfer is over everywhere.
    pub fn let_go(&mut self, flow: u32, network: &mut Network) {
        let place = self.places[flow as usize];
        if place != NOWHERE {
            self.remove(flow, place, network);
        }
    }

    /// A packet of a flow whose source is in another part of the network comes to this one, where its receiver is.
    pub(crate) fn expect(&mut self, flow: u32) -> Result<(), Failure> {
        if self.places[flow as usize] == NOWHERE { self.admit(flow) } else { Ok(()) }
    }

    #[inline(always)]
    fn at(&mut self, flow: u32) -> &mut AnyEndpoint {
        &mut self.endpoints[self.places[flow as usize] as usize]
    }

    /// How many endpoints there are now.
    #[cfg(test)]
    pub fn live(&self) -> usize {
        self.endpoints.len() - self.free.len()
    }

    /// What the source of a flow has done so far.
    pub fn outcome(&self, flow: u32) -> Outcome {
        let of = |flow| self.endpoint(flow as usize).map(Endpoint::outcome);
        match (of(flow), &self.transfers) {
            (Some(outcome), Some(transfers)) if !transfers.is_shared(flow) => outcome,
            (Some(outcome), None) => outcome,
            (_, Some(transfers)) => transfers.outcome(flow, |flow| of(flow).unwrap_or_default()),
            (None, None) => Outcome::default(),
        }
    }

    /// When the last byte of a transfer came; known where transfers have to do with others.
    pub fn arrived(&self, flow: u32) -> Option<Time> {
        self.transfers.as_ref()?.arrived(flow)
    }

    /// Whether a transfer may go over another one's connection.
    pub fn is_shared(&self, flow: u32) -> bool {
        self.transfers.as_ref().is_some_and(|transfers| transfers.is_shared(flow))
    }

    /// Whether a transfer went over a connection that another one had opened.
    pub fn found_open(&self, flow: u32) -> bool {
        self.transfers.as_ref().is_some_and(|transfers| transfers.found_open(flow))
    }

    /// When a transfer began that waits for others, [`Time::MAX`] if it has not; none of other flows.
    pub fn begun(&self, flow: u32) -> Option<Time> {
        self.transfers.as_ref()?.begun(flow)
    }

    /// A transfer begins: its endpoint takes a place.
    fn admit(&mut self, flow: u32) -> Result<(), Failure> {
        let Some(transfers) = &self.transfers else { return Ok(()) };
        let place = self.free.pop().unwrap_or(self.endpoints.len() as u32);
        if place as usize >= self.most {
            return Err(Failure::Crowded { most: self.most });
        }
        if place as usize == self.endpoints.len() {
            self.endpoints.push(AnyEndpoint::Nobody);
        }
        self.endpoints[place as usize] = transfers.make(flow, place);
        self.places[flow as usize] = place;
        Ok(())
    }

    /// Lets a transfer go if it is over.
    #[inline]
    fn dismiss(&mut self, place: u32, network: &mut Network) {
        let Some(flow) = self.endpoints[place as usize].over() else { return };
        if let Some(finished) = &mut self.finished {
            finished.push(flow);
        } else if !network.is_under_way(flow) {
            self.remove(flow, place, network);
        }
    }

    fn remove(&mut self, flow: u32, place: u32, network: &mut Network) {
        let Some(transfers) = &mut self.transfers else { return };
        let outcome = self.endpoints[place as usize].get().map(|ends| ends.outcome());
        transfers.note_end(flow, outcome.unwrap_or_default(), network.events());
        self.endpoints[place as usize] = AnyEndpoint::Nobody;
        self.places[flow as usize] = NOWHERE;
        self.free.push(place);
    }

    /// The ends of this flow; none of a transfer that has not begun, or is over.
    pub fn endpoint(&self, flow: usize) -> Option<&dyn Endpoint> {
        self.endpoints.get(*self.places.get(flow)? as usize)?.get()
    }

    /// Calls the endpoint of `flow`, which may be a transfer that is over.
    pub fn call(
        &mut self,
        flow: u32,
        network: &mut Network,
        call: impl FnOnce(&mut dyn Endpoint, Host<'_>),
    ) {
        if let Some(endpoint) = self.at(flow).get_mut() {
            let address = *endpoint.address();
            call(endpoint, Host::new(network, &address));
        }
    }

    /// The application of `flow` begins.
    #[cold]
    pub fn open(&mut self, flow: u32, network: &mut Network) {
        if self.places[flow as usize] == NOWHERE {
            let of = |flow: u32| {
                let place = self.places[flow as usize] as usize;
                self.endpoints[place].get().map(|ends| ends.outcome()).unwrap_or_default()
            };
            match self.transfers.as_mut().map(|transfers| transfers.begin(flow, of)) {
                Some(Beginning::Follows(opener, member)) => {
                    network.add_delay(opener, member.port, member.added_delay);
                    return self
                        .call(opener, network, |ends, host| ends.send_more(member.bytes, host));
                }
                Some(Beginning::Waits) => return,
                Some(Beginning::Opens) | None => {
                    self.admit(flow).unwrap_or_else(|failure| failure.throw());
                    self.note_crowd(network);
                }
            }
        }
        self.call(flow, network, |endpoint, host| endpoint.open(host));
    }

    /// The application of `flow` stops.
    #[cold]
    pub fn close(&mut self, flow: u32, network: &mut Network) {
        self.call(flow, network, |endpoint, host| endpoint.close(host));
    }

    /// The receiving application of `flow` closes.
    #[cold]
    pub fn close_receiver(&mut self, flow: u32, network: &mut Network) {
        self.call(flow, network, |endpoint, host| endpoint.close_receiver(host));
    }

    /// Tells the network once there are many.
    pub fn note_crowd(&self, network: &mut Network) {
        if self.endpoints.len() > MANY {
            network.crowd();
        }
    }

    /// The endpoint of this packet will be needed soon.
    #[inline]
    pub fn fetch(&self, packet: &Packet) {
        let Some(&place) = self.places.get(packet.flow as usize) else { return };
        if let Some(endpoint) = self.endpoints.get(place as usize) {
            // To look at what it is would be to wait for it.
            Connection::<Ns3>::fetch(endpoint, packet);
        }
    }

    /// It will be needed very soon, and has been asked for.
    #[inline]
    pub fn fetch_beyond(&self, packet: &Packet) {
        let Some(&place) = self.places.get(packet.flow as usize) else { return };
        if let Some(AnyEndpoint::Usual(endpoint)) = self.endpoints.get(place as usize) {
            endpoint.fetch_beyond(packet);
        }
    }

    /// A timer of the endpoint at `place` will fire soon.
    fn fetch_timer(&self, place: u32, token: Token) {
        if let Some(endpoint) = self.endpoints.get(place as usize) {
            Connection::<Ns3>::fetch_timer(endpoint, token);
        }
    }

    /// A packet has come to the host that it is for.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet, network: &mut Network) {
        // A router's message is for nobody in particular.
        let Some(&place) = self.places.get(packet.flow as usize) else { return };
        if let AnyEndpoint::Usual(endpoint) = &mut self.endpoints[place as usize] {
            let host = Host::new(network, endpoint.address());
            endpoint.on_packet(packet, host);
        } else {
            self.deliver_otherwise(packet, network);
        }
        if let Some(transfers) = &mut self.transfers {
            transfers.note_arrival(packet.flow, &self.endpoints[place as usize], network);
            self.dismiss(place, network);
        }
    }

    #[inline(never)]
    fn deliver_otherwise(&mut self, packet: &Packet, network: &mut Network) {
        self.call(packet.flow, network, |endpoint, host| endpoint.on_packet(packet, host));
    }

    /// A timer of the endpoint at `place` fires.  Returns the flow, if there is one.
    #[inline(never)] // in line it would cost the loop registers, and arrivals 4 %
    pub fn on_timer(&mut self, place: u32, token: Token, network: &mut Network) -> Option<u32> {
        if let Some((token, place)) = network.timer_soon() {
            self.fetch_timer(place, token);
        }
        let flow = if let AnyEndpoint::Usual(endpoint) = &mut self.endpoints[place as usize] {
            let host = Host::new(network, endpoint.address());
            endpoint.on_timer(token, host);
            endpoint.address().flow
        } else {
            self.on_timer_otherwise(place, token, network)?
        };
        if self.transfers.is_some() {
            self.dismiss(place, network);
        }
        Some(flow)
    }

    #[inline(never)]
    fn on_timer_otherwise(
        &mut self,
        place: u32,
        token: Token,
        network: &mut Network,
    ) -> Option<u32> {
        let endpoint = self.endpoints[place as usize].get_mut()?;
        let address = *endpoint.address();
        endpoint.on_timer(token, Host::new(network, &address));
        Some(address.flow)
    }
}
