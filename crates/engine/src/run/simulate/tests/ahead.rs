//! What is known of the network ahead of time: nothing reaches a host before the horizon but what was said to arrive.

use std::sync::PoisonError;

use super::{Buffer, lower, random_scenario};
use crate::base::time::Time;
use crate::run::simulate::Simulation;

/// When, and sequence number, ACK and payload.
type Seen = (u64, [u32; 3]);

/// The packets that have come to hosts, of a trace.
fn at_hosts(trace: &str) -> Vec<Seen> {
    let mut lines = trace.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| names.iter().position(|found| *found == name).unwrap();
    let columns = ["seq", "ack", "payload_bytes"].map(at);
    let (time, event, link) = (at("time_ns"), at("event"), at("link"));
    lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        // Links to hosts are named after their hosts: the far end is one in one direction.
        .filter(|row| {
            let is_to_host = row[link].starts_with('d') && row[link].ends_with("_forward")
                || row[link].starts_with('s') && row[link].ends_with("_reverse");
            row[event] == "rx" && is_to_host
        })
        .map(|row| (row[time].parse().unwrap(), columns.map(|at| row[at].parse().unwrap())))
        .collect()
}

#[test]
fn nothing_reaches_a_host_before_the_horizon_but_what_is_arriving() {
    let (mut foretold, mut together) = (0, 0);
    for seed in 0..25 {
        let (lowered, buffer) = (lower(&random_scenario(seed)), Buffer::default());
        let traced = Simulation::with_packets_to(lowered, Box::new(buffer.clone()));
        let mut simulation = traced.unwrap();
        let lookahead = simulation.lookahead();
        let mut arriving = Vec::new();
        // By the time at which it was asked, until when the answer holds, and the answer.
        let mut answers: Vec<(Time, Time, Vec<Seen>)> = Vec::new();
        for us in (0..2_000_000).step_by(2_310) {
            let now = Time(1_000 * us);
            simulation.catch_up(now).unwrap();
            let horizon = simulation.network.horizon(&lookahead, &mut arriving);
            let until = arriving.last().map_or(now, |last| last.time);
            assert!(until < horizon || arriving.is_empty());
            let seen = arriving.iter().map(|one| {
                let packet = &one.packet;
                (one.time.0, [packet.seq.0, packet.ack.0, packet.payload.into()])
            });
            answers.push((now, until, seen.collect()));
        }
        simulation.finish().unwrap();
        let trace = std::mem::take(&mut *buffer.0.lock().unwrap_or_else(PoisonError::into_inner));
        let come = at_hosts(&String::from_utf8(trace).unwrap());
        for (now, until, expected) in answers {
            let found: Vec<_> =
                come.iter().filter(|seen| now.0 < seen.0 && seen.0 <= until.0).cloned().collect();
            assert_eq!(found, expected, "seed {seed}, asked at {} ns", now.0);
            foretold += expected.len();
            together += usize::from(expected.len() > 1);
        }
    }
    assert!(foretold > 1_000 && together > 100, "{foretold}, {together}");
}
