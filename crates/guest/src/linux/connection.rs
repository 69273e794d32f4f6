//! A connection between two sockets of the kernel's, with the applications at its ends.

use std::io::{self, ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard};

use ccperf_engine::base::error::Error;
use ccperf_engine::base::event::Token;
use ccperf_engine::base::seq::Seq;
use ccperf_engine::base::time::{Rate, Time};
use ccperf_engine::host::outside::{
    Address, Application, Due, Endpoint, Host, Outcome, Sample, Stack, State,
};
use ccperf_engine::packet::{Flags, Packet};
use ccperf_schema::lowered::Flow;
use libc::{IPPROTO_IP, IPPROTO_TCP, SOL_SOCKET};

use super::ahead::{Arrival, Ends, is_suspect};
use super::kernel::Kernel;
use super::settings;
use super::sys::{self, TcpInfo};

/// The only timer: something is due in the source.
const APPLICATION: Token = Token(0);
/// `TCP_CA_Open`, `TCP_CA_Recovery`, `TCP_CA_Loss`: <linux/tcp.h>.
const OPEN: u8 = 0;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

/// Sockets at all ends.
#[derive(Debug)]
pub struct Sockets {
    pub kernel: Arc<Mutex<Kernel>>,
    pub settings: Vec<Option<settings::Connection>>,
    pub seed: u64,
}

impl Stack for Sockets {
    fn connect(
        &mut self,
        flow: &Flow,
        address: Address,
    ) -> std::result::Result<Box<dyn Endpoint>, Error> {
        let settings = self.settings[address.flow as usize].as_ref();
        let settings =
            settings.ok_or_else(|| Error::Scenario(format!("{}: no stack", flow.name)))?;
        let made = Connection::new(flow, address, settings, Arc::clone(&self.kernel), self.seed);
        let made = made.map_err(|error| Error::Scenario(format!("{}: {error}", flow.name)))?;
        Ok(Box::new(made))
    }
}

/// How the congestion state went.
#[derive(Debug, Default)]
struct Episodes {
    state: u8,
    since: Option<Time>,
    recoveries: u32,
    recovery_time: Time,
}

impl Episodes {
    fn note(&mut self, state: u8, now: Time) {
        match (state, self.since) {
            (RECOVERY, None) => self.since = Some(now),
            (RECOVERY | LOSS, _) | (_, None) => {}
            (_, Some(since)) => {
                self.recoveries += 1;
                self.recovery_time += now - since;
                self.since = None;
            }
        }
        self.state = state;
    }
}

#[derive(Debug)]
pub struct Connection {
    address: Address,
    kernel: Arc<Mutex<Kernel>>,
    /// Those of source and destination.
    machines: [usize; 2],
    ends: [(Ipv4Addr, u16); 2],
    sender: OwnedFd,
    /// None after the receiving application has closed.
    listener: Option<OwnedFd>,
    receiver: Option<OwnedFd>,
    /// A FIN has come to the receiver, perhaps before data that it follows.
    has_fin: bool,
    /// The receiver has read to the end, and has nothing to say.
    is_read: bool,
    application: Application,
    is_connected: bool,
    /// Timeouts of the handshake, which those of data are counted without.
    handshake_rtos: u32,
    is_pacing: bool,
    /// The application writes no more.
    is_closed: bool,
    acked: u64,
    highest_ack: Seq,
    received: u64,
    completed: Option<Time>,
    episodes: Episodes,
}

impl Connection {
    fn new(
        flow: &Flow,
        address: Address,
        settings: &settings::Connection,
        kernel: Arc<Mutex<Kernel>>,
        seed: u64,
    ) -> Result<Self> {
        let ends = [
            (flow.source_address, flow.source_port),
            (flow.destination_address, flow.destination_port),
        ];
        let mut known = lock(&kernel);
        known.know(address.flow, ends);
        known.ahead.ends[address.flow as usize].machines = Some(settings.machines);
        let [sender, listener] = [0, 1].map(|side: usize| -> Result<OwnedFd> {
            known.enter(settings.machines[side])?;
            let socket = sys::tcp_socket()?;
            let (tos, dscp) = [(flow.tos, flow.dscp), (flow.return_tos, flow.return_dscp)][side];
            let tos = if dscp > 0 { dscp << 2 } else { tos };
            for (level, option, value) in [
                (SOL_SOCKET, libc::SO_REUSEADDR, Some(1)),
                (SOL_SOCKET, libc::SO_SNDBUFFORCE, settings.send_buffer),
                (SOL_SOCKET, libc::SO_RCVBUFFORCE, settings.receive_buffer),
                (IPPROTO_TCP, libc::TCP_MAXSEG, Some(settings.segment_bytes)),
                (IPPROTO_TCP, libc::TCP_NODELAY, Some(settings.no_delay.into())),
                (IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, Some(settings.waiting_bytes as i32)),
                (IPPROTO_IP, libc::IP_TOS, Some(tos.into())),
            ] {
                let Some(value) = value else { continue };
                sys::set_option(&socket, level, option, &value.to_ne_bytes())?;
            }
            let control = settings.control.as_bytes();
            sys::set_option(&socket, IPPROTO_TCP, libc::TCP_CONGESTION, control)
                .map_err(|error| no_control(&settings.control, error))?;
            sys::bind(&socket, SocketAddrV4::new(ends[side].0, ends[side].1))?;
            Ok(socket)
        });
        let (sender, listener) = (sender?, listener?);
        sys::listen(&listener)?;
        drop(known);
        Ok(Connection {
            address,
            kernel,
            machines: settings.machines,
            ends,
            sender,
            listener: Some(listener),
            receiver: None,
            has_fin: false,
            is_read: false,
            application: Application::new(&flow.application, seed),
            is_connected: false,
            handshake_rtos: 0,
            is_pacing: settings.is_paced,
            is_closed: false,
            acked: 0,
            highest_ack: Seq(1),
            received: 0,
            completed: None,
            episodes: Episodes::default(),
        })
    }

    /// The socket has room, or has just been connected.
    fn on_ready(&mut self, host: &mut Host<'_>) -> Result<()> {
        if !self.is_connected && !self.is_closed {
            self.is_connected = true;
            self.handshake_rtos = sys::tcp_info(&self.sender)?.total_rto.into();
            if let Application::Source(source) = &mut self.application {
                let due = host.event(APPLICATION);
                source.on_connected(due, host.events());
            }
        }
        self.write(host)
    }

    /// Writes all that there is room for.
    fn write(&mut self, host: &mut Host<'_>) -> Result<()> {
        let mut is_done = false;
        while let Application::Greedy(greedy) = &self.application
            && let left @ 1.. = greedy.left()
        {
            let (taken, is_full) = self.send(left, host.now())?;
            let Some(taken) = taken else { break };
            if let Application::Greedy(greedy) = &mut self.application {
                is_done = greedy.on_taken(host.now(), taken);
            }
            if is_full {
                break;
            }
        }
        if let Application::Source(source) = &self.application
            && let rest @ 1.. = source.rest()
            && !self.is_closed
        {
            let (taken, _) = self.send(rest.into(), host.now())?;
            if let Application::Source(source) = &mut self.application {
                is_done = source.fill(taken.unwrap_or(0)).close;
            }
        }
        if is_done {
            self.finish()?;
        }
        lock(&self.kernel).drain(self.machines[0], host)
    }

    /// Gives the socket bytes.  Returns how many it took, and whether it has no room for more.
    fn send(&mut self, bytes: u64, now: Time) -> Result<(Option<u32>, bool)> {
        let mut kernel = lock(&self.kernel);
        kernel.act(now);
        let (offered, sent) = sys::send(&self.sender, &kernel.zeros, bytes);
        let is_over = sent.as_ref().is_err_and(sys::is_over);
        drop(kernel);
        if is_over {
            // The kernel has given the connection up, or the receiver has: nobody writes any more.
            self.application.stop(now);
            self.is_closed = true;
            return Ok((None, true));
        }
        let taken = sent?;
        Ok((taken.map(|taken| taken as u32), taken.is_none_or(|taken| (taken as u64) < offered)))
    }

    /// The application has written its last, and the socket has all of it.
    fn finish(&mut self) -> Result<()> {
        self.is_closed = true;
        sys::shut_down(&self.sender)
    }

    /// The receiving application closes: what it has not read, and what comes later, is answered by a reset.
    fn stop_reading(&mut self, host: &mut Host<'_>) -> Result<()> {
        (self.receiver, self.listener) = (None, None);
        lock(&self.kernel).drain(self.machines[1], host)
    }

    /// Reads all that has come.
    fn read(&mut self, host: &mut Host<'_>) -> Result<()> {
        if self.receiver.is_none()
            && let Some(listener) = &self.listener
        {
            self.receiver = sys::accept(listener)?;
        }
        while !self.is_read
            && let Some(receiver) = &self.receiver
        {
            let read = sys::discard(receiver);
            let is_more = self.note_read(read, host.now())?;
            // Only behind a FIN there is more to learn, its end.
            if !is_more || !self.has_fin {
                break;
            }
        }
        lock(&self.kernel).drain(self.machines[1], host)
    }

    /// The receiver has read so much, or nothing.  Returns whether there was something.
    fn note_read(&mut self, read: Result<Option<usize>>, now: Time) -> Result<bool> {
        match read {
            Err(error) if sys::is_over(&error) => self.is_read = true,
            Err(error) => return Err(error),
            Ok(None) => return Ok(false),
            Ok(Some(0)) => {
                self.is_read = true;
                self.receiver.as_ref().map_or(Ok(()), sys::shut_down)?;
            }
            Ok(Some(bytes)) => self.application.on_read(now, bytes as u32),
        }
        Ok(true)
    }

    /// What is known of the ends now.
    fn publish(&self) {
        let is_reading = self.is_connected && !self.is_read && !self.has_fin;
        let receiver = self.receiver.as_ref().filter(|_| is_reading);
        let ends = &mut lock(&self.kernel).ahead.ends[self.address.flow as usize];
        *ends = Ends {
            is_steady: self.is_connected,
            reader: receiver.map(AsRawFd::as_raw_fd),
            highest_ack: self.highest_ack,
            is_open: self.episodes.state == OPEN,
            ..*ends
        };
    }

    fn on_acknowledged(&mut self, packet: &Packet, now: Time) {
        if self.highest_ack < packet.ack {
            let more = packet.ack.0.wrapping_sub(self.highest_ack.0);
            self.highest_ack = packet.ack;
            self.acked = (self.acked + u64::from(more)).min(self.application.written());
        }
        if self.is_closed && self.acked > 0 && self.acked == self.application.written() {
            self.completed.get_or_insert(now);
        }
    }

    /// Something has happened that the congestion state may have changed for.
    fn look(&mut self, now: Time) -> Result<()> {
        lock(&self.kernel).act(now);
        let info = sys::tcp_info(&self.sender)?;
        self.episodes.note(info.ca_state, now);
        Ok(())
    }

    fn arrive(&mut self, packet: &Packet, host: &mut Host<'_>) -> Result<()> {
        let side = usize::from(!packet.backward);
        if !packet.backward {
            self.received += u64::from(packet.payload);
            self.has_fin |= packet.flags.has(Flags::FIN);
        }
        let arrival = lock(&self.kernel).deliver(self.machines[side], packet, host)?;
        if packet.backward {
            let is_open = self.episodes.state == OPEN && !is_suspect(packet, self.highest_ack);
            self.on_acknowledged(packet, host.now());
            return if is_open { Ok(()) } else { self.look(host.now()) };
        }
        match arrival {
            Arrival::Ahead(read) => self.note_read(read, host.now()).map(drop),
            Arrival::Now => self.read(host),
        }
    }

    fn on_due(&mut self, token: Token, host: &mut Host<'_>) -> Result<()> {
        let due = host.event(token);
        let Application::Source(source) = &mut self.application else { return Ok(()) };
        match source.take_due(host.event_key()) {
            Some(Due::Switch) => source.switch(due, host.events()),
            Some(Due::Send) => {
                let mut taken = None;
                if let size @ 1.. = source.next_write() {
                    (taken, _) = self.send(size.into(), host.now())?;
                }
                if !self.is_closed
                    && let Application::Source(source) = &mut self.application
                    && source.on_sent(taken.unwrap_or(0), due, host.events())
                {
                    self.finish()?;
                }
                lock(&self.kernel).drain(self.machines[0], host)?;
            }
            None => {}
        }
        Ok(())
    }

    fn start(&mut self, host: &mut Host<'_>) -> Result<()> {
        let mut kernel = lock(&self.kernel);
        kernel.act(host.now());
        kernel.enter(self.machines[0])?;
        kernel.room.add(&self.sender, self.address.flow.into(), true)?;
        sys::connect(&self.sender, SocketAddrV4::new(self.ends[1].0, self.ends[1].1))?;
        kernel.drain(self.machines[0], host)
    }

    fn stop(&mut self, host: &mut Host<'_>) -> Result<()> {
        let is_at_once = self.application.stop(host.now());
        if is_at_once && !self.is_closed && self.is_connected {
            self.finish()?;
        }
        lock(&self.kernel).drain(self.machines[0], host)
    }

    fn info(&self) -> Option<TcpInfo> {
        sys::tcp_info(&self.sender).ok().filter(|_| self.is_connected)
    }

    fn rtos(&self, info: &TcpInfo) -> u32 {
        u32::from(info.total_rto) - self.handshake_rtos
    }

    fn pacing_rate(&self, info: &TcpInfo) -> Rate {
        Rate(if self.is_pacing && info.pacing_rate < u64::MAX { 8 * info.pacing_rate } else { 0 })
    }
}

pub fn lock(kernel: &Mutex<Kernel>) -> MutexGuard<'_, Kernel> {
    kernel.lock().expect("there is one thread")
}

/// That it is there was asked before the kernel started.
fn no_control(name: &str, error: io::Error) -> io::Error {
    if error.kind() != ErrorKind::NotFound {
        return error;
    }
    io::Error::other(format!(
        "{name} is not there: it refused its parameters when the kernel started, and does not say why"
    ))
}

/// What the kernel refuses ends the run.
fn succeed(done: Result<()>) {
    if let Err(error) = done {
        panic!("the kernel refuses: {error}");
    }
}

fn ssthresh(info: &TcpInfo) -> u32 {
    if info.snd_ssthresh >= 0x7fff_ffff { u32::MAX } else { info.snd_ssthresh * info.snd_mss }
}

fn in_flight(info: &TcpInfo) -> u32 {
    (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost) * info.snd_mss
}

impl Endpoint for Connection {
    fn address(&self) -> &Address {
        &self.address
    }

    fn open(&mut self, mut host: Host<'_>) {
        succeed(self.start(&mut host));
    }

    fn close(&mut self, mut host: Host<'_>) {
        succeed(self.stop(&mut host));
    }

    fn close_receiver(&mut self, mut host: Host<'_>) {
        succeed(self.stop_reading(&mut host));
        self.publish();
    }

    fn on_packet(&mut self, packet: &Packet, mut host: Host<'_>) {
        succeed(self.arrive(packet, &mut host));
        self.publish();
    }

    fn on_timer(&mut self, token: Token, mut host: Host<'_>) {
        succeed(self.on_due(token, &mut host));
    }

    /// The kernel says that the sender's socket has room.
    fn on_outside(&mut self, mut host: Host<'_>) {
        succeed(self.on_ready(&mut host));
        self.publish();
    }

    fn outcome(&self) -> Outcome {
        let kernel = lock(&self.kernel);
        let tally = &kernel.tallies[self.address.flow as usize];
        Outcome {
            segments_sent: tally.segments,
            acked_bytes: self.acked,
            retransmissions: tally.retransmissions,
            recovery_time: self.episodes.recovery_time,
            rtos: self.info().map_or(0, |info| self.rtos(&info)),
            recovery_episodes: self.episodes.recoveries,
            completed: self.completed,
        }
    }

    fn sample(&self) -> Sample {
        let kernel = lock(&self.kernel);
        let tally = &kernel.tallies[self.address.flow as usize];
        let transfer = self.application.transfer();
        let sample = Sample {
            sent_bytes: tally.bytes,
            received_bytes: self.received,
            acked_bytes: self.acked,
            written_bytes: self.application.written(),
            read_bytes: transfer.read,
            mean_gap: tally.departures.mean_gap,
            one_way_delay: transfer.one_way_delay,
            retransmissions: tally.retransmissions,
            ..Sample::default()
        };
        let Some(info) = self.info() else { return sample };
        Sample {
            cwnd: info.snd_cwnd * info.snd_mss,
            ssthresh: ssthresh(&info),
            in_flight: in_flight(&info),
            rtos: self.rtos(&info).into(),
            srtt: (info.rtt_us > 0).then(|| Time(u64::from(info.rtt_us) * 1000)),
            pacing_rate: self.pacing_rate(&info),
            ..sample
        }
    }

    fn state(&self) -> Option<State> {
        let info = self.info()?;
        Some(State {
            cwnd: info.snd_cwnd * info.snd_mss,
            ssthresh: ssthresh(&info),
            in_flight: in_flight(&info),
            srtt: Time(u64::from(info.rtt_us) * 1000),
            cong_state: info.ca_state,
            ecn_state: 0,
            rto: Time(u64::from(info.rto_us) * 1000),
            pacing_rate: self.pacing_rate(&info),
        })
    }
}
