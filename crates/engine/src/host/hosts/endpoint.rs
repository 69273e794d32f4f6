//! What both ends of a flow have to say to the run, and what they may ask of it.

use crate::base::event::{Event, EventQueue, Key, Token};
use crate::base::time::{Rate, Time};
use crate::net::network::Network;
use crate::packet::telemetry::Hops;
use crate::packet::{Beside, Image, Packet, SackBlock};

/// Both ends of what one flow number stands for, and the applications on them.
///
/// Packets and timers come with the [`Host`] that it sends through.  What it does not implement, it has not got.
pub trait Endpoint: Send {
    /// What it was made with.
    fn address(&self) -> &Address;

    /// The application begins.
    fn open(&mut self, host: Host<'_>);

    /// The application stops.
    fn close(&mut self, host: Host<'_>);

    /// The application has `bytes` more to send, over what stays open.
    fn send_more(&mut self, _bytes: u64, _host: Host<'_>) {}

    /// The receiving application closes.
    fn close_receiver(&mut self, _host: Host<'_>) {}

    /// A packet has come to the end that it is for: the source's, if it is `backward`.
    fn on_packet(&mut self, packet: &Packet, host: Host<'_>);

    /// An event runs that it has queued under this token.  It may be one that is not wanted any more, or that
    /// the one before it at this place has left: [`Host::event_key`] tells them apart.
    fn on_timer(&mut self, token: Token, host: Host<'_>);

    /// Something has happened to it outside of the simulation.
    fn on_outside(&mut self, _host: Host<'_>) {}

    /// Nothing happens at either end any more, unless a packet comes.
    fn is_over(&self) -> bool {
        false
    }

    /// The application at the destination has all that the source had to send.
    fn has_arrived(&self) -> bool {
        false
    }

    /// What its source has done so far.
    fn outcome(&self) -> Outcome {
        Outcome::default()
    }

    /// Its row in the samples, now.
    fn sample(&self) -> Sample {
        Sample::default()
    }

    /// What a sender of which each change is recorded is followed by.
    fn state(&self) -> Option<State> {
        None
    }

    /// The echoes that it has asked for, if that is what it does.
    fn echoes(&self) -> &[Echo] {
        &[]
    }
}

crate::opaque!(Endpoint);

/// Where an endpoint is found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Address {
    /// The number that its packets carry.
    pub flow: u32,
    /// Where it is among the endpoints.
    pub place: u32,
    /// It goes when it is over.
    pub is_passing: bool,
}

impl Address {
    /// Of an endpoint that stays.
    pub fn new(flow: u32, place: u32) -> Self {
        Address { flow, place, is_passing: false }
    }
}

/// What an endpoint sees of the world during a call.
#[derive(Debug)]
pub struct Host<'a> {
    network: &'a mut Network,
    flow: u32,
    place: u32,
}

impl<'a> Host<'a> {
    #[inline(always)]
    pub fn new(network: &'a mut Network, &Address { flow, place, .. }: &Address) -> Self {
        Host { network, flow, place }
    }

    #[inline(always)]
    pub fn now(&self) -> Time {
        self.network.now()
    }

    /// Sends a packet of the flow to the other end.
    #[inline(always)] // so that it is written where it stays, not copied there
    pub fn send(&mut self, mut packet: Packet) {
        packet.flow = self.flow;
        self.network.send(packet);
    }

    /// Whether the host's link has its turn for a packet from the flow's source now.  If it has not, the event of `token`
    /// runs when it has.
    pub fn take_turn(&mut self, token: Token) -> bool {
        let event = self.event(token);
        self.network.take_turn(self.flow, event)
    }

    /// The event of `token` runs when the destination's host has its turn to ask for a packet.
    pub fn await_pull(&mut self, token: Token) {
        let event = self.event(token);
        self.network.await_pull(self.flow, event);
    }

    /// It asks now for a packet of so many bytes on the wire.
    pub fn pulled(&mut self, bytes: u32) {
        self.network.pulled(self.flow, bytes);
    }

    /// As [`Network::send_if_routed`].
    pub fn send_if_routed(&mut self, mut packet: Packet) {
        packet.flow = self.flow;
        self.network.send_if_routed(packet);
    }

    /// The same for a packet with options that are kept beside it.
    #[inline(always)] // so that the packet is not copied from call to call
    pub fn send_with_options(&mut self, mut packet: Packet, beside: &Beside) {
        packet.flow = self.flow;
        self.network.send_with(packet, |packets, id| packets.set_beside(id, beside));
    }

    /// The same for a packet that another stack has written, of any flow.
    pub fn send_image(&mut self, packet: Packet, blocks: &[SackBlock], image: &Image) {
        self.network.send_with(packet, |packets, id| {
            packets.set_sacks(id, blocks);
            packets.set_image(id, image);
        });
    }

    /// The same for a packet that carries what another one has collected, or begins to collect.
    pub fn send_with_hops(&mut self, mut packet: Packet, hops: &Hops) {
        packet.flow = self.flow;
        self.network.send_with(packet, |packets, id| packets.set_hops(id, hops));
    }

    /// What the packet that has arrived has collected, if it was sent so; to be asked for before anything is sent.
    pub fn arrived_hops(&self) -> &Hops {
        self.network.arrived_hops()
    }

    /// The headers of the packet that has arrived, as that stack wrote them; to be asked for before anything is sent.
    pub fn arrived_image(&self) -> &Image {
        self.network.arrived_image()
    }

    /// Those of the packet that has arrived, if it has some.
    pub fn arrived_options(&self) -> &Beside {
        self.network.arrived_beside()
    }

    /// Calls [`Endpoint::on_timer`] with this token, a `delay` from now.  The key is that of the event: a timer
    /// that is set anew, or no longer, has another one, or none.
    pub fn arm(&mut self, delay: Time, token: Token) -> Key {
        let event = self.event(token);
        self.events().schedule(delay, event)
    }

    /// The event that [`Host::arm`] queues, for parts of an endpoint that queue it themselves.
    #[inline(always)]
    pub fn event(&self, token: Token) -> Event {
        Event::Endpoint(token, self.place)
    }

    /// The key of the event that runs.
    #[inline(always)]
    pub fn event_key(&mut self) -> Key {
        self.network.events().now()
    }

    #[inline(always)]
    pub fn events(&mut self) -> &mut EventQueue {
        self.network.events()
    }

    /// No shortcuts: what the tests compare the usual run with.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.network.is_plain()
    }
}

/// A row of the samples of flows, but for time and flow; what an endpoint has not got is 0, or unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub cwnd: u32,
    pub ssthresh: u32,
    pub in_flight: u32,
    pub srtt: Option<Time>,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub acked_bytes: u64,
    pub written_bytes: u64,
    pub read_bytes: u64,
    /// Of the gaps between packets that the source sends, the EWMA in ns.
    pub mean_gap: Option<f64>,
    pub one_way_delay: Option<Time>,
    pub retransmissions: u64,
    pub rtos: u64,
    pub pacing_rate: Rate,
}

/// The state of a sender, as its changes are recorded.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub cwnd: u32,
    pub ssthresh: u32,
    pub in_flight: u32,
    pub srtt: Time,
    pub cong_state: u8,
    pub ecn_state: u8,
    pub rto: Time,
    pub pacing_rate: Rate,
}

impl State {
    /// Of a transport that has neither ssthresh nor TCP's states.
    pub fn of(sample: &Sample, rto: Time) -> Self {
        State {
            cwnd: sample.cwnd,
            ssthresh: 0,
            in_flight: sample.in_flight,
            srtt: sample.srtt.unwrap_or_default(),
            cong_state: 0,
            ecn_state: 0,
            rto,
            pacing_rate: sample.pacing_rate,
        }
    }
}

/// When a request was sent, and how long its reply took.
pub type Echo = (Time, Option<Time>);

/// What is left of an endpoint's source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub segments_sent: u64,
    pub acked_bytes: u64,
    pub retransmissions: u64,
    pub recovery_time: Time,
    pub rtos: u32,
    pub recovery_episodes: u32,
    /// When the last byte was acknowledged.
    pub completed: Option<Time>,
}

impl Outcome {
    /// What was done since then, but for the end.
    pub fn since(&self, before: &Outcome) -> Outcome {
        Outcome {
            segments_sent: self.segments_sent - before.segments_sent,
            acked_bytes: self.acked_bytes - before.acked_bytes,
            retransmissions: self.retransmissions - before.retransmissions,
            recovery_time: self.recovery_time - before.recovery_time,
            rtos: self.rtos - before.rtos,
            recovery_episodes: self.recovery_episodes - before.recovery_episodes,
            completed: None,
        }
    }
}
