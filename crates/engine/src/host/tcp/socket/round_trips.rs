//! How long a round trip takes, and with it the retransmission timeout (RFC 6298).

use std::mem::offset_of;

use crate::base::ring::Ring;
use crate::base::seq::Seq;
use crate::base::time::Time;
use crate::host::tcp::config::Config;
use crate::host::tcp::rtt::{RoundTrip, RttEstimation, by_clock};
use crate::host::tcp::scoreboard::{Scoreboard, Segment};
use crate::host::tcp::tcb::Tcb;

/// The timeout of data where the SYN was sent again and its answer tells no round trip.
const WITHOUT_SAMPLE: Time = Time::from_ms(3000);

/// A segment that has not yet given an RTT sample.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    seq: Seq,
    len: u32,
    time: Time,
    retransmitted: bool,
}

impl Sent {
    /// One that has been sent once, as it is.
    fn once(segment: &Segment) -> Sent {
        let &Segment { start, len, last_sent, .. } = segment;
        Sent { seq: start, len, time: last_sent, retransmitted: false }
    }

    fn end(&self) -> Seq {
        self.seq + self.len
    }

    /// Of its acknowledgement, which has come.  Without timestamps, retransmitted segments give no sample
    /// (Karn's algorithm, RFC 6298 section 3).
    fn rtt(self, of_echo: Option<Time>, now: Time) -> Option<Time> {
        if self.retransmitted { of_echo } else { rtt(self.time, of_echo, now) }
    }
}

/// Of the acknowledgement of a segment that left once.
#[inline(always)]
fn rtt(left: Time, of_echo: Option<Time>, now: Time) -> Option<Time> {
    let elapsed = now - left;
    of_echo.or((!elapsed.is_zero()).then_some(elapsed))
}

#[derive(Debug)]
#[repr(C)] // what an end that only receives asks for, too, is in front
pub(super) struct RoundTrips<R> {
    pub(super) rto: Time,
    /// The one that follows from the estimate.
    settled_rto: Time,
    /// Of what begins before `once_from`, since the scoreboard may join it and cut it: see [`RoundTrips::keep`].
    history: Ring<Sent>,
    /// What begins here, or later, has been sent once: when, the scoreboard knows.
    once_from: Seq,
    /// No entry of the history is longer.
    longest: u32,
    estimator: R,
    granularity: Time,
    min_rto: Time,
    /// Where the round ends, for an estimation that counts them.
    round_end: Option<Seq>,
}

impl<R: RttEstimation> RoundTrips<R> {
    /// So many bytes of it does an end ask for that only receives.
    pub(super) const OF_RECEIVERS: usize = offset_of!(RoundTrips<R>, once_from);

    /// `initial_rtt`: the estimate before the first sample.
    pub(super) fn new(config: &Config, initial_rtt: Time) -> Self {
        let estimator = R::new(initial_rtt, config.min_rto);
        RoundTrips {
            settled_rto: estimator.rto(config.clock_granularity, config.min_rto),
            estimator,
            once_from: Seq(0),
            history: Ring::default(),
            longest: 0,
            rto: Time::ZERO,
            granularity: config.clock_granularity,
            min_rto: config.min_rto,
            round_end: None,
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

    /// Nothing could give a sample, unless it has been sent once.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.history.is_empty()
    }

    /// An ACK may cover something that could give a sample; mostly, at a receiver and in recovery, it does not.
    #[inline(always)]
    pub(super) fn may_cover(&self, ack: Seq, scoreboard: &Scoreboard) -> bool {
        self.history.first().map_or(ack > scoreboard.head(), |first| first.end() <= ack)
    }

    /// What is in flight gives no sample any more.
    pub(super) fn forget_flight(&mut self, scoreboard: &Scoreboard) {
        self.history.clear();
        self.once_from = scoreboard.high();
    }

    /// At most `len` bytes from `seq` on are about to be sent.  If they were before, as segments that may become others
    /// now, these are remembered as they are.
    #[inline]
    pub(super) fn keep(&mut self, seq: Seq, len: u32, scoreboard: &Scoreboard) {
        if R::OF_DELIVERIES {
            return;
        }
        if seq < scoreboard.high() && seq + len > self.once_from {
            self.keep_all(scoreboard);
        }
    }

    #[inline(never)]
    fn keep_all(&mut self, scoreboard: &Scoreboard) {
        for segment in scoreboard.from(self.once_from) {
            self.push(Sent::once(segment));
        }
        self.once_from = scoreboard.high();
    }

    fn push(&mut self, sent: Sent) {
        if self.history.is_empty() {
            self.longest = 0;
        }
        self.longest = self.longest.max(sent.len);
        self.history.push_back(sent);
    }

    /// The RTO that follows from the estimate, which no timeout has doubled.
    pub(super) fn restart_rto(&mut self) {
        self.rto = self.settled_rto;
    }

    /// The handshake has given no sample (RFC 6298 section 5.7).
    pub(super) fn fall_back(&mut self) {
        (self.settled_rto, self.rto) = (WITHOUT_SAMPLE, WITHOUT_SAMPLE);
    }

    /// SRTT and its variation, without a lower bound.
    pub(super) fn timeout(&self) -> Time {
        self.estimator.timeout(self.granularity)
    }

    /// A SYN is sent for the first time.
    pub(super) fn on_syn_sent(&mut self, seq: Seq, time: Time) {
        self.push(Sent { seq, len: 0, time, retransmitted: false });
    }

    /// When it was, until it is acknowledged.
    pub(super) fn syn_sent(&self) -> Option<Time> {
        self.history.first().map(|syn| syn.time)
    }

    /// Where deliveries give the samples, the history has the SYN alone.
    fn mark_syn(&mut self) {
        if let Some(syn) = self.history.get_mut(0) {
            syn.retransmitted = true;
        }
    }

    pub(super) fn on_retransmitted(&mut self, seq: Seq, len: u32) {
        if R::OF_DELIVERIES {
            return self.mark_syn();
        }
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

    /// A sample for the oldest segment that was not acknowledged; `tcb.last_rtt` is that of the newest
    /// one that this ACK covers.  `of_echo`: what the ACK's timestamp echo says, if it has one.  What it acknowledges is
    /// still in the scoreboard.
    #[inline(never)]
    pub(super) fn on_ack(
        &mut self,
        ack: Seq,
        of_echo: Option<Time>,
        scoreboard: &Scoreboard,
        tcb: &mut Tcb,
    ) {
        let now = tcb.now;
        if let Some(acked) = self.acked(ack, scoreboard) {
            let rtt = |sent: Sent| match R::OF_DELIVERIES && !sent.retransmitted {
                true => Some(by_clock(sent.time, now)), // of a SYN
                false => sent.rtt(of_echo, now),
            };
            self.sample(ack, acked.map(rtt), tcb);
        }
    }

    /// Whether all that was sent from `head` on has been sent once.
    #[inline(always)]
    pub(super) fn is_clear_from(&self, head: Seq) -> bool {
        self.history.is_empty() && head >= self.once_from
    }

    /// The same as [`RoundTrips::on_ack`] where that is so: the segments that left at these times are acknowledged, from
    /// the first to the last.
    #[inline(always)]
    pub(super) fn on_clear_ack(
        &mut self,
        ack: Seq,
        left: [Time; 2],
        of_echo: Option<Time>,
        tcb: &mut Tcb,
    ) {
        self.once_from = ack;
        self.sample(ack, left.map(|left| rtt(left, of_echo, tcb.now)), tcb);
    }

    /// The same of what an ACK delivers.
    pub(super) fn on_deliveries(&mut self, ack: Seq, found: RoundTrip, tcb: &mut Tcb) {
        let least = found.newest.map_or(tcb.min_rtt, |newest| newest.min(tcb.min_rtt));
        self.sample(ack, [found.sample, found.newest], tcb);
        tcb.min_rtt = least;
    }

    /// Of the oldest segment that was not acknowledged, and of the newest that is now.
    #[inline(always)]
    fn sample(&mut self, ack: Seq, [oldest, newest]: [Option<Time>; 2], tcb: &mut Tcb) {
        if let Some(last) = newest {
            tcb.last_rtt = last;
        }
        if let Some(rtt) = oldest {
            self.estimator.measure(rtt);
            if R::HAS_ROUNDS && self.round_end.is_none_or(|end| ack > end) {
                // The first sample begins a round, and ends none.
                if self.round_end.replace(tcb.high_tx_mark).is_some() {
                    self.estimator.on_round();
                }
            }
            self.settle();
            self.restart_rto();
            tcb.srtt = self.estimator.srtt();
            tcb.min_rtt = tcb.min_rtt.min(tcb.srtt);
        }
    }

    /// The first and the last segment that an ACK covers.
    fn acked(&mut self, ack: Seq, scoreboard: &Scoreboard) -> Option<[Sent; 2]> {
        let mut acked = None;
        while let Some(&entry) = self.history.first().filter(|entry| entry.end() <= ack) {
            self.history.drop_front();
            acked = Some([acked.map_or(entry, |[first, _]: [Sent; 2]| first), entry]);
        }
        if !self.history.is_empty() {
            return acked;
        }
        if acked.is_some_and(|[_, last]| last.len == 0) {
            // A SYN: most connections remember nothing else here.
            self.history = Ring::default();
        }
        for segment in scoreboard.from(self.once_from).take_while(|segment| segment.end() <= ack) {
            let entry = Sent::once(segment);
            self.once_from = segment.end();
            acked = Some([acked.map_or(entry, |[first, _]| first), entry]);
        }
        acked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::bench;
    use crate::host::tcp::rtt::Windowed;

    /// What a kernel did (7.3.4) with the SYN's sample and the first two of data, in us, and its timeouts in ms.
    #[test]
    fn the_first_sample_ends_no_round() {
        let mut tcb = Tcb { high_tx_mark: Seq(1), ..Tcb::default() };
        let config = bench::config(&[("MinRto", "200ms")]);
        let mut round_trips = RoundTrips::<Windowed>::new(&config, Time::from_secs(1));
        for (ack, sample, rto) in [(1, 800_059, 2401), (1449, 808_314, 2402), (2897, 808_887, 2403)]
        {
            round_trips.sample(Seq(ack), [Some(Time(sample * 1000)), None], &mut tcb);
            assert_eq!(round_trips.rto, Time::from_ms(rto));
            tcb.high_tx_mark = Seq(14_481);
        }
    }
}
