//! The sender: what it may send, and what has become of what it sent.

use std::collections::VecDeque;

use super::{Message, NACK, PULL, SENDER_TIMER, SENDER_TURN};
use crate::base::event::Key;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::departures::Departures;
use crate::host::hosts::{Host, Outcome};
use crate::host::receiver_driven::ndp::Settings;
use crate::packet::{Ecn, Flags, NDP_HEADERS, Options, Packet};

/// After so many timeouts without a word of the receiver a packet that waits to be asked for goes by itself.
const PATIENCE: u64 = 16;

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
    /// Packets that it may still send.
    may_send: u32,
    /// The number of the last PULL.
    pulled: u32,
    /// The first packet that has not arrived for all it knows, and what it knows of those from there on that were sent.
    first: u32,
    fates: VecDeque<Fate>,
    /// Numbers of packets that were lost, the first of which goes next; some may have arrived since.
    lost: VecDeque<u32>,
    pub(super) timeout: Time,
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
    pub(super) fn new(message: Message, settings: Settings) -> Self {
        Sender {
            message,
            is_open: false,
            may_send: settings.initial_window,
            pulled: 0,
            first: 0,
            fates: VecDeque::new(),
            lost: VecDeque::new(),
            timeout: settings.timeout,
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

    /// Bytes of packets that nobody has answered.
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

    /// Sends what it may, as its link has its turn for it.
    fn go_on(&mut self, host: &mut Host<'_>) {
        while self.is_open && !self.is_waiting && self.may_send > 0 {
            let Some(number) = self.next() else {
                // What it was asked for and does not have is not made up for.
                self.may_send = 0;
                return;
            };
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
        if self.is_open
            && self.may_send > 0
            && let Some(number) = self.next()
        {
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
            ip_bytes: NDP_HEADERS + payload,
            payload: payload as u16,
            ecn: Ecn::NotEct,
            flags: Flags::MAY_TRIM.with(if ends { Flags::FIN } else { Flags::default() }),
            options: Options::new(false),
            ..Packet::default()
        };
        packet.set_stamp(now);
        host.send(packet);
        self.may_send -= 1;
        if number == self.fresh() {
            self.fates.push_back(Fate::Unknown(now));
        } else {
            self.lost.pop_front();
            self.outcome.retransmissions += 1;
            if let Some(fate) = self.fate(number) {
                *fate = Fate::Unknown(now);
            }
        }
        self.outcome.segments_sent += 1;
        self.sent_bytes += u64::from(payload);
        self.departures.note(now);
        if self.timer.is_none() {
            self.timer = Some(host.arm(self.timeout, SENDER_TIMER));
        }
    }

    pub(super) fn on_answer(&mut self, packet: &Packet, host: &mut Host<'_>) {
        let number = packet.ack.0;
        self.heard = host.now();
        if packet.flags == PULL {
            self.may_send += number.saturating_sub(self.pulled);
            self.pulled = self.pulled.max(number);
            return self.go_on(host);
        }
        self.rtt = Some(host.now() - packet.stamp());
        let Some(fate) = self.fate(number) else { return };
        if packet.flags == NACK {
            if matches!(fate, Fate::Unknown(_)) {
                *fate = Fate::Lost;
                self.lost.push_back(number);
            }
            return;
        }
        if *fate == Fate::Arrived {
            return;
        }
        *fate = Fate::Arrived;
        while self.fates.front() == Some(&Fate::Arrived) {
            self.fates.pop_front();
            self.first += 1;
        }
        // In order, as elsewhere.
        self.outcome.acked_bytes = self.message.bytes_before(self.first);
        if self.first == self.message.end {
            self.outcome.completed = Some(host.now());
        }
    }

    /// Packets that nobody has answered for long go again at once.
    pub(super) fn on_timer(&mut self, host: &mut Host<'_>) {
        let key = host.event_key();
        if self.timer.take_if(|timer| *timer == key).is_none() {
            return;
        }
        let now = host.now();
        let (mut oldest, mut lost) = (None, 0);
        for (number, fate) in (self.first..).zip(&mut self.fates) {
            let Fate::Unknown(sent) = *fate else { continue };
            if sent + self.timeout <= now {
                *fate = Fate::Lost;
                self.lost.push_back(number);
                lost += 1;
            } else {
                oldest = Some(oldest.map_or(sent, |oldest: Time| oldest.min(sent)));
            }
        }
        // The receiver may have what it was not acknowledged, and then asks for nothing.
        let last_word = self.heard + Time(PATIENCE * self.timeout.0);
        let waits = oldest.is_none() && lost == 0 && self.fates.contains(&Fate::Lost);
        if waits && last_word <= now {
            self.heard = now;
            lost = 1;
        }
        let due = oldest.map(|sent| sent + self.timeout).or(waits.then_some(last_word));
        if let Some(due) = due.filter(|due| *due > now) {
            self.timer = Some(host.arm(due - now, SENDER_TIMER));
        }
        if lost > 0 {
            self.outcome.rtos += 1;
            self.may_send += lost;
            self.go_on(host);
        }
    }
}
