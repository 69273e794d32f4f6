//! What ns-3 changed in loss recovery after 3.44: the same losses under 3.44 and under its development tree.

use super::super::bench::play;
use super::loss::TEN_SENT;
use super::{ESTABLISHED, after};

/// The first segment is lost, and so is its retransmission at 112 ms.
const LOST_TWICE: &str = "
    110 < . 1 ack 1 sack 1001:2001
    110 > . 10001:11001 ack 1
    111 < . 1 ack 1 sack 1001:3001
    111 > . 11001:12001 ack 1
    112 < . 1 ack 1 sack 1001:4001
    112 > . 1:1001 ack 1
";

/// RFC 8985 section 6.2 without a reordering window (ns-3's issue 1349).
#[test]
fn a_lost_retransmission_is_sent_again_when_something_later_is_sacked() {
    let rest = "
        113 < . 1 ack 1 sack 1001:8001
        113 > . 12001:13001 ack 1
        165 < . 1 ack 1 sack 1001:13001
        165 > . 1:1001 ack 1
        165 > . 13001:16001 by 1000 ack 1
    ";
    let timeline = after(ESTABLISHED, &after(TEN_SENT, &after(LOST_TWICE, rest)));
    play(&[("Profile", "ns3-dev")], &timeline);
}

/// It has sent more, too: its PRR counts the delivered segment twice (issue 1350).
#[test]
fn until_3_48_a_lost_retransmission_waits_for_the_timeout() {
    let rest = "
        113 < . 1 ack 1 sack 1001:8001
        113 > . 12001:13001 ack 1
        113 > . 13001:14001 ack 1
        165 < . 1 ack 1 sack 1001:13001
        165 > . 14001:15001 ack 1
        165 > . 15001:16001 ack 1
    ";
    let timeline = after(ESTABLISHED, &after(TEN_SENT, &after(LOST_TWICE, rest)));
    play(&[("Profile", "ns3-3.48")], &timeline);
}
