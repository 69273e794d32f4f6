//! Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020, section 3
//! and algorithm 1).
//!
//! ```text
//! target = base + hops h + max(0, min(a / sqrt(cwnd) + b, fs_range))
//!   a = fs_range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max)),   b = -a / sqrt(fs_max)
//! ACK of n packets,  delay < target:   cwnd += ai n / cwnd    or, if cwnd < 1,    ai n
//!                    or else:          cwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
//! missing packet:                      cwnd *= 1 - max_mdf
//! timeout:                             the same; after retx_reset_threshold in a row cwnd = min_cwnd
//! ```
//!
//! It decreases once in a round trip at most.  Below a packet the window is a pace: a packet each rtt / cwnd.  Above, packets leave
//! as ACKs come.
//!
//! The delay is the whole RTT, since here hosts take no time: the paper's window for the hosts' part (ecwnd) has nothing to do.  Of
//! what cwnd the target is, is the last one.  A flow begins with what its link carries in a round trip, as RDMA does; the paper
//! does not say.  It prints no table of its parameters, either: beta, max_mdf, ai, fs_min and fs_max are those that public
//! simulators use for it, base is the 25 us of its experiments.

use super::law::{Ack, RateControl};
use crate::base::attributes::{Attributes, FRACTION, Kind, Spec, param};
use crate::base::time::{Rate, Time};
use crate::host::path::Path;

const PACKETS: Kind = Kind::Real { min: 1e-6, max: 1e6 };

pub const SPEC: Spec = Spec {
    ns3: "Swift",
    linux: &["swift"],
    is_in_linux: false,
    doc: "Windows that hold the delay at a target, below a packet, too.",
    source: "Kumar et al., ACM SIGCOMM 2020",
    departures: &[],
    params: &[
        param!["BaseTarget"; Kind::Threshold => "25us"; "The target of a path without switches."],
        param!["HopScale"; Kind::Time => "1us"; "h, added for each switch."],
        param!["FsRange"; Kind::Time => "100us"; "fs_range, the most that a small window adds."],
        param!["FsMinCwnd"; PACKETS => "0.1"; "fs_min_cwnd, packets: below, all of it is added."],
        param!["FsMaxCwnd"; PACKETS => "100"; "fs_max_cwnd, packets: above, nothing is."],
        param!["AdditiveIncrease"; PACKETS => "1"; "ai, packets in a round trip."],
        param!["Beta"; FRACTION => "0.8"; "beta, the weight of the excess over the target."],
        param!["MaxMdf"; FRACTION => "0.5"; "max_mdf, the largest decrease in a round trip."],
        param!["MinCwnd"; PACKETS => "0.001"; "min_cwnd, packets."],
        param!["MaxCwnd"; PACKETS => "10000"; "max_cwnd, packets."],
        param!["RetxResetThreshold"; Kind::Uint { min: 1, max: 1000 } => "5";
            "Timeouts in a row after which the window is the least."],
    ],
};

pub(super) const BELOW: &[[&str; 2]] = &[["FsMinCwnd", "FsMaxCwnd"], ["MinCwnd", "MaxCwnd"]];

#[derive(Debug)]
pub struct Swift {
    /// In packets.
    cwnd: f64,
    /// The last round trip.
    rtt: Time,
    decreased: Option<Time>,
    /// Timeouts since the last acknowledgement.
    timeouts: u32,
    /// Base target with what the path's switches add, in ns.
    base: f64,
    scaling: Scaling,
    path: Path,
    additive: f64,
    beta: f64,
    max_mdf: f64,
    min: f64,
    max: f64,
    reset: u32,
}

/// What a small window adds to the target, in ns.
#[derive(Clone, Copy, Debug)]
struct Scaling {
    a: f64,
    b: f64,
    range: f64,
}

impl Scaling {
    fn new(range: Time, min: f64, max: f64) -> Self {
        let range = range.0 as f64;
        let a = range / (min.sqrt().recip() - max.sqrt().recip());
        Scaling { a, b: -a / max.sqrt(), range }
    }

    fn of(self, cwnd: f64) -> f64 {
        (self.a / cwnd.sqrt() + self.b).min(self.range).max(0.0)
    }
}

pub(super) fn new(a: &Attributes<'_>, path: &Path) -> Swift {
    let [min, max] = ["MinCwnd", "MaxCwnd"].map(|name| a.f64(name));
    let hops = a.time("HopScale").0 as f64 * f64::from(path.switches);
    Swift {
        cwnd: (path.bytes() / f64::from(path.packet)).min(max).max(min),
        rtt: path.rtt,
        decreased: None,
        timeouts: 0,
        base: a.time("BaseTarget").0 as f64 + hops,
        scaling: Scaling::new(a.time("FsRange"), a.f64("FsMinCwnd"), a.f64("FsMaxCwnd")),
        path: *path,
        additive: a.f64("AdditiveIncrease"),
        beta: a.f64("Beta"),
        max_mdf: a.f64("MaxMdf"),
        min,
        max,
        reset: a.u32("RetxResetThreshold"),
    }
}

impl Swift {
    fn target(&self) -> f64 {
        self.base + self.scaling.of(self.cwnd)
    }

    /// Cuts the window to this share, if the last cut is a round trip ago.
    fn decrease(&mut self, share: f64, now: Time) {
        if self.decreased.is_none_or(|last| now >= last + self.rtt) {
            self.decreased = Some(now);
            self.set(self.cwnd * share);
        }
    }

    fn set(&mut self, cwnd: f64) {
        self.cwnd = cwnd.min(self.max).max(self.min);
    }
}

impl RateControl for Swift {
    fn rate(&self) -> Rate {
        let line = self.path.line.0 as f64;
        let paced = self.cwnd * f64::from(self.path.packet) * 8e9 / self.rtt.0 as f64;
        Rate((if self.cwnd < 1.0 { paced.min(line) } else { line } as u64).max(1))
    }

    fn window(&self) -> Option<u64> {
        Some(self.cwnd.max(1.0) as u64 * u64::from(self.path.packet))
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.rtt = ack.rtt.max(Time(1));
        self.timeouts = 0;
        let (delay, target) = (self.rtt.0 as f64, self.target());
        if delay < target {
            let added = self.additive * f64::from(ack.packets);
            self.set(self.cwnd + if self.cwnd < 1.0 { added } else { added / self.cwnd });
        } else {
            let excess = self.beta * (delay - target) / delay;
            self.decrease(1.0 - excess.min(self.max_mdf), ack.now);
        }
    }

    fn on_loss(&mut self, now: Time) {
        self.timeouts = 0;
        self.decrease(1.0 - self.max_mdf, now);
    }

    fn on_timeout(&mut self, now: Time) {
        self.timeouts += 1;
        if self.timeouts >= self.reset {
            self.decreased = Some(now);
            self.set(self.min);
        } else {
            self.decrease(1.0 - self.max_mdf, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, given};
    use super::*;
    use crate::packet::telemetry::Hops;

    const PATH: Path =
        Path { line: Rate(40_000_000_000), rtt: Time(5_000), switches: 2, packet: 1046 };

    fn sender(values: &[(&str, &str)]) -> Swift {
        new(&Attributes::new(&SPEC, &given(values)), &PATH)
    }

    fn ack(law: &mut Swift, now: u64, rtt: u64, packets: u32) {
        let hops = &Hops::default();
        let (now, rtt) = (Time(now), Time(rtt));
        law.on_ack(&Ack { now, rtt, number: 1, packets, next: 1, hops });
    }

    #[test]
    fn a_target_grows_with_hops_and_with_smaller_windows() {
        let mut law = sender(&[]);
        let target = |law: &mut Swift, cwnd: f64| {
            law.cwnd = cwnd;
            law.target() / 1e3
        };
        // 25 us and 1 us for each of two switches; all 100 us at a tenth of a packet, none at a hundred.
        close(target(&mut law, 100.0), 27.0);
        close(target(&mut law, 1000.0), 27.0);
        close(target(&mut law, 0.1), 127.0);
        close(target(&mut law, 0.01), 127.0);
        // 1 / sqrt is linear between: 0.1 at 100, 3.1623 at 0.1.
        let slope = 100.0 / (10f64.sqrt() - 0.1);
        for cwnd in [0.25, 1.0, 4.0, 25.0] {
            close(target(&mut law, cwnd), 27.0 + slope * (1.0 / f64::sqrt(cwnd) - 0.1));
        }
    }

    #[test]
    fn below_the_target_it_adds_a_packet_in_a_round_trip() {
        let mut law = sender(&[]);
        law.cwnd = 10.0;
        ack(&mut law, 0, 5_000, 2);
        close(law.cwnd, 10.2);
        law.cwnd = 0.5;
        ack(&mut law, 0, 5_000, 1);
        close(law.cwnd, 1.5);
        // A round trip of ACKs: cwnd^2 grows by 2 n.
        law.cwnd = 50.0;
        (0..50).for_each(|_| ack(&mut law, 0, 5_000, 1));
        assert!((law.cwnd - f64::sqrt(50.0 * 50.0 + 100.0)).abs() < 0.02, "{}", law.cwnd);
    }

    #[test]
    fn above_it_cuts_by_beta_of_the_excess_once_in_a_round_trip_and_by_half_at_most() {
        let mut law = sender(&[("FsRange", "0s")]);
        law.cwnd = 100.0;
        ack(&mut law, 100_000, 36_000, 1); // a quarter of the delay is above 27 us
        close(law.cwnd, 100.0 * (1.0 - 0.8 * 0.25));
        ack(&mut law, 135_999, 36_000, 1);
        close(law.cwnd, 80.0);
        ack(&mut law, 136_000, 36_000, 1);
        close(law.cwnd, 64.0);
        ack(&mut law, 10_000_000, 1_000_000, 1);
        close(law.cwnd, 32.0);
        // The target itself is too much, by nothing.
        ack(&mut law, 20_000_000, 27_000, 1);
        close(law.cwnd, 32.0);
    }

    #[test]
    fn below_a_packet_it_paces_and_above_acknowledgements_do() {
        let mut law = sender(&[]);
        law.rtt = Time(20_000);
        law.cwnd = 2.9;
        assert_eq!((law.window(), law.rate()), (Some(2 * 1046), PATH.line));
        law.cwnd = 0.25;
        assert_eq!(law.window(), Some(1046));
        // A packet each rtt / cwnd, 80 us.
        assert_eq!(law.rate().tx_time(1046), Time(80_000));
    }

    #[test]
    fn losses_halve_it_and_timeouts_in_a_row_bring_the_least_window() {
        let mut law = sender(&[]);
        law.cwnd = 64.0;
        law.on_loss(Time(100_000));
        law.on_loss(Time(104_999));
        close(law.cwnd, 32.0);
        for n in 1..5 {
            law.on_timeout(Time(n * 10_000_000));
        }
        close(law.cwnd, 2.0);
        law.on_loss(Time(45_000_000)); // is an answer: it counts anew
        close(law.cwnd, 1.0);
        for n in 5..9 {
            law.on_timeout(Time(n * 10_000_000));
            assert!(law.cwnd > 0.01);
        }
        law.on_timeout(Time(90_000_000));
        close(law.cwnd, 0.001);
    }

    #[test]
    fn it_begins_with_what_its_link_carries_in_a_round_trip_within_its_bounds() {
        close(sender(&[]).cwnd, 25_000.0 / 1046.0);
        close(sender(&[("MaxCwnd", "8")]).cwnd, 8.0);
        let mut law = sender(&[("MaxCwnd", "30")]);
        (0..1000).for_each(|_| ack(&mut law, 0, 5_000, 1));
        close(law.cwnd, 30.0);
    }
}
