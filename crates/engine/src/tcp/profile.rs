//! Stack profiles: what a TCP does where standards leave it a choice, or where it does not do what
//! they say.  A socket is generic over its profile, so that what a profile says costs nothing.
//!
//! Habits of ns-3 that are structure rather than rules are named where they happen: duplicate ACKs in
//! CWR start no fast retransmit (`socket/ack.rs`), rate samples keep fields of the one before (`rate.rs`),
//! the highest SACKed byte moves down (`scoreboard.rs`).  `timelines/` shows what they come to.

use std::fmt;

use super::loss::{LossDetection, Rfc6675};
use crate::packet::Ecn;
use crate::time::Time;

pub trait Profile: fmt::Debug {
    type Loss: LossDetection;

    /// The RTT estimate before the first sample.
    const INITIAL_RTT: Time;

    /// Bound of the retransmission timeout (RFC 6298 section 2.5) and of the time between two probes of
    /// a closed window.
    const LONGEST_TIMEOUT: Time;

    /// From a write to the sending of what was written.
    const WRITE_DELAY: Time;

    /// Whether a timeout sets ssthresh also if the segment has been sent again by a timeout before
    /// (against RFC 5681 section 3.1).
    const EVERY_TIMEOUT_SETS_SSTHRESH: bool;

    /// Whether a partial ACK sends a segment whatever the window says (against RFC 6675 section 5, step
    /// C).
    const PARTIAL_ACK_SENDS: bool;

    /// The round trip of a timestamp that comes back (RFC 7323 section 4.1).
    fn rtt_of_echo(now: Time, echo: u32) -> Time;

    /// The ECN bits of a segment that may be ECT; `tos`: the socket's type of service.
    fn ecn(ect: Ecn, tos: u8) -> Ecn;
}

/// ns-3 3.44's `TcpSocketBase` and its helpers.
#[derive(Debug)]
pub struct Ns3;

impl Profile for Ns3 {
    type Loss = Rfc6675;

    const INITIAL_RTT: Time = Time::from_secs(1);
    /// At least 60 s, says the RFC.
    const LONGEST_TIMEOUT: Time = Time::from_secs(60);
    /// Writes of the same instant go out together.
    const WRITE_DELAY: Time = Time(1);
    /// It looks whether the segment was retransmitted when the timeout has cleared that mark.
    const EVERY_TIMEOUT_SETS_SSTHRESH: bool = true;
    const PARTIAL_ACK_SENDS: bool = true;

    /// In whole milliseconds, the unit of its timestamps; at least 1 us.
    #[inline]
    fn rtt_of_echo(now: Time, echo: u32) -> Time {
        let elapsed = (now.ms() as u32).saturating_sub(echo);
        Time::from_ms(u64::from(elapsed)).max(Time(1_000))
    }

    /// It takes the ECN bits of a type of service, 0, as a wish not to (against RFC 3168 section 5).
    #[inline]
    fn ecn(ect: Ecn, tos: u8) -> Ecn {
        if tos == 0 { ect } else { Ecn::NotEct }
    }
}
