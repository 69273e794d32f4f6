"""Processes that stand ready for runs with user code: they have imported what these need, and fork.

To start Python and import takes a tenth of a second, more than most runs. Such a process does it
once and never sees user code: for each run, one at a time, it forks a child that does it, and ends
what that has left (`ccperf.runs.backends.keeper`). So runs share nothing but what was imported
before. When it is gone, whoever asks next starts another one.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

#: What is said before a request, and to end the run that is under way.
_RUN, _STOP = b"r", b"s"
_LENGTH = struct.Struct("=Q")
_STATUS = struct.Struct("=i")
#: Python puts the folder that it is called in first in its path; what is run is found elsewhere.
_START = f"""
import sys
sys.path[:] = sys.argv[1].split({os.pathsep!r})
from ccperf.base import process
process.start_lightly()
from {__name__} import main
main()
"""

#: Those that are between two runs.
_idle: list[Warm] = []
_lock = threading.Lock()


class Gone(OSError):
    """It does not answer."""


class Warm:
    """One of them, seen from who asks for runs."""

    def __init__(self, path: Sequence[str]) -> None:
        """Start it; it takes requests at once. `path` is where it imports from."""
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, os.pathsep.join(path)],
                stdin=theirs.fileno(),
                stdout=2,
                env={**os.environ, "PYTHONHASHSEED": "0"},
                start_new_session=True,  # Ctrl-C in a terminal is for who started it
            )

    def run(self, folder: str, environment: Mapping[str, str]) -> Run:
        """Do the job in `folder`. Raises :class:`Gone`."""
        request = {"folder": folder, "environment": dict(environment), "here": os.getcwd()}
        body = json.dumps(request).encode()
        try:
            socket.send_fds(self._control, [_RUN], [2])
            self._control.sendall(_LENGTH.pack(len(body)) + body)
        except OSError as error:
            raise Gone(str(error)) from None
        return Run(self)

    def stop(self) -> None:
        """End the run that is under way."""
        with contextlib.suppress(OSError):
            self._control.send(_STOP)

    def status(self, timeout: float | None) -> int | None:
        """How the run ended, a negative number a signal's; None where it has not yet."""
        ready = select.poll()  # `select` takes no file from 1024 on
        ready.register(self._control, select.POLLIN)
        if not ready.poll(None if timeout is None else 1000 * timeout):
            return None
        said = self._control.recv(_STATUS.size)
        if said:
            with _lock:
                _idle.append(self)
            return int(_STATUS.unpack(said)[0])
        self.kill()
        return -signal.SIGKILL

    def kill(self) -> None:
        """End it, and with it what it runs."""
        self._process.kill()
        self._process.wait()
        self._control.close()


class Run:
    """A run of one of them, as :class:`subprocess.Popen` shows a process."""

    def __init__(self, warm: Warm) -> None:
        self._warm = warm
        self._status: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """How it ended; raises `subprocess.TimeoutExpired`."""
        if self._status is None:
            self._status = self._warm.status(timeout)
        if self._status is None:
            raise subprocess.TimeoutExpired("user code", timeout or 0.0)
        return self._status

    def end(self, patience: float) -> None:
        """End it with all that it has left, if it has not ended."""
        if self._status is not None:
            return
        self._warm.stop()
        try:
            self.wait(patience)
        except subprocess.TimeoutExpired:
            self._warm.kill()


def run(path: Sequence[str], folder: str, environment: Mapping[str, str]) -> Run:
    """Let one that is idle do the job in `folder`, or a new one where there is none."""
    while True:
        with _lock:
            warm = _idle.pop() if _idle else None
        if warm is None:
            return Warm(path).run(folder, environment)
        try:
            return warm.run(folder, environment)
        except Gone:
            warm.kill()


def main() -> NoReturn:
    """Make one run after another, until nobody asks any more."""
    # What a run will need, user code excepted; before any is near.
    from ccperf.runs.backends import worker  # noqa: F401
    from ccperf.runs.backends.keeper import Keeper

    keeper = Keeper()
    gc.freeze()  # nothing of this is garbage, and to look at it would copy it
    # It is the standard input, which a child gives up first of all.
    control = socket.socket(fileno=0)
    while True:
        try:
            word, files, _, _ = socket.recv_fds(control, len(_RUN), 1)
        except ConnectionError:  # who asked was killed
            os._exit(0)
        if not word:
            os._exit(0)
        if word == _STOP:  # a run that had just ended
            continue
        (length,) = _LENGTH.unpack(_received(control, _LENGTH.size))
        request = json.loads(_received(control, length))
        status = keeper.keep(partial(_work, request, files[0]), control.fileno())
        os.close(files[0])
        with contextlib.suppress(OSError):
            control.send(_STATUS.pack(os.waitstatus_to_exitcode(status)))


def _received(control: socket.socket, length: int) -> bytes:
    body = bytearray()
    while len(body) < length:
        if not (part := control.recv(length - len(body))):
            os._exit(0)
        body += part
    return bytes(body)


def _work(request: Mapping[str, Any], stderr: int) -> NoReturn:
    """Be a process for one run, as if it had been started for it."""
    from ccperf.runs.backends.worker import start

    for standard in (1, 2):  # what user code prints is not a result
        os.dup2(stderr, standard)
    os.close(stderr)
    with contextlib.suppress(OSError):
        os.chdir(request["here"])
    if os.environ != request["environment"]:
        os.environ.clear()
        os.environ.update(request["environment"])
    sys.argv.append(request["folder"])
    _shake()
    start(request["folder"])


#: What keeps its place until the process ends.
_moved: list[object] = []


def _shake() -> None:
    """Put what comes later at other addresses than in the run before, and draw other numbers.

    An algorithm that depends on either does not repeat; with the same for all runs nobody would
    notice.
    """
    chance = random.SystemRandom()
    # None is large: each page that is written costs the process more than a microsecond.
    for size in (16, 32, 48, 64, 96, 128, 256, 512, 1 << 12):
        _moved.extend(bytearray(size) for _ in range(chance.randrange(1, 32)))
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
