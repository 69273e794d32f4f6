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

/// A retransmission fills a window of one segment, but says nothing of what the window lets the application send: the ACK that
/// ends the episode is no credit.  What is written into a window that is full does say it.
#[test]
fn what_is_sent_again_does_not_show_that_the_window_limits() {
    let loss = "
        60  write 2000
        60  > . 1:2001 by 1000 ack 1
        110 < . 1 ack 1 sack 1001:2001
        126 > . 1:1001 ack 1
        126 ? state Recovery ssthresh 2000 cwnd 1000
    ";
    let (full, open) = ("150 write 2000\n175 < . 1 ack 2001", "175 < . 1 ack 2001\n175 write 2000");
    for (written, cwnd) in [(full, 3000), (open, 2000)] {
        let rest = format!(
            "{written}
             175 > . 2001:4001 by 1000 ack 1
             225 < . 1 ack 3001
             225 ? cwnd {cwnd}"
        );
        play(&[("InitialCwnd", "3")], &after(ESTABLISHED, &after(loss, &rest)));
    }
}
