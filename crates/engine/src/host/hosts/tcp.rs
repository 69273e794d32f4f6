//! A TCP connection: two sockets, the application that writes and the one that reads, and what the
//! sockets see of the world.

use std::mem::offset_of;

use super::{Address, Endpoint, Host, Outcome, Sample, State};
use crate::base::event::{Event, EventQueue, Key, Token};
use crate::base::fetch::fetch_range;
use crate::base::time::{Rate, Time};
use crate::host::application::{Application, Due};
use crate::host::tcp::{Environment, Ns3, Profile, Socket, Statistics, Tcb, Timer, Write};
use crate::packet::{Beside, Packet};

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Sender = 0,
    Receiver = 1,
}

impl Side {
    /// To which one a packet comes.
    #[inline(always)]
    fn of(packet: &Packet) -> Side {
        if packet.backward { Side::Sender } else { Side::Receiver }
    }
}

/// The two ends of one flow and the applications on them; from the beginning of a cache line on.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Connection<P: Profile = Ns3> {
    _mark: Mark,
    address: Address,
    /// Of a transfer, by side: nothing happens there any more, unless a packet comes.  Kept, so that nobody who looks
    /// at one end has to wait for the memory of the other.
    is_silent: [bool; 2],
    application: Application,
    timers: [SocketTimers; 2],
    sender: Socket<P>,
    receiver: Socket<P>,
}

/// So many bytes of its timers does an end ask for that sends: the one for retransmissions, and for what is written.
const SENDER_TIMERS: usize = offset_of!(SocketTimers, usual) + 3 * size_of::<Alarm>();
/// The same of one that only receives: the one for acknowledgements.
const RECEIVER_TIMERS: usize = offset_of!(SocketTimers, usual) + size_of::<Alarm>();

/// A word that a connection has in front, and what else may be at its place has not: what an `AnyEndpoint` is, is seen by the
/// line that is needed first, since no other word of a connection leaves the compiler as many values to tell by.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
enum Mark {
    Connection,
}

/// Of a timer that is not set, or has no event: later than every other.
const NEVER: Key = Key { time: Time(u64::MAX), number: u64::MAX };

/// Deadlines of one socket's timers.  A timer that is set again keeps its event in the queue, which
/// looks when it runs whether the deadline has moved.
#[derive(Debug, Default)]
#[repr(C)] // an end that only receives sets one timer
struct SocketTimers {
    /// [`Timer::SendPending`] is set without an event.
    is_sending_unqueued: bool,
    usual: [Alarm; Timer::USUAL],
    /// There from the first time on that one of them is set.
    others: Option<Box<[Alarm; Timer::COUNT - Timer::USUAL]>>,
}

#[derive(Clone, Copy, Debug)]
struct Alarm {
    deadline: Key,
    /// The earliest event that is queued for the timer.
    queued: Key,
}

impl Default for Alarm {
    fn default() -> Self {
        Alarm { deadline: NEVER, queued: NEVER }
    }
}

impl SocketTimers {
    #[inline(always)] // with a timer that the compiler knows it is an address
    fn of(&mut self, timer: Timer) -> &mut Alarm {
        let index = timer as usize;
        if index < Timer::USUAL {
            return &mut self.usual[index];
        }
        &mut self.others.get_or_insert_default()[index - Timer::USUAL]
    }

    /// Queues an event at the timer's deadline.
    fn queue(&mut self, timer: Timer, event: Event, events: &mut EventQueue) {
        let Alarm { deadline, queued } = self.of(timer);
        *queued = *deadline;
        events.insert(*deadline, event);
    }

    /// The event of now runs for `timer`, and was `event`.  Returns whether the timer is due.
    #[inline(always)]
    fn take_due(&mut self, timer: Timer, event: Event, events: &mut EventQueue) -> bool {
        let now = events.now();
        let Alarm { deadline, queued } = self.of(timer);
        if *queued == now {
            *queued = NEVER;
        }
        if *deadline == now {
            *deadline = NEVER;
            return true;
        }
        if *deadline != NEVER && *queued == NEVER {
            // The deadline has moved since this event was queued.
            *queued = *deadline;
            events.insert(*deadline, event);
        }
        false
    }

    /// Somebody calls after `Timer::SendPending` was set and not queued.  If it was due in the meantime,
    /// it has found nothing; if it is still to come, it may find what happens now.
    #[inline]
    fn settle_sending<P: Profile>(
        &mut self,
        socket: &mut Socket<P>,
        event: Event,
        events: &mut EventQueue,
    ) {
        self.is_sending_unqueued = false;
        if self.of(Timer::SendPending).deadline > events.now() {
            return self.queue(Timer::SendPending, event, events);
        }
        self.of(Timer::SendPending).deadline = NEVER;
        socket.forget(Timer::SendPending);
    }
}

impl<P: Profile> Connection<P> {
    /// The receiver listens from now on.
    pub fn new(
        address: Address,
        sender: Socket<P>,
        mut receiver: Socket<P>,
        application: Application,
    ) -> Self {
        receiver.listen();
        Connection {
            _mark: Mark::Connection,
            address,
            is_silent: [sender.is_over(), receiver.is_over()],
            sender,
            receiver,
            application,
            timers: Default::default(),
        }
    }

    /// This packet will come soon: asks for what it will find of the connection, if `place` has one.
    #[inline(always)]
    pub fn fetch<T>(place: &T, packet: &Packet) {
        let timers = offset_of!(Connection<P>, timers);
        fetch_range(place, 0..timers);
        match Side::of(packet) {
            Side::Sender => {
                fetch_range(place, timers..timers + SENDER_TIMERS);
                let sender = offset_of!(Connection<P>, sender);
                for part in Socket::<P>::OF_SENDERS {
                    fetch_range(place, sender + part.start..sender + part.end);
                }
            }
            Side::Receiver => {
                let timers = timers + size_of::<SocketTimers>();
                fetch_range(place, timers..timers + RECEIVER_TIMERS);
                let receiver = offset_of!(Connection<P>, receiver);
                for part in Socket::<P>::OF_RECEIVERS {
                    fetch_range(place, receiver + part.start..receiver + part.end);
                }
            }
        }
    }

    /// This packet will come even sooner: asks for what the connection, which is there by now, only says the place of.
    pub fn fetch_beyond(&self, packet: &Packet) {
        match Side::of(packet) {
            Side::Sender => {
                self.sender.fetch_sent();
                self.application.fetch_next();
            }
            Side::Receiver => self.application.fetch_oldest(),
        }
    }

    /// This timer will fire soon: asks for what says whether it is due, if `place` has a connection.
    pub fn fetch_timer<T>(place: &T, token: Token) {
        fetch_range(place, 0..1);
        let number = usize::from(token.0);
        let of_receiver = if number < Timer::COUNT { 0 } else { size_of::<SocketTimers>() };
        let begin = offset_of!(Connection<P>, timers) + of_receiver;
        fetch_range(place, begin..begin + SENDER_TIMERS);
    }

    /// A source switches on or off, or writes the packet that is due.
    #[inline(never)] // most runs have none, and are faster without it in their loop
    fn on_application(&mut self, mut host: Host<'_>) {
        let Application::Source(source) = &mut self.application else { return };
        match source.take_due(host.event_key()) {
            Some(Due::Switch) => source.switch(host.event(APPLICATION), host.events()),
            Some(Due::Send) => {
                let size = source.next_write();
                self.with_socket(Side::Sender, host, |socket, now, around| {
                    let taken = socket.send(size, now, around);
                    if around.on_sent(taken) {
                        socket.close_behind_write(around);
                    }
                });
            }
            None => {}
        }
    }

    #[inline]
    fn with_socket(
        &mut self,
        side: Side,
        mut host: Host<'_>,
        call: impl FnOnce(&mut Socket<P>, Time, &mut Around<'_>),
    ) {
        let now = host.now();
        let [of_sender, of_receiver] = &mut self.timers;
        let (socket, timers) = match side {
            Side::Sender => (&mut self.sender, of_sender),
            Side::Receiver => (&mut self.receiver, of_receiver),
        };
        if timers.is_sending_unqueued {
            let event = host.event(token(side, Timer::SendPending));
            timers.settle_sending(socket, event, host.events());
        }
        let mut around = Around { host, timers, application: &mut self.application, side };
        call(socket, now, &mut around);
        if around.timers.is_sending_unqueued && !socket.found_nothing_to_send() {
            around.queue_sending();
        }
        if self.address.is_passing {
            self.is_silent[side as usize] = socket.is_over();
        }
    }
}

impl<P: Profile> Endpoint for Connection<P> {
    #[inline(always)]
    fn address(&self) -> &Address {
        &self.address
    }

    fn open(&mut self, host: Host<'_>) {
        let is_eager = matches!(&self.application, Application::Greedy(greedy) if greedy.eager);
        self.with_socket(Side::Sender, host, |socket, now, around| {
            socket.connect(now, around);
            if is_eager {
                socket.offer_space(around);
            }
        });
    }

    fn send_more(&mut self, bytes: u64, host: Host<'_>) {
        let Application::Greedy(greedy) = &mut self.application else { return };
        greedy.add(bytes);
        self.with_socket(Side::Sender, host, |socket, now, around| socket.resume(now, around));
    }

    fn close(&mut self, host: Host<'_>) {
        if !self.application.stop(host.now()) {
            return;
        }
        self.with_socket(Side::Sender, host, |socket, now, around| {
            socket.tcb.now = now;
            socket.close(around);
        });
    }

    fn close_receiver(&mut self, host: Host<'_>) {
        self.with_socket(Side::Receiver, host, |socket, now, around| {
            socket.close_sink(now, around)
        });
    }

    #[inline(always)] // into the loop, which calls it with every packet that has come
    fn on_packet(&mut self, packet: &Packet, host: Host<'_>) {
        self.with_socket(Side::of(packet), host, |socket, now, around| {
            socket.on_segment(packet, now, around)
        });
    }

    #[inline(always)] // into the list's function of this name: where segments are paced, every other event is one
    fn on_timer(&mut self, token: Token, mut host: Host<'_>) {
        let number = usize::from(token.0);
        if token == APPLICATION {
            return self.on_application(host);
        }
        let side = if number < Timer::COUNT { Side::Sender } else { Side::Receiver };
        let timer = Timer::ALL[number - Timer::COUNT * side as usize];
        let event = host.event(token);
        // The connection opens at once, and nothing stops it.
        let is_due = timer == Timer::Opening
            || self.timers[side as usize].take_due(timer, event, host.events());
        if is_due {
            self.with_socket(side, host, |socket, now, around| socket.on_timer(timer, now, around));
        }
    }

    /// An event of a timer that is still queued finds by its key that it is nobody's, whoever has the place by
    /// then.
    fn is_over(&self) -> bool {
        // What lasts is closed by its end only.
        let [sender, receiver] = if self.address.is_passing {
            self.is_silent
        } else {
            [self.sender.is_over(), self.receiver.is_over()]
        };
        sender && (receiver || self.application.lasts())
    }

    fn has_arrived(&self) -> bool {
        self.application.transfer().has_arrived()
    }

    fn outcome(&self) -> Outcome {
        let s: &Statistics = &self.sender.statistics;
        Outcome {
            segments_sent: s.segments_sent,
            acked_bytes: s.acked_bytes,
            retransmissions: s.retransmissions,
            recovery_time: s.recovery_time,
            rtos: s.rtos as u32,
            recovery_episodes: s.recovery_episodes as u32,
            completed: s.completed,
        }
    }

    fn sample(&self) -> Sample {
        let (tcb, sent) = (&self.sender.tcb, &self.sender.statistics);
        let transfer = self.application.transfer();
        Sample {
            cwnd: tcb.cwnd,
            ssthresh: tcb.ssthresh,
            in_flight: tcb.bytes_in_flight,
            srtt: (!tcb.srtt.is_zero()).then_some(tcb.srtt),
            sent_bytes: sent.sent_bytes,
            received_bytes: self.receiver.received_bytes(),
            acked_bytes: sent.acked_bytes,
            written_bytes: sent.written_bytes,
            read_bytes: transfer.read,
            mean_gap: sent.departures.mean_gap,
            one_way_delay: transfer.one_way_delay,
            retransmissions: sent.retransmissions,
            rtos: sent.rtos,
            pacing_rate: pacing_rate(tcb),
        }
    }

    fn state(&self) -> Option<State> {
        let tcb = &self.sender.tcb;
        Some(State {
            cwnd: tcb.cwnd,
            ssthresh: tcb.ssthresh,
            in_flight: tcb.bytes_in_flight,
            srtt: tcb.srtt,
            cong_state: tcb.cong_state as u8,
            ecn_state: tcb.ecn_state as u8,
            rto: self.sender.rto(),
            pacing_rate: pacing_rate(tcb),
        })
    }
}

/// As with the other states, 0 before the connection.
fn pacing_rate(tcb: &Tcb) -> Rate {
    if tcb.pacing && tcb.cwnd > 0 { tcb.pacing_rate } else { Rate(0) }
}

/// Something is due in the application.
const APPLICATION: Token = Token(2 * Timer::COUNT as u8);
const _: () = assert!(2 * Timer::COUNT < Token::COUNT);

/// The token of a timer of the socket on this side.
fn token(side: Side, timer: Timer) -> Token {
    Token(side as u8 * Timer::COUNT as u8 + timer as u8)
}

/// What a socket sees of the world.
struct Around<'a> {
    host: Host<'a>,
    timers: &'a mut SocketTimers,
    application: &'a mut Application,
    side: Side,
}

impl Around<'_> {
    /// There may be something to send when [`Timer::SendPending`] is due.
    fn queue_sending(&mut self) {
        self.timers.is_sending_unqueued = false;
        if self.timers.of(Timer::SendPending).deadline != NEVER {
            self.queue(Timer::SendPending);
        }
    }

    #[inline(never)] // mostly there is an event already, or none is needed
    fn queue(&mut self, timer: Timer) {
        let event = self.host.event(token(self.side, timer));
        self.timers.queue(timer, event, self.host.events());
    }

    /// Returns whether the source closes.
    fn on_sent(&mut self, taken: u32) -> bool {
        let Application::Source(source) = &mut *self.application else { return false };
        source.on_sent(taken, self.host.event(APPLICATION), self.host.events())
    }
}

impl Environment for Around<'_> {
    #[inline(always)]
    fn transmit(&mut self, mut segment: Packet) {
        segment.backward = self.side == Side::Receiver;
        self.host.send(segment);
    }

    #[inline(always)] // so that the packet is not copied from call to call
    fn transmit_with_options(&mut self, mut segment: Packet, beside: &Beside) {
        segment.backward = self.side == Side::Receiver;
        self.host.send_with_options(segment, beside);
    }

    fn options(&self) -> &Beside {
        self.host.arrived_options()
    }

    #[inline(always)]
    fn arm(&mut self, timer: Timer, at: Time) {
        let delay = at - self.host.now();
        let event = self.host.event(token(self.side, timer));
        let events = self.host.events();
        let (key, is_plain) = (events.reserve(delay), events.plain);
        if timer == Timer::Opening {
            return events.insert(key, event);
        }
        self.timers.of(timer).deadline = key;
        if timer == Timer::SendPending && !is_plain {
            // Mostly the acknowledgement that made room for what was written has it sent, too.
            self.timers.is_sending_unqueued = true;
            return;
        }
        // Of two events at the same time the one that is there comes first.
        if is_plain || self.timers.of(timer).queued.time > key.time {
            self.queue(timer);
        }
    }

    #[inline(always)]
    fn disarm(&mut self, timer: Timer) {
        self.timers.of(timer).deadline = NEVER;
        self.timers.is_sending_unqueued &= timer != Timer::SendPending;
    }

    fn connected(&mut self) {
        if let Application::Source(source) = &mut *self.application {
            source.on_connected(self.host.event(APPLICATION), self.host.events());
        }
    }

    #[inline]
    fn writable(&mut self, free: u32) -> Write {
        match &mut *self.application {
            Application::Greedy(greedy) => greedy.writable(self.host.now(), free),
            Application::Source(_) => Write::default(),
        }
    }

    fn fill(&mut self, free: u32) -> Write {
        match &mut *self.application {
            Application::Greedy(greedy) => greedy.fill(self.host.now(), free),
            Application::Source(source) => source.fill(free),
        }
    }

    fn readable(&mut self, bytes: u32) {
        self.application.on_read(self.host.now(), bytes);
    }

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.host.is_plain()
    }
}
