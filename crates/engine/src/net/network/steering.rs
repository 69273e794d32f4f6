//! Where hosts choose paths: what they write on packets when they send them, and read when they get them.
//!
//! A packet carries ([`Packet::notes`]) what switches go by with the largest load on its path so far, the number of its path,
//! and that of the packet that its host got last from there, with the load of that one's path.  Numbers are plus 1: 0 is none.

use crate::base::pair_table::PairTable;
use crate::base::time::Time;
use crate::net::routing::Origin;
use crate::net::routing::balance::failures::FailedPath;
use crate::net::routing::balance::{Agents, Coming, Leaves, Paths, Probe, Sender, Sending};
use crate::packet::{Ecn, Flags, PPP_HEADER, Packet};

/// Of probes, with all headers.
const PROBE_BYTES: u32 = 64;

/// The scheme of all hosts.
#[derive(Debug)]
pub struct Steering {
    sender: Box<dyn Sender>,
    /// By switch and destination.
    paths: PairTable<Paths>,
    /// By flow and direction: what the last packet has to be answered with.
    last: Vec<u32>,
    agents: Vec<Agents>,
    /// Its packets, and those of all after it, are probes.
    first_probe: u32,
    probes: Vec<Probe>,
    paths_of_agents: Vec<u32>,
    /// Packets of probes that hosts have sent, there and back.
    probes_sent: u64,
}

/// What is known of a packet before it is sent.
#[derive(Debug)]
pub struct Leaving<'a> {
    pub origin: Origin,
    pub now: Time,
    /// Of the host's link, in bit/s.
    pub rate: u64,
    pub leaves: &'a Leaves,
}

impl Steering {
    /// `agents`: those whose probes are the flows from `first_probe` on.
    pub fn new(sender: Box<dyn Sender>, agents: Vec<Agents>, first_probe: u32) -> Self {
        Steering {
            sender,
            paths: PairTable::default(),
            last: Vec::new(),
            agents,
            first_probe,
            probes: Vec::new(),
            paths_of_agents: Vec::new(),
            probes_sent: 0,
        }
    }

    pub fn period(&self) -> Time {
        self.sender.period()
    }

    /// Packets of probes so far, there and back, and their bytes on the hosts' links.
    pub fn probing(&self) -> [u64; 2] {
        [self.probes_sent, self.probes_sent * u64::from(PROBE_BYTES + PPP_HEADER)]
    }

    /// The paths that were found to have failed.
    pub fn failed(&self) -> &[FailedPath] {
        self.sender.failed()
    }

    /// A packet is sent; `find` knows the paths from a switch to a destination.
    pub fn send(
        &mut self,
        packet: &mut Packet,
        leaving: &Leaving<'_>,
        find: impl Fn(u32, u32) -> Paths,
    ) {
        if packet.flow >= self.first_probe {
            self.probes_sent += 1;
            return;
        }
        let Leaving { origin, now, rate, leaves } = *leaving;
        let leaf = leaves.nodes[origin.node as usize];
        let paths = self.paths.entry([leaf, origin.destination], || find(leaf, origin.destination));
        let answers = self.last.get(index(packet) ^ 1).copied().unwrap_or(0);
        let chosen = self.sender.choose(&Sending {
            packet,
            origin,
            now,
            paths,
            rate,
            answers: (answers & 0xffff).checked_sub(1),
            leaves_of: leaves,
        });
        let number = chosen % paths.count().max(1);
        packet.notes = [number, number + 1, answers];
    }

    /// A packet has come to its host; `origin`: where what it answers comes from.  Returns true if it is for the
    /// host's transport, and otherwise perhaps a packet to send from there.
    pub fn receive(
        &mut self,
        packet: &Packet,
        origin: Origin,
        now: Time,
        leaves: &Leaves,
    ) -> Result<(), Option<Packet>> {
        if packet.flow >= self.first_probe {
            return Err(self.on_probe(packet, now));
        }
        let at = index(packet);
        if at >= self.last.len() {
            self.last.resize((at + 1).next_power_of_two(), 0);
        }
        self.last[at] = packet.notes[1] | packet.notes[0] & 0xffff_0000;
        let answers = packet.notes[2];
        let answers = (answers & 0xffff).checked_sub(1).map(|path| (path, (answers >> 16) as u8));
        self.sender.notice(&Coming { packet, origin, now, answers, leaves_of: leaves });
        Ok(())
    }

    /// Returns the answer to a probe; learns from one.
    fn on_probe(&mut self, packet: &Packet, now: Time) -> Option<Packet> {
        let pair = packet.flow - self.first_probe;
        let path = packet.notes[1] - 1;
        if packet.backward {
            let rtt = Time(now.0 - packet.stamp().0);
            let is_marked = packet.flags.has(Flags::ECE);
            let agents = self.agents[pair as usize];
            self.sender.learn(agents, Probe { pair, path }, rtt, is_marked, now);
            return None;
        }
        let flags = if packet.ecn == Ecn::Ce { Flags::ECE } else { Flags::default() };
        let notes = [path, path + 1, 0];
        Some(Packet { backward: true, flags, ecn: Ecn::Ect0, notes, ..*packet })
    }

    /// The probes that are due.
    pub fn probes(
        &mut self,
        now: Time,
        leaves: &Leaves,
        origins: &[[Origin; 2]],
        find: impl Fn(u32, u32) -> Paths,
    ) -> Vec<Packet> {
        let mut counts = std::mem::take(&mut self.paths_of_agents);
        counts.clear();
        for origin in &origins[self.first_probe as usize..] {
            let (leaf, destination) =
                (leaves.nodes[origin[0].node as usize], origin[0].destination);
            let paths = self.paths.entry([leaf, destination], || find(leaf, destination));
            counts.push(paths.count());
        }
        self.probes.clear();
        self.sender.probes(&self.agents, &counts, &mut self.probes);
        self.paths_of_agents = counts;
        let packet = |probe: &Probe| {
            let mut packet = Packet {
                flow: self.first_probe + probe.pair,
                ip_bytes: PROBE_BYTES,
                ecn: Ecn::Ect0,
                notes: [probe.path, probe.path + 1, 0],
                ..Packet::default()
            };
            packet.set_stamp(now);
            packet
        };
        self.probes.iter().map(packet).collect()
    }

    /// Links have failed or come back.
    pub fn reroute(&mut self) {
        self.paths = PairTable::default();
        self.last.clear();
        self.sender.reroute();
    }
}

fn index(packet: &Packet) -> usize {
    2 * packet.flow as usize + usize::from(packet.backward)
}
