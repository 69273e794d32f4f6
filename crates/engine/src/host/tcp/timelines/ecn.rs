//! Explicit congestion notification (RFC 3168, RFC 8257).

use super::super::bench::{play, play_with};
use super::after;

const ON: [(&str, &str); 1] = [("UseEcn", "On")];

/// A connection with ECN, made by the socket under test, with five segments in flight.
const FIVE_SENT: &str = "
    0         connect
    0         > SEW 0 sackok
    50        < SE. 0 ack 1 sackok
    50        > . 1 ack 1
    50        ? ecn Idle
    60        write 20000
    60.000001 > . 1:5001 by 1000 ack 1 ect0
";

/// A connection with ECN, made by the peer.
const ACCEPTED: &str = "
    0   listen
    0   < SEW 0 sackok
    0   > SE. 0 ack 1 sackok
    50  < . 1 ack 1
";

#[test]
fn a_peer_that_does_not_agree_gets_no_ect() {
    let timeline = "
        0         connect
        0         > SEW 0 sackok
        50        < S. 0 ack 1 sackok
        50        > . 1 ack 1
        50        ? ecn Disabled
        60        write 1000
        60.000001 > . 1:1001 ack 1
    ";
    play(&ON, timeline);
}

#[test]
fn accept_only_answers_and_does_not_ask() {
    let settings = [("UseEcn", "AcceptOnly")];
    play(
        &settings,
        "
        0   connect
        0   > S 0 sackok
    ",
    );
    play(&settings, ACCEPTED);
}

#[test]
fn who_wants_none_does_not_agree() {
    let timeline = "
        0   listen
        0   < SEW 0 sackok
        0   > S. 0 ack 1 sackok
        50  < . 1 ack 1
        50  ? ecn Disabled
    ";
    play(&[], timeline);
}

/// Section 6.1.3: from the mark on every ACK carries the echo, until the sender says CWR.
#[test]
fn a_mark_is_echoed_until_the_sender_has_reacted() {
    let rest = "
        100 < . 1:1001 ack 1 ect0
        100 > . 1 ack 1001
        110 < . 1001:2001 ack 1 ce
        110 > E. 1 ack 2001
        120 < . 2001:3001 ack 1 ect0
        120 > E. 1 ack 3001
        130 < W. 3001:4001 ack 1 ect0
        130 > . 1 ack 4001
    ";
    play(&ON, &after(ACCEPTED, rest));
}

/// Section 6.1.2: once for a window of data, and CWR on the first new segment after.
#[test]
fn an_echo_reduces_the_window_once() {
    let rest = "
        110 < E. 1 ack 1001
        110 > W. 5001:6001 ack 1 ect0
        110 ? state Cwr ssthresh 2000
        111 < E. 1 ack 2001
        111 > . 6001:7001 ack 1 ect0
        112 < E. 1 ack 3001
        113 < E. 1 ack 4001
        113 > . 7001:8001 ack 1 ect0
        114 < E. 1 ack 5001
        114 ? state Cwr ssthresh 2000
        160 < . 1 ack 6001
        160 ? state Open cwnd 2500
    ";
    play(&[("UseEcn", "On"), ("InitialCwnd", "5")], &after(FIVE_SENT, rest));
}

/// Section 6.1.5.
#[test]
fn a_retransmission_is_not_ect() {
    let rest = "
        260.000001 > . 1:1001 ack 1
    ";
    play(&[("UseEcn", "On"), ("InitialCwnd", "5")], &after(FIVE_SENT, rest));
}

/// RFC 8257 section 3.2: what came before a change is acknowledged at once, with or without echo as it
/// came.  ns-3 leaves out the last segment before the change.  Control segments are ECT, too.
#[test]
fn dctcp_acknowledges_before_the_marks_begin_and_end() {
    let timeline = "
        0   listen
        0   < SEW 0 sackok
        0   > SE. 0 ack 1 sackok ect0
        50  < . 1 ack 1
        100 < . 1:1001 ack 1 ect0
        100 > . 1 ack 1001 ect0
        110 < . 1001:2001 ack 1 ect0
        120 < . 2001:3001 ack 1 ce
        120 > . 1 ack 1001 ect0
        130 < . 3001:4001 ack 1 ce
        130 > E. 1 ack 4001 ect0
        140 < . 4001:5001 ack 1 ce
        150 < . 5001:6001 ack 1 ect0
        150 > E. 1 ack 4001 ect0
        160 < . 6001:7001 ack 1 ect0
        160 > . 1 ack 7001 ect0
    ";
    play_with("TcpDctcp", &[("DelAckCount", "2")], timeline);
}
