//! The profile `linux`: closing (RFC 9293 section 3.6), where a FIN is a segment in loss detection.

use super::linux::{play, play_ten, play_with};
use super::{ACCEPTED, ESTABLISHED, after};

/// What a kernel did (7.3.4): what fills the last hole is acknowledged before the application hears of the FIN, and closes; and so is
/// more than a segment, or each if asked for.
#[test]
fn a_fin_is_acknowledged_by_that_of_a_sink_unless_an_ack_is_due() {
    const TWO: &[(&str, &str)] = &[("DelAckCount", "2")];
    let hole = "
        100 < F. 1001:1501 ack 1
        100 > . 1 ack 1 sack 1001:1502
        110 < . 1:1001 ack 1
    ";
    let with_less = "
        100 < . 1:1001 ack 1
        100 > . 1 ack 1001
        110 < F. 1001:1501 ack 1
    ";
    let with_whole = "
        100 < . 1:501 ack 1
        100 > . 1 ack 501
        110 < F. 501:1501 ack 1
    ";
    let alone = "
        100 < . 1:1501 ack 1
        100 > . 1 ack 1501
        110 < F. 1501 ack 1
    ";
    let cases: [(&[_], _, _); 6] = [
        (TWO, hole, true),
        (TWO, with_less, false),
        (&[], with_less, true),
        (TWO, with_whole, true),
        (TWO, alone, false),
        (&[], alone, true),
    ];
    for (settings, came, is_apart) in cases {
        let ack = if is_apart { "110 > . 1 ack 1502" } else { "" };
        let rest = format!("{came}\n{ack}\n110 > F. 1 ack 1502\n");
        play(settings, &after(ACCEPTED, &rest));
    }
}

/// What a kernel did (7.3.4): all of the first flight is lost but its last segment, which brings the ACK of the handshake.
#[test]
fn a_fin_beyond_a_hole_completes_a_handshake() {
    play(
        &[],
        "0   listen
         10  < S 0 sackok
         10  > S. 0 ack 1 sackok
         300 < F. 1001:1501 ack 1
         300 > . 1 ack 1 sack 1001:1502
         300 ? tcp Established",
    );
}

/// A sink closes when its peer has.
fn play_last_ack(rest: &str) {
    let begin = "
        110 < F. 1 ack 1
        110 > . 1 ack 2
        110 > F. 1 ack 2";
    play(&[], &after(ACCEPTED, &format!("{begin}\n{rest}")));
}

/// Its ACK was lost.
#[test]
fn a_fin_that_comes_again_in_time_wait_is_acknowledged_again() {
    let rest = "
        60  close
        60  > F. 1 ack 1
        110 < F. 1 ack 2
        110 > . 2 ack 2
        110 ? tcp TimeWait
        400 < F. 1 ack 2
        400 > . 2 ack 2 win 65464
        400 ? tcp TimeWait
    ";
    play(&[], &after(ESTABLISHED, rest));
}

/// A FIN behind data that has left is a segment of its own, as the kernel's is (`tcp_send_fin`).
fn play_closed(rest: &str) {
    let begin = "
        60  write 900
        60  > . 1:901 ack 1
        60  close
        60  > F. 901 ack 1";
    play(&[], &after(ESTABLISHED, &format!("{begin}\n{rest}")));
}

#[test]
fn a_fin_that_is_lost_is_probed() {
    play_closed(
        "110 < . 1 ack 901
         368 > F. 901 ack 1
         418 < . 1 ack 902
         418 ? in_flight 0 tcp FinWait2",
    );
}

/// It tells that what was before it is lost.
#[test]
fn a_sack_of_the_fin_repairs_the_tail() {
    play_closed(
        "110 < . 1 ack 1 sack 901:902
         126 > . 1:901 ack 1
         174 < . 1 ack 902
         174 ? in_flight 0 tcp FinWait2",
    );
}

/// Of a receiver that closes while data waits for an ACK.
#[test]
fn what_a_fin_acknowledges_is_no_longer_in_flight() {
    play_ten(
        "110 < F. 1 ack 10001
         110 > . 10001:20001 by 1000 ack 1
         110 > . 20001 ack 2
         110 ? state Open in_flight 10000",
    );
}

/// The FIN of an end that only receives is found lost as data is: by a probe first.
#[test]
fn the_fin_of_a_sink_is_probed_before_a_timeout() {
    play_last_ack(
        "368 > F. 1 ack 2
         624 > F. 1 ack 2
         1128 > F. 1 ack 2
         1200 ? tcp LastAck",
    );
}

/// Its ACK is lost or late, and reports it (RFC 2883).
#[test]
fn a_fin_that_comes_again_is_acknowledged_and_reported() {
    play_last_ack(
        "130 < F. 1 ack 1
         130 > . 2 ack 2 sack 1:2
         130 ? tcp LastAck",
    );
}

/// The same beyond a hole: the report comes before the block.
#[test]
fn a_fin_that_comes_again_beyond_a_hole_is_reported() {
    let rest = "
        110 < F. 1001 ack 1
        110 > . 1 ack 1 sack 1001:1002
        130 < F. 1001 ack 1
        130 > . 1 ack 1 sack 1001:1002 1001:1002
    ";
    play(&[], &after(ACCEPTED, rest));
}

/// An ACK that others have overtaken does not acknowledge the FIN.
#[test]
fn only_the_ack_of_the_fin_ends_the_last_ack() {
    play_last_ack(
        "120 < . 2 ack 1
         120 ? tcp LastAck
         160 < . 2 ack 2
         160 ? tcp Listen",
    );
}

/// RFC 9293 section 3.10.7.2: whose connection is over is told so.
#[test]
fn an_ack_of_a_connection_that_is_over_is_reset() {
    play_last_ack(
        "160 < . 2 ack 2
         170 < . 2 ack 2
         170 > R 2 win 0
         180 < R 2
         190 < F 2",
    );
}

/// RFC 1337 section 2: a reset ends TIME_WAIT.
#[test]
fn a_reset_ends_time_wait() {
    let rest = "
        60  close
        60  > F. 1 ack 1
        110 < F. 1 ack 2
        110 > . 2 ack 2
        120 < R 2
        120 ? tcp Closed
    ";
    play(&[], &after(ESTABLISHED, rest));
}

/// The kernel keeps no more of the connection than what an ACK needs, so it is not ECT, where each of DCTCP's was.  Of such answers
/// to what is no FIN there are two a second at most, counted anew.
#[test]
fn answers_in_time_wait_have_no_ect() {
    play_with(
        "TcpDctcp",
        &[],
        "0   connect
         0   > SEW 0 sackok ect0
         50  < SE. 0 ack 1 sackok
         50  > . 1 ack 1 ect0
         60  close
         60  > F. 1 ack 1 ect0
         110 < F. 1 ack 2
         110 > . 2 ack 2 ect0
         400 < F. 1 ack 2
         400 > . 2 ack 2 win 65464",
    );
}

/// The one in 130 comes too soon after the one before, as does the one in 160.
#[test]
fn answers_in_time_wait_are_counted_anew() {
    let rest = "
        60  < . 1:1001 ack 1
        60  > . 1 ack 1001
        70  close
        70  > F. 1 ack 1001
        110 < . 1001 ack 2
        120 < . 1 ack 2
        120 > . 2 ack 1001
        130 < . 1 ack 2
        140 < F. 1001 ack 2
        140 > . 2 ack 1002
        140 ? tcp TimeWait
        150 < . 1 ack 2
        150 > . 2 ack 1002
        160 < . 1 ack 2
        170 ? tcp TimeWait
    ";
    play(&[], &after(ESTABLISHED, rest));
}

/// A mark that is to be echoed is echoed by the FIN, too.
#[test]
fn the_fin_of_a_receiver_echoes_a_mark() {
    play(
        &[("UseEcn", "On")],
        "0   listen
         0   < SEW 0 sackok
         0   > SE. 0 ack 1 sackok
         50  < . 1 ack 1
         60  < . 1:1001 ack 1 ce
         60  > E. 1 ack 1001
         70  < F. 1001 ack 1
         70  > E. 1 ack 1002
         70  > FE. 1 ack 1002",
    );
}
