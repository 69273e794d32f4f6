//! HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 3 and algorithm 1).
//!
//! ```text
//! each ACK, of each link i:  u_i = min(qlen_i, qlen_i before) / (B_i T) + txRate_i / B_i
//! u = max u_i,  tau = min(the time between both of that link, T):   U = (1 - tau / T) U + tau / T u
//!   U >= eta or incStage >= maxStage:   W = W_c eta / U + W_AI
//!   or else:                            W = W_c + W_AI
//! once in a round trip:      W_c = W,  and incStage = 0 or incStage + 1
//! R = W / T
//! ```
//!
//! A new rate holds for the packet that waits to leave, too, as in the authors' simulator: after an incast flows come back earlier by it.
//!
//! A sender begins with W = B T, B of its own link, and W stays at or below that; U begins with 1.  T is the round trip of the
//! flow's own path without queues, unless it is given.  txRate_i is what the link has sent between the two packets, qlen_i what
//! waited as the packet left it.
//!
//! With N flows at one link W / (B T) = eta / U / N + W_AI / (B T) and U = N W / (B T), so that in the steady state
//!
//! ```text
//! U = eta + N W_AI / (B T)
//! ```
//!
//! of the link is used; what is above 1 stands in the queue: (U - 1) B T.
//!
//! A first ACK has nothing to be compared with and changes no window; the reference then waits for the ACK of what is sent next, as after
//! each update.  A path that changes begins anew.
//! Its text gives maxStage 5; its authors later wrote that their simulations had 0.

use super::law::{Ack, RateControl};
use crate::base::attributes::{Attributes, Kind, Spec, param};
use crate::base::time::{Rate, Time};
use crate::host::path::{Path, in_flight};
use crate::packet::telemetry::{Hop, Hops, TELEMETRY_HEADER};
use crate::packet::{PPP_HEADER, ROCE_HEADERS};

pub const SPEC: Spec = Spec {
    ns3: "Hpcc",
    linux: &["hpcc"],
    is_in_linux: false,
    doc: "Windows from what switches say of their links (INT).",
    source: "Li et al., ACM SIGCOMM 2019",
    departures: &[],
    params: &[
        param!["Eta"; Kind::Real { min: 0.01, max: 1.0 } => "0.95"; "eta, the target utilisation."],
        param!["MaxStage"; Kind::Uint { min: 0, max: 1000 } => "5";
            "maxStage, additive increases in a row before a multiplicative step."],
        param!["WAI"; Kind::Uint { min: 0, max: u32::MAX as u64 } => "80"; "W_AI, bytes."],
        param!["T"; Kind::Time => "0s"; "T, the base RTT; 0: that of the flow's path."],
        param!["PayloadWindow"; Kind::Bool => "false";
            "W counts payload, as in the authors' simulations; or else all bytes on the wire."],
        param!["IntUnits"; Kind::Uint { min: 0, max: 1000 } => "0";
            "Queues count in so many times 80 B, what was sent in so many times 128 B; 0: bytes."],
    ],
};

pub(super) const BELOW: &[[&str; 2]] = &[];

/// Of a packet, the frame's included.
const HEADERS: u32 = ROCE_HEADERS + TELEMETRY_HEADER + PPP_HEADER;

/// What the header's fields count in, with its smallest units.
const QUEUE_UNIT: u64 = 80;
const SENT_UNIT: u64 = 128;

#[derive(Debug)]
pub struct Hpcc {
    window: f64,
    reference: f64,
    most: f64,
    /// U, of the link that is used most.
    utilisation: f64,
    stage: u32,
    /// The first packet that will know of the last update of W_c.
    updated: u32,
    last: Hops,
    rtt: Time,
    eta: f64,
    max_stage: u32,
    additive: f64,
    units: u64,
    /// Bytes on the wire for each that W counts.
    wire: f64,
}

pub(super) fn new(a: &Attributes<'_>, path: &Path) -> Hpcc {
    let given = a.time("T");
    let rtt = if given.is_zero() { path.rtt } else { given };
    let most = in_flight(path.line.0 as f64, rtt);
    Hpcc {
        window: most,
        reference: most,
        most,
        utilisation: 1.0,
        stage: 0,
        updated: 0,
        last: Hops::default(),
        rtt,
        eta: a.f64("Eta"),
        max_stage: a.u32("MaxStage"),
        additive: a.f64("WAI"),
        units: a.u32("IntUnits").into(),
        wire: if a.bool("PayloadWindow") {
            f64::from(path.packet) / f64::from(path.packet - HEADERS)
        } else {
            1.0
        },
    }
}

impl Hpcc {
    /// A link's utilisation between two packets, and the time between them.
    fn of_link(&self, before: &Hop, now: &Hop) -> (f64, Time) {
        let time = now.at - before.at;
        let rate = now.rate.0 as f64;
        // As the header would have it.
        let counted = |bytes: u64, unit: u64| match self.units {
            0 => bytes,
            units => bytes - bytes % (units * unit),
        };
        let waiting = counted(now.queue.min(before.queue).into(), QUEUE_UNIT);
        let sent = counted(now.sent, SENT_UNIT) - counted(before.sent, SENT_UNIT);
        let waiting = waiting as f64 / in_flight(rate, self.rtt);
        let sent = sent as f64 / in_flight(rate, time);
        (waiting + sent, time)
    }

    fn measure(&mut self, hops: &Hops) {
        let links = self.last.iter().zip(hops.iter()).filter(|(before, now)| now.at > before.at);
        let links = links.map(|(before, now)| self.of_link(before, now));
        let Some((utilisation, time)) = links.max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        let weight = time.min(self.rtt).0 as f64 / self.rtt.0 as f64;
        self.utilisation += weight * (utilisation - self.utilisation);
    }

    fn set_window(&mut self, is_update: bool) {
        let is_step = self.utilisation >= self.eta || self.stage >= self.max_stage;
        let scaled =
            if is_step { self.reference * self.eta / self.utilisation } else { self.reference };
        self.window = (scaled + self.additive).min(self.most);
        if is_update {
            self.reference = self.window;
            self.stage = if is_step { 0 } else { self.stage + 1 };
        }
    }
}

impl RateControl for Hpcc {
    fn rate(&self) -> Rate {
        Rate(((self.window * 8e9 / self.rtt.0 as f64) as u64).max(1))
    }

    fn window(&self) -> Option<u64> {
        Some(((self.window * self.wire) as u64).max(1))
    }

    fn retimes(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let is_update = ack.number > self.updated;
        if !self.last.is_empty() && self.last.path() == ack.hops.path() {
            self.measure(ack.hops);
            self.set_window(is_update);
        }
        if is_update {
            self.updated = ack.next;
        }
        self.last = *ack.hops;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, given};
    use super::*;

    const LINE: u64 = 100_000_000_000;
    /// 100 Gbps for 10 us.
    const BYTES: f64 = 125_000.0;
    const T: Time = Time(10_000);

    fn sender(values: &[(&str, &str)]) -> Hpcc {
        let path = Path { line: Rate(LINE), rtt: T, switches: 1, packet: 1088 };
        new(&Attributes::new(&SPEC, &given(values)), &path)
    }

    /// Of links with these queues and bytes sent so far.
    fn hops(at: u64, links: &[(u32, u64)]) -> Hops {
        let mut hops = Hops::default();
        for (port, &(queue, sent)) in links.iter().enumerate() {
            hops.push(port as u32, Hop { queue, sent, at: Time(at), rate: Rate(LINE) });
        }
        hops
    }

    fn ack(law: &mut Hpcc, numbers: [u32; 2], hops: &Hops) {
        let [number, next] = numbers;
        law.on_ack(&Ack { now: Time::ZERO, rtt: T, number, packets: 1, next, hops });
    }

    #[test]
    fn it_begins_at_the_rate_of_its_link_and_the_first_ack_changes_nothing() {
        let mut law = sender(&[]);
        assert_eq!((law.window(), law.rate()), (Some(125_000), Rate(LINE)));
        ack(&mut law, [1, 100], &hops(0, &[(500_000, 0)]));
        assert_eq!((law.window(), law.reference), (Some(125_000), BYTES));
        assert_eq!(law.utilisation, 1.0);
    }

    #[test]
    fn a_link_is_used_by_what_it_sends_and_by_what_waits_all_the_time() {
        let mut law = sender(&[]);
        ack(&mut law, [1, 100], &hops(0, &[(30_000, 0), (0, 0)]));
        // Half of the first link's bytes and a tenth of B T waiting; three quarters of the second one's.
        ack(&mut law, [2, 100], &hops(10_000, &[(12_500, 62_500), (50_000, 93_750)]));
        close(law.utilisation, 0.75);
        let mut law = sender(&[]);
        ack(&mut law, [1, 100], &hops(0, &[(12_500, 0), (0, 0)]));
        ack(&mut law, [2, 100], &hops(10_000, &[(30_000, 93_750), (0, 93_750)]));
        close(law.utilisation, 0.85);
    }

    #[test]
    fn what_was_measured_in_less_than_a_round_trip_counts_as_much() {
        let mut law = sender(&[]);
        ack(&mut law, [1, 100], &hops(0, &[(0, 0)]));
        ack(&mut law, [2, 100], &hops(2_500, &[(0, 12_500)])); // 40 % of a quarter of T
        close(law.utilisation, 0.75 + 0.25 * 0.4);
        // In more than T as in T: nothing else is left.
        ack(&mut law, [3, 100], &hops(22_500, &[(0, 12_500 + 150_000)]));
        close(law.utilisation, 0.6);
    }

    #[test]
    fn one_step_brings_what_is_in_flight_to_eta_of_the_link() {
        // N flows have begun at once: after a round trip (N - 1) B T wait, and the link is full.
        for n in [2.0, 16.0] {
            let mut law = sender(&[("WAI", "0")]);
            let waiting = ((n - 1.0) * BYTES) as u32;
            ack(&mut law, [1, 100], &hops(0, &[(waiting, 0)]));
            ack(&mut law, [2, 100], &hops(10_000, &[(waiting, 125_000)]));
            close(law.utilisation, n);
            close(n * law.window, 0.95 * BYTES);
            close(n * law.rate().0 as f64, (0.95 * LINE as f64).floor());
        }
    }

    #[test]
    fn windows_move_with_each_ack_and_their_reference_once_in_a_round_trip() {
        let mut law = sender(&[("WAI", "1000")]);
        let full =
            |round_trips: u64| hops(round_trips * 10_000, &[(125_000, round_trips * 125_000)]);
        ack(&mut law, [1, 100], &full(0));
        // Twice as much as the link carries.  The reference waits for the ACK of what is sent after the first one.
        let first = BYTES * 0.95 / 2.0 + 1000.0;
        ack(&mut law, [2, 101], &full(1));
        close(law.window, first);
        close(law.reference, BYTES);
        ack(&mut law, [101, 201], &full(2));
        close(law.window, first);
        close(law.reference, first);
        // Twice as much again in the same round trip: from the same reference, not from what came of it.
        for number in [102, 150, 201] {
            ack(&mut law, [number, 300], &full(number.into()));
            close(law.window, first * 0.95 / 2.0 + 1000.0);
            close(law.reference, first);
        }
        ack(&mut law, [202, 300], &full(202));
        close(law.reference, first * 0.95 / 2.0 + 1000.0);
    }

    #[test]
    fn a_window_of_payload_is_longer_on_the_wire_and_no_faster() {
        let law = sender(&[("PayloadWindow", "true")]);
        // 88 B of headers for each 1000.
        assert_eq!((law.window(), law.rate()), (Some(136_000), Rate(LINE)));
    }

    #[test]
    fn what_the_header_rounds_counts_in_its_units() {
        let mut law = sender(&[("IntUnits", "4")]);
        ack(&mut law, [1, 100], &hops(0, &[(900, 511)]));
        ack(&mut law, [2, 100], &hops(10_000, &[(959, 63_011)]));
        // Two times 320 B, and 123 times 512 B since none.
        close(law.utilisation, (2.0 * 320.0 + 123.0 * 512.0) / BYTES);
    }

    #[test]
    fn below_eta_it_adds_until_max_stage_and_then_multiplies() {
        let mut law = sender(&[("WAI", "1000"), ("MaxStage", "2")]);
        (law.reference, law.window) = (10_000.0, 10_000.0);
        let mut expected = 10_000.0;
        ack(&mut law, [1, 2], &hops(0, &[(0, 0)]));
        for (number, is_step) in [(3, false), (4, false), (5, true), (6, false)] {
            let at = u64::from(number) * 10_000;
            // Half of the link.
            law.utilisation = 0.5;
            law.last = hops(at - 10_000, &[(0, 0)]);
            ack(&mut law, [number, number], &hops(at, &[(0, 62_500)]));
            expected = if is_step { expected * 0.95 / 0.5 } else { expected } + 1000.0;
            close(law.window, expected);
        }
    }

    #[test]
    fn another_path_has_nothing_to_be_compared_with() {
        let mut law = sender(&[]);
        ack(&mut law, [1, 100], &hops(0, &[(0, 0)]));
        let mut other = Hops::default();
        let hop = Hop { queue: 9_999_999, sent: 0, at: T, rate: Rate(LINE) };
        other.push(7, hop);
        ack(&mut law, [2, 100], &other);
        close(law.utilisation, 1.0);
        assert_eq!(law.window(), Some(125_000));
        // From the second one on it has.
        other = Hops::default();
        other.push(7, Hop { at: Time(20_000), sent: 125_000, ..hop });
        ack(&mut law, [3, 100], &other);
        close(law.utilisation, 1.0 + 9_999_999.0 / BYTES);
    }

    #[test]
    fn a_window_is_at_most_that_of_the_link_and_t_may_be_given() {
        let mut law = sender(&[("T", "20us"), ("WAI", "1000000")]);
        assert_eq!(law.window(), Some(250_000));
        ack(&mut law, [1, 2], &hops(0, &[(0, 0)]));
        ack(&mut law, [3, 4], &hops(10_000, &[(0, 0)]));
        assert_eq!((law.window(), law.rate()), (Some(250_000), Rate(LINE)));
        close(law.utilisation, 0.5); // half of T nothing
    }
}
