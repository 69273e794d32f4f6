//! Data that comes twice: what a receiver of the profile `linux` reports (DSACK, RFC 2883), and what its sender makes of it (RFC
//! 3708, RFC 8985).

use super::linux::{play, play_probed, play_recovering, play_ten};
use super::{ACCEPTED, after};

/// RFC 2883 section 4.1.1: the peer had not heard of the first ACK.
#[test]
fn a_segment_that_comes_again_is_reported_once() {
    let rest = "
        60 < . 1:1001 ack 1
        60 > . 1 ack 1001
        61 < . 1001:2001 ack 1
        61 > . 1 ack 2001
        70 < . 1:1001 ack 1
        70 > . 1 ack 2001 sack 1:1001
        71 < . 2001:3001 ack 1
        71 > . 1 ack 3001
    ";
    play(&[], &after(ACCEPTED, rest));
}

/// RFC 2883 section 4.1.3: behind it the block that holds it, and other blocks.
#[test]
fn what_comes_again_beyond_a_hole_stands_before_the_block_that_has_it() {
    let rest = "
        60 < . 1001:2001 ack 1
        60 > . 1 ack 1 sack 1001:2001
        61 < . 3001:4001 ack 1
        61 > . 1 ack 1 sack 3001:4001 1001:2001
        62 < . 4001:5001 ack 1
        62 > . 1 ack 1 sack 3001:5001 1001:2001
        63 < . 3001:4001 ack 1
        63 > . 1 ack 1 sack 3001:4001 3001:5001 1001:2001
    ";
    play(&[], &after(ACCEPTED, rest));
}

/// RFC 2883 section 4.2.1: the segment that fills the hole is longer than it.
#[test]
fn the_part_that_has_come_is_reported() {
    let rest = "
        60 < . 1:1001 ack 1
        60 > . 1 ack 1001
        61 < . 2001:3001 ack 1
        61 > . 1 ack 1001 sack 2001:3001
        62 < . 501:2001 ack 1
        62 > . 1 ack 3001 sack 501:1001
    ";
    play(&[], &after(ACCEPTED, rest));
}

/// With timestamps a header has room for three blocks.
#[test]
fn a_report_takes_the_place_of_the_oldest_block() {
    play(
        &[("Timestamp", "true")],
        "0 listen
         0 < S 0 sackok ts 100 0
         0 > S. 0 ack 1 sackok ts 0 100
         50 < . 1 ack 1 ts 150 0
         60 < . 1001:2001 ack 1 ts 160 0
         60 > . 1 ack 1 ts 60 150 sack 1001:2001
         61 < . 3001:4001 ack 1 ts 161 0
         61 > . 1 ack 1 ts 61 150 sack 3001:4001 1001:2001
         62 < . 5001:6001 ack 1 ts 162 0
         62 > . 1 ack 1 ts 62 150 sack 5001:6001 3001:4001 1001:2001
         63 < . 5001:6001 ack 1 ts 163 0
         63 > . 1 ack 1 ts 63 150 sack 5001:6001 5001:6001 3001:4001",
    );
}

/// RFC 3708: all that the episode sent again has come twice, so that nothing was lost.  No timestamps help.
#[test]
fn an_episode_of_which_all_came_twice_is_undone() {
    play_recovering(
        "112 ? state Recovery ssthresh 5000
         113 < . 1 ack 4001
         113 ? state Recovery
         162 < . 1 ack 4001 sack 1:1001
         162 > . 11001:13001 by 1000 ack 1
         162 ? state Open cwnd 10000 ssthresh 4294967295",
    );
}

/// The last duplicate is reported when the episode is over.
#[test]
fn an_episode_that_has_ended_is_undone_too() {
    play_recovering(
        "160 < . 1 ack 11001
         160 > . 11001:17001 by 1000 ack 1
         160 ? state Open ssthresh 5000
         162 < . 1 ack 11001 sack 1:1001
         162 > . 17001:20001 by 1000 ack 1
         162 ? state Open cwnd 10000 ssthresh 4294967295",
    );
}

/// Two are sent again and one has come twice: the other was lost.
#[test]
fn an_episode_of_which_one_came_once_stands() {
    play_ten(
        "110 < . 1 ack 1 sack 2001:5001
         110 > . 1:1001 ack 1
         161 < . 1 ack 1001 sack 2001:10001
         161 > . 1001:2001 ack 1
         161 > . 10001:14001 by 1000 ack 1
         211 < . 1 ack 10001
         211 > . 14001:15001 ack 1
         212 < . 1 ack 10001 sack 1:1001
         212 ? state Open cwnd 5000 ssthresh 5000",
    );
}

/// RFC 8985 section 7.4.2, case 2: the last segment was lost, and the window answers when more is acknowledged without a report.
#[test]
fn a_loss_that_a_probe_repairs_reduces_the_window() {
    let rest = "
        262 < . 1 ack 4001
        262 ? state Open ssthresh 4294967295
        300 write 2000
        300 > . 4001:6001 by 1000 ack 1
        350 < . 1 ack 6001
        350 ? state Open cwnd 5000 ssthresh 5000
    ";
    play_probed(rest);
}

/// Case 1: the peer has the last segment twice, so that only its ACK was lost.
#[test]
fn a_probe_that_came_twice_costs_nothing() {
    let rest = "
        262 < . 1 ack 4001 sack 3001:4001
        300 write 2000
        300 > . 4001:6001 by 1000 ack 1
        350 < . 1 ack 6001
        350 ? state Open ssthresh 4294967295
    ";
    play_probed(rest);
}

/// Until it is known what became of one, no other leaves.
#[test]
fn a_probe_waits_for_the_outcome_of_the_last() {
    let rest = "
        262 < . 1 ack 4001
        300 write 2000
        300 > . 4001:6001 by 1000 ack 1
        470 ? state Open
    ";
    play_probed(rest);
}

/// RFC 8985 section 6.2, step 4: the first segment is overtaken; the third is sent again for nothing, a quarter of the minimum
/// RTT (50 ms) and the ticks of a timer later than that round trip; the fifth has two quarters.
#[test]
fn a_report_gives_what_is_late_another_quarter_of_the_minimum_rtt() {
    play_ten(
        "110 < . 1 ack 1 sack 1001:2001
         110 > . 10001:11001 ack 1
         115 < . 1 ack 2001
         115 > . 11001:12001 ack 1
         115 > . 12001:13001 ack 1
         116 < . 1 ack 2001 sack 3001:4001
         132 > . 2001:3001 ack 1
         133 < . 1 ack 4001
         134 < . 1 ack 4001 sack 2001:3001
         134 > . 13001:15001 by 1000 ack 1
         135 < . 1 ack 4001 sack 5001:6001
         150 ? state Disorder
         163 > . 4001:5001 ack 1",
    );
}

/// RFC 7323 section 4.3: what fills the hole is older than the newest that was heard, and its timestamp is echoed.  Section 5
/// (PAWS): what is older than that by more than a tick is dropped.
#[test]
fn a_late_timestamp_is_echoed_and_what_is_older_by_two_ticks_is_dropped() {
    play(
        &[("Timestamp", "true")],
        "0 listen
         0 < S 0 sackok ts 100 0
         0 > S. 0 ack 1 sackok ts 0 100
         50 < . 1 ack 1 ts 150 0
         60 < . 1001:2001 ack 1 ts 190 0
         60 > . 1 ack 1 ts 60 150 sack 1001:2001
         61 < . 1:1001 ack 1 ts 170 0
         61 > . 1 ack 2001 ts 61 170
         62 < . 3001:4001 ack 1 ts 169 0
         62 > . 1 ack 2001 ts 62 170 sack 3001:4001
         63 < . 5001:6001 ack 1 ts 168 0
         63 > . 1 ack 2001 ts 63 170 sack 3001:4001
         64 < . 1:1001 ack 1 ts 160 0
         64 > . 1 ack 2001 ts 64 170 sack 1:1001 3001:4001
         65 < . 2001:3001 ack 1 ts 171 0
         65 > . 1 ack 4001 ts 65 171",
    );
}

/// Of a mere ACK it takes half a second until another one is answered; a duplicate that was overtaken counts.
#[test]
fn mere_acks_from_the_past_are_answered_twice_a_second_at_most() {
    play(
        &[("Timestamp", "true")],
        "0 listen
         0 < S 0 sackok ts 100 0
         0 > S. 0 ack 1 sackok ts 0 100
         50 < . 1 ack 1 ts 150 0
         60 < . 1:1001 ack 1 ts 170 0
         60 > . 1 ack 1001 ts 60 170
         61 < . 1001 ack 1 ts 160 0
         62 < . 1 ack 1 ts 160 0
         63 < . 2001 ack 1 ts 160 0
         63 > . 1 ack 1001 ts 63 170
         64 < . 2001 ack 1 ts 160 0
         563 < . 2001 ack 1 ts 160 0
         563 > . 1 ack 1001 ts 563 170",
    );
}
