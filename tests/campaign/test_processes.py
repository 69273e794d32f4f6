"""Campaigns of many runs have processes make them, which may die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ccperf import campaign
from ccperf.campaign import Point
from ccperf.campaign.local import MANY, LocalExecutor, Processes
from ccperf.campaign.process import Died, Process
from ccperf.errors import RunError
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends
from ccperf.runs.result import identify
from ccperf.store import Store

NATIVE = backends.get("native")


def points(count: int, stop_time: str = "100ms") -> list[Point]:
    settings = {"rtts": "15ms", "qlen": "20p", "cc": "TcpCubic", "stop_time": stop_time}
    return [Point(dumbbell(rate=f"{16_000_000 + i}bps", **settings)) for i in range(count)]


def job(point: Point) -> campaign.Job:
    return campaign.Job.of(point, identify(point.scenario, NATIVE), NATIVE)


def contents(path: Path) -> dict[str, str]:
    with Store(path, "r") as store:
        return {run: store.content(run) for run in store.ids()}


def test_processes_store_what_threads_do(tmp_path: Path) -> None:
    many = points(MANY)
    with Store(tmp_path / "processes.db", "a") as store:
        assert campaign.run(many, store, NATIVE, jobs=2).ok
    with Store(tmp_path / "threads.db", "a") as store:
        report = campaign.run(
            many, store, NATIVE, executor=lambda progress: LocalExecutor(NATIVE, 2, progress)
        )
        assert report.ok
    assert contents(tmp_path / "processes.db") == contents(tmp_path / "threads.db")


def test_a_process_that_is_killed_loses_nothing() -> None:
    executor = LocalExecutor(NATIVE, 2, processes=Processes())
    try:
        # So long that both are at work when one is killed.
        futures = [executor.submit(job(point)) for point in points(12, "60s")]
        futures[0].result()
        killed = executor._processes[0].pid
        os.kill(killed, signal.SIGKILL)
        assert len({future.result().id for future in futures}) == 12
        assert killed not in {process.pid for process in executor._processes}
        assert len(executor._processes) == 2
    finally:
        executor.close()


def test_processes_stay_for_the_next_campaign_of_a_command() -> None:
    with Processes() as kept:
        used = []
        for _ in range(2):
            executor = LocalExecutor(NATIVE, 2, processes=kept)
            for future in [executor.submit(job(point)) for point in points(6)]:
                future.result()
            used.append({process.pid for process in executor._processes})
            executor.close()
        assert used[1] <= used[0]
        assert all(psutil.pid_exists(pid) for pid in used[0])
    _, alive = psutil.wait_procs([psutil.Process(pid) for pid in used[0] if psutil.pid_exists(pid)])
    assert not alive


def test_a_display_that_breaks_does_not_hand_its_run_to_the_next_job() -> None:
    """Its process has made the run of the first job, which nobody has read."""

    def break_once(_: str, fraction: float) -> None:
        if fraction > 0 and not broken:
            broken.append(True)
            raise RuntimeError("a display")

    broken: list[bool] = []
    with Processes() as kept:
        executor = LocalExecutor(NATIVE, 2, break_once, processes=kept)
        executor._threads._max_workers = 1
        first, second = (job(point) for point in points(2, "20s"))
        try:
            with pytest.raises(RuntimeError, match="a display"):
                executor.submit(first).result()
            assert executor.submit(second).result().id == second.id
        finally:
            executor.close()


def test_an_answer_for_another_run_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (job(point) for point in points(2))
    process = Process()
    try:
        packed = process.make(other, lambda _: None)
        monkeypatch.setattr(process, "_answer", lambda: packed)
        with pytest.raises(Died, match=f"another run, {other.id}"):
            process.make(one, lambda _: None)
    finally:
        process.kill()


def test_a_process_that_was_killed_before_its_job_has_died() -> None:
    """As when a campaign ends between a thread's look and its job."""
    process = Process()
    process.kill()
    (point,) = points(1)
    with pytest.raises(Died):
        process.make(job(point), lambda _: None)


def test_a_run_that_ends_its_process_twice_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(_: Process, *__: object) -> None:
        raise Died("the process that made it ended with status -11")

    monkeypatch.setattr(Process, "make", die)
    executor = LocalExecutor(NATIVE, 2, processes=Processes())
    try:
        (point,) = points(1)
        with pytest.raises(RunError, match="status -11"):
            executor.submit(job(point)).result()
    finally:
        executor.close()


def test_stopping_ends_the_processes_at_once() -> None:
    executor = LocalExecutor(NATIVE, 2, processes=Processes())
    futures = [executor.submit(job(point)) for point in points(4, "10min")]
    while len(executor._processes) < 2:
        time.sleep(0.01)
    started = time.perf_counter()
    executor.close()
    assert time.perf_counter() - started < 2
    assert not [pid for pid in (p.pid for p in executor._processes) if psutil.pid_exists(pid)]
    assert all(future.done() for future in futures)


def test_processes_end_when_the_campaign_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "campaign.py"
    script.write_text(
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_processes import NATIVE, points, job, LocalExecutor, Processes\n"
        "executor = LocalExecutor(NATIVE, 2, processes=Processes())\n"
        "futures = [executor.submit(job(point)) for point in points(40, '2s')]\n"
        "futures[0].result()\n"
        "print(*(process.pid for process in executor._processes), flush=True)\n"
        "futures[-1].result()\n"
    )
    with subprocess.Popen(
        [sys.executable, str(script), str(Path(__file__).parent)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        below = [psutil.Process(int(pid)) for pid in process.stdout.readline().split()]
        process.kill()
    _, alive = psutil.wait_procs(below, timeout=10)
    assert below
    assert not alive
