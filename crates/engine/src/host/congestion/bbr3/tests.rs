//! What the draft's test cases ask (appendix A), as far as a driver without a path can; whole runs are in
//! `tests/scenario/test_bbr3.py`.

use super::super::driver::{Driver, MSS, with_context};
use super::*;

/// A model whose pipe is full, in Up after a probe that was too high.
fn probing() -> (Bbr3, Tcb, Rs) {
    let mut bbr = with_context(&SPEC, &[], made);
    bbr.full_bw_reached = true;
    bbr.max_bw = [Rate(8_000_000), Rate(8_000_000)];
    bbr.bw = Rate(8_000_000);
    bbr.min_rtt = Time::from_ms(100);
    bbr.state = State::Up;
    bbr.is_bw_probe_sample = true;
    bbr.inflight_longterm = 120 * MSS;
    let tcb = Tcb {
        cwnd: 120 * MSS,
        segment_size: MSS,
        bytes_in_flight: 100 * MSS,
        now: Time::from_secs(1),
        ..Tcb::default()
    };
    let rs = Rs {
        delivery_rate: Rate(8_000_000),
        delivered: 100 * MSS,
        prior_delivered: 0,
        is_app_limited: false,
        newly_acked: MSS,
        newly_lost: MSS,
        lost: 3 * MSS,
        tx_in_flight: 110 * MSS,
        rtt: None,
        total_delivered: 1_000_000,
    };
    (bbr, tcb, rs)
}

/// A.21: more than 2 % lost in Up lowers the long-term bound to where they began, at most by a third, and ends the
/// probe; the next one stops there (section 5.3.3.6).
#[test]
fn losses_in_up_lower_the_long_term_bound_and_go_down() {
    let (mut bbr, mut tcb, rs) = probing();
    assert!(is_inflight_too_high(&rs));
    bbr.handle_inflight_too_high(&tcb, &rs);
    assert_eq!(bbr.state, State::Down);
    // 2 % of 109 segments are 2.18, of which 2 were lost before this one.
    assert_eq!(bbr.inflight_longterm / MSS, 109);
    bbr.state = State::Up;
    tcb.bytes_in_flight = bbr.inflight_longterm;
    assert!(bbr.is_time_to_go_down(&tcb, &rs) && bbr.prev_probe_precautionary);
}

/// A.18 and A.19: what a spurious episode took comes back, and the probe begins anew.
#[test]
fn a_spurious_episode_is_undone() {
    let (mut bbr, tcb, rs) = probing();
    bbr.save_state_upon_loss(&tcb);
    bbr.handle_inflight_too_high(&tcb, &rs);
    bbr.bw_shortterm = Rate(1_000_000);
    assert_eq!(bbr.undo(&tcb, 0), 120 * MSS);
    assert_eq!(bbr.inflight_longterm, 120 * MSS);
    assert_eq!(bbr.bw_shortterm, Rate(u64::MAX));
    assert_eq!(bbr.state, State::Refill);
}

/// A.7: rounds that the application limits say nothing of the pipe.
#[test]
fn application_limited_rounds_do_not_fill_the_pipe() {
    let (mut bbr, _, mut rs) = probing();
    bbr.reset_full_bw();
    bbr.round_start = true;
    rs.is_app_limited = true;
    (0..10).for_each(|_| bbr.check_full_bw_reached(&rs));
    assert!(!bbr.full_bw_now);
    rs.is_app_limited = false;
    (0..3).for_each(|_| bbr.check_full_bw_reached(&rs));
    assert!(!bbr.full_bw_now);
    bbr.check_full_bw_reached(&rs);
    assert!(bbr.full_bw_now);
}

/// A.15: the steps by which the long-term bound rises double each round.
#[test]
fn the_slope_of_a_probe_doubles_each_round() {
    let (mut bbr, tcb, _) = probing();
    let steps = [(); 4].map(|()| {
        bbr.raise_slope(&tcb);
        tcb.cwnd / bbr.probe_up_acked_per_inc
    });
    assert_eq!(steps, [1, 2, 4, 8]);
}

#[test]
fn it_has_the_window_alone() {
    assert!(Driver::new("TcpBbr3", &[]).control.is_rate_control());
}
