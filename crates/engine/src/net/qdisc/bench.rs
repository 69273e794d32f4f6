//! A test bench: one discipline, a clock, packets in, packets out.

use std::collections::BTreeMap;

use super::{
    AnyQdisc, BuildContext, Children, FlowKey, FlowKeys, Nesting, Pool, Qdisc, QdiscContext,
    QdiscState, SPECS, build, find,
};
use crate::base::attributes::Attributes;
use crate::base::seq::Seq;
use crate::base::time::{Rate, Time};
use crate::packet::{Ecn, Options, Packet, PacketId, PacketPool};

#[derive(Debug)]
pub struct Bench {
    pub qdisc: AnyQdisc,
    pub packets: PacketPool,
    pub state: QdiscState,
    pub now: Time,
    pub arrivals: u32,
    /// The packets that left in runs that timers asked for, with the time.
    pub sent: Vec<(Time, Packet)>,
    flow_keys: FlowKeys,
    /// Those that are set, and those that the last call wants to be set, with their delays.
    timers: Vec<(Time, u32)>,
    set_timers: Vec<(Time, u32)>,
}

impl Bench {
    /// Flow `i` has priority and DSCP `i`.
    pub fn new(ns3: &str, given: &[(&str, &str)]) -> Self {
        Bench::with_seed(ns3, given, 1)
    }

    /// With other random numbers.
    pub fn with_seed(ns3: &str, given: &[(&str, &str)], run: u64) -> Self {
        let given: BTreeMap<_, _> =
            given.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let spec = SPECS.iter().find(|spec| spec.ns3 == ns3).unwrap();
        let attributes = Attributes::new(spec, &given);
        let children = children(ns3, &attributes);
        let mut cx = BuildContext { run, ..context(attributes, children) };
        let flow = |i| FlowKey {
            source: 0x0a00_0001 + 4 * i,
            destination: 0x1400_0001 + 4 * i,
            source_port: 49152,
            destination_port: 5001,
            protocol: 6,
            dscp: i as u8,
            priority: i as u8,
            is_marked: true,
            demotion: 0,
        };
        let mut bench = Bench {
            qdisc: build(ns3, &mut cx).unwrap(),
            packets: PacketPool::default(),
            state: QdiscState::default(),
            now: Time::ZERO,
            arrivals: 0,
            sent: Vec::new(),
            flow_keys: FlowKeys {
                keys: (0..16u32).map(|i| [flow(i), flow(i)]).collect(),
                demotions: Vec::new(),
            },
            timers: Vec::new(),
            set_timers: Vec::new(),
        };
        bench.call(|q, cx| q.attach(cx));
        bench.call(|q, cx| q.start(cx));
        bench
    }

    pub fn call<T>(&mut self, call: impl FnOnce(&mut AnyQdisc, &mut QdiscContext<'_>) -> T) -> T {
        let mut cx = QdiscContext {
            now: self.now,
            packets: &mut self.packets,
            state: &mut self.state,
            flow_keys: &self.flow_keys,
            rate: Rate(1_000_000_000),
            port: 0,
            trace: None,
            timers: &mut self.set_timers,
            nesting: Nesting::default(),
        };
        let result = call(&mut self.qdisc, &mut cx);
        for (delay, tag) in self.set_timers.drain(..) {
            self.timers.push((self.now + delay, tag));
        }
        result
    }

    /// Whether the packet got in.
    pub fn arrive(&mut self, flow: u32, ip_bytes: u32, ecn: Ecn) -> bool {
        let seq = Seq(self.arrivals);
        self.arrivals += 1;
        let id = self.packets.insert(Packet {
            seq,
            flow,
            ip_bytes,
            ecn,
            options: Options::new(true),
            ..Packet::default()
        });
        self.call(|q, cx| q.enqueue(id, cx))
    }

    pub fn depart(&mut self) -> Option<Packet> {
        let id: PacketId = self.call(|q, cx| q.dequeue(cx))?;
        let packet = self.packets[id];
        self.packets.remove(id);
        Some(packet)
    }

    /// Lets time pass; timers fire on the way.
    pub fn wait(&mut self, duration: Time) {
        let end = self.now + duration;
        while let Some(next) = (0..self.timers.len()).min_by_key(|&i| self.timers[i]) {
            if self.timers[next].0 > end {
                break;
            }
            let (at, tag) = self.timers.swap_remove(next);
            self.now = at;
            if self.call(|q, cx| q.timer(tag, cx)) {
                for _ in 0..self.qdisc.run_quota() {
                    let Some(packet) = self.depart() else { break };
                    self.sent.push((at, packet));
                }
            }
        }
        self.now = end;
    }
}

fn context(attributes: Attributes<'_>, children: Vec<AnyQdisc>) -> BuildContext<'_> {
    BuildContext { attributes, mtu: 1500, stream: 7, run: 1, children, pool: Pool::default() }
}

/// What a scenario would give it that names no children.
fn children(ns3: &str, attributes: &Attributes<'_>) -> Vec<AnyQdisc> {
    let Children::Listed { parameter, default } = find(ns3).unwrap().children else {
        return Vec::new();
    };
    let make = |_| {
        let (spec, given) = (find(default).unwrap().spec, BTreeMap::new());
        let attributes = Attributes::new(&spec, &given);
        let mut cx = context(attributes, Vec::new());
        build(default, &mut cx).unwrap()
    };
    (0..attributes.numbers(parameter).len()).map(make).collect()
}
