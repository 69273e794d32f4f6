//! What a socket asks of loss recovery: how cwnd moves between the start of an episode and its end.

use std::fmt;

use super::tcb::Tcb;

/// How an ACK was classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckKind {
    /// It SACKs new bytes or, without SACK, acknowledges nothing new.
    Duplicate,
    /// It acknowledges new bytes, and SACKs none.
    Advance,
}

/// One episode of Recovery or CWR at a time (ns-3's `TcpRecoveryOps`).
pub trait Recovery: fmt::Debug + Send {
    /// An episode begins.  `unacked_bytes` counts from SND.UNA to the highest byte sent;
    /// `delivered_bytes` is what the triggering ACK acknowledged or SACKed.
    fn enter(&mut self, tcb: &mut Tcb, unacked_bytes: u32, delivered_bytes: u32);

    /// An ACK that acknowledged or SACKed `delivered_bytes` arrives in the episode.
    fn on_ack(&mut self, tcb: &mut Tcb, delivered_bytes: u32, kind: AckKind);

    /// Data was sent in the episode.
    fn on_sent(&mut self, _bytes: u32) {}
}
