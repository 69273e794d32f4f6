"""A command of many runs: what it prints at the end comes from the database, not from memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ccperf.campaign.plan import Plan
from ccperf.cli.app import invoke
from ccperf.cli.jobs import planned
from ccperf.store import Store

COMMAND = ["run", "aqm", "--cc", "cubic", "--k", "1", "--qdisc", "codel", "--jitter", "10ms"]
COMMAND += ["--stop-time", "100ms"]


def run(*words: str) -> int:
    return invoke([*COMMAND, *words])


@pytest.fixture(name="database")
def _database(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def test_a_long_table_is_cut_and_says_how_many_more_there_are(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccperf.cli.run._LISTED", 3)
    assert run("--seed", "1..5", "--db", database) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 4
    assert "and 2 runs more: `ccperf runs --db FILE` lists all" in err


def test_a_table_of_runs_reads_the_samples_of_one_for_each_experiment(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others' lines are made of their metrics: 200 runs of a thousand flows are 2 GB."""
    read, recording = [], Store._recording
    monkeypatch.setattr(
        Store, "_recording", lambda store, *words: read.append(words[0]) or recording(store, *words)
    )
    assert run("--seed", "1..5", "--db", database) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert len(read) == 1


def test_json_of_many_runs_holds_one_of_them_at_a_time(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is printed before the next one is read."""
    assert run("--seed", "1..4", "--db", database) == 0
    capsys.readouterr()
    load, printed = Store.load, []

    def counting(store: Store, *words: object, **more: object) -> object:
        printed.append(capsys.readouterr().out)
        return load(store, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "load", counting)
    assert run("--seed", "1..4", "--db", database, "--json") == 0
    printed.append(capsys.readouterr().out)
    assert printed[0] == ""
    assert all('"flow_metrics"' in text for text in printed[1:])
    whole = "".join(printed)
    runs = json.loads(whole)
    assert [one["provenance"]["seed"] for one in runs] == [1, 2, 3, 4]
    assert whole == json.dumps(runs, indent=1) + "\n"


def test_nothing_is_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    from ccperf.cli.output import print_json_items

    print_json_items([])
    assert capsys.readouterr().out == "[]\n"


def test_of_many_flows_no_more_scenarios_are_kept_than_fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = ["run", "aqm", "--cc", "cubic", "--k", "1..3", "--qdisc", "codel", "-n"]
    assert invoke(grid) == 0
    usual = capsys.readouterr()
    monkeypatch.setattr("ccperf.cli.jobs._KEPT_PARTS", 12)
    assert invoke(grid) == 0
    assert capsys.readouterr() == usual
    plan = Plan("aqm", ["TcpCubic"], {"k": [1, 2, 3], "qdisc": ["CoDelQueueDisc"]})
    (repeats,) = planned({"cubic": [plan]}, "native").values()
    assert [each.first is None for each in repeats] == [False, False, True]


def test_before_many_runs_are_planned_their_number_is_said(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--seed", "1..300", "--db", database, "-n") == 0
    assert capsys.readouterr().err.startswith("planning 300 runs\n")


def test_what_many_points_have_alike_is_said_once(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "run leaf_spine --qdisc red,codel --workload web_search,data_mining --load 0.3"
    line += " --leaves 2 --spines 2 --servers 2 --window 100 --arrivals 20ms"
    compared = ["compare", "codel", "red"]
    for command in (line.split(), ["runs"], [*compared, "--each"], compared):
        assert invoke([*command, "--db", database]) == 0
        out, err = capsys.readouterr()
        assert "servers=2" not in out
        (said,) = {one for one in err.splitlines() if one.startswith("all points of leaf_spine: ")}
        assert "load=0.3 leaves=2 spines=2 servers=2" in said
        if command != compared:
            assert "workload=web_search" in out
            assert "workload=data_mining" in out
    # Of one point nothing is said twice.
    assert invoke(["runs", "--db", database, "--at", "workload=web_search"]) == 0
    out, err = capsys.readouterr()
    assert "servers=2" in out
    assert "all points" not in err
