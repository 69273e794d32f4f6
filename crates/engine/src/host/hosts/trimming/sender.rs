//! The sender: what has become of what it sent, and what goes next.

use std::collections::VecDeque;

use super::{Message, NACK, PULL, SENDER_TIMER, SENDER_TURN, on_wire};
use crate::base::event::Key;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::departures::Departures;
use crate::host::hosts::{Host, Outcome};
use crate::host::trimming::{Answer, Control};
use crate::packet::{Ecn, Flags, Options, Packet, TRIMMING_HEADERS};

/// What has become of a packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nobody has answered since then.
    Unknown(Time),
    /// It waits to go again.
    Lost,
    Arrived,
}

#[derive(Debug)]
pub(super) struct Sender {
    message: Message,
    is_open: bool,
    pub(super) control: Box<dyn Control>,
    /// The first packet that has not arrived for all it knows, and what it knows of those from there on that were sent.
    first: u32,
    fates: VecDeque<Fate>,
    /// Numbers as they were sent, and when; some may have been answered, or sent again, since.
    under_way: VecDeque<(Time, u32)>,
    /// Numbers of packets that were lost, the first of which goes next; some may have arrived since.
    lost: VecDeque<u32>,
    /// Bytes on the wire of packets that nobody has answered.
    unknown: u64,
    timer: Option<Key>,
    /// When the receiver last said something, or a packet went by itself.
    heard: Time,
    /// Its link will call it.
    is_waiting: bool,
    /// Of the last answer to a packet.
    pub(super) rtt: Option<Time>,
    pub(super) sent_bytes: u64,
    pub(super) outcome: Outcome,
    pub(super) departures: Departures,
}

impl Sender {
    pub(super) fn new(message: Message, control: Box<dyn Control>) -> Self {
        Sender {
            message,
            is_open: false,
            control,
            first: 0,
            fates: VecDeque::new(),
            under_way: VecDeque::new(),
            lost: VecDeque::new(),
            unknown: 0,
            timer: None,
            heard: Time::ZERO,
            is_waiting: false,
            rtt: None,
            sent_bytes: 0,
            outcome: Outcome::default(),
            departures: Departures::default(),
        }
    }

    pub(super) fn open(&mut self, host: &mut Host<'_>) {
        self.is_open = true;
        self.go_on(host);
    }

    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    /// Nothing is to come at the sender's host.
    pub(super) fn is_over(&self) -> bool {
        self.outcome.completed.is_some() && !self.is_waiting
    }

    /// Payload of packets that nobody has answered.
    pub(super) fn in_flight(&self) -> u32 {
        let unknown = (self.first..).zip(&self.fates);
        let unknown = unknown.filter(|(_, fate)| matches!(fate, Fate::Unknown(_)));
        unknown.map(|(number, _)| self.message.payload_of(number)).sum()
    }

    /// The packet that goes next.
    fn next(&mut self) -> Option<u32> {
        while let Some(&number) = self.lost.front() {
            if self.fate(number) == Some(&mut Fate::Lost) {
                return Some(number);
            }
            self.lost.pop_front();
        }
        let fresh = self.fresh();
        (fresh < self.message.end).then_some(fresh)
    }

    /// The first one that never was sent.
    fn fresh(&self) -> u32 {
        self.first + self.fates.len() as u32
    }

    fn fate(&mut self, number: u32) -> Option<&mut Fate> {
        self.fates.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// The packet without an answer that was sent first, and when.
    fn oldest(&mut self) -> Option<(Time, u32)> {
        while let Some(&(sent, number)) = self.under_way.front() {
            if self.fate(number) == Some(&mut Fate::Unknown(sent)) {
                return Some((sent, number));
            }
            self.under_way.pop_front();
        }
        None
    }

    /// The packet that may go now.
    fn due(&mut self) -> Option<u32> {
        if !self.is_open {
            return None;
        }
        let Some(number) = self.next() else {
            self.control.on_idle();
            return None;
        };
        let bytes = on_wire(&self.message, number);
        self.control.lets(bytes, self.unknown).then_some(number)
    }

    /// Sends what it may, as its link has its turn for it.
    fn go_on(&mut self, host: &mut Host<'_>) {
        while !self.is_waiting
            && let Some(number) = self.due()
        {
            if host.take_turn(SENDER_TURN) {
                self.send(number, host);
            } else {
                self.is_waiting = true;
            }
        }
    }

    /// Its link has its turn for it.
    pub(super) fn on_turn(&mut self, host: &mut Host<'_>) {
        self.is_waiting = false;
        if let Some(number) = self.due() {
            self.send(number, host);
        }
        self.go_on(host);
    }

    fn send(&mut self, number: u32, host: &mut Host<'_>) {
        let now = host.now();
        let payload = self.message.payload_of(number);
        let ends = number + 1 == self.message.end;
        let mut packet = Packet {
            seq: Seq(number),
            ip_bytes: TRIMMING_HEADERS + payload,
            payload: payload as u16,
            ecn: if self.control.reads_marks() { Ecn::Ect0 } else { Ecn::NotEct },
            flags: Flags::MAY_TRIM.with(Flags::NUMBERED).with(if ends {
                Flags::FIN
            } else {
                Flags::default()
            }),
            options: Options::new(false),
            ..Packet::default()
        };
        packet.set_stamp(now);
        host.send(packet);
        self.control.on_sent();
        self.unknown += u64::from(packet.wire_bytes());
        if number == self.fresh() {
            self.fates.push_back(Fate::Unknown(now));
        } else {
            self.lost.pop_front();
            self.outcome.retransmissions += 1;
            if let Some(fate) = self.fate(number) {
                *fate = Fate::Unknown(now);
            }
        }
        self.under_way.push_back((now, number));
        self.outcome.segments_sent += 1;
        self.sent_bytes += u64::from(payload);
        self.departures.note(now);
        if self.timer.is_none() {
            self.timer = Some(host.arm(self.control.timeout(), SENDER_TIMER));
        }
    }

    pub(super) fn on_answer(&mut self, packet: &Packet, host: &mut Host<'_>) {
        let number = packet.ack.0;
        self.heard = host.now();
        if packet.flags == PULL {
            self.control.on_pull(number);
            return self.go_on(host);
        }
        let rtt = host.now() - packet.stamp();
        self.rtt = Some(rtt);
        let bytes = on_wire(&self.message, number);
        let Some(fate) = self.fate(number) else { return };
        let before = *fate;
        if matches!(before, Fate::Unknown(_)) {
            self.unknown -= u64::from(bytes);
        }
        let answer = Answer {
            now: host.now(),
            rtt,
            bytes,
            is_marked: packet.flags.has(Flags::ECE),
            in_flight: self.unknown,
        };
        if packet.flags == NACK {
            if matches!(before, Fate::Unknown(_)) {
                self.note(number, Fate::Lost);
                self.lost.push_back(number);
                self.control.on_trim(&answer);
            }
        } else if before != Fate::Arrived {
            self.note(number, Fate::Arrived);
            self.control.on_ack(&answer);
            self.advance(host.now());
        }
        // What has been answered is not kept.
        self.oldest();
        self.go_on(host);
    }

    fn note(&mut self, number: u32, fate: Fate) {
        self.fates[(number - self.first) as usize] = fate;
    }

    /// What has arrived in order needs to be known no longer.
    fn advance(&mut self, now: Time) {
        while self.fates.front() == Some(&Fate::Arrived) {
            self.fates.pop_front();
            self.first += 1;
        }
        // In order, as elsewhere.
        self.outcome.acked_bytes = self.message.bytes_before(self.first);
        if self.first == self.message.end {
            self.outcome.completed = Some(now);
        }
    }

    /// Packets that nobody has answered for long go again at once.
    pub(super) fn on_timer(&mut self, host: &mut Host<'_>) {
        let key = host.event_key();
        if self.timer.take_if(|timer| *timer == key).is_none() {
            return;
        }
        let now = host.now();
        let timeout = self.control.timeout();
        let mut late = Vec::new();
        let mut oldest = self.oldest();
        while let Some((_, number)) = oldest.filter(|&(sent, _)| sent + timeout <= now) {
            self.note(number, Fate::Lost);
            late.push(number);
            oldest = self.oldest();
        }
        // The first ones go first, whenever they were sent.
        late.sort_unstable();
        let mut lost = !late.is_empty();
        for number in late {
            self.lost.push_back(number);
            let bytes = on_wire(&self.message, number);
            self.unknown -= u64::from(bytes);
            self.control.on_timeout(bytes);
        }
        // The receiver may have what it was not acknowledged, and then asks for nothing.
        let waits = oldest.is_none() && !lost && self.fates.contains(&Fate::Lost);
        let last_word = self.control.patience().filter(|_| waits).map(|wait| self.heard + wait);
        if last_word.is_some_and(|at| at <= now) {
            self.heard = now;
            self.control.on_timeout(0);
            lost = true;
        }
        let due = oldest.map(|(sent, _)| sent + timeout).or(last_word);
        if let Some(due) = due.filter(|due| *due > now) {
            self.timer = Some(host.arm(due - now, SENDER_TIMER));
        }
        if lost {
            self.outcome.rtos += 1;
            self.go_on(host);
        }
    }
}
