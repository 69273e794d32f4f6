//! RACK-TLP (RFC 8985): a segment is lost if one that left later has been delivered, and a reordering window has passed
//! since; a probe two round trips after the last segment makes losses of a tail show.
//!
//! Section 6.2 is [`Rack::on_ack`], its step 4 [`ReorderingWindow`], section 7 [`TailProbe`].  [`Undo`] and, after a timeout,
//! [`ForwardRecovery`] tell of an episode that was spurious.  Without SACK, losses are RFC 6582's.

use super::forward::{ForwardRecovery, Verdict};
use super::reordering_window::ReorderingWindow;
use super::tail_probe::{ProbeBound, TailProbe};
use super::undo::Undo;
use super::{Disorder, Feedback, Finding, Flight, LossDetection, Rfc6675, Timeout, is_in_episode};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::scoreboard::{Scoreboard, Segment};
use crate::host::tcp::tcb::{CongState, Tcb};
use crate::host::tcp::ticks::timer_end;
use crate::packet::SackBlock;

/// The reordering timer waits for so much more.
const LEAST_TIMER: Time = Time::from_ms(2);

#[derive(Debug)]
pub struct Rack {
    without_sack: Rfc6675,
    /// Of the segment that left last among those delivered: when it left, and where it ends.
    newest: Option<(Time, Seq)>,
    /// Of the segment that was taken last: by their numbers those that are SACKed, then those acknowledged in order.
    rtt: Time,
    latest: Option<(Seq, Time)>,
    window: ReorderingWindow,
    /// An ACK has delivered something since losses were looked for.
    has_news: bool,
    /// When the next segment counts as lost, if it is not delivered.
    reordering_due: Option<Time>,
    probe: TailProbe,
    undo: Undo,
    forward: ForwardRecovery,
    /// SND.NXT: what leaves below was sent before.
    sent: Seq,
    head: Seq,
}

impl LossDetection for Rack {
    const HAS_TIMER: bool = true;
    const LEAVES_IN_FLIGHT: bool = true;
    const REPLACES_RTO: bool = true;
    const FORWARDS: bool = true;
    const HEEDS_DUPLICATES: bool = true;

    fn new(config: &Config) -> Rack {
        Rack {
            without_sack: Rfc6675::new(config),
            newest: None,
            rtt: Time::ZERO,
            latest: None,
            window: ReorderingWindow::new(config),
            has_news: false,
            reordering_due: None,
            probe: TailProbe::default(),
            undo: Undo::default(),
            forward: ForwardRecovery::default(),
            sent: Seq(0),
            head: Seq(0),
        }
    }

    fn on_sent(&mut self, flight: Flight<'_>, seq: Seq, len: u32) {
        let is_new = seq >= self.sent;
        self.sent = self.sent.max(seq + len);
        if self.probe.is_leaving {
            self.probe.on_sent(flight.tcb.high_tx_mark, is_new);
        } else if is_new {
            if self.probe.schedule(&flight, ProbeBound::Rest) {
                self.reordering_due = None;
            }
        } else if is_in_episode(flight.tcb) {
            self.undo.on_retransmitted(flight.tcb.now);
        }
    }

    /// Section 6.2, steps 2 and 3.
    fn on_delivered(&mut self, now: Time, segment: &Segment) {
        if !segment.counts {
            return; // it has been counted when it was SACKed
        }
        self.forward.on_delivered(segment);
        let rtt = now - segment.last_sent;
        if !self.window.on_delivered(segment, rtt) {
            return;
        }
        self.has_news = true;
        if self.latest.is_none_or(|(latest, _)| latest <= segment.start) {
            self.latest = Some((segment.start, rtt));
        }
        if self.newest.is_none_or(|newest| newest <= (segment.last_sent, segment.end())) {
            self.newest = Some((segment.last_sent, segment.end()));
        }
    }

    fn on_duplicate_delivery(&mut self, segment_size: u32, block: SackBlock) {
        self.undo.on_duplicate_delivery(segment_size, block);
        if !self.probe.on_duplicate_delivery(block) {
            self.window.on_duplicate_delivery();
        }
    }

    fn on_ack(&mut self, flight: Flight<'_>) -> Finding {
        self.take_latest();
        let head = flight.scoreboard.head();
        let has_advanced = head > std::mem::replace(&mut self.head, head);
        let is_repaired = self.probe.on_ack(head);
        self.window.on_ack(&flight, self.sent);
        let verdict = self.forward.on_ack(&flight, self.sent, has_advanced);
        if self.undo.is_due(flight.tcb, has_advanced) || verdict == Verdict::Spurious {
            if flight.tcb.cong_state == CongState::Recovery {
                self.window.on_late_original();
            }
            self.undo.settle();
            self.forward.give_up();
            return Finding::Spurious;
        }
        match self.look_again(flight) {
            Finding::Nothing if is_repaired => Finding::Repaired,
            _ if verdict == Verdict::Unsure => Finding::Forward,
            lost => lost,
        }
    }

    fn deadline(&self) -> Option<Time> {
        match (self.reordering_due, self.probe.due) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    fn on_timer(&mut self, flight: Flight<'_>) -> Finding {
        let now = flight.tcb.now;
        if self.reordering_due.take_if(|due| *due <= now).is_some() {
            return self.look_for_losses(flight.tcb, flight.scoreboard).0;
        }
        self.probe.due = None;
        if self.probe.may_leave(&flight) {
            self.probe.is_leaving = true;
            return Finding::Probe;
        }
        Finding::Nothing
    }

    fn on_sacked(&mut self, _flight: Flight<'_>) {
        self.take_latest();
        self.forward.on_sacked();
    }

    fn on_duplicate(&mut self, flight: Flight<'_>) {
        self.without_sack.on_duplicate(flight);
    }

    fn begins_recovery(&mut self, flight: Flight<'_>, disorder: Disorder) -> bool {
        flight.feedback == Feedback::DuplicateAcks
            && self.without_sack.begins_recovery(flight, disorder)
    }

    fn on_recovery(&mut self, flight: Flight<'_>) {
        self.probe.forget();
        self.undo.begin(flight.tcb.segment_size, flight.scoreboard);
        if flight.feedback == Feedback::DuplicateAcks {
            self.without_sack.on_recovery(flight);
        }
    }

    fn on_partial_ack(&mut self, flight: Flight<'_>) {
        self.without_sack.on_partial_ack(flight);
    }

    /// Section 6.3: the first segment is lost, and those whose time is over.
    fn on_timeout(&mut self, flight: Flight<'_>, timeout: Timeout) {
        self.probe.forget();
        self.reordering_due = None;
        let begins_episode = !is_in_episode(flight.tcb);
        if timeout.reduces {
            self.undo.begin(flight.tcb.segment_size, flight.scoreboard);
        }
        let is_in_doubt =
            flight.feedback == Feedback::Sack && (begins_episode || timeout.is_repeated);
        self.window.on_timeout(&flight);
        self.forward.begin(is_in_doubt.then_some(self.sent));
        if flight.feedback == Feedback::DuplicateAcks {
            return self.without_sack.on_timeout(flight, timeout);
        }
        let window = self.rtt + self.window.length(flight.tcb, flight.scoreboard);
        let now = flight.tcb.now;
        let mut is_first = true;
        flight.scoreboard.mark_lost_while(|segment| {
            Some(std::mem::take(&mut is_first) || segment.last_sent + window <= now)
        });
    }

    fn on_undone(&mut self, flight: Flight<'_>) -> Finding {
        self.has_news = true;
        self.look_again(flight)
    }

    fn takes_sacks_for_order(&self) -> bool {
        self.window.is_wide()
    }

    fn on_forward_failed(&mut self) {
        self.forward.give_up();
    }
}

impl Rack {
    fn take_latest(&mut self) {
        if let Some((_, rtt)) = self.latest.take() {
            self.rtt = rtt;
        }
    }

    /// After an ACK: for losses, and which of the timers runs now.
    fn look_again(&mut self, flight: Flight<'_>) -> Finding {
        let (mut finding, mut due) = (Finding::Nothing, None);
        if flight.feedback == Feedback::Sack && std::mem::take(&mut self.has_news) {
            (finding, due) = self.look_for_losses(flight.tcb, flight.scoreboard);
        }
        if due.is_some() {
            self.reordering_due = due;
            self.probe.due = None;
        } else if flight.restarts_rto {
            self.reordering_due = None;
            self.probe.schedule(&flight, ProbeBound::Whole);
        }
        finding
    }

    /// Section 6.2, step 5.  Also returns when to look again.
    fn look_for_losses(&self, tcb: &Tcb, scoreboard: &mut Scoreboard) -> (Finding, Option<Time>) {
        let Some(newest) = self.newest else { return (Finding::Nothing, None) };
        let window = self.rtt + self.window.length(tcb, scoreboard);
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
        let later = |due| timer_end(tcb.now, due - tcb.now + LEAST_TIMER);
        let is_found = scoreboard.found_lost() > before;
        (if is_found { Finding::Lost } else { Finding::Nothing }, due.map(later))
    }
}
