//! Linux's (`tcp_cwnd_validate`, `tcp_cwnd_restart`; after RFC 2861): cwnd grows where it has limited what was sent in the last
//! window of data, or in slow start where half of it was outstanding.  Where it has not for a timeout, it moves half way to what was
//! used; after a silence it is halved for each timeout, down to the initial window.  Both leave three quarters of it in ssthresh.

use super::{Usage, WindowValidation};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::tcb::{CongState, Tcb};

#[derive(Debug, Default)]
pub struct LinuxValidation {
    /// SND.NXT when the present window of data was judged first.
    window_end: Seq,
    /// The most that was outstanding since cwnd limited last.
    used: u32,
    /// When that was, or cwnd was set (Linux's `snd_cwnd_stamp`).
    since: Time,
}

impl WindowValidation for LinuxValidation {
    fn on_sent(&mut self, tcb: &mut Tcb, usage: Usage) {
        let Usage { outstanding, .. } = usage;
        let is_limited = usage.is_deferred || tcb.bytes_in_flight + tcb.segment_size > tcb.cwnd;
        if !usage.has_sent && !is_limited {
            return;
        }
        let is_more = !tcb.is_cwnd_limited && outstanding > tcb.most_outstanding;
        if usage.head >= self.window_end || is_limited || is_more {
            tcb.is_cwnd_limited = is_limited;
            tcb.most_outstanding = outstanding;
            self.window_end = usage.next;
        }
        if tcb.may_grow() {
            self.used = 0;
            self.since = tcb.now;
            return;
        }
        self.used = self.used.max(outstanding);
        if elapsed(self.since, tcb.now) >= usage.rto {
            if tcb.cong_state == CongState::Open && !usage.is_buffer_full {
                self.shrink(tcb);
            }
            self.since = tcb.now;
        }
    }

    fn on_write(&mut self, tcb: &mut Tcb, rto: Time) {
        let mut silence = elapsed(tcb.last_departure, tcb.now);
        if silence <= rto || tcb.last_departure.is_zero() {
            return;
        }
        tcb.ssthresh = kept(tcb);
        let size = tcb.segment_size;
        let least = (tcb.initial_cwnd * size).min(tcb.cwnd);
        while silence > rto && tcb.cwnd > least {
            silence = silence - rto;
            tcb.cwnd = tcb.cwnd / size / 2 * size;
        }
        tcb.cwnd = tcb.cwnd.max(least);
        self.used = 0;
        self.since = tcb.now;
    }

    fn on_window_set(&mut self, now: Time) {
        self.since = now;
    }
}

impl LinuxValidation {
    fn shrink(&mut self, tcb: &mut Tcb) {
        let size = tcb.segment_size;
        let used = self.used.max(tcb.initial_cwnd * size);
        if used < tcb.cwnd {
            tcb.ssthresh = kept(tcb);
            tcb.cwnd = (tcb.cwnd / size + used / size) / 2 * size;
        }
        self.used = 0;
    }
}

/// Clocks are read in milliseconds.
fn elapsed(then: Time, now: Time) -> Time {
    Time::from_ms(now.ms() - then.ms())
}

/// Not of a window that is just being reduced.
fn kept(tcb: &Tcb) -> u32 {
    if matches!(tcb.cong_state, CongState::Cwr | CongState::Recovery) {
        return tcb.ssthresh;
    }
    let segments = tcb.cwnd / tcb.segment_size;
    tcb.ssthresh.max((segments / 2 + segments / 4) * tcb.segment_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u32 = 1000;
    const RTO: Time = Time::from_ms(250);

    fn tcb(cwnd: u32) -> Tcb {
        Tcb {
            now: Time::from_ms(1000),
            cwnd: cwnd * SIZE,
            ssthresh: 12 * SIZE,
            initial_cwnd: 10,
            segment_size: SIZE,
            last_departure: Time::from_ms(1000),
            ..Tcb::default()
        }
    }

    /// `head` segments are acknowledged; so many more are outstanding, of which the last has just left.
    fn sends(validation: &mut LinuxValidation, tcb: &mut Tcb, head: u32, outstanding: u32) {
        tcb.bytes_in_flight = outstanding * SIZE;
        let head = Seq(1 + head * SIZE);
        let outstanding = outstanding * SIZE;
        let usage = Usage { head, next: head + outstanding, outstanding, ..sent() };
        validation.on_sent(tcb, usage);
    }

    /// Something new has left, and nothing held it back.
    fn sent() -> Usage {
        Usage {
            head: Seq(1),
            next: Seq(1),
            outstanding: 0,
            has_sent: true,
            is_deferred: false,
            is_buffer_full: false,
            rto: RTO,
        }
    }

    #[test]
    fn a_silence_halves_the_window_for_each_timeout_down_to_the_initial_one() {
        for (silence_ms, cwnd) in
            [(250, 100), (251, 50), (500, 50), (501, 25), (900, 12), (10_000, 10)]
        {
            let mut tcb = tcb(100);
            tcb.now += Time::from_ms(silence_ms);
            LinuxValidation::default().on_write(&mut tcb, RTO);
            assert_eq!(tcb.cwnd / SIZE, cwnd, "{silence_ms}");
            assert_eq!(tcb.ssthresh / SIZE, if cwnd == 100 { 12 } else { 75 });
        }
    }

    #[test]
    fn a_window_below_the_initial_one_stays() {
        let mut tcb = tcb(4);
        tcb.now += Time::from_secs(9);
        LinuxValidation::default().on_write(&mut tcb, RTO);
        assert_eq!((tcb.cwnd, tcb.ssthresh), (4 * SIZE, 12 * SIZE));
    }

    #[test]
    fn what_the_application_does_not_use_for_a_timeout_is_given_up_by_half() {
        let mut validation = LinuxValidation::default();
        let mut tcb = tcb(100);
        sends(&mut validation, &mut tcb, 0, 100);
        assert!(tcb.is_cwnd_limited);
        for (after_ms, cwnd) in [(249, 100), (250, 65), (499, 65), (500, 47)] {
            tcb.now = Time::from_ms(1000 + after_ms);
            sends(&mut validation, &mut tcb, 100 + after_ms as u32, 30);
            assert_eq!((tcb.cwnd / SIZE, tcb.is_cwnd_limited), (cwnd, false), "{after_ms}");
        }
        assert_eq!(tcb.ssthresh / SIZE, 75);
    }

    /// It might have grown then.
    #[test]
    fn a_window_that_was_set_counts_as_used() {
        let mut validation = LinuxValidation::default();
        let mut tcb = tcb(100);
        sends(&mut validation, &mut tcb, 0, 100);
        validation.on_window_set(Time::from_ms(1100));
        for (after_ms, cwnd) in [(349, 100), (350, 65)] {
            tcb.now = Time::from_ms(1000 + after_ms);
            sends(&mut validation, &mut tcb, 100 + after_ms as u32, 30);
            assert_eq!(tcb.cwnd / SIZE, cwnd, "{after_ms}");
        }
    }

    #[test]
    fn a_window_that_limited_once_counts_as_limiting_until_its_data_is_acknowledged() {
        let mut validation = LinuxValidation::default();
        let mut tcb = tcb(20);
        sends(&mut validation, &mut tcb, 0, 20);
        for (head, is_limited) in [(19, true), (20, false)] {
            sends(&mut validation, &mut tcb, head, 4);
            assert_eq!(tcb.is_cwnd_limited, is_limited);
        }
    }

    /// In slow start the window may come to twice what was outstanding.
    #[test]
    fn a_window_of_which_half_was_outstanding_grows_in_slow_start_only() {
        for (outstanding, ssthresh, grows) in [(9, 100, false), (11, 100, true), (11, 12, false)] {
            let mut tcb = Tcb { ssthresh: ssthresh * SIZE, ..tcb(20) };
            let mut validation = LinuxValidation { since: tcb.now, ..LinuxValidation::default() };
            sends(&mut validation, &mut tcb, 0, outstanding);
            assert_eq!(tcb.may_grow(), grows, "{outstanding} {ssthresh}");
        }
    }

    /// A window counts segments, however short they are.
    #[test]
    fn short_segments_use_as_much_of_the_window_as_full_ones() {
        for (outstanding, grows) in [(11 * SIZE, true), (11 * SIZE / 3, false)] {
            let mut tcb = Tcb { ssthresh: 100 * SIZE, bytes_in_flight: 11 * SIZE, ..tcb(20) };
            let mut validation = LinuxValidation { since: tcb.now, ..LinuxValidation::default() };
            let (head, next) = (Seq(1), Seq(1 + 11 * SIZE / 3));
            let usage = Usage { head, next, outstanding, ..sent() };
            validation.on_sent(&mut tcb, usage);
            assert_eq!(tcb.may_grow(), grows, "{outstanding}");
        }
    }

    #[test]
    fn neither_a_full_send_buffer_nor_recovery_lets_a_window_shrink() {
        for (is_buffer_full, cong_state) in
            [(true, CongState::Open), (false, CongState::Recovery), (false, CongState::Disorder)]
        {
            let mut tcb = Tcb { cong_state, bytes_in_flight: 30 * SIZE, ..tcb(100) };
            tcb.now = Time::from_ms(5000);
            let (next, outstanding) = (Seq(1 + 30 * SIZE), 30 * SIZE);
            let usage = Usage { next, outstanding, is_buffer_full, ..sent() };
            LinuxValidation::default().on_sent(&mut tcb, usage);
            assert_eq!(tcb.cwnd, 100 * SIZE);
        }
    }
}
