//! NSCC, network signal-based congestion control: the window of an Ultra Ethernet sender (UE Specification 1.0, 2025; where the
//! standard leaves a choice, as in the consortium's simulator, `uet-htsim`).
//!
//! ```text
//! delay = rtt - base,   target = TargetQdelay base
//! a = bdp / (100 Gbps 12 us),   b = target / 12 us,   packets are those of 100 Gbps and 12 us
//!
//! ACK of n bytes,  no mark, delay <  target:   inc += 4 a b packets (1 - delay / target) n      proportional increase
//!                  no mark, delay >= target:   inc += 5 a packets n                             fair increase
//!                  mark,    delay <  target:   nothing: its path is busy, others are not
//!                  mark,    delay >= target:   cwnd *= max(1 - gamma (mean - target) / mean, 1/2)
//!                                              if mean > target, once in a round trip
//! delay < 1 us for a whole window:             cwnd += a n / 4                                  fast increase
//! each 8 packets or round trip:                cwnd += inc / cwnd, and each round trip 0.15 a packets more
//! cut packet of n bytes:                       cwnd -= n
//! timeout of n bytes:                          cwnd -= n
//! ```
//!
//! Quick adapt: if in base + target less than maxwnd / 8 has arrived, and a packet was cut or a delay was beyond 4 targets, cwnd is
//! what has arrived, and answers to what was in flight then are passed over.
//!
//! The mean is of each packet's delay, with the weight DelayAlpha. One without a mark beyond the target counts as a quarter
//! of base, and a cut packet as base.  maxwnd is 1.5 bdp, which is also the first window; base is the least RTT so far.
//!
//! The paths of its packets are the scenario's `routing`, and its receiver answers each packet, where the standard lets it
//! answer one in four.

use super::{Answer, Control};
use crate::base::attributes::{Attributes, FRACTION, Kind, Spec, param};
use crate::base::time::{Rate, Time};
use crate::host::path::{Path, in_flight};

const PACKETS: Kind = Kind::Real { min: 0.0, max: 1e6 };

pub const SPEC: Spec = Spec {
    ns3: "Nscc",
    linux: &["nscc"],
    is_in_linux: false,
    doc: "Ultra Ethernet's window, which marks, delays and cut packets move.",
    source: "Ultra Ethernet Consortium, UE Specification 1.0, 2025",
    departures: &[],
    params: &[
        param!["TargetQdelay"; Kind::Real { min: 0.01, max: 100.0 } => "0.75";
            "The delay in queues that it aims at, of the least round trip."],
        param!["MaxWnd"; Kind::Real { min: 0.01, max: 100.0 } => "1.5";
            "The largest window, which is also the first, of what the link carries in a round trip."],
        param!["Alpha"; PACKETS => "4"; "Proportional increase, packets a round trip."],
        param!["Fi"; PACKETS => "5"; "Fair increase, packets a round trip."],
        param!["Eta"; PACKETS => "0.15"; "What is always added, packets a round trip."],
        param!["FiScale"; FRACTION => "0.25"; "Fast increase, of what was acknowledged."],
        param!["Gamma"; FRACTION => "0.8"; "The weight of the excess over the target in a decrease."],
        param!["MaxMdJump"; FRACTION => "0.5"; "The largest decrease in a round trip."],
        param!["DelayAlpha"; FRACTION => "0.0125"; "The weight of a packet in the mean delay."],
        param!["QaGate"; Kind::Uint { min: 0, max: 30 } => "3";
            "Quick adapt needs that less than MaxWnd / 2^QaGate has arrived."],
        param!["QaThreshold"; Kind::Real { min: 0.0, max: 1000.0 } => "4";
            "Quick adapt needs a cut packet, or a delay beyond so many targets."],
        param!["Timeout"; Kind::Period => "1ms";
            "How long a packet that nobody answers is waited for; more than the longest round trip."],
    ],
};

/// The network that increases are given for.
const REFERENCE_RATE: Rate = Rate(100_000_000_000);
const REFERENCE_RTT: Time = Time(12_000);
/// Below, nobody else is on the path.
const NO_DELAY: f64 = 1000.0;
/// Increases are added after so many packets at the latest.
const ADJUST_AFTER: f64 = 8.0;
/// Of the least round trip: what counts in place of a delay beyond the target without a mark.
const UNMARKED: f64 = 0.25;

#[derive(Debug)]
pub struct Nscc {
    // Bytes on the wire, and ns.
    packet: f64,
    line: f64,
    target_of_base: f64,
    max_of_bdp: f64,
    /// For each byte that arrives: what is added to cwnd squared.
    proportional: f64,
    fair: f64,
    /// Each round trip, and of what arrives.
    eta: f64,
    fast: f64,
    gamma: f64,
    max_decrease: f64,
    weight: f64,
    gate: f64,
    patience_of_target: f64,
    timeout: Time,
    /// The round trip that the network is said to have.
    period: Time,

    base: Time,
    cwnd: f64,
    mean: f64,
    decreased: Option<Time>,
    /// Increases that are not in cwnd, and what has arrived, since they were added last.
    increase: f64,
    arrived: f64,
    adjusted: Time,
    /// Bytes in a row without delay.
    calm: f64,
    is_fast: bool,
    /// Quick adapt: what has arrived since its period began, when it ends, and that a packet was cut in it.
    achieved: f64,
    ends: Option<Time>,
    was_cut: bool,
    /// Answers to so many bytes are passed over, and how many have been since.
    to_ignore: f64,
    ignored: f64,
}

pub(super) fn new(given: &Attributes<'_>, path: &Path) -> Nscc {
    let packet = f64::from(path.packet);
    let scale = path.bytes() / in_flight(REFERENCE_RATE.0 as f64, REFERENCE_RTT);
    let target_of_base = given.f64("TargetQdelay");
    let delays = target_of_base * path.rtt.0 as f64 / REFERENCE_RTT.0 as f64;
    let mut made = Nscc {
        packet,
        line: path.line.0 as f64,
        target_of_base,
        max_of_bdp: given.f64("MaxWnd"),
        proportional: given.f64("Alpha") * packet * scale * delays,
        fair: given.f64("Fi") * packet * scale,
        eta: given.f64("Eta") * packet * scale,
        fast: given.f64("FiScale") * scale,
        gamma: given.f64("Gamma"),
        max_decrease: given.f64("MaxMdJump"),
        weight: given.f64("DelayAlpha"),
        gate: f64::from(1_u32 << given.u32("QaGate")),
        patience_of_target: given.f64("QaThreshold"),
        timeout: given.time("Timeout"),
        period: path.rtt,
        base: path.rtt,
        cwnd: 0.0,
        mean: 0.0,
        decreased: None,
        increase: 0.0,
        arrived: 0.0,
        adjusted: Time::ZERO,
        calm: 0.0,
        is_fast: false,
        achieved: 0.0,
        ends: None,
        was_cut: false,
        to_ignore: 0.0,
        ignored: 0.0,
    };
    made.cwnd = made.max_window();
    made
}

impl Nscc {
    fn max_window(&self) -> f64 {
        (self.max_of_bdp * in_flight(self.line, self.base)).max(self.packet)
    }

    /// Of the delay in queues, ns.
    fn target(&self) -> f64 {
        self.target_of_base * self.base.0 as f64
    }

    fn bound(&mut self) {
        self.cwnd = self.cwnd.clamp(self.packet, self.max_window());
    }

    fn note_delay(&mut self, delay: f64) {
        self.mean += self.weight * (delay - self.mean);
    }

    /// Returns whether that is all there is to do now.
    fn quick_adapt(&mut self, answer: &Answer, delay: f64) -> bool {
        let passes_over = self.ignored < self.to_ignore && answer.is_marked;
        let mut adapts = false;
        if !passes_over && self.ends.is_none_or(|ends| answer.now > ends) {
            let is_late = delay > self.patience_of_target * self.target();
            adapts = self.ends.is_some()
                && (self.was_cut || is_late)
                && self.achieved < self.max_window() / self.gate;
            if adapts {
                self.cwnd = self.achieved.max(self.packet);
                (self.to_ignore, self.ignored) = (answer.in_flight as f64, 0.0);
                self.was_cut = false;
            }
            self.achieved = 0.0;
            self.ends = Some(answer.now + self.base + Time(self.target() as u64));
        }
        if passes_over || adapts {
            (self.increase, self.arrived) = (0.0, 0.0);
        }
        passes_over || adapts
    }

    fn grow(&mut self, bytes: f64, delay: f64) {
        if delay < NO_DELAY {
            self.calm += bytes;
            self.is_fast = self.is_fast || self.calm > self.cwnd;
            if self.is_fast {
                self.cwnd += self.fast * bytes;
                return;
            }
        } else {
            (self.calm, self.is_fast) = (0.0, false);
        }
        self.increase += self.proportional * bytes * (1.0 - delay / self.target());
    }

    fn decrease(&mut self, now: Time) {
        (self.calm, self.is_fast) = (0.0, false);
        let target = self.target();
        if self.mean > target && self.decreased.is_none_or(|last| now - last > self.base) {
            let excess = (self.mean - target) / self.mean;
            self.cwnd *= 1.0 - (self.gamma * excess).min(self.max_decrease);
            self.decreased = Some(now);
        }
    }

    /// Adds what has been gathered.
    fn adjust(&mut self, now: Time) {
        let is_due = now - self.adjusted >= self.period;
        if self.arrived <= ADJUST_AFTER * self.packet && !is_due {
            return;
        }
        self.cwnd += self.increase / self.cwnd;
        if is_due {
            self.cwnd += self.eta;
            self.adjusted = now;
        }
        (self.increase, self.arrived) = (0.0, 0.0);
    }
}

impl Control for Nscc {
    fn timeout(&self) -> Time {
        self.timeout
    }

    fn lets(&self, bytes: u32, in_flight: u64) -> bool {
        in_flight as f64 + f64::from(bytes) <= self.cwnd
    }

    fn on_ack(&mut self, answer: &Answer) {
        self.base = self.base.min(answer.rtt);
        let (delay, bytes) = ((answer.rtt - self.base).0 as f64, f64::from(answer.bytes));
        let is_over = delay >= self.target();
        let counts_as_base = is_over && !answer.is_marked;
        self.note_delay(if counts_as_base { UNMARKED * self.base.0 as f64 } else { delay });
        self.achieved += bytes;
        self.arrived += bytes;
        self.ignored += bytes;
        if self.quick_adapt(answer, delay) {
            return;
        }
        match (answer.is_marked, is_over) {
            (false, false) => self.grow(bytes, delay),
            (false, true) => self.increase += self.fair * bytes,
            (true, true) => self.decrease(answer.now),
            (true, false) => {}
        }
        self.bound();
        self.adjust(answer.now);
        self.bound();
    }

    fn on_trim(&mut self, answer: &Answer) {
        self.base = self.base.min(answer.rtt);
        self.ignored += f64::from(answer.bytes);
        self.note_delay(self.period.0 as f64);
        self.was_cut = true;
        if !self.quick_adapt(&Answer { is_marked: true, ..*answer }, 0.0) {
            self.cwnd -= f64::from(answer.bytes);
        }
        self.bound();
    }

    fn on_timeout(&mut self, bytes: u32) {
        self.cwnd -= f64::from(bytes);
        self.bound();
    }

    fn reads_marks(&self) -> bool {
        true
    }

    fn window(&self) -> u32 {
        self.cwnd as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const PACKET: u32 = 4000;
    /// What the reference network carries in a round trip.
    const BDP: f64 = 150_000.0;
    const PATH: Path =
        Path { line: REFERENCE_RATE, rtt: REFERENCE_RTT, switches: 1, packet: PACKET };

    fn nscc(given: &[(&str, &str)], cwnd: f64) -> Nscc {
        let given: BTreeMap<String, String> =
            given.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut made = new(&Attributes::new(&SPEC, &given), &PATH);
        made.cwnd = cwnd;
        made
    }

    fn us(us: f64) -> Time {
        Time((us * 1000.0) as u64)
    }

    /// A packet is answered at a time, after a delay in queues.
    fn answer(at: f64, delay: f64, is_marked: bool) -> Answer {
        let rtt = REFERENCE_RTT + us(delay);
        Answer { now: us(at), rtt, bytes: PACKET, is_marked, in_flight: 40_000 }
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
    }

    #[test]
    fn the_first_window_is_one_and_a_half_round_trips_and_never_less_than_a_packet() {
        let mut nscc = new(&Attributes::new(&SPEC, &BTreeMap::new()), &PATH);
        assert_eq!(nscc.window(), (1.5 * BDP) as u32);
        assert!(nscc.lets(PACKET, 221_000) && !nscc.lets(PACKET, 221_001));
        nscc.on_timeout(PACKET);
        assert_eq!(nscc.window(), 221_000);
        nscc.on_timeout(300_000);
        assert_eq!(nscc.window(), PACKET);
        assert!(nscc.lets(PACKET, 0) && !nscc.lets(PACKET, 1));
    }

    #[test]
    fn without_a_mark_the_window_grows_by_what_the_delay_leaves_below_the_target() {
        // Added after the ninth packet, of cwnd as it was until then.
        for (delay, packets) in [(4.5, 4.0 * 0.75 / 2.0), (6.75, 4.0 * 0.75 / 4.0), (9.0, 5.0)] {
            let mut nscc = nscc(&[], 100_000.0);
            (0..8).for_each(|_| nscc.on_ack(&answer(1.0, delay, false)));
            close(nscc.cwnd, 100_000.0);
            nscc.on_ack(&answer(1.0, delay, false));
            close(nscc.cwnd, 100_000.0 + packets * 4000.0 * 9.0 * 4000.0 / 100_000.0);
        }
    }

    #[test]
    fn each_round_trip_adds_a_little_also_where_marks_say_that_a_path_is_busy() {
        let mut nscc = nscc(&[], 100_000.0);
        for i in 0..23 {
            nscc.on_ack(&answer(1.0 + f64::from(i), 4.5, true));
        }
        close(nscc.cwnd, 100_000.0 + 0.15 * 4000.0);
        nscc.on_ack(&answer(24.0, 4.5, true));
        close(nscc.cwnd, 100_000.0 + 2.0 * 0.15 * 4000.0);
    }

    #[test]
    fn a_mark_beyond_the_target_decreases_once_in_a_round_trip_by_the_excess_of_the_mean() {
        let mut last = nscc(&[("DelayAlpha", "1"), ("Eta", "0")], 100_000.0);
        last.on_ack(&answer(1.0, 18.0, true));
        close(last.cwnd, 60_000.0); // 1 - 0.8 (18 - 9) / 18
        last.on_ack(&answer(13.0, 18.0, true));
        close(last.cwnd, 60_000.0);
        last.on_ack(&answer(13.1, 18.0, true));
        close(last.cwnd, 36_000.0);
        let mut halved = nscc(&[("DelayAlpha", "1"), ("Gamma", "1"), ("Eta", "0")], 100_000.0);
        halved.on_ack(&answer(1.0, 35.0, true));
        close(halved.cwnd, 50_000.0);
    }

    /// Of 80 packets at 30 us the mean is 30 (1 - 0.9875^80); one without a mark beyond the target counts as 3 us.
    #[test]
    fn the_mean_forgets_slowly_and_takes_what_is_late_without_a_mark_for_a_busy_path() {
        let mut nscc = nscc(&[], 100_000.0);
        (0..80).for_each(|_| nscc.on_ack(&answer(1.0, 30.0, true)));
        let mean = 30_000.0 * (1.0 - crate::base::math::pow(0.9875, 80.0));
        close(nscc.mean, mean);
        nscc.on_ack(&answer(1.0, 30.0, false));
        close(nscc.mean, mean + 0.0125 * (3000.0 - mean));
        let before = nscc.mean;
        nscc.on_trim(&answer(1.0, 30.0, false));
        close(nscc.mean, before + 0.0125 * (12_000.0 - before));
    }

    #[test]
    fn a_whole_window_without_delay_makes_it_grow_by_a_quarter_of_what_arrives() {
        let mut nscc = nscc(&[("Alpha", "0"), ("Eta", "0")], 40_000.0);
        (0..10).for_each(|_| nscc.on_ack(&answer(1.0, 0.9, false)));
        close(nscc.cwnd, 40_000.0);
        nscc.on_ack(&answer(1.0, 0.9, false));
        close(nscc.cwnd, 41_000.0);
        nscc.on_ack(&answer(1.0, 0.0, false));
        close(nscc.cwnd, 42_000.0);
        // From the beginning again.
        nscc.on_ack(&answer(1.0, 1.0, false));
        nscc.on_ack(&answer(1.0, 0.0, false));
        close(nscc.cwnd, 42_000.0);
        (0..500).for_each(|_| nscc.on_ack(&answer(1.0, 0.0, false)));
        close(nscc.cwnd, 1.5 * BDP);
    }

    /// Its period is base and target, 21 us.
    #[test]
    fn where_little_arrives_after_a_cut_packet_that_becomes_the_window() {
        let mut nscc = nscc(&[], 200_000.0);
        nscc.on_ack(&answer(1.0, 4.5, true));
        nscc.on_trim(&answer(2.0, 0.0, false));
        close(nscc.cwnd, 196_000.0);
        (0..4).for_each(|_| nscc.on_ack(&answer(10.0, 4.5, true)));
        nscc.on_trim(&answer(22.0, 0.0, false));
        close(nscc.cwnd, 192_000.0);
        nscc.on_trim(&answer(22.1, 0.0, false));
        close(nscc.cwnd, 16_000.0);
        // Of what was in flight then, 40 kB, marks and cut packets say nothing new.
        (0..5).for_each(|_| nscc.on_trim(&answer(23.0, 0.0, false)));
        (0..4).for_each(|_| nscc.on_ack(&answer(23.0, 40.0, true)));
        close(nscc.cwnd, 16_000.0);
        nscc.on_trim(&answer(23.0, 0.0, false));
        close(nscc.cwnd, 12_000.0);
    }

    #[test]
    fn it_does_not_where_enough_arrives_or_nothing_was_cut_or_late() {
        for (delay, is_cut, packets, adapts) in [
            (4.5, true, 7, true),
            (4.5, true, 8, false),
            (4.5, false, 3, false),
            (37.0, false, 3, true),
        ] {
            let mut nscc = nscc(&[("Eta", "0")], 200_000.0);
            nscc.on_ack(&answer(1.0, 4.5, true));
            if is_cut {
                nscc.on_trim(&answer(2.0, 0.0, false));
            }
            (1..packets).for_each(|_| nscc.on_ack(&answer(3.0, 4.5, true)));
            nscc.on_ack(&answer(23.0, delay, true));
            let expected = f64::from(packets) * 4000.0;
            assert_eq!(
                (nscc.cwnd - expected).abs() < 1e-6,
                adapts,
                "{delay} {packets} {}",
                nscc.cwnd
            );
        }
    }

    #[test]
    fn a_shorter_round_trip_is_the_base_from_then_on() {
        let mut nscc = new(&Attributes::new(&SPEC, &BTreeMap::new()), &PATH);
        nscc.on_ack(&Answer { rtt: us(6.0), ..answer(1.0, 0.0, false) });
        assert_eq!(nscc.window(), 112_500);
        close(nscc.target(), 4500.0);
    }

    /// A network of 400 Gbps and 3 us has the same round trip; one of 25 Gbps a quarter of it.
    #[test]
    fn increases_are_as_large_as_the_round_trip() {
        for (gbps, rtt, scale) in [(400, 3.0, 1.0), (25, 12.0, 0.25)] {
            let path = Path { line: Rate(gbps * 1_000_000_000), rtt: us(rtt), ..PATH };
            let nscc = new(&Attributes::new(&SPEC, &BTreeMap::new()), &path);
            close(nscc.fair, 5.0 * 4000.0 * scale);
            close(nscc.eta, 0.15 * 4000.0 * scale);
            close(nscc.proportional, 4.0 * 4000.0 * scale * 0.75 * rtt / 12.0);
            close(nscc.fast, 0.25 * scale);
        }
    }
}
