//! The profile `linux`: RACK-TLP (RFC 8985), the timeout, and an episode that is undone (RFC 4015).

use super::{ESTABLISHED, WITHOUT_SACK, after};
use crate::host::tcp::bench::play_as;
use crate::host::tcp::profile::Linux;

pub(super) fn play(settings: &[(&str, &str)], timeline: &str) {
    play_with("TcpNewReno", settings, timeline);
}

pub(super) fn play_with(cc: &str, settings: &[(&str, &str)], timeline: &str) {
    let settings: Vec<_> = [("Profile", "linux")].iter().chain(settings).copied().collect();
    play_as::<Linux>(cc, &settings, timeline);
}

pub(super) fn play_ten(rest: &str) {
    play(&[], &after(ESTABLISHED, &after(TEN_SENT, rest)));
}

/// What is written leaves in that nanosecond.
const TEN_SENT: &str = "
    60 write 20000
    60 > . 1:10001 by 1000 ack 1
";

/// Of the ten the first is lost, and retransmitted.
pub(super) const RECOVERING: &str = "
    110 < . 1 ack 1 sack 1001:2001
    110 > . 10001:11001 ack 1
    111 < . 1 ack 1 sack 1001:3001
    112 < . 1 ack 1 sack 1001:4001
    112 > . 1:1001 ack 1
";

pub(super) fn play_recovering(rest: &str) {
    play_ten(&after(RECOVERING, rest));
}

/// Both ends have timestamps, of which the peer's are 50 ms ahead.
fn play_timed(rest: &str) {
    let opening = "
        0  connect
        0  > S 0 sackok ts 0 0
        50 < S. 0 ack 1 sackok ts 100 0
        50 > . 1 ack 1 ts 50 100
    ";
    play(&[("Timestamp", "true")], &after(opening, rest));
}

/// Four are sent; of the last two nothing is heard.
const PROBED: &str = "
    60 write 4000
    60 > . 1:4001 by 1000 ack 1
    110 < . 1 ack 2001
    216 > . 3001:4001 ack 1
";

pub(super) fn play_probed(rest: &str) {
    play(&[], &after(ESTABLISHED, &after(PROBED, rest)));
}

/// Section 6.2.1: DupThresh segments that are SACKed leave no time for reordering.
#[test]
fn the_third_segment_beyond_a_hole_begins_recovery() {
    play_recovering(
        "112 ? state Recovery ssthresh 5000 in_flight 8000
         162 < . 1 ack 11001
         162 > . 11001:17001 by 1000 ack 1
         162 ? state Open cwnd 6000",
    );
}

/// Times are in microseconds; of what left in one the higher number counts as later.  But segments are asked as they left, until one
/// is not overdue: two new ones left before the retransmission, and it is lost when both have come.
#[test]
fn a_retransmission_is_lost_when_all_has_come_that_left_before_in_its_microsecond() {
    play_ten(
        "112.0001 < . 1 ack 1 sack 1001:3001
         112.0001 > . 10001:12001 by 1000 ack 1
         112.0005 < . 1 ack 1 sack 1001:4001
         112.0005 > . 1:1001 ack 1
         120 < . 1 ack 1 sack 1001:10001
         120 > . 12001:14001 by 1000 ack 1
         162 < . 1 ack 1 sack 1001:11001
         162 > . 14001:15001 ack 1
         163 < . 1 ack 1 sack 1001:12001
         163 > . 1:1001 ack 1
         163 > . 15001:16001 ack 1",
    );
}

/// RFC 9293 section 3.10.7.4: an answer to what is not acceptable has SND.NXT, also when what was sent last was sent again.
#[test]
fn an_answer_in_recovery_begins_where_new_data_will() {
    play_recovering(
        "113 < S. 0 ack 1 sackok
         113 > . 11001 ack 1",
    );
}

/// Section 6.2, steps 4 and 5: one is SACKed, and a quarter of the minimum RTT (50 ms) later than that round trip the hole is
/// lost; the timer takes two ticks more, and ends on the one after.
#[test]
fn one_segment_beyond_a_hole_gives_it_a_quarter_of_the_minimum_rtt() {
    play_ten(
        "110 < . 1 ack 1 sack 1001:2001
         110 > . 10001:11001 ack 1
         126 > . 1:1001 ack 1
         126 ? state Recovery ssthresh 5000",
    );
}

#[test]
fn what_is_only_late_within_that_time_costs_nothing() {
    play_ten(
        "110 < . 1 ack 1 sack 1001:2001
         110 > . 10001:11001 ack 1
         115 < . 1 ack 2001
         115 > . 11001:12001 ack 1
         115 > . 12001:13001 ack 1
         200 ? state Open cwnd 11000",
    );
}

/// A segment that left after the retransmission is delivered a round trip later: the retransmission is lost, too (section
/// 6.2, step 5).  RFC 6675 would wait for a timeout.  Proportional reduction in whole
/// segments: of those that are delivered, every second lets one leave, from the first on, until ssthresh is in flight.
#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    play_recovering(
        "113 < . 1 ack 1 sack 1001:5001
         114 < . 1 ack 1 sack 1001:6001
         114 > . 11001:12001 ack 1
         115 < . 1 ack 1 sack 1001:7001
         116 < . 1 ack 1 sack 1001:8001
         117 < . 1 ack 1 sack 1001:9001
         117 > . 12001:13001 ack 1
         118 < . 1 ack 1 sack 1001:10001
         118 > . 13001:14001 ack 1
         160 < . 1 ack 1 sack 1001:11001
         160 > . 14001:15001 ack 1
         161 < . 1 ack 1 sack 1001:12001
         161 > . 1:1001 ack 1
         161 > . 15001:16001 ack 1
         166 < . 1 ack 1 sack 1001:13001
         166 > . 16001:17001 ack 1
         166 ? state Recovery",
    );
}

/// Section 7.2: two round trips and two ticks after the last ACK, and then on an eighth tick, the last segment again.
#[test]
fn a_tail_is_probed_two_round_trips_later() {
    play_probed(
        "262 < . 1 ack 4001
         262 ? in_flight 0 state Open
         2000 ? in_flight 0 state Open",
    );
}

/// Section 7.3: one probe at a time.  Until what was sent by then is acknowledged the timeout is next, a tick after the second
/// probe was due.
#[test]
fn no_second_probe_leaves_before_the_first_is_acknowledged() {
    play_probed(
        "217 < . 1 ack 3001
         490 > . 3001:4001 ack 1
         500 ? state Loss",
    );
}

/// RFC 6582 and 5681: without SACK the third duplicate begins recovery.
#[test]
fn without_sack_it_takes_three_duplicates() {
    let rest = "
        110 < . 1 ack 1
        110 > . 10001:11001 ack 1
        110 ? state Disorder
        111 < . 1 ack 1
        111 ? state Disorder
        112 < . 1 ack 1
        112 > . 1:1001 ack 1
        112 ? state Recovery";
    play(&[("Sack", "false")], &after(WITHOUT_SACK, &after(TEN_SENT, rest)));
}

/// Each episode is found, the second as the first.
#[test]
fn a_second_episode_begins_as_the_first_did() {
    play_recovering(
        "112 ? state Recovery ssthresh 5000 in_flight 8000
         162 < . 1 ack 11001
         162 > . 11001:17001 by 1000 ack 1
         162 ? state Open cwnd 6000
         212 < . 1 ack 11001 sack 12001:13001
         212 > . 17001:18001 ack 1
         212 ? state Disorder
         213 < . 1 ack 11001 sack 12001:14001
         229 > . 11001:12001 ack 1
         229 ? state Recovery ssthresh 3000",
    );
}

/// Section 7.2: a single segment may wait for a delayed ACK (200 ms); the timeout would come before, SRTT and 200 ms after the
/// ACK, and the probe takes its place.
#[test]
fn the_probe_of_a_single_segment_comes_in_place_of_the_timeout() {
    play(
        &[],
        "0 connect
         0 > S 0 sackok
         50 < S. 0 ack 1 sackok
         50 > . 1 ack 1
         60 write 2000
         60 > . 1:1001 ack 1
         60 > . 1001:2001 ack 1
         110 < . 1 ack 1001
         110 ? rto 250
         368 > . 1001:2001 ack 1
         409 < . 1 ack 2001
         409 ? in_flight 0 state Open",
    );
}

/// Karn's algorithm: of a SYN that was sent again only the timestamp tells a round trip.  What a kernel did (7.3.4).
#[test]
fn a_syn_that_was_sent_again_gives_a_sample_by_its_timestamp_alone() {
    let opening = "
        0 connect
        0 > S 0 sackok ts 0 0
        1016 > S 0 sackok ts 1016 0
        1090 < S. 0 ack 1 sackok ts 100 1016
        1090 > . 1 ack 1 ts 1090 100
        1090 ? srtt 74
    ";
    const SECOND: (&str, &str) = ("ConnTimeout", "1s");
    play(&[SECOND, ("Timestamp", "true")], opening);
    let without = "
        0 connect
        0 > S 0 sackok
        1016 > S 0 sackok
        1090 < S. 0 ack 1 sackok
        1090 > . 1 ack 1
        1090 ? srtt 0
    ";
    play(&[SECOND], without);
}

/// What a kernel did (7.3.4): the handshake's ACK comes after the first data, and is too old.  Its clock has ticks of a
/// millisecond.
#[test]
fn an_ack_that_was_overtaken_by_data_is_answered_twice_a_second_at_most() {
    play(
        &[],
        "0   listen
         10  < S 0 sackok
         10  > S. 0 ack 1 sackok
         60  < . 1:1001 ack 1
         60  > . 1 ack 1001
         61.9  < . 1 ack 1
         61.9  > . 1 ack 1001
         62    < . 1 ack 1
         560.9 < . 1 ack 1
         561.1 < . 1 ack 1
         561.1 > . 1 ack 1001",
    );
}

/// Two segments are late: when the first has come, the second is still missing (Linux's `tcp_try_keep_open`; RFC 5681 would begin
/// anew).
#[test]
fn disorder_lasts_as_long_as_something_is_sacked() {
    let late = "
        110 < . 1 ack 1 sack 1001:2001
        110 > . 10001:11001 ack 1
        111 < . 1 ack 1 sack 3001:4001 1001:2001
        112 < . 1 ack 2001 sack 3001:4001
        112 > . 11001:13001 by 1000 ack 1
        112 ? state Disorder
        113 < . 1 ack 4001
        113 > . 13001:15001 by 1000 ack 1
        113 ? state Open
    ";
    play_ten(late);
}

/// The first segment is only late: the ACK that recovery waits for echoes the time of the original (RFC 4015), and the window
/// is what it was.
#[test]
fn a_loss_that_was_none_is_undone_by_its_timestamp() {
    play_timed(
        "60 write 4000
         60 > . 1:4001 by 1000 ack 1 ts 60 100
         110 < . 1 ack 1 sack 1001:4001 ts 160 60
         110 > . 1:1001 ack 1 ts 110 160
         110 ? state Recovery ssthresh 5000
         111 < . 1 ack 4001 ts 161 60
         111 ? state Open cwnd 10000 ssthresh 4294967295",
    );
}

/// All was only late: the first ACK after the timeout echoes the time of the original (RFC 4015), and the window is what it was.
#[test]
fn a_spurious_timeout_is_undone_by_its_timestamp() {
    play_timed(
        "60 write 2000
         60 > . 1:1001 ack 1 ts 60 100
         60 > . 1001:2001 ack 1 ts 60 100
         168 > . 1001:2001 ack 1 ts 168 100
         424 > . 1:1001 ack 1 ts 424 100
         424 ? state Loss cwnd 1000
         425 < . 1 ack 1001 ts 475 60
         425 ? state Disorder cwnd 10000 ssthresh 4294967295",
    );
}

/// Ten have left, and nothing has come of them: a probe, and the timeout a tick later than the first segment's.
const TIMED_OUT: &str = "
    168 > . 10001:11001 ack 1
    424 > . 1:1001 ack 1
    424 ? state Loss cwnd 1000 in_flight 1000
";

fn play_timed_out(rest: &str) {
    play_ten(&after(TIMED_OUT, rest));
}

/// RFC 5682 section 3.1, step 3b: what was sent once has come.  No timestamps help, and the probe is acknowledged by a SACK.
#[test]
fn a_timeout_after_which_originals_come_is_undone() {
    play_timed_out(
        "430 < . 1 ack 1001
         430 > . 11001:13001 by 1000 ack 1
         430 ? state Loss cwnd 2000
         431 < . 1 ack 2001
         431 ? state Open ssthresh 4294967295",
    );
}

/// Step 3a: the new data is SACKed, and the timeout was right.
#[test]
fn a_timeout_after_which_only_new_data_comes_stands() {
    play_timed_out(
        "474 < . 1 ack 1001
         474 > . 11001:13001 by 1000 ack 1
         524 < . 1 ack 1001 sack 11001:12001
         524 > . 1001:2001 ack 1
         524 ? state Loss ssthresh 5000",
    );
}

/// Step 2b: there is nothing new to send, and what is lost leaves.
#[test]
fn without_new_data_a_timeout_is_not_in_doubt() {
    let rest = "
        60 write 3000
        60 > . 1:3001 by 1000 ack 1
        168 > . 2001:3001 ack 1
        424 > . 1:1001 ack 1
        474 < . 1 ack 1001
        474 > . 1001:3001 by 1000 ack 1
        474 ? state Loss";
    play(&[], &after(ESTABLISHED, rest));
}

/// A timeout in an episode that a loss has begun says nothing of that (section 3.2): the rest is lost.
#[test]
fn a_timeout_in_recovery_is_not_in_doubt() {
    play_recovering(
        "368 > . 1:1001 ack 1
         418 < . 1 ack 4001
         418 > . 4001:6001 by 1000 ack 1
         418 ? state Loss",
    );
}

/// RFC 2861 with `tcp_slow_start_after_idle`: after a silence longer than a timeout no more than ten segments leave.
#[test]
fn after_a_silence_the_window_is_the_initial_one_again() {
    let rest = "
        110 < . 1 ack 10001
        110 > . 10001:20001 by 1000 ack 1
        110 ? cwnd 20000
        160 < . 1 ack 20001
        160 ? cwnd 20000
        500 write 40000
        500 > . 20001:30001 by 1000 ack 1
        500 ? cwnd 10000
    ";
    play_ten(rest);
}

/// Its timestamps say 50 ms.
#[test]
fn the_round_trip_of_a_syn_is_by_the_clock_too() {
    play(
        &[("Timestamp", "true")],
        "10.3 connect
         10.3 > S 0 sackok ts 10 0
         60.9 < S. 0 ack 1 sackok ts 100 10
         60.9 > . 1 ack 1 ts 60 100
         60.9 ? srtt 50.6",
    );
}

/// It looks before the segment waits; ns-3, which looks after it, finds one.
#[test]
fn a_write_that_finds_nothing_unsent_is_limited_by_the_application() {
    play_with(
        "TcpBbr",
        &[],
        &after(
            ESTABLISHED,
            "60 write 1000
             60 > . 1:1001 ack 1
             60 ? app_limited true",
        ),
    );
}

/// The ACK that ends an episode lets a probe follow, though nothing new leaves.  What a kernel did (7.3.4).
#[test]
fn what_an_episode_leaves_behind_is_probed() {
    let sent = "
        60 write 13000
        60 > . 1:10001 by 1000 ack 1
    ";
    let rest = "
        113 < . 1 ack 1 sack 1001:6001
        113 > . 11001:12001 ack 1
        114 < . 1 ack 1 sack 1001:10001
        114 > . 12001:13001 ack 1
        162 < . 1 ack 11001
        272 > . 12001:13001 ack 1
        272 ? state Open
    ";
    play(&[], &after(ESTABLISHED, &after(sent, &after(RECOVERING, rest))));
}

/// Without timestamps a SYN that was sent again tells no round trip (RFC 6298 section 5.7): a probe comes after a second and a
/// timeout three later.  What a kernel did (7.3.4).
#[test]
fn without_a_round_trip_a_probe_waits_for_a_second_and_a_timeout_for_three() {
    play(
        &[("ConnTimeout", "1s")],
        "0    connect
         0    > S 0 sackok
         1016 > S 0 sackok
         1090 < S. 0 ack 1 sackok
         1090 > . 1 ack 1
         1100 write 3000
         1100 > . 1:3001 by 1000 ack 1
         2104 > . 2001:3001 ack 1
         5112 > . 1:1001 ack 1",
    );
}

/// What others have overtaken tells what it SACKs, and what waits may leave.
#[test]
fn an_old_ack_is_heard_for_its_sacks() {
    play_ten(
        "110 < . 1 ack 2001
         110 > . 10001:14001 by 1000 ack 1
         112 < . 1 ack 1001 sack 3001:4001
         112 > . 14001:15001 ack 1
         112 ? state Disorder
         128 > . 2001:3001 ack 1",
    );
}

/// The first ACK of all that acknowledges nothing: the echo of what left before a timeout does not make that one spurious.
#[test]
fn the_first_ack_does_not_advance_beyond_the_syn() {
    play_timed(
        "60  write 2000
         60  > . 1:2001 by 1000 ack 1 ts 60 100
         168 > . 1001:2001 ack 1 ts 168 100
         424 > . 1:1001 ack 1 ts 424 100
         500 < . 1 ack 1 sack 1001:2001 ts 160 60
         500 ? state Loss",
    );
}
