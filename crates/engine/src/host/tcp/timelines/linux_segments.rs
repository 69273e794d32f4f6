//! The profile `linux` counts segments: what is in flight, what is lost, and what a first window is.

use super::linux::{RECOVERING, play};
use super::{ESTABLISHED, after};

/// Of the initial window's ten segments each counts, however short (Linux's `packets_out`).
#[test]
fn a_short_segment_takes_the_room_of_a_whole_one() {
    let writes: String = (0..11)
        .map(|i| {
            let (at, first) = (60 + i, 1 + 100 * i);
            let leaves = format!("{at} > . {first}:{} ack 1\n", first + 100);
            format!("{at} write 100\n{}", if i < 10 { leaves } else { String::new() })
        })
        .collect();
    let rest = "
        70 ? in_flight 10000 cwnd 10000
        110 < . 1 ack 101
        110 > . 1001:1101 ack 1
        110 ? in_flight 10000
    ";
    play(&[], &after(ESTABLISHED, &after(&writes, rest)));
}

/// What is lost of them leaves as one, as far as it fits one (Linux's `tcp_retrans_try_collapse`).
#[test]
fn short_segments_that_are_lost_leave_together_again() {
    let writes: String = (0..8)
        .map(|i| {
            let (at, first) = (60 + i, 1 + 300 * i);
            format!("{at} write 300\n{at} > . {first}:{} ack 1\n", first + 300)
        })
        .collect();
    let rest = "
        110 < . 1 ack 1 sack 1501:2401
        110 > . 1:901 ack 1
        110 > . 901:1501 ack 1
        110 ? state Recovery in_flight 2000
    ";
    play(&[], &after(ESTABLISHED, &after(&writes, rest)));
}

/// `tcp_syn_linear_timeouts`: four, before the first doubled one.  One lost SYN is forgiven, two make the first window a segment.
#[test]
fn syns_leave_once_a_second_and_two_that_are_lost_cost_the_first_window() {
    const SECOND: (&str, &str) = ("ConnTimeout", "1s");
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
    ";
    play(&[SECOND, ("ConnCount", "7")], never);
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
        play(&[("ConnTimeout", "1s"), ("Timestamp", "true")], &opening);
    }
}

/// In the first millisecond timestamps are 0, which is a time like others.
#[test]
fn an_echo_of_zero_is_one() {
    play(
        &[("Timestamp", "true"), ("ConnTimeout", "1s")],
        "0 connect
         0 > S 0 sackok ts 0 0
         0.1 < S. 0 ack 1 sackok ts 100 0
         0.1 > . 1 ack 1 ts 0 100
         0.2 write 4000
         0.2 > . 1:4001 by 1000 ack 1 ts 0 100
         0.3 < . 1 ack 1 sack 1001:4001 ts 100 0
         0.3 > . 1:1001 ack 1 ts 0 100
         2.3 < . 1 ack 4001 ts 102 0
         2.3 ? srtt 0.3375",
    );
}

/// An episode ends while what was lost and sent again in it is on its way: the next one, which has nothing else to send, sends
/// nothing.
#[test]
fn what_one_episode_sent_again_the_next_does_not() {
    let written = "
        60 write 17000
        60 > . 1:10001 by 1000 ack 1
    ";
    let rest = "
        113 < . 1 ack 1 sack 1001:10001
        113 > . 11001:14001 by 1000 ack 1
        160 < . 1 ack 1 sack 1001:11001
        160 > . 14001:15001 ack 1
        163 < . 1 ack 1 sack 12001:14001 1001:11001
        163 > . 1:1001 ack 1
        163 > . 11001:12001 ack 1
        163 > . 15001:17001 by 1000 ack 1
        210 < . 1 ack 11001 sack 12001:14001
        210 ? state Recovery in_flight 4000
    ";
    play(&[], &after(ESTABLISHED, &after(written, &after(RECOVERING, rest))));
}
