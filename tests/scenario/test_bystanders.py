"""What does not concern a packet leaves it alone: when the run ends, what is recorded, and hosts
that nobody talks to. ns-3 has none of these networks, so that no comparison would show it."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import lossless_scenarios
from ccperf._native import parse_time
from ccperf.algorithms import registry
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.scenario import Scenario

SMALL = {"leaves": 3, "spines": 3, "servers": 4, "load": 0.8}
#: Of the lossless scenarios each so many-th.
EACH = 10


@cache
def balanced() -> list[Any]:
    """A fabric that each balancer shares among transfers."""
    return [
        pytest.param(
            catalogue.get("load_balancing")
            .scenario(name, arrivals="2ms", stop_time="3ms", **SMALL)
            .canonical(),
            id=name,
        )
        for name in registry.algorithms("routing")
        if name != "static"
    ]


@cache
def paused() -> list[Any]:
    """Laws of RoCE, NDP, NSCC, TCP and datagrams beside each other."""
    drawn = lossless_scenarios.scenarios(part=0)[::EACH]
    return [pytest.param(each.canonical(), id=each.label) for each in drawn]


def packets(scenario: dict[str, Any], folder: Path) -> list[str]:
    file = folder / "packets.csv"
    backends.get("native").simulate(Scenario.model_validate(scenario), packets=file)
    return file.read_text().splitlines()[1:]


def until(rows: list[str], end: int) -> list[str]:
    return [row for row in rows if int(row.split(",", 1)[0]) < end]


@pytest.mark.parametrize("scenario", [*balanced(), *paused()])
def test_a_run_that_ends_sooner_begins_alike(scenario: dict[str, Any], tmp_path: Path) -> None:
    end = parse_time(scenario["stop_time"]) * 2 // 3
    sooner = deepcopy(scenario)
    sooner["stop_time"] = f"{end}ns"
    for name in ("flows", "changes", "pings"):
        at = "time" if name == "changes" else "start"
        sooner[name] = [each for each in scenario[name] if parse_time(each[at]) < end]
    rows = until(packets(scenario, tmp_path), end)
    assert rows
    assert rows == until(packets(sooner, tmp_path), end)


@pytest.mark.parametrize("scenario", [*balanced(), *paused()])
def test_what_is_recorded_changes_no_packet(scenario: dict[str, Any], tmp_path: Path) -> None:
    watched = deepcopy(scenario)
    links = [link["name"] for link in scenario["links"]]
    watched["recording"] |= {"interval": "37us", "flows": "all", "links": links}
    assert packets(scenario, tmp_path) == packets(watched, tmp_path)


@pytest.mark.parametrize("scenario", paused())
def test_a_host_that_nobody_talks_to_changes_no_packet(
    scenario: dict[str, Any], tmp_path: Path
) -> None:
    larger, name = deepcopy(scenario), "bystander"
    link = deepcopy(scenario["links"][-1])
    (switch, _), *_ = Counter(end for each in larger["links"] for end in each["ends"]).most_common(
        1
    )
    larger["nodes"].append(name)
    larger["links"].append({**link, "name": name, "ends": [switch, name], "addresses": None})
    assert packets(scenario, tmp_path) == packets(larger, tmp_path)
