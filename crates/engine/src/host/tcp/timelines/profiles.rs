//! What a profile can be made of besides ns-3's parts: a detection with state, a clock and a timer.

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
    const NAME: &str = "ns-3 with probes";

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
