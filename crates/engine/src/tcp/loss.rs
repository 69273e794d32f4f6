//! Loss detection: which segments count as lost, and when that begins fast recovery.

mod rfc6675;

use std::fmt;

pub use rfc6675::Rfc6675;

use super::config::Config;
use super::scoreboard::Scoreboard;
use crate::seq::Seq;

/// What the peer says of data beyond a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// SACK blocks.
    Sack,
    /// Nothing but that something has arrived: duplicate ACKs.
    DuplicateAcks,
}

/// A duplicate ACK in Disorder, as the socket sees it.
#[derive(Clone, Copy, Debug)]
pub struct Disorder {
    /// Duplicate ACKs in a row.
    pub duplicates: u32,
    /// The highest acknowledgement number received.
    pub highest_ack: Seq,
    /// The recovery point of the last episode is acknowledged, or there was none.
    pub is_past_recovery: bool,
}

/// Reads and sets the marks of the scoreboard.
pub trait LossDetection: fmt::Debug {
    fn new(config: &Config) -> Self;

    /// SACK blocks have marked segments that were not marked before.
    fn on_sacked(&self, scoreboard: &mut Scoreboard);

    /// A duplicate ACK that does not begin an episode, in Recovery or, with limited transmit, before.
    fn on_duplicate(&self, scoreboard: &mut Scoreboard, feedback: Feedback);

    /// Whether a duplicate ACK in Disorder begins fast recovery.
    fn begins_recovery(&self, scoreboard: &Scoreboard, disorder: Disorder) -> bool;

    /// Fast recovery begins: what is sent first must be marked lost.
    fn on_recovery(&self, scoreboard: &mut Scoreboard, feedback: Feedback);

    /// An ACK in Recovery acknowledges new data below the recovery point.
    fn on_partial_ack(&self, scoreboard: &mut Scoreboard, feedback: Feedback);

    /// The retransmission timer has fired.
    fn on_timeout(&self, scoreboard: &mut Scoreboard, feedback: Feedback);
}
