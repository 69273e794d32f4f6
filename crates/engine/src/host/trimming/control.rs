//! What a control of such a sender is asked, and what it is told.

use crate::base::time::Time;

/// What has become of a packet, as its sender hears it.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    pub now: Time,
    /// Since the packet left.
    pub rtt: Time,
    /// Of the packet on the wire, when it was whole.
    pub bytes: u32,
    /// A switch has marked it.
    pub is_marked: bool,
    /// Bytes on the wire of all packets that nobody has answered now.
    pub in_flight: u64,
}

/// What lets a sender send.
pub trait Control: Send {
    /// How long a packet that nobody answers is waited for.
    fn timeout(&self) -> Time;

    /// A packet of so many bytes may leave, beside what is in flight.
    fn lets(&self, bytes: u32, in_flight: u64) -> bool;

    fn on_sent(&mut self) {}

    /// It may send and has nothing.
    fn on_idle(&mut self) {}

    /// A packet has come whole.
    fn on_ack(&mut self, _answer: &Answer) {}

    /// A packet has come without its payload.
    fn on_trim(&mut self, _answer: &Answer) {}

    /// Nobody has answered a packet of so many bytes.
    fn on_timeout(&mut self, _bytes: u32) {}

    /// The receiver asks for packets, this one the `number`th.
    fn on_pull(&mut self, _number: u32) {}

    /// The receiver asks for packets: after so much time without a word of it a packet goes by itself.
    fn patience(&self) -> Option<Time> {
        None
    }

    /// Switches may mark its packets.
    fn reads_marks(&self) -> bool {
        false
    }

    /// Bytes on the wire that may be in flight.
    fn window(&self) -> u32 {
        0
    }
}

crate::opaque!(Control);
