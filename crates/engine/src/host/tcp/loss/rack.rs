//! RACK-TLP (RFC 8985): a segment is lost if one that left later has been delivered, and a reordering window has passed
//! since; a probe two round trips after the last segment makes losses of a tail show.
//!
//! Section 6.2 is [`Rack::on_ack`], its step 4 [`ReorderingWindow`], section 7 [`TailProbe`].  [`Undo`] and, after a timeout,
//! [`ForwardRecovery`] tell of an episode that was spurious.  Without SACK, losses are RFC 6582's.

use super::forward::{ForwardRecovery, Verdict};
use super::reordering_window::ReorderingWindow;
use super::tail_probe::{ProbeBound, TailProbe};
use super::undo::Undo;
use super::{
    Disorder, Feedback, Finding, Flight, LossDetection, LossMarks, Rfc6675, Timeout, in_us,
    is_in_episode,
};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::scoreboard::{Scoreboard, Segment};
use crate::host::tcp::tcb::{CongState, Tcb};
use crate::host::tcp::ticks::{Due, WheelTimer};
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
    reordering_due: Option<Due>,
    /// What runs for both, and for retransmissions.
    timer: WheelTimer,
    /// As it was set for retransmissions last.
    timeout: Due,
    probe: TailProbe,
    undo: Undo,
    forward: ForwardRecovery,
    /// SND.NXT: what leaves below was sent before.
    sent: Seq,
    head: Seq,
    /// Before the ACK in hand, and what its timestamp echoes.
    least_rtt: Time,
    echo: Option<u32>,
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
            timer: WheelTimer::default(),
            timeout: Due::default(),
            probe: TailProbe::default(),
            undo: Undo::default(),
            forward: ForwardRecovery::default(),
            sent: Seq(0),
            head: Seq(1), // behind the SYN
            least_rtt: Time::MAX,
            echo: None,
        }
    }

    fn on_sent(&mut self, flight: Flight<'_>, seq: Seq, len: u32) {
        let is_new = seq >= self.sent;
        self.sent = self.sent.max(seq + len);
        if self.probe.is_leaving {
            self.probe.on_sent(flight.tcb.high_tx_mark, is_new);
            if !is_new {
                self.undo.on_probe_repeated();
                flight.scoreboard.forget_probe();
            }
        } else if is_new {
            if self.probe.schedule(&flight, &self.timer, ProbeBound::Rest) {
                self.reordering_due = None;
            }
        } else {
            self.undo.on_retransmitted(flight.tcb.now);
        }
    }

    fn on_ack_begins(&mut self, tcb: &Tcb) {
        self.least_rtt = tcb.min_rtt;
        self.echo = tcb.has_timestamps.then_some(tcb.rcv_timestamp_echo);
    }

    /// Section 6.2, steps 2 and 3.
    fn on_delivered(&mut self, now: Time, segment: &Segment) {
        if !segment.counts {
            return; // it has been counted when it was SACKed
        }
        self.forward.on_delivered(segment);
        self.window.on_delivered(segment);
        let left = in_us(segment.last_sent);
        let rtt = in_us(now) - left;
        let answers_original = self.echo.is_some_and(|echo| u64::from(echo) < left.ms());
        // The original may have come of what was sent again: most likely, or by its timestamp.
        let is_doubtful = rtt < self.least_rtt || (!segment.sacked && answers_original);
        if segment.is_repeated && is_doubtful {
            return;
        }
        self.has_news = true;
        if self.latest.is_none_or(|(latest, _)| latest <= segment.start) {
            self.latest = Some((segment.start, rtt));
        }
        self.newest = self.newest.max(Some((left, segment.end())));
    }

    fn on_duplicate_delivery(
        &mut self,
        segment_size: u32,
        block: SackBlock,
        scoreboard: &Scoreboard,
    ) -> u32 {
        let segments = self.undo.on_duplicate_delivery(segment_size, block, scoreboard);
        if segments > 0 && !self.probe.on_duplicate_delivery(block) {
            self.window.on_duplicate_delivery();
        }
        if segments > 0
            && let Some(low) = scoreboard.first_repeated_and_sacked(block)
        {
            self.window.on_spurious_retransmission(low);
        }
        segments
    }

    fn on_ack(&mut self, flight: Flight<'_>) -> Finding {
        self.take_latest();
        let head = flight.scoreboard.head();
        let before = std::mem::replace(&mut self.head, head);
        let heeds_sacks = flight.tcb.cong_state != CongState::Loss || self.undo.is_open();
        self.window.on_ack(&flight, heeds_sacks);
        let is_repaired = self.probe.on_ack(head);
        let verdict = self.forward.on_ack(&flight, self.sent, head > before);
        match self.judge(&flight, before, verdict) {
            Judgement::Spurious(marks) => {
                self.undo.settle();
                self.forward.give_up();
                return Finding::Spurious(marks);
            }
            Judgement::Doubtful => {
                self.run_timer(&flight, None);
                return Finding::Doubtful;
            }
            Judgement::Right => {}
        }
        match self.look_again(flight) {
            Finding::Nothing if is_repaired => Finding::Repaired,
            Finding::Nothing | Finding::Lost if verdict == Verdict::Unsure => Finding::Forward,
            lost => lost,
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.next_due().map(|due| due.end)
    }

    fn timeout_end(&mut self, now: Time, rto: Time) -> Option<Time> {
        self.timeout = self.timer.due(now, rto);
        Some(self.timeout.end)
    }

    fn on_timers_settled(&mut self) {
        self.timer.set(self.next_due().unwrap_or(self.timeout));
    }

    fn on_timer_end(&mut self, now: Time) {
        self.timer.on_end(now);
    }

    fn on_timer(&mut self, flight: Flight<'_>) -> Finding {
        let now = flight.tcb.now;
        if self.reordering_due.take_if(|due| due.end <= now).is_some() {
            let is_in_episode = is_in_episode(flight.tcb);
            let found = self.look_for_losses(flight.tcb, flight.scoreboard, is_in_episode).0;
            return if found == Finding::Lost { Finding::LostAgain } else { found };
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
        let probes = u32::from(self.probe.repeats());
        self.probe.forget();
        self.undo.begin(flight.tcb.segment_size, flight.scoreboard, probes);
        if flight.feedback == Feedback::DuplicateAcks {
            self.without_sack.on_recovery(flight);
        }
    }

    fn on_partial_ack(&mut self, flight: Flight<'_>) {
        self.without_sack.on_partial_ack(flight);
    }

    /// Section 6.3: the first segment is lost, and those whose time is over, without time for reordering.
    fn on_timeout(&mut self, flight: Flight<'_>, timeout: Timeout) {
        let probes = u32::from(self.probe.repeats());
        self.probe.forget();
        self.reordering_due = None;
        let begins_episode = !is_in_episode(flight.tcb);
        let is_in_doubt =
            flight.feedback == Feedback::Sack && (begins_episode || timeout.is_repeated);
        self.window.on_timeout(&flight);
        self.forward.begin(is_in_doubt.then_some(self.sent));
        if flight.feedback == Feedback::DuplicateAcks {
            if timeout.reduces {
                self.undo.begin(flight.tcb.segment_size, flight.scoreboard, probes);
            }
            return self.without_sack.on_timeout(flight, timeout);
        }
        let (now, head) = (in_us(flight.tcb.now), flight.scoreboard.head());
        flight.scoreboard.mark_each_lost(|segment| {
            segment.start == head || in_us(segment.last_sent) + self.rtt <= now
        });
        if timeout.reduces {
            self.undo.begin(flight.tcb.segment_size, flight.scoreboard, probes);
        }
    }

    /// What is still marked lost is no less so.
    fn on_undone(&mut self, flight: Flight<'_>) -> Finding {
        self.has_news = true;
        let is_lost = flight.feedback == Feedback::Sack && flight.scoreboard.lost_out() > 0;
        let finding = self.look_again(flight);
        if is_lost { Finding::Lost } else { finding }
    }

    fn takes_sacks_for_order(&self) -> bool {
        self.window.is_wide()
    }

    fn on_probe_sent(&mut self) {
        self.probe.is_leaving = false;
    }

    fn on_forward_failed(&mut self) {
        self.forward.give_up();
    }
}

/// What an ACK says of the episode in which it comes, or of the last one.
enum Judgement {
    Right,
    /// It looks spurious, but something that was sent again is still on its way.
    Doubtful,
    Spurious(LossMarks),
}

impl Rack {
    fn next_due(&self) -> Option<Due> {
        let both = [self.reordering_due, self.probe.due];
        both.into_iter().flatten().min_by_key(|due| due.end)
    }

    fn take_latest(&mut self) {
        if let Some((_, rtt)) = self.latest.take() {
            self.rtt = rtt;
        }
    }

    /// `before`: SND.UNA before the ACK.
    fn judge(&mut self, flight: &Flight<'_>, before: Seq, verdict: Verdict) -> Judgement {
        let Flight { tcb, scoreboard, recover, .. } = flight;
        let has_advanced = scoreboard.head() > before;
        let has_ended = scoreboard.head() >= *recover;
        let is_original = self.undo.is_original_echoed(tcb);
        let is_echoed = has_advanced && is_original;
        let is_all_duplicate = self.undo.is_all_duplicate();
        match tcb.cong_state {
            // It may have ended where it began, in the window of CWR.
            CongState::Recovery if has_ended => {
                if is_original || is_all_duplicate {
                    return Judgement::Spurious(LossMarks::Stand);
                }
                self.window.on_repaired();
            }
            CongState::Recovery if is_echoed => {
                self.window.on_late_original(before);
                if scoreboard.retrans_out() > 0 {
                    return Judgement::Doubtful;
                }
                return Judgement::Spurious(LossMarks::Go);
            }
            CongState::Loss => {
                let is_spurious = has_advanced && (is_echoed || is_all_duplicate);
                if is_spurious || verdict == Verdict::Spurious {
                    return Judgement::Spurious(LossMarks::Go);
                }
                if has_ended {
                    self.window.on_repaired();
                }
            }
            CongState::Open | CongState::Disorder | CongState::Recovery if is_all_duplicate => {
                self.window.on_all_duplicate();
                return Judgement::Spurious(LossMarks::Stand);
            }
            _ => {}
        }
        Judgement::Right
    }

    /// After an ACK: for losses, and which of the timers runs now.
    fn look_again(&mut self, flight: Flight<'_>) -> Finding {
        let (mut finding, mut due) = (Finding::Nothing, None);
        if flight.feedback == Feedback::Sack && std::mem::take(&mut self.has_news) {
            let is_in_episode = flight.is_within_episode();
            (finding, due) = self.look_for_losses(flight.tcb, flight.scoreboard, is_in_episode);
        }
        self.run_timer(&flight, due);
        // Another episode follows at once.
        let is_left = flight.feedback == Feedback::Sack && flight.scoreboard.lost_out() > 0;
        let has_ended = is_in_episode(flight.tcb) && flight.has_recovered();
        if has_ended && is_left { Finding::LostAgain } else { finding }
    }

    /// The reordering timer, or that of a probe if the ACK starts it.
    fn run_timer(&mut self, flight: &Flight<'_>, reordering_due: Option<Due>) {
        if reordering_due.is_some() {
            self.reordering_due = reordering_due;
            self.probe.due = None;
        } else if flight.restarts_rto {
            self.reordering_due = None;
            self.probe.schedule(flight, &self.timer, ProbeBound::Whole);
        }
    }

    /// Section 6.2, step 5.  Also returns when to look again.
    fn look_for_losses(
        &self,
        tcb: &Tcb,
        scoreboard: &mut Scoreboard,
        is_in_episode: bool,
    ) -> (Finding, Option<Due>) {
        let Some(newest) = self.newest else { return (Finding::Nothing, None) };
        let window = self.rtt + self.window.length(tcb, scoreboard, is_in_episode);
        let (lost, sent_again) = (scoreboard.found_lost(), scoreboard.retrans_out());
        let now = in_us(tcb.now);
        let mut due: Option<Time> = None;
        // Of what left in the same microsecond the number decides; but nothing is asked that left behind one which is not older.
        let barrier = scoreboard.first_left_from(newest.1, |time| in_us(time) == newest.0);
        scoreboard.mark_overdue(|segment| {
            let left = in_us(segment.last_sent);
            if (left, segment.end()) >= newest {
                return segment.is_repeated.then_some(false);
            }
            if left == newest.0 && barrier.is_some_and(|barrier| barrier < segment.last_sent) {
                return Some(false);
            }
            let is_over = left + window;
            if is_over <= now {
                return Some(true);
            }
            due = due.max(Some(is_over));
            Some(false)
        });
        let later = |due| self.timer.due(tcb.now, due - now + LEAST_TIMER);
        let finding = if scoreboard.retrans_out() < sent_again {
            Finding::LostAgain
        } else if scoreboard.found_lost() > lost {
            Finding::Lost
        } else {
            Finding::Nothing
        };
        (finding, due.map(later))
    }
}
