//! When hosts take a path for failed: the failure detector of Hermes (H. Zhang et al., ACM SIGCOMM 2017, sections 3.1.2
//! and 5.3.3) as a statistical test.
//!
//! The paper judges every tau = 10 ms: more than 1 % retransmissions on a path that is not congested is a failure.  Of a
//! hundred packets that is two retransmissions, which one reordered flow makes in a healthy network.  Here a failure is
//! what chance does not explain.
//!
//! *What counts.*  A loss event is the first retransmission of an episode: it repeats a segment beyond all that its flow
//! had sent at its last retransmission.  (NewReno that takes one late segment for lost repeats a whole window.  RFC 5348,
//! section 5.2, counts losses of one round trip as one event for the same reason.)  An episode is no evidence against the path
//!
//! * if it begins with a segment that was sent before its flow moved: it may have been overtaken;
//! * if marks say that a queue overflowed, on the path or behind the last leaf: the flow's own share of marks is above
//!   `EcnThreshold`;
//! * if it repeats a bare FIN: ns-3's timer in LAST_ACK is shorter than a round trip.
//!
//! *The test.*  Page's cumulative sum (E. S. Page, Biometrika 41, 1954), for each path of a pair of racks.  Every tau, with n
//! packets and k loss events on the path, N and K on the pair's other paths:
//!
//! ```text
//! p0 = max(0.1 %, K / N)      a healthy path, which is as good as the others
//! p1 = 10 p0                  a lossy one: the paper's 1 %
//! S  = max(0, S + k ln(p1 / p0) + (n - k) ln((1 - p1) / (1 - p0)))      unless the path is congested
//! failed: S > ln 10^6
//! ```
//!
//! A path that loses 0.1 % fails once in more than 10^6 packets (G. Lorden, Annals of Mathematical Statistics 42, 1971); in
//! `hermes_symmetric` they lose 0.001 %.  Of a spine that drops 2 %, 1.3 % are seen as loss events, since losses of one
//! flight are one; it is found after some ln 10^6 / 0.0203 = 680 packets of a pair, and never if the others lose as much.
//!
//! *Forgiveness.*  A failure lasts `FailedTime`, and twice as long as the last time if the path fails again before it was in use
//! for as long as it had been failed.

use crate::base::math;
use crate::base::time::Time;

/// The loss rate of a healthy path, where the others are no worse.
const HEALTHY: f64 = 0.001;
/// A lossy path loses so many times what a healthy one loses.
const TIMES: f64 = 10.0;
/// Beyond this the path has failed: ln 10^6.
const CERTAIN: f64 = 13.815_510_557_964_274;

/// What speaks against a path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence {
    /// Packets in the present period, and loss events among them.
    pub sent: u32,
    pub lost: u32,
    /// The cumulative sum, in nats.
    score: f64,
}

impl Evidence {
    pub fn note(&mut self, is_lost: bool) {
        self.sent += 1;
        self.lost += u32::from(is_lost);
    }

    /// A period is over.  `others`: packets and loss events on the other paths.  Returns whether the path has failed.
    pub fn judge(&mut self, others: [u32; 2], is_congested: bool) -> bool {
        let (sent, lost) = (std::mem::take(&mut self.sent), std::mem::take(&mut self.lost));
        if is_congested {
            return false;
        }
        let [sent, lost, other_sent, other_lost] =
            [sent, lost, others[0], others[1]].map(f64::from);
        let healthy = HEALTHY.max(other_lost / other_sent.max(1.0)).min(1.0 / (TIMES + 1.0));
        let lossy = TIMES * healthy;
        let against = lost * math::ln(lossy / healthy);
        let for_it = (sent - lost) * math::ln((1.0 - healthy) / (1.0 - lossy));
        self.score = (self.score + against - for_it).max(0.0);
        if self.score <= CERTAIN {
            return false;
        }
        self.score = 0.0;
        true
    }
}

/// Until when a path counts as failed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failure {
    until: Time,
    length: Time,
}

impl Failure {
    pub fn lasts(&self, now: Time) -> bool {
        now < self.until
    }

    /// The path fails, for `length` the first time.
    pub fn begin(&mut self, now: Time, length: Time) {
        let is_relapse = now.0 < self.until.0.saturating_add(self.length.0);
        self.length = if is_relapse { Time(self.length.0.saturating_mul(2)) } else { length };
        self.until = Time(now.0.saturating_add(self.length.0));
    }
}

/// A path that was found to have failed.
#[derive(Clone, Copy, Debug)]
pub struct FailedPath {
    pub at: Time,
    pub until: Time,
    /// For whom, and where to.
    pub between: Between,
    pub path: u32,
}

/// Whom a failure concerns, which also is its reason.
#[derive(Clone, Copy, Debug)]
pub enum Between {
    /// Random drops: two racks, by their leaves.
    Leaves([u32; 2]),
    /// A black hole: two hosts, by their nodes.
    Hosts([u32; 2]),
}

impl FailedPath {
    pub fn new(at: Time, failure: &Failure, between: Between, path: u32) -> Self {
        FailedPath { at, until: failure.until, between, path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::RngStream;

    /// Of a path that loses `percent` in periods of `sent` packets: after which it has failed, of at most `periods`.
    fn fails_after(percent: f64, others: [u32; 2], sent: u32, periods: u32) -> Option<u32> {
        let mut stream = RngStream::new(1, 1, 7);
        let mut evidence = Evidence::default();
        (1..=periods).find(|_| {
            (0..sent).for_each(|_| evidence.note(stream.uniform(0.0, 100.0) < percent));
            evidence.judge(others, false)
        })
    }

    #[test]
    fn a_path_that_loses_two_percent_fails_within_a_thousand_packets() {
        let periods = fails_after(2.0, [4200, 1], 100, 1000).expect("it fails");
        assert!((2..=10).contains(&periods), "after {periods} hundred packets");
    }

    #[test]
    fn a_path_that_loses_half_of_what_a_healthy_one_may_never_fails() {
        assert_eq!(fails_after(0.05, [4200, 0], 600, 20_000), None, "of 12 million packets");
    }

    #[test]
    fn paths_that_all_lose_alike_do_not_fail() {
        assert_eq!(fails_after(2.0, [4200, 84], 600, 2_000), None);
        assert!(
            fails_after(20.0, [4200, 84], 600, 100).is_some(),
            "but one that is far worse does"
        );
    }

    #[test]
    fn two_retransmissions_of_a_hundred_packets_are_no_failure() {
        let mut evidence = Evidence { sent: 100, lost: 2, ..Evidence::default() };
        assert!(!evidence.judge([700, 0], false));
    }

    #[test]
    fn losses_on_a_congested_path_do_not_count() {
        let mut evidence = Evidence { sent: 1000, lost: 500, ..Evidence::default() };
        assert!(!evidence.judge([7000, 0], true));
        assert!(!evidence.judge([7000, 0], false), "nor later");
    }

    #[test]
    fn a_path_that_fails_again_soon_is_left_alone_for_twice_as_long() {
        let (mut failure, ms) = (Failure::default(), |ms: u64| Time(ms * 1_000_000));
        let mut lengths = [5, 110, 320, 2000].map(|at| {
            assert!(!failure.lasts(ms(at)));
            failure.begin(ms(at), ms(100));
            (failure.until.0 - ms(at).0) / 1_000_000
        });
        lengths.sort_unstable();
        assert_eq!(lengths, [100, 100, 200, 400]);
    }
}
