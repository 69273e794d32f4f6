//! TCP Prague (draft-briscoe-iccrg-prague-congestion-control-04; Linux's `tcp_prague` of the L4S team): a scalable control for
//! queues that mark early, whose share of the link does not depend on round trips below 25 ms.
//!
//! ```text
//! alpha = (1 - g) alpha + g F         once a round and RTT_virt; F: share marked of what was delivered, g = 1/16
//! W = W - alpha W / 2                 with a mark, once a round and RTT_virt
//! W = W + (RTT / RTT_virt)^2 n / W    with each ACK; n: segments acknowledged without a mark
//! W = W - W / 2                       with a loss, once an episode
//! pacing rate = W / RTT               twice that in early slow start
//! ```
//!
//! | section | what |
//! |---|---|
//! | 2.2, 2.3.1 | ECT(1) on data, and accurate ECN (RFC 9768); with a peer that has none, Reno without ECN |
//! | 2.3.2 | alpha, 1 until the first mark |
//! | 2.4.1 | a loss: half, as Reno |
//! | 2.4.2 | a mark: alpha / 2 |
//! | 2.4.3 | additive increase in rounds with marks, too, by what is not marked |
//! | 2.4.4 | RTT_virt = max(RTT, `RttTarget`), after `RttTransition` rounds out of slow start |
//! | 2.4.5 | slow start until the first mark or loss |
//! | 2.5.1 | pacing |
//! | 2.5.2 | bursts of 250 us, one segment at least |
//!
//! W is a real number of segments, at least 2.  As in Linux cwnd follows it down by one segment an ACK, and grows only in rounds
//! that it has limited.

use super::BuildContext;
use crate::base::attributes::{Kind, Spec, U32, param};
use crate::base::seq::Seq;
use crate::base::time::{Rate, Time};
use crate::host::tcp::control::{CongestionControl, Control};
use crate::host::tcp::rate::AckSample;
use crate::host::tcp::{CongState, EcnMode, EcnState, Tcb, UseEcn};
use crate::packet::Ecn;

pub const SPEC: Spec = Spec {
    ns3: "TcpPrague",
    linux: &["prague"],
    is_in_linux: false,
    doc: "For L4S: a window that follows the share of marks, paced, with rates that do not depend on short round trips.",
    source: "draft-briscoe-iccrg-prague-congestion-control-04",
    departures: &[
        "the bursts of 250 us that offload makes (section 2.5.2) are those of the profile `linux`; under others segments leave \
         one by one",
        "a classic queue that marks is not detected: as in Linux, where that is off by default (section 2.4.1 \
         leaves it open)",
        "losses are detected by the profile's rules, which need not scale with the rate (section 2.3.3)",
    ],
    params: &[
        param!["RttTarget", "prague_rtt_target"; Kind::Time => "25ms";
            "Flows with shorter round trips grow as one of this round trip does."],
        param!["RttTransition", "prague_rtt_transition"; U32 => "500";
            "Rounds out of slow start before they do."],
    ],
};

const G: f64 = 1.0 / 16.0;
const LEAST_WINDOW: f64 = 2.0;
const LONGEST_BURST_US: u16 = 250;

#[derive(Debug)]
pub struct Prague {
    target: Time,
    transition: u32,
    /// W, and before the last loss.
    window: f64,
    prior_window: f64,
    alpha: f64,
    has_started: bool,
    has_seen_mark: bool,
    is_in_loss: bool,
    /// The reduction for a loss is done, and its ssthresh not yet asked for.
    is_reduced: bool,
    round: Round,
    /// Marks that have been answered: their number, and while no other is, until what is acknowledged, and since when.
    counted: u32,
    reduced: Option<(Seq, Time)>,
}

#[derive(Debug, Default)]
struct Round {
    end: Seq,
    /// Rounds out of slow start.
    count: u32,
    /// What had been delivered when it began, in bytes, and of that marked, in segments.
    delivered: u64,
    marked: u32,
    /// When alpha was updated.
    updated_at: Time,
    /// The window has limited what was sent, in this round or the one before.
    is_limited: bool,
    was_limited: bool,
}

pub(super) fn new(cx: &BuildContext<'_>) -> Control {
    Control::rate(Prague {
        target: cx.attributes.time("RttTarget"),
        transition: cx.attributes.u32("RttTransition"),
        window: 0.0,
        prior_window: 0.0,
        alpha: 1.0,
        has_started: false,
        has_seen_mark: false,
        is_in_loss: false,
        is_reduced: false,
        round: Round::default(),
        counted: 0,
        reduced: None,
    })
}

impl CongestionControl for Prague {
    fn init(&mut self, tcb: &mut Tcb) {
        tcb.use_ecn = UseEcn::On;
        tcb.ecn_mode = EcnMode::Accurate;
        tcb.ect = Ecn::Ect1;
        tcb.pacing = true;
        tcb.longest_burst_us = LONGEST_BURST_US;
    }

    /// What the socket makes the window when an episode of recovery is over.
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        let is_reduced = std::mem::take(&mut self.is_reduced);
        let window = if is_reduced { self.window } else { self.window / 2.0 };
        // After a timeout cwnd may be far below W.
        let window = window.min(f64::from(tcb.cwnd_segments()));
        in_segments(window) * tcb.segment_size
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        match state {
            CongState::Open if !self.has_started => self.start(tcb),
            CongState::Open => self.is_in_loss = false,
            CongState::Recovery | CongState::Loss => {
                self.prior_window =
                    if self.is_in_loss { self.prior_window.max(self.window) } else { self.window };
                self.fall(0.5);
                self.is_in_loss = true;
                self.is_reduced = state == CongState::Recovery;
            }
            CongState::Disorder | CongState::Cwr => {}
        }
    }

    fn cong_control(&mut self, tcb: &mut Tcb, sample: AckSample<'_>) {
        if sample.rate.acked_sacked == 0 {
            return;
        }
        let acked = f64::from(sample.rate.acked_sacked) / f64::from(tcb.segment_size);
        let marked = tcb.delivered_ce.wrapping_sub(self.counted);
        self.counted = tcb.delivered_ce;
        self.round.is_limited |= tcb.is_cwnd_limited;
        let lasts = |&(end, at): &_| tcb.last_acked_seq <= end || !self.has_passed(tcb, at);
        self.reduced = self.reduced.filter(lasts);
        if marked > 0 {
            self.has_seen_mark = true;
            self.reduce(tcb);
        }
        self.grow(tcb, acked - f64::from(marked));
        if tcb.last_acked_seq >= self.round.end && self.has_passed(tcb, self.round.updated_at) {
            self.end_round(tcb, sample.connection.delivered);
        }
        self.set_window(tcb, acked);
        self.set_pacing_rate(tcb);
    }

    fn undo(&mut self, tcb: &Tcb, prior_cwnd: u32) -> u32 {
        self.window = self.window.max(self.prior_window);
        self.prior_window = 0.0;
        tcb.cwnd.max(prior_cwnd)
    }
}

impl Prague {
    /// The handshake has said whether the peer counts marks.
    fn start(&mut self, tcb: &mut Tcb) {
        self.has_started = true;
        self.window = f64::from(tcb.cwnd_segments());
        self.round.updated_at = tcb.now;
        if tcb.ecn_mode != EcnMode::Accurate {
            tcb.ecn_state = EcnState::Disabled;
        }
        self.set_pacing_rate(tcb);
    }

    /// Section 2.4.2.
    fn reduce(&mut self, tcb: &mut Tcb) {
        if self.is_in_loss || self.reduced.is_some() {
            return;
        }
        self.fall(self.alpha / 2.0);
        tcb.ssthresh = in_segments(self.window) * tcb.segment_size;
        self.reduced = Some((tcb.high_tx_mark, tcb.now));
    }

    /// By this share, but not below two segments: by the window what each ACK adds is divided.
    fn fall(&mut self, share: f64) {
        self.window = (self.window - share * self.window).max(LEAST_WINDOW);
    }

    /// Sections 2.4.3 and 2.4.5.
    fn grow(&mut self, tcb: &Tcb, unmarked: f64) {
        let is_limited = self.round.is_limited || self.round.was_limited;
        if unmarked <= 0.0 || self.is_in_loss || !is_limited {
            return;
        }
        let threshold = f64::from(tcb.ssthresh) / f64::from(tcb.segment_size);
        let room = if tcb.cwnd < tcb.ssthresh { threshold - self.window } else { 0.0 };
        let beyond = unmarked - room.clamp(0.0, unmarked);
        self.window += unmarked - beyond;
        if beyond > 0.0 {
            let share = if self.is_independent(tcb) {
                (tcb.srtt.secs_f64() / self.target.secs_f64()).min(1.0)
            } else {
                1.0
            };
            self.window += share * share * beyond / self.window;
        }
    }

    /// Section 2.3.2.
    fn end_round(&mut self, tcb: &Tcb, delivered: u64) {
        let bytes = delivered - self.round.delivered;
        if self.has_seen_mark && bytes > 0 {
            let marked = tcb.delivered_ce.wrapping_sub(self.round.marked);
            let share = f64::from(marked * tcb.segment_size) / bytes as f64;
            self.alpha += G * (share.min(1.0) - self.alpha);
        }
        let is_in_slow_start = tcb.cwnd < tcb.ssthresh;
        self.round = Round {
            end: tcb.high_tx_mark,
            count: self.round.count.saturating_add(u32::from(!is_in_slow_start)),
            delivered,
            marked: tcb.delivered_ce,
            updated_at: tcb.now,
            is_limited: false,
            was_limited: self.round.is_limited,
        };
    }

    /// Section 2.4.4: RTT_virt, if that is what counts.
    fn has_passed(&self, tcb: &Tcb, since: Time) -> bool {
        !self.is_independent(tcb) || tcb.now >= since + self.target
    }

    fn is_independent(&self, tcb: &Tcb) -> bool {
        self.round.count >= self.transition && tcb.cwnd >= tcb.ssthresh
    }

    /// Down by one segment an ACK, up by what it acknowledges.
    fn set_window(&self, tcb: &mut Tcb, acked: f64) {
        let (have, want) = (tcb.cwnd_segments(), in_segments(self.window));
        let next = if want < have { have - 1 } else { want.min(have + acked.ceil() as u32) };
        tcb.cwnd = next * tcb.segment_size;
    }

    /// Section 2.5.1.
    fn set_pacing_rate(&self, tcb: &mut Tcb) {
        if tcb.srtt.is_zero() {
            return;
        }
        let gain = if tcb.cwnd < tcb.ssthresh / 2 { 2.0 } else { 1.0 };
        let bits = 8.0 * self.window * f64::from(tcb.segment_size);
        let rate = Rate((gain * bits / tcb.srtt.secs_f64()) as u64);
        tcb.pacing_rate = rate.min(tcb.max_pacing_rate);
    }
}

fn in_segments(window: f64) -> u32 {
    window.max(LEAST_WINDOW).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS, with_context};
    use super::*;
    use crate::base::rng::RngStream;

    fn ack(d: &mut Driver, marked: bool) {
        let bytes = MSS;
        d.tcb.last_acked_seq += bytes;
        d.tcb.high_tx_mark = d.tcb.last_acked_seq + d.tcb.cwnd;
        d.tcb.delivered_ce += u32::from(marked);
        d.rate_ack(Rate(1), bytes, d.tcb.cwnd);
    }

    /// One round trip without a mark.
    fn round(d: &mut Driver) {
        let window = d.cwnd();
        for _ in 0..window {
            d.advance(Time(d.rtt.0 / u64::from(window)));
            ack(d, false);
        }
    }

    /// Just out of slow start, with this window and RTT in ms.
    fn started(window: u32, rtt: u64, attributes: &[(&str, &str)]) -> Driver {
        let mut d = Driver::new("TcpPrague", attributes).with_rtt(rtt).with_ssthresh(window);
        while d.cwnd() < window {
            ack(&mut d, false);
        }
        d
    }

    /// Section 2.4.3: a segment a round trip.
    #[test]
    fn without_marks_the_window_grows_by_a_segment_in_a_round() {
        let mut d = started(50, 40, &[]);
        for _ in 0..20 {
            round(&mut d);
        }
        assert!((69..=71).contains(&d.cwnd()), "{}", d.cwnd());
    }

    /// Section 2.4.4: below 25 ms by (RTT / 25 ms)^2 of a segment, so that the rate grows as if it were 25 ms.
    #[test]
    fn short_round_trips_grow_as_25_ms_do() {
        let mut d = started(50, 5, &[("RttTransition", "0")]);
        for _ in 0..250 {
            round(&mut d);
        }
        assert!((59..=61).contains(&d.cwnd()), "{}", d.cwnd());
    }

    #[test]
    fn they_do_so_after_the_transition() {
        let mut d = started(50, 5, &[("RttTransition", "10")]);
        for _ in 0..10 {
            round(&mut d);
        }
        let before = d.cwnd();
        assert!((59..=61).contains(&before), "{before}");
        for _ in 0..25 {
            round(&mut d);
        }
        assert!((before..=before + 2).contains(&d.cwnd()), "{}", d.cwnd());
    }

    /// Section 2.4.2, first mark: alpha is 1.
    #[test]
    fn the_first_mark_halves_the_window_once_a_round() {
        let mut d = started(100, 40, &[]);
        for _ in 0..90 {
            ack(&mut d, true);
        }
        assert_eq!(d.cwnd(), 50);
    }

    /// Of segments marked at random, the first a window or more after a reduction makes the next: P = W + 1 / F segments between
    /// two.  W grows by P (1 - F) / W and shrinks by F W / 2, as alpha = F on average.
    #[test]
    fn with_a_constant_share_of_marks_growth_and_reduction_are_in_balance() {
        for share in [0.02, 0.05, 0.1] {
            let mut d = started(40, 40, &[]);
            let mut rng = RngStream::fixed(1, 1);
            let (mut sum, mut rounds) = (0, 0);
            for n in 0..6000 {
                let window = d.cwnd();
                for _ in 0..window {
                    d.advance(Time(d.rtt.0 / u64::from(window)));
                    ack(&mut d, rng.unit() < share);
                }
                if n >= 1000 {
                    sum += d.cwnd();
                    rounds += 1;
                }
            }
            let mean = f64::from(sum) / f64::from(rounds);
            let unmarked = 1.0 - share;
            let wanted = (unmarked + (unmarked * unmarked + 2.0 * unmarked).sqrt()) / share;
            assert!((mean / wanted - 1.0).abs() < 0.1, "{share}: {mean} for {wanted}");
        }
    }

    #[test]
    fn timeouts_without_end_leave_a_window_that_grows_by_a_segment_a_round() {
        let mut d = started(2, 25, &[]);
        for _ in 0..100 {
            d.state(CongState::Loss);
        }
        d.state(CongState::Open);
        for _ in 0..3 {
            round(&mut d);
        }
        assert!(d.cwnd() <= 8, "{}", d.cwnd());
    }

    /// Section 2.5.1: in slow start twice the window a round trip, from the handshake on.
    #[test]
    fn it_is_paced_before_the_first_ack() {
        let mut d = Driver::new("TcpPrague", &[]);
        d.tcb.max_pacing_rate = Rate(u64::MAX);
        d.control = with_context(&SPEC, &[], new);
        d.control.init(&mut d.tcb);
        d.state(CongState::Open);
        assert_eq!(d.tcb.pacing_rate, Rate(2 * 10 * 8 * u64::from(MSS) * 10));
    }

    /// Section 2.4.3: of an ACK that crosses ssthresh only what lies below it counts a segment each.
    #[test]
    fn an_ack_across_ssthresh_grows_little_beyond_it() {
        let mut d = Driver::new("TcpPrague", &[]).with_rtt(40).with_ssthresh(50);
        while d.cwnd() < 48 {
            ack(&mut d, false);
        }
        d.rate_ack(Rate(1), 4 * MSS, d.tcb.cwnd);
        assert_eq!(d.cwnd(), 51);
    }

    /// When an episode begins; what the socket asks for then is that window, not half of it again.
    #[test]
    fn an_episode_halves_the_window_once() {
        let mut d = started(100, 40, &[]);
        d.state(CongState::Recovery);
        assert_eq!(d.ssthresh_on_loss(), 50);
    }

    /// Numbers begin anew after four gigabytes.
    #[test]
    fn a_mark_counts_though_the_last_one_is_gigabytes_back() {
        let mut d = started(100, 40, &[]);
        ack(&mut d, true);
        for _ in 0..5 {
            round(&mut d);
            d.tcb.last_acked_seq += 1 << 29;
        }
        let before = d.cwnd();
        ack(&mut d, true);
        assert!(d.cwnd() < before, "{}", d.cwnd());
    }

    /// What is undone is the last loss, not a larger one before it.
    #[test]
    fn an_episode_that_was_right_is_not_undone_with_the_next() {
        let mut d = started(100, 40, &[]);
        d.fast_recovery();
        assert_eq!(d.cwnd(), 50);
        d.state(CongState::Recovery);
        d.control.algorithm().undo(&d.tcb, 50 * MSS);
        d.state(CongState::Open);
        ack(&mut d, false);
        assert!((49..=51).contains(&d.cwnd()), "{}", d.cwnd());
    }

    /// Section 2.4.1.
    #[test]
    fn a_loss_costs_half_and_what_was_none_nothing() {
        let mut d = started(100, 40, &[]);
        d.fast_recovery();
        assert_eq!(d.cwnd(), 50);
        let mut d = started(100, 40, &[]);
        d.state(CongState::Recovery);
        ack(&mut d, false);
        let (tcb, algorithm) = (&d.tcb, d.control.algorithm());
        assert_eq!(algorithm.undo(tcb, 100 * MSS), 100 * MSS);
        d.state(CongState::Open);
        ack(&mut d, false);
        assert!(d.cwnd() >= 99, "{}", d.cwnd());
    }
}
