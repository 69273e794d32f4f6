"""A process that stands ready for runs with user code: it has imported what they need, and forks.

To start Python and import takes a tenth of a second, more than most runs. This process does it once
and never sees user code: for each run it forks a child, which becomes what a process of its own
would have been (:mod:`ccperf.backends.keeper` and the worker below it), and so shares nothing with
other runs but what was imported before. When it is gone, whoever asks next starts another one.
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
from typing import IO, Any, NoReturn

#: Seconds within which it says how a child ended whose end is certain.
PATIENCE_S = 5.0
_LENGTH = struct.Struct("=Q")
_STATUS = struct.Struct("=i")
#: What a child gets: its standard input and its standard error. The last one is where its end is
#: told; it is this process's.
_FILES = 3
#: Python puts the folder that it is called in first in its path; what is run is found elsewhere.
_START = f"""
import sys
sys.path[:] = sys.argv[1].split({os.pathsep!r})
from ccperf.base import startup
startup.lightly()
from {__name__} import main
main()
"""


class Gone(OSError):
    """It does not answer."""


class Child:
    """One of its children, as :class:`subprocess.Popen` shows a process."""

    def __init__(self, warm: Warm, pid: int, stdin: IO[bytes], told: socket.socket) -> None:
        self.pid = pid
        #: The child ends when this is closed.
        self.stdin = stdin
        self._warm = warm
        self._told = told
        self._status: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """How it ended; raises `subprocess.TimeoutExpired`. A negative number is a signal's."""
        if self._status is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("user code", timeout or 0.0)
            said = self._told.recv(_STATUS.size)
            # Where nobody is left to say it, its own keeper ends it, when its input is closed.
            self._status = _STATUS.unpack(said)[0] if said else -signal.SIGKILL
            self._told.close()
        return self._status

    def bury(self) -> None:
        """Wait for the end of one that was killed; if nobody tells, it is the process above."""
        try:
            self.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._warm.kill()
            self._told.close()


class Warm:
    """The process, seen from who asks for runs; any thread may."""

    def __init__(self, path: Sequence[str]) -> None:
        """Start it; it takes requests at once. `path` is where it imports from."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, os.pathsep.join(path)],
                stdin=theirs.fileno(),
                stdout=2,
                env={**os.environ, "PYTHONHASHSEED": "0"},
                start_new_session=True,  # Ctrl-C in a terminal is for who started it
            )
        self._control = ours
        self._lock = threading.Lock()

    def fork(self, folder: str, environment: Mapping[str, str]) -> Child:
        """A child that does the job in `folder`. Raises :class:`Gone`."""
        request = {"folder": folder, "environment": dict(environment), "here": os.getcwd()}
        body = json.dumps(request).encode()
        told, teller = socket.socketpair()
        readable, writable = os.pipe()
        try:
            with self._lock:
                files = [readable, 2, teller.fileno()]
                socket.send_fds(self._control, [_LENGTH.pack(len(body))], files)
                self._control.sendall(body)
            teller.close()
            said = told.recv(_STATUS.size)
            if not said:
                raise Gone("it has ended")
        except OSError as error:
            told.close()
            os.close(writable)
            raise error if isinstance(error, Gone) else Gone(str(error)) from None
        finally:
            teller.close()
            os.close(readable)
        return Child(self, _STATUS.unpack(said)[0], os.fdopen(writable, "wb"), told)

    def kill(self) -> None:
        """End it; its children end when their inputs are closed."""
        self._process.kill()
        self._process.wait()
        with self._lock:
            self._control.close()


_warm: Warm | None = None
_one_at_a_time = threading.Lock()


def fork(path: Sequence[str], folder: str, environment: Mapping[str, str]) -> Child:
    """A child of the process that stands ready, of a new one where there is none any more."""
    global _warm
    with _one_at_a_time:
        for _ in range(2):
            _warm = _warm or Warm(path)
            try:
                return _warm.fork(folder, environment)
            except Gone:
                _warm.kill()
                _warm = None
        return Warm(path).fork(folder, environment)


def main() -> NoReturn:
    """Fork for each request, until nobody asks any more."""
    # What a run will need, user code excepted; before any is near.
    from ccperf.runs.backends import keeper, worker  # noqa: F401

    control = socket.socket(fileno=os.dup(0))
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # nothing of this is garbage, and to look at it would copy it
    children: dict[int, socket.socket] = {}
    while True:
        readable, _, _ = select.select([control.fileno(), woken], [], [])
        if woken in readable:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, 4096)
            _tell(children)
        if control.fileno() in readable:
            files, request = _received(control)
            pid = os.fork()
            if pid == 0:
                for each in (control, *children.values()):
                    each.close()
                os.close(woken)
                os.close(wake)
                _become(files, request)
            for file in files[:-1]:
                os.close(file)
            children[pid] = socket.socket(fileno=files[-1])
            children[pid].send(_STATUS.pack(pid))


def _received(control: socket.socket) -> tuple[list[int], dict[str, Any]]:
    head, files, _, _ = socket.recv_fds(control, _LENGTH.size, _FILES)
    if not head:
        os._exit(0)
    (length,) = _LENGTH.unpack(head)
    body = bytearray()
    while len(body) < length:
        if not (part := control.recv(length - len(body))):
            os._exit(0)
        body += part
    return files, json.loads(body)


def _tell(children: dict[int, socket.socket]) -> None:
    """Say of each child that has ended how it did."""
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with children.pop(pid) as told, contextlib.suppress(OSError):
            told.send(_STATUS.pack(os.waitstatus_to_exitcode(status)))


def _become(files: Sequence[int], request: Mapping[str, Any]) -> NoReturn:
    """Be a process for one run, as if it had been started for it."""
    from ccperf.runs.backends.keeper import keep

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    stdin, stderr, teller = files
    os.dup2(stdin, 0)
    for standard in (1, 2):  # what user code prints is not a result
        os.dup2(stderr, standard)
    for file in (stdin, stderr, teller):
        os.close(file)
    with contextlib.suppress(OSError):
        os.chdir(request["here"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv.append(request["folder"])
    _shake()

    def work() -> None:
        from ccperf.runs.backends.worker import start

        start(request["folder"])

    keep(work)


#: What keeps its place until the process ends.
_moved: list[object] = []


def _shake() -> None:
    """Put what comes later at other addresses than in the last child, and draw other numbers.

    An algorithm that depends on either does not repeat; with the same for all children nobody would
    notice.
    """
    chance = random.SystemRandom()
    for size in (16, 32, 48, 64, 96, 128, 256, 512, 1 << 16):
        _moved.extend(bytearray(size) for _ in range(chance.randrange(1, 64)))
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
