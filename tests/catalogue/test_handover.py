"""Handovers: what changes, when, and that packets overtake where the path becomes shorter."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import ccperf
from ccperf.errors import UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.topologies.handovers import Handovers

HANDOVER = catalogue.get("handover")


def test_each_has_an_outage_and_a_delay_within_the_bounds() -> None:
    changes = list(Handovers(every="5s", outage="40ms").changes("sky", "21s", seed=3))
    times = [ccperf._native.parse_time(change.time) / 1e9 for change in changes]
    assert times == [4.96, 5, 9.96, 10, 14.96, 15, 19.96, 20]
    delays = [change.delay for change in changes if change.delay]
    assert len(set(delays)) == 4
    assert all(10e6 <= ccperf._native.parse_time(delay) <= 30e6 for delay in delays)
    assert [change.loss for change in changes] == [0.5, 0.0] * 4


def test_seeds_have_other_paths_and_all_algorithms_the_same() -> None:
    of = {
        (cc, seed): HANDOVER.scenario(cc, seed=seed).changes
        for cc in ("cubic", "bbr")
        for seed in (1, 2)
    }
    assert of["cubic", 1] == of["bbr", 1] != of["cubic", 2]


def test_round_trips_follow_the_paths() -> None:
    """BBRv3 empties the queue, for each of its probes of the round trip."""
    scenario = HANDOVER.scenario("TcpBbr3", loss=0.0, seed=5)
    samples = ccperf.run("handover", cc="bbr3", loss=0.0, seed=5).recording.flow_samples
    times, srtt = samples["time_ns"] / 1e9, samples["srtt_ns"] / 1e6
    for change in scenario.changes:
        begin = ccperf._native.parse_time(change.time) / 1e9
        rtt = 2 * ccperf._native.parse_time(change.delay) / 1e6 + 4
        found = float(np.min(srtt[(times > begin + 2) & (times < begin + 14.9)]))
        assert rtt <= found < rtt + 8, change


def test_packets_overtake_where_the_path_becomes_shorter(tmp_path: Path) -> None:
    trace = tmp_path / "packets.csv"
    given = {"loss": 0.0, "rate": "10Mbps", "every": "1s", "stop_time": "8s"}
    delays = [
        ccperf._native.parse_time(change.delay)
        for change in HANDOVER.scenario("cubic", **given).changes
    ]
    falls = sum(after < before - 2e6 for before, after in itertools.pairwise(delays))
    ccperf.run("handover", cc="cubic", packets=trace, **given)
    highest, late = 0, 0
    with trace.open() as lines:
        for line in lines:
            _, link, event, _, seq, *_ = line.split(",")
            if (link, event) == ("btl_forward", "rx"):
                late += int(seq) < highest
                highest = max(highest, int(seq))
    assert falls >= 2
    assert late >= falls


@pytest.mark.parametrize(
    ("given", "field"),
    [({"least": "5ms"}, "least"), ({"most": "10ms"}, "most"), ({"outage": "15s"}, "outage")],
)
def test_what_makes_no_sense_is_named(given: dict[str, str], field: str) -> None:
    with pytest.raises(UsageError, match=given[field]):
        HANDOVER.scenario("cubic", **given)


def test_the_page_says_what_cubic_gets() -> None:
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
    (flow,) = ccperf.run("handover", cc="cubic", loss=0.5).flow_metrics.values()
    said = (
        f"gets {flow['mean_throughput_l4']:.1f} Mbps and retransmits"
        f" {flow['retransmission_rate_l4']:.2f} % of its segments"
    )
    assert said in page
