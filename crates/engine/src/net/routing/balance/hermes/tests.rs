//! Hermes against its paper: the states of paths, which path is chosen, when a path fails.

use super::*;
use crate::net::routing::balance::host_bench::HostBench;

fn hermes() -> Hermes {
    let bench = HostBench::new("hermes", &[], 4);
    Hermes::new(&bench.context())
}

/// ecn in percent, rtt beyond the least one of 100 us.
fn path(percent: u32, micros: u64) -> Path {
    let rtt = Some(100_000.0 + micros as f64 * 1000.0);
    Path { ecn: f64::from(percent) / 100.0, rtt, ..Path::default() }
}

#[test]
fn states_are_as_in_the_papers_table() {
    let (hermes, least) = (hermes(), Some(100_000.0));
    for (percent, micros, state) in [
        (0, 0, State::Good),
        (39, 19, State::Good),
        (40, 0, State::Gray),
        (39, 20, State::Gray),
        (0, 500, State::Gray),
        (100, 0, State::Gray),
        (41, 120, State::Gray),
        (40, 121, State::Gray),
        (41, 121, State::Congested),
    ] {
        assert_eq!(hermes.state(&path(percent, micros), least), state, "{percent} {micros}");
    }
    assert_eq!(hermes.state(&Path::default(), least), State::Gray, "nobody has measured it");
}

fn rack(paths: [Path; 4]) -> Rack {
    Rack { least: Some(100_000.0), paths: paths.to_vec(), ..Rack::default() }
}

/// A bench whose rack knows these paths.
fn known(paths: [Path; 4]) -> (HostBench, Hermes) {
    known_with(&[("MinSent", "10000")], paths)
}

fn known_with(attributes: &[(&str, &str)], paths: [Path; 4]) -> (HostBench, Hermes) {
    let bench = HostBench::new("hermes", attributes, 4);
    let mut hermes = Hermes::new(&bench.context());
    *hermes.racks.entry(HostBench::LEAVES, Rack::default) = rack(paths);
    (bench, hermes)
}

#[test]
fn a_new_flow_takes_the_good_path_with_the_least_rate() {
    let paths = [path(50, 300), path(0, 0), path(0, 0), path(0, 50)];
    let (mut bench, mut hermes) = known(paths);
    assert_eq!(bench.send_with(&mut hermes, 0, 1000), 1);
    assert_eq!(bench.send_with(&mut hermes, 1, 1000), 2, "by the other something was sent");
    assert_eq!(bench.send_with(&mut hermes, 0, 1000), 1, "a flow stays");
}

#[test]
fn with_a_step_the_shorter_path_of_two_gray_ones_goes_before_the_one_with_the_least_rate() {
    let paths = [path(50, 300), path(50, 58), path(50, 300), path(50, 52)];
    for (step, chosen) in [("0s", 1), ("10us", 1), ("5us", 3)] {
        let (mut bench, mut hermes) = known_with(&[("DelayStep", step)], paths);
        hermes.racks.entry(HostBench::LEAVES, Rack::default).paths[3].rate.add(1, Time(0));
        assert_eq!(bench.send_with(&mut hermes, 0, 1000), chosen, "{step}");
    }
}

#[test]
fn without_a_good_path_it_takes_a_gray_one() {
    let (mut bench, mut hermes) = known([path(50, 300), path(50, 300), path(0, 50), path(50, 300)]);
    assert_eq!(bench.send_with(&mut hermes, 0, 1000), 2);
}

#[test]
fn with_the_least_delay_rates_do_not_matter_among_good_paths() {
    let paths = [path(0, 19), path(0, 5), path(0, 3), path(60, 300)];
    let (mut bench, mut hermes) = known_with(&[("Choice", "least-delay")], paths);
    hermes.racks.entry(HostBench::LEAVES, Rack::default).paths[2].rate.add(1_000_000, Time(0));
    assert_eq!(bench.send_with(&mut hermes, 0, 1000), 2);
}

#[test]
fn by_chance_all_good_ways_are_taken_and_no_other() {
    let paths = [path(0, 19), path(0, 5), path(50, 3), path(60, 300)];
    let (mut bench, mut hermes) = known_with(&[("Choice", "random")], paths);
    let mut taken = [0; 4];
    (0..40).for_each(|flow| taken[bench.send_with(&mut hermes, flow, 1000) as usize] += 1);
    assert!(taken[0] > 8 && taken[1] > 8, "{taken:?}");
    assert_eq!(taken[2..], [0, 0]);
}

/// Where a flow goes that has sent so much by path 0, when path 0 becomes as given.
fn moves_to(sent: u32, here: Path, there: [Path; 3]) -> u32 {
    let (mut bench, mut hermes) = known([path(0, 0), path(50, 300), path(50, 300), path(50, 300)]);
    for _ in 0..sent {
        assert_eq!(bench.send_with(&mut hermes, 0, 1000), 0);
    }
    bench.advance(10_000_000);
    *hermes.racks.entry(HostBench::LEAVES, Rack::default) =
        rack([here, there[0], there[1], there[2]]);
    bench.send_with(&mut hermes, 0, 1000)
}

#[test]
fn a_flow_leaves_a_congested_path_for_a_notably_better_one_only() {
    let (bad, others) = (path(60, 200), path(60, 200));
    assert_eq!(moves_to(20, bad, [others, path(0, 0), others]), 2, "good, notably better");
    assert_eq!(moves_to(20, bad, [others, others, path(0, 100)]), 3, "gray, notably better");
    assert_eq!(moves_to(20, bad, [others, others, path(0, 121)]), 0, "79 us are not enough");
    assert_eq!(moves_to(20, bad, [others, others, path(56, 100)]), 0, "nor are 4 %");
    assert_eq!(moves_to(20, path(60, 100), [others, path(0, 0), others]), 0, "it is gray");
    assert_eq!(moves_to(5, bad, [others, path(0, 0), others]), 0, "it has sent too little");
}

#[test]
fn a_fast_flow_stays() {
    let (mut bench, mut hermes) = known([path(0, 0), path(60, 300), path(60, 300), path(60, 300)]);
    // 200 kB in 160 us are 10 Gbit/s.
    for _ in 0..200 {
        assert_eq!(bench.send_with(&mut hermes, 0, 1000), 0);
    }
    *hermes.racks.entry(HostBench::LEAVES, Rack::default) =
        rack([path(60, 300), path(0, 0), path(0, 0), path(0, 0)]);
    assert_eq!(bench.send_with(&mut hermes, 0, 1000), 0);
    bench.advance(10_000_000);
    assert_ne!(bench.send_with(&mut hermes, 0, 1000), 0, "now it is slow");
}

#[test]
fn three_timeouts_without_an_acknowledgement_are_a_black_hole_for_two_hosts() {
    let (mut bench, mut hermes) = known([path(0, 0), path(60, 300), path(60, 300), path(60, 300)]);
    bench.send_with(&mut hermes, 0, 1000);
    for timeouts in 1..=3 {
        bench.advance(10_000_000);
        let path = bench.send_again_with(&mut hermes, 0, 1000);
        assert_eq!(path == 0, timeouts < 3, "after {timeouts} timeouts");
    }
    assert_ne!(bench.send_with(&mut hermes, 1, 1000), 0, "flows of the same hosts");
    assert_eq!(bench.send_with(&mut hermes, 2, 1000), 0, "others are not concerned");
}

#[test]
fn a_black_hole_without_another_path_is_one_failure_while_it_lasts() {
    let bench = &mut HostBench::new("hermes", &[], 1);
    let mut hermes = Hermes::new(&bench.context());
    bench.send_with(&mut hermes, 0, 1000);
    for _ in 0..9 {
        bench.advance(1_000_000);
        assert_eq!(bench.send_again_with(&mut hermes, 0, 1000), 0);
    }
    let [failed] = hermes.failed() else { panic!("{:?}", hermes.failed()) };
    assert_eq!(failed.until.0 - failed.at.0, 100_000_000);
}

#[test]
fn what_was_acknowledged_in_between_is_no_black_hole() {
    let (mut bench, mut hermes) = known([path(0, 0), path(60, 300), path(60, 300), path(60, 300)]);
    bench.send_with(&mut hermes, 0, 1000);
    for _ in 0..6 {
        bench.advance(10_000_000);
        assert_eq!(bench.send_again_with(&mut hermes, 0, 1000), 0);
        bench.send_with(&mut hermes, 0, 1000);
        bench.answer_with(&mut hermes, 0, 1000, 0);
    }
}

/// By path 0: segments 0 to `packets`, each acknowledged, of which each `every`th is sent again first; then on into the
/// next period.
fn lose(bench: &mut HostBench, hermes: &mut Hermes, packets: u32, every: u32) {
    for packet in 1..=packets {
        bench.send_with(hermes, 0, 1000);
        bench.answer_with(hermes, 0, 0, 0);
        if packet % every == 0 {
            bench.send_again_with(hermes, 0, 1000);
        }
        bench.answer_with(hermes, 0, 1000, 0);
    }
    bench.advance(10_000_000);
    bench.send_with(hermes, 0, 1000);
}

#[test]
fn a_path_fails_by_losses_that_chance_does_not_explain_and_is_forgiven() {
    let usual = [path(0, 0), path(60, 300), path(60, 300), path(60, 300)];
    let (mut bench, mut hermes) = known(usual);
    lose(&mut bench, &mut hermes, 100, 50);
    assert!(hermes.failed().is_empty(), "two of a hundred");
    lose(&mut bench, &mut hermes, 2000, 50);
    let [failed] = hermes.failed() else { panic!("forty of two thousand") };
    assert_eq!((failed.path, failed.until.0 - failed.at.0), (0, 100_000_000));
    assert!(matches!(failed.between, Between::Leaves(HostBench::LEAVES)));
    assert_ne!(bench.send_with(&mut hermes, 2, 1000), 0, "flows of other hosts");
    bench.advance(100_000_000);
    assert_eq!(bench.send_with(&mut hermes, 4, 1000), 0, "it has been forgiven");
}

#[test]
fn what_a_flow_repeats_while_it_is_marked_says_nothing_of_the_path() {
    let (mut bench, mut hermes) = known([path(0, 0); 4]);
    bench.send_with(&mut hermes, 0, 1000);
    hermes.flows[0].ecn = 0.9;
    hermes.gain = 0.0;
    lose(&mut bench, &mut hermes, 2000, 50);
    assert!(hermes.failed().is_empty());
}

#[test]
fn a_window_that_is_repeated_whole_is_one_loss() {
    let (mut bench, mut hermes) = known([path(0, 0); 4]);
    (0..1000).for_each(|_| assert!(bench.send_with(&mut hermes, 0, 1000) < 4));
    for _ in 0..500 {
        bench.send_again_with(&mut hermes, 0, 1000);
        bench.answer_with(&mut hermes, 0, 1000, 0);
    }
    assert_eq!(hermes.racks.entry(HostBench::LEAVES, Rack::default).paths[0].evidence.lost, 1);
}

#[test]
fn where_no_path_is_alive_a_flow_stays() {
    let (mut bench, mut hermes) = known([path(0, 0); 4]);
    let path = bench.send_with(&mut hermes, 0, 1000);
    for path in &mut hermes.racks.entry(HostBench::LEAVES, Rack::default).paths {
        path.failure.begin(Time(0), Time(1_000_000_000));
    }
    for _ in 0..50 {
        assert_eq!(bench.send_with(&mut hermes, 0, 1000), path);
    }
}

#[test]
fn what_comes_after_a_failure_by_a_path_that_is_no_more_counts_for_nothing() {
    let (mut bench, mut hermes) = known([path(50, 300), path(50, 300), path(50, 300), path(0, 0)]);
    assert_eq!(bench.send_with(&mut hermes, 0, 1000), 3);
    let agents = [Agents { leaves: HostBench::LEAVES }];
    let probe = Probe { pair: 0, path: 3 };
    hermes.reroute();
    bench.paths.rates.truncate(2);
    bench.answer_with(&mut hermes, 0, 1000, 3);
    hermes.learn(agents[0], probe, Time(100_000), false, Time(100_000));
    assert!(bench.send_with(&mut hermes, 0, 1000) < 2);
    let mut probes = Vec::new();
    hermes.probes(&agents, &[2], &mut probes);
    assert!(probes.len() == 2 && probes.iter().all(|probe| probe.path < 2), "{probes:?}");
}

/// (In the reference the best path is never remembered.)
#[test]
fn probes_go_by_two_paths_and_by_the_best_of_the_last_time() {
    let mut hermes = hermes();
    let agents = [Agents { leaves: [0, 1] }];
    let mut probes = Vec::new();
    hermes.probes(&agents, &[4], &mut probes);
    assert_eq!(probes.len(), 2);
    for (path, micros) in [(2, 130), (3, 110)] {
        let rtt = Time(micros * 1000);
        hermes.learn(agents[0], Probe { pair: 0, path }, rtt, false, rtt);
    }
    for _ in 0..2 {
        probes.clear();
        hermes.probes(&agents, &[4], &mut probes);
        assert_eq!(probes.len(), 3);
        assert_eq!(probes[2].path, 3, "and still, if nothing has come back");
    }
}
