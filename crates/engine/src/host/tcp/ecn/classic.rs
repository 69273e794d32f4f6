//! RFC 3168: the receiver says ECE from a mark until CWR; the sender reduces once a window, and says CWR.

use super::{Echo, EcnFeedback, Rules};
use crate::base::seq::Seq;
use crate::host::tcp::tcb::{CongState, EcnState, Tcb};
use crate::packet::Flags;

pub const RULES: Rules = Rules::CLASSIC;

/// The last sequence numbers of an echo received, and of a CWR sent.
#[derive(Debug, Default)]
pub struct Classic {
    echo: Seq,
    cwr: Seq,
}

impl EcnFeedback for Classic {
    /// RFC 3168 section 6.1.2: reduce the window once per window of data.
    fn on_ack(&mut self, tcb: &mut Tcb, echo: Echo<'_>) -> bool {
        let (ack, has_echo) = (echo.packet.ack, echo.packet.flags.has(Flags::ECE));
        if ack > echo.old_head && has_echo {
            if self.echo < ack {
                self.echo = ack;
                tcb.ecn_state = EcnState::EceRcvd;
                return tcb.cong_state != CongState::Cwr;
            }
        } else if tcb.ecn_state == EcnState::EceRcvd && !has_echo {
            tcb.ecn_state = EcnState::Idle;
        }
        false
    }

    /// RFC 3168 section 6.1.2: CWR on the first new segment after the window was reduced.
    #[inline]
    fn on_data_sent(&mut self, tcb: &mut Tcb, seq: Seq, is_retransmission: bool) -> Flags {
        if tcb.ecn_state == EcnState::EceRcvd && self.echo > self.cwr && !is_retransmission {
            tcb.ecn_state = EcnState::CwrSent;
            self.cwr = seq;
            return Flags::CWR;
        }
        Flags::default()
    }
}
