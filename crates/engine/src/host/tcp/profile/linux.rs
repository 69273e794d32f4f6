//! Linux's TCP, as a list of parts: RACK-TLP, proportional rate reduction, the windowed deviation of round trips, quick
//! ACKs, and slow start by segments acknowledged.
//!
//! What a scenario sets beside it (initial window, least timeout, buffers) is in the preset `linux` of
//! `python/ccperf/scenario/profiles.py`.  `docs/linux-profile.md` says how far it agrees with a kernel, and what it leaves out.

use super::changes::{Change, Changes};
use super::{Profile, SynAttempts};
use crate::base::time::Time;
use crate::host::tcp::acks::Quick;
use crate::host::tcp::config::Config;
use crate::host::tcp::control::TcpStack;
use crate::host::tcp::loss::Rack;
use crate::host::tcp::memory;
use crate::host::tcp::pacing::DepartureTime;
use crate::host::tcp::rtt::Windowed;
use crate::host::tcp::segmentation::Deferral;
use crate::host::tcp::tcb::Tcb;
use crate::host::tcp::ticks::timer_end;
use crate::host::tcp::validation::LinuxValidation;
use crate::packet::Ecn;

pub const NAME: &str = "linux";

/// Linux's `tcp_syn_linear_timeouts`.
const EQUAL_SYN_TIMEOUTS: u32 = 4;

/// Of the parts that it shares with ns-3, the corrected ones.
pub const CHANGES: Changes = Changes::NONE
    .with(Change::BbrAppLimited)
    .with(Change::CwrEvents)
    .with(Change::PrrArithmetic)
    .with(Change::PrrDelivered)
    .with(Change::SackedRetransmissions);

#[derive(Debug)]
pub struct Linux;

impl Profile for Linux {
    type Loss = Rack;
    type Rtt = Windowed;
    type Acks = Quick;
    type Pacing = DepartureTime;
    type Segmentation = Deferral;
    type Validation = LinuxValidation;

    const INITIAL_RTT: Time = Time::from_secs(1);
    const LONGEST_TIMEOUT: Time = Time::from_secs(120);
    const ECN_FALLS_BACK: bool = true;
    const WRITE_DELAY: Time = Time(0);
    const EVERY_TIMEOUT_SETS_SSTHRESH: bool = false;
    const PARTIAL_ACK_SENDS: bool = false;
    const RESENDS_WHAT_MAY_COME: bool = false;
    const STEPS_ONCE_AN_ACK: bool = true;
    const COUNTS_SEGMENTS: bool = true;
    const REDUCES_SHARE_OF_WINDOW: bool = true;
    const ALIGNS_OPTIONS: bool = true;
    const PARTIAL_ACKS_RESTART_RTO: bool = true;
    const HEARS_LATE_TIMESTAMPS: bool = true;
    const HEARS_ACK_OF_FIN: bool = true;
    const CWR_ENDS_ECHO: bool = true;
    const CWR_TELLS_OF_LOSSES: bool = true;
    const STACK: TcpStack = TcpStack::Linux;

    /// The sample, not its mean.
    #[inline(always)]
    fn told_rtt(tcb: &Tcb) -> Time {
        tcb.last_rtt
    }

    fn slow_start(cc: &str) -> Option<&'static str> {
        match cc {
            "TcpCubic" => Some("HyStartLinux"),
            "TcpNewReno" | "TcpLinuxReno" | "TcpDctcp" => Some("Counted"),
            _ => None,
        }
    }

    /// In whole milliseconds, the unit of its timestamps, of which it takes one at least.
    fn rtt_of_echo(now: Time, echo: u32) -> Option<Time> {
        let elapsed = (now.ms() as u32).wrapping_sub(echo);
        Some(Time::from_ms(u64::from(elapsed.max(1))))
    }

    /// The segmentation knows: how much it is depends on how it is cut.
    fn room_to_send(_config: &Config) -> u32 {
        1 << 30
    }

    /// By timeouts, for a SYN that comes again is answered whenever it does.  Of a SYN the first ones are equal; those that double
    /// are as many as are asked for (`tcp_syn_retries`).
    fn syn_timeout(config: &Config, attempts: SynAttempts, is_answer: bool) -> Option<Time> {
        let equal = if is_answer { 0 } else { EQUAL_SYN_TIMEOUTS };
        let most = config.connect_count.saturating_add(if is_answer { 0 } else { 1 + equal });
        let timeouts = u32::from(attempts.timeouts);
        let doublings = timeouts.saturating_sub(equal).min(u64::BITS);
        let timeout = u128::from(config.connect_timeout.0) << doublings;
        let bound = u128::from(Self::LONGEST_TIMEOUT.0);
        (timeouts < most).then(|| Time(timeout.min(bound) as u64))
    }

    fn largest_window(config: &Config) -> u32 {
        memory::largest_window(config)
    }

    #[inline(always)]
    fn timer_end(now: Time, wait: Time) -> Time {
        timer_end(now, wait)
    }

    fn ecn(ect: Ecn, _tos: u8) -> Ecn {
        ect
    }
}
