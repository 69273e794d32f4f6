//! Tail loss probes (RFC 8985 section 7): two round trips after the last segment, something that makes the peer say what has
//! come.

use super::{Feedback, Flight, in_us, is_in_episode};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::tcb::CongState;
use crate::host::tcp::ticks::{Due, WheelTimer};
use crate::packet::SackBlock;

/// The longest that a receiver delays an ACK, for a probe of a single segment (section 7.2).
const LONGEST_DELAY_OF_ACK: Time = Time::from_ms(200);
/// As long as no round trip has been measured (section 7.2).
const WITHOUT_SAMPLE: Time = Time::from_ms(1000);
/// A probe is not due before, so that the ACK may be late by a tick or two of a clock.
const TICKS: Time = Time::from_ms(2);

#[derive(Debug, Default)]
pub struct TailProbe {
    pub due: Option<Due>,
    pub is_leaving: bool,
    /// The last one that was sent and whose outcome is open: no other leaves before.
    open: Option<Open>,
}

/// A probe comes before the retransmission timeout: one that starts now, or has started with the first segment.
#[derive(Clone, Copy, Debug)]
pub enum ProbeBound {
    Whole,
    Rest,
}

/// A probe on its way.
#[derive(Debug)]
struct Open {
    /// SND.NXT when it left.
    end: Seq,
    /// It was the last segment again.
    is_repetition: bool,
    /// The original has come, too.
    is_duplicate: bool,
}

impl TailProbe {
    /// A segment has left that was a probe, or one of it.
    pub fn on_sent(&mut self, end: Seq, is_new: bool) {
        self.open = Some(Open { end, is_repetition: !is_new, is_duplicate: false });
    }

    /// Returns whether the block is what the probe repeated.
    pub fn on_duplicate_delivery(&mut self, block: SackBlock) -> bool {
        let Some(open) = self.open.as_mut().filter(|open| open.end == block.1) else {
            return false;
        };
        open.is_duplicate = true;
        true
    }

    /// The one whose outcome is open was the last segment again.
    pub fn repeats(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.is_repetition)
    }

    /// Section 7.4.2: an ACK has come.  Returns whether the probe has repaired a loss.
    pub fn on_ack(&mut self, head: Seq) -> bool {
        let Some(open) = self.open.as_ref().filter(|open| head >= open.end) else { return false };
        let is_settled = !open.is_repetition || open.is_duplicate;
        let is_beyond = head > open.end;
        if is_settled || is_beyond {
            self.open = None;
        }
        is_beyond && !is_settled
    }

    /// An episode begins.
    pub fn forget(&mut self) {
        self.due = None;
        self.open = None;
    }

    /// Section 7.2: an ACK has come, or something new has left.  Returns whether one is due.
    pub fn schedule(&mut self, flight: &Flight<'_>, timer: &WheelTimer, bound: ProbeBound) -> bool {
        let Flight { tcb, scoreboard, rto, .. } = flight;
        self.due = None;
        // Where an ACK ends the episode, one is due for what it leaves behind.
        let is_open = tcb.cong_state == CongState::Cwr
            || !flight.is_within_episode() && scoreboard.is_unmarked();
        let has_data = flight.feedback == Feedback::Sack && scoreboard.sent_size() > 0;
        if !is_open || !has_data {
            return false;
        }
        let is_alone = scoreboard.outstanding() <= tcb.segment_size;
        let more = if is_alone { LONGEST_DELAY_OF_ACK } else { TICKS };
        let round_trips = in_us(tcb.srtt + tcb.srtt) + more;
        let wait = if tcb.srtt.is_zero() { WITHOUT_SAMPLE } else { round_trips };
        let left = match bound {
            ProbeBound::Whole => Some(*rto),
            ProbeBound::Rest => {
                let end = scoreboard.oldest_departure().map(|left| left + *rto);
                end.filter(|end| *end > tcb.now).map(|end| end - tcb.now)
            }
        };
        let wait = left.map_or(wait, |left| wait.min(left));
        self.due = Some(timer.due(tcb.now, wait));
        true
    }

    /// Section 7.3: one at a time.
    pub fn may_leave(&self, flight: &Flight<'_>) -> bool {
        let Flight { tcb, scoreboard, .. } = flight;
        self.open.is_none() && !is_in_episode(tcb) && scoreboard.sent_size() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A probe that left up to 5000, of the last segment or of new data, has been sent.
    fn sent(is_new: bool) -> TailProbe {
        let mut probe = TailProbe { is_leaving: true, ..TailProbe::default() };
        probe.on_sent(Seq(5000), is_new);
        probe
    }

    #[test]
    fn new_data_is_settled_as_soon_as_it_is_acknowledged() {
        let mut probe = sent(true);
        assert!(!probe.repeats() && !probe.on_ack(Seq(4000)) && probe.open.is_some());
        assert!(!probe.on_ack(Seq(5000)) && probe.open.is_none());
    }

    #[test]
    fn a_repetition_is_open_until_something_beyond_it_is_acknowledged_and_has_repaired_once() {
        let mut probe = sent(false);
        assert!(probe.repeats() && !probe.on_ack(Seq(5000)) && probe.open.is_some());
        assert!(probe.on_ack(Seq(6000)));
        assert!(!probe.repeats() && !probe.on_ack(Seq(7000)), "another ACK says nothing more");
    }

    #[test]
    fn a_repetition_that_came_twice_is_settled_and_repairs_nothing() {
        let mut probe = sent(false);
        assert!(!probe.on_duplicate_delivery((Seq(3000), Seq(4000))), "that was another one");
        assert!(probe.on_duplicate_delivery((Seq(4000), Seq(5000))));
        assert!(!probe.on_ack(Seq(5000)) && probe.open.is_none());
    }
}
