//! Hosts in the kernel: a namespace each, with a device whose packets this program reads and writes.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::Time;
use ccperf_engine::host::outside::{Arriving, Departures, Host};
use ccperf_engine::packet::{Flags, Image, Packet};

use super::ahead::{Ahead, Arrival};
use super::discipline::DISCIPLINES;
use super::settings::Settings;
use super::sys::{self, Epoll, Tap};
use super::wire::{self, Key};

/// Of `room`, among those who are ready; larger than any number of a machine.
const ROOM: u64 = 1 << 32;

/// One or more hosts.
#[derive(Debug)]
struct Machine {
    sent: Tap,
    receives: OwnedFd,
    network: File,
}

/// What the source of a flow has sent, as it was seen to leave and to be acknowledged.
#[derive(Debug, Default)]
pub struct Tally {
    pub segments: u64,
    pub bytes: u64,
    pub retransmissions: u64,
    pub departures: Departures,
    /// The end of what has been sent.
    highest: Seq,
}

/// Which flow a packet is of, and whether it goes from its destination to its source.
#[derive(Debug, Default)]
struct Known {
    flow: u32,
    is_backward: bool,
}

/// All hosts.
#[derive(Debug)]
pub struct Kernel {
    machines: Vec<Machine>,
    flows: HashMap<Key, Known>,
    /// By flow, the first sequence numbers of both ends.
    first: Vec<[Seq; 2]>,
    pub tallies: Vec<Tally>,
    /// All devices and queue disciplines, and `room`.
    pub all: Epoll,
    /// Sockets that may be written to.
    pub room: Epoll,
    pub ahead: Ahead,
    /// The kernel's clock at the beginning, and how far the clock of days is ahead of it.
    start: u64,
    days_ahead: u64,
    /// Simulated time as the kernel has it.
    pub clock: Time,
    /// Packets that came to a host after their time; none, if nothing is wrong.
    pub late: u64,
    /// Packets of no flow.
    pub stray: u64,
    /// What applications write.
    pub zeros: Vec<u8>,
}

impl Kernel {
    /// With all machines of the settings; there are `flows`, of which `watched` are looked at after every packet.
    pub fn new(settings: &Settings, flows: usize, watched: &[u32]) -> Result<Self> {
        for (name, value) in &settings.variables {
            set(name, value)?;
        }
        for module in &settings.modules {
            sys::load_module(&module.path, &module.parameters)?;
        }
        if !settings.modules.is_empty() {
            // Who reads what a kernel says before it gives up wants to know where they are.
            fs::copy("/proc/modules", "/out/modules")?;
        }
        let (all, room) = (Epoll::new()?, Epoll::new()?);
        all.add(&room, ROOM, false)?;
        let mut machines = Vec::new();
        for (number, machine) in settings.machines.iter().enumerate() {
            sys::unshare_network()?;
            let (sent, receives) = sys::host(machine.mtu, &machine.addresses, &machine.routes)?;
            for (name, value) in &machine.variables {
                if is_of_namespace(name) {
                    set(name, value)?;
                }
            }
            all.add(&sent.socket, number as u64, false)?;
            let network = File::open("/proc/self/ns/net")?;
            machines.push(Machine { sent, receives, network });
        }
        Ok(Kernel {
            machines,
            flows: HashMap::new(),
            first: vec![[Seq(0); 2]; flows],
            tallies: (0..flows).map(|_| Tally::default()).collect(),
            all,
            room,
            ahead: Ahead::new(flows, watched)?,
            start: 0,
            days_ahead: 0,
            clock: Time::ZERO,
            late: 0,
            stray: 0,
            zeros: vec![0; 1 << 18],
        })
    }

    /// This program is at a machine from now on.
    pub fn enter(&self, machine: usize) -> Result<()> {
        sys::enter_network(&self.machines[machine].network)
    }

    /// Packets with these addresses and ports are those of `flow`.
    pub fn know(&mut self, flow: u32, ends: [(Ipv4Addr, u16); 2]) {
        for is_backward in [false, true] {
            let [from, to] = if is_backward { [ends[1], ends[0]] } else { ends };
            let (mut addresses, mut ports) = ([0; 8], [0; 4]);
            for (at, (address, port)) in [from, to].into_iter().enumerate() {
                addresses[4 * at..][..4].copy_from_slice(&address.octets());
                ports[2 * at..][..2].copy_from_slice(&port.to_be_bytes());
            }
            self.flows.insert((addresses, ports), Known { flow, is_backward });
        }
    }

    /// Packets that hosts have sent and nobody has seen; none, if nothing is wrong.
    pub fn lost(&self) -> Result<u32> {
        self.machines.iter().map(|machine| machine.sent.lost()).sum()
    }

    /// Simulated time begins with the next second of the kernel's.  Ticks and timers are where they are whatever came before.
    pub fn begin(&mut self) -> Result<()> {
        const SECOND: u64 = 1_000_000_000;
        self.start = (sys::now() / SECOND + 1) * SECOND;
        self.days_ahead = sys::days_ahead();
        self.all.wait(self.start - sys::now(), &mut Vec::new())
    }

    /// How far the kernel's clock is from where it should be, if it is off.
    pub fn off(&self, now: Time) -> Option<Option<u64>> {
        let off = (sys::now() - self.start).checked_sub(now.0);
        (off != Some(0)).then_some(off)
    }

    /// Sleeps until `horizon`, unless a host sends something or has room before, or packets that are `arriving` have come to
    /// their hosts.  Returns what time it is, and in `ready` the flows whose sockets have room, and tokens of queue disciplines.
    pub fn sleep(
        &mut self,
        horizon: Time,
        arriving: &[Arriving],
        ready: &mut Vec<u64>,
    ) -> Result<Time> {
        ready.clear();
        self.ahead.keep_to(horizon)?;
        if !self.ahead.is_busy() {
            let device = |machine: usize| self.machines[machine].receives.as_raw_fd();
            self.ahead.plan(arriving, self.start, device);
        }
        if !self.ahead.is_busy() {
            let ours = arriving.iter().find(|one| self.ahead.ends_of(&one.packet).is_some());
            let until = ours.map_or(horizon, |one| one.time.min(horizon));
            let wait = Time(until.0.saturating_sub(self.clock.0));
            let mut found = Vec::new();
            self.all.wait(wait.0, &mut found)?;
            // Whom nobody wakes, sleeps as long as was said.  Lateness would add up, and be noticed.
            if found.is_empty() {
                return Ok(self.clock + wait);
            }
            for token in found {
                match token {
                    ROOM => ready.extend(self.has_room()?),
                    DISCIPLINES.. => ready.push(token),
                    _ => {} // what a device has sent is seen anyway
                }
            }
            return Ok(self.now());
        }
        if self.ahead.wait(&self.room)? {
            *ready = self.has_room()?;
        }
        Ok(self.ahead.end().unwrap_or_else(|| self.now()))
    }

    /// Whose sockets have room.
    fn has_room(&self) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        self.room.wait(0, &mut found)?;
        Ok(found)
    }

    fn now(&self) -> Time {
        Time(sys::now() - self.start)
    }

    /// When the first thing happened that the engine does not know of yet.
    pub fn seen(&self) -> Option<Time> {
        let sent = self.machines.iter().filter_map(|machine| machine.sent.next_ns()).min();
        sent.map(|ns| self.simulated(ns)).into_iter().chain(self.ahead.next()).min()
    }

    fn simulated(&self, ns: u64) -> Time {
        Time(ns.saturating_sub(self.days_ahead + self.start))
    }

    /// Something is done in the kernel now: its clock must say so.
    pub fn act(&mut self, now: Time) {
        self.late += u64::from(now != self.clock);
    }

    /// A packet comes to a host.
    pub fn deliver(
        &mut self,
        machine: usize,
        packet: &Packet,
        host: &mut Host<'_>,
    ) -> Result<Arrival> {
        if let Some((planned, read)) = self.ahead.follow(host.now()) {
            self.late += u64::from(!planned.is(packet));
            self.drain(machine, host)?;
            return Ok(Arrival::Ahead(read));
        }
        self.act(host.now());
        let mut image = *host.arrived_image();
        let length = wire::headers(&mut image, packet.ecn);
        let payload = &self.zeros[..packet.payload.into()];
        sys::write(&self.machines[machine].receives, [&image[..length], payload])?;
        self.drain(machine, host)?;
        Ok(Arrival::Now)
    }

    /// What all hosts have sent until now goes into the network.
    pub fn drain_all(&mut self, host: &mut Host<'_>) -> Result<()> {
        (0..self.machines.len()).try_for_each(|machine| self.drain(machine, host))
    }

    /// What a host has sent until now goes into the network.
    pub fn drain(&mut self, machine: usize, host: &mut Host<'_>) -> Result<()> {
        let mut headers = [0; size_of::<Image>()];
        while let Some(ns) = self.machines[machine].sent.next_ns() {
            match self.simulated(ns).cmp(&host.now()) {
                Ordering::Less => self.late += 1,
                Ordering::Equal => {}
                Ordering::Greater => break,
            }
            let Some(held) = self.machines[machine].sent.take(&mut headers) else { break };
            let Some(mut segment) = wire::read(&headers[..held]) else {
                self.stray += 1;
                continue;
            };
            let Some(&Known { flow, is_backward }) = self.flows.get(&segment.key) else {
                self.stray += 1;
                continue;
            };
            let packet = &mut segment.packet;
            (packet.flow, packet.backward) = (flow, is_backward);
            let first = &mut self.first[flow as usize];
            let (own, other) = (usize::from(is_backward), usize::from(!is_backward));
            if packet.flags.has(Flags::SYN) {
                first[own] = packet.seq;
            }
            packet.seq = Seq(packet.seq.0.wrapping_sub(first[own].0));
            if packet.flags.has(Flags::ACK) {
                packet.ack = Seq(packet.ack.0.wrapping_sub(first[other].0));
            }
            for block in &mut segment.sacks {
                block.0 = Seq(block.0.0.wrapping_sub(first[other].0));
                block.1 = Seq(block.1.0.wrapping_sub(first[other].0));
            }
            if !is_backward && packet.payload > 0 {
                self.tallies[flow as usize].count(packet, host.now());
            }
            host.send_image(segment.packet, &segment.sacks, &segment.image);
        }
        Ok(())
    }
}

impl Tally {
    fn count(&mut self, packet: &Packet, now: Time) {
        self.segments += 1;
        self.bytes += u64::from(packet.payload);
        self.departures.note(now);
        if self.segments > 1 && packet.seq < self.highest {
            self.retransmissions += 1;
        }
        let end = Seq(packet.seq.0.wrapping_add(packet.payload.into()));
        if self.segments == 1 || self.highest < end {
            self.highest = end;
        }
    }
}

/// Sets a variable of the kernel's, as sysctl(8) does, for the namespace that this program is in.
pub fn set(name: &str, value: &str) -> Result<()> {
    fs::write(place_of(name), value).map_err(|error| {
        io::Error::other(match error.kind() {
            io::ErrorKind::NotFound => format!("linux.{name}: this kernel has no such sysctl"),
            _ => format!("linux.{name}: the kernel does not take `{value}` ({error})"),
        })
    })
}

/// Whether a namespace has a value of its own; others are the whole kernel's, absent here or only to be read.
fn is_of_namespace(name: &str) -> bool {
    fs::metadata(place_of(name)).is_ok_and(|found| found.permissions().mode() & 0o200 != 0)
}

/// Where it is in the file system.
fn place_of(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name.replace('.', "/"))
}
