"""The estimate of a dry run: not below what runs make of their links, and not far above."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccperf import campaign
from ccperf.campaign import Point
from ccperf.campaign.estimate import Estimate, estimate, hops
from ccperf.experiments import catalogue
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends
from ccperf.store import Store

NATIVE = backends.get("native")


@pytest.mark.parametrize("rate", ["2Mbps", "16Mbps", "100Mbps"])
def test_a_full_link_makes_as_many_hops_as_estimated(rate: str) -> None:
    scenario = dumbbell(rate=rate, qlen="200p", rtts="15ms", cc="TcpCubic", stop_time="5s")
    made = int(NATIVE.simulate(scenario).links.array("tx_packets").sum())
    assert 0.8 * hops(scenario) <= made <= 1.1 * hops(scenario)


def test_the_fastest_rate_counts_and_the_mean_of_a_schedule() -> None:
    plain = {"rate": "16Mbps", "qlen": "20p", "rtts": "15ms", "cc": "TcpCubic", "stop_time": "5s"}
    one = hops(dumbbell(**plain))
    changed = hops(dumbbell(**plain, changes=[{"time": "1s", "rate": "32Mbps"}]))
    schedule = {"times_ns": [0, 10**9], "rates_bps": [8_000_000, 24_000_000]}
    assert changed == 2 * one
    assert hops(dumbbell(**plain, schedules=[schedule])) == one


@pytest.mark.parametrize(
    ("experiment", "scheme"),
    [
        ("query_completion", "TCN"),
        ("testbed", "TCN"),
        ("leaf_spine", "ECNSharp"),
    ],
)
def test_transfers_end_long_before_links_would_be_full(experiment: str, scheme: str) -> None:
    scenario = catalogue.get(experiment).scenario(scheme)
    made = int(NATIVE.simulate(scenario).links.array("tx_packets").sum())
    assert 0.5 * made <= hops(scenario) <= 2 * made


def test_bytes_are_those_of_a_database_within_a_factor(tmp_path: Path) -> None:
    """What a run leaves depends on how its series compress."""
    settings = {"qlen": "20p", "rtts": ["15ms"] * 2, "cc": ["TcpCubic"] * 2, "stop_time": "15s"}
    points = [Point(dumbbell(rate=f"{8 + i}Mbps", **settings)) for i in range(6)]
    with Store(tmp_path / "x.db", "a") as store:
        assert campaign.run(points, store, NATIVE).ok
    made = (tmp_path / "x.db").stat().st_size
    assert made / 3 <= estimate([(point.scenario, 1) for point in points]).bytes <= 3 * made


@pytest.mark.parametrize(
    ("seconds", "cores", "text"),
    [
        (0.1, 2, "9 runs: about 1 s on 2 cores, 2.0 MB, at most"),
        (600.0, 2, "9 runs: about 5 min on 2 cores, 2.0 MB, at most"),
        (36_000.0, 1, "9 runs: about 10.0 h on 1 core, 2.0 MB, at most"),
    ],
)
def test_it_is_said_in_one_line(seconds: float, cores: int, text: str) -> None:
    assert Estimate(9, seconds, 2e6).text(cores) == text
