"""Who is under test at a point: whoever it says takes part there, and a run is called as asked."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import ccperf
from ccperf.algorithms import roles
from ccperf.cli.app import invoke
from ccperf.cli.options import DEFAULT_DB
from ccperf.errors import UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.catalogue import Experiment
from ccperf.present.reproduce import reproduce_point
from ccperf.store import Store

#: The mix of `l4s` that says itself that no flow is under test: what a set compares with.
ZERO = "0:1"
#: Two of each kind that no experiment refuses.
_TWO = {
    "cc": ("TcpCubic", "TcpVegas"),
    "qdisc": ("ECNSharpQueueDisc", "TcnQueueDisc"),
    "routing": ("ecmp", "Random"),
}


def two_of(experiment: Experiment) -> list[str]:
    """Two that it tests, as it names them."""
    names = (*_TWO[experiment.kind], *experiment.usual)
    taken = (experiment.resolve(name) for name in names if _takes(experiment, name))
    return list(dict.fromkeys(taken))[:2]


def _takes(experiment: Experiment, name: str) -> bool:
    try:
        return experiment.takes(experiment.resolve(name))
    except UsageError:
        return False


def places(experiment: Experiment) -> list[dict[str, Any]]:
    """The default point, and those that differ from it in one parameter of words."""
    return [
        {},
        *(
            {parameter.name: word}
            for parameter in experiment.parameters
            for word in parameter.words
            if parameter.unit == "word" and (experiment.name, word) != ("l4s", ZERO)
        ),
    ]


SEVERAL = [name for name in catalogue.NAMED if len(two_of(catalogue.get(name))) == 2]


def test_almost_every_experiment_tests_several() -> None:
    """Else there would be little left of the next test."""
    assert set(catalogue.NAMED) - set(SEVERAL) == {"ecn_sharp_sensitivity"}


@pytest.mark.parametrize("name", SEVERAL)
def test_a_point_names_who_is_under_test_just_where_that_changes_something(name: str) -> None:
    experiment = catalogue.get(name)
    one, other = two_of(experiment)
    checked = 0
    for place in places(experiment):
        try:
            setups = [experiment.setup(who, **place) for who in (one, other)]
            scenarios = [experiment.scenario(who, **place) for who in (one, other)]
        except UsageError:  # a word that goes with others only
            continue
        checked += 1
        is_named = roles.under_test(setups[0].labels) is not None
        assert is_named == (not scenarios[0].is_like(scenarios[1])), place
    assert checked


@pytest.mark.parametrize(
    "name", [name for name in catalogue.NAMED if catalogue.get(name).tested_at]
)
def test_who_takes_no_part_is_refused_with_the_parameter_that_says_so(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    experiment = catalogue.get(name)
    assert experiment.tested_at
    parameter, values = experiment.tested_at
    (described,) = (each for each in experiment.parameters if each.name == parameter)
    nobody = next(word for word in described.words if word not in values)
    assert invoke(["run", name, "--cc", "cubic", f"--{parameter}", nobody]) == 2
    error = capsys.readouterr().err
    assert "--cc: `TcpCubic`" in error
    assert f"{parameter} is {nobody}" in error
    assert values[0] in error
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="takes no part"):
        ccperf.run(name, cc="cubic", **{parameter: nobody})
    with pytest.raises(UsageError, match="takes no part"):
        ccperf.grid(name, cc=["cubic", "reno"], **{parameter: [nobody]})


SHORT = ["--stop-time", "100ms", "--rate", "10Mbps"]


def called(text: str) -> list[str]:
    """What `run` calls its runs: their line without id, seed and values."""
    return [line.split(None, 1)[1] for line in text.splitlines()[1:]]


def test_a_run_that_is_two_points_is_called_as_was_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = str(tmp_path / "runs.db")
    for against in ("cubic,bbr", "bbr,cubic"):
        words = ["run", "l4s", "--cc", "prague", "--against", against, "--mix", "1:0"]
        assert invoke([*words, *SHORT, "--db", file]) == 0
        lines = called(capsys.readouterr().out)
        order = [line.split("against=")[1].split()[0] for line in lines]
        assert order == [f"Tcp{name.capitalize()}" for name in against.split(",")]
    with Store(file, "r") as store:
        assert len(store.ids()) == 1


def test_a_run_that_is_two_points_is_called_as_was_asked_in_python(tmp_path: Path) -> None:
    runs = ccperf.grid(
        "l4s",
        cc="prague",
        against=["cubic", "bbr"],
        mix="1:0",
        rate="10Mbps",
        stop_time="100ms",
        db=tmp_path / "runs.db",
        progress=False,
    )
    assert [run.parameters["against"] for run in runs] == ["TcpCubic", "TcpBbr"]
    assert len({run.id for run in runs}) == 1


def test_where_nobody_is_under_test_one_run_is_made_for_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "pfc_incast", "--cc", "dctcp,cubic", "--transport", "tcp,dcqcn", "--n", "2"]
    assert invoke(words) == 0
    lines = called(capsys.readouterr().out)
    assert [line.split()[1].partition("=")[0] for line in lines] == ["aut", "aut", "transport"]
    assert {path.name for path in tmp_path.glob("*.db")} == {
        "benchmark_TcpDctcp.db",
        "benchmark_TcpCubic.db",
        str(DEFAULT_DB),
    }
    with Store(DEFAULT_DB, "r") as store:
        (row,) = store.runs()
        assert "under_test" not in row.algorithms
        again = reproduce_point(
            row.experiment, row.parameters, store.load(row.id).scenario, "native"
        )
    assert again
    assert "--cc" not in again
    # The command makes just that run.
    assert invoke(shlex.split(again)[1:]) == 0
    assert f"0 runs made, 1 in {DEFAULT_DB}" in capsys.readouterr().err


def test_a_plan_needs_no_algorithm_where_none_takes_part(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "plan.toml"
    head = 'experiment = "pfc_incast"\n'
    file.write_text(head + '[parameters]\nn = 4\ntransport = "dcqcn"\n')
    assert invoke(["run", str(file), "-n"]) == 0
    assert "--cc" not in capsys.readouterr().out
    file.write_text(head + 'cc = "cubic"\n[parameters]\nn = 4\ntransport = "dcqcn"\n')
    assert invoke(["run", str(file), "-n"]) == 2
    assert "takes no part where transport is dcqcn" in capsys.readouterr().err
