//! DCQCN as network cards have it (NVIDIA's "DCQCN CC parameters" of ConnectX-4 and later, Linux's `mlx5`), as the ns-3 fork of HPCC
//! (Li et al., SIGCOMM 2019) simulates it under the name of DCQCN: what the paper does at a notification a card does by clocks.
//!
//! ```text
//! the first notification:            alpha = 1, and both clocks start
//! each K:                            alpha = (1 - g) alpha + g [notified since the last time]
//! each D, if notified since then:    R_T = R_C, unless the timer has not fired since the last cut and nothing clamps
//!                                    R_C = max(R_C (1 - alpha / 2), R_min),  stage = 0,  the timer starts anew
//! each T:  stage < F:                R_C = (R_T + R_C) / 2                          fast recovery
//!          stage = F:                R_T = R_T + R_AI,     R_C = (R_T + R_C) / 2    additive increase
//!          stage > F:                R_T = R_T + R_HAI,    R_C = (R_T + R_C) / 2    hyper increase;  stage = stage + 1
//! ```
//!
//! So cuts one after another keep the target of the first one, which the paper's law forgets at its second notification, and the first
//! cut comes D after the first notification.
//!
//! A sender begins at the rate of its link, L; neither R_T nor R_C is above L.  R_AI, R_HAI and R_min are shares of L.  Defaults are
//! those of HPCC's simulations.  The cards' byte counter is missing here as it is there, where an ACK says that its packet was
//! marked: each mark is a notification.

use std::cmp::Ordering;

use super::law::RateControl;
use super::recovery::{Recovery, Step};
use crate::base::attributes::{Attributes, FRACTION, Kind, Spec, param};
use crate::base::time::{Rate, Time};
use crate::host::path::Path;

pub const SPEC: Spec = Spec {
    ns3: "DcqcnMlx5",
    linux: &["dcqcn_mlx5"],
    doc: "DCQCN as network cards have it: cuts by a clock, and one target for cuts in a row.",
    source: "NVIDIA, DCQCN CC Parameters; Li et al., ACM SIGCOMM 2019",
    is_in_linux: false,
    departures: &[],
    params: &[
        param!["G"; FRACTION => "0.00390625"; "g, the weight of a period in alpha (1 - dce_tcp_g / 1024)."],
        param!["NotificationInterval"; Kind::Time => "0s";
            "Between two notifications (CNP) of a flow (min_time_between_cnps)."],
        param!["AlphaTimer"; Kind::Period => "1us"; "K, between two updates of alpha (dce_tcp_rtt)."],
        param!["DecreaseInterval"; Kind::Period => "4us";
            "D, between two cuts (rate_reduce_monitor_period)."],
        param!["IncreaseTimer"; Kind::Period => "300us";
            "T, between two increases (rpg_time_reset)."],
        param!["FastRecoverySteps"; Kind::Uint { min: 0, max: 1000 } => "1";
            "F, steps of fast recovery (rpg_threshold)."],
        param!["AdditiveIncrease"; FRACTION => "0.0002";
            "R_AI, as a share of the link's rate (rpg_ai_rate)."],
        param!["HyperIncrease"; FRACTION => "0.002";
            "R_HAI, as a share of the link's rate (rpg_hai_rate)."],
        param!["MinRate"; FRACTION => "0.001";
            "The least rate, as a share of the link's rate (rpg_min_rate)."],
        param!["ClampTargetRate"; Kind::Bool => "false";
            "Every cut makes the rate before it the target (clamp_tgt_rate)."],
    ],
};

pub(super) const BELOW: &[[&str; 2]] = &[];

/// Alpha below this is 0.
const NEGLIGIBLE: f64 = 1e-12;

#[derive(Debug)]
pub struct DcqcnMlx5 {
    recovery: Recovery,
    /// As it was after `alpha_steps` of its clock.
    alpha: f64,
    alpha_steps: u64,
    /// The next step of alpha's clock is after a notification.
    is_alpha_due: bool,
    /// When both clocks started: at the first notification.
    started: Option<Time>,
    /// When the next cut is.
    cut: Option<Time>,
    /// When the timer fires, while there is something to recover, and how often it has since the last cut.
    fires: Option<Time>,
    stage: u32,
    g: f64,
    interval: Time,
    alpha_timer: Time,
    decrease_interval: Time,
    timer: Time,
    fast_steps: u32,
    clamps: bool,
}

pub(super) fn new(a: &Attributes<'_>, path: &Path) -> DcqcnMlx5 {
    DcqcnMlx5 {
        recovery: Recovery::new(a, path),
        alpha: 1.0,
        alpha_steps: 0,
        is_alpha_due: false,
        started: None,
        cut: None,
        fires: None,
        stage: 0,
        g: a.f64("G"),
        interval: a.time("NotificationInterval"),
        alpha_timer: a.time("AlphaTimer"),
        decrease_interval: a.time("DecreaseInterval"),
        timer: a.time("IncreaseTimer"),
        fast_steps: a.u32("FastRecoverySteps"),
        clamps: a.bool("ClampTargetRate"),
    }
}

impl DcqcnMlx5 {
    /// Alpha's clock has gone on until now, since its last step without or with one notification.
    fn age(&mut self, started: Time, now: Time) {
        let steps = (now - started).0 / self.alpha_timer.0;
        while self.alpha_steps < steps && (self.is_alpha_due || self.alpha > NEGLIGIBLE) {
            let notified = if std::mem::take(&mut self.is_alpha_due) { self.g } else { 0.0 };
            self.alpha = (1.0 - self.g) * self.alpha + notified;
            self.alpha_steps += 1;
        }
        self.alpha_steps = steps;
    }

    fn decrease(&mut self, now: Time) {
        if self.clamps || self.stage > 0 {
            self.recovery.aim_here();
        }
        self.recovery.cut(self.alpha);
        self.stage = 0;
        self.fires = Some(now + self.timer);
    }

    fn increase(&mut self, now: Time) {
        self.recovery.recover(match self.stage.cmp(&self.fast_steps) {
            Ordering::Less => Step::Fast,
            Ordering::Equal => Step::Additive,
            Ordering::Greater => Step::Hyper,
        });
        self.stage += 1;
        self.fires = (!self.recovery.is_whole()).then(|| now + self.timer);
    }
}

impl RateControl for DcqcnMlx5 {
    fn rate(&self) -> Rate {
        self.recovery.rate()
    }

    fn on_notification(&mut self, now: Time) {
        let Some(started) = self.started else {
            self.started = Some(now);
            self.cut = Some(now + self.decrease_interval);
            return;
        };
        self.age(started, now);
        self.is_alpha_due = true;
        let cuts = (now - started).0 / self.decrease_interval.0 + 1;
        self.cut.get_or_insert(started + Time(cuts * self.decrease_interval.0));
    }

    fn due(&self) -> Option<Time> {
        self.cut.into_iter().chain(self.fires).min()
    }

    fn on_timer(&mut self, now: Time) {
        if self.fires.is_some_and(|due| due <= now) {
            self.increase(now);
        }
        if self.cut.take_if(|due| *due <= now).is_some() {
            // Alpha's clock ticks before the cut's.
            if let Some(started) = self.started {
                self.age(started, now);
            }
            self.decrease(now);
        }
    }

    fn notification_interval(&self) -> Option<Time> {
        Some(self.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{close, given};
    use super::*;

    const LINE: f64 = 100e9;
    const G: f64 = 1.0 / 256.0;

    fn sender(values: &[(&str, &str)]) -> DcqcnMlx5 {
        let path = Path { line: Rate(LINE as u64), rtt: us(4), switches: 1, packet: 1046 };
        new(&Attributes::new(&SPEC, &given(values)), &path)
    }

    fn us(us: u64) -> Time {
        Time(us * 1000)
    }

    fn power(base: f64, n: u64) -> f64 {
        (0..n).fold(1.0, |power, _| power * base)
    }

    /// Notified every quarter of a microsecond from `from` on, with its timers, until `to`.
    fn congested(law: &mut DcqcnMlx5, from: u64, to: u64) {
        for quarter in 4 * from..4 * to {
            let now = Time(quarter * 250);
            while let Some(due) = law.due().filter(|due| *due <= now) {
                law.on_timer(due);
            }
            law.on_notification(now);
        }
        let end = us(to);
        while let Some(due) = law.due().filter(|due| *due <= end) {
            law.on_timer(due);
        }
    }

    #[test]
    fn the_first_notification_starts_the_clocks_and_the_first_cut_is_a_period_later() {
        let mut law = sender(&[]);
        law.on_notification(us(10));
        close(law.recovery.current, LINE);
        assert_eq!(law.due(), Some(us(14)));
        law.on_timer(us(14));
        // Alpha has decayed for four periods without another one.
        close(law.recovery.current, LINE * (1.0 - power(1.0 - G, 4) / 2.0));
        close(law.recovery.target, LINE);
        // Nothing more was said: the next is an increase.
        assert_eq!(law.due(), Some(us(314)));
    }

    #[test]
    fn cuts_are_on_a_clock_however_many_notifications_there_are() {
        let mut law = sender(&[]);
        congested(&mut law, 0, 4);
        close(law.recovery.current, LINE / 2.0);
        congested(&mut law, 4, 12);
        close(law.recovery.current, LINE / 8.0);
        // A late one is heeded at the next tick.
        law.on_notification(us(97));
        assert_eq!(law.due(), Some(us(100)));
        law.on_notification(us(99));
        assert_eq!(law.due(), Some(us(100)));
        // On the tick itself it is one for the next.
        let mut law = sender(&[]);
        congested(&mut law, 0, 4);
        law.on_notification(us(8));
        assert_eq!(law.due(), Some(us(12)));
    }

    #[test]
    fn alpha_is_one_under_notifications_and_decays_period_by_period_without() {
        let mut law = sender(&[]);
        congested(&mut law, 0, 4);
        close(law.alpha, 1.0);
        law.age(us(0), us(104));
        close(law.alpha, power(1.0 - G, 100));
        law.on_notification(us(104));
        law.age(us(0), us(105));
        close(law.alpha, power(1.0 - G, 101) + G);
        law.age(us(0), Time(106_999));
        close(law.alpha, (power(1.0 - G, 101) + G) * (1.0 - G));
    }

    #[test]
    fn cuts_in_a_row_keep_the_first_target_unless_they_clamp() {
        for (clamp, target) in [("false", LINE), ("true", LINE / 4.0)] {
            let mut law = sender(&[("ClampTargetRate", clamp)]);
            congested(&mut law, 0, 12);
            close(law.recovery.current, LINE / 8.0);
            close(law.recovery.target, target);
        }
        // After an increase the next cut has a new target.
        let mut law = sender(&[]);
        congested(&mut law, 0, 12);
        law.on_timer(us(312));
        let before = law.recovery.current;
        close(before, (LINE + LINE / 8.0) / 2.0);
        law.on_notification(us(313));
        law.on_timer(us(316));
        close(law.recovery.target, before);
    }

    #[test]
    fn it_recovers_by_halves_then_adds_once_and_then_adds_more() {
        let mut law = sender(&[("FastRecoverySteps", "2")]);
        congested(&mut law, 0, 12);
        (law.recovery.target, law.recovery.current) = (LINE / 4.0, LINE / 8.0);
        let (mut target, mut current) = (law.recovery.target, law.recovery.current);
        for (step, added) in [0.0, 0.0, 0.0002, 0.002, 0.002].into_iter().enumerate() {
            let due = law.due().unwrap();
            assert_eq!(due, us(12 + 300 * (step as u64 + 1)));
            law.on_timer(due);
            target += added * LINE;
            current = f64::midpoint(target, current);
            close(law.recovery.target, target);
            close(law.recovery.current, current);
        }
    }

    #[test]
    fn rates_are_between_the_least_and_the_links() {
        let mut law = sender(&[]);
        congested(&mut law, 0, 200);
        close(law.recovery.current, LINE * 0.001);
        let mut steps = 0;
        while let Some(due) = law.due() {
            law.on_timer(due);
            assert!(law.recovery.current <= LINE && law.recovery.target <= LINE);
            steps += 1;
        }
        // The target of the first cut was the link's rate: log2 of what was missing, in bit/s.
        assert_eq!(steps, 37);
        assert!(LINE - law.recovery.current < 1.0);
        assert_eq!(sender(&[]).rate(), Rate(LINE as u64));
    }
}
