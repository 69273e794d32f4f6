//! The path: bottleneck bandwidth, minimum round trip, rounds.

use super::in_us;
use crate::base::time::Time;
use crate::host::tcp::Tcb;
use crate::host::tcp::rate::RateConnection;

/// One, as gains are counted.
pub(super) const GAIN: u32 = 256;
/// One segment a microsecond.
const UNIT: u64 = 1 << 24;
/// Pacing a little below the estimate keeps queues from building up.
const MARGIN_PERCENT: u64 = 1;
/// What the window is while there is no sample, in segments.
const INITIAL_WINDOW: u32 = 10;

/// In 2^-24 segments a microsecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bandwidth(pub(super) u64);

impl Bandwidth {
    /// So many segments in so many microseconds.
    pub(super) fn of(segments: u64, us: u64) -> Bandwidth {
        Bandwidth(segments * UNIT / us)
    }

    pub(super) fn scaled(self, gain: u32) -> Bandwidth {
        Bandwidth(self.0 * u64::from(gain) / u64::from(GAIN))
    }

    /// In so many microseconds.
    pub(super) fn segments_in(self, us: u64) -> u64 {
        (u128::from(self.0) * u128::from(us) / u128::from(UNIT)) as u64
    }

    /// In bytes a second, of segments of so many bytes.
    pub(super) fn bytes_a_second(self, size: u32, gain: u32) -> u64 {
        let rate = u128::from(self.0) * u128::from(size) * u128::from(gain) / u128::from(GAIN);
        let bytes = rate * u128::from(1_000_000 / 100 * (100 - MARGIN_PERCENT)) / u128::from(UNIT);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// The maximum of the last rounds, and the best of later parts of them (Kathleen Nichols' algorithm; Linux's `win_minmax`).
#[derive(Debug, Default)]
pub(super) struct WindowedMax {
    length: u32,
    /// Best, second, third best, with their rounds.
    best: [(Bandwidth, u32); 3],
}

impl WindowedMax {
    pub(super) fn get(&self) -> Bandwidth {
        self.best[0].0
    }

    fn take(&mut self, value: Bandwidth, round: u32) {
        let new = (value, round);
        let best = &mut self.best;
        if value >= best[0].0 || round - best[2].1 > self.length {
            *best = [new; 3];
            return;
        }
        if value >= best[1].0 {
            (best[1], best[2]) = (new, new);
        } else if value >= best[2].0 {
            best[2] = new;
        }
        let age = round - best[0].1;
        if age > self.length {
            *best = [best[1], best[2], new];
            if round - best[0].1 > self.length {
                *best = [best[1], best[2], new];
            }
        } else if best[1].1 == best[0].1 && age > self.length / 4 {
            (best[1], best[2]) = (new, new);
        } else if best[2].1 == best[1].1 && age > self.length / 2 {
            best[2] = new;
        }
    }
}

/// Rounds by what is delivered (section 4.1.1.3 of the draft).
#[derive(Debug, Default)]
pub(super) struct Rounds {
    pub(super) count: u32,
    /// With the ACK in hand.
    pub(super) starts: bool,
    /// The present one ends with the ACK of a segment that left when so many were delivered.
    pub(super) end: u64,
}

#[derive(Debug)]
pub(super) struct MinRtt {
    /// `u64::MAX` before the first sample.
    pub(super) us: u64,
    /// When it was heard, in ms.
    stamp: u64,
}

impl MinRtt {
    pub(super) fn renew(&mut self, tcb: &Tcb) {
        self.stamp = tcb.now.ms();
    }
}

#[derive(Debug)]
pub(super) struct Model {
    pub(super) max_bw: WindowedMax,
    pub(super) min_rtt: MinRtt,
    /// In ms.
    min_rtt_window: u64,
    pub(super) rounds: Rounds,
    /// Of the ACK in hand, in us.
    pub(super) rtt_of_ack: Option<u64>,
    /// What was delivered and lost so far, in segments; when, in us.
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) delivered_at: u64,
    pub(super) segment_size: u32,
}

impl Model {
    pub(super) fn new(bw_window: u32, min_rtt_window: Time) -> Model {
        Model {
            max_bw: WindowedMax { length: bw_window, ..WindowedMax::default() },
            min_rtt: MinRtt { us: u64::MAX, stamp: 0 },
            min_rtt_window: min_rtt_window.ms(),
            rounds: Rounds::default(),
            rtt_of_ack: None,
            delivered: 0,
            lost: 0,
            delivered_at: 0,
            segment_size: 0,
        }
    }

    /// The connection opens.
    pub(super) fn open(&mut self, tcb: &Tcb) {
        let us = if tcb.min_rtt == Time::MAX { u64::MAX } else { in_us(tcb.min_rtt) };
        self.min_rtt = MinRtt { us, stamp: tcb.now.ms() };
        self.segment_size = tcb.segment_size;
    }

    /// An ACK has come.
    pub(super) fn hear(&mut self, connection: &RateConnection) {
        let segments = |bytes: u64| bytes.div_ceil(u64::from(self.segment_size));
        (self.delivered, self.lost) = (segments(connection.delivered), segments(connection.lost));
        self.delivered_at = in_us(connection.delivered_time);
    }

    /// A sample of the rate; one that the application has limited counts only if it is the largest.
    pub(super) fn take(&mut self, bandwidth: Bandwidth, is_app_limited: bool) {
        if !is_app_limited || bandwidth >= self.max_bw.get() {
            self.max_bw.take(bandwidth, self.rounds.count);
        }
    }

    /// Hears the round trip of the ACK in hand; returns whether the minimum had become too old.
    pub(super) fn hear_round_trip(&mut self, tcb: &Tcb) -> bool {
        let is_expired = tcb.now.ms() > self.min_rtt.stamp + self.min_rtt_window;
        if let Some(us) = self.rtt_of_ack.take()
            && (us < self.min_rtt.us || is_expired)
        {
            self.min_rtt = MinRtt { us, stamp: tcb.now.ms() };
        }
        is_expired
    }

    /// In segments.
    pub(super) fn bdp(&self, bandwidth: Bandwidth, gain: u32) -> u32 {
        if self.min_rtt.us == u64::MAX {
            return INITIAL_WINDOW;
        }
        let product = u128::from(bandwidth.0) * u128::from(self.min_rtt.us);
        let scaled = product * u128::from(gain) / u128::from(GAIN);
        u32::try_from(scaled.div_ceil(u128::from(UNIT))).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever comes: never above the largest of the last rounds, and it itself right after that has come.
    #[test]
    fn the_maximum_is_of_the_last_rounds() {
        let mut max = WindowedMax { length: 10, ..WindowedMax::default() };
        let mut drawn = 1_u64;
        let mut seen = Vec::new();
        for round in 0..2000_usize {
            drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seen.push(Bandwidth(drawn >> 40));
            max.take(seen[round], round as u32);
            let exact = *seen[round.saturating_sub(10)..].iter().max().unwrap();
            assert!(max.get() <= exact);
            assert!(seen[round] < exact || max.get() == exact);
        }
        (2000..2011).for_each(|round| max.take(Bandwidth(7), round));
        assert_eq!(max.get(), Bandwidth(7));
    }
}
