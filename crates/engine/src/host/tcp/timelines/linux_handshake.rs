//! How the profile `linux` opens a connection where a SYN or its answer is lost.

use super::linux::{play, play_with};

const SECOND: (&str, &str) = ("ConnTimeout", "1s");

/// `tcp_syn_linear_timeouts`: four, before the first doubled one.  Those that double are as many as are asked for.  One lost SYN is forgiven, two make the first window a segment.
#[test]
fn syns_leave_once_a_second_and_two_that_are_lost_cost_the_first_window() {
    for (heard, cwnd) in [(1500, 10_000), (2500, 1000)] {
        let second = if heard > 2040 { "2040 > S 0 sackok" } else { "" };
        let opening = format!(
            "0 connect
             0 > S 0 sackok
             1016 > S 0 sackok
             {second}
             {heard} < S. 0 ack 1 sackok
             {heard} > . 1 ack 1
             {heard} ? cwnd {cwnd}"
        );
        play(&[SECOND], &opening);
    }
    let never = "
        0 connect
        0 > S 0 sackok
        1016 > S 0 sackok
        2040 > S 0 sackok
        3064 > S 0 sackok
        4088 > S 0 sackok
        5112 > S 0 sackok
        7160 > S 0 sackok
        7160 ? tcp SynSent
        14000 ? tcp Closed
    ";
    play(&[SECOND, ("ConnCount", "2")], never);
}

/// Both SYNs that were sent again were for nothing: the answer is to the first.
#[test]
fn an_answer_to_the_first_syn_leaves_the_window_as_it_is() {
    for (echo, cwnd) in [(0, 10_000), (2040, 1000)] {
        let opening = format!(
            "0 connect
             0 > S 0 sackok ts 0 0
             1016 > S 0 sackok ts 1016 0
             2040 > S 0 sackok ts 2040 0
             2500 < S. 0 ack 1 sackok ts 100 {echo}
             2500 > . 1 ack 1 ts 2500 100
             2500 ? cwnd {cwnd}"
        );
        play(&[SECOND, ("Timestamp", "true")], &opening);
    }
}

/// RFC 3168 section 6.1.1.1: the SYN that is lost may be so because it asks for ECN.
#[test]
fn a_syn_that_is_sent_again_asks_for_no_ecn() {
    let opening = "
        0    connect
        0    > SEW 0 sackok
        1016 > S 0 sackok
        1050 < S. 0 ack 1 sackok
        1050 > . 1 ack 1
        1060 write 1000
        1060 > . 1:1001 ack 1
    ";
    play(&[SECOND, ("UseEcn", "On")], opening);
}

/// DCTCP's SYN-ACK is ECT whatever the SYN has asked for, and so it is when it is sent again; the connection has no ECN.
#[test]
fn a_syn_ack_that_is_sent_again_is_ect_as_the_first_one() {
    let opening = "
        0    listen
        0    < S 0 sackok
        0    > S. 0 ack 1 sackok ect0
        1016 > S. 0 ack 1 sackok ect0
        1050 < . 1 ack 1
        1060 < . 1:1001 ack 1
        1060 > . 1 ack 1001
    ";
    play_with("TcpDctcp", &[SECOND], opening);
}

/// RFC 9768 section 3.1.4.1: the second one asks again, the third does not.
#[test]
fn accurate_ecn_is_asked_for_twice() {
    let opening = "
        0    connect
        0    > SAEW 0 sackok
        1016 > SAEW 0 sackok
        2040 > S 0 sackok
        2100 < S. 0 ack 1 sackok
        2100 > . 1 ack 1
    ";
    play(&[SECOND, ("UseEcn", "On"), ("EcnFeedback", "Accurate")], opening);
}

/// The answer to the first SYN agrees to ECN, and the loss of the second is told of, which was none.
#[test]
fn an_answer_that_agrees_to_ecn_is_told_of_a_lost_syn() {
    let opening = "
        0    connect
        0    > SEW 0 sackok
        1016 > S 0 sackok
        1050 < SE. 0 ack 1 sackok
        1050 > . 1 ack 1
        1060 write 2000
        1060 > W. 1:1001 ack 1 ect0
        1060 > . 1001:2001 ack 1 ect0
    ";
    play(&[SECOND, ("UseEcn", "On")], opening);
}

/// RFC 8257 asks for ECT on everything; without ECN it is Reno, whose segments have none.
#[test]
fn dctcp_without_ecn_sends_nothing_that_can_be_marked() {
    let opening = "
        0    connect
        0    > SEW 0 sackok ect0
        1016 > S 0 sackok ect0
        1050 < S. 0 ack 1 sackok
        1050 > . 1 ack 1
        1060 write 1000
        1060 > . 1:1001 ack 1
    ";
    play_with("TcpDctcp", &[SECOND], opening);
}

/// Each answer to a SYN that has come again is waited for anew.
#[test]
fn a_repeated_syn_puts_the_timeout_of_its_answer_off() {
    let opening = "
        0    listen
        50   < S 0 sackok
        50   > S. 0 ack 1 sackok
        1066 < S 0 sackok
        1066 > S. 0 ack 1 sackok
        2100 ? tcp SynRcvd
        2104 > S. 0 ack 1 sackok
        4100 ? tcp SynRcvd
    ";
    play(&[SECOND], opening);
}

/// An answer agrees to ECN, and again after the first timeout; then it does not.  The SYN that came first is what counts.
#[test]
fn an_answer_agrees_to_ecn_until_a_timeout_has_repeated_it() {
    let beginning = "
        0    listen
        50   < SEW 0 sackok
        50   > SE. 0 ack 1 sackok
    ";
    let before = "
        1066 < S 0 sackok
        1066 > SE. 0 ack 1 sackok
        1100 < . 1 ack 1
        1100 ? ecn Idle
    ";
    let after = "
        1080 > SE. 0 ack 1 sackok
        1090 < S 0 sackok
        1090 > S. 0 ack 1 sackok
        1100 < . 1 ack 1
        1100 ? ecn Idle
    ";
    for rest in [before, after] {
        play(&[SECOND, ("UseEcn", "On")], &super::after(beginning, rest));
    }
}

/// An answer echoes the SYN that came first.
#[test]
fn answers_to_repeated_syns_echo_the_first() {
    let opening = "
        0    listen
        50   < S 0 sackok ts 7 0
        50   > S. 0 ack 1 sackok ts 50 7
        1066 < S 0 sackok ts 1023 0
        1066 > S. 0 ack 1 sackok ts 1066 7
    ";
    play(&[SECOND, ("Timestamp", "true")], opening);
}

/// RFC 5961 section 4.2: the second answer is acknowledged, and changes nothing; a third soon after is dropped.
#[test]
fn a_second_answer_to_a_syn_is_acknowledged() {
    let rest = "
        0  connect
        0  > S 0 sackok
        50 < S. 0 ack 1 sackok
        50 > . 1 ack 1
        60 write 20000
        60 > . 1:10001 by 1000 ack 1
        110 < . 1 ack 1001
        110 > . 10001:12001 by 1000 ack 1
        120 < S. 0 ack 1 sackok
        120 > . 12001 ack 1
        120 ? cwnd 11000
        130 < S. 0 ack 1 sackok
    ";
    play(&[SECOND], rest);
}

/// A SYN that comes again is answered twice a second at most.  What a kernel did (7.3.4).
#[test]
fn an_answer_is_repeated_twice_a_second_at_most() {
    let opening = "
        0    listen
        50   < S 0 sackok
        50   > S. 0 ack 1 sackok
        100  < S 0 sackok
        100  > S. 0 ack 1 sackok
        590  < S 0 sackok
        600  < S 0 sackok
        600  > S. 0 ack 1 sackok
    ";
    play(&[SECOND], opening);
}

/// Hybla's first window is rho, of which nothing is known where no round trip is.
#[test]
fn hybla_begins_with_a_segment_where_no_round_trip_is_known() {
    for (timestamps, cwnd) in [("true", 2000), ("false", 1000)] {
        let (syn, again, answer, ack) = match timestamps {
            "true" => ("ts 0 0", "ts 1016 0", "ts 100 1016", "ts 1070 100"),
            _ => ("", "", "", ""),
        };
        let opening = format!(
            "0    connect
             0    > S 0 sackok {syn}
             1016 > S 0 sackok {again}
             1070 < S. 0 ack 1 sackok {answer}
             1070 > . 1 ack 1 {ack}
             1070 ? cwnd {cwnd}"
        );
        play_with("TcpHybla", &[SECOND, ("Timestamp", timestamps)], &opening);
    }
}
