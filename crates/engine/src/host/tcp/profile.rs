//! Profiles: the parts that a TCP is made of, and what it does where standards leave it a choice, or where it
//! does not do what they say.  A scenario names one (`tcp.Profile`); a socket is generic over it, so that what a
//! profile says costs nothing.  One profile is one file, and one line in the registry below.
//!
//! Habits of ns-3 that are structure rather than rules are named where they happen: duplicate ACKs in
//! CWR start no fast retransmit (`socket/ack.rs`), rate samples keep fields of the one before (`rate.rs`),
//! the highest SACKed byte moves down (`scoreboard.rs`).  `timelines/` shows what they come to.

pub mod changes;

use std::fmt;

use super::acks::AckPolicy;
use super::config::Config;
use super::control::TcpStack;
use super::loss::LossDetection;
use super::pacing::Pacing;
use super::rtt::RttEstimation;
use super::segmentation::Segmentation;
use super::tcb::Tcb;
use super::validation::WindowValidation;
use crate::base::time::Time;
use crate::packet::Ecn;

/// SYNs, or SYN-ACKs, of one opening: how many were sent, and how many of them timed out.
#[derive(Clone, Copy, Debug, Default)]
pub struct SynAttempts {
    pub sent: u16,
    pub timeouts: u16,
}

pub trait Profile: fmt::Debug + Send + 'static {
    /// Which segments count as lost, and when.
    type Loss: LossDetection;
    type Rtt: RttEstimation;
    /// When a receiver acknowledges.
    type Acks: AckPolicy;
    type Pacing: Pacing;
    /// Whether new data waits for more of it.
    type Segmentation: Segmentation;

    /// What becomes of a window that is not used.
    type Validation: WindowValidation;

    /// The RTT estimate before the first sample.
    const INITIAL_RTT: Time;

    /// Bound of the retransmission timeout (RFC 6298 section 2.5) and of the time between two probes of
    /// a closed window.
    const LONGEST_TIMEOUT: Time;

    /// Whether a SYN that is lost is sent again without asking for ECN, and a SYN-ACK without agreeing to it (RFC 3168
    /// section 6.1.1.1, RFC 9768 section 3.1.4.1; Linux's `tcp_ecn_fallback`).
    const ECN_FALLS_BACK: bool = false;

    /// From a write to the sending of what was written.
    const WRITE_DELAY: Time;

    /// Whether a timeout sets ssthresh also if the segment has been sent again by a timeout before
    /// (against RFC 5681 section 3.1).
    const EVERY_TIMEOUT_SETS_SSTHRESH: bool;

    /// Whether a partial ACK sends a segment whatever the window says (against RFC 6675 section 5, step
    /// C).
    const PARTIAL_ACK_SENDS: bool;

    /// Whether recovery may send again what is not known to be lost, when there is nothing else (RFC 6675 section 4, rule 3 of
    /// NextSeg).
    const RESENDS_WHAT_MAY_COME: bool = true;

    /// Whether each option of a header is padded to whole words, and a SYN says the largest segment, or the options are
    /// padded together.
    const ALIGNS_OPTIONS: bool = false;

    /// Whether each ACK is one step of loss recovery, however many things it says, and what is sent first in an episode is
    /// what is lost.
    const STEPS_ONCE_AN_ACK: bool = false;

    /// Whether cwnd and what is in flight count segments, however short, and not bytes.
    const COUNTS_SEGMENTS: bool = false;

    /// Whether proportional rate reduction takes a share of cwnd (Linux's `prior_cwnd`), and not of RecoverFS (RFC 9937 section
    /// 6.1).
    const REDUCES_SHARE_OF_WINDOW: bool = false;

    /// Whether what is older than the largest timestamp heard may still bring the one to echo, and is heard itself (RFC 7323
    /// section 4.3): paths reorder.
    const HEARS_LATE_TIMESTAMPS: bool = false;

    /// Whether CWR ends the echo of marks of which no ACK has told yet, and is acknowledged soon, as are a first mark and what
    /// is sent again without ECT.
    const CWR_ENDS_ECHO: bool = false;

    /// Whether the acknowledgement of a FIN without data is heard that comes before this end closes (RFC 9293 section 3.10.7.4).
    const HEARS_ACK_OF_FIN: bool = false;

    /// Whether CWR tells of each reduction, of those for losses, too (RFC 3168 section 6.1.2), and there is one in a window of
    /// data: an echo in Recovery or Loss asks for nothing, a loss in CWR for repair alone.  What an echo has reduced is not undone.
    const CWR_TELLS_OF_LOSSES: bool = false;

    /// Whether each partial ACK restarts the retransmission timer, or the first alone (RFC 6582 section 4).
    const PARTIAL_ACKS_RESTART_RTO: bool = false;

    const STACK: TcpStack = TcpStack::Ns3;

    /// What congestion control is told of round trips with an ACK.
    #[inline(always)]
    fn told_rtt(tcb: &Tcb) -> Time {
        tcb.srtt
    }

    /// The slow start of this congestion control, where it is not the one that it brings.
    fn slow_start(_cc: &str) -> Option<&'static str> {
        None
    }

    /// Bytes of data that a send buffer holds.
    fn room_to_send(config: &Config) -> u32 {
        config.send_buffer
    }

    /// What the next SYN is waited for, or the next SYN-ACK: twice as long with each (RFC 6298 section 5.5).  None if no more
    /// are sent.
    fn syn_timeout(config: &Config, attempts: SynAttempts, _is_answer: bool) -> Option<Time> {
        let sent = u32::from(attempts.sent);
        (sent < config.connect_count).then(|| Time(config.connect_timeout.0 << sent))
    }

    /// The largest window that a receive buffer offers.
    fn largest_window(config: &Config) -> u32 {
        config.receive_buffer
    }

    /// When a timer ends that is set `now` for so long.
    #[inline(always)]
    fn timer_end(now: Time, wait: Time) -> Time {
        now + wait
    }

    /// The round trip of a timestamp that comes back (RFC 7323 section 4.1); none where the time since the segment left
    /// is the sample.
    fn rtt_of_echo(now: Time, echo: u32) -> Option<Time>;

    /// The ECN bits of a segment that may be ECT; `tos`: the socket's type of service.
    fn ecn(ect: Ecn, tos: u8) -> Ecn;
}

/// Makes something for a profile that is known by name only.
pub trait ForProfile {
    type Made;

    fn make<P: Profile>(self) -> Self::Made;
}

/// Declares the modules of all profiles, and what chooses among them.  A profile has one name, or one for each of
/// the releases that differ in what [`changes`] lists.
macro_rules! registry {
    ($($module:ident::$profile:ident: $($release:literal),*;)*) => {
        $(pub mod $module;
        pub use $module::$profile;)*

        /// Every profile, the default first.
        pub const NAMES: &[&str] = &[$($($release,)*)*];

        /// For the profile of this name.
        pub fn choose<F: ForProfile>(name: &str, what: F) -> Option<F::Made> {
            match name {
                $($($release)|* => Some(what.make::<$profile>()),)*
                _ => None,
            }
        }
    };
}

registry! {
    ns3::Ns3: "ns3-3.44", "ns3-3.48", "ns3-dev";
    linux::Linux: "linux";
}

/// What the algorithms and parts that profiles share have changed since ns-3 3.44.
pub fn changes(name: &str) -> changes::Changes {
    if name == linux::NAME { linux::CHANGES } else { ns3::changes(name) }
}

/// The profile of a scenario that names none.
pub const DEFAULT: &str = NAMES[0];
