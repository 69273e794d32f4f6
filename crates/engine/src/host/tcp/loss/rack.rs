//! RACK-TLP (RFC 8985): a segment is lost if one that left later has been delivered, and a reordering window has passed
//! since; a probe two round trips after the last segment makes losses of a tail show.
//!
//! Section 6.2 is [`Rack::on_ack`], section 7 [`Probe`].  An episode that was spurious is undone by timestamps (Eifel, RFC
//! 3522 and 4015): the ACK echoes a segment that had left before the first retransmission.  After a timeout the same test
//! stands for F-RTO.
//!
//! Departures: receivers here send no DSACK, so that the reordering window stays a quarter of the minimum RTT (section 6.2.2
//! step 4), and a loss that a probe repairs goes without an answer (section 7.4.2).  Without SACK, losses are RFC 6582's.

use super::{Disorder, Feedback, Finding, Flight, LossDetection, Rfc6675};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::scoreboard::{Scoreboard, Segment};
use crate::host::tcp::tcb::{CongState, Tcb};

#[derive(Debug)]
pub struct Rack {
    without_sack: Rfc6675,
    /// DupThresh in bytes.
    threshold: u32,
    /// Of the segment that left last among those delivered: when it left, where it ends, and its round trip.
    newest: Option<(Time, Seq)>,
    rtt: Time,
    least_rtt: Time,
    /// The highest byte delivered, plus one; a segment below it that comes later, and was sent once, was reordered.
    highest: Seq,
    has_reordering: bool,
    /// An ACK has delivered something since losses were looked for.
    has_news: bool,
    /// When the next segment counts as lost, if it is not delivered.
    reordering_due: Option<Time>,
    probe: Probe,
    undo: Undo,
}

/// Tail loss probes.
#[derive(Debug, Default)]
struct Probe {
    due: Option<Time>,
    is_leaving: bool,
    /// What one of them was sent to have acknowledged: the next one waits for that.
    end: Option<Seq>,
    /// When the retransmission timer started last: a probe comes in its stead.
    timer_start: Time,
}

/// What tells whether an episode was for nothing.
#[derive(Debug, Default)]
struct Undo {
    /// When its first retransmission left.
    first: Option<Time>,
    /// SND.NXT: what leaves below was sent before.
    sent: Seq,
    head: Seq,
}

/// The longest that a receiver delays an ACK, for a probe of a single segment (section 7.2).
const LONGEST_DELAY_OF_ACK: Time = Time::from_ms(200);
/// A probe is not due before, so that the ACK may be late by a tick or two of a clock.
const TICKS: Time = Time::from_ms(2);

impl LossDetection for Rack {
    const HAS_TIMER: bool = true;
    const LEAVES_IN_FLIGHT: bool = true;

    fn new(config: &Config) -> Rack {
        Rack {
            without_sack: Rfc6675::new(config),
            threshold: config.dup_ack_threshold * config.segment_size,
            newest: None,
            rtt: Time::ZERO,
            least_rtt: Time::MAX,
            highest: Seq(0),
            has_reordering: false,
            has_news: false,
            reordering_due: None,
            probe: Probe::default(),
            undo: Undo::default(),
        }
    }

    fn on_sent(&mut self, flight: Flight<'_>, seq: Seq, len: u32) {
        let is_new = seq >= self.undo.sent;
        self.undo.sent = self.undo.sent.max(seq + len);
        if self.probe.is_leaving {
            self.probe.is_leaving = false;
            self.probe.end = Some(flight.tcb.high_tx_mark);
        } else if is_new {
            if flight.scoreboard.sent_size() == len {
                self.probe.timer_start = flight.tcb.now;
            }
            self.schedule_probe(&flight);
        } else if self.undo.first.is_none() && is_in_episode(flight.tcb) {
            self.undo.first = Some(flight.tcb.now);
        }
    }

    /// Section 6.2, steps 2 and 3.
    fn on_delivered(&mut self, now: Time, segment: &Segment) {
        if !segment.counts {
            return; // it has been counted when it was SACKed
        }
        let rtt = now - segment.last_sent;
        if segment.is_repeated && rtt < self.least_rtt {
            return; // the original has come, most likely
        }
        if !segment.is_repeated {
            self.least_rtt = self.least_rtt.min(rtt);
            self.has_reordering |= segment.end() < self.highest;
        }
        self.highest = self.highest.max(segment.end());
        self.has_news = true;
        if self.newest.is_none_or(|newest| newest <= (segment.last_sent, segment.end())) {
            self.newest = Some((segment.last_sent, segment.end()));
            self.rtt = rtt;
        }
    }

    fn on_ack(&mut self, flight: Flight<'_>) -> Finding {
        let head = flight.scoreboard.head();
        let has_advanced = head > std::mem::replace(&mut self.undo.head, head);
        if has_advanced {
            self.probe.timer_start = flight.tcb.now;
        }
        if self.probe.end.is_some_and(|end| head >= end) {
            self.probe.end = None;
        }
        if has_advanced && self.is_spurious(flight.tcb) {
            self.undo.first = None;
            self.reordering_due = None;
            return Finding::Spurious;
        }
        if !is_in_episode(flight.tcb) {
            self.undo.first = None;
        }
        if flight.feedback == Feedback::DuplicateAcks {
            return Finding::Nothing;
        }
        if !std::mem::take(&mut self.has_news) {
            return Finding::Nothing;
        }
        self.schedule_probe(&flight);
        self.look_for_losses(flight.tcb, flight.scoreboard)
    }

    fn deadline(&self) -> Option<Time> {
        match (self.reordering_due, self.probe.due) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    fn on_timer(&mut self, flight: Flight<'_>) -> Finding {
        let now = flight.tcb.now;
        if self.reordering_due.is_some_and(|due| due <= now) {
            return self.look_for_losses(flight.tcb, flight.scoreboard);
        }
        self.probe.due = None;
        if self.may_probe(&flight) {
            self.probe.is_leaving = true;
            return Finding::Probe;
        }
        Finding::Nothing
    }

    fn on_sacked(&mut self, _flight: Flight<'_>) {}

    fn on_duplicate(&mut self, flight: Flight<'_>) {
        self.without_sack.on_duplicate(flight);
    }

    fn begins_recovery(&mut self, flight: Flight<'_>, disorder: Disorder) -> bool {
        flight.feedback == Feedback::DuplicateAcks
            && self.without_sack.begins_recovery(flight, disorder)
    }

    fn on_recovery(&mut self, flight: Flight<'_>) {
        self.probe.due = None;
        if flight.feedback == Feedback::DuplicateAcks {
            self.without_sack.on_recovery(flight);
        }
    }

    fn on_partial_ack(&mut self, flight: Flight<'_>) {
        self.without_sack.on_partial_ack(flight);
    }

    /// Section 6.3: the first segment is lost, and those whose time is over.
    fn on_timeout(&mut self, flight: Flight<'_>) {
        self.probe = Probe::default();
        self.reordering_due = None;
        if flight.feedback == Feedback::DuplicateAcks {
            return self.without_sack.on_timeout(flight);
        }
        let window = self.rtt + self.reordering_window(flight.tcb, flight.scoreboard);
        let now = flight.tcb.now;
        let mut is_first = true;
        flight.scoreboard.mark_lost_while(|segment| {
            Some(std::mem::take(&mut is_first) || segment.last_sent + window <= now)
        });
    }
}

impl Rack {
    /// Section 6.2, step 5.
    fn look_for_losses(&mut self, tcb: &Tcb, scoreboard: &mut Scoreboard) -> Finding {
        self.reordering_due = None;
        let Some(newest) = self.newest else { return Finding::Nothing };
        let window = self.rtt + self.reordering_window(tcb, scoreboard);
        let before = scoreboard.found_lost();
        let mut due: Option<Time> = None;
        scoreboard.mark_lost_while(|segment| {
            if (segment.last_sent, segment.end()) > newest {
                return segment.is_repeated.then_some(false);
            }
            let is_over = segment.last_sent + window;
            if is_over <= tcb.now {
                return Some(true);
            }
            due = due.max(Some(is_over));
            Some(false)
        });
        self.reordering_due = due;
        if scoreboard.found_lost() > before { Finding::Lost } else { Finding::Nothing }
    }

    /// Section 6.2, step 4.
    fn reordering_window(&self, tcb: &Tcb, scoreboard: &Scoreboard) -> Time {
        let has_many = scoreboard.sacked_out() >= self.threshold;
        if !self.has_reordering && (is_in_episode(tcb) || has_many) || self.least_rtt == Time::MAX {
            return Time::ZERO;
        }
        Time(self.least_rtt.0 / 4).min(tcb.srtt)
    }

    fn is_spurious(&self, tcb: &Tcb) -> bool {
        let echo = u64::from(tcb.rcv_timestamp_echo);
        is_in_episode(tcb) && echo > 0 && self.undo.first.is_some_and(|first| echo < first.ms())
    }

    /// Section 7.2.
    fn schedule_probe(&mut self, flight: &Flight<'_>) {
        let Flight { tcb, scoreboard, rto, .. } = flight;
        self.probe.due = None;
        if !self.may_probe(flight) || tcb.srtt.is_zero() {
            return;
        }
        let is_alone = scoreboard.sent_size() <= tcb.segment_size;
        let more = if is_alone { LONGEST_DELAY_OF_ACK } else { TICKS };
        let timeout = self.probe.timer_start + *rto;
        let due = (tcb.now + tcb.srtt + tcb.srtt + more).min(timeout - Time(1));
        self.probe.due = Some(due).filter(|due| *due > tcb.now);
    }

    fn may_probe(&self, flight: &Flight<'_>) -> bool {
        let Flight { tcb, scoreboard, feedback, .. } = flight;
        *feedback == Feedback::Sack
            && self.probe.end.is_none()
            && !is_in_episode(tcb)
            && scoreboard.sent_size() > 0
            && scoreboard.is_unmarked()
    }
}

fn is_in_episode(tcb: &Tcb) -> bool {
    matches!(tcb.cong_state, CongState::Recovery | CongState::Loss)
}
