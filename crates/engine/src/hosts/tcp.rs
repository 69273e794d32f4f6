//! A TCP connection: two sockets, the application that writes and the one that reads, and what the
//! sockets see of the world.

use crate::application::{Application, Due};
use crate::event::{Event, Key, Token};
use crate::network::Network;
use crate::packet::{Packet, SackBlock, SackBlocks};
use crate::tcp::{Environment, Socket, Timer, Write};
use crate::time::Time;

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Sender = 0,
    Receiver = 1,
}

/// The two ends of one flow and the applications on them; from the beginning of a cache line on.
#[derive(Debug)]
#[repr(align(64))]
pub struct Connection {
    pub flow: u32,
    /// Where it is among the endpoints.
    place: u32,
    /// It goes when it is over.
    pub is_passing: bool,
    pub sender: Socket,
    pub receiver: Socket,
    pub application: Application,
    timers: [SocketTimers; 2],
}

/// Of a timer that is not set, or has no event: later than every other.
const NEVER: Key = Key { time: Time(u64::MAX), number: u64::MAX };

/// Deadlines of one socket's timers.  A timer that is set again keeps its event in the queue, which
/// looks when it runs whether the deadline has moved.
#[derive(Debug, Default)]
struct SocketTimers {
    usual: [Alarm; Timer::USUAL],
    /// There from the first time on that one of them is set.
    others: Option<Box<[Alarm; Timer::COUNT - Timer::USUAL]>>,
    /// [`Timer::SendPending`] is set without an event.
    is_sending_unqueued: bool,
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
    fn queue(&mut self, timer: Timer, event: Event, network: &mut Network) {
        let Alarm { deadline, queued } = self.of(timer);
        *queued = *deadline;
        network.events().insert(*deadline, event);
    }

    /// The event of now runs for `timer`, and was `event`.  Returns whether the timer is due.
    fn take_due(&mut self, timer: Timer, event: Event, network: &mut Network) -> bool {
        let now = network.events().now();
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
            network.events().insert(*deadline, event);
        }
        false
    }

    /// Somebody calls after `Timer::SendPending` was set and not queued.  If it was due in the meantime,
    /// it has found nothing; if it is still to come, it may find what happens now.
    #[inline]
    fn settle_sending(&mut self, socket: &mut Socket, event: Event, network: &mut Network) {
        self.is_sending_unqueued = false;
        if self.of(Timer::SendPending).deadline > network.events().now() {
            return self.queue(Timer::SendPending, event, network);
        }
        self.of(Timer::SendPending).deadline = NEVER;
        socket.forget(Timer::SendPending);
    }
}

impl Connection {
    /// `flow`: the number that its packets carry; `place`: among the endpoints.  The receiver listens from
    /// now on.
    pub fn new(
        flow: u32,
        place: u32,
        sender: Socket,
        mut receiver: Socket,
        application: Application,
    ) -> Self {
        receiver.listen();
        let (is_passing, timers) = (false, Default::default());
        Connection { flow, place, is_passing, sender, receiver, application, timers }
    }

    /// Nothing happens at either end any more, unless a packet comes.  (An event of a timer that is still
    /// queued finds by its number that it is nobody's, whoever has the place by then.)
    pub fn is_over(&self) -> bool {
        self.sender.is_over() && self.receiver.is_over()
    }

    pub fn open(&mut self, network: &mut Network) {
        let is_eager = matches!(&self.application, Application::Greedy(greedy) if greedy.eager);
        self.with_socket(Side::Sender, network, |socket, now, host| {
            socket.connect(now, host);
            if is_eager {
                socket.offer_space(host);
            }
        });
    }

    pub fn close(&mut self, network: &mut Network) {
        self.application.stop(network.now());
        self.with_socket(Side::Sender, network, |socket, now, host| {
            socket.tcb.now = now;
            socket.close(host);
        });
    }

    pub fn close_receiver(&mut self, network: &mut Network) {
        self.with_socket(Side::Receiver, network, |socket, now, host| socket.close_sink(now, host));
    }

    /// A source switches on or off, or writes the packet that is due.
    pub fn on_application(&mut self, network: &mut Network) {
        let Application::Source(source) = &mut self.application else { return };
        match source.take_due(network.events().now()) {
            Some(Due::Switch) => source.switch(self.flow, network.events()),
            Some(Due::Send) => {
                let size = source.write_size();
                self.with_socket(Side::Sender, network, |socket, now, host| {
                    let accepted = socket.send(size, now, host);
                    if host.on_sent(accepted) {
                        socket.close(host);
                    }
                });
            }
            None => {}
        }
    }

    #[inline]
    pub fn on_segment(&mut self, packet: &Packet, network: &mut Network) {
        let side = if packet.backward { Side::Sender } else { Side::Receiver };
        self.with_socket(side, network, |socket, now, host| socket.on_segment(packet, now, host));
    }

    pub fn on_timer(&mut self, token: Token, network: &mut Network) {
        let number = usize::from(token.0);
        let side = if number < Timer::COUNT { Side::Sender } else { Side::Receiver };
        let timer = Timer::ALL[number - Timer::COUNT * side as usize];
        let event = Event::Endpoint(token, self.place);
        if self.timers[side as usize].take_due(timer, event, network) {
            self.with_socket(side, network, |socket, now, host| socket.on_timer(timer, now, host));
        }
    }

    #[inline]
    fn with_socket(
        &mut self,
        side: Side,
        network: &mut Network,
        call: impl FnOnce(&mut Socket, Time, &mut Host<'_>),
    ) {
        let now = network.now();
        let [of_sender, of_receiver] = &mut self.timers;
        let (socket, timers) = match side {
            Side::Sender => (&mut self.sender, of_sender),
            Side::Receiver => (&mut self.receiver, of_receiver),
        };
        if timers.is_sending_unqueued {
            let event = event(self.place, side, Timer::SendPending);
            timers.settle_sending(socket, event, network);
        }
        let mut host = Host {
            network,
            timers,
            application: &mut self.application,
            flow: self.flow,
            place: self.place,
            side,
        };
        call(socket, now, &mut host);
        if host.timers.is_sending_unqueued && !socket.found_nothing_to_send() {
            host.queue_sending();
        }
    }
}

const _: () = assert!(2 * Timer::COUNT <= Token::COUNT);

/// The event of a timer of the socket on this side of the endpoint at `place`.
fn event(place: u32, side: Side, timer: Timer) -> Event {
    Event::Endpoint(Token(side as u8 * Timer::COUNT as u8 + timer as u8), place)
}

/// What a socket sees of the world.
struct Host<'a> {
    network: &'a mut Network,
    timers: &'a mut SocketTimers,
    application: &'a mut Application,
    flow: u32,
    place: u32,
    side: Side,
}

impl Host<'_> {
    /// There may be something to send when [`Timer::SendPending`] is due.
    fn queue_sending(&mut self) {
        self.timers.is_sending_unqueued = false;
        if self.timers.of(Timer::SendPending).deadline != NEVER {
            self.queue(Timer::SendPending);
        }
    }

    #[inline(never)] // mostly there is an event already, or none is needed
    fn queue(&mut self, timer: Timer) {
        let event = event(self.place, self.side, timer);
        self.timers.queue(timer, event, self.network);
    }

    /// Returns whether the source closes.
    fn on_sent(&mut self, accepted: bool) -> bool {
        let Application::Source(source) = &mut *self.application else { return false };
        source.on_sent(accepted, self.flow, self.network.events())
    }
}

impl Environment for Host<'_> {
    #[inline(always)]
    fn transmit(&mut self, mut segment: Packet) {
        segment.flow = self.flow;
        segment.backward = self.side == Side::Receiver;
        self.network.send(segment);
    }

    #[cold]
    fn transmit_with_sacks(&mut self, mut segment: Packet, blocks: &[SackBlock]) {
        segment.flow = self.flow;
        segment.backward = self.side == Side::Receiver;
        self.network.send_with_sacks(segment, blocks);
    }

    fn sacks(&self) -> &SackBlocks {
        self.network.arrived_sacks()
    }

    #[inline(always)]
    fn arm(&mut self, timer: Timer, at: Time) {
        let delay = at - self.network.now();
        let events = self.network.events();
        let (key, is_plain) = (events.reserve(delay), events.plain);
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
            source.on_connected(self.flow, self.network.events());
        }
    }

    #[inline]
    fn writable(&mut self, free: u32) -> Write {
        match &mut *self.application {
            Application::Greedy(greedy) => greedy.writable(self.network.now(), free),
            Application::Source(_) => Write::default(),
        }
    }

    fn readable(&mut self, bytes: u32) {
        self.application.on_read(self.network.now(), bytes);
    }

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.network.is_plain()
    }
}
