//! How long a round trip takes, and with it the retransmission timeout (RFC 6298).

use crate::ring::Ring;
use crate::seq::Seq;
use crate::tcp::config::Config;
use crate::tcp::rtt::RttEstimator;
use crate::tcp::tcb::Tcb;
use crate::time::Time;

/// A segment that has not yet given an RTT sample.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    seq: Seq,
    len: u32,
    time: Time,
    retransmitted: bool,
}

#[derive(Debug)]
pub(super) struct RoundTrips {
    estimator: RttEstimator,
    history: Ring<Sent>,
    /// No entry of it is longer.
    longest: u32,
    pub(super) rto: Time,
    granularity: Time,
    min_rto: Time,
}

impl RoundTrips {
    /// `initial_rtt`: the estimate before the first sample.
    pub(super) fn new(config: &Config, initial_rtt: Time) -> RoundTrips {
        RoundTrips {
            estimator: RttEstimator::new(initial_rtt),
            history: Ring::default(),
            longest: 0,
            rto: Time::ZERO,
            granularity: config.clock_granularity,
            min_rto: config.min_rto,
        }
    }

    /// Forgets all samples.
    pub(super) fn reset(&mut self) {
        self.estimator.reset();
    }

    /// Nothing is in flight that could give a sample.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.history.is_empty()
    }

    /// What is in flight gives no sample any more.
    pub(super) fn forget_flight(&mut self) {
        self.history.clear();
    }

    /// The RTO that follows from the estimate, which no timeout has doubled.
    pub(super) fn restart_rto(&mut self) {
        self.rto = self.estimator.rto(self.granularity, self.min_rto);
    }

    /// SRTT and its variation, without a lower bound.
    pub(super) fn timeout(&self) -> Time {
        self.estimator.timeout(self.granularity)
    }

    /// A segment is sent for the first time.
    #[inline]
    pub(super) fn on_sent(&mut self, seq: Seq, len: u32, time: Time) {
        if self.history.is_empty() {
            self.longest = 0;
        }
        self.longest = self.longest.max(len);
        self.history.push_back(Sent { seq, len, time, retransmitted: false });
    }

    pub(super) fn on_retransmitted(&mut self, seq: Seq, len: u32) {
        // The first entry that contains seq.  Entries are in order, but one that was sent again as a
        // longer segment reaches into the next ones, and further with each segment that begins in it.
        let above = self.history.partition_point(|entry| entry.seq <= seq);
        let mut i = above;
        let reaches = |entry: Sent| entry.seq + self.longest > seq;
        while i > 0 && self.history.get(i - 1).is_some_and(reaches) {
            i -= 1;
        }
        let contains = |entry: Sent| seq < entry.seq + entry.len;
        let found = (i..above).find(|&i| self.history.get(i).is_some_and(contains));
        if let Some(entry) = found.and_then(|i| self.history.get_mut(i)) {
            entry.retransmitted = true;
            entry.len = ((seq + len) - entry.seq) as u32;
            self.longest = self.longest.max(entry.len);
        }
    }

    /// A sample for the oldest unacknowledged entry of the history; `tcb.last_rtt` is that of the newest
    /// one that this ACK covers.  `of_echo`: what the ACK's timestamp echo says, if it has one.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: Seq, of_echo: Option<Time>, tcb: &mut Tcb) {
        let Some(oldest) = self.history.front() else { return };
        let sample = rtt_sample(ack, of_echo, oldest, tcb.now);
        let mut newest = oldest;
        while let Some(entry) = self.history.front() {
            if entry.seq + entry.len > ack {
                break;
            }
            newest = entry;
            self.history.pop_front();
        }
        if let Some(last) = rtt_sample(ack, of_echo, newest, tcb.now) {
            tcb.last_rtt = last;
        }
        if let Some(rtt) = sample {
            self.estimator.measure(rtt);
            self.restart_rto();
            tcb.srtt = self.estimator.srtt();
            tcb.min_rtt = tcb.min_rtt.min(tcb.srtt);
        }
    }
}

/// Without timestamps, retransmitted segments give no sample (Karn's algorithm, RFC 6298 section 3).
#[inline]
fn rtt_sample(ack: Seq, of_echo: Option<Time>, entry: Sent, now: Time) -> Option<Time> {
    if ack < entry.seq + entry.len {
        return None;
    }
    let elapsed = now - entry.time;
    of_echo.or((!entry.retransmitted && !elapsed.is_zero()).then_some(elapsed))
}
