//! Each burst has a time of departure, and the next one's is later by what the rate takes for it (Linux's internal pacing,
//! `tcp_update_skb_after_send`).

use super::Pacing;
use crate::base::time::{Rate, Time};
use crate::host::tcp::tcb::Tcb;

/// The first that is followed by a gap.
const UNPACED: u32 = 10;

#[derive(Debug, Default)]
pub struct DepartureTime {
    /// Of the present burst, in bytes.
    burst: u32,
    /// Up to [`UNPACED`].
    segments: u32,
}

impl Pacing for DepartureTime {
    const BY_BURSTS: bool = true;

    #[inline(always)]
    fn is_active(&self, tcb: &Tcb) -> bool {
        tcb.pacing
    }

    fn update_rate(&mut self, tcb: &mut Tcb) {
        if let Some(bytes) = tcb.window_rate() {
            tcb.pacing_rate = Rate(bytes.saturating_mul(8)).min(tcb.max_pacing_rate);
        }
    }

    /// A burst that leaves late makes the gap behind it shorter, by half at most.
    fn gap(&mut self, tcb: &mut Tcb, bytes: u32, ends: bool) -> Option<Time> {
        self.burst += bytes;
        self.segments = (self.segments + 1).min(UNPACED);
        if !ends {
            return None;
        }
        let burst = std::mem::take(&mut self.burst);
        let due = tcb.next_departure;
        let departure = due.max(tcb.now);
        tcb.next_departure = departure;
        let rate = tcb.pacing_rate.0 / 8;
        if rate == 0 || self.segments < UNPACED {
            return None;
        }
        let whole = u64::from(burst) * 1_000_000_000 / rate;
        let late = departure - due;
        tcb.next_departure += Time(whole - late.0.min(whole / 2));
        Some(tcb.next_departure - tcb.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment a millisecond.
    fn tcb() -> Tcb {
        Tcb {
            pacing: true,
            pacing_rate: Rate(8_000_000),
            now: Time::from_ms(100),
            next_departure: Time::from_ms(100),
            ..Tcb::default()
        }
    }

    /// Ten have left before.
    fn pacing() -> DepartureTime {
        DepartureTime { segments: UNPACED, burst: 0 }
    }

    #[test]
    fn a_burst_is_followed_by_the_time_that_its_rate_takes_for_it() {
        let (mut tcb, mut pacing) = (tcb(), pacing());
        assert_eq!(pacing.gap(&mut tcb, 1000, false), None);
        assert_eq!(pacing.gap(&mut tcb, 1000, true), Some(Time::from_ms(2)));
        assert_eq!(tcb.next_departure, Time::from_ms(102));
    }

    #[test]
    fn what_leaves_late_shortens_the_gap_by_half_at_most() {
        for (late_us, gap_us) in [(0, 1000), (300, 700), (500, 500), (9000, 500)] {
            let (mut tcb, mut pacing) = (tcb(), pacing());
            tcb.now += Time(late_us * 1000);
            assert_eq!(pacing.gap(&mut tcb, 1000, true), Some(Time(gap_us * 1000)));
        }
    }

    /// What loss recovery sends whatever the time.
    #[test]
    fn what_leaves_early_is_added_to_what_has_left() {
        let (mut tcb, mut pacing) = (tcb(), pacing());
        pacing.gap(&mut tcb, 1000, true);
        assert_eq!(pacing.gap(&mut tcb, 1000, true), Some(Time::from_ms(2)));
    }

    #[test]
    fn the_first_nine_segments_are_not_followed_by_a_gap() {
        let (mut tcb, mut pacing) = (tcb(), DepartureTime::default());
        for n in 1..=10 {
            assert_eq!(pacing.gap(&mut tcb, 1000, true).is_some(), n == 10, "{n}");
        }
    }
}
