//! What a socket asks of congestion control.

use std::fmt;

use super::rate::{RateConnection, RateSample};
use super::tcb::{CongState, Tcb};
use crate::base::seq::Seq;
use crate::base::time::Time;

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
    /// `IncreaseWindow`), and not at all under rate control.
    fn cong_avoid(&mut self, _tcb: &mut Tcb, _segments_acked: u32) {}

    /// An ACK has acknowledged `segments_acked` full segments.  `rtt` is the smoothed RTT, as ns-3 hands it over
    /// (Linux: the sample of this ACK); `tcb.last_rtt` is the last sample.
    fn pkts_acked(&mut self, _tcb: &mut Tcb, _segments_acked: u32, _rtt: Time) {}

    /// The state machine is about to enter `state`; `tcb.cong_state` is still the old one.
    fn set_state(&mut self, _tcb: &mut Tcb, _state: CongState) {}

    fn cwnd_event(&mut self, _tcb: &mut Tcb, _event: CaEvent) -> Option<EarlyAck> {
        None
    }
}

/// An algorithm that sets window and pacing rate itself, from delivery rate samples (Linux's and
/// ns-3's `cong_control`).
pub trait RateControl: CongestionControl {
    /// An ACK has arrived and has been accounted for.
    fn cong_control(&mut self, tcb: &mut Tcb, connection: &RateConnection, sample: &RateSample);
}

/// An algorithm, by who manages the window.
#[derive(Debug)]
pub enum Control {
    /// The socket: the algorithm says how far it grows and shrinks, loss recovery how it gets there.
    Window(Box<dyn CongestionControl>),
    /// The algorithm alone.
    Rate(Box<dyn RateControl>),
}

impl Control {
    pub fn rate(algorithm: impl RateControl + 'static) -> Control {
        Control::Rate(Box::new(algorithm))
    }

    /// What both kinds are asked.
    #[inline]
    pub fn algorithm(&mut self) -> &mut dyn CongestionControl {
        match self {
            Control::Window(algorithm) => &mut **algorithm,
            Control::Rate(algorithm) => &mut **algorithm,
        }
    }
}

/// Most algorithms control a window.
impl<C: CongestionControl + 'static> From<C> for Control {
    fn from(algorithm: C) -> Control {
        Control::Window(Box::new(algorithm))
    }
}
