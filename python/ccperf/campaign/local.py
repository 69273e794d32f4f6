"""Runs on this machine, side by side: in threads, or where they are many in processes."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TYPE_CHECKING

from ccperf.base.interruption import patience_s
from ccperf.base.process import cores
from ccperf.campaign.executor import JobProgress, Stopped
from ccperf.campaign.job import Job, perform
from ccperf.campaign.process import Died, Process

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from ccperf.runs.backends import Backend
    from ccperf.store.packing import PackedRun

#: So many runs are worth processes of their own: each takes some 0.3 s to start.
MANY = 64


class Processes:
    """Processes that make runs, kept for the next campaign of a command; a context manager."""

    def __init__(self) -> None:
        self._idle: list[Process] = []
        self._lock = threading.Lock()

    def take(self) -> Process:
        """One that is idle, or a new one."""
        with self._lock:
            return self._idle.pop() if self._idle else Process()

    def give(self, process: Process) -> None:
        """Have one back that is idle."""
        with self._lock:
            self._idle.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._idle:
            with suppress(OSError):
                self._idle.pop().kill()


class LocalExecutor:
    """Makes `jobs` runs at a time (default: one per core) on one backend.

    Each is made by a thread.  With `processes` it has one of these make it, but for user code,
    which has one of its own anyway: the backend has to be one that its name stands for.
    """

    def __init__(
        self,
        backend: Backend,
        jobs: int | None = None,
        progress: JobProgress | None = None,
        *,
        processes: Processes | None = None,
    ) -> None:
        self._backend = backend
        self._progress = progress
        self._stopped = threading.Event()
        jobs = jobs or cores()
        #: So many runs are handed in ahead: each holds its scenario.
        self.room = 4 * jobs
        self._jobs = jobs
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="ccperf-run")
        #: Those that have not ended. One that has holds its run.
        self._futures: set[Future[PackedRun]] = set()
        self._kept = processes if jobs > 1 else None
        self._own = threading.local()
        self._processes: list[Process] = []

    def submit(self, job: Job) -> Future[PackedRun]:
        """Make a run as soon as a thread is free."""
        future = self._threads.submit(self._perform, job)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def _perform(self, job: Job) -> PackedRun:
        def advance(fraction: float) -> None:
            if self._stopped.is_set():
                raise Stopped
            if self._progress:
                self._progress(job.id, fraction)

        # Also where a backend never reports progress, no further run starts.
        advance(0.0)
        if job.user_code:
            from ccperf.runs.backends import sandbox

            sandbox.share_memory(self._jobs)
        if self._kept is None or job.user_code:
            return perform(job, advance, self._backend)
        try:
            return self._made_by_process(self._kept, job, advance)
        except Died:
            if self._stopped.is_set():
                raise Stopped from None
            # Whatever ended it may have been no fault of the run's; if it was, that is its end.
            return self._made_by_process(self._kept, job, advance)

    def _made_by_process(
        self, kept: Processes, job: Job, advance: Callable[[float], None]
    ) -> PackedRun:
        from ccperf.campaign.outcome import Failed

        process: Process | None = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = kept.take()
            self._processes.append(process)
        try:
            outcome = process.make(job, advance)
        except BaseException:
            # The next run must not read what is left of this one.
            self._own.process = None
            self._processes.remove(process)
            process.kill()
            raise
        if isinstance(outcome, Failed):
            raise outcome.error()
        return outcome

    def stop(self) -> None:
        """End the runs under way: those of processes now, others at their next progress."""
        self._stopped.set()
        for process in list(self._processes):
            with suppress(OSError):
                process.kill()

    def close(self) -> None:
        """Stop, and wait for the runs under way, but not long: what they make is not wanted."""
        if self._kept and not self._futures and not self._stopped.is_set():
            for process in self._processes:
                self._kept.give(process)
            self._processes.clear()
        self.stop()
        begun = list(self._futures)
        self._threads.shutdown(wait=False, cancel_futures=True)
        # Of those that have not begun, nobody would ever say that they are done.
        wait([future for future in begun if not future.cancelled()], timeout=patience_s())
