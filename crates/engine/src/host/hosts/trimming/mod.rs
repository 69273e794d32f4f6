//! Packets that switches may cut to their headers.  The receiver answers each one by its number, whole or cut, so that the sender
//! knows of each packet what has become of it.  What lets the sender send is a control of `host/trimming/`: NDP's pulls,
//! for which the receiver asks (Handley et al., SIGCOMM 2017, section 3.2), or a window.
//!
//! ```text
//! at first:                 what the control lets go, back to back, without a handshake
//! a packet comes whole:     the receiver answers ACK, with ECE if a switch has marked it
//! a packet comes cut:       it answers NACK (ACK, if it has it)
//! no answer for Timeout:    the packet is lost
//! next:                     the packet that was lost first, or else a new one
//!
//! if it asks for packets, each of either kind is a pull that it owes the sender
//! its host's turn:          PULL n, the n-th of this flow; a packet's time at the link before the host's next one
//! PULL n comes:             as many packets as n is above the last one
//! all packets are there:    nothing is owed any more
//! no word for 16 Timeouts:  a packet of a NACK goes unasked
//! ```
//!
//! A PULL that is lost is made up for by the next one of the flow.  The paper leaves the last one to the sender's timer, which
//! cannot see it; here the receiver that lacks something asks once more after Timeout without any packet, and again after
//! twice as long.  The paper's headers that overflow a switch's queue return to their sender; here the timer is what
//! is left for them.
//!
//! In packet traces an ACK has the flag `ACK`, a NACK `RST|ACK`, a PULL `PSH|ACK`, and a cut packet `TRIMMED`.

mod receiver;
mod sender;

use super::{Address, Endpoint, Host, Outcome, Sample, State};
use crate::base::event::Token;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::trimming::Control;
use crate::packet::{Flags, Options, PPP_HEADER, Packet, TRIMMING_HEADERS};
use receiver::Receiver;
use sender::Sender;

const ACK: Flags = Flags::ACK.with(Flags::NUMBERED);
const NACK: Flags = ACK.with(Flags::RST);
const PULL: Flags = ACK.with(Flags::PSH);

/// The link has its turn for the sender, and the host for the receiver.
const SENDER_TURN: Token = Token(0);
const PULL_TURN: Token = Token(1);
const SENDER_TIMER: Token = Token(2);
const RECEIVER_TIMER: Token = Token(3);

/// What is sent, cut into packets.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// Bytes of a full packet, and of the transfer; 0: endless.
    payload: u32,
    bytes: u64,
    /// Packets of the transfer.
    end: u32,
}

impl Message {
    /// Bytes of the packet with this number.
    fn payload_of(&self, number: u32) -> u32 {
        (self.bytes_before(number + 1) - self.bytes_before(number)) as u32
    }

    /// Of all packets before that number.
    fn bytes_before(&self, number: u32) -> u64 {
        let all = u64::from(number) * u64::from(self.payload);
        if self.bytes == 0 { all } else { all.min(self.bytes) }
    }
}

/// Both ends of a flow.
#[derive(Debug)]
pub struct Trimming {
    address: Address,
    sender: Sender,
    receiver: Receiver,
}

impl Trimming {
    /// `payload`: of a full packet; `bytes`: of the transfer, 0 for an endless one.
    pub fn new(address: Address, payload: u32, bytes: u64, control: Box<dyn Control>) -> Self {
        let end = if bytes == 0 { u64::MAX } else { bytes.div_ceil(payload.into()) };
        let message = Message { payload, bytes, end: u32::try_from(end).unwrap_or(u32::MAX) };
        let asks = control.patience().is_some();
        Trimming {
            address,
            receiver: Receiver::new(message, asks.then(|| control.timeout())),
            sender: Sender::new(message, control),
        }
    }
}

/// What the receiver sends.
fn answer(flags: Flags, number: u32, stamp: Time) -> Packet {
    let mut answer = Packet {
        ack: Seq(number),
        flags,
        ip_bytes: TRIMMING_HEADERS,
        backward: true,
        options: Options::new(false),
        ..Packet::default()
    };
    answer.set_stamp(stamp);
    answer
}

/// Bytes on the wire of the packet with this number, and of a full one.
fn on_wire(message: &Message, number: u32) -> u32 {
    message.payload_of(number) + TRIMMING_HEADERS + PPP_HEADER
}

fn full(message: &Message) -> u32 {
    message.payload + TRIMMING_HEADERS + PPP_HEADER
}

impl Endpoint for Trimming {
    fn address(&self) -> &Address {
        &self.address
    }

    fn open(&mut self, mut host: Host<'_>) {
        self.sender.open(&mut host);
    }

    fn close(&mut self, _host: Host<'_>) {
        self.sender.close();
    }

    fn on_packet(&mut self, packet: &Packet, mut host: Host<'_>) {
        if packet.backward {
            self.sender.on_answer(packet, &mut host);
        } else {
            self.receiver.on_packet(packet, &mut host);
        }
    }

    fn on_timer(&mut self, token: Token, mut host: Host<'_>) {
        match token {
            SENDER_TURN => self.sender.on_turn(&mut host),
            PULL_TURN => self.receiver.on_turn(&mut host),
            SENDER_TIMER => self.sender.on_timer(&mut host),
            _ => self.receiver.on_timer(&mut host),
        }
    }

    fn is_over(&self) -> bool {
        self.sender.is_over() && self.receiver.is_over()
    }

    fn has_arrived(&self) -> bool {
        self.receiver.has_all()
    }

    fn outcome(&self) -> Outcome {
        self.sender.outcome
    }

    fn sample(&self) -> Sample {
        let (sender, receiver) = (&self.sender, &self.receiver);
        Sample {
            cwnd: sender.control.window(),
            srtt: sender.rtt,
            in_flight: sender.in_flight(),
            sent_bytes: sender.sent_bytes,
            received_bytes: receiver.received_bytes,
            acked_bytes: sender.outcome.acked_bytes,
            written_bytes: sender.sent_bytes,
            read_bytes: receiver.read_bytes(),
            mean_gap: sender.departures.mean_gap,
            one_way_delay: receiver.one_way_delay,
            retransmissions: sender.outcome.retransmissions,
            rtos: sender.outcome.rtos.into(),
            pacing_rate: receiver.pull_rate,
            ..Sample::default()
        }
    }

    fn state(&self) -> Option<State> {
        Some(State::of(&self.sample(), self.sender.control.timeout()))
    }
}
