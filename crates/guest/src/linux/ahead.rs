//! Packets that are handed to the kernel before they are due, and how far the engine has followed.
//!
//! They are as many as nobody needs to look at the hosts between: what they cause is read afterwards, in its order.

use std::io::Result;
use std::os::fd::{AsRawFd, RawFd};

use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::Time;
use ccperf_engine::host::outside::Arriving;
use ccperf_engine::packet::{Flags, Image, Packet};

use super::sys::{Delivery, Epoll, MOST, Ring};
use super::wire;

/// What is known of the ends of a flow before a packet comes there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    /// Those of source and destination; none if its ends are the engine's.
    pub machines: Option<[usize; 2]>,
    /// They are connected.
    pub is_steady: bool,
    /// What reads where data comes, as long as more may come.
    pub reader: Option<RawFd>,
    pub highest_ack: Seq,
    /// Nothing is lost or marked, as far as the sender knows.
    pub is_open: bool,
    /// The sender is looked at after every packet.
    pub is_watched: bool,
}

/// A packet that the kernel has been handed ahead of time.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    time: Time,
    flow: u32,
    is_backward: bool,
}

/// How a packet has come to its host.
#[derive(Debug)]
pub enum Arrival {
    /// Now.
    Now,
    /// The kernel was handed it ahead of time, and the socket has read this since.
    Ahead(Result<Option<usize>>),
}

/// What has been handed over, and what decides how much of what is arriving may be.
#[derive(Debug)]
pub struct Ahead {
    /// By flow.
    pub ends: Vec<Ends>,
    ring: Ring,
    planned: Vec<Planned>,
    /// How many of these have come to their hosts, and how many of those the engine knows of.
    come: usize,
    replayed: usize,
}

impl Ahead {
    /// There are `flows`, of which `watched` are looked at after every packet.
    pub fn new(flows: usize, watched: &[u32]) -> Result<Self> {
        let ends = (0..flows as u32)
            .map(|flow| Ends { is_watched: watched.contains(&flow), ..Ends::default() })
            .collect();
        Ok(Ahead { ends, ring: Ring::new()?, planned: Vec::new(), come: 0, replayed: 0 })
    }

    /// Some packets have not come yet.
    pub fn is_busy(&self) -> bool {
        self.ring.is_busy()
    }

    /// Takes back what has not come yet, unless all of it is due before `horizon`.
    pub fn keep_to(&mut self, horizon: Time) -> Result<()> {
        if self.is_busy() && self.planned.last().is_some_and(|last| last.time >= horizon) {
            self.ring.cancel()?;
            self.planned.truncate(self.come);
        }
        Ok(())
    }

    /// Hands over what is arriving, as far as nobody needs to look at the hosts meanwhile.  The run began when the kernel's clock
    /// showed `start`; a machine receives through a `device`.
    pub fn plan(&mut self, arriving: &[Arriving], start: u64, device: impl Fn(usize) -> RawFd) {
        self.planned.clear();
        (self.come, self.replayed) = (0, 0);
        let mut foreseen: Vec<(u32, Seq)> = Vec::new();
        let mut handed: Vec<(&Arriving, Image, usize, RawFd, Option<RawFd>)> = Vec::new();
        for one in arriving {
            let Packet { flow, backward, flags, ack, payload, .. } = one.packet;
            let Some((ends, machines)) = self.ends_of(&one.packet) else { continue };
            let is_other = [Flags::SYN, Flags::FIN, Flags::RST].iter().any(|&flag| flags.has(flag));
            let is_read =
                if backward { payload == 0 } else { payload > 0 && ends.reader.is_some() };
            if is_other || !is_read || !ends.is_steady || handed.len() == MOST {
                break;
            }
            // What two cause at one nanosecond could not be told apart.
            if handed.last().is_some_and(|before| before.0.time == one.time) {
                break;
            }
            let mut image = one.image;
            let length = wire::headers(&mut image, one.packet.ecn);
            let device = device(machines[usize::from(!backward)]);
            let reader = if backward { None } else { ends.reader };
            handed.push((one, image, length, device, reader));
            if ends.is_watched {
                break;
            }
            if !backward {
                continue;
            }
            let known = foreseen.iter_mut().find(|known| known.0 == flow);
            let highest = known.as_ref().map_or(ends.highest_ack, |known| known.1);
            if is_suspect(&one.packet, highest) || !ends.is_open {
                break;
            }
            match known {
                Some(known) => known.1 = ack,
                None => foreseen.push((flow, ack)),
            }
        }
        let deliveries: Vec<_> = handed
            .iter()
            .map(|&(one, ref image, length, device, reader)| Delivery {
                at_ns: start + one.time.0,
                device,
                headers: &image[..length],
                payload: one.packet.payload.into(),
                reader,
            })
            .collect();
        self.ring.hand_over(&deliveries);
        self.planned.extend(handed.iter().map(|(one, ..)| Planned {
            time: one.time,
            flow: one.packet.flow,
            is_backward: one.packet.backward,
        }));
    }

    /// Those of a packet's flow, and their machines, if the kernel has them.
    pub fn ends_of(&self, packet: &Packet) -> Option<(&Ends, [usize; 2])> {
        let ends = self.ends.get(packet.flow as usize)?;
        Some((ends, ends.machines?))
    }

    /// Waits until all have come, or a socket has room, which is what is returned.
    pub fn wait(&mut self, room: &Epoll) -> Result<bool> {
        let reached = self.ring.wait(room.as_raw_fd())?;
        self.come = reached.count;
        Ok(reached.has_room)
    }

    /// When the last of them came, if all have.
    pub fn end(&self) -> Option<Time> {
        self.planned.last().filter(|_| !self.is_busy()).map(|last| last.time)
    }

    /// When the first came that the engine does not know of yet.
    pub fn next(&self) -> Option<Time> {
        Some(self.first()?.time)
    }

    /// The engine is at that one now, if it came at this time.  Returns what the socket has read then.
    pub fn follow(&mut self, now: Time) -> Option<(Planned, Result<Option<usize>>)> {
        let first = self.first().filter(|first| first.time == now)?;
        self.replayed += 1;
        Some((first, self.ring.read(self.replayed - 1)))
    }

    fn first(&self) -> Option<Planned> {
        self.planned[..self.come].get(self.replayed).copied()
    }
}

impl Planned {
    /// This packet may be it.
    pub fn is(&self, packet: &Packet) -> bool {
        self.flow == packet.flow && self.is_backward == packet.backward
    }
}

/// Whether an ACK says that something may have been lost or marked; `highest` came before.
pub fn is_suspect(packet: &Packet, highest: Seq) -> bool {
    packet.sacks() > 0 || highest >= packet.ack || packet.flags.has(Flags::ECE)
}
