//! Policer: a token bucket that drops what does not conform, over a FIFO (the meter of RFC 2697 with
//! one bucket, as networks put it at their borders; Linux's `police` action; the driver of the ns-3
//! backend has a class of this name).
//!
//! tokens(t) = min(burst, tokens(t0) + rate (t - t0)), t0 the arrival before.  A packet whose bits the
//! bucket holds takes them and goes into the queue; another is dropped and takes nothing.  Nothing is
//! ever delayed for the bucket's sake, and what conforms but finds the queue full has spent its
//! tokens.
//!
//! Tokens are whole numbers of bit x ns / s, 10^-9 of a bit: rate x time in them is exact, so that none
//! are gained or lost by rounding.

use super::discipline::Discipline;
use super::marking::MAX_SIZE;
use super::reasons::LIMIT_EXCEEDED;
use super::{BuildContext, Head, PacketFifo, Qdisc, QdiscContext};
use crate::base::attributes::{Kind, Spec, param};
use crate::base::time::{Rate, Time};
use crate::base::units::QueueSize;
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "PolicerQueueDisc",
        linux: &["police"],
        is_in_linux: true,
        doc: "Drops what exceeds a rate and a burst; a FIFO behind it.",
        source: "RFC 2697",
        departures: &[],
        params: &[
            MAX_SIZE,
            param!["Rate", "rate"; Kind::Rate => "1000000bps"; "Rate at which the bucket fills."],
            param!["Burst", "burst"; Kind::Uint { min: 1, max: 1 << 30 } => "125000";
                "Size of the bucket in bytes."],
        ],
    },
    &[&[("Rate", "2Mbps"), ("Burst", "6000")]],
);

const NOT_CONFORMING: &str = "Not conforming";
/// Tokens that are a bit.
const BIT: u64 = 1_000_000_000;

#[derive(Debug)]
pub struct Policer {
    queue: PacketFifo,
    limit: QueueSize,
    rate: Rate,
    burst: u64,
    tokens: u64,
    /// When tokens were counted last.
    counted: Time,
}

impl Policer {
    pub(super) fn new(cx: &BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        let burst = tokens_of(a.u32("Burst"));
        Policer {
            queue: PacketFifo::default(),
            limit: a.queue_size(MAX_SIZE.ns3),
            rate: a.rate("Rate"),
            burst,
            tokens: burst,
            counted: Time::ZERO,
        }
    }

    /// Whether the bucket holds a packet of `bytes`, which then takes its tokens.
    fn conforms(&mut self, bytes: u32, now: Time) -> bool {
        let filled = u128::from(self.rate.0) * u128::from((now - self.counted).0);
        let tokens = (u128::from(self.tokens) + filled).min(u128::from(self.burst));
        self.tokens = tokens as u64;
        self.counted = now;
        let asked = tokens_of(bytes);
        let conforms = asked <= self.tokens;
        if conforms {
            self.tokens -= asked;
        }
        conforms
    }
}

fn tokens_of(bytes: u32) -> u64 {
    u64::from(bytes) * 8 * BIT
}

impl Qdisc for Policer {
    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        let bytes = cx.packets[id].ip_bytes;
        if !self.conforms(bytes, cx.now) {
            cx.drop_before_enqueue(id, NOT_CONFORMING);
            return false;
        }
        if !self.queue.has_room(self.limit, bytes) {
            cx.drop_before_enqueue(id, LIMIT_EXCEEDED);
            return false;
        }
        self.queue.push(id, cx);
        true
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        self.queue.pop(cx)
    }

    fn peek(&mut self, _cx: &mut QdiscContext<'_>) -> Head {
        Head::Known(self.queue.head())
    }
}

#[cfg(test)]
mod tests {
    use crate::base::time::Time;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    fn bench() -> Bench {
        // A byte each 8 us.
        Bench::new("PolicerQueueDisc", &[("Rate", "1Mbps"), ("Burst", "3000"), ("MaxSize", "9p")])
    }

    /// How many packets of `bytes` were refused so far.
    fn arrive(bench: &mut Bench, bytes: u32) -> u64 {
        bench.arrive(0, bytes, Ecn::NotEct);
        bench.state.decisions.dropped_packets
    }

    #[test]
    fn a_burst_passes_and_then_one_packet_for_each_time_of_its_bytes() {
        let mut bench = bench();
        assert_eq!([1500, 1500, 1500].map(|bytes| arrive(&mut bench, bytes)), [0, 0, 1]);
        bench.wait(Time(1500 * 8_000 - 1));
        assert_eq!(arrive(&mut bench, 1500), 2);
        bench.wait(Time(1));
        assert_eq!(arrive(&mut bench, 1500), 2);
        assert_eq!(bench.state.decisions.counts[0].reason.text, "Not conforming");
    }

    #[test]
    fn what_is_refused_takes_no_tokens_so_that_a_smaller_one_may_pass() {
        let mut bench = bench();
        assert_eq!([1500, 1400, 101, 100].map(|bytes| arrive(&mut bench, bytes)), [0, 0, 1, 1]);
    }

    #[test]
    fn the_bucket_never_holds_more_than_a_burst() {
        let mut bench = bench();
        bench.wait(Time(1_000_000_000_000_000));
        assert_eq!([1500, 1500, 1].map(|bytes| arrive(&mut bench, bytes)), [0, 0, 1]);
    }

    #[test]
    fn what_conforms_spends_its_tokens_even_where_the_queue_is_full() {
        let mut bench = Bench::new("PolicerQueueDisc", &[("Burst", "3000"), ("MaxSize", "1p")]);
        assert_eq!([1500, 1500, 1].map(|bytes| arrive(&mut bench, bytes)), [0, 1, 2]);
        let reasons: Vec<_> =
            bench.state.decisions.counts.iter().map(|counts| counts.reason.text).collect();
        assert_eq!(reasons, ["Queue disc limit exceeded", "Not conforming"]);
    }
}
