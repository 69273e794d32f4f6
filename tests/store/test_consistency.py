"""A stranger's run with right checksums, which cannot be one of its scenario."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccperf.cli.app import invoke
from ccperf.runs.metrics import MetricTables
from ccperf.runs.recording import Recording
from ccperf.runs.result import Result
from ccperf.store import DamagedRun, Store
from ccperf.store.check import check
from recordings import ScriptedBackend, small_scenario

Tables = dict[str, dict[str, Any]]


def results() -> list[Result]:
    backend = ScriptedBackend()
    return [
        Result.of(
            scenario := small_scenario(flows=2, seed=seed),
            backend.simulate(scenario),
            backend,
            experiment="aqm",
            parameters={"k": "2", "cc": "TcpCubic"},
        )
        for seed in (1, 2, 3)
    ]


def put(table: str, column: str, values: Callable[[Any], Any]) -> Callable[[Tables], None]:
    def change(tables: Tables) -> None:
        tables[table][column] = values(tables[table][column])

    return change


def without_last_row(tables: Tables) -> None:
    tables["flow_samples"] = {name: data[:-1] for name, data in tables["flow_samples"].items()}


def twice(tables: Tables) -> None:
    tables["flows"] = {
        name: data * 2 if isinstance(data, list) else np.tile(data, 2)
        for name, data in tables["flows"].items()
    }


def lowest(tables: Tables) -> None:
    """All integers, and other names."""
    for table in tables.values():
        for name, data in table.items():
            if isinstance(data, np.ndarray) and data.dtype == np.int64:
                table[name] = np.full_like(data, -(2**63))
    tables["flows"]["name"] = ["x", "y"]


CRAFTED: dict[str, tuple[Callable[[Tables], None], str]] = {
    "a flow that is none": (
        put("flow_samples", "flow", lambda of: np.full_like(of, 2**40)),
        "`flow` is no row of `flows`",
    ),
    "a link that is none": (
        put("link_samples", "link", lambda of: np.full_like(of, 2**40)),
        "`link` is no row of `links`",
    ),
    "a negative index": (
        put("flow_samples", "flow", lambda of: of - 1),
        "`flow` has an impossible value",
    ),
    "the lowest numbers and other names": (lowest, "has an impossible value"),
    "other names of flows": (
        put("flows", "name", lambda of: [f"x{name}" for name in of]),
        "other flows than the scenario",
    ),
    "other names of links": (
        put("links", "name", lambda of: of[::-1]),
        "other links than the scenario",
    ),
    "another bottleneck": (
        put("flows", "bottleneck", lambda of: ["elsewhere"] * len(of)),
        "`bottleneck` is no link",
    ),
    "times that descend": (
        put("flow_samples", "time_ns", lambda of: of[::-1]),
        "not on the scenario's grid",
    ),
    "times between the points": (
        put("link_samples", "time_ns", lambda of: of + 1),
        "not on the scenario's grid",
    ),
    "a row too few": (without_last_row, "not on the scenario's grid"),
    "flows twice": (twice, "has 4 rows, of 2 at most"),
    "an infinite value": (
        put("flow_samples", "srtt_ns", lambda of: np.full_like(of, np.inf)),
        "`srtt_ns` has an impossible value",
    ),
}


def crafted(path: Path, what: str) -> str:
    """A database of three runs, of which the second is crafted: its id."""
    change, _ = CRAFTED[what]
    first, second, third = results()
    tables: Tables = {name: dict(table) for name, table in second.recording.tables.items()}
    change(tables)
    with Store(path, "a") as store:
        store.add(first)
        store.add(dataclasses.replace(second, recording=Recording(tables)))
        store.add(third)
    return second.id


@pytest.mark.parametrize("what", CRAFTED)
def test_a_recording_that_is_none_of_its_scenario_is_damage(tmp_path: Path, what: str) -> None:
    run = crafted(tmp_path / "x.db", what)
    damaged = check(tmp_path / "x.db").damaged
    assert list(damaged) == [run]
    assert CRAFTED[what][1] in damaged[run]
    with Store(tmp_path / "x.db", "r") as store:
        for read in (store.load, store.load_series, store.recording):
            with pytest.raises(DamagedRun) as caught:
                read(run)
            assert caught.value.run == run


@pytest.mark.parametrize(
    "what", ["a flow that is none", "a link that is none", "the lowest numbers and other names"]
)
def test_such_a_run_is_left_out_and_named_and_the_rest_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = crafted(Path("x.db"), what)
    message = CRAFTED[what][1]
    whole = {result.id for result in results()} - {run}

    def said(status: int, *words: str) -> str:
        assert invoke([*words, "--db", "x.db"]) == status, words
        return "".join(capsys.readouterr())

    assert message in said(1, "doctor")
    for command in (["diff", min(whole), run], ["plot", run, "-o", "x.svg"], ["cite", run]):
        assert message in said(2, *command)
    assert f"left out: x.db: is damaged: run {run}" in said(1, "site", "build", "-o", "site")
    page = "".join(path.read_text() for path in Path("site").rglob("*.html"))
    assert run not in page
    assert all(one in page for one in whole)
    assert f"left out: x.db: is damaged: run {run}" in said(1, "export", "--series", "-o", "out")
    assert {path.name for path in Path("out/series").iterdir()} == whole
    chosen = said(1, "export", *whole, run, "--series", "-o", "chosen")
    assert f"left out: x.db: is damaged: run {run}" in chosen
    assert {path.name for path in Path("chosen/series").iterdir()} == whole
    said(0, "runs")
    # What is mended is whole.
    said(0, "doctor", "--mend")
    said(0, "site", "build", "-o", "site")


def test_a_small_table_may_not_become_larger_than_the_scenario_says(tmp_path: Path) -> None:
    """The ratio that honest files have would let each megabyte become 250."""
    result = results()[0]
    many = 200_000
    tables: Tables = {name: dict(table) for name, table in result.recording.tables.items()}
    tables["flow_samples"] = {
        name: np.zeros(many, data.dtype) for name, data in tables["flow_samples"].items()
    }
    with Store(tmp_path / "x.db", "a") as store:
        store.add(dataclasses.replace(result, recording=Recording(tables)))
        with pytest.raises(DamagedRun, match=re.escape("claims to be")):
            store.load(result.id)


def test_metrics_of_flows_and_links_that_are_none_are_damage(tmp_path: Path) -> None:
    result = results()[0]
    for scope in ("flow", "link"):
        metrics = MetricTables(flow=dict(result.metrics.flow), link=dict(result.metrics.link))
        metrics.by_scope[scope]["elsewhere"] = {"throughput_l4": 1.0}  # type: ignore[index]
        with Store(tmp_path / f"{scope}.db", "a") as store:
            store.add(dataclasses.replace(result, metrics=metrics))
            with pytest.raises(DamagedRun, match="elsewhere"):
                store.load(result.id)
