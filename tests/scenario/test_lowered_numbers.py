"""A lowered file may come from anywhere: numbers that do not fit are refused there, too."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ccperf import _native
from ccperf.experiments.topologies import written
from ccperf.scenario import Scenario
from lowered_files import written_out
from user_scenarios import ROOT

Place = tuple[str | int, ...]
WHOLE = (2**64 - 1, 2**63, 2**63 - 1, 2**62, 2**32, 0, -1)
FRACTIONS = (1e308, -1e308, 1e19, -1.0, 0.0)


def two_bottlenecks() -> Scenario:
    return written.read(ROOT / "examples" / "scenarios" / "two_bottlenecks.toml")


def workload() -> Scenario:
    path = ROOT / "fuzz" / "corpus" / "scenario" / "workload.json"
    return Scenario.model_validate_json(path.read_text(), context={"folder": Path()})


def numbers(value: Any, place: Place = ()) -> Iterator[tuple[Place, int | float]]:
    """Where each number stands; of a list those of its first entry."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, (*place, key))
    elif isinstance(value, list):
        for inner in value[:1]:
            yield from numbers(inner, (*place, 0))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, value


def changed(lowered: Any, place: Place, number: float) -> str:
    other = copy.deepcopy(lowered)
    inner = other
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = number
    return json.dumps(other)


@pytest.mark.parametrize("scenario", [two_bottlenecks, workload])
def test_whatever_a_number_is_it_is_refused_or_the_run_begins(scenario: Any) -> None:
    lowered = written_out(scenario().lowered())
    refused = 0
    for place, number in numbers(lowered):
        for other in WHOLE if isinstance(number, int) else FRACTIONS:
            try:
                _native.Simulation(changed(lowered, place, other)).run_for(500)
            except ValueError:
                refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("place", "number", "message"),
    [
        (("schema",), 1, "schema: 1 is not between 2 and 3"),
        (("stop_ns",), 2**63, "stop_ns: 9223372036854775808 is not between 0 and 10"),
        (("recording", "interval_ns"), 0, "interval_ns: 0 is not between 1 and 10"),
        (("links", 0, "ends", 1), 99, "links: ends: there is no number 99 among 5"),
        (("links", 0, "directions", 0, "rate_bps"), 0, "rate_bps: 0 is not between 1 and 10"),
        (("links", 0, "directions", 0, "loss"), 1.5, "loss: 1.5 is no share of one"),
        (("flows", 0, "path"), [], "flows: 0 instead of 1"),
        (("flows", 0, "dscp"), 64, "flows: dscp: 64 is more than 63"),
        (("flows", 0, "pias"), list(range(1, 65)), "flows: dscp: 64 is more than 63"),
        (("recording", "changes"), [1, 0], "recording: changes: these numbers do not ascend"),
        (("recording", "flows"), [0, 0], "recording: flows: these numbers do not ascend"),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_the_field_is_named(place: Place, number: Any, message: str) -> None:
    lowered = written_out(two_bottlenecks().lowered())
    with pytest.raises(ValueError, match=message):
        _native.Simulation(changed(lowered, place, number))


def test_a_file_in_which_nothing_is_left_out_is_read_as_well() -> None:
    short = two_bottlenecks().lowered()
    whole = json.dumps(written_out(short))
    assert len(whole) > len(short) + 1000
    tables = [_native.Simulation(text).finish() for text in (short, whole)]
    for table in ("flows", "links"):
        one, other = (
            {name: [*map(str, column)] for name, column in each[table].items()} for each in tables
        )
        assert one == other


def test_a_datagram_fits_into_a_packet() -> None:
    scenario = two_bottlenecks().model_dump(mode="json")
    flow = {key: scenario["flows"][0][key] for key in ("source", "destination")}
    application = {"type": "CBR", "rate": "1Mbps"}
    scenario["flows"] = [{**flow, "transport": "UDP", "application": application}]
    lowered = json.loads(Scenario.model_validate(scenario).lowered())
    place = ("flows", 0, "application", "write_bytes")
    _native.Simulation(changed(lowered, place, 65_507)).run_for(500)
    with pytest.raises(ValueError, match="write_bytes: 65508 is not between 1 and 65507"):
        _native.Simulation(changed(lowered, place, 65_508))
