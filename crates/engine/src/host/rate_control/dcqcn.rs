//! DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3).
//!
//! ```text
//! notification:   R_T = R_C    R_C = max(R_C (1 - alpha / 2), R_min)    alpha = (1 - g) alpha + g    T = BC = 0
//! each K without: alpha = (1 - g) alpha
//! each timer, T += 1, or byte counter, BC += 1:
//!   max(T, BC) <= F:              R_C = (R_T + R_C) / 2                          fast recovery
//!   or else, min(T, BC) <= F:     R_T = R_T + R_AI,     R_C = (R_T + R_C) / 2    additive increase
//!   or else:                      R_T = R_T + R_HAI,    R_C = (R_T + R_C) / 2    hyper increase
//! ```
//!
//! A sender begins at the rate of its link, L, with alpha 1, and alpha and both counters wait for the first notification;
//! neither R_T nor R_C is above L.
//!
//! The paper's pseudocode compares with F before or after counting, which it leaves open; here there are F steps of fast recovery,
//! as its fluid model has them.  R_AI, R_HAI and R_min are shares of L, so that another rate needs no other parameters: the paper's
//! 40 Mbps at 40 Gbps are 0.001.

use super::law::RateControl;
use super::recovery::{Recovery, Step};
use crate::base::attributes::{Attributes, FRACTION, Kind, Spec, param};
use crate::base::time::{Rate, Time};
use crate::host::path::Path;

pub const SPEC: Spec = Spec {
    ns3: "Dcqcn",
    linux: &["dcqcn"],
    is_in_linux: false,
    doc: "Rates cut by notifications of congestion, and recovered by halves.",
    source: "Zhu et al., ACM SIGCOMM 2015",
    departures: &[],
    params: &[
        param!["G"; FRACTION => "0.00390625"; "g, the weight of a notification in alpha."],
        param!["NotificationInterval"; Kind::Time => "50us";
            "N, between two notifications (CNP) of a flow."],
        param!["AlphaTimer"; Kind::Period => "55us"; "K, after which alpha decays."],
        param!["IncreaseTimer"; Kind::Period => "55us"; "T, between two increases by time."],
        param!["ByteCounter"; Kind::Uint { min: 1, max: u32::MAX as u64 } => "10000000";
            "B, bytes between two increases by bytes."],
        param!["FastRecoverySteps"; Kind::Uint { min: 0, max: 1000 } => "5";
            "F, steps of fast recovery."],
        param!["AdditiveIncrease"; FRACTION => "0.001"; "R_AI, as a share of the link's rate."],
        param!["HyperIncrease"; FRACTION => "0.01"; "R_HAI, as a share of the link's rate."],
        param!["MinRate"; FRACTION => "0.0025"; "The least rate, as a share of the link's rate."],
    ],
};

pub(super) const BELOW: &[[&str; 2]] = &[];

/// Alpha below this is 0.
const NEGLIGIBLE: f64 = 1e-12;

#[derive(Debug)]
pub struct Dcqcn {
    recovery: Recovery,
    alpha: f64,
    /// When it changed last; none before the first notification.
    alpha_at: Option<Time>,
    /// When the timer fires, while there is something to recover.
    due: Option<Time>,
    /// Bytes since the byte counter's last step, and the steps of both.
    bytes: u64,
    byte_steps: u32,
    timer_steps: u32,
    g: f64,
    interval: Time,
    alpha_timer: Time,
    timer: Time,
    byte_counter: u64,
    fast_steps: u32,
}

pub(super) fn new(a: &Attributes<'_>, path: &Path) -> Dcqcn {
    Dcqcn {
        recovery: Recovery::new(a, path),
        alpha: 1.0,
        alpha_at: None,
        due: None,
        bytes: 0,
        byte_steps: 0,
        timer_steps: 0,
        g: a.f64("G"),
        interval: a.time("NotificationInterval"),
        alpha_timer: a.time("AlphaTimer"),
        timer: a.time("IncreaseTimer"),
        byte_counter: a.u32("ByteCounter").into(),
        fast_steps: a.u32("FastRecoverySteps"),
    }
}

impl Dcqcn {
    /// Alpha decays once for each of its timers that is over.
    fn age(&mut self, now: Time) {
        let Some(since) = self.alpha_at else { return };
        let mut steps = (now - since).0 / self.alpha_timer.0;
        while steps > 0 && self.alpha > NEGLIGIBLE {
            self.alpha *= 1.0 - self.g;
            steps -= 1;
        }
    }

    fn increase(&mut self) {
        let (most, least) =
            (self.timer_steps.max(self.byte_steps), self.timer_steps.min(self.byte_steps));
        self.recovery.recover(match self.fast_steps {
            fast if least > fast => Step::Hyper,
            fast if most > fast => Step::Additive,
            _ => Step::Fast,
        });
    }
}

impl RateControl for Dcqcn {
    fn rate(&self) -> Rate {
        self.recovery.rate()
    }

    fn on_notification(&mut self, now: Time) {
        self.age(now);
        self.recovery.aim_here();
        self.recovery.cut(self.alpha);
        self.alpha = (1.0 - self.g) * self.alpha + self.g;
        self.alpha_at = Some(now);
        (self.bytes, self.byte_steps, self.timer_steps) = (0, 0, 0);
        self.due = Some(now + self.timer);
    }

    fn on_sent(&mut self, bytes: u32) {
        if self.due.is_none() {
            return;
        }
        self.bytes += u64::from(bytes);
        while self.bytes >= self.byte_counter {
            self.bytes -= self.byte_counter;
            self.byte_steps += 1;
            self.increase();
        }
    }

    fn due(&self) -> Option<Time> {
        self.due
    }

    fn on_timer(&mut self, now: Time) {
        self.timer_steps += 1;
        self.increase();
        self.due = (!self.recovery.is_whole()).then(|| now + self.timer);
    }

    fn notification_interval(&self) -> Option<Time> {
        Some(self.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, given};
    use super::*;

    const LINE: f64 = 40e9;

    fn sender(values: &[(&str, &str)]) -> Dcqcn {
        let path = Path { line: Rate(LINE as u64), rtt: us(5), switches: 1, packet: 1046 };
        new(&Attributes::new(&SPEC, &given(values)), &path)
    }

    fn us(us: u64) -> Time {
        Time(us * 1000)
    }

    fn power(base: f64, n: u64) -> f64 {
        (0..n).fold(1.0, |power, _| power * base)
    }

    #[test]
    fn alpha_follows_its_closed_form_under_notifications_and_without() {
        let g: f64 = 1.0 / 256.0;
        let mut rp = sender(&[]);
        rp.on_notification(us(0));
        close(rp.alpha, 1.0); // (1 - g) 1 + g
        // n timers without a notification: (1 - g)^n.
        for n in [1, 3, 100] {
            let mut rp = sender(&[]);
            rp.on_notification(us(0));
            rp.age(us(55 * n));
            close(rp.alpha, power(1.0 - g, n));
            // A nanosecond before it is one less.
            let mut early = sender(&[]);
            early.on_notification(us(0));
            early.age(Time(us(55 * n).0 - 1));
            close(early.alpha, power(1.0 - g, n - 1));
        }
        // Below: notifications every 50 us never let it decay.
        let mut rp = sender(&[]);
        (0..50).for_each(|n| rp.on_notification(us(50 * n)));
        close(rp.alpha, 1.0);
    }

    #[test]
    fn a_notification_cuts_by_half_of_alpha_and_not_below_the_least_rate() {
        let mut rp = sender(&[]);
        for n in 1..=5 {
            rp.on_notification(us(50 * n));
            close(rp.recovery.current, LINE / power(2.0, n));
            close(rp.recovery.target, LINE / power(2.0, n - 1));
        }
        (6..30).for_each(|n| rp.on_notification(us(50 * n)));
        close(rp.recovery.current, LINE * 0.0025);
        // With a small alpha it cuts little: after 1000 timers (1 - g)^1000.
        let mut rp = sender(&[]);
        rp.on_notification(us(0));
        let before = rp.recovery.current;
        rp.on_notification(us(55_000));
        close(rp.recovery.current, before * (1.0 - power(255.0 / 256.0, 1000) / 2.0));
    }

    #[test]
    fn fast_recovery_halves_the_distance_five_times_and_then_the_target_grows() {
        let mut rp = sender(&[]);
        rp.on_notification(us(0));
        rp.on_notification(us(1)); // R_C = L/4, R_T = L/2
        for n in 1..=5 {
            let due = rp.due().unwrap();
            assert_eq!(due, us(1 + 55 * n));
            rp.on_timer(due);
            close(rp.recovery.current, LINE / 2.0 - LINE / 4.0 / power(2.0, n));
            close(rp.recovery.target, LINE / 2.0);
        }
        for n in 1..=3 {
            rp.on_timer(rp.due().unwrap());
            close(rp.recovery.target, LINE / 2.0 + f64::from(n) * LINE * 0.001);
        }
    }

    #[test]
    fn when_both_counters_are_beyond_fast_recovery_the_increase_is_hyper() {
        let mut rp = sender(&[("ByteCounter", "1000")]);
        rp.on_notification(us(0));
        rp.on_notification(us(1));
        rp.on_sent(999);
        assert_eq!(rp.byte_steps, 0);
        rp.on_sent(4001); // five steps of bytes
        close(rp.recovery.target, LINE / 2.0);
        rp.on_sent(1000);
        close(rp.recovery.target, LINE * 0.501);
        (0..5).for_each(|_| rp.on_timer(rp.due().unwrap()));
        close(rp.recovery.target, LINE * 0.506); // more than F steps of one, not of both
        rp.on_timer(rp.due().unwrap());
        close(rp.recovery.target, LINE * 0.516);
        rp.on_notification(us(600));
        assert_eq!((rp.bytes, rp.byte_steps, rp.timer_steps), (0, 0, 0));
    }

    #[test]
    fn it_recovers_to_the_rate_of_the_link_and_rests_there() {
        let mut rp = sender(&[]);
        assert_eq!((rp.rate().0 as f64, rp.due()), (LINE, None));
        rp.on_sent(100_000_000);
        assert_eq!(rp.byte_steps, 0);
        rp.on_notification(us(0));
        let mut steps = 0;
        while let Some(due) = rp.due() {
            rp.on_timer(due);
            assert!(rp.recovery.current <= LINE && rp.recovery.target <= LINE);
            steps += 1;
        }
        // Half of the link by halves down to a bit per second: log2(20e9).
        assert_eq!(steps, 35);
        assert!(LINE - rp.recovery.current < 1.0);
    }
}
