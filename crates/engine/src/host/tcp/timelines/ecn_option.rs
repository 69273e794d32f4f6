//! The option of accurate ECN (RFC 9768 section 3.2.3): when it is sent, what it says, and what is made of it.

use super::super::bench::{play, play_as};
use super::super::profile::Linux;
use super::after;

const ON: [(&str, &str); 3] =
    [("UseEcn", "On"), ("EcnFeedback", "Accurate"), ("InitialCwnd", "10")];

/// Made by the peer, which reads the option.
const ACCEPTED: &str = "
    0   listen
    0   < SAEW 0 sackok
    0   > SW. 0 ack 1 sackok e1b,ceb,e0b 1,0,1
    50  < W. 1 ack 1 e1b,ceb,e0b 1,0,1
";

/// Made by the socket under test, which has ten segments in flight.
const TEN_SENT: &str = "
    0         connect
    0         > SAEW 0 sackok
    50        < SW. 0 ack 1 sackok e1b,ceb,e0b 1,0,1
    50        > W. 1 ack 1 e1b,ceb,e0b 1,0,1 ect0
    60        write 10000
    60.000001 > AE. 1:10001 by 1000 ack 1 ect0
";

/// Section 3.2.1: the counts of ECT begin with 1.  Bytes are counted by the ECN field they came with, however they came;
/// the ACK of a change leaves at once and so does, with its option, the one behind it.
#[test]
fn bytes_are_said_when_the_field_changes_and_once_more() {
    let timeline = "
        100 < AE. 1:1001 ack 1 ect0
        100 > AE. 1 ack 1001 e1b,ceb,e0b 1,0,1001 ect0
        102 < AE. 1001:2001 ack 1 ect0
        104 < AE. 2001:3001 ack 1 ect0
        104 > AE. 1 ack 3001 e1b,ceb,e0b 1,0,3001 ect0
        106 < AE. 3001:4001 ack 1 ect0
        108 < AE. 4001:5001 ack 1 ect0
        108 > AE. 1 ack 5001 ect0
        110 < AE. 5001:6001 ack 1 ect1
        110 > AE. 1 ack 6001 e1b,ceb,e0b 1001,0,5001 ect0
    ";
    let settings = [ON.as_slice(), &[("DelAckCount", "2")]].concat();
    play(&settings, &after(ACCEPTED, timeline));
}

/// With two ACKs behind each mark; duplicates count.
#[test]
fn bytes_are_said_behind_each_mark() {
    let timeline = "
        100 < AE. 1:1001 ack 1 ce
        100 > AW. 1 ack 1001 e1b,ceb,e0b 1,1000,1 ect0
        101 < AE. 1:1001 ack 1 ce
        101 > AEW. 1 ack 1001 e1b,ceb,e0b 1,2000,1 ect0
        102 < AE. 1001:2001 ack 1 ce
        102 > . 1 ack 2001 e1b,ceb,e0b 1,3000,1 ect0
        103 < AE. 2001:3001 ack 1 ect0
        103 > . 1 ack 3001 e1b,ceb,e0b 1,3000,1001 ect0
        104 < AE. 3001:4001 ack 1 ect0
        104 > . 1 ack 4001 e1b,ceb,e0b 1,3000,2001 ect0
        105 < AE. 4001:5001 ack 1 ect0
        105 > . 1 ack 5001 ect0
    ";
    play(&ON, &after(ACCEPTED, timeline));
}

/// Section 3.2.3.3: and three times a round trip, which is 50 ms here.
#[test]
fn bytes_are_said_three_times_a_round_trip() {
    let timeline = "
        100 < AE. 1:1001 ack 1 ect0
        100 > AE. 1 ack 1001 e1b,ceb,e0b 1,0,1001 ect0
        101 < AE. 1001:2001 ack 1 ect0
        101 > AE. 1 ack 2001 e1b,ceb,e0b 1,0,2001 ect0
        117 < AE. 2001:3001 ack 1 ect0
        117 > AE. 1 ack 3001 ect0
        118 < AE. 3001:4001 ack 1 ect0
        118 > AE. 1 ack 4001 e1b,ceb,e0b 1,0,4001 ect0
        134 < AE. 4001:5001 ack 1 ect0
        134 > AE. 1 ack 5001 ect0
        135 < AE. 5001:6001 ack 1 ect0
        135 > AE. 1 ack 6001 e1b,ceb,e0b 1,0,6001 ect0
    ";
    play(&ON, &after(ACCEPTED, timeline));
}

/// Section 3.2.3.2: who hears of none sends none.
#[test]
fn a_peer_without_the_option_gets_none() {
    let silent = "
        0   listen
        0   < SAEW 0 sackok
        0   > SW. 0 ack 1 sackok e1b,ceb,e0b 1,0,1
        50  < W. 1 ack 1
        100 < AE. 1:1001 ack 1 ce
        100 > AW. 1 ack 1001 ect0
    ";
    play(&ON, silent);
    let timeline = "
        0         connect
        0         > SAEW 0 sackok
        50        < SW. 0 ack 1 sackok
        50        > W. 1 ack 1 ect0
    ";
    play(&ON, timeline);
}

/// Section 3.2.3.2.2: a SYN-ACK that may have been lost for its option goes without.
#[test]
fn a_syn_ack_that_is_retransmitted_has_no_option() {
    let timeline = "
        0    listen
        0    < SAEW 0 sackok
        0    > SW. 0 ack 1 sackok e1b,ceb,e0b 1,0,1
        1000 < SAEW 0 sackok
        1000 > SW. 0 ack 1 sackok
    ";
    play(&[ON.as_slice(), &[("ConnTimeout", "3s")]].concat(), timeline);
}

/// Appendix A.2.2: ten packets are acknowledged, and ACE says one mark or nine.
#[test]
fn bytes_say_how_often_the_count_has_wrapped() {
    for (bytes, marked) in [(1000, 1), (1001, 9), (9000, 9)] {
        let rest = format!(
            "
            110 < AW. 1 ack 10001 e1b,ceb,e0b 1,{bytes},1
            110 ? marked {marked}
        "
        );
        play(&ON, &after(TEN_SENT, &rest));
    }
    // In the other order, and with as many fields as need be.
    let rest = "
        110 < AW. 1 ack 10001 e0b,ceb,e1b 9001,1000
        110 ? marked 1
    ";
    play(&ON, &after(TEN_SENT, rest));
    // Without CE's count, or where nobody reads it, the worst is assumed.
    let rest = "
        110 < AW. 1 ack 10001 e1b,ceb,e0b 1
        110 ? marked 9
    ";
    play(&ON, &after(TEN_SENT, rest));
}

/// What was counted as the worst without the option is not counted again.
#[test]
fn bytes_that_are_known_late_are_no_new_marks() {
    let rest = "
        110 < A. 1 ack 5001
        110 ? marked 7
        111 < A. 1 ack 10001 e1b,ceb,e0b 1,7000,1
        111 ? marked 7
    ";
    play(&ON, &after(TEN_SENT, rest));
}

/// Section 3.2.3.2.4: counts of ECT that are 0 at first have been cleared on the way.
#[test]
fn an_option_that_is_cleared_on_the_way_says_nothing() {
    for first in ["0,0,0", "0", "1,0,0"] {
        let timeline = format!(
            "
            0         connect
            0         > SAEW 0 sackok
            50        < SW. 0 ack 1 sackok e1b,ceb,e0b {first}
            50        > W. 1 ack 1 e1b,ceb,e0b 1,0,1 ect0
            60        write 10000
            60.000001 > AE. 1:10001 by 1000 ack 1 ect0
            110       < AW. 1 ack 10001 e1b,ceb,e0b 1,1000,1
            110       ? marked 9
        "
        );
        play(&ON, &timeline);
    }
}

/// Of an ACK that has been overtaken counts are smaller.
#[test]
fn an_old_option_takes_nothing_back() {
    let rest = "
        110 < AEW. 1 ack 2001 e1b,ceb,e0b 1,2000,1
        110 ? marked 2
        111 < AEW. 1 ack 8001 e1b,ceb,e0b 1,1000,1
        111 ? marked 2
        112 < . 1 ack 10001 e1b,ceb,e0b 1,3000,1
        112 ? marked 3
    ";
    play(&ON, &after(TEN_SENT, rest));
}

/// SACK blocks go before: two leave room for two of the three counts, three for none.
#[test]
fn the_option_has_the_room_that_sack_leaves() {
    let begin = "
        0   listen
        0   < SAEW 0 sackok ts 1 0
        0   > SW. 0 ack 1 sackok ts 0 1 e1b,ceb,e0b 1,0,1
        50  < W. 1 ack 1 ts 51 0 e1b,ceb,e0b 1,0,1
    ";
    let rest = "
        100 < AE. 1001:2001 ack 1 ts 101 50 ce
        100 > AW. 1 ack 1 ts 100 51 sack 1001:2001 e1b,ceb,e0b 1,1000,1 ect0
        101 < AE. 3001:4001 ack 1 ts 102 50 ce
        101 > AEW. 1 ack 1 ts 101 51 sack 3001:4001 1001:2001 e1b,ceb,e0b 1,2000 ect0
        102 < AE. 5001:6001 ack 1 ts 103 50 ce
        102 > . 1 ack 1 ts 102 51 sack 5001:6001 3001:4001 1001:2001 ect0
    ";
    let settings = [ON.as_slice(), &[("Timestamp", "true")]].concat();
    play_as::<Linux>("TcpNewReno", &settings, &after(begin, rest));
    // With ECT(0) counted the third field has to be there.
    let rest = "
        100 < AE. 1001:2001 ack 1 ts 101 50 ect0
        100 > AE. 1 ack 1 ts 100 51 sack 1001:2001 e1b,ceb,e0b 1,0,1001 ect0
        101 < AE. 3001:4001 ack 1 ts 102 50 ce
        101 > AW. 1 ack 1 ts 101 51 sack 3001:4001 1001:2001 ect0
    ";
    play_as::<Linux>("TcpNewReno", &settings, &after(begin, rest));
}
