//! CONGA: bursts of flows take the least congested uplink of their leaf, by what comes back from the leaves
//! that they go to (M. Alizadeh et al., "CONGA: distributed congestion-aware load balancing for datacenters",
//! ACM SIGCOMM 2014).
//!
//! Every port measures its load (discounting rate estimator, section 3.2), quantised to Q bits:
//!
//! ```text
//! X     += bytes of each transmission, when it begins;     X *= 1 - DreFactor     every DreInterval
//! level  = min(floor(X * 2^Q / (rate * tau / 8)), 2^Q - 1)      with tau = DreInterval / DreFactor
//! ```
//!
//! A leaf that sends to another one writes the number of its uplink on the packet (LBTag) and a congestion of 0
//! (CE); each switch that passes the packet on to another one raises CE to the level of the port that it takes.  The
//! leaf at the end remembers CE for the packet's source leaf and LBTag, and sends one such value back with each packet to that leaf
//! (FB_LBTag, FB_Metric): in turn, those that have changed since they were sent first (sections 3.3, 3.4).
//! There they fill the table of congestion to leaves.
//!
//! A flowlet begins after a gap of more than `FlowletTimeout`, or if the flow's uplink is gone.  It takes the
//! uplink with the least max(own level, congestion to the leaf); of equals the one that the flow had before; if that is none of
//! them, one at random (`uniform(0, equals - 1)`, drawn if there are several).  A value in either table that has not been
//! renewed is one less for each `AgingTime` that has passed, down to 0 (section 3.3: "gradually decays to zero").  It has
//! to be in both: a leaf that nothing comes to any more by some uplink would send its last value back for ever, and
//! nobody would try that path again.
//!
//! Switches with several paths that are not the source's leaf (parallel links, fat-trees) take one by ECMP's hash.
//!
//! The paper's age bits find gaps between one and two timeouts; here a gap is measured.  What the fields add to a
//! packet (VXLAN) takes no room on the wire.

use super::ecmp;
use super::flowlets::Flowlets;
use super::letflow::{FLOWLET_TIMEOUT, position};
use super::loads::Loads;
use super::{Balancer, BuildContext, Choice, Ports, SEED};
use crate::base::attributes::{Kind, Spec, U64, param};
use crate::base::rng::RngStream;
use crate::base::time::Time;

pub const SPEC: Spec = Spec {
    ns3: "conga",
    linux: &[],
    is_in_linux: false,
    doc: "All shortest paths by hops; each burst of a flow takes the least congested one.",
    source: "M. Alizadeh et al., ACM SIGCOMM 2014",
    departures: &[],
    params: &[
        FLOWLET_TIMEOUT,
        param![INTERVAL; Kind::Period => "32us"; "How often the measured loads shrink."],
        param![FACTOR; Kind::Real { min: 0.001, max: 0.999 } => "0.2";
            "By which part; the time constant is the interval over it, 160 us."],
        param![BITS; Kind::Uint { min: 1, max: 8 } => "3"; "Bits of a level of congestion."],
        param![LINK_RATE; Kind::OptionalRate => "0bps";
            "What levels of all ports are relative to; 0bps: each port's own rate."],
        param![AGING; Kind::Period => "10ms";
            "A value that has not come back for so long is one less."],
        param![SEED; U64 => "0";
            "Of the hash where paths are not uplinks; the scenario's seed, if it is not given."],
    ],
};

const INTERVAL: &str = "DreInterval";
const FACTOR: &str = "DreFactor";
const BITS: &str = "QuantizationBits";
const LINK_RATE: &str = "LinkRate";
const AGING: &str = "AgingTime";

#[derive(Debug)]
pub struct Conga {
    node: u32,
    salt: u64,
    stream: RngStream,
    flowlets: Flowlets,
    interval: Time,
    /// The position of a port is its LBTag.
    loads: Loads,
    levels: u32,
    aging: Time,
    /// By leaf, as far as some have been heard of, then by tag.
    to: Vec<Vec<Congestion>>,
    from: Vec<Heard>,
    /// Work of one choice: the congestion of each uplink.
    congestion: Vec<u8>,
}

/// The congestion of the paths by one uplink to one leaf.
#[derive(Clone, Copy, Debug, Default)]
struct Congestion {
    level: u8,
    since: Time,
}

/// What packets from one leaf said.
#[derive(Clone, Debug, Default)]
struct Heard {
    /// By the sender's tag, of which few say something: most ports of a leaf are its hosts'.
    tags: Vec<Said>,
    /// The next tag to be sent back, or that after it.
    next: u16,
}

#[derive(Clone, Copy, Debug)]
struct Said {
    tag: u16,
    level: u8,
    since: Time,
    /// Since it was sent back.
    has_changed: bool,
}

/// A tag with its level, on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Label {
    tag: u16,
    level: u8,
}

impl Label {
    fn pack(self) -> u32 {
        u32::from(self.tag) << 16 | u32::from(self.level) << 8 | 1
    }

    fn unpack(note: u32) -> Option<Label> {
        (note != 0).then_some(Label { tag: (note >> 16) as u16, level: (note >> 8) as u8 })
    }
}

/// What is left of a level that was renewed last at `since`.
fn aged(level: u8, since: Time, now: Time, aging: Time) -> u8 {
    u64::from(level).saturating_sub((now.0 - since.0) / aging.0) as u8
}

impl Heard {
    fn note(&mut self, label: Label, now: Time) {
        let Label { tag, level } = label;
        let new = Said { tag, level, since: now, has_changed: true };
        match self.tags.binary_search_by_key(&tag, |said| said.tag) {
            Ok(at) => {
                let said = &mut self.tags[at];
                let has_changed = said.has_changed || said.level != level;
                *said = Said { has_changed, ..new };
            }
            Err(at) => self.tags.insert(at, new),
        }
    }

    /// What goes back next: in turn, what has changed first.
    fn feedback(&mut self, now: Time, aging: Time) -> Option<Label> {
        let count = self.tags.len();
        let first = self.tags.partition_point(|said| said.tag < self.next);
        let mut turn = (first..count).chain(0..first);
        let next = turn.clone().find(|&i| self.tags[i].has_changed).or(turn.next())?;
        let said = &mut self.tags[next];
        said.has_changed = false;
        self.next = said.tag + 1;
        Some(Label { tag: said.tag, level: aged(said.level, said.since, now, aging) })
    }
}

impl Conga {
    pub fn new(cx: &BuildContext<'_>) -> Self {
        let interval = cx.attributes.time(INTERVAL);
        Conga {
            node: cx.node,
            salt: ecmp::salt(cx.attributes.u64(SEED), cx.node),
            stream: cx.random(),
            flowlets: Flowlets::new(cx.attributes.time(FLOWLET_TIMEOUT.ns3)),
            interval,
            loads: Loads::new(cx.ports, interval, cx.attributes.f64(FACTOR))
                .relative_to(cx.attributes.rate(LINK_RATE)),
            levels: 1 << cx.attributes.u32(BITS),
            aging: cx.attributes.time(AGING),
            to: Vec::new(),
            from: Vec::new(),
            congestion: Vec::new(),
        }
    }

    /// The congestion beyond an uplink on the way to a leaf.
    fn remote(&self, leaf: u32, tag: u16, now: Time) -> u8 {
        let known = self.to.get(leaf as usize).and_then(|row| row.get(usize::from(tag)));
        known.map_or(0, |congestion| aged(congestion.level, congestion.since, now, self.aging))
    }

    fn set_remote(&mut self, leaf: u32, label: Label, now: Time) {
        let leaf = leaf as usize;
        if leaf >= self.to.len() {
            self.to.resize(leaf + 1, Vec::new());
        }
        let row = &mut self.to[leaf];
        if row.is_empty() {
            row.resize(self.loads.count(), Congestion::default());
        }
        row[usize::from(label.tag)] = Congestion { level: label.level, since: now };
    }

    fn heard_from(&mut self, leaf: u32) -> &mut Heard {
        let leaf = leaf as usize;
        if leaf >= self.from.len() {
            self.from.resize(leaf + 1, Heard::default());
        }
        &mut self.from[leaf]
    }

    /// The uplink of a packet to another leaf.
    fn uplink(&mut self, choice: &Choice<'_>) -> u32 {
        let (flowlet, goes_on) = self.flowlets.at(choice.path(), choice.now);
        let before = position(choice.ports, flowlet.port);
        if goes_on && let Some(kept) = before {
            return kept;
        }
        let chosen = self.least_congested(choice, before);
        self.flowlets.set_port(choice.path(), choice.ports[chosen as usize]);
        chosen
    }

    /// The least congested uplink; of equals the one that the flow had before, if it is among them.
    fn least_congested(&mut self, choice: &Choice<'_>, before: Option<u32>) -> u32 {
        let leaf = choice.destination_leaf();
        let mut congestion = std::mem::take(&mut self.congestion);
        congestion.clear();
        congestion.extend(choice.ports.iter().map(|&port| {
            let remote = self.remote(leaf, self.loads.position(port), choice.now);
            self.loads.level(port, choice.all, self.levels).max(remote)
        }));
        let least = congestion.iter().copied().min().unwrap_or(0);
        let mut best = (0..).zip(&congestion).filter(|&(_, &level)| level == least);
        let chosen = match before {
            Some(before) if congestion[before as usize] == least => before,
            _ => {
                let equals = best.clone().count() as u32;
                let skip = match equals {
                    1 => 0,
                    _ => self.stream.uniform_integer(0, equals - 1),
                };
                best.nth(skip as usize).map_or(0, |(at, _)| at)
            }
        };
        self.congestion = congestion;
        chosen
    }

    /// A labelled packet has come to the leaf that it goes to.
    fn learn(&mut self, choice: &Choice<'_>, label: Label) {
        let leaf = choice.source_leaf();
        self.heard_from(leaf).note(label, choice.now);
        if let Some(feedback) = Label::unpack(choice.packet.notes[1]) {
            self.set_remote(leaf, feedback, choice.now);
        }
    }
}

impl Balancer for Conga {
    fn pick(&mut self, choice: &mut Choice<'_>) -> u32 {
        let leaf = choice.destination_leaf();
        let label = Label::unpack(choice.packet.notes[0]);
        if label.is_none() && choice.source_leaf() == self.node && leaf != self.node {
            let chosen = self.uplink(choice);
            let tag = self.loads.position(choice.ports[chosen as usize]);
            let (now, aging) = (choice.now, self.aging);
            let feedback = self.heard_from(leaf).feedback(now, aging).map_or(0, Label::pack);
            choice.packet.notes = [Label { tag, level: 0 }.pack(), feedback, 0];
            return chosen;
        }
        let chosen = ecmp::position(choice.origin.hash, self.salt, choice.ports.len());
        if let Some(label) = label {
            if leaf == self.node {
                self.learn(choice, label);
                choice.packet.notes = [0; 3];
            } else {
                let level =
                    self.loads.level(choice.ports[chosen as usize], choice.all, self.levels);
                let level = label.level.max(level);
                choice.packet.notes[0] = Label { level, ..label }.pack();
            }
        }
        chosen
    }

    fn sees_every_hop(&self) -> bool {
        true
    }

    fn period(&self) -> Time {
        self.interval
    }

    fn tick(&mut self, _now: Time, ports: &dyn Ports) {
        self.loads.tick(ports);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::routing::Origin;
    use crate::net::routing::balance::bench::Bench;
    use crate::net::routing::balance::{AnyBalancer, Leaves};
    use crate::packet::Packet;

    fn conga(bench: &mut Bench) -> &mut Conga {
        match &mut bench.balancer {
            AnyBalancer::Conga(conga) => conga,
            other => panic!("{other:?}"),
        }
    }

    /// Nodes: 0 this leaf, 1 another, 2 a spine; hosts 10 behind 0, 11 behind 1.
    fn leaves() -> Leaves {
        let nodes = vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1];
        Leaves { destinations: vec![0, 1], nodes, ..Leaves::default() }
    }

    /// What the balancer at node 0 does with a packet with these notes.
    fn pass(bench: &mut Bench, flow: u32, away: bool, notes: [u32; 3]) -> (u32, [u32; 3]) {
        let mut packet = Packet { flow, notes, ip_bytes: 1500, ..Packet::default() };
        let (node, destination) = if away { (10, 1) } else { (11, 0) };
        let origin = Origin { node, destination, hash: u64::from(flow) };
        let leaves = leaves();
        let ports = bench.numbers();
        let ports = if away { ports } else { ports[..1].to_vec() };
        let chosen = bench.balancer.pick(&mut Choice {
            packet: &mut packet,
            origin,
            now: bench.now,
            group: 0,
            ports: &ports,
            all: &bench.given,
            leaves_of: &leaves,
        });
        (chosen, packet.notes)
    }

    fn away(bench: &mut Bench, flow: u32) -> (u32, [u32; 3]) {
        pass(bench, flow, true, [0; 3])
    }

    /// A packet comes from leaf 1: by its uplink `tag`, with this congestion, and with feedback.
    fn comes(bench: &mut Bench, tag: u16, level: u8, feedback: Option<(u16, u8)>) {
        let feedback = feedback.map_or(0, |(tag, level)| Label { tag, level }.pack());
        let (_, notes) = pass(bench, 99, false, [Label { tag, level }.pack(), feedback, 0]);
        assert_eq!(notes, [0; 3], "hosts see nothing of it");
    }

    fn feedback_of(notes: [u32; 3]) -> Option<(u16, u8)> {
        Label::unpack(notes[1]).map(|label| (label.tag, label.level))
    }

    /// What is left for so many periods of a load after which nothing is sent.
    #[test]
    fn the_estimator_adds_what_is_sent_and_forgets_a_part_in_every_period() {
        let mut bench = Bench::new("conga", &[], 2);
        // 10 Gbit/s x 160 us / 8 = 200,000 B are level 8, were there one; 25,000 B a level.
        for (sent, level) in [(24_999, 0), (25_000, 1), (100_000, 4), (199_999, 7), (900_000, 7)] {
            bench.given.sent[0] = sent;
            let given = &bench.given;
            let AnyBalancer::Conga(conga) = &bench.balancer else { unreachable!() };
            assert_eq!(conga.loads.level(0, given, 8), level, "{sent} B");
            assert_eq!(conga.loads.level(2, given, 8), 0);
        }
        bench.given.sent[0] = 100_000;
        let levels: Vec<_> = (0..8)
            .map(|_| {
                let given = &bench.given;
                let AnyBalancer::Conga(conga) = &mut bench.balancer else { unreachable!() };
                conga.tick(Time::ZERO, given);
                conga.loads.level(0, given, 8)
            })
            .collect();
        // 100,000 x 0.8^n = 80,000, 64,000, 51,200, 40,960, 32,768, 26,214, 20,972, 16,777.
        assert_eq!(levels, [3, 2, 2, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_steady_load_is_its_share_of_the_rate() {
        let mut bench = Bench::new("conga", &[], 1);
        // 5 Gbit/s for 32 us are 20,000 B; before the periods' ends X goes to 100,000 B, after them to 80,000 B.
        for _ in 0..200 {
            bench.given.sent[0] += 20_000;
            let AnyBalancer::Conga(conga) = &mut bench.balancer else { unreachable!() };
            conga.tick(Time::ZERO, &bench.given);
        }
        let AnyBalancer::Conga(conga) = &bench.balancer else { unreachable!() };
        assert!((conga.loads.bytes(0, &bench.given) - 80_000.0).abs() < 1e-6);
        assert_eq!(conga.loads.level(0, &bench.given, 8), 3);
    }

    #[test]
    fn a_flowlet_takes_the_uplink_with_the_least_of_the_larger_congestions() {
        let mut bench = Bench::new("conga", &[], 3);
        // Own levels 5, 0, 2; beyond them 0, 4, 3: the larger ones are 5, 4, 3.
        bench.given.sent = vec![125_000, 0, 50_000];
        comes(&mut bench, 0, 0, Some((1, 4)));
        comes(&mut bench, 0, 0, Some((2, 3)));
        assert!((0..20).all(|flow| away(&mut bench, flow).0 == 2));
    }

    #[test]
    fn it_keeps_to_its_uplink_until_a_gap_and_then_unless_another_is_better() {
        let mut bench = Bench::new("conga", &[("FlowletTimeout", "100us")], 2);
        let (first, _) = away(&mut bench, 1);
        let other = 1 - first;
        bench.given.sent[first as usize] = 100_000;
        bench.advance(100_000);
        assert_eq!(away(&mut bench, 1).0, first, "no gap, however congested");
        bench.given.sent[other as usize] = 100_000;
        bench.advance(100_001);
        assert_eq!(away(&mut bench, 1).0, first, "a gap, but the other is no better");
        bench.given.sent[first as usize] = 150_000;
        bench.advance(100_001);
        assert_eq!(away(&mut bench, 1).0, other, "a gap, and the other is better");
    }

    /// (The reference lists the first best port twice.)
    #[test]
    fn equals_are_equally_likely_for_new_flows() {
        let mut bench = Bench::new("conga", &[], 4);
        bench.given.sent = vec![0, 100_000, 0, 0];
        let mut counts = [0; 4];
        (0..600).for_each(|flow| counts[away(&mut bench, flow).0 as usize] += 1);
        assert_eq!(counts[1], 0);
        assert!([0, 2, 3].iter().all(|&i| (150..=250).contains(&counts[i])), "{counts:?}");
    }

    #[test]
    fn a_packet_has_its_uplink_and_collects_the_largest_level_on_its_path() {
        let mut bench = Bench::new("conga", &[], 3);
        let (chosen, notes) = away(&mut bench, 3);
        assert_eq!(Label::unpack(notes[0]), Some(Label { tag: chosen as u16, level: 0 }));
        assert_eq!(feedback_of(notes), None, "nothing has come from there yet");
        // Node 0 as a spine between others.
        let at_spine = |bench: &mut Bench, level: u8| {
            let notes = [Label { tag: 7, level }.pack(), 5, 0];
            conga(bench).node = 2;
            let after = pass(bench, 3, true, notes).1;
            conga(bench).node = 0;
            assert_eq!(after[1], 5, "feedback is not the spine's");
            Label::unpack(after[0]).expect("a label")
        };
        bench.given.sent = vec![100_000; 3];
        assert_eq!(at_spine(&mut bench, 2), Label { tag: 7, level: 4 });
        assert_eq!(at_spine(&mut bench, 6), Label { tag: 7, level: 6 });
    }

    #[test]
    fn feedback_goes_in_turn_and_what_has_changed_goes_first() {
        let mut bench = Bench::new("conga", &[], 4);
        for (tag, level) in [(0, 1), (1, 2), (3, 3)] {
            comes(&mut bench, tag, level, None);
        }
        let back = |bench: &mut Bench| feedback_of(away(bench, 5).1);
        assert_eq!(back(&mut bench), Some((0, 1)));
        assert_eq!(back(&mut bench), Some((1, 2)));
        assert_eq!(back(&mut bench), Some((3, 3)));
        // Nothing has changed: in turn, without the one that is not known.
        assert_eq!(back(&mut bench), Some((0, 1)));
        assert_eq!(back(&mut bench), Some((1, 2)));
        // The same value again is no change; another one is, and comes before its turn.
        comes(&mut bench, 0, 1, None);
        comes(&mut bench, 1, 6, None);
        assert_eq!(back(&mut bench), Some((1, 6)));
        assert_eq!(back(&mut bench), Some((3, 3)));
        assert_eq!(back(&mut bench), Some((0, 1)));
    }

    #[test]
    fn an_uplink_that_is_heard_of_later_has_its_turn_after_those_below_it() {
        let mut bench = Bench::new("conga", &[], 4);
        let back = |bench: &mut Bench| feedback_of(away(bench, 5).1);
        comes(&mut bench, 0, 1, None);
        comes(&mut bench, 1, 1, None);
        assert_eq!(back(&mut bench), Some((0, 1)));
        assert_eq!(back(&mut bench), Some((1, 1)));
        comes(&mut bench, 0, 2, None);
        comes(&mut bench, 2, 2, None);
        assert_eq!(back(&mut bench), Some((2, 2)));
        assert_eq!(back(&mut bench), Some((0, 2)));
    }

    #[test]
    fn a_value_that_is_not_renewed_becomes_one_less_for_each_age() {
        let mut bench = Bench::new("conga", &[("AgingTime", "10ms")], 2);
        comes(&mut bench, 0, 0, Some((1, 3)));
        let expected = [(0, 3), (9_999_999, 3), (1, 2), (10_000_000, 1), (10_000_000, 0), (1, 0)];
        for (ns, level) in expected {
            bench.advance(ns);
            let now = bench.now;
            assert_eq!(conga(&mut bench).remote(1, 1, now), level);
        }
        comes(&mut bench, 0, 0, Some((1, 2)));
        let now = bench.now;
        assert_eq!(conga(&mut bench).remote(1, 1, now), 2, "renewed");
    }

    #[test]
    fn what_is_sent_back_ages_where_nothing_comes_any_more() {
        let mut bench = Bench::new("conga", &[("AgingTime", "10ms")], 2);
        comes(&mut bench, 1, 3, None);
        for (ns, level) in [(0, 3), (9_999_999, 3), (1, 2), (10_000_000, 1), (30_000_000, 0)] {
            bench.advance(ns);
            assert_eq!(feedback_of(away(&mut bench, 5).1), Some((1, level)));
        }
        comes(&mut bench, 1, 3, None);
        assert_eq!(feedback_of(away(&mut bench, 5).1), Some((1, 3)), "renewed");
    }

    #[test]
    fn packets_within_a_rack_have_no_label() {
        let mut bench = Bench::new("conga", &[], 2);
        let leaves = Leaves { destinations: vec![0], nodes: vec![0; 12], ..Leaves::default() };
        let mut packet = Packet::default();
        bench.balancer.pick(&mut Choice {
            packet: &mut packet,
            origin: Origin { node: 10, destination: 0, hash: 1 },
            now: Time(5),
            group: 0,
            ports: &[0],
            all: &bench.given,
            leaves_of: &leaves,
        });
        assert_eq!(packet.notes, [0; 3]);
    }
}
