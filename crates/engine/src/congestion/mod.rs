//! Congestion control algorithms: one file each, one line in the registry below each.

#[cfg(test)]
mod driver;
mod hystart;
mod max_filter;
#[cfg(test)]
mod properties;

use std::fmt;

use crate::attributes::{Attributes, Spec};
use crate::seq::Seq;
use crate::tcp::rate::{RateConnection, RateSample};
use crate::tcp::{CongState, Tcb};
use crate::time::Time;

/// What the socket tells an algorithm besides acknowledgements (Linux's `enum tcp_ca_event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaEvent {
    /// First transmission when nothing was in flight.
    TxStart,
    /// A CWR episode has ended.
    CompleteCwr,
    /// The retransmission timer has fired.
    Loss,
    /// A segment arrived with ECT set and no CE mark.
    EcnNoCe,
    /// A segment arrived with a CE mark.
    EcnIsCe,
    /// An acknowledgement was delayed.
    DelayedAck,
    /// An acknowledgement was sent at once.
    NonDelayedAck,
}

/// An acknowledgement that the socket must send before it goes on (RFC 8257 section 3.2: the
/// receiver acknowledges at once what came before the CE state changed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyAck {
    pub ack: Seq,
    pub ece: bool,
}

/// A congestion control algorithm: what happened goes in, window and pacing rate come out through
/// the [`Tcb`].  No clock and no socket of its own; `tcb.now` is the time of the call.
///
/// The calls, and the order in which they come, are those of Linux's `struct tcp_congestion_ops`
/// and of ns-3's `TcpCongestionOps`.
pub trait CongestionControl: fmt::Debug + Send {
    /// The connection opens, at `tcb.now`: its sender is about to send the SYN, its receiver has just
    /// accepted one.  Called before anything else; on a receiver once more if the connection is given
    /// up before it is complete and the port takes another one.
    fn init(&mut self, _tcb: &mut Tcb) {}

    /// The new slow start threshold in bytes; called on entering Recovery, CWR or Loss.
    fn ssthresh(&mut self, tcb: &Tcb, bytes_in_flight: u32) -> u32;

    /// Grow the window; called for each ACK that acknowledges new data in Open and Loss (ns-3's
    /// `IncreaseWindow`).
    fn cong_avoid(&mut self, _tcb: &mut Tcb, _segments_acked: u32) {}

    /// An ACK has acknowledged `segments_acked` full segments.
    fn pkts_acked(&mut self, _tcb: &mut Tcb, _segments_acked: u32, _rtt: Time) {}

    /// The state machine is about to enter `state`; `tcb.cong_state` is still the old one.
    fn set_state(&mut self, _tcb: &mut Tcb, _state: CongState) {}

    fn cwnd_event(&mut self, _tcb: &mut Tcb, _event: CaEvent) -> Option<EarlyAck> {
        None
    }

    /// True if the algorithm sets cwnd and pacing rate itself on every ACK, in
    /// [`Self::cong_control`], and wants no window management from the socket.
    fn has_cong_control(&self) -> bool {
        false
    }

    fn cong_control(&mut self, _tcb: &mut Tcb, _rc: &RateConnection, _rs: &RateSample) {}
}

/// What an algorithm may read while it is built.
#[derive(Debug)]
pub struct BuildContext<'a> {
    pub attributes: Attributes<'a>,
    /// The run's seed, for algorithms that draw random numbers.
    pub seed: u64,
}

/// Declares the modules of all algorithms and the table that everything else reads.
macro_rules! registry {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every algorithm, in the order in which they are listed to users.
        pub const SPECS: &[&Spec] = &[$(&$module::SPEC,)*];

        /// The algorithm with this ns-3 name.
        pub fn build(ns3: &str, cx: &BuildContext<'_>) -> Option<Box<dyn CongestionControl>> {
            $(if ns3 == $module::SPEC.ns3 {
                return Some(Box::new($module::new(cx)));
            })*
            None
        }
    };
}

registry! {
    new_reno,
    linux_reno,
    cubic,
    dctcp,
    vegas,
    bbr,
    veno,
    westwood,
    htcp,
    hybla,
    highspeed,
    illinois,
    scalable,
    yeah,
    bic,
    ledbat,
    lp,
}
