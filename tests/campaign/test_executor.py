"""A run travels as a job and comes back packed, whoever makes it."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import pytest

from ccperf import campaign
from ccperf.campaign import Job, JobProgress, Point, perform
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends
from ccperf.runs.result import identify
from ccperf.store import PackedRun, Store
from user_scenarios import EXAMPLES, scenario


def points() -> list[Point]:
    own = scenario(f"{EXAMPLES}/python/mycca.py:MyCca", stop_time="2s")
    return [
        Point(dumbbell(rate=rate, rtts="15ms", qlen="20p", cc="TcpCubic", stop_time="200ms"))
        for rate in ("4Mbps", "8Mbps", "16Mbps")
    ] + [Point(own, "aqm", {"k": "3"})]


def job(point: Point) -> Job:
    native = backends.get("native")
    return Job.of(point, identify(point.scenario, native), native)


class Processes:
    """Makes each run in another process, as a cluster would on another machine."""

    room = 8

    def __init__(self, _progress: JobProgress) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(2, mp_context=context)

    def submit(self, job: Job) -> Future[PackedRun]:
        return self._pool.submit(perform, job)

    def stop(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


@pytest.mark.parametrize("point", points(), ids=lambda point: point.title)
def test_a_job_and_its_outcome_are_plain_data(point: Point) -> None:
    one = job(point)
    assert pickle.loads(pickle.dumps(one)) == one
    packed = perform(one)
    assert packed.id == one.id
    back = pickle.loads(pickle.dumps(packed))
    assert back == packed
    assert back.content == packed.content


def test_other_processes_make_the_same_database(tmp_path: Path) -> None:
    native = backends.get("native")
    with Store(tmp_path / "here.db", "a") as here, Store(tmp_path / "there.db", "a") as there:
        local = campaign.run(points(), here, native)
        remote = campaign.run(points(), there, native, executor=Processes)
        assert local.ok
        assert remote.ok
        assert local.run_ids == remote.run_ids
        for run in here.ids():
            assert here.parquet(run) == there.parquet(run)
            assert here.metrics(run) == there.metrics(run)
            assert here.scenario(run) == there.scenario(run)
