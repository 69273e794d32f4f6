"""A Dask cluster of this machine that nobody else can use.

Loopback belongs to all users of a machine, and a scheduler of Dask runs what it is sent. So all of
its connections are encrypted, with credentials that are made for this cluster, stay in memory and
are asked for on both sides. Dask's HTTP servers, which know no credentials, are not started.
"""

from __future__ import annotations

import logging
from tempfile import TemporaryDirectory
from typing import Any

import dask
import distributed.core
from distributed import Nanny, Scheduler, Security, SpecCluster, Worker

#: What Dask would otherwise spend some milliseconds a run on: it looks at every worker's stack a
#: hundred times a second, and at its memory twice.
_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.heartbeat-interval": "5s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
}


class _Scheduler(Scheduler):  # type: ignore[misc]
    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Nobody looks at it."""


class _Worker(Worker):  # type: ignore[misc]
    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Nobody looks at it."""


class DaskHere(SpecCluster):  # type: ignore[misc]
    """A scheduler in this process and `workers` processes of one core."""

    def __init__(self, workers: int) -> None:
        """Start it. Raises ImportError where what makes credentials is not installed."""
        security = Security.temporary()
        end = {"host": "127.0.0.1", "protocol": "tls://", "security": security}
        # Dask's own folder could be somebody else's, who is first to make it.
        self._folder = TemporaryDirectory(prefix="ccperf-dask-")
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
        with dask.config.set({**_QUIET, "temporary-directory": self._folder.name}):
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
