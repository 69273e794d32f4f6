//! Whether an episode was for nothing: an ACK echoes what had left before anything was sent again (Eifel, RFC 3522), or the
//! peer has received twice all that was sent again (RFC 3708).

use super::is_in_episode;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::scoreboard::Scoreboard;
use crate::host::tcp::tcb::{CongState, Tcb};
use crate::packet::SackBlock;

/// Of the last episode, and of what it found on its way.
#[derive(Debug, Default)]
pub struct Undo {
    /// SND.UNA when it began.
    begun: Seq,
    /// When its first retransmission left.
    first: Option<Time>,
    /// So many of its retransmissions have not come twice.  None before the first, and when there is nothing left to undo.
    single: Option<u32>,
}

impl Undo {
    /// What was sent again before and is still on its way belongs to the episode that begins.
    pub fn begin(&mut self, segment_size: u32, scoreboard: &Scoreboard) {
        let on_their_way = scoreboard.retrans_out().div_ceil(segment_size);
        self.begun = scoreboard.head();
        self.single = (on_their_way > 0).then_some(on_their_way);
        self.first = self.first.filter(|_| on_their_way > 0);
    }

    pub fn on_retransmitted(&mut self, now: Time) {
        self.first.get_or_insert(now);
        self.single = Some(self.single.unwrap_or(0) + 1);
    }

    pub fn on_duplicate_delivery(&mut self, segment_size: u32, block: SackBlock) {
        if let Some(single) = &mut self.single
            && block.1 > self.begun
        {
            *single = single.saturating_sub(segments_in(block, segment_size));
        }
    }

    /// Asked after each ACK.
    pub fn is_due(&self, tcb: &Tcb, has_advanced: bool) -> bool {
        (has_advanced && self.is_original_echoed(tcb))
            || (self.single == Some(0) && (has_advanced || tcb.cong_state != CongState::Loss))
    }

    pub fn settle(&mut self) {
        self.single = None;
    }

    fn is_original_echoed(&self, tcb: &Tcb) -> bool {
        let echo = u64::from(tcb.rcv_timestamp_echo);
        is_in_episode(tcb) && echo > 0 && self.first.is_some_and(|first| echo < first.ms())
    }
}

fn segments_in(block: SackBlock, segment_size: u32) -> u32 {
    ((block.1 - block.0).max(0) as u32).div_ceil(segment_size)
}
