//! A device whose priorities can be paused one by one (IEEE 802.1Q clause 36), with a queue discipline for each.
//!
//! It has no queue of its own: a packet leaves its discipline when its transmission begins, so that a pause takes effect
//! at the next boundary between packets.  What goes next: pause frames; priorities 7 and 6 (network control), the higher one
//! first; then the others, a packet each in turn; then a sender on this host who waits for its turn, which makes a packet
//! only then.

use std::collections::VecDeque;

use super::feeder::{Feeder, Place};
use super::several::is_same;
use super::{QueueStatistics, Transmitter};
use crate::base::event::{Event, Key, PortEvent};
use crate::base::time::Time;
use crate::net::network::common::Common;
use crate::net::qdisc::{AnyQdisc, Counts, Qdisc, QdiscContext};
use crate::packet::ingress::{PAUSE_FRAME, PRIORITIES, Pause, priority_of, quanta_at};
use crate::packet::trace::PacketEvent;
use crate::packet::{Flags, Options, PPP_HEADER, Packet, PacketId};

/// From here on priorities go first.
const CONTROL: usize = 6;

/// Of a pause frame, as if it were a packet of IP.
const FRAME_BYTES: u32 = PAUSE_FRAME as u32 - PPP_HEADER;

/// One priority.
#[derive(Debug)]
struct Class {
    feeder: Feeder,
    /// It may not send before.
    paused_until: Time,
    /// When the pause began that ends then.
    paused_since: Time,
    /// How long the pauses before it were.
    paused: Time,
    /// Its discipline has packets that it holds back, and says when it does no longer.
    is_held: bool,
}

impl Class {
    fn is_paused(&self, now: Time) -> bool {
        now < self.paused_until
    }

    /// A sender's next packet would leave at once.
    fn is_free(&self, now: Time) -> bool {
        !self.is_held && !self.is_paused(now)
    }

    /// For how long it could not send, until `now`.
    fn paused_by(&self, now: Time) -> Time {
        self.paused + Time(self.paused_until.min(now).0.saturating_sub(self.paused_since.0))
    }
}

#[derive(Debug)]
pub struct Pausable {
    classes: Vec<Class>,
    /// Whose turn it is of those that take turns.
    turn: usize,
    /// Which one sent last.
    last: usize,
    /// Between a pause frame and its effect.
    response: Time,
    /// Frames that have no effect yet.
    coming: VecDeque<Pause>,
    /// The other end is to be told something; known from the event on that says so.
    has_news: bool,
    /// The number that its pause frames carry.
    frames_flow: u32,
    /// The next renewal of what it has told the other end.
    renewal: Option<Key>,
    /// Who waits for a turn, by priority, in the order in which they came.
    senders: VecDeque<(usize, Event)>,
    /// Pause frames sent.
    frames: u64,
}

impl Pausable {
    /// `disciplines`: one for each priority.
    pub fn new(disciplines: Vec<AnyQdisc>, response: Time) -> Self {
        debug_assert_eq!(disciplines.len(), PRIORITIES);
        let class = |qdisc| Class {
            feeder: Feeder::new(qdisc),
            paused_until: Time::ZERO,
            paused_since: Time::ZERO,
            paused: Time::ZERO,
            is_held: false,
        };
        Pausable {
            classes: disciplines.into_iter().map(class).collect(),
            turn: 0,
            last: 0,
            response,
            coming: VecDeque::new(),
            has_news: false,
            frames_flow: 0,
            renewal: None,
            senders: VecDeque::new(),
            frames: 0,
        }
    }

    /// The number that its pause frames carry.
    pub fn number_frames(&mut self, flow: u32) {
        self.frames_flow = flow;
    }

    pub fn enter(&mut self, id: PacketId, transmitter: &mut Transmitter, common: &mut Common) {
        let priority = priority_of(common.flow_keys.dscp(&common.packets[id]));
        self.classes[priority].is_held = false;
        self.call(priority, transmitter, common, |qdisc, cx| qdisc.enqueue(id, cx));
        self.run(transmitter, common);
    }

    /// Calls a discipline.  What that drops may end a pause of who sent it.
    fn call<T>(
        &mut self,
        priority: usize,
        transmitter: &Transmitter,
        common: &mut Common,
        call: impl FnOnce(&mut AnyQdisc, &mut QdiscContext<'_>) -> T,
    ) -> T {
        let place = Place { number: priority as u32, depth: 0 };
        let result = self.classes[priority].feeder.call(place, transmitter, common, call);
        common.tell_upstream();
        result
    }

    /// Something may be sent, or be waited for.
    fn run(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        if transmitter.is_busy(common.events.now()) {
            if self.has_more() {
                transmitter.await_completion(common);
            }
            return;
        }
        if let Some(frame) = self.pause_frame(transmitter.port, common) {
            self.frames += 1;
            return self.transmit(frame, transmitter, common);
        }
        while let Some(priority) = self.next(common.now()) {
            if priority < CONTROL {
                self.turn = (priority + 1) % CONTROL;
            }
            let next = self.call(priority, transmitter, common, |qdisc, cx| qdisc.dequeue(cx));
            if let Some(id) = next {
                self.last = priority;
                if self.classes[priority].feeder.state.packets == 0 {
                    // It learns that it is empty, as RED and CoDel want it.
                    self.call(priority, transmitter, common, |qdisc, cx| qdisc.dequeue(cx));
                }
                common.packets.release(id);
                common.tell_upstream();
                return self.transmit(id, transmitter, common);
            }
            let class = &mut self.classes[priority];
            class.is_held = class.feeder.state.packets > 0;
        }
        self.call_sender(transmitter.port, common);
    }

    fn transmit(&mut self, id: PacketId, transmitter: &mut Transmitter, common: &mut Common) {
        if common.packets[id].flags.has(Flags::COLLECTS) {
            common.write_hop(id, transmitter, self.waiting_bytes());
        }
        transmitter.transmit(id, self.has_more(), common);
        common.record(transmitter.port, PacketEvent::Tx, id, "");
    }

    /// Whether somebody waits for the transmitter.
    fn has_more(&self) -> bool {
        self.has_news
            || !self.senders.is_empty()
            || self.classes.iter().any(|class| class.feeder.state.packets > 0)
    }

    /// The priority whose packet goes next.
    fn next(&self, now: Time) -> Option<usize> {
        let may_send = |&priority: &usize| {
            let class = &self.classes[priority];
            class.feeder.state.packets > 0 && class.is_free(now)
        };
        let in_turn = (0..CONTROL).map(|i| (self.turn + i) % CONTROL);
        (CONTROL..PRIORITIES).rev().chain(in_turn).find(may_send)
    }

    /// What the other end is to be told, as a frame.
    fn pause_frame(&mut self, port: u32, common: &mut Common) -> Option<PacketId> {
        if !std::mem::take(&mut self.has_news) {
            return None;
        }
        let told = port ^ 1;
        let pause = common.packets.ingress_mut()?.news(told)?;
        if pause.pausing != 0 {
            let after = common.packets.ingress_mut()?.renewal(told)?;
            let renewal = Event::Port(PortEvent::RenewPause, port);
            self.renewal = Some(common.events.schedule(after, renewal));
        }
        let mut frame = Packet {
            ip_bytes: FRAME_BYTES,
            flow: self.frames_flow,
            flags: Flags::PAUSE,
            options: Options::new(false).without_service(),
            ..Packet::default()
        };
        frame.set_pause(pause);
        Some(common.packets.insert(frame))
    }

    /// Pauses that this port has asked for may have to be renewed.
    pub fn on_renewal(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        let now = common.events.now();
        if self.renewal.take_if(|key| *key == now).is_some()
            && let Some(ingress) = common.packets.ingress_mut()
            && ingress.renew(transmitter.port ^ 1)
        {
            self.has_news = true;
            self.run(transmitter, common);
        }
    }

    /// The other end has sent a pause frame.
    pub fn on_pause(&mut self, pause: Pause, transmitter: &mut Transmitter, common: &mut Common) {
        if self.response.is_zero() {
            return self.take_effect(pause, transmitter, common);
        }
        self.coming.push_back(pause);
        let effect = Event::Port(PortEvent::PauseTakesEffect, transmitter.port);
        common.events.schedule(self.response, effect);
    }

    /// The first frame that has none yet has its effect.
    pub fn on_effect(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        if let Some(pause) = self.coming.pop_front() {
            self.take_effect(pause, transmitter, common);
        }
    }

    fn take_effect(&mut self, pause: Pause, transmitter: &mut Transmitter, common: &mut Common) {
        let now = common.now();
        let mut ends = false;
        for (priority, class) in self.classes.iter_mut().enumerate() {
            let Some(quanta) = pause.quanta_of(priority) else { continue };
            if !class.is_paused(now) {
                class.paused = class.paused_by(now);
                class.paused_since = now;
            }
            class.paused_until = now + quanta_at(transmitter.rate(), quanta);
            ends |= quanta == 0;
            if quanta > 0 {
                let end = Event::Port(PortEvent::Wake, transmitter.port);
                common.events.schedule(class.paused_until - now, end);
            }
        }
        if ends {
            self.run(transmitter, common);
        }
    }

    /// A pause may have ended, or a sender whose turn it was has sent nothing, or something is to be said.
    pub fn on_wake(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        let ingress = common.packets.ingress();
        self.has_news |= ingress.is_some_and(|ingress| ingress.has_news(transmitter.port ^ 1));
        self.run(transmitter, common);
    }

    /// The transmitter is free: the next packet.
    pub fn transmit_next(&mut self, transmitter: &mut Transmitter, common: &mut Common) {
        self.run(transmitter, common);
    }

    /// A sender on this host would send now.  Returns whether it may; if not, `event` runs when it is its turn.
    pub fn take_turn(
        &mut self,
        priority: usize,
        event: Event,
        transmitter: &mut Transmitter,
        common: &mut Common,
    ) -> bool {
        let (is_idle, now) = (!transmitter.is_busy(common.events.now()), common.now());
        let nobody_else =
            || !self.has_news && self.next(now).is_none() && self.sender(now).is_none();
        if is_idle && self.classes[priority].is_free(now) && nobody_else() {
            return true;
        }
        self.senders.push_back((priority, event));
        if !is_idle {
            transmitter.await_completion(common);
        }
        false
    }

    /// The first sender that may send.
    fn sender(&self, now: Time) -> Option<usize> {
        self.senders.iter().position(|&(priority, _)| self.classes[priority].is_free(now))
    }

    /// It is the turn of the first sender that may send; if it does not, that of the next.
    fn call_sender(&mut self, port: u32, common: &mut Common) {
        let Some(first) = self.sender(common.now()) else { return };
        if let Some((_, event)) = self.senders.remove(first) {
            common.events.schedule(Time::ZERO, event);
            common.events.schedule(Time::ZERO, Event::Port(PortEvent::Wake, port));
        }
    }

    /// A timer of a discipline fires.
    pub fn on_timer(
        &mut self,
        number: u32,
        tag: u32,
        transmitter: &mut Transmitter,
        common: &mut Common,
    ) {
        if self.call(number as usize, transmitter, common, |qdisc, cx| qdisc.timer(tag, cx)) {
            self.classes[number as usize].is_held = false;
            self.run(transmitter, common);
        }
    }

    pub fn each_discipline(
        &mut self,
        transmitter: &Transmitter,
        common: &mut Common,
        call: impl Fn(&mut AnyQdisc, &mut QdiscContext<'_>),
    ) {
        for priority in 0..self.classes.len() {
            self.call(priority, transmitter, common, &call);
        }
    }

    /// For how long a priority could not send, until `now`.
    pub fn paused(&self, priority: usize, now: Time) -> Time {
        self.classes[priority].paused_by(now)
    }

    /// Pause frames that it has sent.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    pub fn waiting_bytes(&self) -> u32 {
        self.classes.iter().map(|class| class.feeder.state.bytes).sum()
    }

    pub fn statistics(&self) -> QueueStatistics {
        let each = self.classes.iter().map(|class| QueueStatistics::of(&class.feeder.state));
        let last_sojourn = self.classes[self.last].feeder.state.last_sojourn();
        let none = QueueStatistics { last_sojourn, ..QueueStatistics::default() };
        each.fold(none, |all, one| QueueStatistics {
            packets: all.packets + one.packets,
            bytes: all.bytes + one.bytes,
            last_sojourn,
            enqueued_packets: all.enqueued_packets + one.enqueued_packets,
            dropped_packets: all.dropped_packets + one.dropped_packets,
            marked_packets: all.marked_packets + one.marked_packets,
        })
    }

    pub fn decisions(&self) -> Vec<Counts> {
        let mut all: Vec<Counts> = Vec::new();
        for count in self.classes.iter().flat_map(|class| &class.feeder.state.decisions.counts) {
            match all.iter_mut().find(|known| is_same(known, count)) {
                Some(known) => {
                    known.packets += count.packets;
                    known.bytes += count.bytes;
                }
                None => all.push(*count),
            }
        }
        all
    }
}
