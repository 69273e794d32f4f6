//! Losses: fast retransmit, limited transmit, timeouts (RFC 5681, 6582, 6675, 6298).

use super::super::bench::play;
use super::{ESTABLISHED, WITHOUT_SACK, after};

pub(super) const TEN_SENT: &str = "
    60        write 20000
    60.000001 > . 1:10001 by 1000 ack 1
";

/// The first two duplicates send new data (RFC 3042); the third begins recovery.  Then eight segments are
/// in flight: twelve sent, three SACKed, one lost; half of them is ssthresh.
#[test]
fn the_third_duplicate_starts_a_fast_retransmit() {
    let rest = "
        110 < . 1 ack 1 sack 1001:2001
        110 > . 10001:11001 ack 1
        110 ? state Disorder
        111 < . 1 ack 1 sack 1001:3001
        111 > . 11001:12001 ack 1
        112 < . 1 ack 1 sack 1001:4001
        112 > . 1:1001 ack 1
        112 ? state Recovery ssthresh 4000
        162 < . 1 ack 12001
        162 > . 12001:16001 by 1000 ack 1
        162 ? state Open cwnd 4250
    ";
    play(&[], &after(ESTABLISHED, &after(TEN_SENT, rest)));
}

#[test]
fn without_sack_duplicate_acks_are_counted() {
    let rest = "
        110 < . 1 ack 1
        110 > . 10001:11001 ack 1
        111 < . 1 ack 1
        111 > . 11001:12001 ack 1
        112 < . 1 ack 1
        112 > . 1:1001 ack 1
        112 ? state Recovery
        162 < . 1 ack 12001
        162 > . 12001:16001 by 1000 ack 1
        162 ? state Open
    ";
    play(&[("Sack", "false")], &after(WITHOUT_SACK, &after(TEN_SENT, rest)));
}

/// IsLost (RFC 6675 section 4): three SACKed segments above it, also of two holes at once.
#[test]
fn two_holes_are_filled_one_after_the_other() {
    let rest = "
        110 < . 1 ack 1 sack 1001:2001
        110 > . 10001:11001 ack 1
        111 < . 1 ack 1 sack 3001:4001 1001:2001
        111 > . 11001:12001 ack 1
        112 < . 1 ack 1 sack 3001:5001 1001:2001
        112 > . 1:1001 ack 1
        113 < . 1 ack 1 sack 3001:6001 1001:2001
        113 > . 2001:3001 ack 1
        162 < . 1 ack 2001 sack 3001:10001
        162 > . 12001:13001 ack 1
        162 ? state Recovery
        163 < . 1 ack 12001
        163 > . 13001:16001 by 1000 ack 1
        163 ? state Open
    ";
    play(&[], &after(ESTABLISHED, &after(TEN_SENT, rest)));
}

#[test]
fn an_advance_below_the_recovery_point_sends_the_next_hole() {
    let rest = "
        110 < . 1 ack 1
        110 > . 10001:11001 ack 1
        111 < . 1 ack 1
        111 > . 11001:12001 ack 1
        112 < . 1 ack 1
        112 > . 1:1001 ack 1
        162 < . 1 ack 2001
        162 > . 2001:3001 ack 1
        162 ? state Recovery
        212 < . 1 ack 12001
        212 > . 12001:16001 by 1000 ack 1
        212 ? state Open
    ";
    play(&[("Sack", "false")], &after(WITHOUT_SACK, &after(TEN_SENT, rest)));
}

/// After the handshake sRTT is 50 ms and its variation 25 ms; the least RTO is 200 ms.
#[test]
fn timeouts_back_off_and_send_one_segment() {
    let rest = "
        60         ? srtt 50 rto 200
        260.000001 > . 1:1001 ack 1
        260.000001 ? state Loss cwnd 1000 ssthresh 5000
        660.000001 > . 1:1001 ack 1
        1460.000001 > . 1:1001 ack 1
        1500       ? ssthresh 2000
    ";
    play(&[], &after(ESTABLISHED, &after(TEN_SENT, rest)));
}

#[test]
fn after_a_timeout_slow_start_sends_again_what_is_not_acknowledged() {
    let rest = "
        260.000001 > . 1:1001 ack 1
        310        < . 1 ack 1001
        310        > . 1001:2001 ack 1
        310        > . 2001:3001 ack 1
        310        ? state Loss cwnd 2000
        360        < . 1 ack 10001
        360        > . 10001:11001 ack 1
        360        > . 11001:12001 ack 1
        360        ? state Open
    ";
    play(&[], &after(ESTABLISHED, &after(TEN_SENT, rest)));
}

#[test]
fn a_connection_is_given_up_after_its_retries() {
    let rest = "
        260.000001  > . 1:1001 ack 1
        660.000001  > . 1:1001 ack 1
        1460        ? tcp Established
        1461        ? tcp Closed
    ";
    play(&[("DataRetries", "2")], &after(ESTABLISHED, &after(TEN_SENT, rest)));
}

/// Karn's algorithm (RFC 6298 section 3): the answer may be to the first one, which would be 450 ms.
#[test]
fn a_retransmitted_segment_gives_no_sample() {
    let rest = "
        500 < . 1 ack 1
        500 > . 10001:11001 ack 1
        501 < . 1 ack 1
        501 > . 11001:12001 ack 1
        502 < . 1 ack 1
        502 > . 1:1001 ack 1
        510 < . 1 ack 1001
        510 > . 1001:2001 ack 1
        510 ? srtt 50
    ";
    let settings = [("Sack", "false"), ("MinRto", "1s")];
    play(&settings, &after(WITHOUT_SACK, &after(TEN_SENT, rest)));
}

/// In whole ms of the clock: 50 after the handshake, then 110 - 60 and 175 - 160, an eighth of which
/// counts.
#[test]
fn timestamps_give_samples_in_whole_milliseconds() {
    let timeline = "
        0          connect
        0          > S 0 ts 0 0
        50.9       < S. 0 ack 1 ts 900 0
        50.9       > . 1 ack 1 ts 50 900
        50.9       ? srtt 50
        60.4       write 1000
        60.400001  > . 1:1001 ack 1 ts 60 900
        110.3      < . 1 ack 1001 ts 950 60
        110.3      ? srtt 50
        160.8      write 1000
        160.800001 > . 1001:2001 ack 1 ts 160 950
        175.1      < . 1 ack 2001 ts 1000 160
        175.1      ? srtt 45.625
    ";
    play(&[("Sack", "false"), ("Timestamp", "true")], timeline);
}

/// Not even with timestamps: ns-3 forgets what was in flight.
#[test]
fn what_a_timeout_sends_again_gives_no_sample() {
    let timeline = "
        0          connect
        0          > S 0 ts 0 0
        50         < S. 0 ack 1 ts 900 0
        50         > . 1 ack 1 ts 50 900
        60         write 1000
        60.000001  > . 1:1001 ack 1 ts 60 900
        260.000001 > . 1:1001 ack 1 ts 260 900
        275        < . 1 ack 1001 ts 1100 260
        275        ? srtt 50 rto 200
    ";
    play(&[("Sack", "false"), ("Timestamp", "true")], timeline);
}
