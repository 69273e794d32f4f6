//! RoCEv2, a reliable connection of RDMA over UDP: a paced sender with go-back-N, and a receiver that acknowledges each
//! packet, asks again for the first that is missing, and notifies the sender of congestion (DCQCN's notification point).
//!
//! A sender sends as fast as its [`RateControl`] says, when its link has its turn for it; some have a window, too.  A receiver drops
//! what is out of order.  It asks again once for each gap, and again after [`NACK_INTERVAL`] without progress; if that, or the
//! last packet, is lost, the sender's timer goes back.
//!
//! In packet traces an ACK has the flag `ACK`, a negative one `RST|ACK`, a notification (CNP) `ECE`.

use super::{Address, Endpoint, Host, Outcome, Sample, State};
use crate::base::event::{Key, Token};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::departures::Departures;
use crate::host::rate_control::{Ack, RateControl};
use crate::packet::telemetry::{Hops, TELEMETRY_HEADER};
use crate::packet::{Ecn, Flags, Options, PPP_HEADER, Packet, ROCE_HEADERS};

/// An ACK has an extended header besides those of data, a notification 16 bytes reserved.
pub const ACK_HEADER: u32 = 4;
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
    /// IP's and all others, of data.
    headers: u32,
    /// No packet is to be sent before.
    not_before: Time,
    /// When the present burst began, and its bytes so far.
    burst_at: Time,
    burst: u32,
    /// Bytes of the burst that ended last.
    last_burst: u32,
    /// Timers that are set.
    pacing: Option<Key>,
    controlling: Option<Key>,
    retransmission: Option<Key>,
    /// Its link will call it.
    is_waiting: bool,
    /// When it was acknowledged something last, or went back.
    progress: Time,
    /// Of the last answer.
    rtt: Option<Time>,
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
    /// `payload`: of a full packet; `headers`: those of the control's packets; `bytes`: of the transfer, 0 for an endless
    /// one.
    pub fn new(
        address: Address,
        [payload, headers]: [u32; 2],
        bytes: u64,
        control: Box<dyn RateControl>,
    ) -> Self {
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
            headers,
            not_before: Time::ZERO,
            burst_at: Time::ZERO,
            burst: 0,
            last_burst: 0,
            pacing: None,
            controlling: None,
            retransmission: None,
            is_waiting: false,
            progress: Time::ZERO,
            rtt: None,
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
        (self.bytes_before(number + 1) - self.bytes_before(number)) as u32
    }

    /// Of all packets before that number.
    fn bytes_before(&self, number: u32) -> u64 {
        let all = u64::from(number) * u64::from(self.payload);
        if self.bytes == 0 { all } else { all.min(self.bytes) }
    }

    /// It has something to send, and its window lets it.
    fn may_send(&self) -> bool {
        self.is_open && self.next < self.end && self.is_within_window()
    }

    /// Switches write into its packets, and the receiver sends that back.
    fn collects(&self) -> bool {
        self.headers > ROCE_HEADERS
    }

    fn is_within_window(&self) -> bool {
        let bytes = u64::from(self.payload + self.headers + PPP_HEADER);
        let under_way = u64::from(self.next - self.acked) * bytes;
        self.control.window().is_none_or(|window| under_way < window)
    }

    /// Sends if it may now, or sees to it that it is called when it may.
    fn go_on(&mut self, host: &mut Host<'_>) {
        if !self.may_send() || self.is_waiting || self.pacing.is_some() {
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
            ip_bytes: self.headers + payload,
            payload: payload as u16,
            ecn: Ecn::Ect0,
            flags: Flags::NUMBERED.with(if number + 1 == self.end {
                Flags::FIN
            } else {
                Flags::default()
            }),
            options: Options::new(false),
            ..Packet::default()
        };
        packet.set_stamp(now);
        if self.collects() {
            packet.flags = packet.flags.with(Flags::COLLECTS);
            host.send_with_hops(packet, &Hops::default());
        } else {
            host.send(packet);
        }
        let bytes = packet.wire_bytes();
        self.next += 1;
        self.outcome.segments_sent += 1;
        self.outcome.retransmissions += u64::from(number < self.fresh);
        self.fresh = self.fresh.max(self.next);
        self.sent_bytes += u64::from(payload);
        self.departures.note(now);
        self.control.on_sent(bytes);
        self.hold_back(bytes, now);
        if self.retransmission.is_none() {
            self.progress = now;
            self.retransmission = Some(host.arm(TIMEOUT, RETRANSMIT));
        }
        self.go_on(host);
    }

    /// So many bytes leave now: when the next packet may.
    fn hold_back(&mut self, bytes: u32, now: Time) {
        if self.burst == 0 {
            self.burst_at = now;
        }
        self.burst += bytes;
        if self.burst >= self.control.burst() {
            self.last_burst = std::mem::take(&mut self.burst);
            self.not_before = self.burst_at + self.control.rate().tx_time(self.last_burst);
        }
    }

    /// The rate may be another one: so may be when the next packet may leave.
    fn retime(&mut self) {
        let not_before = self.burst_at + self.control.rate().tx_time(self.last_burst);
        if self.burst == 0 && self.last_burst > 0 && not_before != self.not_before {
            self.not_before = not_before;
            self.pacing = None;
        }
    }

    /// The receiver answers a packet: it has all before a number.
    fn on_answer(&mut self, packet: &Packet, hops: &Hops, now: Time) {
        let number = packet.ack.0;
        // On other paths later answers may overtake it. What it asks for is there by now.
        let is_late = number < self.acked;
        let packets = number.saturating_sub(self.acked);
        self.on_ack(number, now);
        let rtt = now - packet.stamp();
        self.rtt = Some(rtt);
        self.control.on_ack(&Ack { now, rtt, number, packets, next: self.next, hops });
        if packet.flags.has(Flags::RST) && !is_late {
            self.control.on_loss(now);
            self.go_back(number, now);
        }
    }

    fn on_ack(&mut self, number: u32, now: Time) {
        if number <= self.acked {
            return;
        }
        self.acked = number;
        self.next = self.next.max(number);
        self.progress = now;
        self.outcome.acked_bytes = self.bytes_before(number);
        if number == self.end {
            self.outcome.completed = Some(now);
        }
    }

    /// `number` is not before what is acknowledged.
    fn go_back(&mut self, number: u32, now: Time) {
        self.next = self.next.min(number);
        self.progress = now;
    }

    /// Nothing has been acknowledged for long.
    fn on_timeout(&mut self, host: &mut Host<'_>) {
        // Once it has stopped, it waits for nothing.
        if self.acked == self.fresh || !self.is_open {
            return;
        }
        if host.now() >= self.progress + TIMEOUT {
            self.outcome.rtos += 1;
            self.control.on_timeout(host.now());
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
        let hops = packet.flags.has(Flags::COLLECTS).then(|| *host.arrived_hops());
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
                self.acknowledge(Flags::ACK.with(Flags::RST), packet, hops.as_ref(), host);
            }
            return;
        }
        if number == self.expected {
            self.expected += 1;
            self.asked = None;
            self.read_bytes += u64::from(packet.payload);
            self.one_way_delay = Some(now - packet.stamp());
        }
        self.acknowledge(Flags::ACK, packet, hops.as_ref(), host);
    }

    /// Answers a packet, with when it left and what it has collected.
    fn acknowledge(&self, flags: Flags, packet: &Packet, hops: Option<&Hops>, host: &mut Host<'_>) {
        let mut ack = answer(flags, self.expected, ROCE_HEADERS + ACK_HEADER);
        ack.set_stamp(packet.stamp());
        if let Some(hops) = hops {
            ack.ip_bytes += TELEMETRY_HEADER;
            host.send_with_hops(ack, hops);
        } else {
            host.send(ack);
        }
    }
}

fn answer(flags: Flags, number: u32, ip_bytes: u32) -> Packet {
    Packet {
        ack: Seq(number),
        flags: flags.with(Flags::NUMBERED),
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
            let hops = if sender.collects() { *host.arrived_hops() } else { Hops::default() };
            sender.on_answer(packet, &hops, now);
            if sender.control.retimes() {
                sender.retime();
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
                if sender.may_send() {
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
            cwnd: sender.control.window().map_or(0, |bytes| bytes.min(u32::MAX.into()) as u32),
            srtt: sender.rtt,
            in_flight: (sender.bytes_before(sender.next) - sender.outcome.acked_bytes) as u32,
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
        Some(State::of(&self.sample(), TIMEOUT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Rate;

    #[derive(Debug)]
    struct Constant;

    impl RateControl for Constant {
        fn rate(&self) -> Rate {
            Rate(40_000_000_000)
        }
    }

    /// InfiniBand drops answers whose number is before the oldest packet that is not acknowledged.
    #[test]
    fn a_request_for_what_has_been_acknowledged_since_changes_nothing() {
        let sizes = [1000, ROCE_HEADERS];
        let mut sender = Roce::new(Address::default(), sizes, 0, Box::new(Constant)).sender;
        (sender.next, sender.fresh) = (10, 10);
        let mut hear = |flags: Flags, number| {
            let packet = answer(flags, number, ROCE_HEADERS + ACK_HEADER);
            sender.on_answer(&packet, &Hops::default(), Time(1));
            (sender.acked, sender.next)
        };
        let again = Flags::ACK.with(Flags::RST);
        assert_eq!(hear(Flags::ACK, 5), (5, 10));
        assert_eq!(hear(again, 4), (5, 10));
        assert_eq!(hear(again, 5), (5, 5));
        assert_eq!(hear(again, 7), (7, 7));
    }
}
