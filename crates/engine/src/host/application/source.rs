use ccperf_schema::lowered;
use ccperf_schema::lowered::Distribution;

use super::Transfer;
use crate::base::event::{Event, EventQueue, Key};
use crate::base::rng::RandomVariable;
use crate::base::time::{Rate, Time};
use crate::host::tcp::Write;

/// A source that writes packets at times of its own, whatever TCP can carry: at a constant rate while
/// it is on, as ns-3's `OnOffApplication`, with random gaps, as a Poisson process, or in writes at equal distances.
///
/// A packet that does not fit into the send buffer is kept, with its stamp, and tried again when the
/// next one would be due; that one is not produced.  A finite source closes with the packet that
/// reaches its number of bytes, which is a whole one, but of writes at equal distances.
#[derive(Debug)]
pub struct Source {
    /// Bytes after which it closes; 0: never.
    bytes: u64,
    gaps: Gaps,
    /// Lengths of the periods in which it sends and in which it does not.
    periods: Option<Periods>,
    /// When the packet was created that the socket refused.
    refused: Option<Time>,
    /// Bytes of a packet of which Linux has taken a part: they go before others, and as soon as they can.
    rest: u32,
    /// The source closes behind them.
    is_closing: bool,
    /// When the next packet is due.
    send: Option<Key>,
    /// When the present period ends.
    switch: Option<Key>,
    pub transfer: Transfer,
}

/// What the source waits for between packets.
#[derive(Debug)]
enum Gaps {
    /// The time that a packet takes at a rate, less what was "sent" of it before the source went off.
    Constant { rate: Rate, residual_bits: u32, since: Time },
    /// Seconds.
    Random(RandomVariable),
    /// The first write is due at once.
    Regular(Time),
}

/// Seconds.
#[derive(Debug)]
struct Periods {
    on: RandomVariable,
    off: RandomVariable,
    is_on: bool,
}

/// What an event of a source is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Send,
    Switch,
}

impl Source {
    pub fn on_off(setup: &lowered::OnOff, seed: u64) -> Self {
        let variable = |v, offset| RandomVariable::new(v, seed, setup.stream + offset);
        let periods =
            Periods { on: variable(setup.on_s, 0), off: variable(setup.off_s, 1), is_on: false };
        let rate = Rate(setup.rate_bps);
        let gaps = Gaps::Constant { rate, residual_bits: 0, since: Time::ZERO };
        Self::new(setup.bytes, setup.write_bytes, gaps, Some(periods))
    }

    pub fn poisson(setup: &lowered::Poisson, seed: u64) -> Self {
        let mean = f64::from(setup.write_bytes) * 8.0 / setup.rate_bps as f64;
        let distribution = Distribution::Exponential { mean, bound: 0.0 };
        let gaps = Gaps::Random(RandomVariable::new(distribution, seed, setup.stream));
        Self::new(setup.bytes, setup.write_bytes, gaps, None)
    }

    /// Writes of so many bytes, the last one of what is left, so far apart.
    pub fn regular(bytes: u64, write_size: u32, gap: Time) -> Self {
        let transfer = Transfer::new(write_size, bytes);
        Source { transfer, ..Self::new(bytes, write_size, Gaps::Regular(gap), None) }
    }

    fn new(bytes: u64, write_size: u32, gaps: Gaps, periods: Option<Periods>) -> Self {
        Source {
            bytes,
            gaps,
            periods,
            refused: None,
            rest: 0,
            is_closing: false,
            send: None,
            switch: None,
            transfer: Transfer::new(write_size, 0),
        }
    }

    /// Whether periods in which it sends alternate with others.
    pub fn has_periods(&self) -> bool {
        self.periods.is_some()
    }

    /// Of the write that is due.
    pub fn write_size(&self) -> u32 {
        let whole = self.transfer.write_size.get();
        match self.gaps {
            Gaps::Regular(_) => {
                let left = self.bytes - self.transfer.written;
                u32::try_from(left).map_or(whole, |left| left.min(whole))
            }
            _ => whole,
        }
    }

    /// What it gives the socket now: nothing as long as that has not taken all of the last packet.
    pub fn next_write(&self) -> u32 {
        if self.rest > 0 { 0 } else { self.write_size() }
    }

    /// Bytes that the socket has not taken of its last packet.
    pub fn rest(&self) -> u32 {
        self.rest
    }

    /// The socket has room for so many bytes: what it takes of the rest.
    pub fn fill(&mut self, free: u32) -> Write {
        let bytes = self.rest.min(free);
        self.rest -= bytes;
        let close = self.rest == 0 && std::mem::take(&mut self.is_closing);
        Write { bytes, size: bytes, close }
    }

    /// The connection is established: a source with periods begins with one in which it is off.  `due`: the
    /// event that it queues for what it does next, here and below.
    pub fn on_connected(&mut self, due: Event, events: &mut EventQueue) {
        match &mut self.periods {
            Some(periods) => {
                let delay = Time::from_secs_f64(periods.off.draw());
                self.switch = Some(events.schedule(delay, due));
            }
            None if matches!(self.gaps, Gaps::Regular(_)) => {
                self.send = Some(events.schedule(Time::ZERO, due));
            }
            None => self.schedule_next(due, events),
        }
    }

    /// What the event is for that runs now; an event that was cancelled is for nothing.
    pub fn take_due(&mut self, now: Key) -> Option<Due> {
        if self.send == Some(now) {
            self.send = None;
            Some(Due::Send)
        } else if self.switch == Some(now) {
            self.switch = None;
            Some(Due::Switch)
        } else {
            None
        }
    }

    /// The period ends and the other one begins.
    pub fn switch(&mut self, due: Event, events: &mut EventQueue) {
        let now = events.now().time;
        if self.periods.as_ref().is_some_and(|periods| periods.is_on) {
            self.cancel(now);
        } else {
            if let Gaps::Constant { since, .. } = &mut self.gaps {
                *since = now;
            }
            self.schedule_next(due, events);
        }
        let Some(periods) = &mut self.periods else { return };
        let length = if periods.is_on { &mut periods.off } else { &mut periods.on };
        periods.is_on = !periods.is_on;
        let delay = Time::from_secs_f64(length.draw());
        self.switch = Some(events.schedule(delay, due));
    }

    /// What is due was given to the socket, which has taken so many bytes of it, or refused it.
    ///
    /// Returns whether the source has sent all it has, and closes.
    pub fn on_sent(&mut self, taken: u32, due: Event, events: &mut EventQueue) -> bool {
        let now = events.now().time;
        let created = self.refused.take().unwrap_or(now);
        if taken > 0 {
            let size = self.write_size();
            self.rest = size - taken;
            self.transfer.on_written(created, size);
        } else {
            self.refused = Some(created);
        }
        if let Gaps::Constant { residual_bits, since, .. } = &mut self.gaps {
            *residual_bits = 0;
            *since = now;
        }
        let done = self.bytes > 0 && self.transfer.written >= self.bytes;
        if done {
            return self.stop(now);
        }
        self.schedule_next(due, events);
        false
    }

    /// The application stops.  Returns whether the source closes at once: not before it has given the socket its rest.
    pub fn stop(&mut self, now: Time) -> bool {
        self.cancel(now);
        self.is_closing = self.rest > 0;
        !self.is_closing
    }

    /// Nothing is due any more.  What would have gone out of the next packet by now counts when the
    /// source is on again; a packet that was refused is gone.
    pub fn cancel(&mut self, now: Time) {
        if let Gaps::Constant { rate, residual_bits, since } = &mut self.gaps
            && self.send.is_some()
        {
            *residual_bits += rate.bits_in(now - *since) as u32;
        }
        self.send = None;
        self.switch = None;
        self.refused = None;
    }

    fn schedule_next(&mut self, due: Event, events: &mut EventQueue) {
        let delay = match &mut self.gaps {
            Gaps::Constant { rate, residual_bits, .. } => {
                let bits = (self.transfer.write_size.get() * 8).saturating_sub(*residual_bits);
                Time::from_secs_f64(f64::from(bits) / rate.0 as f64)
            }
            Gaps::Random(variable) => Time::from_secs_f64(variable.draw()),
            Gaps::Regular(gap) => *gap,
        };
        self.send = Some(events.schedule(delay, due));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::event::Token;
    use crate::base::math;

    const DUE: Event = Event::Endpoint(Token(0), 0);

    /// Times at which packets are due, in ns, with a socket that accepts everything.
    fn departures(mut source: Source, count: usize) -> Vec<u64> {
        let mut events = EventQueue::default();
        let mut times = Vec::new();
        source.on_connected(DUE, &mut events);
        while times.len() < count && events.pop(Time::MAX).is_some() {
            match source.take_due(events.now()) {
                Some(Due::Switch) => source.switch(DUE, &mut events),
                Some(Due::Send) => {
                    times.push(events.now().time.0);
                    source.on_sent(source.next_write(), DUE, &mut events);
                }
                None => {}
            }
        }
        times
    }

    fn gaps(times: &[u64]) -> Vec<f64> {
        times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
    }

    fn on_off(rate_bps: u64, on_s: Distribution, off_s: Distribution, bytes: u64) -> Source {
        let setup = lowered::OnOff { bytes, write_bytes: 500, rate_bps, on_s, off_s, stream: 256 };
        Source::on_off(&setup, 1)
    }

    const ALWAYS: Distribution = Distribution::Constant(1e9);
    const NEVER: Distribution = Distribution::Constant(0.0);

    /// Exponential gaps: the standard deviation is the mean, and gaps know nothing of each other.
    #[test]
    fn gaps_of_a_poisson_source_are_exponential() {
        const N: usize = 200_000;
        let setup =
            lowered::Poisson { bytes: 0, write_bytes: 500, rate_bps: 4_000_000, stream: 512 };
        let gaps = gaps(&departures(Source::poisson(&setup, 1), N + 1));
        let mean = gaps.iter().sum::<f64>() / N as f64;
        let moment =
            |k: f64| gaps.iter().map(|gap| math::pow(gap - mean, k)).sum::<f64>() / N as f64;
        // Four standard errors each: 1/sqrt(n) of the mean, sqrt(8/n) of the variance.
        assert!((mean / 1e6 - 1.0).abs() < 0.009, "mean {mean}");
        assert!((moment(2.0) / 1e12 - 1.0).abs() < 0.026, "variance {}", moment(2.0));
        let product = gaps.windows(2).map(|g| (g[0] - mean) * (g[1] - mean)).sum::<f64>();
        assert!((product / N as f64 / moment(2.0)).abs() < 0.009, "gaps are correlated");
        let above = |limit: f64| gaps.iter().filter(|&&gap| gap > limit).count() as f64 / N as f64;
        for means in [0.5, 1.0, 2.0, 4.0f64] {
            assert!((above(means * 1e6) - math::exp(-means)).abs() < 0.005, "above {means} means");
        }
    }

    #[test]
    fn packets_of_a_constant_bit_rate_are_equally_spaced() {
        let times = departures(on_off(4_000_000, ALWAYS, NEVER, 0), 1_000);
        assert_eq!(times, (1..=1_000).map(|i| i * 1_000_000).collect::<Vec<_>>());
        // 4000 bits at 3 Mbps, to the nearest nanosecond each.
        let times = departures(on_off(3_000_000, ALWAYS, NEVER, 0), 3);
        assert_eq!(times, [1_333_333, 2_666_666, 3_999_999]);
    }

    /// What is sent of a packet when the source goes off is not lost: the rate while it is on is exact.
    #[test]
    fn the_rate_of_an_on_off_source_is_that_of_its_periods() {
        let constant = Distribution::Constant;
        let times = departures(on_off(4_000_000, constant(0.0003), constant(0.0001), 0), 3_000);
        // Each packet takes 1 ms of on time, 4/3 ms in all; a bit may be lost in each period.
        let seconds = *times.last().unwrap() as f64 / 1e9;
        assert!((seconds / (3_000.0 * 4.0 / 3_000.0) - 1.0).abs() < 0.002, "{seconds} s");

        let exponential = |mean| Distribution::Exponential { mean, bound: 0.0 };
        let times = departures(on_off(4_000_000, exponential(0.05), exponential(0.15), 0), 40_000);
        let seconds = *times.last().unwrap() as f64 / 1e9;
        // 800 pairs of periods of 0.2 s in all: four standard errors of about 4 %.
        assert!((seconds / 160.0 - 1.0).abs() < 0.16, "{seconds} s");
    }

    #[test]
    fn writes_at_equal_distances_begin_at_once_and_the_last_one_is_what_is_left() {
        for (bytes, last) in [(1_001, 1), (1_000, 500)] {
            let mut events = EventQueue::default();
            let mut source = Source::regular(bytes, 500, Time(7));
            source.on_connected(DUE, &mut events);
            let mut writes = Vec::new();
            while events.pop(Time::MAX).is_some() {
                assert_eq!(source.take_due(events.now()), Some(Due::Send));
                writes.push((events.now().time.0, source.write_size()));
                source.on_sent(source.next_write(), DUE, &mut events);
            }
            let expected = [(0, 500), (7, 500), (14, 1)];
            assert_eq!(writes[..], expected[..writes.len()]);
            assert_eq!(writes.last().unwrap().1, last);
            source.transfer.on_read(Time(20), 500);
            assert!(!source.transfer.has_arrived());
            source.transfer.on_read(Time(20), bytes as u32 - 500);
            assert!(source.transfer.has_arrived());
        }
    }

    #[test]
    fn a_finite_source_ends_with_the_packet_that_reaches_its_bytes() {
        assert_eq!(departures(on_off(4_000_000, ALWAYS, NEVER, 1_001), 100).len(), 3);
        assert_eq!(departures(on_off(4_000_000, ALWAYS, NEVER, 1_000), 100).len(), 2);
    }

    /// As Linux takes it: what is left goes before other packets, and before the end.
    #[test]
    fn a_packet_that_is_taken_in_part_has_a_rest() {
        let mut source = on_off(4_000_000, ALWAYS, NEVER, 1_000);
        let mut events = EventQueue::default();
        source.on_connected(DUE, &mut events);
        assert_eq!((source.rest(), source.next_write()), (0, 500));
        assert!(!source.on_sent(300, DUE, &mut events));
        assert_eq!((source.rest(), source.next_write()), (200, 0));
        assert!(!source.on_sent(0, DUE, &mut events), "nothing was given");
        assert_eq!(source.fill(150), Write { bytes: 150, size: 150, close: false });
        assert_eq!(source.fill(150), Write { bytes: 50, size: 50, close: false });
        assert!(!source.on_sent(499, DUE, &mut events), "it is the last, but for a byte");
        assert_eq!(source.fill(0), Write::default());
        assert_eq!(source.fill(9), Write { bytes: 1, size: 1, close: true });
        assert_eq!(source.fill(9), Write::default());
    }

    #[test]
    fn a_source_that_is_stopped_closes_behind_its_rest() {
        for (taken, is_at_once) in [(500, true), (300, false)] {
            let mut source = on_off(4_000_000, ALWAYS, NEVER, 0);
            let mut events = EventQueue::default();
            source.on_connected(DUE, &mut events);
            source.on_sent(taken, DUE, &mut events);
            assert_eq!(source.stop(Time::ZERO), is_at_once);
            assert_eq!(source.fill(500).close, !is_at_once);
        }
    }

    /// A refused packet is offered again when the next is due, with its own stamp.
    #[test]
    fn a_refused_packet_takes_the_place_of_the_next() {
        let mut source = on_off(4_000_000, ALWAYS, NEVER, 0);
        let mut events = EventQueue::default();
        source.on_connected(DUE, &mut events);
        let mut sent = 0;
        while sent < 3 && events.pop(Time::MAX).is_some() {
            match source.take_due(events.now()) {
                Some(Due::Switch) => source.switch(DUE, &mut events),
                Some(Due::Send) => {
                    sent += 1;
                    let taken = if sent == 3 { source.next_write() } else { 0 };
                    source.on_sent(taken, DUE, &mut events);
                }
                None => {}
            }
        }
        source.transfer.on_read(Time(10_000_000), 500);
        assert_eq!(source.transfer.read, source.transfer.written);
        assert_eq!(source.transfer.one_way_delay, Some(Time(9_000_000)));
    }
}
