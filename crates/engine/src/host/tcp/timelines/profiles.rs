//! What a profile can be made of besides ns-3's parts: a detection with state, a clock and a timer.

use super::loss::TEN_SENT;
use super::{ESTABLISHED, after};
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::acks::Delayed;
use crate::host::tcp::bench::play_as;
use crate::host::tcp::config::Config;
use crate::host::tcp::loss::{Disorder, Finding, Flight, LossDetection, Rfc6675};
use crate::host::tcp::pacing::CwndOverSrtt;
use crate::host::tcp::profile::{Ns3, Profile};
use crate::host::tcp::rtt::MeanDeviation;
use crate::host::tcp::scoreboard::Segment;
use crate::packet::Ecn;

/// ns-3's, with a probe of the tail two round trips after the last segment (RFC 8985 section 7.2), once a flight.
#[derive(Debug)]
struct Probing {
    inner: Rfc6675,
    due: Option<Time>,
    has_probed: bool,
    delivered: u32,
}

impl LossDetection for Probing {
    const HAS_TIMER: bool = true;

    fn new(config: &Config) -> Probing {
        Probing { inner: Rfc6675::new(config), due: None, has_probed: false, delivered: 0 }
    }

    fn on_sent(&mut self, flight: Flight<'_>, _seq: Seq, _len: u32) {
        if !self.has_probed {
            self.due = Some(flight.tcb.now + flight.tcb.srtt + flight.tcb.srtt);
        }
    }

    fn on_delivered(&mut self, _now: Time, segment: &Segment) {
        self.delivered += segment.len;
    }

    fn on_ack(&mut self, flight: Flight<'_>) -> Finding {
        if std::mem::take(&mut self.delivered) > 0 {
            self.has_probed = false;
        }
        if flight.scoreboard.sent_size() == 0 {
            self.due = None;
        }
        Finding::Nothing
    }

    fn deadline(&self) -> Option<Time> {
        self.due
    }

    fn on_timer(&mut self, _flight: Flight<'_>) -> Finding {
        self.due = None;
        self.has_probed = true;
        Finding::Probe
    }

    fn on_sacked(&mut self, flight: Flight<'_>) {
        self.inner.on_sacked(flight);
    }

    fn on_duplicate(&mut self, flight: Flight<'_>) {
        self.inner.on_duplicate(flight);
    }

    fn begins_recovery(&mut self, flight: Flight<'_>, disorder: Disorder) -> bool {
        self.inner.begins_recovery(flight, disorder)
    }

    fn on_recovery(&mut self, flight: Flight<'_>) {
        self.inner.on_recovery(flight);
    }

    fn on_partial_ack(&mut self, flight: Flight<'_>) {
        self.inner.on_partial_ack(flight);
    }

    fn on_timeout(&mut self, flight: Flight<'_>) {
        self.inner.on_timeout(flight);
    }
}

#[derive(Debug)]
struct WithProbes;

impl Profile for WithProbes {
    type Loss = Probing;
    type Rtt = MeanDeviation;
    type Acks = Delayed;
    type Pacing = CwndOverSrtt;

    const INITIAL_RTT: Time = Ns3::INITIAL_RTT;
    const LONGEST_TIMEOUT: Time = Ns3::LONGEST_TIMEOUT;
    const WRITE_DELAY: Time = Ns3::WRITE_DELAY;
    const EVERY_TIMEOUT_SETS_SSTHRESH: bool = Ns3::EVERY_TIMEOUT_SETS_SSTHRESH;
    const PARTIAL_ACK_SENDS: bool = Ns3::PARTIAL_ACK_SENDS;

    fn rtt_of_echo(now: Time, echo: u32) -> Time {
        Ns3::rtt_of_echo(now, echo)
    }

    fn ecn(ect: Ecn, tos: u8) -> Ecn {
        Ns3::ecn(ect, tos)
    }
}

/// ns-3's, but an ACK that comes sooner after a retransmission than half a round trip says that the original has come
/// (as RFC 3522 tells by timestamps).
#[derive(Debug)]
struct Doubting {
    inner: Rfc6675,
    /// From the last retransmission that the ACK delivers until now.
    since: Option<Time>,
}

impl LossDetection for Doubting {
    fn new(config: &Config) -> Doubting {
        Doubting { inner: Rfc6675::new(config), since: None }
    }

    fn on_delivered(&mut self, now: Time, segment: &Segment) {
        if segment.is_repeated {
            self.since = Some(now - segment.last_sent);
        }
    }

    fn on_ack(&mut self, flight: Flight<'_>) -> Finding {
        match self.since.take() {
            Some(since) if since + since < flight.tcb.min_rtt => Finding::Spurious,
            _ => Finding::Nothing,
        }
    }

    fn on_sacked(&mut self, flight: Flight<'_>) {
        self.inner.on_sacked(flight);
    }

    fn on_duplicate(&mut self, flight: Flight<'_>) {
        self.inner.on_duplicate(flight);
    }

    fn begins_recovery(&mut self, flight: Flight<'_>, disorder: Disorder) -> bool {
        self.inner.begins_recovery(flight, disorder)
    }

    fn on_recovery(&mut self, flight: Flight<'_>) {
        self.inner.on_recovery(flight);
    }

    fn on_partial_ack(&mut self, flight: Flight<'_>) {
        self.inner.on_partial_ack(flight);
    }

    fn on_timeout(&mut self, flight: Flight<'_>) {
        self.inner.on_timeout(flight);
    }
}

#[derive(Debug)]
struct WithUndo;

impl Profile for WithUndo {
    type Loss = Doubting;
    type Rtt = MeanDeviation;
    type Acks = Delayed;
    type Pacing = CwndOverSrtt;

    const INITIAL_RTT: Time = Ns3::INITIAL_RTT;
    const LONGEST_TIMEOUT: Time = Ns3::LONGEST_TIMEOUT;
    const WRITE_DELAY: Time = Ns3::WRITE_DELAY;
    const EVERY_TIMEOUT_SETS_SSTHRESH: bool = Ns3::EVERY_TIMEOUT_SETS_SSTHRESH;
    const PARTIAL_ACK_SENDS: bool = Ns3::PARTIAL_ACK_SENDS;

    fn rtt_of_echo(now: Time, echo: u32) -> Time {
        Ns3::rtt_of_echo(now, echo)
    }

    fn ecn(ect: Ecn, tos: u8) -> Ecn {
        Ns3::ecn(ect, tos)
    }
}

/// The first segment is only late: it comes a millisecond after it was sent again.  The window is what it was.
#[test]
fn a_loss_that_was_none_is_undone() {
    let rest = "
        110 < . 1 ack 1 sack 1001:2001
        110 > . 10001:11001 ack 1
        111 < . 1 ack 1 sack 1001:3001
        111 > . 11001:12001 ack 1
        112 < . 1 ack 1 sack 1001:4001
        112 > . 1:1001 ack 1
        112 ? state Recovery ssthresh 4000
        113 < . 1 ack 12001
        113 > . 12001:13001 ack 1
        113 > . 13001:14001 ack 1
        113 > . 14001:15001 ack 1
        113 > . 15001:16001 ack 1
        113 > . 16001:17001 ack 1
        113 > . 17001:18001 ack 1
        113 > . 18001:19001 ack 1
        113 > . 19001:20001 ack 1
        113 ? state Open cwnd 11000 ssthresh 4294967295
    ";
    let timeline = after(ESTABLISHED, &after(TEN_SENT, rest));
    play_as::<WithUndo>("TcpNewReno", &[], &timeline);
}

/// The last of three segments is lost.  Two round trips later it is sent again, long before the retransmission timer
/// (1 s) would fire; the window stays.
#[test]
fn a_detection_of_another_profile_probes_the_tail_with_a_timer_of_its_own() {
    play_as::<WithProbes>(
        "TcpNewReno",
        &[("MinRto", "1s")],
        "0 connect
         0 > S 0 sackok
         50 < S. 0 ack 1 sackok
         50 > . 1 ack 1
         60 write 3000
         60.000001 > . 1:1001 ack 1
         60.000001 > . 1001:2001 ack 1
         60.000001 > . 2001:3001 ack 1
         110 < . 1 ack 2001
         160.000001 > . 2001:3001 ack 1
         210 < . 1 ack 3001
         210 ? in_flight 0 state Open
         2000 ? in_flight 0 state Open",
    );
}
