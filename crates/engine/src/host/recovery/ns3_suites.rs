//! What ns-3's test suites expect of loss recovery: facts of the suites.
//!
//! `python/ccperf/verify/expectations.py` counts the cases; `tests/differential` has the others.

use super::build;
use crate::host::tcp::Tcb;
use crate::host::tcp::profile::changes::Changes;
use crate::host::tcp::recovery::{AckKind, Episode, Recovery};

fn built(name: &str) -> Box<dyn Recovery> {
    build(name, Changes::NONE).expect("registered")
}

fn episode(unacked: u32) -> Episode {
    Episode { unacked, sacked: 0, delivered: 0, window: None, has_sack: true }
}

/// ns-3's tcp-classic-recovery-test, 6 cases.
#[test]
fn classic_recovery_stays_at_the_threshold() {
    for (cwnd, segment_size, ssthresh) in [
        (3000, 500, 2500),
        (3000, 1000, 2500),
        (3000, 500, 2500),
        (3000, 500, 1000),
        (2500, 500, 2500),
        (1000, 500, 2500),
    ] {
        let mut recovery = built("TcpClassicRecovery");
        let mut tcb = Tcb { cwnd, segment_size, ssthresh, ..Tcb::default() };
        recovery.enter(&mut tcb, episode(1000));
        assert_eq!(tcb.cwnd, ssthresh);
        recovery.on_ack(&mut tcb, 500, AckKind::Advance);
        assert_eq!(tcb.cwnd, ssthresh);
    }
}

/// ns-3's tcp-prr-recovery-test, 4 cases.
#[test]
fn proportional_rate_reduction_nears_the_threshold_from_both_sides() {
    // The suite has each of these twice, for two bounds of which ns-3 3.44 chooses itself.
    for (cwnd, in_flight) in [(3000, 3000), (1000, 1000), (3000, 3000), (1000, 1000)] {
        let mut recovery = built("TcpPrrRecovery");
        let (segment_size, ssthresh) = (500, 2500);
        let mut tcb =
            Tcb { cwnd, segment_size, ssthresh, bytes_in_flight: in_flight, ..Tcb::default() };
        recovery.enter(&mut tcb, episode(3000));
        assert!(tcb.cwnd >= cwnd + segment_size, "one segment goes out at least");
        for _ in 0..2 {
            recovery.on_sent(segment_size);
        }
        tcb.bytes_in_flight = in_flight + tcb.cwnd - cwnd;
        let before = tcb.cwnd;
        recovery.on_ack(&mut tcb, 500, AckKind::Advance);
        if tcb.bytes_in_flight > ssthresh {
            assert!(tcb.cwnd <= before);
        } else {
            assert!(tcb.cwnd >= before);
        }
    }
}
