//! What hosts can do about packets that overtake each other: a receiver that holds data back, and a sender
//! that waits longer before something counts as lost (RFC 4653).

use super::super::bench::play;
use super::loss::TEN_SENT;
use super::{ACCEPTED, ESTABLISHED, after};

const RESEQUENCED: &[(&str, &str)] = &[("ResequencingTimeout", "5ms")];
const TOLERANT: &[(&str, &str)] = &[("ReorderingTolerance", "true")];

#[test]
fn what_was_overtaken_is_acknowledged_in_order_and_nobody_sees_a_duplicate() {
    let rest = "
        60 < . 1:1001 ack 1
        60 > . 1 ack 1001
        61 < . 2001:3001 ack 1
        62 < . 3001:4001 ack 1
        63 < . 1001:2001 ack 1
        63 > . 1 ack 2001
        63 > . 1 ack 3001
        63 > . 1 ack 4001
    ";
    play(RESEQUENCED, &after(ACCEPTED, rest));
}

/// The buffer gives up after its timeout, and what follows a loss is not held any more.
#[test]
fn a_loss_is_told_after_the_timeout() {
    let rest = "
        60 < . 1:1001 ack 1
        60 > . 1 ack 1001
        61 < . 2001:3001 ack 1
        66 > . 1 ack 1001 sack 2001:3001
        67 < . 3001:4001 ack 1
        67 > . 1 ack 1001 sack 2001:4001
        80 < . 1001:2001 ack 1
        80 > . 1 ack 4001
    ";
    play(RESEQUENCED, &after(ACCEPTED, rest));
}

#[test]
fn a_fin_that_overtakes_data_waits_for_it() {
    let rest = "
        60 < . 1:1001 ack 1
        60 > . 1 ack 1001
        61 < F. 2001 ack 1
        62 < . 1001:2001 ack 1
        62 > . 1 ack 2001
        62 > F. 1 ack 2002
        62 ? tcp LastAck
    ";
    play(RESEQUENCED, &after(ACCEPTED, rest));
}

/// Without it the third duplicate would have begun recovery: see `loss.rs`.
#[test]
fn three_that_overtook_one_are_no_loss_to_a_tolerant_sender() {
    let rest = "
        110 < . 1 ack 1 sack 1001:2001
        110 > . 10001:11001 ack 1
        111 < . 1 ack 1 sack 1001:3001
        111 > . 11001:12001 ack 1
        112 < . 1 ack 1 sack 1001:4001
        112 > . 12001:13001 ack 1
        112 ? state Disorder
        113 < . 1 ack 4001
        113 > . 13001:14001 ack 1
        113 > . 14001:15001 ack 1
        113 ? state Open cwnd 11000
    ";
    play(TOLERANT, &after(ESTABLISHED, &after(TEN_SENT, rest)));
}

/// Each SACKed segment lets one leave, so that of ten in flight and n SACKed ones the threshold is (10 + n) / 2
/// at the next.
#[test]
fn half_of_what_is_outstanding_is_a_loss_to_a_tolerant_sender() {
    let rest = "
        110 < . 1 ack 1 sack 1001:2001
        110 > . 10001:11001 ack 1
        111 < . 1 ack 1 sack 1001:3001
        111 > . 11001:12001 ack 1
        112 < . 1 ack 1 sack 1001:4001
        112 > . 12001:13001 ack 1
        113 < . 1 ack 1 sack 1001:5001
        113 > . 13001:14001 ack 1
        114 < . 1 ack 1 sack 1001:6001
        114 > . 14001:15001 ack 1
        115 < . 1 ack 1 sack 1001:7001
        115 > . 15001:16001 ack 1
        116 < . 1 ack 1 sack 1001:8001
        116 > . 16001:17001 ack 1
        116 ? state Disorder
        117 < . 1 ack 1 sack 1001:9001
        117 > . 1:1001 ack 1
        117 ? state Recovery
    ";
    play(TOLERANT, &after(ESTABLISHED, &after(TEN_SENT, rest)));
}
