"""What would make more than a run may have is refused before any of it is made."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from ccperf.errors import ScenarioError
from ccperf.experiments import bounds, collectives, topologies, traces
from user_scenarios import environment

#: Of address space, in bytes: what went beyond took all of the machine's memory.
ROOM = 4_000_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("responsiveness_pulse_wave --period 1us", "period: `1us` makes 30,000,000 changes"),
        ("responsiveness_pulse_wave --period 1ns", "period: `1ns` makes 15,000,000,000 changes"),
        ("replay_rate_trace --stop-time 1000h", "stop_time: `3600000s` makes 162,720,000 rows"),
        ("random_walk --step 1ns", "step: `1ns` makes"),
        ("handover --every 3ns --outage 1ns", "every: `3ns` makes 60,000,000,000 changes"),
        ("leaf_spine --leaves 100000", "leaves: `100000` makes 1,200,000 links"),
        ("leaf_spine --leaves 1", "leaves: `1` must be a whole number from 2 to 1,000,000"),
        (
            "load_balancing --condition parallel_links --spines 3",
            "spines: `3` cannot be halved for parallel_links; an even number",
        ),
        (
            "load_balancing --condition slow_links --leaves 2 --spines 1",
            "slow.share: 0.2 of 2 links rounds to none; take more leaves or spines",
        ),
        (
            "load_balancing --transport ndp --qdisc codel",
            "qdisc: `CoDelQueueDisc` changes nothing with transport=ndp; leave it out",
        ),
        (
            "load_balancing --condition flapping --arrivals 5ms",
            "arrivals: `5ms` end before the link is down first, after 5ms",
        ),
        (
            "load_balancing --condition black_hole --servers 1",
            "servers: `1` has no half of a rack for black_hole; at least 2",
        ),
        (
            "all_reduce --leaves 3 --servers 2 --algorithm halving_doubling",
            "leaves: 3 times 2 servers are 6, no power of two, which halving and doubling needs",
        ),
        ("load_balancing --spines 1000000", "spines: `1000000` makes 4,000,032 links"),
        ("all_reduce --servers 10000", "servers: `10000` makes 3,199,920,000 transfers"),
        ("all_to_all --leaves 10000", "leaves: `10000` makes 6,399,920,000 transfers"),
        ("permutation --leaves 100000", "leaves: `100000` makes 800,000 links"),
        ("pfc_victim --n 5", "n: `5` must be a whole number from 1 to 4"),
        ("pfc_deadlock --switches 100000", "must be a whole number from 1 to 65,536"),
        ("aqm --k 1000000", "k: `1000000` must be a whole number from 1 to 65,535"),
        ("dumbbell --flows 1000000", "flows: `1000000` must be a whole number from 1 to 65,535"),
        ("n_against_one --n 65535", "n: `65535` must be a whole number from 1 to 65,534"),
        ("incast --n 1000000", "n: `1000000` must be a whole number from 1 to 131,071"),
        ("parking_lot --n 1000000", "n: `1000000` must be a whole number from 1 to 62"),
    ],
)
def test_a_command_is_refused_at_once(tmp_path: Path, words: str, says: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ccperf", "run", *words.split(), "--db", "x.db"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment(),
        timeout=30,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM)),
    )
    assert done.returncode == 2, done.stderr[-2000:]
    *before, line = done.stderr.splitlines()
    assert before in ([], ["planning 288 runs"])
    assert line.startswith("error: ")
    assert says in line
    assert list(tmp_path.iterdir()) == []


def test_what_a_run_may_have_is_made() -> None:
    few = bounds.MOST["links"]
    bounds.few_enough("links", few, hosts=few)
    with pytest.raises(ScenarioError, match="hosts: `131073` makes 131,073 links, more than the"):
        bounds.few_enough("links", few + 1, hosts=few + 1)


def test_the_builders_themselves_refuse() -> None:
    ranks = [str(rank) for rank in range(2000)]
    for make in (
        lambda: topologies.leaf_spine(100_000),
        lambda: topologies.fat_tree(128),
        lambda: topologies.star(200_000),
        lambda: topologies.parking_lot(
            rate="10Mbps", rtt="60s", qlen="20p", hops=100_000, cc="cubic"
        ),
        lambda: collectives.ring_all_reduce(ranks, 10**6),
        lambda: collectives.all_to_all(ranks, 10**6),
        lambda: collectives.pipeline(ranks, 10**6, batches=2000),
    ):
        with pytest.raises(ScenarioError, match=r"makes .*, more than the .* of a run; lower it"):
            make()


def test_the_rows_of_a_trace_are_counted_to_the_end_of_the_run() -> None:
    trace = traces.Trace((0, 1, 2), (1, 2, 3), period_ns=10)
    for stop_ns in (1, 2, 9, 10, 11, 12, 40, 43):
        (schedule,) = trace.schedules(stop_ns)
        assert len(schedule["times_ns"]) == sum(t % 10 < 3 for t in range(stop_ns))
    most = bounds.MOST["rows"] // 3 * 10
    with pytest.raises(ScenarioError, match=r"stop_time: .* makes 10,000,002 rows"):
        trace.schedules(most + 3)
