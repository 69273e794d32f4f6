//! A scheme of hosts on a bench: flows of one host to another rack, and what comes back.

use super::sender::{Coming, Paths, Sender, Sending, path_of};
use super::{HostContext, Leaves, SPECS, build_sender};
use crate::base::attributes::Attributes;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::net::routing::Origin;
use crate::packet::{Flags, Packet};

#[derive(Debug)]
pub struct HostBench {
    sender: Option<Box<dyn Sender>>,
    name: String,
    given: std::collections::BTreeMap<String, String>,
    /// Fewer, when links have failed.
    pub paths: Paths,
    leaves: Leaves,
    now: Time,
    /// Of each flow: what was sent, what was acknowledged, and the last path.
    sent: Vec<u32>,
    acked: Vec<u32>,
    last: Vec<u32>,
}

impl HostBench {
    /// The leaves of source and destination.
    pub const LEAVES: [u32; 2] = [0, 1];

    /// With so many paths of 10 Gbit/s.  Flows 2n and 2n + 1 are between the same hosts.
    pub fn new(name: &str, attributes: &[(&str, &str)], paths: usize) -> HostBench {
        let given = attributes.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let mut bench = HostBench {
            sender: None,
            name: name.to_owned(),
            given: given.collect(),
            paths: Paths { rates: vec![10_000_000_000; paths] },
            leaves: Leaves {
                destinations: vec![1; 64],
                hosts: (0..64).collect(),
                nodes: vec![0; 64],
            },
            now: Time(1_000),
            sent: vec![0; 64],
            acked: vec![0; 64],
            last: vec![0; 64],
        };
        bench.sender = build_sender(name, &bench.context());
        bench
    }

    pub fn context(&self) -> HostContext<'_> {
        let spec = SPECS.iter().find(|spec| spec.ns3 == self.name).expect("a registered scheme");
        HostContext { attributes: Attributes::new(spec, &self.given), stream: 3, run: 1 }
    }

    pub fn advance(&mut self, ns: u64) {
        self.now = Time(self.now.0 + ns);
    }

    fn origin(flow: u32) -> Origin {
        Origin { node: flow / 2, destination: flow / 2, hash: u64::from(flow) << 40 }
    }

    fn own<T>(&mut self, act: impl FnOnce(&mut Self, &mut dyn Sender) -> T) -> T {
        let mut sender = self.sender.take().expect("it has one");
        let result = act(self, &mut *sender);
        self.sender = Some(sender);
        result
    }

    fn pass(&mut self, sender: &mut dyn Sender, flow: u32, seq: u32, payload: u16) -> u32 {
        let (flags, ip_bytes) = (Flags::ACK, u32::from(payload) + 40);
        let packet = Packet { flow, seq: Seq(seq), payload, flags, ip_bytes, ..Packet::default() };
        let path = sender.choose(&Sending {
            packet: &packet,
            origin: HostBench::origin(flow),
            now: self.now,
            paths: &self.paths,
            rate: 10_000_000_000,
            answers: None,
            leaves_of: &self.leaves,
        });
        self.last[flow as usize] = path;
        assert!(path_of(&packet) == 2 * flow as usize && path < self.paths.count());
        path
    }

    /// The path of a flow's next segment.
    pub fn send_with(&mut self, sender: &mut dyn Sender, flow: u32, payload: u16) -> u32 {
        let seq = self.sent[flow as usize];
        self.sent[flow as usize] += u32::from(payload);
        self.pass(sender, flow, seq, payload)
    }

    /// That of the first segment that is not acknowledged.
    pub fn send_again_with(&mut self, sender: &mut dyn Sender, flow: u32, payload: u16) -> u32 {
        self.pass(sender, flow, self.acked[flow as usize], payload)
    }

    fn acknowledge(
        &mut self,
        sender: &mut dyn Sender,
        flow: u32,
        answers: (u32, u8),
        flags: Flags,
    ) {
        let ack = Seq(self.acked[flow as usize]);
        let packet = Packet { flow, ack, flags, backward: true, ip_bytes: 40, ..Packet::default() };
        sender.notice(&Coming {
            packet: &packet,
            origin: HostBench::origin(flow),
            now: self.now,
            answers: Some(answers),
            leaves_of: &self.leaves,
        });
    }

    /// So many bytes of a flow are acknowledged that went by `path`.
    pub fn answer_with(&mut self, sender: &mut dyn Sender, flow: u32, bytes: u32, path: u32) {
        self.acked[flow as usize] += bytes;
        self.acknowledge(sender, flow, (path, 0), Flags::ACK);
    }

    pub fn send(&mut self, flow: u32, payload: u16) -> u32 {
        self.own(|bench, sender| bench.send_with(sender, flow, payload))
    }

    pub fn send_again(&mut self, flow: u32, payload: u16) -> u32 {
        self.own(|bench, sender| bench.send_again_with(sender, flow, payload))
    }

    pub fn reroute(&mut self) {
        self.own(|_, sender| sender.reroute());
    }

    /// So many bytes of a flow are acknowledged, with ECE or not.
    pub fn answer(&mut self, flow: u32, bytes: u32, is_marked: bool) {
        self.acked[flow as usize] += bytes;
        self.answer_of(flow, self.last[flow as usize], 0, is_marked);
    }

    /// An acknowledgement of what went by `path`, which was `used` so much.
    pub fn answer_of(&mut self, flow: u32, path: u32, used: u8, is_marked: bool) {
        let flags = if is_marked { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        self.own(|bench, sender| bench.acknowledge(sender, flow, (path, used), flags));
    }
}
