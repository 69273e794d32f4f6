//! Token bucket filter (ns-3's `TbfQueueDisc`, Linux's `tbf`): packets leave when a bucket that
//! fills at the rate holds their bytes; a second bucket may bound the rate of bursts.
//!
//! tokens(t) = min(burst, tokens(t0) + rate (t - t0)), in whole bytes, t0 the last departure.  The
//! packet at the head leaves when both buckets hold its size, which it takes from them; else a
//! timer is set for the moment when the emptier one will.

use super::discipline::{Children, Discipline};
use super::fifo::Fifo;
use super::{AnyQdisc, BuildContext, Classes, Qdisc, QdiscContext};
use crate::base::attributes::{Kind, Spec, U32, param};
use crate::base::time::{Rate, Time};
use crate::packet::PacketId;

pub const SPEC: Discipline = Discipline::new(
    Spec {
        ns3: "TbfQueueDisc",
        linux: &["tbf"],
        is_in_linux: true,
        doc: "Shapes to a rate with a token bucket over a FIFO.",
        source: "tc-tbf(8)",
        departures: &[
            "tokens are bytes, rounded to the nearest at each departure, so that a part of one \
             may be gained or lost",
            "the timer measures what is missing from now on, and one that is set is not moved",
            "a packet larger than a bucket is not refused but waits without end",
        ],
        params: &[
            param!["MaxSize", "limit"; Kind::QueueSize => "1000p";
                "How much the queue holds, in packets or bytes."],
            param!["Burst", "burst"; U32 => "125000"; "Size of the first bucket in bytes."],
            param!["Mtu", "mtu"; U32 => "0";
                "Size of the second bucket in bytes; 0 means the device's MTU."],
            param!["Rate", "rate"; Kind::Rate => "1000000bps";
                "Rate at which the first bucket fills."],
            param!["PeakRate", "peakrate"; Kind::OptionalRate => "0bps";
                "Rate at which the second bucket fills; 0bps means there is none."],
        ],
    },
    &[&[("MaxSize", "20p"), ("Rate", "5Mbps"), ("Burst", "4000")]],
)
.with_children(Children::Optional { least: 1, most: 1 })
.waking();

/// Tokens are bytes.
#[derive(Debug)]
struct Bucket {
    rate: Rate,
    size: i64,
    tokens: i64,
}

impl Bucket {
    fn full(rate: Rate, size: u32) -> Self {
        Bucket { rate, size: size.into(), tokens: size.into() }
    }

    /// What would be left after a packet of `bytes` leaves `elapsed` seconds after the last one.
    fn left(&self, elapsed: f64, bytes: u32) -> i64 {
        let filled = (elapsed * (self.rate.0 / 8) as f64).round();
        let tokens = (self.tokens as f64 + filled) as i64;
        tokens.min(self.size) - i64::from(bytes)
    }

    /// How long it takes to fill up what is missing.
    fn wait(&self, left: i64) -> Time {
        if left < 0 { self.rate.tx_time(left.unsigned_abs() as u32) } else { Time::ZERO }
    }
}

#[derive(Debug)]
pub struct Tbf {
    queue: Classes,
    bucket: Bucket,
    peak: Option<Bucket>,
    /// When the last packet left.
    updated: Time,
    timer_is_set: bool,
}

impl Tbf {
    pub(super) fn new(cx: &mut BuildContext<'_>) -> Self {
        let a = &cx.attributes;
        let mtu = match a.u32("Mtu") {
            0 => cx.mtu,
            mtu => mtu,
        };
        let peak_rate = a.rate("PeakRate");
        let mut queue = std::mem::take(&mut cx.children);
        if queue.is_empty() {
            queue.push(AnyQdisc::Fifo(Fifo::with_limit(a.queue_size("MaxSize"))));
        }
        Tbf {
            queue: Classes::new(queue),
            bucket: Bucket::full(a.rate("Rate"), a.u32("Burst")),
            peak: (peak_rate > Rate(0)).then(|| Bucket::full(peak_rate, mtu)),
            updated: Time::ZERO,
            timer_is_set: false,
        }
    }
}

impl Qdisc for Tbf {
    fn attach(&mut self, cx: &mut QdiscContext<'_>) {
        self.queue.attach(cx);
    }

    fn start(&mut self, cx: &mut QdiscContext<'_>) {
        self.queue.start(cx);
    }

    fn enqueue(&mut self, id: PacketId, cx: &mut QdiscContext<'_>) -> bool {
        self.queue.enqueue(0, id, cx)
    }

    fn dequeue(&mut self, cx: &mut QdiscContext<'_>) -> Option<PacketId> {
        let head = self.queue.peek(0, cx)?;
        let bytes = cx.packets[head].ip_bytes;
        let elapsed = (cx.now - self.updated).secs_f64();
        let left = self.bucket.left(elapsed, bytes);
        let peak_left = self.peak.as_ref().map_or(0, |peak| peak.left(elapsed, bytes));
        if left >= 0 && peak_left >= 0 {
            let id = self.queue.dequeue(0, cx)?;
            self.updated = cx.now;
            self.bucket.tokens = left;
            if let Some(peak) = &mut self.peak {
                peak.tokens = peak_left;
            }
            return Some(id);
        }
        if !self.timer_is_set {
            self.timer_is_set = true;
            let peak_wait = self.peak.as_ref().map_or(Time::ZERO, |peak| peak.wait(peak_left));
            // Less than half a nanosecond would round to none, and time would not go on (in ns-3 it
            // does not).
            let wait = self.bucket.wait(left).max(peak_wait).max(Time(1));
            cx.set_timer(wait, self.queue.own_tag());
        }
        None
    }

    fn timer(&mut self, tag: u32, cx: &mut QdiscContext<'_>) -> bool {
        if tag != self.queue.own_tag() {
            return self.queue.timer(tag, cx);
        }
        self.timer_is_set = false;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::qdisc::bench::Bench;
    use crate::packet::Ecn;

    /// In any stretch of time no more than the burst and what the rate gives; in the long run all
    /// of it.
    #[test]
    fn departures_conform_to_the_bucket() {
        let given = [("Rate", "8Mbps"), ("Burst", "6000"), ("MaxSize", "100p")];
        let mut bench = Bench::new("TbfQueueDisc", &given);
        for i in 0..20_000 {
            bench.arrive(0, [40, 1500, 900][i % 3], Ecn::NotEct);
            if let Some(packet) = bench.depart() {
                bench.sent.push((bench.now, packet));
            }
            bench.wait(Time(if i % 1000 < 900 { 100_000 } else { 3_000_000 }));
        }
        let sent: Vec<_> = bench.sent.iter().map(|(at, p)| (at.0, u64::from(p.ip_bytes))).collect();
        for (i, &(start, _)) in sent.iter().enumerate() {
            let mut bytes = 0;
            for &(at, size) in &sent[i..(i + 40).min(sent.len())] {
                bytes += size;
                // 1 B per us; rounding gives a token back at each departure.
                assert!(bytes <= 6000 + (at - start) / 1000 + 40, "{bytes} B since {start}");
            }
        }
        let total: u64 = sent.iter().map(|&(_, size)| size).sum();
        assert!(total > bench.now.0 / 1000 / 3);
    }

    #[test]
    fn a_backlog_leaves_at_the_rate() {
        let given = [("Rate", "8Mbps"), ("Burst", "1500"), ("MaxSize", "2000p")];
        let mut bench = Bench::new("TbfQueueDisc", &given);
        for _ in 0..1000 {
            bench.arrive(0, 1500, Ecn::NotEct);
        }
        let first = bench.depart().unwrap();
        bench.sent.push((bench.now, first));
        assert!(bench.depart().is_none());
        bench.wait(Time::from_secs(2));
        assert_eq!(bench.sent.len(), 1000);
        for pair in bench.sent.windows(2) {
            assert_eq!(pair[1].0 - pair[0].0, Time(1_500_000));
        }
    }
    /// Known departure: ns-3 comes back at once, to the same wait, without end.
    #[test]
    fn a_wait_that_rounds_to_nothing_takes_a_nanosecond() {
        // One byte is missing: 0.08 ns.
        let given = [("Rate", "100Gbps"), ("Burst", "2999"), ("MaxSize", "100p")];
        let mut bench = Bench::new("TbfQueueDisc", &given);
        for _ in 0..2 {
            bench.arrive(0, 1500, Ecn::NotEct);
        }
        assert!(bench.depart().is_some());
        assert!(bench.depart().is_none());
        bench.wait(Time::from_ms(1));
        assert_eq!(bench.sent.iter().map(|&(at, _)| at).collect::<Vec<_>>(), [Time(1)]);
    }
}
