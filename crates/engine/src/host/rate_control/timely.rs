//! TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, section 4 and algorithm 1).
//!
//! ```text
//! each segment:  diff = (1 - alpha) diff + alpha (rtt - last rtt),   gradient = diff / minRTT
//!   rtt < T_low:         R = R + delta
//!   rtt > T_high:        R = R (1 - beta (1 - T_high / rtt))
//!   gradient <= 0:       R = R + N delta      N = 5 after five such segments in a row (HAI), or else 1
//!   or else:             R = R (1 - beta gradient)
//! ```
//!
//! A segment leaves back to back, and the rate holds the next one back.  Its round trip is that of its last packet, which is its
//! completion less the time that it takes to send.  minRTT is a constant, as in the paper; where round trips are much shorter, and with
//! their own minRTT, flows cut each other down to the least rate by the bursts that their segments are.  delta is a share of the
//! sender's link: the paper's 10 Mbps at 10 Gbps are 0.001.  A sender begins at the rate of its link.
//!
//! The paper has no least rate; here it is a share of the link, since a rate cannot be 0.

use super::law::{Ack, RateControl};
use crate::base::attributes::{Attributes, FRACTION, Kind, Spec, param};
use crate::base::time::Rate;
use crate::host::path::Path;

pub const SPEC: Spec = Spec {
    ns3: "Timely",
    linux: &["timely"],
    is_in_linux: false,
    doc: "Rates from the gradient of round trips.",
    source: "Mittal et al., ACM SIGCOMM 2015",
    departures: &[],
    params: &[
        param!["Alpha"; FRACTION => "0.875";
            "alpha, the weight of a new difference of round trips."],
        param!["Beta"; FRACTION => "0.8"; "beta, of decreases."],
        param!["AdditiveIncrease"; FRACTION => "0.001"; "delta, as a share of the link's rate."],
        param!["TLow"; Kind::Time => "50us"; "T_low, below which the rate grows in any case."],
        param!["THigh"; Kind::Time => "500us"; "T_high, above which it falls in any case."],
        param!["MinRtt"; Kind::Period => "20us"; "minRTT, that a gradient is measured in."],
        param!["HaiThreshold"; Kind::Uint { min: 1, max: 1000 } => "5";
            "Segments in a row without a positive gradient, from which on the rate grows by N delta."],
        param!["HaiFactor"; Kind::Uint { min: 1, max: 1000 } => "5"; "N in hyperactive increase."],
        param!["HaiBelowTLow"; Kind::Bool => "false";
            "Segments below T_low count for HAI, too, and grow by N delta."],
        param!["Segment"; Kind::Uint { min: 0, max: 1 << 24 } => "16000";
            "Bytes on the wire between two round trips that count; 0: packets leave one by one, and one counts in a round trip."],
        param!["MinRate"; FRACTION => "0.0025"; "The least rate, as a share of the link's rate."],
    ],
};

pub(super) const BELOW: &[[&str; 2]] = &[["TLow", "THigh"]];

#[derive(Debug)]
pub struct Timely {
    /// Rates in bit/s.
    line: f64,
    current: f64,
    min: f64,
    delta: f64,
    /// In ns: the last round trip, and the smoothed difference.
    last: Option<f64>,
    diff: f64,
    /// Segments in a row without a positive gradient.
    calm: u32,
    /// Packets of a segment, and the end of the one that counts next.
    packets: u32,
    due: u32,
    burst: u32,
    counts_below: bool,
    min_rtt: f64,
    t_low: f64,
    t_high: f64,
    alpha: f64,
    beta: f64,
    hai_threshold: u32,
    hai_factor: f64,
}

pub(super) fn new(a: &Attributes<'_>, path: &Path) -> Timely {
    let line = path.line.0 as f64;
    let [min_rtt, t_low, t_high] = ["MinRtt", "TLow", "THigh"].map(|name| a.time(name).0 as f64);
    let segment = a.u32("Segment");
    let packets = (segment / path.packet).max(u32::from(segment > 0));
    Timely {
        line,
        current: line,
        min: line * a.f64("MinRate"),
        delta: line * a.f64("AdditiveIncrease"),
        last: None,
        diff: 0.0,
        calm: 0,
        packets,
        due: packets,
        burst: packets * path.packet,
        counts_below: a.bool("HaiBelowTLow"),
        min_rtt,
        t_low,
        t_high,
        alpha: a.f64("Alpha"),
        beta: a.f64("Beta"),
        hai_threshold: a.u32("HaiThreshold"),
        hai_factor: a.f64("HaiFactor"),
    }
}

impl Timely {
    /// The round trip of a segment.
    fn on_completion(&mut self, rtt: f64) {
        let Some(last) = self.last.replace(rtt) else { return };
        self.diff += self.alpha * (rtt - last - self.diff);
        let gradient = self.diff / self.min_rtt;
        let is_below = rtt < self.t_low;
        let grows = is_below || rtt <= self.t_high && gradient <= 0.0;
        self.calm = if grows && (!is_below || self.counts_below) { self.calm + 1 } else { 0 };
        let rate = if grows {
            let is_hyperactive = self.calm >= self.hai_threshold;
            self.current + self.delta * if is_hyperactive { self.hai_factor } else { 1.0 }
        } else if rtt > self.t_high {
            self.current * (1.0 - self.beta * (1.0 - self.t_high / rtt))
        } else {
            self.current * (1.0 - self.beta * gradient)
        };
        self.current = rate.max(self.min).min(self.line);
    }
}

impl RateControl for Timely {
    fn rate(&self) -> Rate {
        Rate((self.current as u64).max(1))
    }

    fn burst(&self) -> u32 {
        self.burst
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.packets == 0 || ack.number < self.due {
            return;
        }
        self.due = match self.packets {
            // What is sent from now on.
            0 => ack.next + 1,
            packets => (ack.number / packets + 1) * packets,
        };
        self.on_completion(ack.rtt.0 as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, given};
    use super::*;
    use crate::base::time::Time;
    use crate::packet::telemetry::Hops;

    const LINE: f64 = 10e9;
    const PATH: Path =
        Path { line: Rate(10_000_000_000), rtt: Time(20_000), switches: 1, packet: 1000 };

    fn sender(values: &[(&str, &str)]) -> Timely {
        let mut law = new(&Attributes::new(&SPEC, &given(values)), &PATH);
        law.current = LINE / 2.0;
        law
    }

    /// The rate after segments with these round trips in us, over that before the last one.
    fn after(law: &mut Timely, rtts: &[f64]) -> (f64, f64) {
        let mut before = 0.0;
        for rtt in rtts {
            before = law.current;
            law.on_completion(rtt * 1e3);
        }
        (law.current, before)
    }

    #[test]
    fn below_t_low_it_adds_whatever_the_gradient() {
        let (rate, before) = after(&mut sender(&[]), &[20.0, 49.9]);
        close(rate, before + 10e6);
    }

    #[test]
    fn above_t_high_it_cuts_in_proportion_whatever_the_gradient() {
        let (rate, before) = after(&mut sender(&[]), &[2000.0, 1000.0]);
        close(rate, before * (1.0 - 0.8 * 0.5));
        let (rate, before) = after(&mut sender(&[]), &[100.0, 625.0]);
        close(rate, before * (1.0 - 0.8 * 0.2));
    }

    #[test]
    fn between_both_it_follows_the_gradient() {
        // 8 us more in a segment, of which 7/8 count, over 20 us.
        let (rate, before) = after(&mut sender(&[]), &[100.0, 108.0]);
        close(rate, before * (1.0 - 0.8 * 0.35));
        // Then nothing more: an eighth of it is left.
        let mut law = sender(&[]);
        let (rate, before) = after(&mut law, &[100.0, 108.0, 108.0]);
        close(rate, before * (1.0 - 0.8 * 0.35 / 8.0));
        // Less: 7/8 of -8 us and that eighth.
        let (rate, before) = after(&mut law, &[100.0]);
        close(rate, before + 10e6);
        close(law.diff, -7_000.0 + 7_000.0 / 64.0);
    }

    #[test]
    fn at_the_thresholds_themselves_the_gradient_decides() {
        for rtt in [50.0, 500.0] {
            let (rate, before) = after(&mut sender(&[]), &[rtt, rtt]);
            close(rate, before + 10e6);
            let (rate, before) = after(&mut sender(&[]), &[rtt - 2.0, rtt]);
            close(rate, before * (1.0 - 0.8 * 1.75 / 20.0));
        }
    }

    #[test]
    fn it_grows_fivefold_from_the_fifth_segment_without_a_positive_gradient() {
        let mut law = sender(&[]);
        law.on_completion(100_000.0);
        let steps: Vec<_> = (0..7)
            .map(|_| after(&mut law, &[100.0]))
            .map(|(rate, before)| ((rate - before) / 10e6).round() as u32)
            .collect();
        assert_eq!(steps, [1, 1, 1, 1, 5, 5, 5]);
        after(&mut law, &[101.0]);
        let (rate, before) = after(&mut law, &[90.0]);
        close(rate, before + 10e6);
        // Round trips below T_low are no such segments.
        let mut law = sender(&[]);
        law.on_completion(40_000.0);
        (0..9).for_each(|_| law.on_completion(40_000.0));
        close(law.current, LINE / 2.0 + 9.0 * 10e6);
    }

    #[test]
    fn a_rate_stays_between_the_least_and_that_of_the_link() {
        let mut law = sender(&[]);
        (0..100).for_each(|n| law.on_completion(f64::from(n) * 5_000.0));
        close(law.current, LINE * 0.0025);
        let mut law = sender(&[]);
        (0..1000).for_each(|_| law.on_completion(20_000.0));
        close(law.current, LINE);
    }

    #[test]
    fn a_segment_counts_once_when_its_last_packet_is_acknowledged() {
        let mut law = sender(&[]);
        assert_eq!((law.burst(), law.packets), (16_000, 16));
        let mut counted = Vec::new();
        let hops = &Hops::default();
        for number in (1..=20).chain([20, 40, 47, 48]) {
            let before = law.last.take();
            let packets = u32::from(number != 20 || before.is_none());
            let (now, rtt) = (Time::ZERO, Time(30_000));
            law.on_ack(&Ack { now, rtt, number, packets, next: 99, hops });
            if law.last.is_some() {
                counted.push(number);
            }
        }
        assert_eq!(counted, [16, 40, 48]);
        // A segment is a packet at least.
        assert_eq!(new(&Attributes::new(&SPEC, &given(&[("Segment", "1")])), &PATH).packets, 1);
    }

    #[test]
    fn without_segments_packets_leave_one_by_one_and_one_counts_in_a_round_trip() {
        let mut law = sender(&[("Segment", "0")]);
        assert_eq!(law.burst(), 0);
        let mut counted = Vec::new();
        let hops = &Hops::default();
        // The first one, and then what was sent after the one before had counted.
        for (number, next) in [(1, 10), (2, 11), (10, 19), (11, 20), (12, 21), (20, 29), (21, 30)] {
            let before = law.last.take();
            let (now, rtt) = (Time::ZERO, Time(30_000));
            law.on_ack(&Ack { now, rtt, number, packets: 1, next, hops });
            if law.last.is_some() {
                counted.push(number);
            }
            law.last = law.last.or(before);
        }
        assert_eq!(counted, [1, 11, 21]);
    }

    #[test]
    fn segments_below_t_low_may_count_for_hyperactive_increase() {
        let mut law = sender(&[("HaiBelowTLow", "true"), ("HaiThreshold", "6")]);
        law.on_completion(40_000.0);
        for steps in [1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 5.0] {
            let (rate, before) = after(&mut law, &[40.0]);
            close(rate, before + steps * 10e6);
        }
    }
}
