//! DCTCP's (RFC 8257 section 3.2): ECE with each ACK of what was marked, so that the sender sees which share was.  The
//! handshake and CWR are RFC 3168's.

pub use super::classic::Classic as Dctcp;
use super::{Ect, Rules};
use crate::base::seq::Seq;
use crate::host::tcp::control::{CaEvent, EarlyAck};
use crate::host::tcp::tcb::{EcnState, Tcb};

pub const RULES: Rules = Rules { ect: Ect::Everything, ..Rules::CLASSIC };

/// The receiving half: which mark the next ACK stands for.  As in ns-3 and Linux it is the algorithm's, which calls it
/// with what it hears.
#[derive(Debug, Default)]
pub struct PreciseEcho {
    ce: bool,
    ack_is_delayed: bool,
    /// RCV.NXT when the last segment came in, before that segment was taken in.
    prior_rcv_nxt: Option<Seq>,
}

impl PreciseEcho {
    pub fn on_event(&mut self, tcb: &mut Tcb, event: CaEvent) -> Option<EarlyAck> {
        match event {
            CaEvent::EcnIsCe => {
                let early = self.on_segment(tcb, true);
                tcb.ecn_state = EcnState::CeRcvd;
                early
            }
            CaEvent::EcnNoCe => {
                let early = self.on_segment(tcb, false);
                if tcb.ecn_state.is_echoing() {
                    tcb.ecn_state = EcnState::Idle;
                }
                early
            }
            CaEvent::DelayedAck => {
                self.ack_is_delayed = true;
                None
            }
            CaEvent::NonDelayedAck => {
                self.ack_is_delayed = false;
                None
            }
            _ => None,
        }
    }

    /// RFC 8257 figure 1: a change of the mark sends what is still unacknowledged under the old one.
    fn on_segment(&mut self, tcb: &Tcb, ce: bool) -> Option<EarlyAck> {
        let prior = self.prior_rcv_nxt.replace(tcb.next_rx_seq);
        let changed = std::mem::replace(&mut self.ce, ce) != ce;
        let ack = prior.filter(|_| changed && self.ack_is_delayed)?;
        Some(EarlyAck { ack, ece: !ce })
    }
}
