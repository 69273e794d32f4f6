"""Real schedulers and workers of Dask, each a process of its own, over TCP on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from distributed import Security

from ccperf.campaign import Point
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.store import Store
from user_scenarios import environment


class Processes:
    """A scheduler and its workers, to be killed one by one."""

    def __init__(self, folder: Path, protocol: str = "tcp") -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        nothing = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        local = ("--host", "127.0.0.1", "--port", "0", "--protocol", protocol, *nothing)
        self.scheduler = self._start("scheduler", *local, "--scheduler-file", str(self._file))
        deadline = time.monotonic() + 60
        while not self._file.exists() or not self._file.read_text():
            assert time.monotonic() < deadline
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        self._address = json.loads(self._file.read_text())["address"]
        self.address = self._address.replace("tcp://", "dask://")

    def add_worker(self) -> subprocess.Popen[bytes]:
        """One without a nanny, which would start it again."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        folder = ("--local-directory", str(self._folder))
        self.workers.append(self._start("worker", self._address, *options, *folder))
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


def credentials(folder: Path) -> dict[str, str]:
    """Settings of Dask that name new credentials in a folder, of all roles alike."""
    made = Security.temporary()
    names = {"ca-file": made.tls_ca_file}
    for role in ("scheduler", "worker", "client"):
        names[f"{role}.cert"] = made.tls_client_cert
        names[f"{role}.key"] = made.tls_client_key
    for name, text in names.items():
        (folder / name).write_text(text)
    return {f"distributed.comm.tls.{name}": str(folder / name) for name in names}


@contextlib.contextmanager
def in_the_middle(database: Path, act: Callable[[], None]) -> Iterator[None]:
    """Call `act` when a campaign inside has stored some runs; never, if it ends before."""
    is_over = threading.Event()

    def wait() -> None:
        with Store(database, "r") as seen:
            while len(seen.ids()) < 5:
                if is_over.wait(0.01):
                    return
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(timeout=30)


@contextlib.contextmanager
def processes(folder: Path, workers: int = 2, protocol: str = "tcp") -> Iterator[Processes]:
    """A scheduler with so many workers of one core; they are gone at the end."""
    made = Processes(folder, protocol)
    try:
        for _ in range(workers):
            made.add_worker()
        yield made
    finally:
        for process in (*made.workers, made.scheduler):
            made.kill(process)


def point(rate: str, cc: str = "TcpCubic") -> Point:
    """A short run."""
    return Point(dumbbell(rate=rate, rtts="15ms", qlen="20p", cc=cc, stop_time="2s"))


def points(count: int) -> list[Point]:
    """So many different ones."""
    return [point(f"{4 + i}Mbps") for i in range(count)]
