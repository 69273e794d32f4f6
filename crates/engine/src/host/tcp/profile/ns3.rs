//! ns-3's `TcpSocketBase` and its helpers, as of 3.44, and the releases that differ from it in what
//! [`changes`](super::changes) lists.

use super::Profile;
use super::changes::{Change, Changes, Release};
use crate::base::time::Time;
use crate::host::tcp::acks::Delayed;
use crate::host::tcp::loss::Rfc6675;
use crate::host::tcp::pacing::CwndOverSrtt;
use crate::host::tcp::rtt::MeanDeviation;
use crate::host::tcp::segmentation::AtOnce;
use crate::host::tcp::validation::NotValidated;
use crate::packet::Ecn;

/// Each with the changes of those before it.
pub const RELEASES: &[Release] = &[
    Release { name: "ns3-3.44", doc: "ns-3 3.44 of March 2025.", changes: Changes::NONE },
    Release { name: "ns3-3.48", doc: "ns-3 3.48 of June 2026.", changes: IN_3_48 },
    Release {
        name: "ns3-dev",
        doc: "ns-3's development tree of 23 July 2026 (commit 140646449).",
        changes: IN_DEV,
    },
];

const IN_3_48: Changes = Changes::NONE
    .with(Change::BbrAppLimited)
    .with(Change::Abe)
    .with(Change::Fack)
    .with(Change::LedbatWindow)
    .with(Change::CwrEvents);

const IN_DEV: Changes = IN_3_48
    .with(Change::PrrArithmetic)
    .with(Change::SackedRetransmissions)
    .with(Change::DctcpLoss)
    .with(Change::NetUnreachable)
    .with(Change::WindowUpdate)
    .with(Change::LostRetransmissions)
    .with(Change::PrrDelivered)
    .with(Change::PrrRecoverFs);

/// The changes of the release of this name; none of another profile.
pub fn changes(name: &str) -> Changes {
    let of = |release: &&Release| release.name == name;
    RELEASES.iter().find(of).map_or(Changes::NONE, |release| release.changes)
}

#[derive(Debug)]
pub struct Ns3;

impl Profile for Ns3 {
    type Loss = Rfc6675;
    type Rtt = MeanDeviation;
    type Acks = Delayed;
    type Pacing = CwndOverSrtt;
    type Segmentation = AtOnce;
    type Validation = NotValidated;

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
    fn rtt_of_echo(now: Time, echo: u32) -> Option<Time> {
        let elapsed = (now.ms() as u32).saturating_sub(echo);
        Some(Time::from_ms(u64::from(elapsed)).max(Time(1_000)))
    }

    /// It takes the ECN bits of a type of service, 0, as a wish not to (against RFC 3168 section 5).
    #[inline]
    fn ecn(ect: Ecn, tos: u8) -> Ecn {
        if tos == 0 { ect } else { Ecn::NotEct }
    }
}
