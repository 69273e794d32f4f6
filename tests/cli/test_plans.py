"""Plans with several experiments, and databases of any name beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

PLAN = """\
cc = ["newreno", "cubic"]
seed = "1..2"
stop_time = "500ms"

[[experiments]]
experiment = "aqm"
parameters = { k = [1, 2], qdisc = "codel" }

[[experiments]]
experiment = "loss_resilience"
cc = "bbr"
parameters = { loss = 0.02 }

[[experiments]]
experiment = "aqm"
seed = 7
parameters = { k = 5, qdisc = "fifo" }
"""

pytestmark = pytest.mark.usefixtures("own_folder")


def test_a_plan_has_several_experiments_grids_algorithms_and_seeds(ccperf: Any) -> None:
    Path("plan.toml").write_text(PLAN)
    lines = ccperf("run", "plan.toml", "-n").out.splitlines()
    assert len(lines) == 2 * 3 + 2
    assert sum("--cc TcpBbr" in line for line in lines) == 2
    assert sum("--seed 7" in line for line in lines) == 2
    runs = ccperf("run", "plan.toml", "--json", "--db", "all.db").json
    assert [run["experiment"] for run in runs].count("loss_resilience") == 2
    assert ccperf("run", "plan.toml", "--seed", "3", "-n").out.count("--seed 3") == 7


def test_a_mistake_in_one_of_several_has_its_line(ccperf: Any) -> None:
    Path("plan.toml").write_text(PLAN.replace("loss = 0.02", "lost = 0.02"))
    outcome = ccperf("run", "plan.toml")
    assert outcome.status == 2
    assert "plan.toml:12: experiments[1].parameters.lost" in outcome.err
    Path("plan.toml").write_text('experiment = "aqm"\n' + PLAN)
    outcome = ccperf("run", "plan.toml")
    assert outcome.status == 2
    assert "[[experiments]]" in outcome.err


@pytest.mark.parametrize("name", ["cc", "seed", "parameters.k"])
def test_an_empty_list_in_a_plan_asks_for_no_default(ccperf: Any, name: str) -> None:
    given = {"cc": '["cubic"]', "seed": "[1]", "parameters.k": "[1]", name: "[]"}
    lines = [f"{key} = {value}" for key, value in given.items()]
    Path("plan.toml").write_text("\n".join(['experiment = "aqm"', *lines]))
    outcome = ccperf("run", "plan.toml", "-n")
    assert (outcome.status, outcome.out) == (2, "")
    assert f": {name}: is empty; " in outcome.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("k = 0", "plan.toml:4: parameters.k: `0` must be a whole number"),
        ('qdisc = "codl"', "plan.toml:4: parameters.qdisc: `codl` is not a queue discipline"),
        ("kk = 1", "plan.toml:4: parameters.kk: unknown parameter"),
    ],
)
def test_a_wrong_parameter_of_a_plan_has_its_line(ccperf: Any, line: str, says: str) -> None:
    plan = f'experiment = "aqm"\ncc = "cubic"\n[parameters]\n{line}\n'
    Path("plan.toml").write_text(plan)
    outcome = ccperf("run", "plan.toml", "-n")
    assert outcome.status == 2
    assert says in outcome.err


def test_databases_are_compared_whatever_their_files_are_called(ccperf: Any) -> None:
    line = ("run", "aqm", "--cc", "newreno", "--k", "1", "--qdisc", "codel", "--stop-time", "1s")
    for name in ("before", "after.sqlite"):
        ccperf(*line, "--db", name)
    found = ccperf("compare", "before", "after.sqlite", "--json").json
    assert (found["base"], found["sides"]) == ("before", ["after.sqlite"])
    assert {row["verdict"] for row in found["rows"]} == {"equal"}
    outcome = ccperf("compare", "before", "missing.db")
    assert outcome.status == 2
    assert "missing.db" in outcome.err
