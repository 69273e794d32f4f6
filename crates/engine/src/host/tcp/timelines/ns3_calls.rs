//! What ns-3's test suites expect of the delivery rate, which they call by hand: facts of the suites.
//!
//! `python/ccperf/verify/expectations.py` counts the cases; `tests/differential` has the others.

use super::super::bench::play;
use super::super::rate::{Law, Pipe, RateEstimator};
use super::after;
use crate::base::time::Time;

/// ns-3's tcp-rate-ops, 2 cases.
#[test]
fn a_segment_remembers_the_delivery_when_it_was_sent_and_who_limited_it() {
    // The suite's segments are empty: one leaves every 10 ms, one is delivered every 100 ms.
    for (unsent, limited) in [(9, false), (0, true)] {
        let mut rate = RateEstimator::sampling(Law::Ns3);
        let pipe = Pipe { cwnd: 1000, in_flight: 0, segment_size: 1, lost: 0, retransmitted: 0 };
        let mut sent = Vec::new();
        let mut deliveries = (1..=100u64).map(|i| Time(100_000_000 * i)).peekable();
        let (mut next, mut is_over) = (0u64, false);
        while !is_over {
            let leaves = Time(10_000_000 * next);
            if next < 100 && deliveries.peek().is_none_or(|&at| leaves <= at) {
                rate.check_app_limited(unsent, pipe);
                let segment = rate.on_sent(leaves, 0, 0);
                assert_eq!(segment.delivered, rate.delivered());
                assert_eq!(segment.delivered_time, leaves);
                sent.push((leaves, segment));
                next += 1;
            } else if let Some(at) = deliveries.next() {
                let number = (at.0 / 100_000_000 - 1) as usize;
                let (leaves, segment) = &sent[number];
                rate.on_delivered(at, 0, *leaves, false, Some(segment));
                assert_eq!(segment.app_limited, limited);
            } else {
                is_over = true;
            }
        }
    }
}

/// ns-3's tcp-rate-ops, 2 cases.
#[test]
fn what_is_delivered_counts_once_whether_it_is_sacked_or_acknowledged_first() {
    for segment in [1000u32, 500] {
        let text: &'static str = segment.to_string().leak();
        let edge = |number: u32| number * segment + 1;
        let mut timeline = format!("60 write {}\n", 10 * segment);
        for number in 0..10 {
            timeline += &format!("60.000001 > . {}:{} ack 1\n", edge(number), edge(number + 1));
        }
        for (at, ack, sack, delivered) in [
            (110, 1, String::new(), 1),
            (111, 2, String::new(), 1),
            (112, 2, format!("sack {}:{}", edge(4), edge(5)), 1),
            (113, 2, format!("sack {}:{} {}:{}", edge(4), edge(5), edge(3), edge(4)), 1),
            (114, 5, String::new(), 1),
            (115, 10, String::new(), 5),
        ] {
            let (ack, delivered) = (edge(ack), delivered * segment);
            timeline += &format!("{at} < . 1 ack {ack} {sack}\n{at} ? delivered {delivered}\n");
        }
        play(&[("SegmentSize", text)], &after(super::ESTABLISHED, &timeline));
    }
}
