"""``ccperf watch``: the points again when the file is saved, and what changed."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from ccperf.cli.watch import KINDS
from ccperf.runs.metrics import METRICS
from ccperf.store import Store
from user_scenarios import environment

Captured = pytest.CaptureFixture[str]

pytestmark = pytest.mark.usefixtures("own_folder")


def edit(old: str, new: str) -> None:
    text = Path("mine.py").read_text()
    assert old in text
    Path("mine.py").write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("kind", "against"), [("cc", "cubic"), ("qdisc", "codel"), ("balancer", "ecmp")]
)
def test_each_kind_is_compared_with_one_of_its_kind(
    capsys: Captured, kind: str, against: str
) -> None:
    assert invoke(["new", kind, "mine.py"]) == 0
    assert invoke(["watch", "./mine.py:Mine", "--against", against, "--once"]) == 0
    out = capsys.readouterr().out
    of = KINDS["routing" if kind == "balancer" else kind]  # type: ignore[index]
    for case in of.cases:
        assert f"\n{case.name} " in out
    assert "better in " in out
    assert "the version before" not in out


def test_an_edit_is_compared_with_the_version_before_also_of_yesterday(capsys: Captured) -> None:
    assert invoke(["new", "cc", "mine.py"]) == 0
    watch = ["watch", "./mine.py:Mine", "--once"]
    assert invoke(watch) == 0
    edit("beta=0.7", "beta=0.2")
    capsys.readouterr()
    assert invoke(watch) == 0
    out = capsys.readouterr().out
    verdict = out.partition("against the version before")[2]
    # After a loss at a shallow buffer it goes back further, and sends less.
    assert re.search(r"worse in [1-9].*throughput", verdict)
    # Counts and means of the same runs are equal when nothing was edited.
    assert invoke(watch) == 0
    with Store("watch.db", "r") as store:
        mine = [row for row in store.runs() if row.provenance.user_code]
    assert len(mine) == 2 * len(KINDS["cc"].cases)


def test_the_version_before_ran_at_all_points_and_as_long(capsys: Captured) -> None:
    """One that failed at some of them, and another campaign of that file, are none."""
    assert invoke(["new", "cc", "mine.py"]) == 0
    first, watch = Path("mine.py").read_text(), ["watch", "./mine.py:Mine", "--once"]
    assert invoke(watch) == 0
    edit("beta=0.7", "beta=0.2")
    longer = ["run", "dumbbell", "--cc", "./mine.py:Mine", "--seed", "7", "--stop-time", "1s"]
    assert invoke([*longer, "--db", "watch.db"]) == 0
    edit("return max(", "if bytes_in_flight > 50 * tcb.segment_size: fails\n        return max(")
    assert invoke(watch) == 1
    with Store("watch.db", "r") as store:
        found = [row.provenance.user_code for row in store.runs(experiment="dumbbell")]
    assert len({code["mine.py:Mine"] for code in found if code}) == 3
    Path("mine.py").write_text(f"{first}\n# The first one, but for this line.\n")
    capsys.readouterr()
    assert invoke(watch) == 0
    verdict = capsys.readouterr().out.partition("against the version before")[2]
    assert "equal within 1 % in 28" in verdict


def test_a_value_that_one_side_lacks_is_not_equal(capsys: Captured) -> None:
    """What loses everything has neither a round trip nor shares."""
    assert invoke(["new", "qdisc", "mine.py"]) == 0
    edit("if len(self.waiting) >= self.limit:", "if True:")
    watch = ["watch", "./mine.py:Mine", "--against", "codel", "--once"]
    capsys.readouterr()
    assert invoke(watch) == 0
    out = capsys.readouterr().out
    assert re.search(r"^one flow +0 \(−100 %\) +missing +0 \(−100 %\) +missing$", out, re.M)
    # Of 4 points throughput, sRTT and Jain's index are worse.
    assert "worse in 12: " in out
    assert "equal within 1 % in 0" in out
    edit("if True:", "if len(self.waiting) >= self.limit:")
    assert invoke(watch) == 0
    verdict = capsys.readouterr().out.partition("against the version before")[2]
    assert "better in 12: " in verdict
    assert "sRTT, one flow: missing there" in verdict
    assert "equal within 1 % in 0" in verdict


def test_programs_get_json(capsys: Captured) -> None:
    assert invoke(["new", "qdisc", "mine.py"]) == 0
    capsys.readouterr()
    assert invoke(["watch", "./mine.py:Mine", "--against", "codel", "--once", "--json"]) == 0
    points = json.loads(capsys.readouterr().out)
    assert [point["point"] for point in points] == [case.name for case in KINDS["qdisc"].cases]
    assert points[0]["own"]["mean_srtt_l4"] > 0
    assert points[0]["before"]["mean_srtt_l4"] is None


def test_a_file_that_does_not_run_is_said_and_waited_for(capsys: Captured) -> None:
    assert invoke(["new", "cc", "mine.py"]) == 0
    edit("def ssthresh", "def ssthresh(")
    assert invoke(["watch", "./mine.py:Mine", "--once"]) == 1
    assert "SyntaxError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["cubic"], "does not change"),
        (["./gone.py:Mine"], "there is no file"),
        (["./gone.py:Mine:beta=0.5/0.7"], "must be one algorithm"),
        (["./gone.py:Mine", "--against", "prr"], "--against"),
    ],
)
def test_what_cannot_be_watched_is_said(capsys: Captured, words: list[str], says: str) -> None:
    assert invoke(["watch", *words, "--once"]) == 2
    assert says in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_every_metric_that_is_looked_at_has_a_direction() -> None:
    for kind in KINDS.values():
        assert all(METRICS[name].better for name in kind.metrics)


@pytest.mark.parametrize("saved", ["mine.py", "beta.py"])
def test_saving_the_file_or_one_that_it_imports_runs_the_points_again(saved: str) -> None:
    assert invoke(["new", "cc", "mine.py"]) == 0
    if saved == "beta.py":
        Path("beta.py").write_text("BETA = 0.7\n")
        edit("beta=0.7", "beta=BETA")
        edit("import ccperf\n", "import ccperf\nfrom beta import BETA\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "ccperf", "watch", "./mine.py:Mine"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
    )
    try:
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        assert any(line.startswith("waiting for mine.py") for line in lines)
        Path(saved).write_text(Path(saved).read_text().replace("0.7", "0.4"))
        assert any(line.startswith("against the version before") for line in lines)
        assert any(line.startswith("waiting for mine.py") for line in lines)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
    finally:
        process.kill()
