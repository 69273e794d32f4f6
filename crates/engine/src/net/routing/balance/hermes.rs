//! Hermes: hosts know the paths of their rack by marks, round trips and probes, move flows cautiously, and
//! recognise switches that lose packets (H. Zhang et al., "Resilient datacenter load balancing in the wild", ACM
//! SIGCOMM 2017).
//!
//! Of each path between two racks, shared by their hosts (section 3.1):
//!
//! ```text
//! ecn  += Gain (ECE - ecn)        each acknowledgement of a segment that took it; each probe
//! rtt  += Gain (sample - rtt)     one segment of each flow at a time, none that was sent again; each probe
//! good:       ecn < EcnThreshold  and  rtt < least + RttLow
//! congested:  ecn > EcnThreshold  and  rtt > least + RttHigh
//! gray:       else, and what nobody has measured
//! ```
//!
//! where `least` is the least round trip that was seen between the racks.  A path has failed (section 3.1.2)
//!
//! * for two hosts, after 3 timeouts of their flows on it with nothing acknowledged that took it in between: a black hole;
//! * for two racks, if it loses significantly more than the pair's other paths, and is not congested: random drops.  The test is
//!   in `failures.rs`, with what counts as a loss and how a failure is forgiven.
//!
//! A pair without a path that is alive goes on as if none had failed.  Each packet of a flow (algorithm 2):
//!
//! ```text
//! new, or timed out, or its path has failed:  good path with the least r; else gray with the least r; else one at random; of
//!                                            those that have not failed
//! its path is congested, sent > MinSent and rate < MaxRate x rate of the host's link:
//!         good path with the least r whose rtt is less by more than BetterRtt, and whose ecn by more than BetterEcn; else gray so
//! else:   as before
//! ```
//!
//! with r the rate at which the rack sends by it and rate that of the flow: bytes that a fifth of is forgotten every 32 us.  Every
//! `ProbeInterval` an agent in each rack probes for each other rack two paths at random (`uniform(0, paths - 1)` twice) and the
//! best one of the last time: the one with the least rtt of those probed (section 3.1.2).  Probes have 64 bytes and can be marked.
//!
//! A slow link has the least r, and so where no path is good every new flow.  With a `DelayStep` paths of one state are compared by how
//! many of these their rtt is beyond the least one, and then by r, as the authors' programs do in their mode 12.
//!
//! ACKs go back by the path with the number that the data came by, so that a black hole for acknowledgements
//! is one for the sender, which then goes elsewhere.  The paper leaves open how ecn and rtt are averaged (here: Gain), and when
//! a path is forgiven.

#[cfg(test)]
mod tests;

use super::HostContext;
use super::failures::{Between, FailedPath, Failure};
use super::rack::{Path, Rack, Rate, Smoothing};
use super::sender::{
    Agents, Coming, Probe, Sender, Sending, Sent, Watch, among, grown, other_path_of, path_of,
};
use crate::base::attributes::{FRACTION, Kind, Spec, param};
use crate::base::pair_table::PairTable;
use crate::base::rng::RngStream;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::packet::{Flags, Packet};

pub const SPEC: Spec = Spec {
    ns3: "hermes",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; hosts choose by what their rack knows, and notice failures.",
    source: "H. Zhang et al., ACM SIGCOMM 2017",
    departures: &[],
    params: &[
        param!["EcnThreshold"; FRACTION => "0.4";
            "Part of marked packets below which a path can be good."],
        param!["RttLow"; Kind::Period => "20us";
            "Beyond the least round trip: below this a path can be good."],
        param!["RttHigh"; Kind::Period => "120us";
            "Beyond the least round trip: above this a path can be congested."],
        param!["BetterRtt"; Kind::Period => "80us";
            "Minimum RTT improvement: a path is notably better if its round trip is shorter by this."],
        param!["BetterEcn"; FRACTION => "0.05";
            "Parts of marked packets less by this are notably better."],
        param!["MinSent", "S"; Kind::Uint { min: 0, max: 1 << 40 } => "600000";
            "Bytes that a flow has sent before it may leave a congested path."],
        param!["MaxRate"; FRACTION => "0.3";
            "Part of its link's rate that such a flow has at most."],
        param!["Gain"; FRACTION => "0.0625"; "Of the averages of marks and round trips."],
        param!["Probing"; Kind::Bool => "true"; "Whether racks are probed."],
        param!["Rerouting"; Kind::Bool => "true"; "Whether flows leave congested paths."],
        param!["ProbeInterval"; Kind::Period => "500us"; "How often racks are probed."],
        param!["DelayStep"; Kind::Time => "0s";
            "Of paths in one state that with the least round trip in steps of this; 0s: by rates alone."],
        param![CHOICE; Kind::Enum(&[LEAST_RATE, LEAST_DELAY, CHANCE]) => LEAST_RATE;
            "Which of the paths in one state a flow takes."],
        param!["Window"; Kind::Time => "0s";
            "A path's round trip is the least one in windows of this length; 0s: an average."],
        param!["FailurePeriod"; Kind::Period => "10ms";
            "How often it is judged which paths lose packets."],
        param!["FailedTime"; Kind::Period => "100ms";
            "For so long a path has failed; twice if it fails again soon."],
    ],
};

const CHOICE: &str = "Choice";
const LEAST_RATE: &str = "least-rate";
const LEAST_DELAY: &str = "least-delay";
const CHANCE: &str = "random";

/// Which of the paths in one state a flow takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    LeastRate,
    LeastDelay,
    Chance,
}

/// Timeouts of two hosts in a row that make a black hole.
const BLACK_HOLE_TIMEOUTS: u32 = 3;

#[derive(Debug)]
pub struct Hermes {
    stream: RngStream,
    ecn_threshold: f64,
    rtt_low: f64,
    rtt_high: f64,
    better_rtt: f64,
    better_ecn: f64,
    min_sent: u64,
    max_rate: f64,
    gain: f64,
    has_probes: bool,
    may_move: bool,
    interval: Time,
    delay_step: f64,
    pick: Pick,
    smoothing: Smoothing,
    failure_period: Time,
    failed_time: Time,
    flows: Vec<Flow>,
    /// By the leaves of source and destination.
    racks: PairTable<Rack>,
    /// By source and destination.
    hosts: PairTable<Vec<Hole>>,
    /// Of each pair of agents: the best path of the last probes, and of those under way.
    best: Vec<[Option<(u32, Time)>; 2]>,
    failed: Vec<FailedPath>,
}

/// A path between two hosts.
#[derive(Clone, Copy, Debug, Default)]
struct Hole {
    /// In a row.
    timeouts: u32,
    failure: Failure,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    watch: Watch,
    path: Option<u32>,
    rate: Rate,
    /// Behind what was sent before it took its present path.
    moved: Seq,
    /// Behind what had been sent at its last retransmission.
    recover: Seq,
    /// How much of it was marked lately.
    ecn: f64,
    /// What is timed: its end, when it was sent, and by which path.
    timed: Option<(Seq, Time, u32)>,
}

/// How a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    Gray,
    Congested,
}

impl Hermes {
    pub fn new(cx: &HostContext<'_>) -> Self {
        let attributes = &cx.attributes;
        let ns = |name: &str| attributes.time(name).0 as f64;
        Hermes {
            stream: cx.random(),
            ecn_threshold: attributes.f64("EcnThreshold"),
            rtt_low: ns("RttLow"),
            rtt_high: ns("RttHigh"),
            better_rtt: ns("BetterRtt"),
            better_ecn: attributes.f64("BetterEcn"),
            min_sent: attributes.u64("MinSent"),
            max_rate: attributes.f64("MaxRate"),
            gain: attributes.f64("Gain"),
            has_probes: attributes.bool("Probing"),
            may_move: attributes.bool("Rerouting"),
            interval: attributes.time("ProbeInterval"),
            delay_step: ns("DelayStep"),
            pick: match attributes.text(CHOICE) {
                LEAST_DELAY => Pick::LeastDelay,
                CHANCE => Pick::Chance,
                _ => Pick::LeastRate,
            },
            smoothing: match attributes.time("Window") {
                Time::ZERO => Smoothing::Average(attributes.f64("Gain")),
                window => Smoothing::LeastOf(window),
            },
            failure_period: attributes.time("FailurePeriod"),
            failed_time: attributes.time("FailedTime"),
            flows: Vec::new(),
            racks: PairTable::default(),
            hosts: PairTable::default(),
            best: Vec::new(),
            failed: Vec::new(),
        }
    }

    fn state(&self, path: &Path, least: Option<f64>) -> State {
        let (Some(rtt), Some(least)) = (path.rtt, least) else { return State::Gray };
        if path.ecn < self.ecn_threshold && rtt < least + self.rtt_low {
            State::Good
        } else if path.ecn > self.ecn_threshold && rtt > least + self.rtt_high {
            State::Congested
        } else {
            State::Gray
        }
    }

    /// How many steps a path's round trip is beyond the least one; none where that is not asked for.
    fn steps(&self, path: &Path, least: Option<f64>) -> f64 {
        match (path.rtt, least) {
            (Some(rtt), Some(least)) if self.delay_step > 0.0 => {
                ((rtt - least) / self.delay_step).floor()
            }
            _ => 0.0,
        }
    }

    /// The path that a flow takes of those in this state that `fits`, the first of equals.
    fn pick(
        &mut self,
        rack: &Rack,
        state: State,
        now: Time,
        fits: impl Fn(usize) -> bool,
    ) -> Option<u32> {
        let is_one = |i: usize| fits(i) && self.state(&rack.paths[i], rack.least) == state;
        let paths: Vec<usize> = (0..rack.paths.len()).filter(|&i| is_one(i)).collect();
        if self.pick == Pick::Chance {
            let last = (paths.len() as u32).checked_sub(1)?;
            return Some(paths[self.stream.uniform_integer(0, last) as usize] as u32);
        }
        let rate = |i: usize| rack.paths[i].rate.at(now);
        let delay = |i: usize| match self.pick {
            Pick::LeastDelay => rack.paths[i].rtt.unwrap_or(0.0),
            _ => self.steps(&rack.paths[i], rack.least),
        };
        let least = paths
            .into_iter()
            .min_by(|&a, &b| delay(a).total_cmp(&delay(b)).then(rate(a).total_cmp(&rate(b))));
        least.map(|i| i as u32)
    }

    /// A random path of those that `fits`.
    fn any(&mut self, paths: u32, fits: impl Fn(usize) -> bool) -> Option<u32> {
        let count = (0..paths).filter(|&i| fits(i as usize)).count() as u32;
        let drawn = (count > 0).then(|| self.stream.uniform_integer(0, count - 1))?;
        (0..paths).filter(|&i| fits(i as usize)).nth(drawn as usize)
    }

    /// Whether a packet is the first of an episode of retransmissions that speaks against its path.
    fn is_loss(&self, flow: &mut Flow, packet: &Packet, sent: Sent) -> bool {
        if !matches!(sent, Sent::Again | Sent::Late) || is_bare_fin(packet) {
            return false;
        }
        let is_new = packet.seq >= flow.recover;
        flow.recover = flow.watch.sent();
        is_new && packet.seq >= flow.moved && flow.ecn <= self.ecn_threshold
    }

    /// A period is over: which paths of a pair of racks lose packets.
    fn judge(&mut self, rack: &mut Rack, leaves: [u32; 2], now: Time) {
        rack.judged = now;
        let total = |of: fn(&Path) -> u32| rack.paths.iter().map(of).sum::<u32>();
        let all = [total(|path| path.evidence.sent), total(|path| path.evidence.lost)];
        for number in 0..rack.paths.len() {
            let is_congested = self.state(&rack.paths[number], rack.least) == State::Congested;
            let Path { evidence, failure, .. } = &mut rack.paths[number];
            let others = [all[0] - evidence.sent, all[1] - evidence.lost];
            if evidence.judge(others, is_congested) && !failure.lasts(now) {
                failure.begin(now, self.failed_time);
                let between = Between::Leaves(leaves);
                self.failed.push(FailedPath::new(now, failure, between, number as u32));
            }
        }
    }
}

/// A FIN without data.
fn is_bare_fin(packet: &Packet) -> bool {
    packet.flags.has(Flags::FIN) && packet.payload == 0
}

impl Sender for Hermes {
    fn choose(&mut self, sending: &Sending<'_>) -> u32 {
        let (packet, now, count) = (sending.packet, sending.now, sending.paths.count());
        let leaves = sending.leaves_of;
        let origin = sending.origin;
        let mut flow = *grown(&mut self.flows, path_of(packet));
        let sent = flow.watch.on_send(packet, now);
        if sent == Sent::Control {
            self.flows[path_of(packet)] = flow;
            return sending.answers.unwrap_or_else(|| among(origin.hash, count));
        }
        let pair =
            [leaves.nodes[origin.node as usize], leaves.destinations[origin.destination as usize]];
        let mut rack = std::mem::take(self.racks.entry(pair, Rack::default).grow(count));
        // What was under way when a link failed has told of a path that is no more.
        rack.paths.truncate(count as usize);
        let ends = [origin.node, origin.destination];
        let mut holes = std::mem::take(self.hosts.entry(ends, Vec::new));
        holes.resize(count as usize, Hole::default());
        if now.0 - rack.judged.0 >= self.failure_period.0 {
            self.judge(&mut rack, pair, now);
        }
        let is_loss = self.is_loss(&mut flow, packet, sent);
        if let Some(path) = flow.path {
            rack.paths[path as usize].evidence.note(is_loss);
            if sent == Sent::Late && !is_bare_fin(packet) {
                let Hole { timeouts, failure } = &mut holes[path as usize];
                *timeouts += 1;
                if *timeouts >= BLACK_HOLE_TIMEOUTS {
                    *timeouts = 0;
                    // Where there is no other path, more of them are of the same failure.
                    if !failure.lasts(now) {
                        failure.begin(now, self.failed_time);
                        let host = leaves.hosts[origin.destination as usize];
                        let between = Between::Hosts([origin.node, host]);
                        self.failed.push(FailedPath::new(now, failure, between, path));
                    }
                }
            }
        }
        // Of two racks, or hosts, without a path that is alive none counts as failed.
        let is_no_hole = |i: usize| !holes[i].failure.lasts(now);
        let is_spotless = |i: usize| is_no_hole(i) && !rack.paths[i].failure.lasts(now);
        let all = 0..count as usize;
        let is_alive = |i: usize| {
            is_spotless(i)
                || is_no_hole(i) && !all.clone().any(is_spotless)
                || !all.clone().any(is_no_hole)
        };
        let chosen = match flow.path.filter(|&path| sent != Sent::Late && is_alive(path as usize)) {
            Some(path) => {
                let here = rack.paths[path as usize];
                let is_slow = flow.rate.bits_per_second(now) < self.max_rate * sending.rate as f64;
                let may_move = self.may_move && flow.watch.bytes > self.min_sent && is_slow;
                let (better_rtt, better_ecn) = (self.better_rtt, self.better_ecn);
                let is_better = |i: usize| {
                    let there = &rack.paths[i];
                    let (Some(a), Some(b)) = (here.rtt, there.rtt) else { return false };
                    let is_shorter = a - b > better_rtt;
                    is_alive(i) && is_shorter && here.ecn - there.ecn > better_ecn
                };
                let better = (may_move && self.state(&here, rack.least) == State::Congested)
                    .then(|| {
                        let good = self.pick(&rack, State::Good, now, is_better);
                        good.or_else(|| self.pick(&rack, State::Gray, now, is_better))
                    })
                    .flatten();
                better.unwrap_or(path)
            }
            None => {
                let good = self.pick(&rack, State::Good, now, is_alive);
                let best = good.or_else(|| self.pick(&rack, State::Gray, now, is_alive));
                best.or_else(|| self.any(count, is_alive))
                    .unwrap_or_else(|| among(origin.hash, count))
            }
        };
        if flow.path.is_some_and(|before| before != chosen) {
            flow.moved = flow.watch.sent();
        }
        flow.path = Some(chosen);
        flow.rate.add(packet.ip_bytes, now);
        rack.paths[chosen as usize].rate.add(packet.ip_bytes, now);
        match sent {
            Sent::New if flow.timed.is_none() => {
                flow.timed = Some((flow.watch.sent(), now, chosen));
            }
            Sent::Again | Sent::Late => flow.timed = None,
            _ => {}
        }
        self.flows[path_of(packet)] = flow;
        *self.racks.entry(pair, Rack::default) = rack;
        *self.hosts.entry(ends, Vec::new) = holes;
        chosen
    }

    fn notice(&mut self, coming: &Coming<'_>) {
        let packet = coming.packet;
        let Some((number, _)) = coming.answers else { return };
        if !coming.is_answer() {
            return;
        }
        let flow = grown(&mut self.flows, other_path_of(packet));
        let new = flow.watch.on_answer(packet, coming.now);
        let is_marked = coming.is_marked();
        flow.ecn += self.gain * (f64::from(u8::from(is_marked)) - flow.ecn);
        let timed = flow.timed.filter(|&(end, _, _)| new > 0 && flow.watch.acked() >= end);
        if timed.is_some() {
            flow.timed = None;
        }
        let (origin, leaves, gain) = (coming.origin, coming.leaves_of, self.gain);
        let pair =
            [leaves.nodes[origin.node as usize], leaves.destinations[origin.destination as usize]];
        let rack = self.racks.entry(pair, Rack::default).grow(number + 1);
        rack.note_mark(number, is_marked, gain);
        if let Some((_, at, path)) = timed {
            rack.note_rtt(path, Time(coming.now.0 - at.0), coming.now, self.smoothing);
        }
        let holes = self.hosts.entry([origin.node, origin.destination], Vec::new);
        if new > 0
            && let Some(hole) = holes.get_mut(number as usize)
        {
            hole.timeouts = 0;
        }
    }

    fn learn(&mut self, agents: Agents, probe: Probe, rtt: Time, is_marked: bool, now: Time) {
        let rack = self.racks.entry(agents.leaves, Rack::default).grow(probe.path + 1);
        rack.note_rtt(probe.path, rtt, now, self.smoothing);
        rack.note_mark(probe.path, is_marked, self.gain);
        let best = grown(&mut self.best, probe.pair as usize);
        if best[1].is_none_or(|(_, least)| rtt < least) {
            best[1] = Some((probe.path, rtt));
        }
    }

    fn period(&self) -> Time {
        if self.has_probes { self.interval } else { Time::ZERO }
    }

    fn probes(&mut self, agents: &[Agents], paths: &[u32], probes: &mut Vec<Probe>) {
        for (pair, &count) in (0..agents.len() as u32).zip(paths) {
            if count == 0 {
                continue;
            }
            for _ in 0..2 {
                let path = self.stream.uniform_integer(0, count - 1);
                probes.push(Probe { pair, path });
            }
            let best = grown(&mut self.best, pair as usize);
            best[0] = best[1].take().or(best[0]);
            if let Some((path, _)) = best[0].filter(|&(path, _)| path < count) {
                probes.push(Probe { pair, path });
            }
        }
    }

    fn failed(&self) -> &[FailedPath] {
        &self.failed
    }

    fn reroute(&mut self) {
        self.racks = PairTable::default();
        self.hosts = PairTable::default();
        self.best.clear();
        self.flows.iter_mut().for_each(|flow| (flow.path, flow.timed) = (None, None));
    }
}
