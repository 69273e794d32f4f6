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

/// Section 5.3.3: what a state sets when it begins, whatever was before.
#[test]
fn each_phase_begins_with_its_own_numbers() {
    let (mut bbr, tcb, rs) = probing();
    let of = |bbr: &Bbr3| (bbr.state, bbr.pacing_gain, bbr.cwnd_gain);
    bbr.start_up(&tcb, &rs);
    assert_eq!(of(&bbr), (State::Up, 1.25, 2.25));
    bbr.start_down(&tcb, 7);
    assert_eq!(of(&bbr), (State::Down, 0.9, 2.0));
    assert_eq!((bbr.next_round_delivered, bbr.probe_up_acked_per_inc), (7, INFINITY));
    let wait = bbr.bw_probe_wait.secs_f64();
    assert!((2.0..3.0).contains(&wait) && bbr.rounds_since_probe_up <= 1);
    bbr.cwnd_gain = 0.5; // as after ProbeRTT
    bbr.start_cruise();
    assert_eq!(of(&bbr), (State::Cruise, 1.0, 2.0));
    (bbr.bw_shortterm, bbr.inflight_shortterm) = (Rate(1), 1);
    (bbr.bw_probe_up_rounds, bbr.bw_probe_up_acked) = (5, 5);
    bbr.prev_probe_precautionary = true;
    bbr.start_refill();
    assert_eq!(of(&bbr), (State::Refill, 1.0, 2.0));
    assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (Rate(u64::MAX), INFINITY));
    assert_eq!((bbr.bw_probe_up_rounds, bbr.bw_probe_up_acked), (0, 0));
    bbr.enter_startup();
    assert_eq!(of(&bbr), (State::Startup, 2.77, 2.0));
}

/// Section 5.3.3.6 and 5.6.4: 15 % of the long-term bound stay free while it cruises, and four segments are the least.
#[test]
fn headroom_is_fifteen_per_cent_of_the_long_term_bound() {
    let (mut bbr, mut tcb, rs) = probing();
    assert_eq!(bbr.inflight_with_headroom(&tcb), 102 * MSS);
    bbr.inflight_longterm = 4 * MSS;
    assert_eq!(bbr.inflight_with_headroom(&tcb), 4 * MSS);
    bbr.inflight_longterm = INFINITY;
    assert_eq!(bbr.inflight_with_headroom(&tcb), INFINITY);
    bbr.inflight_longterm = 50 * MSS;
    for (state, most) in [(State::Down, 50_000), (State::Up, 50_000), (State::Cruise, 42_500)] {
        bbr.state = state;
        tcb.cwnd = 120 * MSS;
        bbr.set_cwnd(&mut tcb, &rs);
        assert_eq!(tcb.cwnd, most, "{state:?}");
    }
    // Half a BDP of 100 segments while the least round trip is looked for.
    (bbr.state, bbr.inflight_longterm, tcb.cwnd) = (State::ProbeRtt, INFINITY, 120 * MSS);
    bbr.set_cwnd(&mut tcb, &rs);
    assert_eq!(tcb.cwnd, 50 * MSS);
}

/// Section 5.6.4.2: without a round trip the BDP is the initial window.
#[test]
fn before_the_first_round_trip_the_bdp_is_the_initial_window() {
    let (mut bbr, mut tcb, _) = probing();
    tcb.initial_cwnd = 10;
    assert_eq!(bbr.bdp(Rate(8_000_000), 2.0, &tcb), 200 * MSS);
    bbr.min_rtt = Time::MAX;
    assert_eq!(bbr.bdp(Rate(8_000_000), 2.0, &tcb), 10 * MSS);
}

/// Section 5.5.10.3: a round with a loss, out of probes, lowers the short-term bounds by 30 % at most, to what was delivered.
#[test]
fn a_round_with_a_loss_lowers_the_short_term_model() {
    let lowered = |state, bw_latest, is_loss_in_round| {
        let (mut bbr, tcb, mut rs) = probing();
        (bbr.state, bbr.is_loss_in_round) = (state, is_loss_in_round);
        (bbr.bw_latest, bbr.inflight_latest) = (bw_latest, 90 * MSS);
        rs.delivery_rate = Rate(0);
        bbr.loss_round_start = true;
        bbr.update_congestion_signals(&tcb, &rs);
        assert!(!bbr.is_loss_in_round);
        (bbr.bw_shortterm.0, bbr.inflight_shortterm)
    };
    let none = (u64::MAX, INFINITY);
    assert_eq!(lowered(State::Cruise, Rate(1_000_000), true), (5_600_000, 90 * MSS));
    assert_eq!(lowered(State::Cruise, Rate(7_000_000), true), (7_000_000, 90 * MSS));
    assert_eq!(lowered(State::Cruise, Rate(1_000_000), false), none);
    for probing in [State::Startup, State::Refill, State::Up] {
        assert_eq!(lowered(probing, Rate(1_000_000), true), none, "{probing:?}");
    }
    // Within the round nothing is judged.
    let (mut bbr, tcb, rs) = probing();
    (bbr.state, bbr.is_loss_in_round, bbr.loss_round_start) = (State::Cruise, true, false);
    bbr.update_congestion_signals(&tcb, &rs);
    assert_eq!((bbr.bw_shortterm, bbr.is_loss_in_round), (Rate(u64::MAX), true));
}

/// Section 5.5.5: samples that the application limits raise the maximum, and never stand for less.
#[test]
fn the_maximum_takes_what_is_not_limited_or_is_higher() {
    let max = |rate, is_app_limited| {
        let (mut bbr, tcb, mut rs) = probing();
        bbr.max_bw = [Rate(8_000_000), Rate(0)];
        (rs.delivery_rate, rs.is_app_limited) = (Rate(rate), is_app_limited);
        bbr.update_congestion_signals(&tcb, &rs);
        bbr.max_bw[1].0
    };
    assert_eq!(max(5_000_000, false), 5_000_000);
    assert_eq!(max(5_000_000, true), 0);
    assert_eq!(max(9_000_000, true), 9_000_000);
}

/// Section 5.3.1.3: six ACKs that reveal losses, more than 2 %, in recovery, at the end of a round: Startup is over.
#[test]
fn a_round_of_losses_ends_startup() {
    let ends = |losses, state, round_start, lost| {
        let (mut bbr, mut tcb, mut rs) = probing();
        bbr.enter_startup();
        (bbr.full_bw_reached, bbr.losses_in_round) = (false, losses);
        (tcb.cong_state, bbr.loss_round_start, rs.lost) = (state, round_start, lost);
        bbr.inflight_latest = 90 * MSS;
        bbr.check_startup_done(&tcb, &rs);
        assert_eq!(bbr.state == State::Drain, bbr.full_bw_reached);
        if bbr.full_bw_reached {
            // The BDP, which is more than what was delivered.
            assert_eq!((bbr.inflight_longterm, bbr.extra_acked.length()), (100 * MSS, 10));
        }
        bbr.full_bw_reached
    };
    assert!(ends(6, CongState::Recovery, true, 3 * MSS));
    assert!(!ends(5, CongState::Recovery, true, 3 * MSS));
    assert!(!ends(6, CongState::Open, true, 3 * MSS));
    assert!(!ends(6, CongState::Recovery, false, 3 * MSS));
    assert!(!ends(6, CongState::Recovery, true, 2 * MSS));
}

/// Section 5.3.3.5: once cwnd limits and the bound is reached, each `probe_up_acked_per_inc` bytes raise it by a segment.
#[test]
fn a_probe_raises_the_long_term_bound_by_its_slope() {
    let (mut bbr, mut tcb, mut rs) = probing();
    tcb.is_cwnd_limited = true;
    (bbr.probe_up_acked_per_inc, bbr.bw_probe_up_acked) = (30 * MSS, 29 * MSS);
    rs.newly_acked = 32 * MSS;
    bbr.probe_inflight_longterm_upward(&tcb, &rs);
    assert_eq!((bbr.inflight_longterm, bbr.bw_probe_up_acked), (122 * MSS, MSS));
    tcb.is_cwnd_limited = false;
    bbr.probe_inflight_longterm_upward(&tcb, &rs);
    assert_eq!((bbr.inflight_longterm, bbr.bw_probe_up_acked), (122 * MSS, MSS));
}

/// Section 5.5.6: when the round after a probe is over its feedback is in, and the oldest maximum goes.
#[test]
fn the_maximum_is_that_of_two_probes() {
    let (mut bbr, tcb, mut rs) = probing();
    (bbr.state, bbr.ack_phase, bbr.round_start) = (State::Down, AckPhase::ProbeStopping, true);
    bbr.max_bw = [Rate(9), Rate(8)];
    (rs.lost, rs.newly_lost) = (0, 0);
    assert!(!bbr.adapt_long_term_model(&tcb, &rs));
    assert_eq!((bbr.ack_phase, bbr.is_bw_probe_sample), (AckPhase::Init, false));
    assert_eq!(bbr.max_bw, [Rate(8), Rate(0)]);
    assert!(!bbr.adapt_long_term_model(&tcb, &rs));
    assert_eq!(bbr.max_bw, [Rate(8), Rate(0)]);
    // The feedback of a probe comes a round after it began.
    for (phase, round_start, next) in [
        (AckPhase::ProbeStarting, true, AckPhase::ProbeFeedback),
        (AckPhase::ProbeStarting, false, AckPhase::ProbeStarting),
        (AckPhase::Refilling, true, AckPhase::Refilling),
    ] {
        (bbr.ack_phase, bbr.round_start) = (phase, round_start);
        bbr.adapt_long_term_model(&tcb, &rs);
        assert_eq!(bbr.ack_phase, next);
    }
}

/// Section 5.3.4.3: half the BDP until in flight has fallen, then 200 ms and a round.
#[test]
fn the_search_for_the_least_round_trip_takes_200_ms_and_a_round() {
    let (mut bbr, mut tcb, mut rs) = probing();
    (bbr.probe_rtt_expired, tcb.cwnd) = (true, 120 * MSS);
    bbr.check_probe_rtt(&mut tcb, &rs);
    assert_eq!((bbr.state, bbr.pacing_gain, bbr.cwnd_gain), (State::ProbeRtt, 1.0, 0.5));
    assert_eq!((bbr.ack_phase, bbr.next_round_delivered), (AckPhase::ProbeStopping, 1_000_000));
    assert_eq!((bbr.prior_cwnd, bbr.probe_rtt_done_stamp), (120 * MSS, None));
    // What is in flight then does not tell the bandwidth.
    assert_eq!(bbr.limited_until, 1_000_000 + u64::from(100 * MSS));
    (tcb.bytes_in_flight, tcb.cwnd, rs.total_delivered) = (50 * MSS, 50 * MSS, 1_050_000);
    bbr.check_probe_rtt(&mut tcb, &rs);
    assert_eq!(bbr.probe_rtt_done_stamp, Some(tcb.now + Time::from_ms(200)));
    assert_eq!(bbr.next_round_delivered, 1_050_000);
    (bbr.bw_shortterm, bbr.inflight_shortterm) = (Rate(1), 1);
    tcb.now += Time::from_ms(201);
    bbr.round_start = false;
    bbr.check_probe_rtt(&mut tcb, &rs);
    assert_eq!(bbr.state, State::ProbeRtt);
    bbr.round_start = true;
    bbr.check_probe_rtt(&mut tcb, &rs);
    assert_eq!((bbr.state, tcb.cwnd), (State::Cruise, 120 * MSS));
    assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (Rate(u64::MAX), INFINITY));
    assert_eq!(bbr.probe_rtt_min_stamp, tcb.now);
}

/// Section 5.3.4.1: where the pipe has not been full, Startup goes on.
#[test]
fn startup_goes_on_after_the_search_for_the_least_round_trip() {
    let (mut bbr, mut tcb, _) = probing();
    (bbr.state, bbr.full_bw_reached) = (State::ProbeRtt, false);
    bbr.probe_rtt_done_stamp = Some(tcb.now);
    bbr.check_probe_rtt_done(&mut tcb);
    assert_eq!(bbr.state, State::ProbeRtt);
    tcb.now += Time(1);
    bbr.check_probe_rtt_done(&mut tcb);
    assert_eq!((bbr.state, bbr.pacing_gain), (State::Startup, 2.77));
}

/// Section 5.4.1: after idling the rate is that of the model, and nothing is taken for an aggregate.
#[test]
fn what_starts_again_from_idle_is_paced_at_the_bandwidth() {
    let restarted = |event, round_count| {
        let (mut bbr, mut tcb, _) = probing();
        (bbr.has_started, bbr.round_count) = (true, round_count);
        tcb.pacing_rate = Rate(1);
        bbr.cwnd_event(&mut tcb, event);
        (bbr.idle_restart, tcb.pacing_rate.0, bbr.extra_acked_start == tcb.now)
    };
    assert_eq!(restarted(CaEvent::TxStart, 1), (true, 7_920_000, true));
    assert_eq!(restarted(CaEvent::TxStart, 0), (false, 1, false));
    assert_eq!(restarted(CaEvent::Loss, 1), (false, 1, false));
}

/// Section 5.5.11: in an episode the window before it is kept, and the largest of the bounds comes back.
#[test]
fn the_largest_window_of_an_episode_is_restored() {
    let (mut bbr, mut tcb, _) = probing();
    bbr.prior_cwnd = 7;
    bbr.save_cwnd(&tcb);
    assert_eq!(bbr.prior_cwnd, 120 * MSS);
    (tcb.cong_state, tcb.cwnd) = (CongState::Recovery, 60 * MSS);
    bbr.save_cwnd(&tcb);
    assert_eq!(bbr.prior_cwnd, 120 * MSS);
    tcb.cwnd = 130 * MSS;
    bbr.save_cwnd(&tcb);
    assert_eq!(bbr.prior_cwnd, 130 * MSS);
    let (mut bbr, mut tcb, _) = probing();
    bbr.inflight_shortterm = 80 * MSS;
    bbr.on_loss(&mut tcb, MSS);
    assert_eq!((bbr.prior_cwnd, bbr.is_loss_in_round), (120 * MSS, true));
    bbr.inflight_shortterm = 40 * MSS;
    bbr.full_bw = Rate(9);
    bbr.undo(&tcb, 0);
    assert_eq!((bbr.inflight_shortterm, bbr.full_bw), (80 * MSS, Rate(0)));
}

/// Section 5.5.7: the least of five seconds is looked at for the least of ten.
#[test]
fn the_least_round_trip_has_two_windows() {
    let (mut bbr, mut tcb, mut rs) = probing();
    tcb.now = Time::from_secs(20);
    (bbr.min_rtt, bbr.min_rtt_stamp) = (Time::from_ms(100), Time::from_secs(11));
    (bbr.probe_rtt_min_delay, bbr.probe_rtt_min_stamp) = (Time::from_ms(100), Time::from_secs(16));
    rs.rtt = Some(Time::from_ms(120));
    bbr.update_min_rtt(&tcb, &rs);
    assert!(!bbr.probe_rtt_expired);
    assert_eq!(bbr.probe_rtt_min_delay, Time::from_ms(100));
    rs.rtt = Some(Time::from_ms(90));
    bbr.update_min_rtt(&tcb, &rs);
    assert_eq!((bbr.probe_rtt_min_delay, bbr.probe_rtt_min_stamp), (Time::from_ms(90), tcb.now));
    assert_eq!((bbr.min_rtt, bbr.min_rtt_stamp), (Time::from_ms(90), tcb.now));
    tcb.now += Time(5_000_000_001);
    rs.rtt = Some(Time::from_ms(120));
    bbr.update_min_rtt(&tcb, &rs);
    assert!(bbr.probe_rtt_expired);
    assert_eq!((bbr.probe_rtt_min_delay, bbr.min_rtt), (Time::from_ms(120), Time::from_ms(90)));
    tcb.now += Time::from_secs(5);
    bbr.update_min_rtt(&tcb, &rs);
    assert_eq!(bbr.min_rtt, Time::from_ms(120));
}
