//! How long a round trip takes, and with it the retransmission timeout (RFC 6298).

use crate::base::ring::Ring;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::rtt::RttEstimation;
use crate::host::tcp::tcb::Tcb;

/// A segment that has not yet given an RTT sample.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    seq: Seq,
    len: u32,
    time: Time,
    retransmitted: bool,
}

impl Sent {
    fn end(self) -> Seq {
        self.seq + self.len
    }

    /// Of its acknowledgement, which has come.  Without timestamps, retransmitted segments give no sample
    /// (Karn's algorithm, RFC 6298 section 3).
    #[inline]
    fn rtt(self, of_echo: Option<Time>, now: Time) -> Option<Time> {
        let elapsed = now - self.time;
        of_echo.or((!self.retransmitted && !elapsed.is_zero()).then_some(elapsed))
    }
}

#[derive(Debug)]
pub(super) struct RoundTrips<R> {
    estimator: R,
    history: Ring<Sent>,
    /// No entry of it is longer.
    longest: u32,
    pub(super) rto: Time,
    /// The one that follows from the estimate.
    settled_rto: Time,
    granularity: Time,
    min_rto: Time,
    /// Where the round ends, for an estimation that counts them.
    round_end: Seq,
}

impl<R: RttEstimation> RoundTrips<R> {
    /// `initial_rtt`: the estimate before the first sample.
    pub(super) fn new(config: &Config, initial_rtt: Time) -> Self {
        let estimator = R::new(initial_rtt, config.min_rto);
        RoundTrips {
            settled_rto: estimator.rto(config.clock_granularity, config.min_rto),
            estimator,
            history: Ring::default(),
            longest: 0,
            rto: Time::ZERO,
            granularity: config.clock_granularity,
            min_rto: config.min_rto,
            round_end: Seq(0),
        }
    }

    /// Forgets all samples.
    pub(super) fn reset(&mut self) {
        self.estimator.reset();
        self.settle();
    }

    /// The estimate has changed.
    fn settle(&mut self) {
        self.settled_rto = self.estimator.rto(self.granularity, self.min_rto);
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
        self.rto = self.settled_rto;
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
        let contains = |entry: Sent| seq < entry.end();
        let found = (i..above).find(|&i| self.history.get(i).is_some_and(contains));
        if let Some(entry) = found.and_then(|i| self.history.get_mut(i)) {
            entry.retransmitted = true;
            entry.len = ((seq + len) - entry.seq) as u32;
            self.longest = self.longest.max(entry.len);
        }
    }

    /// A sample for the oldest unacknowledged entry of the history; `tcb.last_rtt` is that of the newest
    /// one that this ACK covers.  `of_echo`: what the ACK's timestamp echo says, if it has one.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, ack: Seq, of_echo: Option<Time>, tcb: &mut Tcb) {
        let Some(oldest) = self.history.front().filter(|entry| entry.end() <= ack) else { return };
        let mut newest = oldest;
        loop {
            self.history.pop_front();
            match self.history.front() {
                Some(entry) if entry.end() <= ack => newest = entry,
                _ => break,
            }
        }
        if let Some(last) = newest.rtt(of_echo, tcb.now) {
            tcb.last_rtt = last;
        }
        let sample = oldest.rtt(of_echo, tcb.now);
        if let Some(rtt) = sample {
            self.estimator.measure(rtt);
            if R::HAS_ROUNDS && ack > self.round_end {
                self.estimator.on_round();
                self.round_end = tcb.high_tx_mark;
            }
            self.settle();
            self.restart_rto();
            tcb.srtt = self.estimator.srtt();
            tcb.min_rtt = tcb.min_rtt.min(tcb.srtt);
        }
    }
}
