"""Campaigns on a cluster: the database is that of a campaign here, whatever dies on the way."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import Mock

import pytest

pytest.importorskip("distributed")

import distributed
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from campaign.clusters import Processes, in_the_middle, point, points, processes
from ccperf import _native, campaign
from ccperf.campaign import on_dask
from ccperf.campaign.job import Job
from ccperf.campaign.on_dask import Cluster, DaskExecutor
from ccperf.errors import RunError, UsageError
from ccperf.runs import backends
from ccperf.runs.sources import sources_hash
from ccperf.store import Store
from user_scenarios import EXAMPLES, environment

NATIVE = backends.get("native")


@pytest.fixture(name="cluster")
def _cluster(tmp_path: Path) -> Iterator[Processes]:
    with processes(tmp_path) as made:
        yield made


#: Seconds that a client looks for a scheduler that is gone, in place of half a minute.
SHORT = 3.0


def assert_alike(one: Store, other: Store) -> None:
    """Everything but how long the runs took."""
    assert sorted(one.ids()) == sorted(other.ids())
    for run in one.ids():
        assert one.parquet(run) == other.parquet(run)
        assert one.metrics(run) == other.metrics(run)
        assert one.scenario(run) == other.scenario(run)


def test_a_worker_killed_in_mid_run_loses_nothing(tmp_path: Path, cluster: Processes) -> None:
    wanted = points(60)
    with Store(tmp_path / "here.db", "a") as here, Store(tmp_path / "there.db", "a") as there:
        assert campaign.run(wanted, here, NATIVE).ok

        with (
            in_the_middle(tmp_path / "there.db", lambda: cluster.kill(cluster.workers[0])),
            Cluster(cluster.address, NATIVE) as remote,
        ):
            report = campaign.run(wanted, there, NATIVE, executor=remote.executor)
        assert cluster.workers[0].poll() is not None
        assert report.ok
        assert len(report.made) == len(wanted)
        assert_alike(here, there)


def test_a_scheduler_that_goes_away_leaves_what_was_finished(
    tmp_path: Path, cluster: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_dask, "_PATIENCE_S", SHORT)
    wanted = points(300)
    with Store(tmp_path / "runs.db", "a") as store:
        with (
            in_the_middle(tmp_path / "runs.db", lambda: cluster.kill(cluster.scheduler)),
            Cluster(cluster.address, NATIVE) as remote,
        ):
            report = campaign.run(wanted, store, NATIVE, executor=remote.executor)
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
        is_late = self.when in ("asking to be told", "waiting for a result")
        return Unreachable(self.when) if is_late else self.result()

    def add_done_callback(self, done: Callable[[Unreachable], None]) -> None:
        if self.when == "asking to be told":
            self.result()
        threading.Thread(target=done, args=[self]).start()

    def result(self) -> NoReturn:
        raise CommClosedError("reset by peer")


@pytest.mark.parametrize(
    "when", ["looking for workers", "submitting", "asking to be told", "waiting for a result"]
)
def test_a_connection_that_breaks_ends_every_run_with_the_same_words(when: str) -> None:
    cluster: Any = Unreachable(when)
    executor = DaskExecutor(cluster)
    futures = [executor.submit(Job(str(i), "{}", NATIVE.name)) for i in range(5)]
    for future in futures:
        error = future.exception(timeout=10)
        assert isinstance(error, RunError)
        assert "dask://127.0.0.1:9 went away; what was finished is stored" in str(error)
        assert isinstance(error.__cause__, CommClosedError)


class Deadly:
    """A cluster whose workers all die of one job; tasks end once all jobs are there."""

    where = "dask://127.0.0.1:9"
    software = None
    status = "running"
    cores = 1

    def __init__(self, of: str) -> None:
        self.of = of
        self.client = self
        self.are_there = threading.Event()
        self.handed_out: list[list[str]] = []

    def submit(self, _perform: object, jobs: list[Job], *_: object, **__: object) -> DeadlyTask:
        self.handed_out.append([job.id for job in jobs])
        return DeadlyTask(self, self.handed_out[-1])


class DeadlyTask:
    """What becomes of some jobs."""

    def __init__(self, cluster: Deadly, ids: list[str]) -> None:
        self.key = " ".join(ids)
        self._cluster = cluster
        self._ids = ids

    def add_done_callback(self, done: Callable[[DeadlyTask], None]) -> None:
        def end() -> None:
            self._cluster.are_there.wait(10)
            done(self)

        threading.Thread(target=end).start()

    def result(self) -> tuple[float, list[str]]:
        if self._cluster.of in self._ids:
            raise KilledWorker(self.key, Mock(address="tcp://10.0.0.1:1"), 3)
        return 1e-3 * len(self._ids), self._ids


def test_a_run_that_kills_its_workers_takes_no_other_with_it() -> None:
    cluster: Any = Deadly("20")
    executor = DaskExecutor(cluster)
    futures = [executor.submit(Job(str(i), "{}", NATIVE.name)) for i in range(40)]
    cluster.are_there.set()
    (failed,) = [f for f in futures if f.exception(timeout=10)]
    assert futures.index(failed) == 20
    assert "each of 4 workers died that made it: killed, or out of" in str(failed.exception())
    assert len(next(ids for ids in cluster.handed_out if "20" in ids)) > 1


def test_another_version_is_refused_before_the_first_run(
    cluster: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native, "ENGINE_HASH", "0123456789abcdef")
    here = f"engine {sources_hash()[:12]}"
    with pytest.raises(UsageError, match=rf"workers? with other software.*this is ccperf.*{here}"):
        Cluster(cluster.address, NATIVE)


def test_a_failing_run_says_why_and_the_others_are_made(tmp_path: Path, cluster: Processes) -> None:
    """The user's file is not where the workers are."""
    gone = tmp_path / "gone.py"
    gone.write_text((EXAMPLES / "python" / "mycca.py").read_text())
    wanted = [*points(3), point("8Mbps", f"{gone}:MyCca")]
    with Store(tmp_path / "runs.db", "a") as store, Cluster(cluster.address, NATIVE) as remote:

        def executor(progress: campaign.JobProgress) -> campaign.Executor:
            gone.unlink()
            return remote.executor(progress)

        report = campaign.run(wanted, store, NATIVE, executor=executor)
        assert len(report.made) == 3
        (failure,) = report.failures
        assert "gone.py" in failure.message


HOSTS = ["dask://nowhere", "dask:8786", "dask://:8786", "dask://a b:1", "dask://tls://a:1"]
HOSTS += ["dask://user@a:1", "dask://a/b:1", "dask://[::1:8786", "dask://[a]:1", "dask://-a:1"]
HOSTS += ["tls://a:0", "tls://a:65536", "tls://a:\u0661", "slurm", "tcp://here:8786", "tls:/a:1"]


def test_a_cluster_has_as_many_workers_as_it_has() -> None:
    """It used them all without a word."""
    with pytest.raises(UsageError, match="--jobs: is for workers that are started here; dask://"):
        Cluster("dask://127.0.0.1:1", NATIVE, workers=1)


@pytest.mark.parametrize("where", HOSTS)
def test_where_is_checked(where: str) -> None:
    with pytest.raises(UsageError, match="is not dask, dask://HOST:PORT or tls://HOST:PORT"):
        Cluster(where, NATIVE)


@pytest.mark.parametrize("place", ["127.0.0.1:9", "localhost:9", "[::1]:9"])
def test_nobody_answers(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccperf.campaign.on_dask._PATIENCE_S", 0.5)
    with pytest.raises(UsageError, match=rf"no scheduler answers at tcp://{re.escape(place)}"):
        Cluster(f"dask://{place}", NATIVE)


def test_a_scheduler_without_workers_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccperf.campaign.on_dask._PATIENCE_S", 2.0)
    with (
        processes(tmp_path, workers=0) as made,
        pytest.raises(UsageError, match="has no workers; start some"),
    ):
        Cluster(made.address, NATIVE)


class Wrapped(Exception):
    """Of a library, of no kind that anybody knows."""


@pytest.mark.parametrize(
    "error", [TimeoutError(), asyncio.TimeoutError(), asyncio.CancelledError(), Wrapped("a\nb")]
)
def test_whatever_a_connection_ends_with_is_one_line(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(distributed, "Client", fail)
    with pytest.raises(UsageError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9: ") as seen:
        Cluster("dask://127.0.0.1:9", NATIVE)
    assert "\n" not in str(seen.value)


def test_the_command_says_once_that_its_scheduler_was_killed(
    tmp_path: Path, cluster: Processes
) -> None:
    """And what is to be typed names the scheduler."""
    database = tmp_path / "runs.db"
    with Store(database, "a"):
        pass
    short = f"from ccperf.campaign import on_dask; on_dask._PATIENCE_S = {SHORT}"
    ccperf = f"{short}; from ccperf.cli import main; main()"
    command = [sys.executable, "-c", ccperf, "run", "aqm", "--cc", "cubic", "--k", "1"]
    command += ["--qdisc", "codel", "--jitter", "10ms", "--seed", "1..300"]
    command += ["--db", str(database), "--on", cluster.address]
    with in_the_middle(database, lambda: cluster.kill(cluster.scheduler)):
        ended = subprocess.run(
            command, capture_output=True, text=True, env=environment(), timeout=120, check=False
        )
    assert ended.returncode == 1
    said = ended.stderr
    assert said.count("went away") == 1
    assert re.search(rf"again: ccperf run aqm .* --on {cluster.address}\n", said)
    assert not re.search("Traceback|distributed|Error", said)
