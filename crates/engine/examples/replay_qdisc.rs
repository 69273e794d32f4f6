//! Replays a script of arrivals and departures on a queue discipline and prints what happens to
//! each packet: `replay_qdisc FILE`.  `tests/differential/qdisc_driver.cc` does the same on ns-3's
//! class; the two outputs must be equal.
//!
//! One command a line:
//! ```text
//! qdisc CLASS | attribute NAME VALUE | mtu BYTES | stream NUMBER | run NUMBER
//! flow SOURCE DESTINATION SOURCE_PORT DESTINATION_PORT PROTOCOL PRIORITY
//! at NS enqueue FLOW BACKWARD IP_BYTES ECN_BITS | at NS dequeue | at NS run
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::error::Error;
use std::io::{self, Write};
use std::net::Ipv4Addr;

use ccperf_engine::base::attributes::Attributes;
use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::net::qdisc::{
    self, AnyQdisc, BuildContext, FlowKey, FlowKeys, Nesting, Qdisc, QdiscContext, QdiscState,
};
use ccperf_engine::packet::trace::PacketTrace;
use ccperf_engine::packet::verdict::Verdict;
use ccperf_engine::packet::{Ecn, Options, Packet, PacketId, PacketPool};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Enqueue { number: u32, flow: u32, backward: bool, bytes: u32, ecn: u8 },
    Dequeue,
    Run,
    Timer(u32),
    Stop,
}

struct Replay {
    qdisc: AnyQdisc,
    packets: PacketPool,
    state: QdiscState,
    set_timers: Vec<(Time, u32)>,
    flow_keys: FlowKeys,
    trace: PacketTrace,
    now: u64,
    scheduled: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
}

impl Replay {
    fn schedule(&mut self, at: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, event)));
    }

    fn call<T>(&mut self, call: impl FnOnce(&mut AnyQdisc, &mut QdiscContext<'_>) -> T) -> T {
        let mut cx = QdiscContext {
            now: Time(self.now),
            packets: &mut self.packets,
            state: &mut self.state,
            flow_keys: &self.flow_keys,
            rate: Rate(1_000_000),
            port: 0,
            trace: Some(&mut self.trace),
            timers: &mut self.set_timers,
            nesting: Nesting::default(),
        };
        let result = call(&mut self.qdisc, &mut cx);
        for (delay, tag) in std::mem::take(&mut self.set_timers) {
            self.schedule(self.now + delay.0, Event::Timer(tag));
        }
        result
    }

    fn print_state(&self, what: &str) {
        let QdiscState { packets, bytes, .. } = &self.state;
        let last_sojourn = self.state.last_sojourn();
        let sojourn = last_sojourn.map_or("none".to_owned(), |s| s.0.to_string());
        println!("{} {what}: {packets} packets {bytes} bytes sojourn {sojourn}", self.now);
    }

    fn run(&mut self) {
        for _ in 0..self.qdisc.run_quota() {
            let Some(id) = self.call(|q, cx| q.dequeue(cx)) else { break };
            println!("{} send {}", self.now, self.packets[id].seq.0);
            self.packets.remove(id);
            if self.state.packets == 0 {
                break;
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Enqueue { number, flow, backward, bytes, ecn } => {
                let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][ecn as usize];
                let seq = Seq(number);
                let id = self.packets.insert(Packet {
                    seq,
                    flow,
                    backward,
                    ip_bytes: bytes,
                    ecn,
                    options: Options::new(true),
                    ..Packet::default()
                });
                self.call(|q, cx| q.enqueue(id, cx));
                self.print_state("enqueue");
            }
            Event::Dequeue => {
                let id: Option<PacketId> = self.call(|q, cx| q.dequeue(cx));
                let what = match id {
                    None => "dequeue none".to_owned(),
                    Some(id) => {
                        let ecn = match self.packets[id].ecn {
                            Ecn::NotEct => "NotECT",
                            Ecn::Ect1 => "ECT1",
                            Ecn::Ect0 => "ECT0",
                            Ecn::Ce => "CE",
                        };
                        format!("dequeue {} {ecn}", self.packets[id].seq.0)
                    }
                };
                self.print_state(&what);
                if let Some(id) = id {
                    self.packets.remove(id);
                }
            }
            Event::Run => {
                self.run();
                self.print_state("run");
            }
            Event::Timer(tag) => {
                if self.call(|q, cx| q.timer(tag, cx)) {
                    self.run();
                }
            }
            Event::Stop => self.events.clear(),
        }
    }

    fn print_counts(&self) {
        let s = &self.state;
        println!(
            "total enqueued {} dequeued {} dropped {} marked {}",
            s.enqueued_packets,
            s.dequeued_packets,
            s.decisions.dropped_packets,
            s.decisions.marked_packets
        );
        let lines = s.decisions.counts.iter().map(|c| {
            let verdict = match c.verdict {
                Verdict::DropAfterDequeue => "drop_after_dequeue",
                Verdict::DropBeforeEnqueue => "drop_before_enqueue",
                Verdict::Mark => "mark",
                Verdict::Trim => "trim",
            };
            format!("count {verdict} \"{}\" {} {}", c.reason.of(c.verdict), c.packets, c.bytes)
        });
        let mut lines: Vec<_> = lines.collect();
        lines.sort();
        for line in lines {
            println!("{line}");
        }
    }
}

/// Drops the header line, which ns-3's side does not print.
struct WithoutHeader(bool);

impl Write for WithoutHeader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 {
            return io::stdout().write(bytes);
        }
        self.0 = bytes.contains(&b'\n');
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: replay_qdisc FILE")?;
    let script = std::fs::read_to_string(file)?;
    let mut class = "";
    let mut given = BTreeMap::new();
    let (mut mtu, mut stream, mut run) = (1500, 0, 1);
    let mut flow_keys = Vec::new();
    let mut events = Vec::new();
    let mut number = 0;
    for line in script.lines() {
        let (command, rest) = line.split_once(' ').ok_or(line)?;
        let words: Vec<&str> = rest.split(' ').collect();
        match command {
            "qdisc" => class = rest,
            "attribute" => {
                let (name, value) = rest.split_once(' ').ok_or(line)?;
                given.insert(name.to_owned(), value.to_owned());
            }
            "mtu" => mtu = rest.parse()?,
            "stream" => stream = rest.parse()?,
            "run" => run = rest.parse()?,
            "flow" => {
                let forward = FlowKey {
                    source: words[0].parse::<Ipv4Addr>()?.into(),
                    destination: words[1].parse::<Ipv4Addr>()?.into(),
                    source_port: words[2].parse()?,
                    destination_port: words[3].parse()?,
                    protocol: words[4].parse()?,
                    dscp: 0,
                    priority: words[5].parse()?,
                    is_marked: false,
                    demotion: 0,
                };
                let backward = FlowKey {
                    source: forward.destination,
                    destination: forward.source,
                    source_port: forward.destination_port,
                    destination_port: forward.source_port,
                    ..forward
                };
                flow_keys.push([forward, backward]);
            }
            "at" => {
                let event = match words[1] {
                    "enqueue" => {
                        number += 1;
                        Event::Enqueue {
                            number: number - 1,
                            flow: words[2].parse()?,
                            backward: words[3] == "1",
                            bytes: words[4].parse()?,
                            ecn: words[5].parse()?,
                        }
                    }
                    "dequeue" => Event::Dequeue,
                    _ => Event::Run,
                };
                events.push((words[0].parse::<u64>()?, event));
            }
            _ => return Err(line.into()),
        }
    }
    let spec = qdisc::SPECS.iter().find(|spec| spec.ns3 == class).ok_or("unknown qdisc")?;
    let attributes = Attributes::new(spec, &given);
    let mut cx = BuildContext {
        attributes,
        mtu,
        stream,
        run,
        children: Vec::new(),
        pool: Default::default(),
    };
    let flows = (0..flow_keys.len()).map(|i| format!("flow_{i}")).collect();
    let out = Box::new(WithoutHeader(false));
    let mut replay = Replay {
        qdisc: qdisc::build(class, &mut cx).ok_or("unknown qdisc")?,
        packets: PacketPool::default(),
        state: QdiscState::default(),
        set_timers: Vec::new(),
        flow_keys: FlowKeys { keys: flow_keys, demotions: Vec::new() },
        trace: PacketTrace::new(out, vec!["port".to_owned()], flows),
        now: 0,
        scheduled: 0,
        events: BinaryHeap::new(),
    };
    replay.call(|q, cx| q.attach(cx));
    replay.call(|q, cx| q.start(cx));
    let end = events.last().map_or(0, |&(at, _)| at);
    for (at, event) in events {
        replay.schedule(at, event);
    }
    replay.schedule(end, Event::Stop);
    while let Some(Reverse((at, _, event))) = replay.events.pop() {
        replay.now = at;
        replay.handle(event);
    }
    replay.print_counts();
    Ok(())
}
