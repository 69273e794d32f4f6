//! H-TCP as Linux has it (Leith and Shorten, PFLDnet 2004; Linux's `tcp_htcp.c`), in whole segments, 128ths and
//! milliseconds.
//!
//! Alpha is scaled by the least round trip, as on a path of 100 ms.  Beta is the least round trip over the largest, within
//! bounds, where the highest rate changed by a fifth at most from one congestion event to the next; else a half.

use super::BuildContext;
use super::linux_reno::{LinuxReno, is_slow_start, window_of};
use crate::base::time::Time;
use crate::host::tcp::control::{Acked, CongestionControl};
use crate::host::tcp::{CongState, Tcb};

const PARTS: u32 = 128;
/// The most that a loss leaves: four fifths.
const MOST_LEFT: u32 = 102;
/// A round trip counts as the largest if it is longer by so much at most, in ms.
const STEP_MS: u32 = 20;
/// Beta adapts to round trips longer than this.
const SHORT_MS: u32 = 10;
/// The largest round trip keeps of its distance to the least, per congestion event, in percent.
const KEPT_PERCENT: u32 = 95;
/// Of such a round trip, in ms, growth is not scaled.
const REFERENCE_MS: u32 = 100;

/// What an episode that was for nothing gives back.
#[derive(Clone, Copy, Debug)]
struct Before {
    /// When the episode began.
    at: Time,
    last_event: u32,
    most_ms: u32,
    last_most_rate: u32,
}

#[derive(Debug)]
pub struct HtcpLinux {
    delta_l: u32,
    least_left: u32,
    ratio: f64,
    reno: LinuxReno,
    alpha: u32,
    beta: u32,
    /// The rates of the last two events were alike.
    adapts: bool,
    /// Segments that the ACK acknowledges, for its first call.
    acked: u32,
    /// The end of the last congestion event, in ms.
    last_event: u32,
    before: Option<Before>,
    /// Round trips in whole ms, rounded up; 0 before the first.
    least_ms: u32,
    most_ms: u32,
    /// Segments acknowledged since the rate was measured last, and when that was.
    packets: u32,
    measured: Option<u32>,
    /// Rates in segments a second: the smoothed one, and the largest since the last event and since that before.
    rate: u32,
    most_rate: u32,
    last_most_rate: u32,
}

pub(super) fn new(cx: &BuildContext<'_>) -> HtcpLinux {
    let a = &cx.attributes;
    let least_left = (a.f64("DefaultBackoff") * f64::from(PARTS)) as u32;
    HtcpLinux {
        delta_l: a.time("DeltaL").ms() as u32,
        least_left,
        ratio: a.f64("ThroughputRatio"),
        reno: LinuxReno::new(true),
        alpha: PARTS,
        beta: least_left,
        adapts: false,
        acked: 1,
        last_event: 0,
        // The connection begins as an episode ends.
        before: Some(Before { at: Time::ZERO, last_event: 0, most_ms: 0, last_most_rate: 0 }),
        least_ms: 0,
        most_ms: 0,
        packets: 0,
        measured: None,
        rate: 0,
        most_rate: 0,
        last_most_rate: 0,
    }
}

fn ms(tcb: &Tcb) -> u32 {
    tcb.now.ms() as u32
}

impl HtcpLinux {
    fn take_round_trip(&mut self, is_open: bool, rtt: u32) {
        if self.least_ms > rtt || self.least_ms == 0 {
            self.least_ms = rtt;
        }
        if is_open {
            self.most_ms = self.most_ms.max(self.least_ms);
            if rtt <= self.most_ms + STEP_MS {
                self.most_ms = self.most_ms.max(rtt);
            }
        }
    }

    /// A window of segments has been acknowledged, in a round trip at least.
    fn measure_rate(&mut self, window: u32, now: u32) {
        let elapsed = self.measured.map(|at| now - at);
        let growth = (self.alpha / PARTS).max(1);
        let is_due = self.packets >= window.wrapping_sub(growth)
            && self.least_ms > 0
            && elapsed.is_none_or(|elapsed| elapsed >= self.least_ms);
        if !is_due {
            return;
        }
        // Linux measures the first since its clock was 0, far in the past.
        let rate = elapsed.map_or(0, |elapsed| self.packets.wrapping_mul(1000) / elapsed);
        if (now - self.last_event) / self.least_ms <= 3 {
            (self.rate, self.most_rate) = (rate, rate);
        } else {
            self.rate = (3 * self.rate + rate) / 4;
            self.most_rate = self.most_rate.max(self.rate);
        }
        (self.packets, self.measured) = (0, Some(now));
    }

    fn update_beta(&mut self) {
        let last = std::mem::replace(&mut self.last_most_rate, self.most_rate);
        let change = f64::from(self.most_rate.abs_diff(last));
        if change > self.ratio * f64::from(last) {
            (self.beta, self.adapts) = (self.least_left, false);
        } else if self.adapts && self.least_ms > SHORT_MS && self.most_ms > 0 {
            let left = (self.least_ms * PARTS / self.most_ms) as u8; // Linux keeps eight bits of it
            self.beta = u32::from(left).min(MOST_LEFT).max(self.least_left);
        } else {
            (self.beta, self.adapts) = (self.least_left, true);
        }
    }

    /// `since`: the end of the last congestion event.
    fn update_alpha(&mut self, now: u32, since: u32) {
        let past = now - since;
        let mut factor = 1;
        if past > self.delta_l {
            let past = past - self.delta_l;
            let square = (past / 2).wrapping_mul(past / 2) / 1000;
            factor = 1 + (past.wrapping_mul(10).wrapping_add(square)) / 1000;
        }
        if let Some(scale) = (8 * 1000_u32).checked_div(1000 / REFERENCE_MS * self.least_ms) {
            // Eighths, from a half to ten.
            factor = (factor.wrapping_mul(8) / scale.clamp(4, 80)).max(1);
        }
        let alpha = factor.wrapping_mul(2 * (PARTS - self.beta));
        self.alpha = if alpha == 0 { PARTS } else { alpha };
    }
}

impl CongestionControl for HtcpLinux {
    fn ssthresh(&mut self, tcb: &Tcb, _bytes_in_flight: u32) -> u32 {
        // In Linux the episode begins after this.
        let begun = self.before.filter(|before| before.at == tcb.now);
        self.update_beta();
        self.update_alpha(ms(tcb), begun.map_or(self.last_event, |before| before.last_event));
        if self.least_ms > 0 && self.most_ms > self.least_ms {
            self.most_ms = self.least_ms + (self.most_ms - self.least_ms) * KEPT_PERCENT / 100;
        }
        if begun.is_some()
            && let Some(before) = &mut self.before
        {
            (before.most_ms, before.last_most_rate) = (self.most_ms, self.last_most_rate);
        }
        let left = tcb.cwnd_segments().wrapping_mul(self.beta) / PARTS;
        window_of(left, tcb)
    }

    fn forget_credits(&mut self) {
        self.reno.forget();
    }

    fn cong_avoid(&mut self, tcb: &mut Tcb, segments_acked: u32) {
        if !tcb.may_grow() || is_slow_start(tcb, segments_acked) {
            return;
        }
        if self.reno.acked.wrapping_mul(self.alpha) / PARTS >= tcb.cwnd_segments() {
            tcb.cwnd += tcb.segment_size;
            self.reno.forget();
            self.update_alpha(ms(tcb), self.last_event);
        } else {
            self.reno.acked += self.acked;
        }
        self.acked = 1;
    }

    fn on_acked(&mut self, tcb: &Tcb, acked: Acked) {
        let now = ms(tcb);
        let is_open = tcb.cong_state == CongState::Open;
        if is_open {
            self.acked = acked.segments;
        }
        if let Some(us) = acked.rtt_us().filter(|&us| us > 0) {
            self.take_round_trip(is_open, us.div_ceil(1000));
        }
        if !matches!(tcb.cong_state, CongState::Open | CongState::Disorder) {
            (self.packets, self.measured) = (0, Some(now));
            return;
        }
        self.packets += acked.segments;
        self.measure_rate(tcb.cwnd_segments(), now);
    }

    fn set_state(&mut self, tcb: &mut Tcb, state: CongState) {
        match state {
            CongState::Open => {
                if self.before.take().is_some() {
                    self.last_event = ms(tcb);
                }
            }
            CongState::Disorder => {}
            CongState::Cwr | CongState::Recovery | CongState::Loss => {
                self.before = Some(Before {
                    at: tcb.now,
                    last_event: self.last_event,
                    most_ms: self.most_ms,
                    last_most_rate: self.last_most_rate,
                });
                self.last_event = ms(tcb);
            }
        }
    }

    fn undo(&mut self, tcb: &Tcb, prior_cwnd: u32) -> u32 {
        if let Some(before) = self.before.take() {
            self.last_event = before.last_event;
            (self.most_ms, self.last_most_rate) = (before.most_ms, before.last_most_rate);
        }
        tcb.cwnd.max(prior_cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use super::*;
    use crate::host::tcp::control::TcpStack;

    fn htcp() -> Driver {
        Driver::on(TcpStack::Linux, "TcpHtcp", &[]).with_cwnd(100).with_ssthresh(100)
    }

    /// Segments in each round of 100 segments and 100 ms.
    fn growth(d: &mut Driver, rounds: u32) -> Vec<u32> {
        let round = |_| {
            d.set_cwnd(100);
            d.rounds(1);
            d.cwnd() - 100
        };
        (0..rounds).map(round).collect()
    }

    #[test]
    fn growth_is_renos_for_a_second_and_then_rises() {
        let grown = growth(&mut htcp(), 40);
        assert!(grown[..10].iter().all(|&grown| grown <= 1), "{grown:?}");
        assert!(grown[10..].windows(6).all(|six| six[5] > six[0]), "{grown:?}");
        assert!((18..24).contains(&grown[39]), "{grown:?}");
    }

    #[test]
    fn a_longer_path_grows_by_more_a_round() {
        let long = growth(&mut htcp().with_rtt(400), 7)[6];
        let short = growth(&mut htcp(), 28)[27];
        assert!(3 * long >= 4 * short, "{long} and {short}");
    }

    /// The first event makes beta adapt, where the rate stays, the second has it adapted.
    #[test]
    fn what_a_loss_leaves_is_the_ratio_of_round_trips_where_the_rate_stays() {
        for (rtt, left) in [(120, 79), (110, 79), (160, 62)] {
            let mut d = htcp();
            for _ in 0..4 {
                d.rounds(1);
                for ms in (100..=rtt).step_by(10) {
                    d.set_rtt(ms);
                    d.set_cwnd(100);
                    d.rounds(1);
                }
                for _ in 0..8 {
                    d.set_cwnd(100);
                    d.rounds(1);
                }
                d.set_cwnd(100);
                d.fast_recovery();
            }
            assert!(d.cwnd().abs_diff(left) <= 2, "{rtt} ms: {}", d.cwnd());
        }
    }

    #[test]
    fn an_episode_for_nothing_gives_back_how_long_the_last_is_past() {
        let mut d = htcp();
        growth(&mut d, 40);
        d.state(CongState::Recovery);
        d.tcb.ssthresh = 100 * d.tcb.segment_size;
        let before = d.tcb.cwnd;
        assert_eq!(d.control.algorithm().undo(&d.tcb, before), before);
        d.state(CongState::Open);
        let grown = growth(&mut d, 3);
        assert!(grown[2] >= 20, "{grown:?}");
    }

    #[test]
    fn rates_of_before_and_after_differ_by_a_fifth_or_beta_is_a_half() {
        let mut d = htcp();
        growth(&mut d, 10);
        d.set_cwnd(100);
        assert_eq!(d.ssthresh_on_loss(), 50);
    }
}
