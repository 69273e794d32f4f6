//! Closing (RFC 9293 section 3.6).

use super::super::bench::play;
use super::{ACCEPTED, ESTABLISHED, after};

#[test]
fn who_closes_first_waits_twice_a_lifetime() {
    let rest = "
        100  close
        100  > F. 1 ack 1
        100  ? tcp FinWait1
        150  < . 1 ack 2
        150  ? tcp FinWait2
        160  < F. 1 ack 2
        160  > . 2 ack 2
        160  ? tcp TimeWait
        1159 ? tcp TimeWait
        1160 ? tcp Closed
    ";
    play(&[("MaxSegLifetime", "0.5")], &after(ESTABLISHED, rest));
}

#[test]
fn the_last_data_carries_the_fin() {
    let rest = "
        60        write 1500
        60        close
        60.000001 > . 1:1001 ack 1
        60.000001 > F. 1001:1501 ack 1
        110       < . 1 ack 1502
        110       ? tcp FinWait2
    ";
    play(&[], &after(ESTABLISHED, rest));
}

#[test]
fn a_sink_answers_a_fin_with_its_own() {
    let rest = "
        100 < F. 1 ack 1
        100 > F. 1 ack 2
        100 ? tcp LastAck
        150 < . 2 ack 2
        150 ? tcp Listen
    ";
    play(&[], &after(ACCEPTED, rest));
}

#[test]
fn a_fin_with_data_closes_when_the_hole_before_it_is_filled() {
    let rest = "
        100 < F. 1001:2001 ack 1
        100 > . 1 ack 1 sack 1001:2001
        110 < . 1:1001 ack 1
        110 > F. 1 ack 2002
        110 ? tcp LastAck
    ";
    play(&[], &after(ACCEPTED, rest));
}

#[test]
fn both_ends_close_at_once() {
    let rest = "
        100 close
        100 > F. 1 ack 1
        110 < F. 1 ack 1
        110 > . 2 ack 2
        110 ? tcp Closing
        150 < . 2 ack 2
        150 ? tcp TimeWait
    ";
    play(&[], &after(ESTABLISHED, rest));
}

#[test]
fn a_lost_fin_is_repeated() {
    let rest = "
        100 close
        100 > F. 1 ack 1
        300 > F. 1 ack 1
        350 < . 1 ack 2
        350 ? tcp FinWait2
    ";
    play(&[], &after(ESTABLISHED, rest));
}

#[test]
fn who_is_gone_answers_with_a_reset_but_not_a_reset() {
    let rest = "
        100 close
        100 > F. 1 ack 1
        150 < F. 1 ack 2
        150 > . 2 ack 2
        450 ? tcp Closed
        500 < F. 1 ack 2
        500 > R 2
        510 < R 1
    ";
    play(&[("MaxSegLifetime", "0.1")], &after(ESTABLISHED, rest));
}
