//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation; ns-3's `TcpRateLinux`).
//!
//! Each segment remembers what had been delivered when it was sent; when it is delivered itself, the
//! difference over the longer of the send and the ACK interval is a sample.

use crate::base::time::{Rate, Time};

/// What is known of the connection's delivery since its start (ns-3's `TcpRateConnection`).
#[derive(Clone, Copy, Debug, Default)]
pub struct RateConnection {
    /// Bytes delivered so far.
    pub delivered: u64,
    /// Bytes found lost so far; what is retransmitted and lost again counts again.
    pub lost: u64,
    /// When the last of them were.
    pub delivered_time: Time,
    /// When the segment that was delivered last had been sent.
    pub first_sent_time: Time,
    /// Delivered bytes at which the present application-limited phase ends; 0 outside of one.
    pub app_limited: u64,
    /// Bytes and time of the sample with the highest rate, or of the last that was not limited by the
    /// application; whether that one was.
    pub rate_delivered: i32,
    pub rate_interval: Time,
    pub rate_app_limited: bool,
}

/// The rate sample that one ACK yields (ns-3's `TcpRateSample`).
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample {
    /// `delivered` over `interval`; of an earlier sample, if this one is limited by the application and
    /// lower.
    pub delivery_rate: Rate,
    /// The application, not the window, limited what was sent.
    pub is_app_limited: bool,
    /// The longer of the two phases below; 0 if the sample is of no use.
    pub interval: Time,
    /// Bytes delivered over the interval; -1 without timing information.
    pub delivered: i32,
    /// `RateConnection::delivered` when the sampled segment was sent, in bytes.
    pub prior_delivered: u64,
    /// `RateConnection::delivered_time` when the sampled segment was sent; 0 without a sample.
    pub prior_time: Time,
    /// Between the sending of the segment delivered at `prior_time` and of the sampled one.
    pub send_elapsed: Time,
    /// From `prior_time` to the delivery of the sampled segment.
    pub ack_elapsed: Time,
    /// By how many bytes this ACK changed what counts as lost.
    pub bytes_loss: u32,
    /// Bytes in flight before this ACK.
    pub prior_in_flight: u32,
    /// Bytes that this ACK has newly acknowledged or SACKed.
    pub acked_sacked: u32,
    /// Bytes found lost since the ACK before.
    pub newly_lost: u32,
    /// From the departure to the acknowledgement of the segment that was sent last among those that this ACK has
    /// newly acknowledged or SACKed.  None if one of them was retransmitted: the ACK may be the original's (Karn's
    /// algorithm, RFC 6298 section 3).
    pub rtt: Option<Time>,
    /// Of the sampled segment: bytes in flight before it left, and found lost from then on (the draft's RS.tx_in_flight less the
    /// segment, and RS.lost).
    pub tx_in_flight: u32,
    pub lost: u32,
    /// [`SentRate::lost`] of it.
    pub prior_lost: u32,
}

/// How samples are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// As ns-3 does.
    Ns3,
    /// The draft's, and the round trip is wanted, too.
    Draft,
    /// The draft's by Linux's clock, each ACK for itself.
    Linux,
}

/// A sample under construction.
#[derive(Clone, Debug)]
struct Sampling {
    sample: RateSample,
    law: Law,
    /// See [`RateSample::rtt`]; `Time::MAX` without a segment.
    rtt: Time,
    /// The least so far.
    least_rtt: Time,
    /// One of the segments was retransmitted.
    is_ambiguous: bool,
}

/// What one ACK says, as an algorithm is told it (Linux's `ack_sample` and `rate_sample`).
#[derive(Clone, Copy, Debug)]
pub struct AckSample<'a> {
    pub connection: &'a RateConnection,
    pub rate: &'a RateSample,
}

/// What a segment remembers of the connection when it was sent last.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentRate {
    /// Bytes delivered until then.
    pub delivered: u64,
    /// When the last of them were.
    pub delivered_time: Time,
    /// [`RateConnection::first_sent_time`] then.
    pub first_sent: Time,
    pub app_limited: bool,
    /// Bytes in flight right after it left, and found lost until then (modulo 2^32); only where round trips are wanted.
    pub tx_in_flight: u32,
    pub lost: u32,
}

/// What is on its way, and what the window allows; all in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Pipe {
    pub cwnd: u32,
    /// Sent and neither acknowledged, SACKed nor deemed lost.
    pub in_flight: u32,
    /// Deemed lost, and what of it has been sent again.
    pub lost: u32,
    pub retransmitted: u32,
    pub segment_size: u32,
}

/// An ACK that has been taken in; all in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Newly acknowledged or SACKed.
    pub delivered: u32,
    /// By how much it changed what counts as lost.
    pub lost_change: u32,
    /// Found lost so far.
    pub lost: u64,
    /// In flight before it.
    pub prior_in_flight: u32,
}

/// Keeps what is delivered, and what somebody is told of it.
#[derive(Clone, Debug, Default)]
pub struct RateEstimator {
    /// Bytes delivered so far.
    delivered: u64,
    /// None: nobody asks; what is delivered is counted, and no more.
    told: Option<Box<Told>>,
}

/// The connection's counters and the sample under construction, for who is told of them with each ACK.
#[derive(Clone, Debug, Default)]
#[repr(C)] // in the order in which they are needed
struct Told {
    connection: RateConnection,
    /// None: it is told of [`RateConnection`] alone.
    sampling: Option<Sampling>,
}

/// What counts only, where nothing is sampled.
const NO_SAMPLE: &RateSample = &RateSample {
    delivery_rate: Rate(0),
    is_app_limited: false,
    interval: Time::ZERO,
    delivered: -1,
    prior_delivered: 0,
    prior_time: Time::ZERO,
    send_elapsed: Time::ZERO,
    ack_elapsed: Time::ZERO,
    bytes_loss: 0,
    prior_in_flight: 0,
    acked_sacked: 0,
    newly_lost: 0,
    rtt: None,
    tx_in_flight: 0,
    lost: 0,
    prior_lost: 0,
};

impl RateEstimator {
    /// With samples, which only rate control needs.
    pub fn sampling(law: Law) -> RateEstimator {
        let sampling = Sampling {
            sample: RateSample::default(),
            law,
            rtt: Time::MAX,
            least_rtt: Time::MAX,
            is_ambiguous: false,
        };
        RateEstimator::telling(Some(sampling))
    }

    /// With an empty sample for each ACK: who controls the window by counts alone.
    pub fn counting() -> RateEstimator {
        RateEstimator::telling(None)
    }

    fn telling(sampling: Option<Sampling>) -> RateEstimator {
        let told = Told { connection: RateConnection::default(), sampling };
        RateEstimator { delivered: 0, told: Some(Box::new(told)) }
    }

    #[inline(always)]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// So many bytes have come twice.
    pub fn count_duplicates(&mut self, bytes: u32) {
        self.delivered += u64::from(bytes);
    }

    /// What a segment remembers that is sent when `in_flight` bytes were, and `lost` had been found lost.
    #[inline]
    pub fn on_sent(&mut self, now: Time, in_flight: u32, lost: u64) -> SentRate {
        let RateEstimator { delivered, told: Some(told) } = self else {
            return SentRate::default();
        };
        let now = told.by_clock(now);
        let connection = &mut told.connection;
        if in_flight == 0 {
            connection.first_sent_time = now;
            connection.delivered_time = now;
        }
        SentRate {
            delivered: *delivered,
            delivered_time: connection.delivered_time,
            first_sent: connection.first_sent_time,
            app_limited: connection.app_limited != 0,
            tx_in_flight: in_flight,
            lost: lost as u32,
        }
    }

    /// A segment of `bytes`, sent last at `last_sent` and not for the first time if it `is_repeated`, is acknowledged or
    /// SACKed for the first time.  `sent`: what it remembers, where samples are asked for.
    #[inline]
    pub fn on_delivered(
        &mut self,
        now: Time,
        bytes: u32,
        last_sent: Time,
        is_repeated: bool,
        sent: Option<&SentRate>,
    ) {
        self.delivered += u64::from(bytes);
        if let Some(sent) = sent
            && let Some(told) = &mut self.told
        {
            let [now, last_sent] = [now, last_sent].map(|time| told.by_clock(time));
            let Told { connection, sampling: Some(sampling) } = &mut **told else { return };
            let is_newest = if sampling.law != Law::Ns3 {
                // The draft's IsNewestPacket.
                let is_newest =
                    sampling.rtt == Time::MAX || last_sent >= connection.first_sent_time;
                if is_newest {
                    sampling.sample.tx_in_flight = sent.tx_in_flight;
                    sampling.sample.prior_lost = sent.lost;
                }
                sampling.rtt = sampling.rtt.min(now - last_sent);
                sampling.is_ambiguous |= is_repeated;
                is_newest
            } else {
                // ns-3's, by which of two segments that left between the same ACKs the first counts.
                let prior = sampling.sample.prior_delivered as u32;
                prior == 0 || sent.delivered > u64::from(prior)
            };
            connection.delivered_time = now;
            if is_newest {
                sampling.sample.measure(connection, now, last_sent, sent);
            }
        }
    }

    /// The application writes: less than one segment to send, window open and nothing left to
    /// retransmit mean that the application limits the rate.
    ///
    /// `unsent`: bytes that are written and have not been sent; below 0 after a FIN.
    #[inline]
    pub fn check_app_limited(&mut self, unsent: i32, pipe: Pipe) {
        if !self.is_sampling() {
            return;
        }
        let has_room = pipe.in_flight < pipe.cwnd;
        if unsent < pipe.segment_size as i32 && has_room && pipe.lost <= pipe.retransmitted {
            self.limit_by_application(pipe.in_flight);
        }
    }

    /// Somebody asks for samples.
    #[inline(always)]
    pub fn is_sampling(&self) -> bool {
        self.told.as_ref().is_some_and(|told| told.sampling.is_some())
    }

    /// Somebody asks for samples or counts.
    #[inline(always)]
    pub fn tells(&self) -> bool {
        self.told.is_some()
    }

    /// What is sent until what is in flight is delivered says nothing of the path's rate.
    pub fn limit_by_application(&mut self, in_flight: u32) {
        let until = self.delivered + u64::from(in_flight);
        if let Some(told) = &mut self.told {
            told.connection.app_limited = told.counted(until).max(1);
        }
    }

    pub fn is_app_limited(&self) -> bool {
        self.told.as_ref().is_some_and(|told| told.connection.app_limited != 0)
    }

    /// What is known after one ACK, and its sample.  None, if nobody asks for samples.
    #[inline]
    pub fn sample(&mut self, ack: Taken, min_rtt: Time) -> Option<AckSample<'_>> {
        let RateEstimator { delivered, told } = self;
        let Told { connection, sampling } = &mut **told.as_mut()?;
        connection.delivered = *delivered;
        let Some(sampling) = sampling else {
            connection.lost = ack.lost;
            return Some(AckSample { connection, rate: NO_SAMPLE });
        };
        let Sampling { sample, law, rtt, least_rtt, is_ambiguous } = sampling;
        if *law != Law::Ns3 {
            let measured = std::mem::replace(rtt, Time::MAX);
            let is_clear = !std::mem::take(is_ambiguous);
            sample.rtt = (is_clear && measured != Time::MAX).then_some(measured);
            sample.newly_lost = (ack.lost - connection.lost) as u32;
            sample.lost = (ack.lost as u32).wrapping_sub(sample.prior_lost);
            connection.lost = ack.lost;
            *least_rtt = (*least_rtt).min(sample.rtt.unwrap_or(Time::MAX));
        }
        // ns-3's least round trip is smoothed, and may be longer than this one.
        let min_rtt = if *law == Law::Draft { *least_rtt } else { min_rtt };
        sample.acked_sacked = ack.delivered;
        sample.bytes_loss = ack.lost_change;
        sample.prior_in_flight = ack.prior_in_flight;
        sample.finish(connection, min_rtt);
        Some(AckSample { connection, rate: sample })
    }

    /// An ACK is about to be taken in, and so many bytes have been found lost before it.
    #[inline]
    pub fn on_ack_begins(&mut self, lost: u64) {
        if let Some(told) = &mut self.told
            && let Told { connection, sampling: Some(Sampling { law: Law::Linux, sample, .. }) } =
                &mut **told
        {
            connection.lost = lost;
            sample.prior_time = Time::ZERO;
            sample.interval = Time::ZERO;
        }
    }
}

impl Told {
    /// So many bytes as the law can count them.
    fn counted(&self, bytes: u64) -> u64 {
        match &self.sampling {
            Some(Sampling { law: Law::Ns3, .. }) => u64::from(bytes as u32),
            _ => bytes,
        }
    }

    /// A time as the clock says it.
    #[inline(always)]
    fn by_clock(&self, time: Time) -> Time {
        match &self.sampling {
            Some(Sampling { law: Law::Linux, .. }) => Time(time.0 / 1000 * 1000),
            _ => time,
        }
    }
}

impl RateSample {
    /// A segment is delivered: see [`RateEstimator::on_delivered`].
    fn measure(
        &mut self,
        connection: &mut RateConnection,
        now: Time,
        last_sent: Time,
        sent: &SentRate,
    ) {
        self.ack_elapsed = now - sent.delivered_time;
        self.prior_delivered = sent.delivered;
        self.prior_time = sent.delivered_time;
        self.is_app_limited = sent.app_limited;
        self.send_elapsed = last_sent - sent.first_sent;
        connection.first_sent_time = last_sent;
    }

    /// The ACK has been looked at.
    fn finish(&mut self, connection: &mut RateConnection, min_rtt: Time) {
        let sample = self;
        if connection.app_limited != 0 && connection.delivered > connection.app_limited {
            connection.app_limited = 0;
        }
        if sample.prior_time.is_zero() {
            debug_assert!(sample.interval.is_zero(), "forgotten together");
            sample.delivered = -1;
            return;
        }
        // Sending and acknowledging are two phases; the longer one bounds the rate.
        sample.interval = sample.send_elapsed.max(sample.ack_elapsed);
        sample.delivered = (connection.delivered - sample.prior_delivered) as i32;
        if sample.interval < min_rtt {
            sample.interval = Time::ZERO;
            sample.prior_time = Time::ZERO;
            return;
        }
        let this = i64::from(sample.delivered).wrapping_mul(connection.rate_interval.ns());
        let best = i64::from(connection.rate_delivered).wrapping_mul(sample.interval.ns());
        if !sample.is_app_limited || this >= best {
            connection.rate_delivered = sample.delivered;
            connection.rate_interval = sample.interval;
            connection.rate_app_limited = sample.is_app_limited;
            let bits_per_second = f64::from(sample.delivered) * 8.0 / sample.interval.secs_f64();
            sample.delivery_rate = Rate(bits_per_second as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1_000;
    const MIN_RTT: Time = Time::from_ms(10);

    fn at(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    #[test]
    fn who_counts_is_told_what_is_delivered_and_lost_and_no_rate() {
        let taken = Taken { delivered: MSS, lost_change: MSS, lost: 3000, prior_in_flight: MSS };
        let mut rate = RateEstimator::counting();
        assert!(rate.tells() && !rate.is_sampling());
        let sent = rate.on_sent(at(0), 0, 0);
        rate.on_delivered(at(10), MSS, at(0), false, Some(&sent));
        let told = rate.sample(taken, MIN_RTT).unwrap();
        assert_eq!((told.connection.delivered, told.connection.lost), (u64::from(MSS), 3000));
        assert_eq!((told.rate.delivered, told.rate.rtt, told.rate.acked_sacked), (-1, None, 0));
        let mut nobody = RateEstimator::default();
        assert!(!nobody.tells() && nobody.sample(taken, MIN_RTT).is_none());
    }

    /// An ACK of one segment.
    fn ack(rate: &mut RateEstimator, now: Time, last_sent: Time, sent: SentRate) -> RateSample {
        rate.on_delivered(now, MSS, last_sent, false, Some(&sent));
        let taken = Taken { delivered: MSS, lost_change: 0, lost: 0, prior_in_flight: MSS };
        *rate.sample(taken, MIN_RTT).unwrap().rate
    }

    #[test]
    fn a_sample_is_what_was_delivered_over_the_longer_phase() {
        let mut rate = RateEstimator::sampling(Law::Draft);
        let first = rate.on_sent(at(1), 0, 0);
        let second = rate.on_sent(at(2), MSS, 0);
        ack(&mut rate, at(21), at(1), first);
        let sample = ack(&mut rate, at(25), at(2), second);
        assert_eq!((sample.send_elapsed, sample.ack_elapsed), (at(1), at(24)));
        assert_eq!((sample.delivered, sample.interval), (2_000, at(24)));
        assert_eq!(sample.delivery_rate, Rate(2_000 * 8 * 1_000 / 24));
    }

    /// Less than a round trip is none; and what delivers nothing gives no other.
    #[test]
    fn what_is_of_no_use_has_no_interval() {
        let mut rate = RateEstimator::sampling(Law::Ns3);
        let first = rate.on_sent(at(1), 0, 0);
        let early = ack(&mut rate, at(5), at(1), first);
        assert_eq!((early.delivered, early.interval), (1_000, Time::ZERO));
        let nothing = Taken { delivered: 0, lost_change: 0, lost: 0, prior_in_flight: MSS };
        let again = rate.sample(nothing, MIN_RTT).unwrap().rate;
        assert_eq!((again.delivered, again.interval), (-1, Time::ZERO));
        let second = rate.on_sent(at(26), 0, 0);
        assert_eq!(ack(&mut rate, at(46), at(26), second).interval, at(20));
    }

    #[test]
    fn the_round_trip_is_of_the_segment_that_left_last() {
        let mut rate = RateEstimator::sampling(Law::Draft);
        let first = rate.on_sent(at(1), 0, 0);
        let second = rate.on_sent(at(3), MSS, 0);
        rate.on_delivered(at(25), MSS, at(1), false, Some(&first));
        assert_eq!(ack(&mut rate, at(25), at(3), second).rtt, Some(at(22)));
        let third = rate.on_sent(at(30), 0, 0);
        assert_eq!(ack(&mut rate, at(51), at(30), third).rtt, Some(at(21)));
    }

    #[test]
    fn a_retransmission_leaves_the_ack_without_a_round_trip() {
        let mut rate = RateEstimator::sampling(Law::Draft);
        let again = rate.on_sent(at(1), 0, 0);
        let second = rate.on_sent(at(3), MSS, 0);
        rate.on_delivered(at(25), MSS, at(1), true, Some(&again));
        assert_eq!(ack(&mut rate, at(25), at(3), second).rtt, None);
        let nothing = Taken { delivered: 0, lost_change: 0, lost: 0, prior_in_flight: 0 };
        assert_eq!(rate.sample(nothing, MIN_RTT).unwrap().rate.rtt, None);
    }

    #[test]
    fn what_was_found_lost_counts_once() {
        let mut rate = RateEstimator::sampling(Law::Draft);
        let mut lost = |lost| {
            let taken = Taken { delivered: 0, lost_change: 0, lost, prior_in_flight: 0 };
            rate.sample(taken, MIN_RTT).unwrap().rate.newly_lost
        };
        assert_eq!([lost(2_000), lost(2_000), lost(5_000)], [2_000, 0, 3_000]);
    }

    /// ns-3 counts both in 32 bits; the draft does not.
    #[test]
    fn a_sample_after_four_gigabytes_is_as_before() {
        let mut rate = RateEstimator::sampling(Law::Draft);
        rate.count_duplicates(u32::MAX);
        rate.count_duplicates(u32::MAX);
        let segment = rate.on_sent(at(1), 0, 0);
        rate.limit_by_application(2 * MSS);
        let sample = ack(&mut rate, at(21), at(1), segment);
        assert_eq!((sample.prior_delivered, sample.delivered), (2 * u64::from(u32::MAX), 1_000));
        assert!(rate.is_app_limited(), "half of what was in flight is delivered");
    }

    /// The phase covers all that is in flight when it begins, and ends with the first ACK beyond.
    #[test]
    fn an_application_limits_until_more_than_the_flight_is_delivered() {
        let mut rate = RateEstimator::sampling(Law::Draft);
        let segments = [at(1), at(2), at(3)].map(|now| (now, rate.on_sent(now, MSS, 0)));
        let pipe = Pipe {
            cwnd: 10 * MSS,
            in_flight: 2 * MSS,
            lost: 0,
            retransmitted: 0,
            segment_size: MSS,
        };
        rate.check_app_limited(0, pipe);
        let mut is_limited = Vec::new();
        for (sent, segment) in segments {
            ack(&mut rate, sent + at(20), sent, segment);
            is_limited.push(rate.on_sent(at(30), MSS, 0).app_limited);
        }
        assert_eq!(is_limited, [true, true, false]);
    }
}
