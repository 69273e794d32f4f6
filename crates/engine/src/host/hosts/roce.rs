//! RoCEv2, a reliable connection of RDMA over UDP: a paced sender with go-back-N, and a receiver that acknowledges each
//! packet, asks again for the first that is missing, and notifies the sender of congestion (DCQCN's notification point).
//!
//! A sender has no window: it sends as fast as its [`RateControl`] says, when its link has its turn for it.  A receiver drops
//! what is out of order.  It asks again once for each gap, and again after [`NACK_INTERVAL`] without progress; if that, or the
//! last packet, is lost, the sender's timer goes back.
//!
//! In packet traces an ACK has the flag `ACK`, a negative one `RST|ACK`, a notification (CNP) `ECE`.

use super::{Address, Endpoint, Host, Outcome, Sample, State};
use crate::base::event::{Key, Token};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::departures::Departures;
use crate::host::rate_control::RateControl;
use crate::packet::{Ecn, Flags, Options, Packet, ROCE_HEADERS};

/// An ACK has an extended header, a notification 16 bytes reserved.
const ACK_BYTES: u32 = ROCE_HEADERS + 4;
const NOTIFICATION_BYTES: u32 = ROCE_HEADERS + 16;

/// How often a receiver asks again for the same packet, as in the ns-3 fork of HPCC.
const NACK_INTERVAL: Time = Time(500_000);
/// How long a sender waits for progress.
const TIMEOUT: Time = Time(10_000_000);

const SEND: Token = Token(0);
const TURN: Token = Token(1);
const CONTROL: Token = Token(2);
const RETRANSMIT: Token = Token(3);

/// Both ends of a connection.
#[derive(Debug)]
pub struct Roce {
    address: Address,
    sender: Sender,
    receiver: Receiver,
}

#[derive(Debug)]
struct Sender {
    /// Bytes of a full packet, and of the transfer; 0: endless.
    payload: u32,
    bytes: u64,
    /// Packets of the transfer.
    end: u32,
    is_open: bool,
    /// The first packet that is not acknowledged, the next to send, and the first that never was sent.
    acked: u32,
    next: u32,
    fresh: u32,
    control: Box<dyn RateControl>,
    /// No packet is to be sent before.
    not_before: Time,
    /// Timers that are set.
    pacing: Option<Key>,
    controlling: Option<Key>,
    retransmission: Option<Key>,
    /// Its link will call it.
    is_waiting: bool,
    /// When it was acknowledged something last, or went back.
    progress: Time,
    sent_bytes: u64,
    outcome: Outcome,
    departures: Departures,
}

#[derive(Debug, Default)]
struct Receiver {
    expected: u32,
    /// When it asked again for that.
    asked: Option<Time>,
    notified: Option<Time>,
    received_bytes: u64,
    read_bytes: u64,
    one_way_delay: Option<Time>,
}

impl Roce {
    /// `payload`: of a full packet; `bytes`: of the transfer, 0 for an endless one.
    pub fn new(address: Address, payload: u32, bytes: u64, control: Box<dyn RateControl>) -> Self {
        let end = if bytes == 0 { u64::MAX } else { bytes.div_ceil(payload.into()) };
        let sender = Sender {
            payload,
            bytes,
            end: u32::try_from(end).unwrap_or(u32::MAX),
            is_open: false,
            acked: 0,
            next: 0,
            fresh: 0,
            control,
            not_before: Time::ZERO,
            pacing: None,
            controlling: None,
            retransmission: None,
            is_waiting: false,
            progress: Time::ZERO,
            sent_bytes: 0,
            outcome: Outcome::default(),
            departures: Departures::default(),
        };
        Roce { address, sender, receiver: Receiver::default() }
    }
}

impl Sender {
    /// Bytes of the packet with this number.
    fn payload_of(&self, number: u32) -> u32 {
        let before = u64::from(number) * u64::from(self.payload);
        match self.bytes {
            0 => self.payload,
            bytes => bytes.saturating_sub(before).min(self.payload.into()) as u32,
        }
    }

    fn has_more(&self) -> bool {
        self.is_open && self.next < self.end
    }

    /// Sends if it may now, or sees to it that it is called when it may.
    fn go_on(&mut self, host: &mut Host<'_>) {
        if !self.has_more() || self.is_waiting || self.pacing.is_some() {
            return;
        }
        if host.now() < self.not_before {
            self.pacing = Some(host.arm(self.not_before - host.now(), SEND));
        } else if host.take_turn(TURN) {
            self.send(host);
        } else {
            self.is_waiting = true;
        }
    }

    fn send(&mut self, host: &mut Host<'_>) {
        let now = host.now();
        let number = self.next;
        let payload = self.payload_of(number);
        let mut packet = Packet {
            seq: Seq(number),
            ip_bytes: ROCE_HEADERS + payload,
            payload: payload as u16,
            ecn: Ecn::Ect0,
            flags: if number + 1 == self.end { Flags::FIN } else { Flags::default() },
            options: Options::new(false),
            ..Packet::default()
        };
        packet.set_stamp(now);
        host.send(packet);
        let bytes = packet.wire_bytes();
        self.next += 1;
        self.outcome.segments_sent += 1;
        self.outcome.retransmissions += u64::from(number < self.fresh);
        self.fresh = self.fresh.max(self.next);
        self.sent_bytes += u64::from(payload);
        self.departures.note(now);
        self.control.on_sent(bytes);
        self.not_before = now + self.control.rate().tx_time(bytes);
        if self.retransmission.is_none() {
            self.progress = now;
            self.retransmission = Some(host.arm(TIMEOUT, RETRANSMIT));
        }
        self.go_on(host);
    }

    /// The receiver has all before a number.
    fn on_ack(&mut self, number: u32, now: Time) {
        if number <= self.acked {
            return;
        }
        self.acked = number;
        self.next = self.next.max(number);
        self.progress = now;
        let all = u64::from(number) * u64::from(self.payload);
        self.outcome.acked_bytes = if self.bytes == 0 { all } else { all.min(self.bytes) };
        if number == self.end {
            self.outcome.completed = Some(now);
        }
    }

    fn go_back(&mut self, number: u32, now: Time) {
        self.next = self.next.min(number.max(self.acked));
        self.progress = now;
    }

    /// Nothing has been acknowledged for long.
    fn on_timeout(&mut self, host: &mut Host<'_>) {
        if self.acked == self.fresh {
            return;
        }
        if host.now() >= self.progress + TIMEOUT {
            self.outcome.rtos += 1;
            self.go_back(self.acked, host.now());
        }
        let next = self.progress + TIMEOUT;
        self.retransmission = Some(host.arm(next - host.now(), RETRANSMIT));
        self.go_on(host);
    }

    /// Its law may want to be called at another time.
    fn set_control_timer(&mut self, host: &mut Host<'_>) {
        let due = self.control.due();
        self.controlling = due.map(|due| host.arm(due - host.now(), CONTROL));
    }
}

impl Receiver {
    fn on_data(&mut self, packet: &Packet, interval: Option<Time>, host: &mut Host<'_>) {
        let now = host.now();
        self.received_bytes += u64::from(packet.payload);
        if let Some(interval) = interval
            && packet.ecn == Ecn::Ce
            && self.notified.is_none_or(|last| last + interval <= now)
        {
            self.notified = Some(now);
            host.send(answer(Flags::ECE, 0, NOTIFICATION_BYTES));
        }
        let number = packet.seq.0;
        if number > self.expected {
            if self.asked.is_none_or(|last| last + NACK_INTERVAL <= now) {
                self.asked = Some(now);
                host.send(answer(Flags::ACK.with(Flags::RST), self.expected, ACK_BYTES));
            }
            return;
        }
        if number == self.expected {
            self.expected += 1;
            self.asked = None;
            self.read_bytes += u64::from(packet.payload);
            self.one_way_delay = Some(now - packet.stamp());
        }
        host.send(answer(Flags::ACK, self.expected, ACK_BYTES));
    }
}

fn answer(flags: Flags, number: u32, ip_bytes: u32) -> Packet {
    Packet {
        ack: Seq(number),
        flags,
        ip_bytes,
        backward: true,
        options: Options::new(false),
        ..Packet::default()
    }
}

impl Endpoint for Roce {
    fn address(&self) -> &Address {
        &self.address
    }

    fn open(&mut self, mut host: Host<'_>) {
        self.sender.is_open = true;
        self.sender.go_on(&mut host);
    }

    fn close(&mut self, _host: Host<'_>) {
        self.sender.is_open = false;
    }

    fn on_packet(&mut self, packet: &Packet, mut host: Host<'_>) {
        let sender = &mut self.sender;
        if !packet.backward {
            let interval = sender.control.notification_interval();
            return self.receiver.on_data(packet, interval, &mut host);
        }
        let now = host.now();
        if packet.flags.has(Flags::ECE) {
            sender.control.on_notification(now);
            sender.set_control_timer(&mut host);
        } else {
            sender.on_ack(packet.ack.0, now);
            if packet.flags.has(Flags::RST) {
                sender.go_back(packet.ack.0, now);
            }
            sender.go_on(&mut host);
        }
    }

    fn on_timer(&mut self, token: Token, mut host: Host<'_>) {
        let sender = &mut self.sender;
        let now = host.event_key();
        match token {
            SEND if sender.pacing.take_if(|key| *key == now).is_some() => sender.go_on(&mut host),
            TURN => {
                sender.is_waiting = false;
                if sender.has_more() {
                    sender.send(&mut host);
                }
            }
            CONTROL if sender.controlling.take_if(|key| *key == now).is_some() => {
                sender.control.on_timer(now.time);
                sender.set_control_timer(&mut host);
            }
            RETRANSMIT if sender.retransmission.take_if(|key| *key == now).is_some() => {
                sender.on_timeout(&mut host);
            }
            _ => {}
        }
    }

    fn is_over(&self) -> bool {
        self.sender.outcome.completed.is_some()
    }

    fn has_arrived(&self) -> bool {
        self.sender.bytes > 0 && self.receiver.expected == self.sender.end
    }

    fn outcome(&self) -> Outcome {
        self.sender.outcome
    }

    fn sample(&self) -> Sample {
        let (sender, receiver) = (&self.sender, &self.receiver);
        Sample {
            in_flight: (sender.next - sender.acked).saturating_mul(sender.payload),
            sent_bytes: sender.sent_bytes,
            received_bytes: receiver.received_bytes,
            acked_bytes: sender.outcome.acked_bytes,
            written_bytes: sender.sent_bytes,
            read_bytes: receiver.read_bytes,
            mean_gap: sender.departures.mean_gap,
            one_way_delay: receiver.one_way_delay,
            retransmissions: sender.outcome.retransmissions,
            rtos: sender.outcome.rtos.into(),
            pacing_rate: sender.control.rate(),
            ..Sample::default()
        }
    }

    fn state(&self) -> Option<State> {
        let sample = self.sample();
        Some(State {
            cwnd: 0,
            ssthresh: 0,
            in_flight: sample.in_flight,
            srtt: Time::ZERO,
            cong_state: 0,
            ecn_state: 0,
            rto: TIMEOUT,
            pacing_rate: sample.pacing_rate,
        })
    }
}
