"""Real schedulers and workers of Dask, each a process of its own, over TCP on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from user_scenarios import environment


class Processes:
    """A scheduler and its workers, to be killed one by one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        local = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.scheduler = self._start("scheduler", *local, "--scheduler-file", str(self._file))
        deadline = time.monotonic() + 60
        while not self._file.exists() or not self._file.read_text():
            assert time.monotonic() < deadline
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        tcp = json.loads(self._file.read_text())["address"]
        self.address = tcp.replace("tcp://", "dask://")

    def add_worker(self) -> subprocess.Popen[bytes]:
        """One without a nanny, which would start it again."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        tcp = self.address.replace("dask://", "tcp://")
        folder = ("--local-directory", str(self._folder))
        self.workers.append(self._start("worker", tcp, *options, *folder))
        return self.workers[-1]

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{words[0]}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:]],
                stdout=log,
                stderr=log,
                env=environment(),
                start_new_session=True,
            )

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Not to be caught."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def processes(folder: Path, workers: int = 2) -> Iterator[Processes]:
    """A scheduler with so many workers of one core; they are gone at the end."""
    made = Processes(folder)
    try:
        for _ in range(workers):
            made.add_worker()
        yield made
    finally:
        for process in (*made.workers, made.scheduler):
            made.kill(process)
