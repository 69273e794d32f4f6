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
    let ticks = in_ticks(wait).ms();
    let end = now.ms() + FIRST_TICK + ticks;
    let mut shift = 0;
    while ticks >= TICKS_BY_ONE << shift {
        shift += COARSER;
    }
    Time::from_ms((((end >> shift) + 1) << shift) - FIRST_TICK)
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
