"""Which paths Hermes takes for failed: none where nothing is broken, and all that are."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.recording import Recording

SMALL = {"leaves": 4, "spines": 4, "servers": 4, "workload": "web_search"}


def simulated(experiment: str, **given: Any) -> Recording:
    scenario = catalogue.get(experiment).scenario("hermes", **given)
    return backends.get("native").simulate(scenario)


@pytest.mark.parametrize(
    "size",
    [
        pytest.param({**SMALL, "load": 0.7}, id="4 x 4 x 4"),
        pytest.param(
            {"workload": "web_search", "load": 0.5}, id="8 x 8 x 16", marks=pytest.mark.sweep
        ),
    ],
)
def test_no_path_fails_in_half_a_second_where_nothing_is_broken(size: dict[str, Any]) -> None:
    recording = simulated("hermes_symmetric", arrivals="500ms", stop_time="2s", **size)
    assert "failed_paths" not in recording.tables


def test_the_spine_that_loses_packets_is_found_and_no_other() -> None:
    recording = simulated("hermes_random_drops", load=0.5, arrivals="100ms", **SMALL)
    failed = recording.tables["failed_paths"]
    assert set(failed.strings("reason")) == {"random_drops"}
    assert set(failed.array("path").tolist()) == {0}, "the uplinks to the first spine"
    pairs = set(zip(failed.strings("source"), failed.strings("destination"), strict=True))
    assert len(pairs) == 4 * 3, "each pair of racks"


def test_a_black_hole_is_found_by_the_hosts_behind_it_and_no_flow_stays_there() -> None:
    recording = simulated("hermes_black_hole", load=0.5, arrivals="100ms", **SMALL)
    failed = recording.tables["failed_paths"]
    holes = [row for row, why in enumerate(failed.strings("reason")) if why == "black_hole"]
    assert holes
    assert {failed.array("path")[row] for row in holes} == {0}
    assert recording.completions is not None
    assert (recording.completions.array("finished") == 1).all()
