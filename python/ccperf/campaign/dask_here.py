"""A Dask cluster of this machine that nobody else can use.

Loopback belongs to all users of a machine, and a scheduler of Dask runs what it is sent. So all of
its connections are encrypted, with credentials that are made for this cluster, stay in memory and
are asked for on both sides. Dask's HTTP servers, which know no credentials, are not started.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

import dask
import distributed.core
from distributed import Nanny, Scheduler, Security, SpecCluster, Worker

from ccperf.base.folders import Temporary

#: What Dask would otherwise spend some milliseconds a run on: it looks at every worker's stack a
#: hundred times a second, and at its memory twice.
_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.heartbeat-interval": "5s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
}

_SEMAPHORES = "ignore:resource_tracker:UserWarning"


class _Scheduler(Scheduler):  # type: ignore[misc]
    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Nobody looks at it."""


class _Worker(Worker):  # type: ignore[misc]
    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Nobody looks at it."""


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """What is started meanwhile never sees Ctrl-C, which a terminal sends to all: this process ends
    its workers. A worker would show a traceback each.

    Nor does what deletes the semaphores of processes speak of those that it deletes.
    """
    sys.warnoptions.append(_SEMAPHORES)
    resource_tracker.ensure_running()
    sys.warnoptions.remove(_SEMAPHORES)
    # Another thread takes what comes meanwhile (`ccperf.base.interruption`).
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class DaskHere(SpecCluster):  # type: ignore[misc]
    """A scheduler in this process and `workers` processes of one core."""

    def __init__(self, workers: int) -> None:
        """Start it. Raises ImportError where what makes credentials is not installed."""
        security = Security.temporary()
        end = {"host": "127.0.0.1", "protocol": "tls://", "security": security}
        # Dask's own folder could be somebody else's, who is first to make it.
        self._folder = Temporary("dask-")
        worker = {
            "cls": Nanny,
            "options": {
                **end,
                "worker_class": _Worker,
                "nthreads": 1,
                "local_directory": self._folder.name,
                "silence_logs": logging.CRITICAL,
            },
        }
        # The processes started here inherit it.
        settings = {**_QUIET, "temporary-directory": self._folder.name}
        with _without_interrupts(), dask.config.set(settings):
            super().__init__(
                scheduler={"cls": _Scheduler, "options": {**end, "port": 0, "dashboard": False}},
                workers=dict.fromkeys(range(workers), worker),
                worker=worker,
                security=security,
                silence_logs=logging.CRITICAL,
            )

    def close(self, timeout: float | None = None) -> Any:
        """End all of it; its thread and its folder also where something did not end in time."""
        try:
            return super().close(timeout)
        finally:
            self._loop_runner.stop()
            self._folder.cleanup()
            # Dask remembers which handlers want a connection by a cache that keeps their scheduler.
            if hasattr(distributed.core, "_expects_comm"):
                distributed.core._expects_comm.cache_clear()
