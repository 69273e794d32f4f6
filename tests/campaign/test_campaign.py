"""Campaigns: only what is missing is made, and nothing that was finished is lost."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from ccperf import campaign
from ccperf.campaign import Point, progress
from ccperf.runs import backends
from ccperf.runs.recording import Recording
from ccperf.store import Store
from recordings import ScriptedBackend, small_scenario


def points(seeds: range) -> list[Point]:
    return [Point(small_scenario(seed=seed), "aqm", {"seed": str(seed)}) for seed in seeds]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "benchmark.db"


def test_a_second_call_makes_only_what_is_missing(path: Path) -> None:
    backend = ScriptedBackend()
    with Store(path, "a") as store:
        first = campaign.run(points(range(3)), store, backend, jobs=2)
        second = campaign.run(points(range(5)), store, backend, jobs=2)
    assert sorted(backend.simulated) == [0, 1, 2, 3, 4]
    assert first.ok
    assert second.ok
    assert second.stored_before == first.made
    assert len(second.made) == 2
    assert second.run_ids == first.run_ids + second.made


def test_of_points_that_are_made_when_asked_for_few_are_held(path: Path) -> None:
    """Their number is known: nobody looks ahead. A scenario of a large fabric is 10 MB."""
    made: list[weakref.ref[Point]] = []
    most = 0

    def one_by_one() -> Iterator[Point]:
        nonlocal most
        for seed in range(40):
            (point,) = points(range(seed, seed + 1))
            made.append(weakref.ref(point))
            most = max(most, sum(ref() is not None for ref in made))
            yield point

    with Store(path, "a") as store:
        report = campaign.run(one_by_one(), store, ScriptedBackend(), jobs=1, count=40)
    assert len(report.made) == 40
    assert most < 12


def test_a_log_is_told_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """It said nothing for the hours between planning and the end."""
    monkeypatch.setattr(progress, "_LINES_S", 0.05)
    said: SimpleQueue[str] = SimpleQueue()
    (point,) = points(range(1))
    with campaign.Lines(said.put, "TcpCubic") as lines:
        lines.begin(1240, 0)
        lines.skip(point)
        for error in (None, None, ValueError()):
            lines.finish(point, error)
        while " 3 of " not in (line := said.get(timeout=10)):
            pass
    assert re.fullmatch(
        r"TcpCubic: 3 of 1,239 runs after 1 s, 1 stored before, 1 failed, about \d+ s left", line
    )
    while not said.empty():
        said.get()
    time.sleep(0.1)
    assert said.empty()


def test_another_version_of_the_backend_runs_anew(path: Path) -> None:
    with Store(path, "a") as store:
        campaign.run(points(range(2)), store, ScriptedBackend())
        report = campaign.run(points(range(2)), store, ScriptedBackend(version="2"))
    assert len(report.made) == 2


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_outcome_does_not_depend_on_the_number_of_jobs(
    path: Path, tmp_path: Path, jobs: int
) -> None:
    with Store(path, "a") as ours, Store(tmp_path / "reference.db", "a") as reference:
        report = campaign.run(points(range(6)), ours, ScriptedBackend(seconds=0.01), jobs=jobs)
        for point in points(range(6)):
            reference.add(campaign.simulate(point, ScriptedBackend()))
        for run_id in report.run_ids:
            assert ours.parquet(run_id) == reference.parquet(run_id)
            assert ours.metrics(run_id) == reference.metrics(run_id)


def test_a_run_is_stored_while_the_next_one_is_under_way(path: Path) -> None:
    """Whatever ends the campaign then, it is there."""

    class Waiting(ScriptedBackend):
        def simulate(self, scenario: Any, **options: Any) -> Recording:
            deadline = time.monotonic() + 10
            with Store(path, "r") as seen:
                while (stored := len(seen.ids())) < scenario.seed:
                    assert time.monotonic() < deadline, f"{stored} of {scenario.seed} are stored"
                    time.sleep(0.01)
            return super().simulate(scenario, **options)

    with Store(path, "a") as store:
        report = campaign.run(points(range(4)), store, Waiting(), jobs=1)
    assert report.ok, report.failures


def test_a_failing_run_is_reported_and_the_others_go_on(path: Path) -> None:
    backend = ScriptedBackend(failing_seeds=frozenset({1, 3}))
    with Store(path, "a") as store:
        report = campaign.run(points(range(5)), store, backend, jobs=2)
        assert not report.ok
        assert len(store.runs()) == len(report.made) == 3
        assert [str(failure) for failure in report.failures] == [
            "aqm seed=1: seed 1 fails",
            "aqm seed=3: seed 3 fails",
        ]
        backend.failing_seeds = frozenset()
        again = campaign.run(points(range(5)), store, backend, jobs=2)
    assert again.ok
    assert len(again.made) == 2


def test_another_point_of_a_run_that_was_not_begun_is_skipped_as_that_is(path: Path) -> None:
    backend = ScriptedBackend(failing_seeds=frozenset(range(40)))
    again = Point(small_scenario(seed=39), "aqm", {"seed": "39", "again": "1"})
    with Store(path, "a") as store:
        one_by_one = iter([*points(range(40)), again])
        report = campaign.run(one_by_one, store, backend, jobs=1, count=41)
    assert len(report.failures) + report.skipped == 40
    assert report.skipped > 0


def test_points_that_are_the_same_run_share_it(path: Path) -> None:
    backend = ScriptedBackend()
    same = [
        Point(small_scenario(), "aqm", {"k": "1"}),
        Point(small_scenario(label="other"), "single_flow", {}),
    ]
    with Store(path, "a") as store:
        report = campaign.run(same, store, backend)
        assert len(report.run_ids) == 1
        assert backend.simulated == [42]
        assert [run.experiment for run in store.runs()] == ["aqm", "single_flow"]
        # Also when the run is there already.
        campaign.run([Point(small_scenario(), "third", {})], store, backend)
        assert [run.experiment for run in store.runs()] == ["aqm", "single_flow", "third"]


def test_runs_go_side_by_side(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody passes the barrier alone: with fewer than four at a time it would break.
    barrier = threading.Barrier(4, timeout=30)
    simulate = ScriptedBackend.simulate

    def together(self: ScriptedBackend, *args: Any, **kwargs: Any) -> Any:
        barrier.wait()
        return simulate(self, *args, **kwargs)

    monkeypatch.setattr(ScriptedBackend, "simulate", together)
    with Store(path, "a") as store:
        assert campaign.run(points(range(8)), store, ScriptedBackend(), jobs=4).ok


def test_points_are_asked_for_while_runs_are_made(path: Path) -> None:
    """No more points are held than are under way, and the first run waits for few."""
    asked: list[int] = []
    made_at: list[int] = []

    def asked_for() -> Iterator[Point]:
        for point in points(range(300)):
            asked.append(point.scenario.seed)
            yield point

    class Noting(ScriptedBackend):
        abilities = backends.Abilities(summary="notes", speed=1e6, overhead_s=0.0)

        def simulate(self, *args: Any, **kwargs: Any) -> Recording:
            made_at.append(len(asked))
            return super().simulate(*args, **kwargs)

    with Store(path, "a") as store:
        assert campaign.run(asked_for(), store, Noting(), jobs=2, count=300).ok
        assert len(store.ids()) == 300
    assert min(made_at) < 100
    ahead = [at - i for i, at in enumerate(made_at)]
    assert max(ahead) < 100


class Watcher(campaign.Silent):
    def __init__(self) -> None:
        self.begun: tuple[int, int] | None = None
        self.skipped = 0
        self.fractions: dict[str, list[float]] = {}
        self.finished: dict[str, str] = {}
        self.threads: set[int] = set()

    def begin(self, runs: int, stored: int) -> None:
        self.begun = (runs, stored)

    def skip(self, point: Point) -> None:  # noqa: ARG002
        self.skipped += 1

    def advance(self, point: Point, fraction: float) -> None:
        self.fractions.setdefault(point.title, []).append(fraction)

    def finish(self, point: Point, error: BaseException | None) -> None:
        self.threads.add(threading.get_ident())
        self.finished[point.title] = str(error)


def test_progress_is_told(path: Path) -> None:
    watcher = Watcher()
    backend = ScriptedBackend(failing_seeds=frozenset({2}))
    with Store(path, "a") as store:
        campaign.run(points(range(1)), store, backend)
        campaign.run(points(range(3)), store, backend, progress=watcher)
    assert watcher.begun == (3, 0)
    assert watcher.skipped == 1
    assert watcher.finished == {"aqm seed=1": "None", "aqm seed=2": "seed 2 fails"}
    for fractions in watcher.fractions.values():
        assert fractions == sorted(fractions)
        assert 0 <= fractions[0] <= fractions[-1] <= 1
    assert watcher.threads == {threading.main_thread().ident}


def test_the_bar_writes_to_stderr_only(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)  # no bar is drawn into a file
    with Store(path, "a") as store:
        backend = ScriptedBackend(failing_seeds=frozenset({1}))
        campaign.run(points(range(3)), store, backend, progress=campaign.Bar("bench"))
    out, err = capsys.readouterr()
    assert out == ""
    assert "bench" in err
    assert "3/3" in err
    assert "1 failed" in err


def test_of_nothing_to_do_there_is_no_bar(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Store(path, "a") as store:
        campaign.run(points(range(3)), store, ScriptedBackend())
        capsys.readouterr()
        campaign.run(points(range(3)), store, ScriptedBackend(), progress=campaign.Bar("bench"))
    assert "0/0" not in capsys.readouterr().err


# Interrupted campaigns, in a process of their own.

_CAMPAIGN = """
import sys
from collections.abc import Iterator
from pathlib import Path
sys.path.insert(0, {tests!r})
from recordings import ScriptedBackend, small_scenario
from ccperf import campaign
from ccperf.store import Store
points = [
    campaign.Point(small_scenario(seed=seed), "aqm", {{"seed": str(seed)}}) for seed in range(40)
]
with Store({path!r}, "a") as store:
    report = campaign.run(points, store, ScriptedBackend(seconds=0.1), jobs=2)
print(len(report.made), report.interrupted, report.ok, flush=True)
"""


def start(path: Path) -> subprocess.Popen[str]:
    """Start a campaign of 40 runs and return when it has stored some."""
    tests = str(Path(__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", _CAMPAIGN.format(tests=tests, path=str(path))],
        stdout=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while stored(path) < 5:
        assert process.poll() is None, "the campaign ended early"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def stored(path: Path) -> int:
    try:
        with Store(path, "r") as store:
            return len(store.runs())
    except Exception:  # not there yet, or just being made
        return 0


def resumed(path: Path, tmp_path: Path) -> tuple[int, Any]:
    """Finish the campaign; return how many runs were there, and the report."""
    before = stored(path)
    backend = ScriptedBackend()
    with Store(path, "a") as store, Store(tmp_path / "whole.db", "a") as whole:
        report = campaign.run(points(range(40)), store, backend)
        campaign.run(points(range(40)), whole, ScriptedBackend())
        assert len(backend.simulated) == 40 - before
        assert {run.id for run in store.runs()} == {run.id for run in whole.runs()}
        for run in whole.runs():
            assert store.metrics(run.id) == whole.metrics(run.id)
            assert store.parquet(run.id) == whole.parquet(run.id)
    return before, report


def test_a_killed_campaign_goes_on_where_it_was(path: Path, tmp_path: Path) -> None:
    process = start(path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before, report = resumed(path, tmp_path)
    assert 5 <= before < 40
    assert report.ok


def test_ctrl_c_keeps_what_was_finished(path: Path, tmp_path: Path) -> None:
    process = start(path)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    made, interrupted, ok = out.split()
    assert (interrupted, ok) == ("True", "False")
    before, report = resumed(path, tmp_path)
    assert before == int(made) < 40
    assert report.ok
