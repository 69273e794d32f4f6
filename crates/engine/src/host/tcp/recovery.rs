//! What a socket asks of loss recovery: how cwnd moves between the start of an episode and its end.

use super::tcb::Tcb;

/// How an ACK was classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckKind {
    /// It SACKs new bytes or, without SACK, acknowledges nothing new.
    Duplicate,
    /// It acknowledges new bytes, and SACKs none.
    Advance,
}

/// How an episode begins; all in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Episode {
    /// From SND.UNA to the highest byte sent.
    pub unacked: u32,
    /// Of these, SACKed by now.
    pub sacked: u32,
    /// What the ACK that begins it acknowledged or SACKed.
    pub delivered: u32,
    /// cwnd, where that is what proportional reduction takes a share of, and not what is in flight.
    pub window: Option<u32>,
    /// The peer sends SACK blocks.
    pub has_sack: bool,
}

/// One episode of Recovery or CWR at a time (ns-3's `TcpRecoveryOps`).
pub trait Recovery: Send {
    /// An episode begins.
    fn enter(&mut self, tcb: &mut Tcb, episode: Episode);

    /// An ACK that acknowledged or SACKed `delivered_bytes` arrives in the episode.
    fn on_ack(&mut self, tcb: &mut Tcb, delivered_bytes: u32, kind: AckKind);

    /// Data was sent in the episode.
    fn on_sent(&mut self, _bytes: u32) {}
}

crate::opaque!(Recovery);
