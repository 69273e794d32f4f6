//! The receiver: what has come, and what it asks for.

use std::collections::VecDeque;

use super::{ACK, Message, NACK, PULL, PULL_TURN, RECEIVER_TIMER, answer, full};
use crate::base::event::Key;
use crate::base::time::{Rate, Time};
use crate::host::hosts::Host;
use crate::packet::{Ecn, Flags, Packet};

/// After so many calls without any packet it asks no more often.
const MOST_DOUBLINGS: u32 = 10;

#[derive(Debug)]
pub(super) struct Receiver {
    message: Message,
    /// The first packet that is missing, and which of those behind it are there.
    first: u32,
    is_there: VecDeque<bool>,
    /// Behind the last packet of the transfer, once it is known.
    end: Option<u32>,
    /// Packets that have come and for which it has not yet asked for another one, and how many it has asked for in all.
    owed: u32,
    pulls: u32,
    /// It waits for its host's turn.
    is_waiting: bool,
    /// It asks for packets, and again after so much time without any.
    asks_after: Option<Time>,
    timer: Option<Key>,
    /// When a packet came last, or it asked without one, and how often that has been so in a row.
    progress: Time,
    in_vain: u32,
    /// When it asked last.
    asked: Option<Time>,
    /// Of what it has asked for, by the last two times.
    pub(super) pull_rate: Rate,
    pub(super) received_bytes: u64,
    pub(super) one_way_delay: Option<Time>,
}

impl Receiver {
    pub(super) fn new(message: Message, asks_after: Option<Time>) -> Self {
        Receiver {
            message,
            first: 0,
            is_there: VecDeque::new(),
            end: None,
            owed: 0,
            pulls: 0,
            is_waiting: false,
            asks_after,
            timer: None,
            progress: Time::ZERO,
            in_vain: 0,
            asked: None,
            pull_rate: Rate(0),
            received_bytes: 0,
            one_way_delay: None,
        }
    }

    /// Nothing is to come at the receiver's host.
    pub(super) fn is_over(&self) -> bool {
        self.has_all() && !self.is_waiting
    }

    /// The whole transfer has come.
    pub(super) fn has_all(&self) -> bool {
        self.end == Some(self.first)
    }

    /// What the application has, in order.
    pub(super) fn read_bytes(&self) -> u64 {
        self.message.bytes_before(self.first)
    }

    pub(super) fn on_packet(&mut self, packet: &Packet, host: &mut Host<'_>) {
        let now = host.now();
        let number = packet.seq.0;
        let is_cut = packet.flags.has(Flags::TRIMMED);
        if !is_cut {
            self.received_bytes += u64::from(packet.payload);
            self.one_way_delay = Some(now - packet.stamp());
            self.take(number);
        }
        // Of a packet that came whole before, the sender needs to hear only that.
        let is_marked = packet.ecn == Ecn::Ce;
        let ack = if is_marked { ACK.with(Flags::ECE) } else { ACK };
        let flags = if self.has(number) { ack } else { NACK };
        host.send(answer(flags, number, packet.stamp()));
        if packet.flags.has(Flags::FIN) {
            self.end = Some(number + 1);
        }
        (self.progress, self.in_vain) = (now, 0);
        if self.has_all() {
            self.owed = 0;
            return;
        }
        let Some(timeout) = self.asks_after else { return };
        self.owed += 1;
        self.await_turn(host);
        if self.timer.is_none() {
            self.timer = Some(host.arm(timeout, RECEIVER_TIMER));
        }
    }

    fn has(&self, number: u32) -> bool {
        let place = number.checked_sub(self.first);
        place.is_none_or(|place| self.is_there.get(place as usize) == Some(&true))
    }

    fn take(&mut self, number: u32) {
        let Some(place) = number.checked_sub(self.first) else { return };
        let place = place as usize;
        if place >= self.is_there.len() {
            self.is_there.resize(place + 1, false);
        }
        self.is_there[place] = true;
        while self.is_there.front() == Some(&true) {
            self.is_there.pop_front();
            self.first += 1;
        }
    }

    fn await_turn(&mut self, host: &mut Host<'_>) {
        if self.owed > 0 && !self.is_waiting {
            self.is_waiting = true;
            host.await_pull(PULL_TURN);
        }
    }

    /// The host has its turn to ask for a packet.
    pub(super) fn on_turn(&mut self, host: &mut Host<'_>) {
        self.is_waiting = false;
        if self.owed == 0 {
            return;
        }
        let now = host.now();
        self.owed -= 1;
        self.pulls += 1;
        host.send(answer(PULL, self.pulls, now));
        host.pulled(full(&self.message));
        if let Some(gap) = self.asked.map(|last| now - last).filter(|gap| !gap.is_zero()) {
            let bits = 8_000_000_000 * u64::from(full(&self.message));
            self.pull_rate = Rate(bits / gap.0);
        }
        self.asked = Some(now);
        self.await_turn(host);
    }

    /// What it asked for may be lost, or that it asked.
    pub(super) fn on_timer(&mut self, host: &mut Host<'_>) {
        let key = host.event_key();
        if self.timer.take_if(|timer| *timer == key).is_none() || self.has_all() {
            return;
        }
        let Some(timeout) = self.asks_after else { return };
        let now = host.now();
        let patience = Time(timeout.0 << self.in_vain.min(MOST_DOUBLINGS));
        let since = self.progress.max(self.asked.unwrap_or(Time::ZERO));
        if self.owed > 0 || since + patience > now {
            let due = if since + patience > now { since + patience - now } else { patience };
            self.timer = Some(host.arm(due, RECEIVER_TIMER));
            return;
        }
        self.in_vain += 1;
        self.progress = now;
        self.owed = 1;
        self.await_turn(host);
        self.timer = Some(host.arm(patience, RECEIVER_TIMER));
    }
}
