//! What the senders of a rack share of the paths to another one, as Hermes has it (H. Zhang et al., ACM SIGCOMM
//! 2017, section 3.1): marks, round trips, how much goes by them and what speaks against them.

use super::failures::{Evidence, Failure};
use crate::base::time::Time;

/// Rates: so much is forgotten so often.
const FORGET: f64 = 0.2;
const PERIOD: Time = Time(32_000);

#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// The least round trip, in ns.
    pub least: Option<f64>,
    pub paths: Vec<Path>,
    /// When it was judged last which of them have failed.
    pub judged: Time,
}

/// A path from one rack to another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path {
    pub ecn: f64,
    pub rtt: Option<f64>,
    pub rate: Rate,
    pub evidence: Evidence,
    pub failure: Failure,
    /// When the window began whose least round trip `rtt` is.
    pub window: Option<Time>,
}

/// How round trips become that of a path.
#[derive(Clone, Copy, Debug)]
pub enum Smoothing {
    /// An average with this gain.
    Average(f64),
    /// The least one in windows of this length.
    LeastOf(Time),
}

impl Rack {
    pub fn grow(&mut self, paths: u32) -> &mut Self {
        if self.paths.len() < paths as usize {
            self.paths.resize(paths as usize, Path::default());
        }
        self
    }

    pub fn note_rtt(&mut self, path: u32, rtt: Time, now: Time, smoothing: Smoothing) {
        let rtt = rtt.0 as f64;
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        let path = &mut self.paths[path as usize];
        path.rtt = Some(match (smoothing, path.rtt) {
            (Smoothing::Average(gain), Some(average)) => average + gain * (rtt - average),
            (Smoothing::LeastOf(window), Some(least))
                if path.window.is_some_and(|since| now.0 - since.0 < window.0) =>
            {
                least.min(rtt)
            }
            _ => {
                path.window = Some(now);
                rtt
            }
        });
    }

    pub fn note_mark(&mut self, path: u32, is_marked: bool, gain: f64) {
        let path = &mut self.paths[path as usize];
        path.ecn += gain * (f64::from(u8::from(is_marked)) - path.ecn);
    }
}

/// Bytes, of which a part is forgotten all the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    pub bytes: f64,
    pub since: Time,
}

impl Rate {
    pub fn at(&self, now: Time) -> f64 {
        let periods = (now.0 - self.since.0) / PERIOD.0;
        self.bytes * power(1.0 - FORGET, periods)
    }

    pub fn add(&mut self, bytes: u32, now: Time) {
        let periods = (now.0 - self.since.0) / PERIOD.0;
        self.bytes = self.at(now) + f64::from(bytes);
        self.since = Time(self.since.0 + periods * PERIOD.0);
    }

    /// In bit/s.
    pub fn bits_per_second(&self, now: Time) -> f64 {
        self.at(now) * FORGET / PERIOD.0 as f64 * 8e9
    }
}

/// By multiplications alone, the same everywhere.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a path's round trip is after each of these samples, all in us.
    fn seen(smoothing: Smoothing, samples: &[(u64, u64)]) -> Vec<f64> {
        let mut rack = Rack::default();
        rack.grow(1);
        let note = |&(at, rtt): &(u64, u64)| {
            rack.note_rtt(0, Time(rtt * 1000), Time(at * 1000), smoothing);
            rack.paths[0].rtt.map_or(0.0, |ns| ns / 1e3)
        };
        samples.iter().map(note).collect()
    }

    #[test]
    fn an_average_moves_by_its_gain_and_a_window_keeps_its_least() {
        let samples = [(0, 100), (10, 180), (20, 120), (100, 300), (150, 200)];
        assert_eq!(seen(Smoothing::Average(0.5), &samples[..3]), [100.0, 140.0, 130.0]);
        let window = Smoothing::LeastOf(Time(100_000));
        assert_eq!(seen(window, &samples), [100.0, 100.0, 100.0, 300.0, 200.0]);
    }
}
