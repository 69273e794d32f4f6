//! Load balancers where hosts choose: the trait that a user's implements, and the adapter that makes one of the
//! engine's of it and sees for it what was acknowledged, sent again, and how long that took.

use std::fmt;

use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::Time;
use ccperf_engine::net::routing::balance::{
    Coming, Sender, Sending, Sent, Watch, grown, other_path_of, path_of,
};
use ccperf_engine::packet::Flags;

/// A packet that a host sends.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    pub now: Time,
    pub flow: u32,
    /// From the flow's destination to its source.
    pub backward: bool,
    pub kind: Sent,
    /// Of addresses, protocol and ports, each of its bits depending on all of theirs.
    pub hash: u64,
    /// Nodes, numbered as the scenario lists them: the hosts, and the switches that they are behind.
    pub source: u32,
    pub destination: u32,
    pub source_leaf: u32,
    pub destination_leaf: u32,
    /// Of the IP packet, and of the TCP segment's payload.
    pub bytes: u32,
    pub payload: u32,
    /// How many paths there are.
    pub paths: u32,
    /// That of the last packet that came back for the flow.
    pub answers: Option<u32>,
    /// Nothing of this flow and direction is in flight.
    pub is_idle: bool,
    /// Bytes that the flow has sent in this direction, with this packet.
    pub sent_bytes: u64,
}

/// An acknowledgement that comes to a host.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub now: Time,
    /// Whose data is acknowledged.
    pub flow: u32,
    pub backward: bool,
    pub source: u32,
    pub destination: u32,
    pub source_leaf: u32,
    pub destination_leaf: u32,
    /// Bytes that are acknowledged for the first time.
    pub newly_acked: u32,
    /// With ECE.
    pub is_marked: bool,
    /// The path of the packet that it answers.
    pub path: Option<u32>,
    /// Since the timed segment was sent, which was not sent again; of one segment at a time.
    pub rtt: Option<Time>,
}

/// A load balancer of one's own that chooses paths at hosts: one object for all hosts.
pub trait HostBalancer: fmt::Debug + Send {
    /// The number of the path that a packet takes, below [`Departure::paths`].
    fn send(&mut self, packet: &Departure) -> u32;

    /// An acknowledgement has come.
    fn ack(&mut self, _ack: &Arrival) {}

    /// A packet is about to be sent again because its timer has expired; [`HostBalancer::send`] follows.
    fn timeout(&mut self, _packet: &Departure) {}

    /// A packet is about to be sent again in answer to acknowledgements; [`HostBalancer::send`] follows.
    fn loss(&mut self, _packet: &Departure) {}
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    watch: Watch,
    /// The end of the segment that is timed, and when it was sent.
    timed: Option<(Seq, Time)>,
}

/// Makes one of the engine's schemes of a user's.
#[derive(Debug)]
pub struct SenderAdapter<B> {
    name: String,
    inner: B,
    flows: Vec<Flow>,
}

impl<B: HostBalancer> SenderAdapter<B> {
    pub fn new(name: &str, inner: B) -> Self {
        SenderAdapter { name: name.to_owned(), inner, flows: Vec::new() }
    }
}

impl<B: HostBalancer> Sender for SenderAdapter<B> {
    fn choose(&mut self, sending: &Sending<'_>) -> u32 {
        let (packet, now, origin) = (sending.packet, sending.now, sending.origin);
        let flow = grown(&mut self.flows, path_of(packet));
        let is_idle = flow.watch.sent() == flow.watch.acked();
        let kind = flow.watch.on_send(packet, now);
        match kind {
            Sent::New if flow.timed.is_none() => flow.timed = Some((flow.watch.sent(), now)),
            Sent::Again | Sent::Late => flow.timed = None,
            _ => {}
        }
        let to = origin.destination as usize;
        let departure = Departure {
            now,
            flow: packet.flow,
            backward: packet.backward,
            kind,
            hash: origin.hash,
            source: origin.node,
            destination: sending.leaves_of.hosts[to],
            source_leaf: sending.leaves_of.nodes[origin.node as usize],
            destination_leaf: sending.leaves_of.destinations[to],
            bytes: packet.ip_bytes,
            payload: packet.payload.into(),
            paths: sending.paths.count(),
            answers: sending.answers,
            is_idle,
            sent_bytes: flow.watch.bytes,
        };
        match kind {
            Sent::Late => self.inner.timeout(&departure),
            Sent::Again => self.inner.loss(&departure),
            _ => {}
        }
        let path = self.inner.send(&departure);
        if path >= departure.paths {
            let paths = departure.paths;
            let message =
                format!("send returned {}, not the number of one of {paths} paths", path as i32);
            ccperf_engine::host::user::fail(&self.name, message);
        }
        path
    }

    fn notice(&mut self, coming: &Coming<'_>) {
        let packet = coming.packet;
        if !packet.flags.has(Flags::ACK) {
            return;
        }
        let flow = grown(&mut self.flows, other_path_of(packet));
        let newly_acked = flow.watch.on_answer(packet, coming.now);
        let (timed, acked) = (flow.timed, flow.watch.acked());
        let timed = timed.filter(|&(end, _)| newly_acked > 0 && acked >= end);
        if timed.is_some() {
            flow.timed = None;
        }
        let (origin, leaves) = (coming.origin, coming.leaves_of);
        let to = origin.destination as usize;
        self.inner.ack(&Arrival {
            now: coming.now,
            flow: packet.flow,
            backward: !packet.backward,
            source: origin.node,
            destination: leaves.hosts[to],
            source_leaf: leaves.nodes[origin.node as usize],
            destination_leaf: leaves.destinations[to],
            newly_acked,
            is_marked: packet.flags.has(Flags::ECE),
            path: coming.answers.map(|(path, _)| path),
            rtt: timed.map(|(_, at)| Time(coming.now.0 - at.0)),
        });
    }
}
