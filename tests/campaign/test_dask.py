"""Campaigns on a cluster: the database is that of a campaign here, whatever dies on the way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

pytest.importorskip("distributed")

from distributed.comm import CommClosedError

from campaign.clusters import Processes, processes
from ccperf import _native, backends, campaign
from ccperf.campaign import Point
from ccperf.campaign.job import Job
from ccperf.campaign.on_dask import Cluster, DaskExecutor
from ccperf.errors import RunError, UsageError
from ccperf.store import Store
from ccperf.topologies.shorthand import dumbbell
from user_scenarios import EXAMPLES

NATIVE = backends.get("native")


def point(rate: str, cc: str = "TcpCubic") -> Point:
    return Point(dumbbell(rate=rate, rtts="15ms", qlen="20p", cc=cc, stop_time="2s"))


def points(count: int) -> list[Point]:
    return [point(f"{4 + i}Mbps") for i in range(count)]


@pytest.fixture(name="cluster")
def _cluster(tmp_path: Path) -> Iterator[Processes]:
    with processes(tmp_path) as made:
        yield made


def wait_for_some(database: Path) -> None:
    """Wait until a campaign is in the middle."""
    with Store(database, "r") as seen:
        while len(seen.ids()) < 5:
            time.sleep(0.01)


def assert_alike(one: Store, other: Store) -> None:
    """Everything but how long the runs took."""
    assert sorted(one.ids()) == sorted(other.ids())
    for run in one.ids():
        assert one.parquet(run) == other.parquet(run)
        assert one.metrics(run) == other.metrics(run)
        assert one.scenario(run) == other.scenario(run)


def test_a_worker_killed_in_mid_run_loses_nothing(tmp_path: Path, cluster: Processes) -> None:
    wanted = points(60)
    with Store(tmp_path / "here.db") as here, Store(tmp_path / "there.db") as there:
        assert campaign.run(wanted, here, NATIVE).ok

        def kill_one() -> None:
            wait_for_some(tmp_path / "there.db")
            cluster.kill(cluster.workers[0])

        killer = threading.Thread(target=kill_one)
        killer.start()
        with Cluster(cluster.address, NATIVE) as remote:
            report = campaign.run(wanted, there, NATIVE, executor=remote.executor)
        killer.join()
        assert cluster.workers[0].poll() is not None
        assert report.ok
        assert len(report.made) == len(wanted)
        assert_alike(here, there)


def test_a_scheduler_that_goes_away_leaves_what_was_finished(
    tmp_path: Path, cluster: Processes
) -> None:
    wanted = points(300)
    with Store(tmp_path / "runs.db") as store:

        def kill() -> None:
            wait_for_some(tmp_path / "runs.db")
            cluster.kill(cluster.scheduler)

        killer = threading.Thread(target=kill)
        killer.start()
        with Cluster(cluster.address, NATIVE) as remote:
            report = campaign.run(wanted, store, NATIVE, executor=remote.executor)
        killer.join()
        assert not report.ok
        assert 5 <= len(report.made) == len(store.ids()) < len(wanted)
        (kind,) = report.failures_by_kind()
        assert "went away; what was finished is stored: start it again" in kind[0].message
        again = campaign.run(wanted, store, NATIVE)
        assert again.ok
        assert len(again.stored_before) == len(report.made)


class Unreachable:
    """A cluster whose scheduler is gone, which its client has not noticed yet."""

    where = "dask://127.0.0.1:9"
    software = None

    def __init__(self, when: str) -> None:
        self.when = when
        self.client = self
        self.status = "running"
        self.key = id(self)

    @property
    def cores(self) -> int:
        return 1 if self.when != "looking for workers" else self.result()

    def submit(self, *_: object, **__: object) -> Unreachable:
        return Unreachable(self.when) if self.when == "waiting for a result" else self.result()

    def add_done_callback(self, done: Callable[[Unreachable], None]) -> None:
        threading.Thread(target=done, args=[self]).start()

    def result(self) -> NoReturn:
        raise CommClosedError("reset by peer")


@pytest.mark.parametrize("when", ["looking for workers", "submitting", "waiting for a result"])
def test_a_connection_that_breaks_ends_every_run_with_the_same_words(when: str) -> None:
    cluster: Any = Unreachable(when)
    executor = DaskExecutor(cluster)
    futures = [executor.submit(Job(str(i), "{}", NATIVE.name)) for i in range(5)]
    for future in futures:
        error = future.exception(timeout=10)
        assert isinstance(error, RunError)
        assert "dask://127.0.0.1:9 went away; what was finished is stored" in str(error)
        assert isinstance(error.__cause__, CommClosedError)


def test_another_version_is_refused_before_the_first_run(
    cluster: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native, "ENGINE_HASH", "0123456789abcdef")
    with pytest.raises(UsageError, match=r"workers differ.*this is ccperf.*engine 0123456789ab"):
        Cluster(cluster.address, NATIVE)


def test_a_failing_run_says_why_and_the_others_are_made(tmp_path: Path, cluster: Processes) -> None:
    """The user's file is not where the workers are."""
    gone = tmp_path / "gone.py"
    gone.write_text((EXAMPLES / "python" / "mycca.py").read_text())
    wanted = [*points(3), point("8Mbps", f"{gone}:MyCca")]
    with Store(tmp_path / "runs.db") as store, Cluster(cluster.address, NATIVE) as remote:

        def executor(progress: campaign.JobProgress) -> campaign.Executor:
            gone.unlink()
            return remote.executor(progress)

        report = campaign.run(wanted, store, NATIVE, executor=executor)
        assert len(report.made) == 3
        (failure,) = report.failures
        assert "gone.py" in failure.message


@pytest.mark.parametrize("where", ["slurm", "dask://nowhere", "dask:8786", "tcp://here:8786"])
def test_where_is_checked(where: str) -> None:
    with pytest.raises(UsageError, match="is not dask or dask://HOST:PORT"):
        Cluster(where, NATIVE)


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccperf.campaign.on_dask._PATIENCE_S", 0.5)
    with pytest.raises(UsageError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"):
        Cluster("dask://127.0.0.1:9", NATIVE)


def test_a_scheduler_without_workers_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccperf.campaign.on_dask._PATIENCE_S", 2.0)
    with (
        processes(tmp_path, workers=0) as made,
        pytest.raises(UsageError, match="has no workers; start some"),
    ):
        Cluster(made.address, NATIVE)
