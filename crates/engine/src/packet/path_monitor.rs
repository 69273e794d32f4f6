//! Which paths the packets of each flow take, and in which order they arrive: what a load balancer does to
//! flows.
//!
//! Followed are the packets from a flow's source to its destination, numbered as the host sends them,
//! whatever is in them: a segment that is sent again has a number of its own.  A path is the directions of
//! links between switches that a packet takes; the links of the two hosts belong to none.
//!
//! Order is that of RFC 4737.  A packet is reordered if one with a larger number has come before it (section
//! 3.3), and its extent is how many packets before it the first of those came (section 4.2).
//!
//! A flow switches if a packet with payload takes another path than the one with payload sent before it, of those that
//! arrive: what opens and closes a connection, or only acknowledges, may go elsewhere.  It is known when both have
//! arrived, or are lost.

use std::collections::VecDeque;

use crate::base::pair_table::PairTable;
use crate::base::time::Time;

/// What is known of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Packets that have arrived.
    pub packets: u64,
    pub reordered: u64,
    /// Of the extents of those.
    pub extent_sum: u64,
    pub max_extent: u64,
    pub switches: u64,
}

/// A packet with payload takes another path than the one before it, or is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// When it was sent.
    pub sent: Time,
    pub flow: u32,
    pub path: u32,
}

/// What became of a packet that was sent.
#[derive(Clone, Copy, Debug)]
enum Fate {
    UnderWaay,
    /// Lost, or without payload.
    OfNoMatter,
    /// By this path.
    Came(u32),
}

#[derive(Clone, Debug, Default)]
struct Flow {
    order: Order,
    /// The number of the first packet that is still under way, and what is known from there on.
    first: u32,
    sent: VecDeque<(Time, Fate)>,
    /// Packets whose number was larger than all before: how many had come before, and that number.
    /// Only those above `first`: no packet under way has come behind the others.
    highest: VecDeque<(u64, u32)>,
    last_path: Option<u32>,
}

impl Flow {
    fn receive(&mut self, number: u32) {
        let before = self.order.packets;
        self.order.packets += 1;
        if self.highest.back().is_none_or(|&(_, highest)| highest < number) {
            self.highest.push_back((before, number));
            return;
        }
        let first_above = self.highest.partition_point(|&(_, other)| other < number);
        let extent = before - self.highest[first_above].0;
        self.order.reordered += 1;
        self.order.extent_sum += extent;
        self.order.max_extent = self.order.max_extent.max(extent);
    }

    /// Goes on to the first packet that is still under way; tells of each switch.
    fn settle(&mut self, mut tell: impl FnMut(Time, u32)) {
        while let Some(&(sent, fate)) = self.sent.front() {
            match fate {
                Fate::UnderWaay => break,
                Fate::OfNoMatter => {}
                Fate::Came(path) if self.last_path == Some(path) => {}
                Fate::Came(path) => {
                    self.order.switches += u64::from(self.last_path.is_some());
                    self.last_path = Some(path);
                    tell(sent, path);
                }
            }
            self.sent.pop_front();
            self.first += 1;
        }
        while self.highest.front().is_some_and(|&(_, number)| number < self.first) {
            self.highest.pop_front();
        }
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    flow: u32,
    number: u32,
    has_payload: bool,
    /// Whether it has come to a switch.
    is_inside: bool,
    /// The path so far.
    path: u32,
}

/// All paths that were taken, as a tree: each is another one and a port.
#[derive(Debug)]
struct Paths {
    next: PairTable<u32>,
    /// Of each path: the one that it goes on from, and the port.
    steps: Vec<[u32; 2]>,
}

impl Paths {
    /// Of packets that stay below one switch.
    const NONE: u32 = 0;

    fn go_on(&mut self, path: u32, port: u32) -> u32 {
        let new = self.steps.len() as u32;
        let next = *self.next.entry([path, port], || new);
        if next == new {
            self.steps.push([path, port]);
        }
        next
    }

    fn ports(&self, path: u32) -> Vec<u32> {
        let step = |&path: &u32| (path != Paths::NONE).then(|| self.steps[path as usize][0]);
        let all = std::iter::successors(Some(path), step).filter(|&path| path != Paths::NONE);
        let mut ports: Vec<_> = all.map(|path| self.steps[path as usize][1]).collect();
        ports.reverse();
        ports
    }
}

/// What becomes of the packets of all flows.
#[derive(Debug)]
pub struct PathMonitor {
    /// By flow, as far as something was sent.
    flows: Vec<Option<Box<Flow>>>,
    /// Whose switches are kept.
    is_followed: Vec<bool>,
    switches: Vec<Switch>,
    paths: Paths,
    /// By packet, as the pool numbers them.
    tracked: Vec<Option<Tracked>>,
}

impl PathMonitor {
    /// Of the first `flows` flows; `followed` are those whose switches are kept one by one.
    pub fn new(flows: usize, followed: &[u32]) -> Self {
        let mut is_followed = vec![false; flows];
        followed.iter().for_each(|&flow| is_followed[flow as usize] = true);
        PathMonitor {
            flows: vec![None; flows],
            is_followed,
            switches: Vec::new(),
            paths: Paths { next: PairTable::default(), steps: vec![[Paths::NONE; 2]] },
            tracked: Vec::new(),
        }
    }

    /// The source of a flow has sent a packet.
    pub fn sent(&mut self, id: usize, flow: u32, has_payload: bool, now: Time) {
        let Some(known) = self.flows.get_mut(flow as usize) else { return };
        let known = known.get_or_insert_default();
        let number = known.first + known.sent.len() as u32;
        known.sent.push_back((now, Fate::UnderWaay));
        if self.tracked.len() <= id {
            self.tracked.resize(id + 1, None);
        }
        let (is_inside, path) = (false, Paths::NONE);
        self.tracked[id] = Some(Tracked { flow, number, has_payload, is_inside, path });
    }

    /// A switch sends a packet on that came over `port`.
    pub fn forwarded(&mut self, id: usize, port: u32) {
        let Some(Some(tracked)) = self.tracked.get_mut(id) else { return };
        if tracked.is_inside {
            tracked.path = self.paths.go_on(tracked.path, port);
        }
        tracked.is_inside = true;
    }

    /// A packet has come to the host that it is for.
    pub fn received(&mut self, id: usize) {
        if let Some(tracked) = self.tracked.get_mut(id).and_then(Option::take) {
            if let Some(flow) = &mut self.flows[tracked.flow as usize] {
                flow.receive(tracked.number);
            }
            let path = Fate::Came(tracked.path);
            self.know(tracked, if tracked.has_payload { path } else { Fate::OfNoMatter });
        }
    }

    /// A packet is gone; unless it was received, it is lost.
    pub fn gone(&mut self, id: usize) {
        if let Some(tracked) = self.tracked.get_mut(id).and_then(Option::take) {
            self.know(tracked, Fate::OfNoMatter);
        }
    }

    fn know(&mut self, tracked: Tracked, fate: Fate) {
        let Tracked { flow, number, .. } = tracked;
        let Some(known) = &mut self.flows[flow as usize] else { return };
        known.sent[(number - known.first) as usize].1 = fate;
        let is_followed = self.is_followed[flow as usize];
        let switches = &mut self.switches;
        known.settle(|sent, path| {
            if is_followed {
                switches.push(Switch { sent, flow, path });
            }
        });
    }

    /// What is known of each flow that has sent something.
    pub fn orders(&self) -> impl Iterator<Item = (u32, Order)> {
        let known = (0..).zip(&self.flows);
        known.filter_map(|(number, flow)| Some((number, flow.as_ref()?.order)))
    }

    /// Those of the flows that are followed, by time and then by flow.
    pub fn switches(&self) -> Vec<Switch> {
        let mut switches = self.switches.clone();
        switches.sort_by_key(|switch| (switch.sent, switch.flow));
        switches
    }

    /// The ports of a path, in order.
    pub fn ports(&self, path: u32) -> Vec<u32> {
        self.paths.ports(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sends as many packets of flow 0 as there are numbers, which then arrive in this order; what is not
    /// among them is lost.
    fn arrive(order: &[usize], count: usize) -> Order {
        let mut monitor = PathMonitor::new(1, &[]);
        (0..count).for_each(|id| monitor.sent(id, 0, true, Time(id as u64)));
        order.iter().for_each(|&id| monitor.received(id));
        (0..count).for_each(|id| monitor.gone(id));
        monitor.orders().next().expect("it has sent").1
    }

    fn extents(order: &[usize]) -> [u64; 4] {
        let found = arrive(order, order.iter().max().map_or(0, |last| last + 1));
        [found.packets, found.reordered, found.extent_sum, found.max_extent]
    }

    /// RFC 4737's examples: packet 4, packets 5 and 6, and packets 4 to 6 are reordered.
    #[test]
    fn extents_are_those_of_the_rfc_s_examples() {
        assert_eq!(extents(&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]), [10, 1, 4, 4]);
        assert_eq!(extents(&[1, 2, 3, 4, 7, 5, 6, 8, 9, 10]), [10, 2, 1 + 2, 2]);
        assert_eq!(extents(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]), [11, 3, 4 + 5 + 6, 6]);
        assert_eq!(extents(&[1, 2, 3, 4]), [4, 0, 0, 0]);
    }

    #[test]
    fn what_is_lost_reorders_nothing() {
        let found = arrive(&[0, 2, 4, 3], 6);
        assert_eq!((found.packets, found.reordered, found.max_extent), (4, 1, 1));
    }

    proptest! {
        /// As the RFC defines it: i - j for the least j with a larger number.
        #[test]
        fn extents_are_those_of_the_definition(
            order in Just((0..40usize).collect::<Vec<_>>()).prop_shuffle(),
            lost in prop::collection::vec(any::<bool>(), 40),
        ) {
            let order: Vec<_> = order.into_iter().filter(|&number| !lost[number]).collect();
            let extent = |i: usize| {
                let first = (0..i).find(|&j| order[j] > order[i])?;
                Some((i - first) as u64)
            };
            let expected: Vec<_> = (0..order.len()).filter_map(extent).collect();
            let found = arrive(&order, 40);
            prop_assert_eq!(found.packets, order.len() as u64);
            prop_assert_eq!(found.reordered, expected.len() as u64);
            prop_assert_eq!(found.extent_sum, expected.iter().sum::<u64>());
            prop_assert_eq!(found.max_extent, expected.into_iter().max().unwrap_or(0));
        }
    }

    /// A packet of flow 0 over these links between switches, without payload if its id is 100 or more; it does not arrive yet.
    fn take(monitor: &mut PathMonitor, id: usize, now: u64, path: &[u32]) {
        monitor.sent(id, 0, id < 100, Time(now));
        monitor.forwarded(id, 77);
        path.iter().for_each(|&port| monitor.forwarded(id, port));
    }

    #[test]
    fn switches_are_counted_in_the_order_of_sending() {
        let mut monitor = PathMonitor::new(2, &[0]);
        for (id, path) in [[2, 8], [2, 8], [4, 10], [2, 8], [4, 10], [4, 10]].iter().enumerate() {
            take(&mut monitor, id, 100 * id as u64, path);
        }
        // The third one overtakes all, the fourth is lost: nothing came between the third and the fifth.
        for id in [2, 0, 1] {
            monitor.received(id);
        }
        monitor.gone(3);
        monitor.received(5);
        let known = |monitor: &PathMonitor| monitor.orders().next().expect("it has sent").1;
        assert_eq!((known(&monitor).switches, known(&monitor).reordered), (1, 2));
        monitor.received(4);
        assert_eq!((known(&monitor).switches, known(&monitor).reordered), (1, 3));
        let paths: Vec<_> =
            monitor.switches().iter().map(|s| (s.sent.0, monitor.ports(s.path))).collect();
        assert_eq!(paths, [(0, vec![2, 8]), (200, vec![4, 10])]);
    }

    #[test]
    fn what_has_no_payload_may_go_elsewhere() {
        let mut monitor = PathMonitor::new(1, &[0]);
        for (id, path) in [(100, [4, 10]), (0, [2, 8]), (101, [4, 10]), (1, [2, 8])] {
            take(&mut monitor, id, id as u64, &path);
            monitor.received(id);
        }
        let order = monitor.orders().next().expect("it has sent").1;
        assert_eq!((order.packets, order.switches, monitor.switches().len()), (4, 0, 1));
    }

    #[test]
    fn hosts_links_belong_to_no_path() {
        let mut monitor = PathMonitor::new(1, &[0]);
        take(&mut monitor, 0, 5, &[]);
        monitor.received(0);
        let [switch] = monitor.switches()[..] else { panic!("the first packet is told of") };
        assert_eq!(monitor.ports(switch.path), [0; 0]);
        assert_eq!(monitor.orders().next().expect("it has sent").1.switches, 0);
    }

    #[test]
    fn only_followed_flows_are_told_of() {
        let mut monitor = PathMonitor::new(2, &[1]);
        for (id, flow) in [(0, 0), (1, 1), (2, 7)] {
            monitor.sent(id, flow, true, Time(0));
            monitor.received(id);
        }
        let flows: Vec<_> = monitor.switches().iter().map(|switch| switch.flow).collect();
        assert_eq!((flows, monitor.orders().count()), (vec![1], 2));
    }
}
