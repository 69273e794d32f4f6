//! Marks under the profile `linux`: what they make of the window (RFC 3168, RFC 8257), and how they are echoed.

use super::linux::{play, play_with};

const WITH_ECN: [(&str, &str); 1] = [("UseEcn", "On")];

/// Both ends agree to ECN.
const OPENED: &str = "
    0         connect
    0         > SEW 0 sackok
    50        < SE. 0 ack 1 sackok
    50        > . 1 ack 1
";

/// RFC 9937: of what marks reduce the window by, too, the share is of what has come, the ACK with the first echo once.
#[test]
fn an_echo_shrinks_the_window_as_a_loss_does() {
    let timeline = "
        60        write 20000
        60 > . 1:10001 by 1000 ack 1 ect0
        110 < E. 1 ack 1001
        110 > W. 10001:11001 ack 1 ect0
        110 ? state Cwr ssthresh 5000
        111 < E. 1 ack 2001
        112 < E. 1 ack 3001
        112 > . 11001:12001 ack 1 ect0
        113 < E. 1 ack 4001
        114 < E. 1 ack 5001
        114 > . 12001:13001 ack 1 ect0
    ";
    play(&WITH_ECN, &[OPENED, timeline].concat());
}

/// Of a buffer of 50 kB 42 segments of 1,000 B are offered, which take more than twice as much; what was offered is not taken back.
fn window_behind(segments: usize) -> usize {
    1000 * 50_usize.saturating_sub(segments).max(42)
}

/// The first mark and the segment after it have an ACK each, and so has CWR, which ends the echo even if no ACK has told of the
/// last mark.
#[test]
fn a_first_mark_and_cwr_are_acknowledged_at_once() {
    let mut timeline = String::from(
        "
        0   listen
        0   < SEW 0 sackok
        0   > SE. 0 ack 1 win 50000 sackok
        50  < . 1 ack 1
    ",
    );
    let mut segment = |i: usize, flags: &str, ecn: &str, answer: Option<&str>| {
        let (from, to, at) = (1000 * i + 1, 1000 * i + 1001, 100 + i);
        timeline.push_str(&format!("{at} < {flags} {from}:{to} ack 1 {ecn}\n"));
        if let Some(flags) = answer {
            let window = window_behind(i + 1);
            timeline.push_str(&format!("{at} > {flags} 1 ack {to} win {window}\n"));
        }
    };
    for i in 0..20 {
        segment(i, ".", "ect0", (i < 16 || i % 2 == 1).then_some("."));
    }
    segment(20, ".", "ce", Some("E."));
    segment(21, ".", "ect0", Some("E."));
    segment(22, ".", "ect0", None);
    segment(23, ".", "ce", Some("E."));
    segment(24, ".", "ce", None);
    segment(25, "W.", "ect0", Some("."));
    segment(26, "W.", "ect0", Some("."));
    segment(27, ".", "ect0", None);
    segment(28, ".", "ect0", Some("."));
    // Sent again.
    segment(29, ".", "", Some("."));
    segment(30, ".", "ect0", Some("."));
    segment(31, ".", "ect0", None);
    play(&[("UseEcn", "On"), ("RcvBufSize", "50000"), ("DelAckCount", "2")], &timeline);
}

/// Ten segments are on their way, all with ECT.
const TEN_SENT: &str = "
    60        write 30000
    60 > . 1:10001 by 1000 ack 1 ect0
";

/// The first of them is lost.
const LOST: &str = "
    110 < . 1 ack 1 sack 1001:2001
    110 > . 10001:11001 ack 1 ect0
    111 < . 1 ack 1 sack 1001:3001
    112 < . 1 ack 1 sack 1001:4001
    112 > . 1:1001 ack 1
";

/// RFC 3168 section 6.1.2: whatever has reduced the window.
#[test]
fn the_first_new_segment_after_a_loss_has_cwr() {
    let timeline = "
        162 < . 1 ack 11001
        162 > W. 11001:12001 ack 1 ect0
        162 > . 12001:17001 by 1000 ack 1 ect0
    ";
    play(&WITH_ECN, &[OPENED, TEN_SENT, LOST, timeline].concat());
}

/// In Recovery an echo asks for nothing; the ACK that ends it may begin the next reduction.
#[test]
fn an_echo_with_the_end_of_recovery_reduces_the_window_again() {
    let timeline = "
        113 < E. 1 ack 1 sack 1001:5001
        113 ? state Recovery ssthresh 5000
        162 < E. 1 ack 11001
        162 > W. 11001:12001 ack 1 ect0
        162 > . 12001:13001 ack 1 ect0
        162 ? state Cwr ssthresh 2000
    ";
    play(&WITH_ECN, &[OPENED, TEN_SENT, LOST, timeline].concat());
}

/// One reduction a window: the loss is repaired as the reduction goes on, and DCTCP's becomes one by half of what is left.
#[test]
fn a_loss_in_cwr_is_repaired_within_its_reduction() {
    let timeline = "
        110 < E. 1 ack 1001
        110 > W. 10001:11001 ack 1 ect0
        111 < E. 1 ack 1001 sack 2001:3001
        112 < E. 1 ack 1001 sack 2001:4001
        112 > . 11001:12001 ack 1 ect0
        113 < E. 1 ack 1001 sack 2001:5001
    ";
    // DCTCP's handshake is ECT, too.
    let of_dctcp =
        OPENED.replace("sackok\n", "sackok ect0\n").replace("> . 1 ack 1\n", "> . 1 ack 1 ect0\n");
    for (cc, ssthresh, opened) in [("TcpNewReno", 5000, OPENED), ("TcpDctcp", 4000, &of_dctcp)] {
        let state = format!("113 ? state Recovery ssthresh {ssthresh}");
        play_with(cc, &WITH_ECN, &[opened, TEN_SENT, timeline, &state].concat());
    }
}

/// The window of the reduction is over: repair that begins with this ACK is not ended by the echo that it brings, too.
#[test]
fn an_echo_with_the_loss_that_ends_cwr_asks_for_nothing() {
    let timeline = "
        110 < E. 1 ack 10001
        110 > W. 10001:11001 ack 1 ect0
        110 > . 11001:15001 by 1000 ack 1 ect0
        160 < E. 1 ack 10001 sack 11001:14001
        160 > . 10001:11001 ack 1
        160 > . 15001:18001 by 1000 ack 1 ect0
        160 ? state Recovery ssthresh 5000
    ";
    play(&WITH_ECN, &[OPENED, TEN_SENT, timeline].concat());
}

/// Also where the episode is over by then, and all that is sent is on its way.
#[test]
fn what_leaves_after_a_loss_that_a_probe_has_repaired_has_cwr() {
    let timeline = "
        60  write 4000
        60  > . 1:4001 by 1000 ack 1 ect0
        110 < . 1 ack 2001
        216 > . 3001:4001 ack 1
        220 write 3000
        220 > . 4001:7001 by 1000 ack 1 ect0
        270 < . 1 ack 5001
        270 ? state Open ssthresh 5000 in_flight 2000
        271 write 30000
        271 > W. 7001:8001 ack 1 ect0
        271 > . 8001:9001 ack 1 ect0
    ";
    play(&WITH_ECN, &[OPENED, timeline].concat());
}

/// The reordering timer sends again what is lost, and nothing new though cwnd has room for it: no ACK has come (Linux's
/// `tcp_rack_reo_timeout`).
#[test]
fn a_loss_that_a_timer_finds_in_cwr_brings_nothing_new() {
    let timeline = "
        60        write 60000
        60 > . 1:20001 by 1000 ack 1 ect0
        110 < E. 1 ack 1001
        110 > W. 20001:21001 ack 1 ect0
        110.2 < E. 1 ack 11001
        110.4 < E. 1 ack 11001 sack 12001:13001
        126 > . 11001:12001 ack 1
        126 ? state Recovery ssthresh 10000 in_flight 9000 cwnd 10000
    ";
    play(&[("UseEcn", "On"), ("InitialCwnd", "20")], &[OPENED, timeline].concat());
}

/// RFC 8257 section 3.2: what waits for its ACK has it with the old mark, what has the other mark at once.
#[test]
fn a_change_of_marks_is_acknowledged_at_once_with_what_waits_before() {
    let mut timeline = String::from(
        "
        0   listen
        0   < SEW 0 sackok ect0
        0   > SE. 0 ack 1 win 50000 sackok ect0
        50  < . 1 ack 1 ect0
    ",
    );
    let mut segment = |i: usize, ecn: &str, answers: &[(&str, usize)]| {
        let (from, to, at) = (1000 * i + 1, 1000 * i + 1001, 100 + i);
        timeline.push_str(&format!("{at} < . {from}:{to} ack 1 {ecn}\n"));
        for (flags, segments) in answers {
            let window = window_behind(*segments);
            let ack = 1000 * segments + 1;
            timeline.push_str(&format!("{at} > {flags} 1 ack {ack} win {window} ect0\n"));
        }
    };
    for i in 0..20 {
        let answer: &[_] = if i < 16 || i % 2 == 1 { &[(".", i + 1)] } else { &[] };
        segment(i, "ect0", answer);
    }
    segment(20, "ect0", &[]);
    segment(21, "ce", &[(".", 21), ("E.", 22)]);
    segment(22, "ce", &[]);
    segment(23, "ce", &[("E.", 24)]);
    segment(24, "ect0", &[(".", 25)]);
    segment(25, "ect0", &[]);
    segment(26, "ect0", &[(".", 27)]);
    play_with("TcpDctcp", &[("RcvBufSize", "50000"), ("DelAckCount", "2")], &timeline);
}

/// In CWR new data sets a probe's timer in place of the reordering one, also beside what is SACKed: the hole is waited for.
/// What a kernel did (7.3.4).
#[test]
fn after_an_echo_new_data_ends_the_wait_for_what_may_be_reordered() {
    let timeline = "
        60        write 20000
        60 > . 1:10001 by 1000 ack 1 ect0
        110 < E. 1 ack 1001
        110 > W. 10001:11001 ack 1 ect0
        112 < E. 1 ack 1001 sack 2001:4001
        112 > . 11001:12001 ack 1 ect0
        140 ? state Cwr
    ";
    play(&WITH_ECN, &[OPENED, timeline].concat());
}

/// What has come twice, and ends before what the last ACK told of, is answered as the rest is.
#[test]
fn an_answer_to_a_duplicate_echoes_a_mark() {
    for cc in ["TcpNewReno", "TcpDctcp"] {
        let ect = if cc == "TcpDctcp" { "ect0" } else { "" };
        let timeline = format!(
            "0  listen
             0  < SEW 0 sackok
             0  > SE. 0 ack 1 sackok {ect}
             50 < . 1 ack 1
             60 < . 1:1001 ack 1 ce
             60 > E. 1 ack 1001 {ect}
             65 < . 1001:2001 ack 1 ce
             65 > E. 1 ack 2001 {ect}
             70 < . 1:1001 ack 1
             70 > E. 1 ack 2001 sack 1:1001 {ect}"
        );
        play_with(cc, &WITH_ECN, &timeline);
    }
}

/// CWR is acknowledged at once, before the application hears of the end.
#[test]
fn a_fin_with_cwr_is_acknowledged_before_it_is_answered() {
    for (flags, acknowledged, answer) in [("FW.", "70 > . 1 ack 1502", "F."), ("F.", "", "FE.")] {
        let timeline = format!(
            "0  listen
             0  < SEW 0 sackok
             0  > SE. 0 ack 1 sackok
             50 < . 1 ack 1
             60 < . 1:1001 ack 1 ce
             60 > E. 1 ack 1001
             70 < {flags} 1001:1501 ack 1 ect0
             {acknowledged}
             70 > {answer} 1 ack 1502"
        );
        play(&[("UseEcn", "On"), ("DelAckCount", "2")], &timeline);
    }
}

/// Both ends have timestamps, too.
const TIMED: [(&str, &str); 2] = [("UseEcn", "On"), ("Timestamp", "true")];

/// The original of what has been sent again comes, late but not lost: repair is over, and an echo asks for nothing but
/// that the window stays as it was reduced.
#[test]
fn an_echo_with_an_original_that_was_late_reduces_nothing() {
    let restored = "113 > . 11001:15001 by 1000 ack 1 ts 113 161 ect0";
    for (flags, sent) in [("E.", ""), (".", restored)] {
        let timeline = format!(
            "0   connect
             0   > SEW 0 sackok ts 0 0
             50  < SE. 0 ack 1 sackok ts 100 0
             50  > . 1 ack 1 ts 50 100
             60  write 30000
             60  > . 1:10001 by 1000 ack 1 ts 60 100 ect0
             112 < . 1 ack 1 sack 1001:4001 ts 160 60
             112 > . 1:1001 ack 1 ts 112 160
             112 > W. 10001:11001 ack 1 ts 112 160 ect0
             113 < {flags} 1 ack 4001 ts 161 60
             {sent}
             113 ? state Open"
        );
        play(&TIMED, &timeline);
    }
}
