"""Runs on this machine: a thread for each, since engine and ns-3 leave Python alone meanwhile."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from ccperf.backends import sandbox
from ccperf.campaign.executor import JobProgress, Stopped
from ccperf.campaign.job import Job, perform
from ccperf.interruption import PATIENCE_S

if TYPE_CHECKING:
    from ccperf.backends import Backend
    from ccperf.store.packing import PackedRun


class LocalExecutor:
    """Makes `jobs` runs at a time (default: one per core) on one backend."""

    def __init__(
        self, backend: Backend, jobs: int | None = None, progress: JobProgress | None = None
    ) -> None:
        self._backend = backend
        self._progress = progress
        self._stopped = threading.Event()
        jobs = jobs or cores()
        sandbox.share_memory(jobs)
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="ccperf-run")
        self._futures: list[Future[PackedRun]] = []

    def submit(self, job: Job) -> Future[PackedRun]:
        """Make a run as soon as a thread is free."""
        self._futures.append(self._threads.submit(self._perform, job))
        return self._futures[-1]

    def _perform(self, job: Job) -> PackedRun:
        def advance(fraction: float) -> None:
            if self._stopped.is_set():
                raise Stopped
            if self._progress:
                self._progress(job.id, fraction)

        # Also where a backend never reports progress, no further run starts.
        advance(0.0)
        return perform(job, advance, self._backend)

    def stop(self) -> None:
        """End the runs under way at their next report of progress."""
        self._stopped.set()

    def close(self) -> None:
        """Stop, and wait for the runs under way, but not long: what they make is not wanted."""
        self.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)
        wait(self._futures, timeout=PATIENCE_S)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
