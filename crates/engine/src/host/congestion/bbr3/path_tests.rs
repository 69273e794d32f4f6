//! BBRv3 over a bottleneck of its own: what the draft says of each state must hold at every ACK, whatever the path
//! does.

use super::super::driver::{MSS, with_context};
use super::super::path::{Path, Run};
use super::*;

fn over(path: Path) -> Run<Bbr3> {
    Run::new(with_context(&SPEC, &[], made), path)
}

/// Pacing and cwnd gains (table of section 5.6.1), in hundredths.
fn gains(state: State) -> (u32, u32) {
    match state {
        State::Startup => (277, 200),
        State::Drain => (50, 200),
        State::Down => (90, 200),
        State::Cruise | State::Refill => (100, 200),
        State::Up => (125, 225),
        State::ProbeRtt => (100, 50),
    }
}

/// Arrows of the diagram in section 4.1.1, without what a spurious episode undoes.
fn may_follow(before: State, after: State) -> bool {
    use State::*;
    matches!(
        (before, after),
        (Startup, Drain)
            | (Drain, Down)
            | (Down, Cruise | Refill)
            | (Cruise, Refill)
            | (Refill, Up)
            | (Up, Down)
            | (_, ProbeRtt)
            | (ProbeRtt, Cruise | Startup)
            // Within one ACK: what has drained, or lost, is cruised at once.
            | (Startup, Down)
            | (Drain | Up, Cruise | Refill)
    )
}

fn hundredths(gain: f64) -> u32 {
    (gain * 100.0).round() as u32
}

/// What the draft says of any ACK.
fn check(run: &Run<Bbr3>, before: State) {
    let (bbr, tcb) = (&run.control, &run.tcb);
    let context = format!("{before:?} before, at {:?}: {bbr:?}", tcb.now);
    assert_eq!(
        (hundredths(bbr.pacing_gain), hundredths(bbr.cwnd_gain)),
        gains(bbr.state),
        "{context}"
    );
    if before != bbr.state {
        assert!(may_follow(before, bbr.state), "{context}");
    }
    // Section 5.5.2: bw = min(max_bw, bw_shortterm); 5.6.2: the rate follows it, but for the fall before the pipe is full.
    assert_eq!(bbr.bw, bbr.max_bw().min(bbr.bw_shortterm), "{context}");
    let rate = (bbr.pacing_gain * bbr.bw.0 as f64 * 0.99) as u64;
    if bbr.full_bw_reached {
        assert_eq!(tcb.pacing_rate.0, rate, "{context}");
    } else {
        assert!(tcb.pacing_rate.0 >= rate, "{context}");
    }
    // Section 5.6.4: the window's bounds.
    assert!(tcb.cwnd >= 4 * MSS, "{context}");
    let bdp = bbr.bw.0 as f64 * bbr.min_rtt.secs_f64() / 8.0;
    let headroom = (0.85 * f64::from(bbr.inflight_longterm)).ceil();
    let long_term = match bbr.state {
        State::Startup | State::Drain => f64::INFINITY,
        State::Cruise | State::ProbeRtt if bbr.inflight_longterm < INFINITY => headroom,
        _ => f64::from(bbr.inflight_longterm),
    };
    let cap = long_term.min(f64::from(bbr.inflight_shortterm)).max(4.0 * f64::from(MSS));
    assert!(f64::from(tcb.cwnd) <= cap, "{context}");
    if bbr.full_bw_reached {
        let gain = f64::from(gains(bbr.state).1) / 100.0;
        let most = gain * bdp + bbr.extra_acked.max().0 as f64 + 6.0 * f64::from(MSS);
        assert!(f64::from(tcb.cwnd) <= most, "{context}");
    }
    if bbr.state == State::ProbeRtt {
        assert!(f64::from(tcb.cwnd) <= (0.5 * bdp).max(4.0 * f64::from(MSS)), "{context}");
    }
    // Section 5.3.3.3: a refill forgets the short-term model, and a probe starts from there.
    if bbr.state == State::Refill {
        assert_eq!(
            (bbr.bw_shortterm, bbr.inflight_shortterm),
            (Rate(u64::MAX), INFINITY),
            "{context}"
        );
        assert_eq!((bbr.bw_probe_up_rounds, bbr.bw_probe_up_acked), (0, 0), "{context}");
    }
    if before == State::ProbeRtt && bbr.state != State::ProbeRtt {
        assert_eq!(
            (bbr.bw_shortterm, bbr.inflight_shortterm),
            (Rate(u64::MAX), INFINITY),
            "{context}"
        );
    }
    // Section 5.3.1.2: what full_bw says is what Startup ends by.
    assert!(
        bbr.full_bw_reached == (bbr.state != State::Startup) || bbr.state == State::ProbeRtt,
        "{context}"
    );
    assert!(
        !bbr.is_bw_probe_sample || !bbr.is_in_probe_bw() || bbr.ack_phase != AckPhase::Init,
        "{context}"
    );
}

/// Over paths that are deep, shallow, lossy, bursty and now and then idle.
#[test]
fn every_state_is_as_the_draft_has_it() {
    let ms = Time::from_ms;
    let paths = [
        Path::default(),
        Path { buffer: 20, ..Path::default() },
        Path { one_lost_of: 200, ..Path::default() },
        Path { one_lost_of: 30, buffer: 40, ..Path::default() },
        Path { batch: ms(40), ..Path::default() },
        Path { pauses: ms(700), ..Path::default() },
        Path { rate: Rate(400_000), rtt: ms(10), buffer: 20, ..Path::default() },
    ];
    for (number, path) in paths.into_iter().enumerate() {
        let (mut acks, mut before) = (0, State::Startup);
        over(path).run(Time::from_secs(30), |run| {
            acks += 1;
            check(run, before);
            before = run.control.state;
        });
        assert!(acks > 1000, "path {number}: {acks}");
    }
}

/// When it comes to a state, in order, with how long it stays in each.
fn phases(path: Path, length: Time) -> Vec<(State, Time, Time)> {
    let mut found = vec![(State::Startup, Time::from_secs(1), Time::ZERO)];
    over(path).run(length, |run| {
        let (now, state) = (run.tcb.now, run.control.state);
        let last = found.last_mut().expect("the first");
        last.2 = now - last.1;
        if state != last.0 {
            found.push((state, now, Time::ZERO));
        }
    });
    found.pop();
    found
}

/// Section 5.3.3.8: a probe 2 to 3 s after the last, or after as many rounds as the bdp has segments, 62 or 63 at most;
/// 5.3.4.3: the least round trip is looked for every 5 s, for 200 ms and a round.
#[test]
fn probes_come_when_the_draft_says() {
    let found = phases(Path::default(), Time::from_secs(60));
    let starts = |state| found.iter().filter(move |phase| phase.0 == state).map(|phase| phase.1);
    let cycles: Vec<_> = found.iter().filter(|phase| phase.0 == State::Down).collect();
    assert!(cycles.len() >= 8, "{found:?}");
    for cycle in &cycles {
        let Some(refill) = starts(State::Refill).find(|&at| at > cycle.1) else { continue };
        let rtt_probe = starts(State::ProbeRtt).find(|&at| at > cycle.1);
        if rtt_probe.is_none_or(|at| at > refill) {
            let wait = (refill - cycle.1).secs_f64();
            assert!((2.0..3.2).contains(&wait), "{wait} in {found:?}");
        }
    }
    let waits: Vec<_> = starts(State::ProbeRtt).collect();
    assert!(waits.len() >= 8);
    for pair in waits.windows(2) {
        let wait = (pair[1] - pair[0]).secs_f64();
        assert!((5.0..6.0).contains(&wait), "{wait}");
    }
    for &(state, at, length) in &found {
        let (least, most) = match state {
            State::ProbeRtt => (0.2, 0.55),
            State::Refill => (0.09, 0.35),
            State::Up => (0.2, 2.0),
            _ => (0.0, 3.5),
        };
        let length = length.secs_f64();
        assert!((least..most).contains(&length), "{state:?} at {at:?}: {length}");
    }
}

/// Section 2.1: the link is full, its queue short, and 1 % of losses costs little.
#[test]
fn the_model_is_the_path() {
    for (one_lost_of, least) in [(0, 0.95), (100, 0.8)] {
        let mut run = over(Path { one_lost_of, ..Path::default() });
        run.run(Time::from_secs(20), |_| {});
        let (from, before) = (run.tcb.now, run.connection.delivered);
        run.run(Time::from_secs(20), |_| {});
        let share = (run.connection.delivered - before) as f64 * 8.0
            / (run.tcb.now - from).secs_f64()
            / run.path.rate.0 as f64;
        assert!((least..1.001).contains(&share), "{share} with one of {one_lost_of} lost");
        let max_bw = run.control.max_bw().0 as f64 / run.path.rate.0 as f64;
        assert!((0.95..1.03).contains(&max_bw), "{max_bw}");
        let min_rtt = run.control.min_rtt.secs_f64() / run.path.rtt.secs_f64();
        assert!((1.0..1.03).contains(&min_rtt), "{min_rtt}");
    }
}

/// Section 5.5.9: `extra_acked` is what a burst of ACKs brings beyond the bandwidth, here 40 ms of it.
#[test]
fn aggregation_is_measured() {
    for (batch, segments) in [(0, 0..4), (40, 30..60)] {
        let mut run = over(Path { batch: Time::from_ms(batch), ..Path::default() });
        run.run(Time::from_secs(10), |_| {});
        let extra = run.control.extra_acked.max().0 / u64::from(MSS);
        assert!(segments.contains(&extra), "{extra} segments, ACKs every {batch} ms");
    }
}

/// Section 5.5.7: a shorter path is known at once, a longer one after ten seconds.
#[test]
fn the_least_round_trip_is_that_of_the_last_ten_seconds() {
    let mut run = over(Path::default());
    run.run(Time::from_secs(20), |_| {});
    run.path.rtt = Time::from_ms(50);
    run.run(Time::from_secs(6), |_| {});
    assert!((0.050..0.052).contains(&run.control.min_rtt.secs_f64()));
    run.path.rtt = Time::from_ms(100);
    run.run(Time::from_secs(4), |_| {});
    assert!((0.050..0.052).contains(&run.control.min_rtt.secs_f64()));
    run.run(Time::from_secs(14), |_| {});
    assert!((0.100..0.105).contains(&run.control.min_rtt.secs_f64()));
}
