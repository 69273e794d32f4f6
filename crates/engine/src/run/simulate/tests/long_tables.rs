//! What a run keeps in a file is what it would have kept in memory.

use std::io;

use super::*;
use crate::base::time::Time;
use crate::run::recording::{Kept, Table};

/// Samples of flows, ports and queues, and every change.
fn recorded(seed: u64) -> Lowered {
    let mut lowered = lower(&random_scenario(seed));
    lowered.recording.changes = (0..lowered.flow_count() as u32).collect();
    lowered
}

fn started(lowered: Lowered, rows: Option<usize>) -> Simulation {
    let mut simulation = Simulation::new(lowered, None).unwrap();
    if let Some(rows) = rows {
        simulation.recorder.keep_at_most(rows);
    }
    simulation
}

fn tables(recording: Recording) -> io::Result<String> {
    Ok(format!("{:?}", recording.read()?))
}

#[test]
fn a_table_from_a_file_is_the_one_from_memory() {
    let mut with_changes = 0;
    for seed in 0..8 {
        let plain = started(recorded(seed), None).finish().unwrap();
        assert!(plain.tables.iter().all(|table| matches!(table, Kept::InMemory(_))));
        let plain = tables(plain).unwrap();
        for rows in [1, 7, 64] {
            let filed = started(recorded(seed), Some(rows)).finish().unwrap();
            for name in ["link_samples", "queue_samples"] {
                let table = filed.tables.iter().find(|table| table.name() == name).unwrap();
                assert!(matches!(table, Kept::InFile(_)), "seed {seed}: {name} is short");
            }
            let changes = filed.tables.iter().find(|table| table.name() == "changes");
            with_changes += usize::from(matches!(changes, Some(Kept::InFile(_))));
            assert!(tables(filed).unwrap() == plain, "seed {seed}, {rows} rows");
        }
    }
    assert!(with_changes > 12, "flows over TCP have some: {with_changes}");
}

#[test]
fn what_there_is_so_far_is_the_same_from_a_file() {
    let mut both = [None, Some(5)].map(|rows| started(recorded(3), rows));
    for ms in (0..3_000).step_by(150) {
        let [plain, filed] = both.each_mut().map(|simulation| {
            simulation.run_until(Time(1_000_000 * ms)).unwrap();
            tables(simulation.so_far().unwrap()).unwrap()
        });
        assert!(plain == filed, "at {ms} ms");
    }
    let [plain, filed] = both.map(|simulation| tables(simulation.finish().unwrap()).unwrap());
    assert!(plain == filed);
}

#[test]
fn a_table_in_a_file_can_be_read_again() {
    let filed = started(recorded(1), Some(3)).finish().unwrap();
    for kept in filed.tables {
        if let Kept::InFile(mut long) = kept {
            let first: Table = long.read().unwrap();
            assert_eq!((first.name.as_str(), first.rows()), (long.name(), long.rows()));
            // Not equal by themselves: some numbers are none.
            assert_eq!(format!("{first:?}"), format!("{:?}", long.read().unwrap()));
        }
    }
}
