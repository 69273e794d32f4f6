//! What each way of a connection sends and receives at the IP layer of its ends, counted as ns-3's
//! `FlowMonitor` does with a probe in every node.

use std::collections::BTreeMap;

use crate::base::time::Time;

/// What is neither received nor forwarded for so long counts as lost (`MaxPerHopDelay`).
const MOST_PER_HOP: Time = Time::from_secs(10);
/// In place of a position: a way that is not followed.
const NOT_FOLLOWED: u32 = u32::MAX;
/// How often that is looked for.
const LOOK: Time = Time::from_secs(1);
/// Receptions farther apart than this are interruptions (`FlowInterruptionsMinTime`).
const INTERRUPTION: Time = Time::from_ms(500);

/// Which distribution a bin belongs to, with the width of its bins in seconds or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Histogram {
    Delay,
    Jitter,
    PacketSize,
    Interruption,
}

impl Histogram {
    pub const fn name(self) -> &'static str {
        match self {
            Histogram::Delay => "delay",
            Histogram::Jitter => "jitter",
            Histogram::PacketSize => "packet_size",
            Histogram::Interruption => "interruption",
        }
    }

    const fn width(self) -> f64 {
        match self {
            Histogram::Delay | Histogram::Jitter => 0.001,
            Histogram::PacketSize => 20.0,
            Histogram::Interruption => 0.25,
        }
    }
}

/// Where a loss is noticed at once; what is lost elsewhere is missed later.
#[derive(Clone, Copy, Debug)]
pub enum LostIn {
    NoRoute,
    DeviceQueue,
    Discipline,
}

impl LostIn {
    const COUNT: usize = 3;
}

/// One way of a connection.
#[derive(Clone, Debug)]
pub struct Counts {
    pub flow: u32,
    pub backward: bool,
    pub first_tx: Time,
    pub last_tx: Time,
    pub first_rx: Option<Time>,
    pub last_rx: Option<Time>,
    pub tx_packets: u64,
    pub tx_bytes: u64,
    pub rx_packets: u64,
    pub rx_bytes: u64,
    pub delay_sum: Time,
    pub jitter_sum: Time,
    pub last_delay: Option<Time>,
    pub max_delay: Option<Time>,
    pub min_delay: Option<Time>,
    pub lost_packets: u64,
    pub times_forwarded: u64,
    /// Packets and bytes by [`LostIn`].
    pub drops: [(u64, u64); LostIn::COUNT],
    pub bins: BTreeMap<(Histogram, u32), u64>,
}

impl Counts {
    fn new(flow: u32, backward: bool, now: Time) -> Self {
        Counts {
            flow,
            backward,
            first_tx: now,
            last_tx: now,
            first_rx: None,
            last_rx: None,
            tx_packets: 0,
            tx_bytes: 0,
            rx_packets: 0,
            rx_bytes: 0,
            delay_sum: Time::ZERO,
            jitter_sum: Time::ZERO,
            last_delay: None,
            max_delay: None,
            min_delay: None,
            lost_packets: 0,
            times_forwarded: 0,
            drops: [(0, 0); LostIn::COUNT],
            bins: BTreeMap::new(),
        }
    }

    fn bin(&mut self, histogram: Histogram, value: f64) {
        let index = (value / histogram.width()).floor() as u32;
        *self.bins.entry((histogram, index)).or_default() += 1;
    }

    fn receive(&mut self, packet: Tracked, bytes: u32, now: Time) {
        let delay = now - packet.first_seen;
        self.delay_sum += delay;
        self.bin(Histogram::Delay, delay.secs_f64());
        if let Some(last) = self.last_delay {
            let jitter = if last > delay { last - delay } else { delay - last };
            self.jitter_sum += jitter;
            self.bin(Histogram::Jitter, jitter.secs_f64());
        }
        self.last_delay = Some(delay);
        self.max_delay = Some(self.max_delay.map_or(delay, |max| max.max(delay)));
        self.min_delay = Some(self.min_delay.map_or(delay, |min| min.min(delay)));
        self.rx_bytes += u64::from(bytes);
        self.bin(Histogram::PacketSize, f64::from(bytes));
        self.rx_packets += 1;
        self.first_rx.get_or_insert(now);
        if let Some(before) = self.last_rx.replace(now)
            && now - before > INTERRUPTION
        {
            self.bin(Histogram::Interruption, (now - before).secs_f64());
        }
        self.times_forwarded += u64::from(packet.times_forwarded);
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    /// Which of the counts it is part of.
    way: u32,
    times_forwarded: u32,
    first_seen: Time,
    last_seen: Time,
}

impl Tracked {
    /// Whether somebody has looked since it was missed.
    fn is_missed(&self, now: Time) -> bool {
        let missed = self.last_seen + MOST_PER_HOP;
        Time(missed.0.div_ceil(LOOK.0) * LOOK.0) <= now
    }
}

/// All ways, in the order of their first packets.
#[derive(Debug, Default)]
pub struct FlowMonitor {
    pub ways: Vec<Counts>,
    /// By flow, there and back: the position in `ways`, plus one.
    known: Vec<[u32; 2]>,
    /// By packet, as the pool numbers them.
    tracked: Vec<Option<Tracked>>,
    /// What was lost where nobody looks.
    missing: Vec<Tracked>,
    /// How many flows over TCP and UDP there are; pings, which come after them, are not followed.
    flows: u32,
}

impl FlowMonitor {
    /// `one_way`: those of the flows over which only messages of ICMP come back, which do not count.
    pub fn new(flows: usize, one_way: impl IntoIterator<Item = usize>) -> Self {
        let mut known = vec![[0; 2]; flows];
        for flow in one_way {
            known[flow][1] = NOT_FOLLOWED;
        }
        FlowMonitor { flows: flows as u32, known, ..FlowMonitor::default() }
    }

    /// A host has sent a packet.
    pub fn sent(&mut self, id: usize, [flow, backward]: [u32; 2], bytes: u32, now: Time) {
        if flow >= self.flows {
            return;
        }
        let position = &mut self.known[flow as usize][backward as usize];
        if *position == NOT_FOLLOWED {
            return;
        }
        if *position == 0 {
            self.ways.push(Counts::new(flow, backward == 1, now));
            *position = self.ways.len() as u32;
        }
        let way = *position - 1;
        let counts = &mut self.ways[way as usize];
        counts.tx_packets += 1;
        counts.tx_bytes += u64::from(bytes);
        counts.last_tx = now;
        if self.tracked.len() <= id {
            self.tracked.resize(id + 1, None);
        }
        let tracked = Tracked { way, times_forwarded: 0, first_seen: now, last_seen: now };
        self.tracked[id] = Some(tracked);
    }

    /// A packet that is still looked for; one that is not any more is lost.
    fn find(&mut self, id: usize, now: Time) -> Option<&mut Tracked> {
        let slot = self.tracked.get_mut(id)?;
        if slot.is_some_and(|tracked| tracked.is_missed(now)) {
            let tracked = slot.take()?;
            self.ways[tracked.way as usize].lost_packets += 1;
        }
        slot.as_mut()
    }

    /// A switch sends a packet on.
    pub fn forwarded(&mut self, id: usize, now: Time) {
        if let Some(tracked) = self.find(id, now) {
            tracked.times_forwarded += 1;
            tracked.last_seen = now;
        }
    }

    /// A packet has come to the host that it is for.
    pub fn received(&mut self, id: usize, bytes: u32, now: Time) {
        if let Some(&mut tracked) = self.find(id, now) {
            self.tracked[id] = None;
            self.ways[tracked.way as usize].receive(tracked, bytes, now);
        }
    }

    /// A packet is lost where it is noticed.
    pub fn lost(&mut self, id: usize, loss: LostIn, bytes: u32, now: Time) {
        if let Some(&mut tracked) = self.find(id, now) {
            self.tracked[id] = None;
            let counts = &mut self.ways[tracked.way as usize];
            counts.lost_packets += 1;
            let (packets, all_bytes) = &mut counts.drops[loss as usize];
            *packets += 1;
            *all_bytes += u64::from(bytes);
        }
    }

    /// A packet is gone; unless it was received or seen lost, it will be missed.
    pub fn gone(&mut self, id: usize) {
        if let Some(tracked) = self.tracked.get_mut(id).and_then(Option::take) {
            self.missing.push(tracked);
        }
    }

    /// All ways at the end of the run, with what is missed until then.
    pub fn at(&self, end: Time) -> Vec<Counts> {
        let mut ways = self.ways.clone();
        for tracked in self.missing.iter().chain(self.tracked.iter().flatten()) {
            if end - tracked.last_seen >= MOST_PER_HOP {
                ways[tracked.way as usize].lost_packets += 1;
            }
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Time = Time::from_ms(1);

    fn at(ms: u64) -> Time {
        Time(ms * MS.0)
    }

    #[test]
    fn delays_and_jitter_are_those_between_the_hosts() {
        let mut monitor = FlowMonitor::new(4, []);
        for (id, (sent, received)) in [(0, 10), (1, 14), (600, 612)].into_iter().enumerate() {
            monitor.sent(id, [3, 0], 1000, at(sent));
            monitor.forwarded(id, at(sent + 5));
            monitor.received(id, 1000, at(received));
            monitor.gone(id);
        }
        let [way] = &monitor.at(at(700))[..] else { panic!("one way") };
        assert_eq!((way.flow, way.backward, way.tx_packets, way.rx_bytes), (3, false, 3, 3000));
        assert_eq!((way.delay_sum, way.jitter_sum), (at(10 + 13 + 12), at(3 + 1)));
        assert_eq!((way.min_delay, way.max_delay), (Some(at(10)), Some(at(13))));
        assert_eq!((way.times_forwarded, way.lost_packets), (3, 0));
        assert_eq!(way.bins[&(Histogram::PacketSize, 50)], 3);
        assert_eq!(way.bins[&(Histogram::Interruption, 2)], 1);
    }

    #[test]
    fn messages_about_datagrams_do_not_count() {
        let mut monitor = FlowMonitor::new(2, [1]);
        monitor.sent(0, [1, 1], 56, at(1));
        monitor.received(0, 56, at(2));
        assert!(monitor.at(at(3)).is_empty());
        monitor.sent(0, [0, 1], 56, at(4));
        assert_eq!(monitor.at(at(5)).len(), 1);
    }

    #[test]
    fn what_nobody_saw_lost_is_missed_after_ten_seconds() {
        let mut monitor = FlowMonitor::new(4, []);
        monitor.sent(0, [0, 0], 100, at(500));
        monitor.gone(0);
        monitor.sent(1, [0, 0], 100, at(600));
        monitor.lost(1, LostIn::Discipline, 100, at(600));
        monitor.gone(1);
        let lost = |ms| monitor.at(at(ms))[0].lost_packets;
        assert_eq!((lost(10_400), lost(10_500)), (1, 2));
        assert_eq!(monitor.ways[0].drops[LostIn::Discipline as usize], (1, 100));
    }

    #[test]
    fn a_packet_that_comes_after_it_was_missed_is_not_received() {
        let mut monitor = FlowMonitor::new(4, []);
        monitor.sent(0, [0, 1], 100, at(500));
        monitor.received(0, 100, at(11_000));
        let way = &monitor.at(at(12_000))[0];
        assert_eq!((way.rx_packets, way.lost_packets, way.backward), (0, 1, true));
    }
}
