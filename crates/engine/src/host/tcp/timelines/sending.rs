//! When data leaves, and when it is acknowledged, without loss.

use super::super::bench::play;
use super::{ACCEPTED, ESTABLISHED, after};

const INITIAL_WINDOW: &str = "
    60        write 20000
    60.000001 > . 1:3001 by 1000 ack 1
";

#[test]
fn the_initial_window_leaves_at_once() {
    let rest = "
        60.000001 ? in_flight 3000
        110       < . 1 ack 1001
        110       > . 3001:4001 ack 1
        110       > . 4001:5001 ack 1
        110       ? cwnd 4000
    ";
    let timeline = after(ESTABLISHED, &after(INITIAL_WINDOW, rest));
    play(&[("InitialCwnd", "3")], &timeline);
}

/// ns-3's NewReno adds one segment for an ACK, however many segments it covers (RFC 5681 equation 2).
#[test]
fn slow_start_grows_by_a_segment_for_each_ack() {
    let rest = "
        110       < . 1 ack 3001
        110       > . 3001:7001 by 1000 ack 1
        110       ? cwnd 4000 in_flight 4000
    ";
    let timeline = after(ESTABLISHED, &after(INITIAL_WINDOW, rest));
    play(&[("InitialCwnd", "3")], &timeline);
}

#[test]
fn congestion_avoidance_grows_by_a_segment_for_each_window() {
    let rest = "
        110       < . 1 ack 1001
        110       > . 3001:4001 ack 1
        110       ? cwnd 3333
        111       < . 1 ack 2001
        111       > . 4001:5001 ack 1
        111       ? cwnd 3633
        112       < . 1 ack 3001
        112       > . 5001:6001 ack 1
        112       ? cwnd 3908
    ";
    let timeline = after(ESTABLISHED, &after(INITIAL_WINDOW, rest));
    play(&[("InitialCwnd", "3"), ("InitialSlowStartThreshold", "2000")], &timeline);
}

/// The first one is acknowledged at once, so that the sender's window opens soon.
#[test]
fn every_second_segment_is_acknowledged_at_once() {
    let rest = "
        100 < . 1:1001 ack 1
        100 > . 1 ack 1001
        110 < . 1001:2001 ack 1
        120 < . 2001:3001 ack 1
        120 > . 1 ack 3001
    ";
    play(&[("DelAckCount", "2")], &after(ACCEPTED, rest));
}

/// RFC 1122 section 4.2.3.2 allows half a second; ns-3's default is 200 ms.
#[test]
fn a_single_segment_is_acknowledged_when_the_timer_fires() {
    let rest = "
        100 < . 1:1001 ack 1
        100 > . 1 ack 1001
        110 < . 1001:2001 ack 1
        310 > . 1 ack 2001
    ";
    play(&[("DelAckCount", "2")], &after(ACCEPTED, rest));
}

/// RFC 5681 section 4.2: out of order, and when a hole is filled.
#[test]
fn holes_are_reported_at_once() {
    let rest = "
        100 < . 1:1001 ack 1
        100 > . 1 ack 1001
        120 < . 2001:3001 ack 1
        120 > . 1 ack 1001 sack 2001:3001
        130 < . 4001:5001 ack 1
        130 > . 1 ack 1001 sack 4001:5001 2001:3001
        140 < . 1001:2001 ack 1
        140 > . 1 ack 3001 sack 4001:5001
        150 < . 3001:4001 ack 1
        150 > . 1 ack 5001
    ";
    play(&[("DelAckCount", "2")], &after(ACCEPTED, rest));
}

#[test]
fn a_duplicate_is_acknowledged_again() {
    let rest = "
        100 < . 1:1001 ack 1
        100 > . 1 ack 1001
        110 < . 1:1001 ack 1
        110 > . 1 ack 1001
    ";
    play(&[], &after(ACCEPTED, rest));
}

/// RFC 896.
#[test]
fn nagle_holds_a_small_segment_until_all_is_acknowledged() {
    let rest = "
        60        write 1500
        60.000001 > . 1:1001 ack 1
        110       < . 1 ack 1001
        110       > . 1001:1501 ack 1
    ";
    play(&[("TcpNoDelay", "false")], &after(ESTABLISHED, rest));
}

#[test]
fn without_nagle_a_small_segment_leaves_at_once() {
    let rest = "
        60        write 1500
        60.000001 > . 1:1001 ack 1
        60.000001 > . 1001:1501 ack 1
    ";
    play(&[], &after(ESTABLISHED, rest));
}

/// cwnd / sRTT, twice that in slow start: 2 x 10,000 B in 50 ms are 3.2 Mbps, 2.5 ms for a payload of
/// 1000 B.
#[test]
fn the_pacing_rate_follows_window_and_round_trip() {
    let rest = "
        60        write 3000
        60.000001 > . 1:1001 ack 1
        62.500001 > . 1001:2001 ack 1
        65.000001 > . 2001:3001 ack 1
    ";
    play(&[("EnablePacing", "true"), ("PaceInitialWindow", "true")], &after(ESTABLISHED, rest));
}

/// 1000 B at 1 Mbps: eight milliseconds.
#[test]
fn the_pacing_rate_has_an_upper_bound() {
    let rest = "
        60        write 3000
        60.000001 > . 1:1001 ack 1
        68.000001 > . 1001:2001 ack 1
        76.000001 > . 2001:3001 ack 1
    ";
    let paced =
        [("EnablePacing", "true"), ("PaceInitialWindow", "true"), ("MaxPacingRate", "1Mbps")];
    play(&paced, &after(ESTABLISHED, rest));
}

#[test]
fn the_initial_window_is_not_paced_unless_asked_for() {
    let rest = "
        60        write 3000
        60.000001 > . 1:3001 by 1000 ack 1
    ";
    play(&[("EnablePacing", "true")], &after(ESTABLISHED, rest));
}
