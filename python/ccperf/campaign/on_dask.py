"""Runs on a cluster: Dask distributed, on this machine or wherever its scheduler is.

Jobs travel as plain texts and runs come back packed, several at once where they are short. What a
worker has finished is stored as soon as it arrives; a worker that dies loses what it was doing,
which the scheduler gives to another one.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address
from itertools import islice
from typing import TYPE_CHECKING, Any

from ccperf import __version__
from ccperf.base.process import cores
from ccperf.base.wording import counted
from ccperf.campaign.executor import JobProgress, Stopped
from ccperf.campaign.outcome import Failed, attempt
from ccperf.errors import RunError, UsageError
from ccperf.runs import backends
from ccperf.runs.sources import sources_hash

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as Task
    from typing_extensions import Self

    from ccperf.campaign.job import Job
    from ccperf.runs.backends import Backend
    from ccperf.store.packing import PackedRun

#: A task is to take about so long: what a task costs beside its runs, some milliseconds, is then
#: little, and what a dead worker loses is little, too.
_TASK_S = 0.5
_MOST_JOBS = 64
#: Tasks that are handed out for each core: one runs, the others wait there already.
_TASKS_A_CORE = 3
#: How long to wait for a scheduler to answer, and for it to have a worker.
_PATIENCE_S = 30.0
#: What a connection that fails ends with: Dask passes on some, and wraps others into its own.
_NO_ANSWER = (Exception, asyncio.CancelledError)
#: The schemes of `--on`, and the one that Dask has for each.
_SCHEMES = {"dask": "tcp", "dask+tls": "tls", "tls": "tls"}
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9])?")


@dataclass(frozen=True)
class Software:
    """What makes runs somewhere: what has to be the same everywhere."""

    ccperf: str
    engine: str
    backend: str

    @classmethod
    def here(cls, backend: str) -> Software:
        """That of this process; the backend's version says what is missing if it cannot be used."""
        one = backends.get(backend)
        missing = one.available()
        shown = f"{backend} missing: {missing}" if missing else f"{backend} {one.version}"
        return cls(__version__, sources_hash(), shown)

    def __str__(self) -> str:
        return f"ccperf {self.ccperf}, engine {self.engine[:12]}, {self.backend}"


class Differs(RunError):
    """A worker has another version than who asks."""


def _perform(jobs: Sequence[Job], wanted: Software) -> tuple[float, list[PackedRun | Failed]]:
    """On a worker: make some runs; the seconds that they took, and what came of each."""
    here = Software.here(jobs[0].backend)
    if here != wanted:
        raise Differs(f"a worker has {here}; this is {wanted}")
    started = time.perf_counter()
    outcomes = [attempt(job) for job in jobs]
    return time.perf_counter() - started, outcomes


class Cluster:
    """A scheduler with workers that can make our runs; a context manager.

    ``dask`` starts one on this machine with `workers` processes (default: one a core);
    ``dask://HOST:PORT`` names a scheduler, ``tls://HOST:PORT`` one that asks for the credentials
    of Dask's configuration.
    """

    def __init__(self, where: str, backend: Backend, workers: int | None = None) -> None:
        """Connect, and look at all workers before the first run.

        Raises:
            UsageError: if Dask is not installed, nobody answers, there are no workers, or one of
                them has another version or engine.
        """
        try:
            import distributed
        except ImportError:
            raise _not_installed() from None
        _silence()
        self.where = where
        self.software = Software.here(backend.name)
        self._local: Any = None
        address = _address(where)
        if address is None:
            self._local = _started(workers or cores())
        elif workers:
            message = f"is for workers that are started here; {where} has its own: leave it out"
            raise UsageError("--jobs", message)
        try:
            self.client: Client = distributed.Client(
                address or self._local,
                timeout=_PATIENCE_S,
                set_as_default=False,
                security=None if address is None else distributed.Security(),
            )
        except _NO_ANSWER as error:
            self._close_local()
            message = f"no scheduler answers at {address or 'this machine'}: {_said(error)}"
            raise UsageError("--on", message) from None
        try:
            self._check_workers()
        except BaseException:
            self.close()
            raise

    def _check_workers(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=_PATIENCE_S)
        except (TimeoutError, asyncio.TimeoutError):  # one and the same since Python 3.11
            message = f"the scheduler at {self.where} has no workers; start some and repeat this"
            raise UsageError("--on", message) from None
        except _NO_ANSWER as error:
            message = f"the scheduler at {self.where} went away: {_said(error)}"
            raise UsageError("--on", message) from None
        try:
            found: dict[str, Software] = self.client.run(
                Software.here, self.software.backend.split()[0]
            )
        except _NO_ANSWER as error:
            raise UsageError(
                "--on",
                f"a worker cannot run ccperf ({type(error).__name__}: {_said(error)}); install "
                f"the wheel of ccperf {__version__} where it runs",
            ) from None
        others = {at: software for at, software in found.items() if software != self.software}
        if others:
            at, software = next(iter(others.items()))
            raise UsageError(
                "--on",
                f"{len(others)} of {counted(len(found), 'worker')} with other software; at {at} "
                f"it is {software}, and this is {self.software}. Install the same wheel there and "
                "start the workers again",
            )

    @property
    def cores(self) -> int:
        """How many runs it can make at a time, at present."""
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def executor(self, progress: JobProgress) -> DaskExecutor:
        """What makes runs there."""
        return DaskExecutor(self, progress)

    def close(self) -> None:
        """Leave; a cluster started here ends."""
        with suppress(Exception):
            self.client.close(timeout=1)
        self._close_local()

    def _close_local(self) -> None:
        if self._local is not None:
            with suppress(Exception):
                self._local.close(timeout=_PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _not_installed() -> UsageError:
    return UsageError("--on", "needs Dask: pip install 'ccperf[dask]'")


def _silence() -> None:
    """What goes wrong is said by us, once: each of Dask's loggers has a level of its own."""
    spoken = ("distributed", "tornado", "asyncio")
    for name in {*spoken, *logging.root.manager.loggerDict}:
        if name.partition(".")[0] in spoken:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _started(workers: int) -> Any:
    """A cluster of this machine."""
    from ccperf.campaign.dask_here import DaskHere

    try:
        return DaskHere(workers)
    except ImportError:
        raise _not_installed() from None
    except _NO_ANSWER as error:
        message = f"a scheduler cannot be started on this machine: {_said(error)}"
        raise UsageError("--on", message) from None


def _address(where: str) -> str | None:
    """Of the scheduler, in Dask's form; None: one is to be started here.

    What Dask's configuration says of encryption holds for every scheduler.
    """
    import dask

    if where == "dask":
        return None
    scheme, separator, place = where.partition("://")
    host, _, port = place.rpartition(":")
    if scheme not in _SCHEMES or not separator or not _is_host(host) or not _is_port(port):
        message = f"`{where}` is not dask, dask://HOST:PORT or tls://HOST:PORT"
        raise UsageError("--on", message)
    settings = "distributed.comm"
    if _SCHEMES[scheme] == "tcp" and not dask.config.get(f"{settings}.require-encryption"):
        return f"tcp://{place}"
    names = ("ca-file", "client.cert")
    absent = [name for name in names if not dask.config.get(f"{settings}.tls.{name}")]
    if absent:
        lacks = " and ".join(f"{settings}.tls.{name}" for name in absent)
        message = f"`{where}` needs credentials: Dask's configuration lacks {lacks}"
        raise UsageError("--on", f"{message} (docs/cluster.md)")
    return f"tls://{place}"


def _is_host(text: str) -> bool:
    """Whether this is a name, or an IPv6 address in brackets."""
    if not text.startswith("["):
        return _HOST.fullmatch(text) is not None
    try:
        return text.endswith("]") and bool(IPv6Address(text[1:-1]))
    except ValueError:
        return False


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) <= 65535


def _said(error: BaseException) -> str:
    """What an error says in one line."""
    text = " ".join(str(error).split())
    return text or type(error).__name__


def _killed(error: Any) -> RunError:
    """What Dask says of a task whose workers all died."""
    times = error.allowed_failures + 1
    return RunError(
        f"each of {counted(times, 'worker')} died that made it: killed, or out of memory; its log "
        "may say why, and the same command tries again (docs/cluster.md#preempted-jobs)"
    )


class DaskExecutor:
    """Makes runs on a cluster, in tasks of several where they are short."""

    #: Enough for the tasks that cores have at hand, of as many runs as a task may have.
    room = 1024

    def __init__(self, cluster: Cluster, progress: JobProgress | None = None) -> None:
        self._cluster = cluster
        self._progress = progress
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Job, Future[PackedRun]]] = deque()
        #: Those that no worker survived together: one of them may be the reason.
        self._suspects: deque[tuple[Job, Future[PackedRun]]] = deque()
        self._tasks: dict[str, tuple[Task, list[tuple[Job, Future[PackedRun]]]]] = {}
        self._stopped = False
        #: Runs that came back, and the seconds that they took on a worker.
        self._made = 0
        self._seconds = 0.0

    def submit(self, job: Job) -> Future[PackedRun]:
        """Make a run as soon as a worker has room."""
        future: Future[PackedRun] = Future()
        with self._lock:
            self._waiting.append((job, future))
        self._hand_out()
        return future

    def _hand_out(self) -> None:
        """Give workers what they can have."""
        try:
            with self._lock:
                while not self._stopped:
                    queue = self._suspects or self._waiting
                    if not queue or not self._has_room():
                        break
                    count = self._jobs_a_task() if queue is self._waiting else 1
                    batch = list(islice(queue, count))
                    jobs = [job for job, _ in batch]
                    task = self._cluster.client.submit(
                        _perform, jobs, self._cluster.software, pure=False
                    )
                    task.add_done_callback(self._collect)
                    # Not before: runs that wait are given an error when the connection is lost.
                    for _ in batch:
                        queue.popleft()
                    self._tasks[task.key] = (task, batch)
        except Exception as error:  # a lost connection shows as one of many kinds
            self._abandon(self._gone(error))

    def _has_room(self) -> bool:
        return len(self._tasks) < _TASKS_A_CORE * self._cluster.cores

    def _jobs_a_task(self) -> int:
        """As many as take about half a second, and not more than leaves some for everybody."""
        if not self._made:
            return 1
        fit = round(_TASK_S / max(self._seconds / self._made, 1e-4))
        share = len(self._waiting) // (2 * self._cluster.cores)
        return max(1, min(fit, share, _MOST_JOBS))

    def _collect(self, task: Task) -> None:
        """A task has ended: in a thread of Dask's."""
        with self._lock:
            _, batch = self._tasks.pop(task.key, (None, []))
        try:
            seconds, outcomes = task.result()
        except BaseException as error:  # cancelled ones are no Exception
            self._fail(batch, error)
        else:
            with self._lock:
                self._made += len(outcomes)
                self._seconds += seconds
            for (_, future), outcome in zip(batch, outcomes, strict=True):
                if isinstance(outcome, Failed):
                    future.set_exception(outcome.error())
                else:
                    future.set_result(outcome)
        self._hand_out()

    def _fail(self, batch: Sequence[tuple[Job, Future[PackedRun]]], error: BaseException) -> None:
        if self._stopped:
            error = Stopped()
        elif self._is_of_the_connection(error):
            error = self._gone(error)
            self._abandon(error)
        elif type(error).__name__ == "KilledWorker":
            if len(batch) > 1:
                with self._lock:
                    self._suspects += batch
                return
            error = _killed(error)
        elif not isinstance(error, RunError):
            error = RunError(f"{type(error).__name__}: {error}")
        for _, future in batch:
            future.set_exception(error)

    def _is_of_the_connection(self, error: BaseException) -> bool:
        """What a run raises comes back as an outcome; the client may not have noticed yet."""
        is_lost = isinstance(error, OSError) or "Cancelled" in type(error).__name__
        return is_lost or self._cluster.client.status != "running"

    def _gone(self, cause: BaseException) -> RunError:
        error = RunError(
            f"the scheduler at {self._cluster.where} went away; what was finished is stored: "
            "start it again, and the same command makes the rest"
        )
        error.__cause__ = cause
        return error

    def _abandon(self, error: BaseException) -> None:
        """Nobody is left to make the runs that wait."""
        with self._lock:
            waiting = [*self._suspects, *self._waiting]
            self._suspects.clear()
            self._waiting.clear()
        for _, future in waiting:
            future.set_exception(error)

    def stop(self) -> None:
        """Hand out nothing more, and take back what no worker has begun."""
        with self._lock:
            self._stopped = True
            tasks = [task for task, _ in self._tasks.values()]
        self._abandon(Stopped())
        with suppress(Exception):
            self._cluster.client.cancel(tasks)

    def close(self) -> None:
        """Stop; a worker ends what it has begun, and nobody waits for it."""
        self.stop()
