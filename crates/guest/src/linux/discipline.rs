//! Queue disciplines of the kernel's in the engine's network: `linux:fq_codel`.
//!
//! Each has a device of its own, which has no other purpose.  A packet that comes to the engine's port is sent on that device, as a
//! packet that a router forwards; when the port has room, the device's transmitter is free, and takes one packet.  So
//! the discipline is asked at the same times as one of the engine's, and decides about each packet by the kernel's own
//! clock.  What waits for a time of its own, as `netem` does, wakes this program when it is there.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Error, Result, Write};
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use ccperf_engine::host::tcp::control::Control;
use ccperf_engine::host::user::{Setup, UserCode, fail};
use ccperf_engine::net::qdisc::{Qdisc, QdiscContext};
use ccperf_engine::net::routing::balance::{Balancer, SwitchContext};
use ccperf_engine::packet::{Ecn, PacketId, capture};

use super::settings;
use super::sys::{Epoll, Fate, Netlink, Note, Port};
use super::wire;

/// Larger than any token of a socket.
pub const DISCIPLINES: u64 = 1 << 33;

/// The number of the first device; the kernel's own have smaller ones.
const FIRST: u32 = 1000;
const MARK: &str = "Linux mark";
/// By the numbers of the module.
const DROPS: [&str; 9] = [
    "Linux drop",
    "Linux overlimit drop",
    "Linux congestion drop",
    "Linux flow table drop",
    "Linux flood protection drop",
    "Linux band limit drop",
    "Linux horizon drop",
    "Linux flow limit drop",
    "Linux step threshold drop",
];

/// Makes the disciplines, in the order of the scenario's links.
#[derive(Debug)]
pub struct Disciplines {
    place: Arc<Place>,
    rest: Mutex<std::iter::Enumerate<std::vec::IntoIter<settings::Discipline>>>,
}

/// What disciplines say of themselves, again and again: `/out/statistics`, a line of time, number of the discipline
/// and bytes in hexadecimal digits each.
#[derive(Debug)]
pub struct Statistics {
    place: Arc<Place>,
    count: u32,
    interval: u64,
    pub next: u64,
    out: BufWriter<File>,
}

impl Statistics {
    /// Writes them, if it is time.
    pub fn write(&mut self, now: u64) -> Result<()> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + self.interval;
        for number in 0..self.count {
            let bytes = self.place.network.statistics(FIRST + number)?;
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(self.out, "{now} {number} {digits}")?;
        }
        Ok(())
    }
}

/// Where they are.
#[derive(Debug)]
struct Place {
    network: Netlink,
    epoll: Epoll,
}

impl Disciplines {
    /// `network`: where their devices are, a network without any host.
    pub fn new(network: Netlink, epoll: Epoll, settings: Vec<settings::Discipline>) -> Self {
        let rest = Mutex::new(settings.into_iter().enumerate());
        Disciplines { place: Arc::new(Place { network, epoll }), rest }
    }

    /// Of all that are to be made, every `interval` ns; never if that is 0.
    pub fn statistics(&self, interval: u64) -> Result<Option<Statistics>> {
        if interval == 0 {
            return Ok(None);
        }
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(Statistics {
            place: Arc::clone(&self.place),
            count: rest.len() as u32,
            interval,
            next: interval,
            out: BufWriter::new(File::create("/out/statistics")?),
        }))
    }
}

impl UserCode for Disciplines {
    fn queue_disc(&self, setup: Setup<'_>) -> std::result::Result<Box<dyn Qdisc>, String> {
        let next = self.rest.lock().unwrap_or_else(PoisonError::into_inner).next();
        let (number, settings) = next.ok_or("the kernel was told of fewer disciplines")?;
        let made = Discipline::new(setup.name, number as u32, settings, Arc::clone(&self.place));
        Ok(Box::new(made.map_err(|error| error.to_string())?))
    }

    fn congestion_control(&self, _: Setup<'_>) -> std::result::Result<Control, String> {
        Err("sockets are the kernel's".to_owned())
    }

    fn load_balancer(
        &self,
        _: Setup<'_>,
        _: SwitchContext<'_>,
    ) -> std::result::Result<Box<dyn Balancer>, String> {
        Err("the kernel has none".to_owned())
    }
}

/// One of them.
#[derive(Debug)]
struct Discipline {
    name: String,
    settings: settings::Discipline,
    place: Arc<Place>,
    device: u32,
    port: Port,
    /// The kernel's time at the beginning of the run.
    begin: u64,
    /// What the transmitter has been given, and the engine has not asked for yet.
    given: VecDeque<PacketId>,
    /// Work of one call.
    notes: Vec<Note>,
}

impl Discipline {
    fn new(
        name: &str,
        number: u32,
        settings: settings::Discipline,
        place: Arc<Place>,
    ) -> Result<Self> {
        let (device, file) = (FIRST + number, format!("port{number}"));
        place.network.add_device("ccperf", &file, device)?;
        place.network.set_queue(device, settings.queue)?;
        place.network.set_up(device, Some(settings.mtu))?;
        Ok(Discipline {
            name: name.to_owned(),
            settings,
            place,
            device,
            port: Port::open(&file)?,
            begin: 0,
            given: VecDeque::new(),
            notes: Vec::new(),
        })
    }

    fn begin(&mut self, port: u32) -> Result<()> {
        let settings = &self.settings;
        self.place.network.set_discipline(self.device, &settings.kind, &settings.options).map_err(
            |error| Error::other(format!("the kernel does not take this discipline: {error}")),
        )?;
        self.place.epoll.add(&self.port.file, DISCIPLINES + u64::from(port), false)?;
        self.begin = self.port.look(false, &mut self.notes)?;
        Ok(())
    }

    /// Ends the run, if something went wrong, or the kernel's clock shows another time.
    fn check(&self, now: Result<u64>, cx: &QdiscContext<'_>) {
        match now {
            Ok(now) if now == self.begin + cx.now.0 => {}
            Ok(now) => {
                let shown = now.abs_diff(self.begin);
                fail(&self.name, format!("is asked when the kernel's clock shows {shown} ns"))
            }
            Err(error) => fail(&self.name, error.to_string()),
        }
    }

    /// Reports what has become of packets.
    fn read(&mut self, notes: &[Note], cx: &mut QdiscContext<'_>) {
        for note in notes {
            let id = PacketId(note.packet);
            match note.fate {
                Fate::Given { service } => {
                    if Ecn::of(service) == Ecn::Ce && cx.packets[id].ecn != Ecn::Ce {
                        cx.mark(id, MARK);
                    }
                    self.given.push_back(id);
                }
                Fate::GivenAgain => fail(&self.name, "sends a packet twice"),
                Fate::Dropped { reason } => {
                    cx.dequeued(id);
                    cx.drop_after_dequeue(id, text(reason));
                }
            }
        }
    }
}

impl Qdisc for Discipline {
    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        if let Err(error) = self.begin(cx.port) {
            fail(&self.name, error.to_string());
        }
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let mut notes = take(&mut self.notes);
        let length = cx.packets[id].ip_bytes as u16;
        let own = cx.packets.image(id).filter(|_| cx.flow_key(id).protocol == wire::PROTOCOL_TCP);
        let now = if let Some(mut image) = own {
            let held = wire::headers(&mut image, cx.packets[id].ecn);
            self.port.send(id.0, length, &image[..held], &mut notes)
        } else {
            let headers = capture::headers(cx.flow_keys, cx.packets.headers(id));
            self.port.send(id.0, length, &headers, &mut notes)
        };
        self.check(now, cx);
        let refused = notes
            .iter()
            .position(|note| note.packet == id.0 && matches!(note.fate, Fate::Dropped { .. }));
        if let Some(place) = refused
            && let Fate::Dropped { reason } = notes.remove(place).fate
        {
            cx.drop_before_enqueue(id, text(reason));
        } else {
            cx.enqueued(id);
        }
        self.read(&notes, cx);
        notes.clear();
        self.notes = notes;
        refused.is_none()
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        if self.given.is_empty() {
            self.look(true, cx);
        }
        let id = self.given.pop_front()?;
        cx.dequeued(id);
        Some(id)
    }

    /// The kernel says that something has happened.
    fn timer(&mut self, _tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        self.look(false, cx);
        !self.given.is_empty()
    }
}

impl Discipline {
    /// `is_free`: the transmitter would take a packet.
    fn look(&mut self, is_free: bool, cx: &mut QdiscContext<'_>) {
        let mut notes = take(&mut self.notes);
        let now = self.port.look(is_free, &mut notes);
        self.check(now, cx);
        self.read(&notes, cx);
        notes.clear();
        self.notes = notes;
    }
}

fn text(reason: u8) -> &'static str {
    DROPS.get(usize::from(reason)).unwrap_or(&DROPS[0])
}
