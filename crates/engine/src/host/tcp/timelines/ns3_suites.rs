//! What ns-3's test suites expect of sockets whose peer is of the suite's own making, or has other
//! options than they: facts of the suites, as timelines of one end.
//!
//! `python/ccperf/verify/expectations.py` counts the cases; `tests/differential` has the others.

use super::super::bench::{play, play_with};
use super::after;

/// What the peer of a client answers, and what its own first segment is to a server.
struct Agreement {
    /// Whether the end under test wants an option.
    wanted: bool,
    /// Whether its peer says that it does.
    offered: bool,
}

impl Agreement {
    /// Both ends of the suites' four configurations: as a client and as a server.
    const ALL: [Agreement; 4] = [
        Agreement { wanted: false, offered: false },
        Agreement { wanted: false, offered: true },
        Agreement { wanted: true, offered: false },
        Agreement { wanted: true, offered: true },
    ];

    fn said(by: bool, option: &str) -> &str {
        if by { option } else { "" }
    }
}

fn setting(on: bool) -> &'static str {
    if on { "true" } else { "false" }
}

/// ns-3's tcp-sack-permitted, 4 cases.
#[test]
fn sack_is_permitted_by_syns_alone_and_if_both_ends_want_it() {
    for Agreement { wanted, offered } in Agreement::ALL {
        let (mine, theirs) =
            (Agreement::said(wanted, "sackok"), Agreement::said(offered, "sackok"));
        let settings = [("Sack", setting(wanted))];
        let answer = Agreement::said(wanted && offered, "sackok");
        let client = format!(
            "0         connect
             0         > S 0 {mine}
             50        < S. 0 ack 1 {answer}
             50        > . 1 ack 1
             60        write 500
             60.000001 > . 1:501 ack 1"
        );
        play(&settings, &client);
        let server = format!(
            "0  listen
             0  < S 0 {theirs}
             0  > S. 0 ack 1 {answer}
             50 < . 1 ack 1
             60 < . 1:501 ack 1
             60 > . 1 ack 501"
        );
        play(&settings, &server);
    }
}

/// ns-3's tcp-timestamp, 4 cases.
#[test]
fn timestamps_are_in_every_segment_if_both_ends_want_them() {
    for Agreement { wanted, offered } in Agreement::ALL {
        let settings = [("Timestamp", setting(wanted)), ("Sack", "false")];
        let agreed = wanted && offered;
        let stamped = |text: &'static str| Agreement::said(agreed, text);
        let client = format!(
            "0         connect
             0         > S 0 {}
             50        < S. 0 ack 1 {}
             50        > . 1 ack 1 {}
             60        write 500
             60.000001 > . 1:501 ack 1 {}",
            Agreement::said(wanted, "ts 0 0"),
            stamped("ts 100 0"),
            stamped("ts 50 100"),
            stamped("ts 60 100"),
        );
        play(&settings, &client);
        let server = format!(
            "0  listen
             0  < S 0 {}
             0  > S. 0 ack 1 {}
             50 < . 1 ack 1 {}
             60 < . 1:501 ack 1 {}
             60 > . 1 ack 501 {}",
            Agreement::said(offered, "ts 100 0"),
            stamped("ts 0 100"),
            stamped("ts 150 0"),
            stamped("ts 160 0"),
            stamped("ts 60 160"),
        );
        play(&settings, &server);
    }
}

/// ns-3's tcp-wscaling, 10 cases.
#[test]
fn windows_are_scaled_if_both_ends_want_it_and_never_in_a_syn() {
    // Who wants it, the receiver's buffer and the sender's.
    for (client, server, receiver, sender) in [
        (true, true, 200_000, 65_535),
        (true, true, 65_535, 65_535),
        (false, false, 65_535, 65_535),
        (true, false, 65_535, 65_535),
        (false, true, 65_535, 65_535),
        (true, true, 65_535, 200_000),
        (true, true, 131_072, 65_535),
        (true, true, 65_535, 131_072),
        (true, true, 4_000, 4_000),
        (true, false, 4_000, 4_000),
    ] {
        // The least shift with which the whole buffer can be said.
        let shift = |buffer: u32| (0..).find(|shift| buffer >> shift <= 65_535).unwrap();
        let option = |on, buffer| if on { format!("ws {}", shift(buffer)) } else { String::new() };
        let window = |buffer: u32| match buffer.min(65_535) {
            65_535 => String::new(), // which the bench does not say
            window => format!("win {window}"),
        };
        let settings = |on, buffer: &'static str| {
            [("WindowScaling", setting(on)), ("Sack", "false"), ("RcvBufSize", buffer)]
        };
        let text = |buffer: u32| -> &'static str { buffer.to_string().leak() };
        let connect = format!("0 connect\n0 > S 0 {} {}", window(sender), option(client, sender));
        play(&settings(client, text(sender)), &connect);
        let theirs = option(client, sender);
        let answer = option(client && server, receiver);
        let listen =
            format!("0 listen\n0 < S 0 {theirs}\n0 > S. 0 ack 1 {} {answer}", window(receiver));
        play(&settings(server, text(receiver)), &listen);
    }
}

/// ns-3's tcp-slow-start-test, 2 cases.
#[test]
fn acknowledgements_of_less_than_a_segment_do_not_open_the_window_faster() {
    for segment in [500u32, 1000] {
        let text: &'static str = segment.to_string().leak();
        let settings = [("SegmentSize", text), ("InitialCwnd", "1"), ("Sack", "false")];
        let mut timeline = format!(
            "0         connect
             0         > S 0
             50        < S. 0 ack 1
             50        > . 1 ack 1
             60        write {}
             60.000001 > . 1:{} ack 1\n",
            8 * segment,
            segment + 1,
        );
        // Its receiver acknowledges 125 bytes at a time.  The suite allows a segment more when the
        // segment is whole; ns-3 counts what was left of it then, and does not even take that.
        for step in 1..segment / 125 {
            let (at, ack) = (100 + step, 125 * step + 1);
            timeline += &format!("{at} < . 1 ack {ack}\n{at} ? cwnd {segment}\n");
        }
        let (first, second) = (segment + 1, 2 * segment + 1);
        timeline += &format!(
            "200 < . 1 ack {first}
             200 > . {first}:{second} ack 1
             200 ? cwnd {segment}"
        );
        play(&settings, &timeline);
    }
}

/// ns-3's tcp-zero-window-test, 1 case.
#[test]
fn a_window_that_is_closed_from_the_start_is_probed_after_six_seconds() {
    let settings = [("SegmentSize", "500"), ("Sack", "false")];
    let timeline = "
        0     connect
        0     > S 0
        100   < S. 0 ack 1 win 0
        100   > . 1 ack 1
        2000  write 5000
        6100  > - 1:2
        6200  < . 1 ack 1 win 0
        10000 < . 1 ack 1 win 2500
        10000 > . 1:2501 by 500 ack 1
        10000 ? state Open
    ";
    play(&settings, timeline);
    let closed = "
        0 listen
        0 < S 0
        0 > S. 0 ack 1 win 0
    ";
    play(&[("RcvBufSize", "0"), ("Sack", "false")], closed);
}

const ECN: [(&str, &str); 3] = [("UseEcn", "On"), ("SegmentSize", "500"), ("Sack", "false")];

/// ns-3's tcp-ecn-test, 2 cases.
#[test]
fn ecn_needs_both_ends() {
    let asked = "
        0         connect
        0         > SEW 0
        50        < S. 0 ack 1
        50        > . 1 ack 1
        60        write 500
        60.000001 > . 1:501 ack 1
    ";
    play(&ECN, asked);
    let not_asked = "
        0         listen
        0         < S 0
        0         > S. 0 ack 1
        50        < . 1 ack 1
    ";
    play(&ECN, not_asked);
}

/// ns-3's tcp-ecn-test, 1 case.
#[test]
fn ece_is_repeated_until_cwr_comes() {
    let receiver = "
        0   listen
        0   < SEW 0
        0   > SE. 0 ack 1
        50  < . 1 ack 1
        60  < . 1:501 ack 1 ce
        60  > E. 1 ack 501
        160 < W. 501:1001 ack 1 ect0
        160 > . 1 ack 1001
        161 < . 1001:1501 ack 1 ce
        161 > E. 1 ack 1501
        260 < W. 1501:2001 ack 1 ect0
        260 > . 1 ack 2001
        360 < . 2001:2501 ack 1 ect0
        360 > . 1 ack 2501
    ";
    play(&ECN, receiver);
}

/// ns-3's tcp-ecn-test, 1 case.
#[test]
fn the_window_is_reduced_once_for_the_marks_of_a_window_and_stays_at_two_segments() {
    let opening = "
        0         connect
        0         > SEW 0
        50        < SE. 0 ack 1
        50        > . 1 ack 1
        60        write 5000
        60.000001 > . 1:501 ack 1 ect0
        160       < . 1 ack 501
        160       > . 501:1001 ack 1 ect0
        160       > . 1001:1501 ack 1 ect0
        160       ? cwnd 1000
    ";
    // The fourth and fifth segment of data are marked.
    let rest = "
        260       < . 1 ack 1501
        260       > . 1501:3001 by 500 ack 1 ect0
        260       ? cwnd 1500
        360       < E. 1 ack 2001
        360       > W. 3001:3501 ack 1 ect0
        360       ? cwnd 1500 ecn CwrSent
        360.001   < E. 1 ack 2501
        360.001   ? cwnd 1000
    ";
    let settings = [&ECN[..], &[("InitialCwnd", "1")]].concat();
    play(&settings, &after(opening, rest));
}

/// ns-3's tcp-dctcp-test, 1 case.
#[test]
fn a_dctcp_receiver_echoes_marks_alone_though_no_cwr_comes() {
    let receiver = "
        0   listen
        0   < SEW 0 ect0
        0   > SE. 0 ack 1 ect0
        50  < . 1 ack 1 ect0
        60  < . 1:501 ack 1 ce
        60  > E. 1 ack 501 ect0
        160 < . 501:1001 ack 1 ect0
        160 > . 1 ack 1001 ect0
        161 < . 1001:1501 ack 1 ect0
        161 > . 1 ack 1501 ect0
    ";
    play_with("TcpDctcp", &ECN, receiver);
}

const OF_536: [(&str, &str); 3] = [("SegmentSize", "536"), ("InitialCwnd", "1"), ("Sack", "false")];

/// Five segments are written at 2 s, one byte at 2.010 s and the rest of a segment at 2.012 s.
const SIX_WRITTEN: &str = "
    1000        connect
    1000        > S 0
    1004        < S. 0 ack 1
    1004        > . 1 ack 1
    2000        write 2680
    2000.000001 > . 1:537 ack 1
    2005        < . 1 ack 537
    2005        > . 537:1073 ack 1
    2005        > . 1073:1609 ack 1
    2009.5      < . 1 ack 1609
    2009.5      > . 1609:2145 ack 1
    2009.5      > . 2145:2681 ack 1
    2010        write 1
";

/// ns-3's ns3-tcp-no-delay, 2 cases.
#[test]
fn nagles_algorithm_waits_for_a_whole_segment() {
    let at_once = "
        2010.000001 > . 2681:2682 ack 1
        2012        write 535
        2012.000001 > . 2682:3217 ack 1
    ";
    play(&[&OF_536[..], &[("TcpNoDelay", "true")]].concat(), &after(SIX_WRITTEN, at_once));
    let together = "
        2012        write 535
        2012.000001 > . 2681:3217 ack 1
    ";
    play(&[&OF_536[..], &[("TcpNoDelay", "false")]].concat(), &after(SIX_WRITTEN, together));
}

/// ns-3's ns3-tcp-socket, 2 cases.
#[test]
fn writes_are_sent_as_they_are_up_to_a_segment() {
    let opening = "
        2000         connect
        2000         > S 0
        2004         < S. 0 ack 1
        2004         > . 1 ack 1
        10000        write 1
        10000.000001 > . 1:2 ack 1
        10004        < . 1 ack 2
        12000        write 10
        12000.000001 > . 2:12 ack 1
        12004        < . 1 ack 12
        14000        write 100
        14000.000001 > . 12:112 ack 1
        14004        < . 1 ack 112
        16000        write 1000
    ";
    let of_536 = "
        16000.000001 > . 112:648 ack 1
        16000.000001 > . 648:1112 ack 1
    ";
    let settings = [("SegmentSize", "536"), ("Sack", "false")];
    play(&settings, &after(opening, of_536));
    let of_1000 = "
        16000        write 1001
        16000.000001 > . 112:1112 ack 1
        16000.000001 > . 1112:2112 ack 1
        16000.000001 > . 2112:2113 ack 1
    ";
    play(&[("SegmentSize", "1000"), ("Sack", "false")], &after(opening, of_1000));
}

/// ns-3's ns3-tcp-state, 1 case.
#[test]
fn a_fin_that_is_lost_is_sent_again_after_the_timeout() {
    // As recorded, but for the round trip of whole milliseconds.
    let timeline = "
        0    connect
        0    > S 0
        2    < S. 0 ack 1
        2    > . 1 ack 1
        2    write 5000
        2.000001 > . 1:1001 ack 1
        20   < . 1 ack 1001
        20   > . 1001:2001 ack 1
        20   > . 2001:3001 ack 1
        38   < . 1 ack 2001
        38   > . 3001:4001 ack 1
        38   > . 4001:5001 ack 1
        39   < . 1 ack 3001
        40   close
        40   > F. 5001 ack 1
        56   < . 1 ack 4001
        64   < . 1 ack 5001
        1064 > F. 5001 ack 1
        1066 < F. 1 ack 5002
        1066 > . 5002 ack 2
    ";
    play(&[("InitialCwnd", "1"), ("MinRto", "1s"), ("Sack", "false")], timeline);
}

/// ns-3's tcp-syn-connection-failed-test, 2 cases.
#[test]
fn a_connection_to_a_port_that_nobody_listens_to_fails() {
    for (ecn, syn) in [("Off", "S"), ("On", "SEW")] {
        let mut timeline = String::from("0 connect\n");
        for at in [0, 3_000, 9_000, 21_000, 45_000, 93_000] {
            timeline += &format!("{at} > {syn} 0\n{} < R. 0 ack 1\n", at + 1);
        }
        timeline += "188999 ? tcp SynSent\n189001 ? tcp Closed";
        play(&[("UseEcn", ecn), ("Sack", "false")], &timeline);
    }
}
