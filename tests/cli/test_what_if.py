"""``ccperf run ... --what-if``: the command that a page gives for what it simulates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from ccperf.experiments import what_if
from ccperf.scenario import Scenario
from ccperf.store import Store

SHORT = ["--what-if", "stop_time=500ms,cc=bbr,rtt=30ms"]

pytestmark = pytest.mark.usefixtures("own_folder")


def test_the_dumbbell_to_play_with_runs_and_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "dumbbell", *SHORT, "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    assert run["command"].startswith("ccperf run dumbbell --cc TcpCubic --flows 1 --rate 16Mbps ")
    assert run["command"].endswith(f" --seed 42 {' '.join(SHORT)}")
    wanted = what_if.what_if(what_if.playground(), what_if.parse(SHORT[1]))
    assert Scenario.model_validate(run["scenario"]).hash == wanted.hash
    assert Path("ccperf.db").exists()


def test_a_point_of_an_experiment_with_other_settings_is_no_point_of_it() -> None:
    assert invoke(["run", "aqm", "--k", "1,2", "--qdisc", "codel", *SHORT]) == 0
    with Store(Path("ccperf.db"), "r") as store:
        assert [run.experiment for run in store.runs()] == [None, None]
    assert not Path("benchmark_TcpNewReno.db").exists()


def test_each_point_is_called_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "aqm", "--k", "1,2", "--qdisc", "codel,fifo", *SHORT, "--json"]) == 0
    labels = [run["scenario"]["label"] for run in json.loads(capsys.readouterr().out)]
    assert [label.partition(",")[0] for label in labels] == [
        f"aqm aut=TcpNewReno k={k} qdisc={qdisc}"
        for k in (1, 2)
        for qdisc in ("CoDelQueueDisc", "FifoQueueDisc")
    ]
    assert all(label.endswith(f", what if {SHORT[1]}") for label in labels)


@pytest.mark.parametrize(("cc", "then", "count"), [("newreno", "bbr", 3), ("bbr", "newreno", 1)])
def test_a_seed_is_worth_a_run_where_it_changes_what_runs(
    capsys: pytest.CaptureFixture[str], cc: str, then: str, count: int
) -> None:
    """BBR draws when it probes; NewReno draws nothing."""
    point = ["--cc", cc, "--k", "1", "--qdisc", "codel", "--seed", "1..3", "--stop-time", "1s"]
    assert invoke(["run", "aqm", *point, "--what-if", f"cc={then}", "--json"]) == 0
    out, err = capsys.readouterr()
    runs = json.loads(out)
    assert len({run["run"] for run in runs}) == len(runs) == count
    assert ("2 runs not repeated" in err) == (count == 1)


def test_a_scenario_of_json_runs_under_its_own_command(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = what_if.playground().canonical()
    Path("result.json").write_text(json.dumps({"scenario": scenario}))
    assert invoke(["run", "result.json", *SHORT, "--seed", "3", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    assert run["command"] == f"ccperf run result.json --seed 3 {' '.join(SHORT)}"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "dumbbell", "--what-if", "rtt=1ms"], "--what-if rtt: 1ms is too short"),
        (["run", "dumbbell", "--what-if", "speed=1"], "--what-if: unknown setting `speed`"),
        (["run", "dumbbell", "--what-if", "cc=cubic:Beta=0.5"], "which only --cc and --qdisc take"),
        (["run", "dumbbell", "--what-if", "cc=bbr+cubic(0.5)"], "--what-if"),
        (["run", "dumbbell", "--speed", "1"], "unknown parameter of dumbbell `speed`"),
    ],
)
def test_a_setting_that_cannot_be_ends_before_anything_runs(
    capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert invoke(words) == 2
    assert says in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_an_algorithm_of_one_s_own_is_called_by_its_label(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert invoke(["new", "cc", "Mine"]) == 0
    other = f"cc={Path('mine.py').absolute()}:Mine+cubic,stop_time=100ms"
    assert invoke(["run", "dumbbell", "--what-if", other]) == 0
    said = capsys.readouterr()
    assert ", what if cc=mine.py:Mine+cubic,stop_time=100ms" in said.out
    assert other in said.err  # the command names the file
    with Store(Path("ccperf.db"), "r") as store:
        assert str(Path.cwd()) not in json.dumps(store.scenario(*store.ids()))
    for setting in ("cc", "qdisc"):
        assert invoke(["run", "dumbbell", "--what-if", f"{setting}=./gone.py:Mine"]) == 2
        assert f"--what-if: {setting}: `" in capsys.readouterr().err


def test_points_that_a_change_makes_one_are_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    point = ["--k", "1", "--qdisc", "codel,fifo,red", "--stop-time", "1s"]
    assert invoke(["run", "aqm", *point, "--what-if", "qdisc=pie"]) == 0
    out, err = capsys.readouterr()
    (row,) = out.splitlines()[1:]
    assert "what if qdisc=pie" in row
    assert "3 points are 1 run" in err
    assert invoke(["run", "aqm", *point, "--what-if", "rtt=30ms"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1 + 3
    assert "points are" not in err
