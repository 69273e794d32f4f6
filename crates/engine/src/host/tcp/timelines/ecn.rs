//! Explicit congestion notification (RFC 3168, RFC 8257, RFC 9768).

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

/// Without its option, which `ecn_option.rs` has.
const ACCURATE: [(&str, &str); 4] = [
    ("UseEcn", "On"),
    ("EcnFeedback", "Accurate"),
    ("AccEcnOption", "false"),
    ("InitialCwnd", "5"),
];

/// A connection with accurate ECN, made by the socket under test; the SYN-ACK came without ECT, says its ACK.
const COUNTED: &str = "
    0         connect
    0         > SAEW 0 sackok
    50        < SW. 0 ack 1 sackok
    50        > W. 1 ack 1 ect0
    50        ? ecn Idle
    60        write 20000
    60.000001 > AE. 1:5001 by 1000 ack 1 ect0
";

/// One that the peer made.
const COUNTS: &str = "
    0   listen
    0   < SAEW 0 sackok
    0   > SW. 0 ack 1 sackok
    50  < W. 1 ack 1
";

/// RFC 9768 section 3.1.1.  ACKs are ECT, as in draft-ietf-tcpm-generalized-ecn section 3.2.3 and Linux; SYN and SYN-ACK are not.
#[test]
fn accurate_ecn_is_asked_for_and_agreed_by_three_flags() {
    play(&ACCURATE, COUNTED);
    let timeline = "
        100 < AE. 1:1001 ack 1 ect0
        100 > AE. 1 ack 1001 ect0
    ";
    play(&ACCURATE, &after(COUNTS, timeline));
}

#[test]
fn a_peer_of_rfc_3168_makes_it_classic() {
    let timeline = "
        0         connect
        0         > SAEW 0 sackok
        50        < SE. 0 ack 1 sackok
        50        > . 1 ack 1
        60        write 1000
        60.000001 > . 1:1001 ack 1 ect0
    ";
    play(&ACCURATE, timeline);
    play(&ACCURATE, ACCEPTED);
}

/// Section 3.2.2: 5 and the marks since, modulo 8.
#[test]
fn the_receiver_says_how_many_marks_have_come() {
    let mut timeline = COUNTS.to_owned();
    let fields = ["AW", "AEW", "", "E", "W", "EW", "A", "AE", "AW"];
    for (i, field) in fields.iter().enumerate() {
        let (from, to, at) = (1000 * i + 1, 1000 * i + 1001, 100 + 10 * i);
        timeline.push_str(&format!("{at} < AE. {from}:{to} ack 1 ce\n"));
        timeline.push_str(&format!("{at} > {field}. 1 ack {to} ect0\n"));
    }
    play(&ACCURATE, &timeline);
}

/// Section 3.2.2.5.1: the first mark after none is acknowledged at once, where ACKs are delayed.
#[test]
fn the_first_mark_is_acknowledged_at_once() {
    let timeline = "
        100 < AE. 1:1001 ack 1 ect0
        100 > AE. 1 ack 1001 ect0
        105 < AE. 1001:2001 ack 1 ect0
        110 < AE. 2001:3001 ack 1 ce
        110 > AW. 1 ack 3001 ect0
        120 < AE. 3001:4001 ack 1 ce
        130 < AE. 4001:5001 ack 1 ce
        130 > . 1 ack 5001 ect0
    ";
    let settings = [ACCURATE.as_slice(), &[("DelAckCount", "2")]].concat();
    play(&settings, &after(COUNTS, timeline));
}

/// The same window as with RFC 3168's echo, and the count; CWR is not said, the count is.
#[test]
fn marks_counted_reduce_the_window_once() {
    let rest = "
        110 < AW. 1 ack 1001
        110 > AE. 5001:6001 ack 1 ect0
        110 ? state Cwr ssthresh 2000 marked 1 ecn EceRcvd
        111 < W. 1 ack 5001
        111 > AE. 6001:7001 ack 1 ect0
        111 ? state Cwr ssthresh 2000 marked 5
        112 < W. 1 ack 6001
        112 > AE. 7001:8001 ack 1 ect0
        112 ? marked 5 ecn Idle
    ";
    play(&ACCURATE, &after(COUNTED, rest));
}

/// Section 3.2.2.1: a SYN-ACK that was marked is told of in the ACK that answers it, and is no mark of the data's.
#[test]
fn a_mark_of_the_syn_ack_reduces_nothing() {
    let timeline = "
        0          listen
        0          < SAEW 0 sackok
        0          > SW. 0 ack 1 sackok
        50         < AW. 1 ack 1
        60         write 1000
        60.000001  > FAE. 1:1001 ack 1 ect0
        110        < AW. 1 ack 1001
        110        ? state Open marked 0
    ";
    play(&ACCURATE, timeline);
}

/// Prague's own: ECT(1), also on retransmissions; half for the first mark.
#[test]
fn prague_counts_marks_and_sends_ect_1() {
    let begin = "
        0         connect
        0         > SAEW 0 sackok
        50        < SW. 0 ack 1 sackok
        50        > W. 1 ack 1 ect1
        60        write 5000
        60.000001 > AE. 1:5001 by 1000 ack 1 ect1
    ";
    let rest = "
        110 < AW. 1 ack 1001
        110 ? ssthresh 5000 marked 1
        310 > AE. 1001:2001 ack 1 ect1
    ";
    play_with("TcpPrague", &[], &after(begin, rest));
    let without = "
        0         connect
        0         > SAEW 0 sackok
        50        < SE. 0 ack 1 sackok
        50        > . 1 ack 1
        60        write 1000
        60.000001 > . 1:1001 ack 1
    ";
    play_with("TcpPrague", &[], without);
}
