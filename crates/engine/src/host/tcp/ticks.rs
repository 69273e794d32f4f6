//! When a timer of Linux's ends: on a tick, of which there are a thousand a second, never before its time, and the later the
//! longer it is (the kernel's timer wheel: the first 63 ticks one by one, eight times as many by eight, and so on).

use crate::base::time::Time;

const TICKS_BY_ONE: u64 = 63;
const COARSER: u32 = 3;
/// The kernel counts ticks from 300,000 before its start, and time begins a second after that; a multiple of all steps more.
const FIRST_TICK: u64 = (1 << 15) * 10 - 300_000 + 1000;

/// As many ticks as it takes.
pub fn in_ticks(wait: Time) -> Time {
    Time(wait.0.next_multiple_of(Time::from_ms(1).0))
}

/// Without the part of a tick: what the kernel's clock says.
pub fn in_whole_ticks(time: Time) -> Time {
    Time::from_ms(time.ms())
}

/// Of a timer that is set `now` for so long.
pub fn timer_end(now: Time, wait: Time) -> Time {
    end_of(now.ms() + in_ticks(wait).ms(), now.ms())
}

/// Of one that is set to this tick while the wheel stands at that one.
fn end_of(tick: u64, wheel: u64) -> Time {
    let mut shift = 0;
    while tick - wheel >= TICKS_BY_ONE << shift {
        shift += COARSER;
    }
    Time::from_ms(((((tick + FIRST_TICK) >> shift) + 1) << shift) - FIRST_TICK)
}

/// A timer of the wheel that is set again and again, as the one that a connection has for timeouts and probes alike
/// (`icsk_retransmit_timer`).
#[derive(Debug, Default)]
pub struct WheelTimer {
    /// As it was set last.
    set: Due,
    /// The tick at which it ended last.
    ended: Option<u64>,
}

/// What a timer is set to, and when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    tick: u64,
    pub end: Time,
}

impl WheelTimer {
    /// If it is set now for so long, a tick at least.  Set to the tick to which it is set already, it stays where it is in the wheel,
    /// though it would end sooner if it began now (`mod_timer`).  At a tick at which it has ended the wheel has gone on.
    pub fn due(&self, now: Time, wait: Time) -> Due {
        let tick = now.ms() + in_ticks(wait).ms();
        if tick == self.set.tick {
            return self.set; // it ends after its tick, so it has not ended
        }
        let wheel = now.ms() + u64::from(self.ended == Some(now.ms()));
        Due { tick, end: end_of(tick, wheel.min(tick)) }
    }

    pub fn set(&mut self, due: Due) {
        self.set = due;
    }

    pub fn on_end(&mut self, now: Time) {
        self.ended = Some(now.ms());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(now_us: u64, wait_us: u64) -> u64 {
        timer_end(Time(now_us * 1000), Time(wait_us * 1000)).ms()
    }

    /// What a kernel did (7.3.4): reordering timers of 7 ms and 8 ms.
    #[test]
    fn a_short_timer_ends_on_the_second_tick_after_its_time_at_the_latest() {
        assert_eq!(end(150_882, 6_910), 158);
        assert_eq!(end(224_901, 7_030), 233);
        assert_eq!(end(2_000, 1_000), 4);
    }

    #[test]
    fn set_to_the_same_tick_it_ends_when_it_would_have() {
        let (ms, mut timer) = (Time::from_ms, WheelTimer::default());
        let long = timer.due(ms(10), ms(224));
        timer.set(long);
        assert_eq!(long.end, ms(240));
        assert_eq!([25, 26, 27].map(|wait| timer.due(ms(208), ms(wait)).end.ms()), [234, 240, 236]);
        assert_eq!(timer.due(ms(240), ms(26)).end, ms(267), "it has ended");
    }

    /// What a kernel did (7.3.4): 504 ms, from a timeout on.
    #[test]
    fn at_its_end_the_wheel_is_a_tick_ahead() {
        let (ms, mut timer) = (Time::from_ms, WheelTimer::default());
        let waits = [63, 64, 504, 505].map(ms);
        assert_eq!(waits.map(|wait| timer.due(ms(1376), wait).end.ms()), [1440, 1448, 1912, 1912]);
        timer.on_end(ms(1376));
        assert_eq!(waits.map(|wait| timer.due(ms(1376), wait).end.ms()), [1440, 1448, 1888, 1912]);
        assert_eq!(timer.due(ms(1377), ms(504)).end.ms(), 1912);
    }

    #[test]
    fn a_longer_one_ends_by_eight_ticks_or_by_sixty_four() {
        assert_eq!(end(0, 62_000), 63);
        assert_eq!(end(0, 63_000), 64);
        assert_eq!(end(1_500, 220_000), 224);
        assert_eq!(end(0, 503_000), 504);
        assert_eq!(end(0, 504_000), 568);
        // A SYN again, and a SYN-ACK (7.3.4).
        assert_eq!(end(0, 1_000_000), 1016);
        assert_eq!(end(10_013, 1_000_000), 1016);
    }
}
