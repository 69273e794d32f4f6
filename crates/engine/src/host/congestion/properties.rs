//! What holds for every algorithm on every sane connection.

use proptest::prelude::*;

use super::driver::{Driver, MSS};
use super::{OF_PROFILE, SPECS};
use crate::base::attributes::{Kind, Spec};
use crate::base::time::{Rate, Time};
use crate::host::tcp::control::TcpStack;

#[derive(Clone, Copy, Debug)]
enum Step {
    Acks(u32, u32),
    Round,
    Rtt(u64),
    Pause(u64),
    FastRecovery,
    Timeout,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..50u32, 1..4u32).prop_map(|(count, segments)| Step::Acks(count, segments)),
        4 => Just(Step::Round),
        2 => (1..400u64).prop_map(Step::Rtt),
        1 => (1..20_000u64).prop_map(Step::Pause),
        2 => Just(Step::FastRecovery),
        1 => Just(Step::Timeout),
    ]
}

fn take(d: &mut Driver, step: Step) {
    match step {
        Step::Acks(count, segments) => {
            for _ in 0..count {
                d.advance(Time(d.rtt.0 / 20));
                ack(d, segments);
            }
        }
        Step::Round if d.cwnd() < 500 => {
            for _ in 0..d.cwnd() {
                d.advance(Time(d.rtt.0 / u64::from(d.cwnd().max(1))));
                ack(d, 1);
            }
        }
        Step::Round => {}
        Step::Rtt(ms) => d.set_rtt(ms),
        Step::Pause(ms) => d.advance(Time::from_ms(ms)),
        Step::FastRecovery => {
            d.fast_recovery();
            ack(d, 1);
        }
        Step::Timeout => {
            d.timeout();
            ack(d, 1);
        }
    }
}

fn ack(d: &mut Driver, segments: u32) {
    let now_ms = d.tcb.now.ms() as u32;
    d.tcb.rcv_timestamp_echo = now_ms.saturating_sub(d.rtt.ms() as u32);
    d.tcb.rcv_timestamp = now_ms;
    d.ack(segments);
    if d.control.is_rate_control() {
        let in_flight = d.tcb.cwnd / 2;
        d.rate_ack(Rate(10_000_000), segments * MSS, in_flight);
    }
}

/// Linux's own.
fn of_linux() -> impl Iterator<Item = (&'static Spec, TcpStack)> {
    all().filter(|(spec, stack)| *stack == TcpStack::Linux && OF_PROFILE.contains(&spec.ns3))
}

/// Every algorithm, in both stacks.
fn all() -> impl Iterator<Item = (&'static Spec, TcpStack)> {
    let stacks = [TcpStack::Ns3, TcpStack::Linux];
    stacks.into_iter().flat_map(|stack| SPECS.iter().map(move |&spec| (spec, stack)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// At least a segment, and never so much that 32 bits are in danger.
    #[test]
    fn the_window_stays_within_reason(steps in prop::collection::vec(step(), 1..60)) {
        for (spec, stack) in all() {
            let mut d = Driver::on(stack, spec.ns3, &[]).with_ssthresh(200);
            for &step in &steps {
                take(&mut d, step);
                let cwnd = d.tcb.cwnd;
                prop_assert!((MSS..1 << 30).contains(&cwnd), "{}: cwnd {cwnd}", spec.ns3);
                let pacing = d.tcb.pacing_rate;
                prop_assert!(pacing.0 > 0 && pacing <= d.tcb.max_pacing_rate, "{pacing:?}");
            }
        }
    }

    /// A loss leaves at least a segment, and (but for a bandwidth estimate) no more than there was.
    #[test]
    fn a_loss_never_enlarges_the_window(steps in prop::collection::vec(step(), 1..60)) {
        for (spec, stack) in all().filter(|(spec, _)| !["TcpBbr", "TcpBbr3", "TcpWestwoodPlus"].contains(&spec.ns3)) {
            let mut d = Driver::on(stack, spec.ns3, &[]).with_ssthresh(200);
            for &step in &steps {
                take(&mut d, step);
            }
            let before = d.tcb.cwnd;
            let after = d.control.algorithm().ssthresh(&d.tcb, before);
            let most = before.max(2 * MSS);
            prop_assert!((MSS / 2..=most).contains(&after), "{}: {before} -> {after}", spec.ns3);
        }
    }

    #[test]
    fn the_same_calls_give_the_same_windows(steps in prop::collection::vec(step(), 1..30)) {
        for (spec, stack) in all() {
            let windows = || {
                let mut d = Driver::on(stack, spec.ns3, &[]);
                steps.iter().map(|&step| { take(&mut d, step); d.tcb.cwnd }).collect::<Vec<_>>()
            };
            prop_assert_eq!(windows(), windows());
        }
    }
}

/// Numbers that nobody would give, but anybody may; by some of them ns-3 divides.
#[test]
fn extreme_numbers_break_nothing_of_linuxs() {
    let extremes = ["0", "1", "4294967295", "1e30"];
    let takes = |kind, value: &str| match kind {
        Kind::Uint { min, max } => value.parse().is_ok_and(|n: u64| (min..=max).contains(&n)),
        Kind::Real { min, max } => value.parse().is_ok_and(|x: f64| (min..=max).contains(&x)),
        _ => false,
    };
    for (spec, stack) in of_linux() {
        let pairs = spec.params.iter().flat_map(|param| extremes.map(|value| (param, value)));
        for (param, value) in pairs.filter(|(param, value)| takes(param.kind, value)) {
            let mut d = Driver::on(stack, spec.ns3, &[(param.ns3, value)]).with_ssthresh(20);
            for step in [Step::Round, Step::Rtt(300), Step::Round, Step::FastRecovery] {
                take(&mut d, step);
            }
            take(&mut d, Step::Acks(100, 2));
        }
    }
}

#[test]
fn every_algorithm_is_documented() {
    for spec in SPECS {
        assert!(spec.doc.ends_with('.') && !spec.source.is_empty(), "{}", spec.ns3);
        assert!(!spec.linux.is_empty(), "{}", spec.ns3);
        for param in spec.params {
            assert!(param.doc.ends_with('.'), "{}::{}", spec.ns3, param.ns3);
        }
    }
}
