//! The peer's window (RFC 9293 section 3.8.6).

use super::super::bench::play;
use super::{ESTABLISHED, after};

#[test]
fn the_peers_window_bounds_what_is_in_flight() {
    let timeline = "
        0         connect
        0         > S 0
        50        < S. 0 ack 1 win 2000
        50        > . 1 ack 1
        60        write 5000
        60.000001 > . 1:1001 ack 1
        60.000001 > . 1001:2001 ack 1
        110       < . 1 ack 2001 win 3000
        110       > . 2001:5001 by 1000 ack 1
    ";
    play(&[("Sack", "false")], timeline);
}

/// Section 3.8.6.2.1: rather wait than cut a segment.
#[test]
fn a_silly_window_is_waited_out() {
    let timeline = "
        0         connect
        0         > S 0
        50        < S. 0 ack 1 win 1500
        50        > . 1 ack 1
        60        write 5000
        60.000001 > . 1:1001 ack 1
        110       < . 1 ack 1001 win 500
        120       < . 1 ack 1001 win 2000
        120       > . 1001:2001 ack 1
        120       > . 2001:3001 ack 1
    ";
    play(&[("Sack", "false")], timeline);
}

/// Section 3.8.6.1: one byte beyond, at doubled intervals, until the window opens.
#[test]
fn a_closed_window_is_probed() {
    let rest = "
        60        write 3000
        60.000001 > . 1:3001 by 1000 ack 1
        110       < . 1 ack 3001 win 0
        120       write 1000
        610       > - 3001:3002
        660       < . 1 ack 3001 win 0
        1610      > - 3001:3002
        1660      < . 1 ack 3001
        1660      > . 3001:4001 ack 1
    ";
    play(&[("PersistTimeout", "500ms")], &after(ESTABLISHED, rest));
}

#[test]
fn an_old_segment_does_not_change_the_window() {
    let rest = "
        60        write 1000
        60.000001 > . 1:1001 ack 1
        110       < . 1 ack 1001
        115       < . 1 ack 1 win 10
        120       write 1000
        120.000001 > . 1001:2001 ack 1
    ";
    play(&[], &after(ESTABLISHED, rest));
}
