//! Opening (RFC 9293 section 3.5), and what is agreed on while opening.

use super::super::bench::play;
use super::{ESTABLISHED, after};

const OPTIONS: [(&str, &str); 2] = [("Timestamp", "true"), ("WindowScaling", "true")];

#[test]
fn options_are_offered_and_agreed_on() {
    let timeline = "
        0   connect
        0   > S 0 sackok ws 2 ts 0 0
        50  < S. 0 ack 1 win 20000 sackok ws 3 ts 100 0
        50  > . 1 ack 1 win 32768 ts 50 100
        50  ? tcp Established
        60  write 1000
        60.000001 > . 1:1001 ack 1 win 32768 ts 60 100
    ";
    play(&OPTIONS, timeline);
}

/// But for the shift of the window field: ns-3 goes on scaling what it offered to scale, against RFC 7323
/// section 2.2 (131,072 B in units of four).
#[test]
fn options_that_the_peer_does_not_answer_are_dropped() {
    let timeline = "
        0   connect
        0   > S 0 sackok ws 2 ts 0 0
        50  < S. 0 ack 1
        50  > . 1 ack 1 win 32768
        60  write 1000
        60.000001 > . 1:1001 ack 1 win 32768
    ";
    play(&OPTIONS, timeline);
}

#[test]
fn options_that_were_not_offered_are_not_answered() {
    let timeline = "
        0   listen
        0   < S 0
        0   > S. 0 ack 1
        50  < . 1 ack 1
        50  ? tcp Established
        60  < - 1:1001
        60  > . 1 ack 1001
    ";
    play(&OPTIONS, timeline);
}

#[test]
fn a_lost_syn_is_repeated_at_doubled_intervals_and_given_up() {
    let timeline = "
        0     connect
        0     > S 0
        3000  > S 0
        9000  > S 0
        20000 ? tcp SynSent
        21000 ? tcp Closed
    ";
    play(&[("Sack", "false"), ("ConnCount", "3")], timeline);
}

/// ns-3 measures the round trip of a SYN that was sent again from the first copy, against Karn's rule (RFC 6298 section 3): 3.05 s,
/// and half of it as its variation.
#[test]
fn data_behind_a_lost_syn_is_repeated_after_three_such_round_trips() {
    let timeline = "
        0            connect
        0            > S 0 sackok
        3000         > S 0 sackok
        3050         < S. 0 ack 1 sackok
        3050         > . 1 ack 1
        3060         write 1000
        3060.000001  > . 1:1001 ack 1
        12210.000001 > . 1:1001 ack 1
    ";
    play(&[], timeline);
}

#[test]
fn a_repeated_syn_gets_the_same_answer() {
    let timeline = "
        0    listen
        0    < S 0 sackok
        0    > S. 0 ack 1 sackok
        1000 < S 0 sackok
        1000 > S. 0 ack 1 sackok
        1050 < . 1 ack 1
        1050 ? tcp Established
    ";
    play(&[], timeline);
}

#[test]
fn a_syn_ack_is_repeated_if_nothing_comes() {
    let timeline = "
        0    listen
        0    < S 0 sackok
        0    > S. 0 ack 1 sackok
        3000 > S. 0 ack 1 sackok
        3010 ? tcp SynRcvd
    ";
    play(&[], timeline);
}

#[test]
fn data_completes_a_handshake_whose_ack_was_lost() {
    let timeline = "
        0   listen
        0   < S 0 sackok
        0   > S. 0 ack 1 sackok
        60  < . 1:1001 ack 1
        60  > . 1 ack 1001
        60  ? tcp Established
    ";
    play(&[], timeline);
}

#[test]
fn a_reset_ends_an_attempt_to_connect() {
    let timeline = "
        0   connect
        0   > S 0 sackok
        50  < R 0
        50  ? tcp Closed
    ";
    play(&[], timeline);
}

/// RFC 9293 section 3.10.7.3 would end it; ns-3 looks for a reset without ACK only.
#[test]
fn a_reset_with_an_ack_is_passed_over_as_in_ns3() {
    let timeline = "
        0   connect
        0   > S 0 sackok
        50  < R. 0 ack 1
        50  ? tcp SynSent
    ";
    play(&[], timeline);
}

#[test]
fn an_ack_of_what_was_never_sent_is_answered() {
    let rest = "
        100 < . 1 ack 5000
        100 > . 1 ack 1
        100 ? tcp Established
    ";
    play(&[], &after(ESTABLISHED, rest));
}

#[test]
fn a_reset_ends_an_established_connection() {
    let rest = "
        100 < R 1
        100 ? tcp Closed
        110 < . 1:1001 ack 1
        110 > R 1
    ";
    play(&[], &after(ESTABLISHED, rest));
}
