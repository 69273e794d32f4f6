//! RACK-TLP (RFC 8985): a segment is lost if one that left later has been delivered, and a reordering window has passed
//! since; a probe two round trips after the last segment makes losses of a tail show.
//!
//! Section 6.2 is [`Rack::on_ack`], its step 4 [`ReorderingWindow`], section 7 [`TailProbe`].  [`Undo`] tells of an episode that
//! was spurious, also after a timeout, where it stands for F-RTO.  Without SACK, losses are RFC 6582's.

use super::reordering_window::ReorderingWindow;
use super::tail_probe::TailProbe;
use super::ticks::timer_end;
use super::undo::Undo;
use super::{Disorder, Feedback, Finding, Flight, LossDetection, Rfc6675, is_in_episode};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::scoreboard::{Scoreboard, Segment};
use crate::host::tcp::tcb::{CongState, Tcb};
use crate::packet::SackBlock;

/// The reordering timer waits for so much more.
const LEAST_TIMER: Time = Time::from_ms(2);

#[derive(Debug)]
pub struct Rack {
    without_sack: Rfc6675,
    /// Of the segment that left last among those delivered: when it left, where it ends, and its round trip.
    newest: Option<(Time, Seq)>,
    rtt: Time,
    window: ReorderingWindow,
    /// An ACK has delivered something since losses were looked for.
    has_news: bool,
    /// When the next segment counts as lost, if it is not delivered.
    reordering_due: Option<Time>,
    probe: TailProbe,
    undo: Undo,
    /// SND.NXT: what leaves below was sent before.
    sent: Seq,
    head: Seq,
}

impl LossDetection for Rack {
    const HAS_TIMER: bool = true;
    const LEAVES_IN_FLIGHT: bool = true;
    const HEEDS_DUPLICATES: bool = true;

    fn new(config: &Config) -> Rack {
        Rack {
            without_sack: Rfc6675::new(config),
            newest: None,
            rtt: Time::ZERO,
            window: ReorderingWindow::new(config),
            has_news: false,
            reordering_due: None,
            probe: TailProbe::default(),
            undo: Undo::default(),
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
            if flight.scoreboard.sent_size() == len {
                self.probe.on_timer_started(flight.tcb.now);
            }
            self.probe.schedule(&flight);
        } else if is_in_episode(flight.tcb) {
            self.undo.on_retransmitted(flight.tcb.now);
        }
    }

    /// Section 6.2, steps 2 and 3.
    fn on_delivered(&mut self, now: Time, segment: &Segment) {
        if !segment.counts {
            return; // it has been counted when it was SACKed
        }
        let rtt = now - segment.last_sent;
        if !self.window.on_delivered(segment, rtt) {
            return;
        }
        self.has_news = true;
        if self.newest.is_none_or(|newest| newest <= (segment.last_sent, segment.end())) {
            self.newest = Some((segment.last_sent, segment.end()));
            self.rtt = rtt;
        }
    }

    fn on_duplicate_delivery(&mut self, segment_size: u32, block: SackBlock) {
        self.undo.on_duplicate_delivery(segment_size, block);
        if !self.probe.on_duplicate_delivery(block) {
            self.window.on_duplicate_delivery();
        }
    }

    fn on_ack(&mut self, flight: Flight<'_>) -> Finding {
        let head = flight.scoreboard.head();
        let has_advanced = head > std::mem::replace(&mut self.head, head);
        if has_advanced {
            self.probe.on_timer_started(flight.tcb.now);
        }
        let is_repaired = self.probe.on_ack(head);
        self.window.on_ack(&flight, self.sent);
        if self.undo.is_due(flight.tcb, has_advanced) {
            if flight.tcb.cong_state == CongState::Recovery {
                self.window.on_late_original();
            }
            self.reordering_due = None;
            return Finding::Spurious;
        }
        let lost = match flight.feedback {
            Feedback::Sack if std::mem::take(&mut self.has_news) => {
                self.probe.schedule(&flight);
                self.look_for_losses(flight.tcb, flight.scoreboard)
            }
            _ => Finding::Nothing,
        };
        if lost == Finding::Nothing && is_repaired { Finding::Repaired } else { lost }
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
        if self.probe.may_leave(&flight) {
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
    fn on_timeout(&mut self, flight: Flight<'_>) {
        self.probe.forget();
        self.reordering_due = None;
        if !is_in_episode(flight.tcb) {
            self.undo.begin(flight.tcb.segment_size, flight.scoreboard);
        }
        if flight.feedback == Feedback::DuplicateAcks {
            return self.without_sack.on_timeout(flight);
        }
        let window = self.rtt + self.window.length(flight.tcb, flight.scoreboard);
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
        self.reordering_due = due.map(later);
        if scoreboard.found_lost() > before { Finding::Lost } else { Finding::Nothing }
    }
}
