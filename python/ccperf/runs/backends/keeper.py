"""The process between a run with user code and who asked for it: nothing of the run outlives it.

Children that user code leaves behind, in sessions of their own or without a parent, become this
process's (Linux: `PR_SET_CHILD_SUBREAPER`), and it ends them with the run. It ends all of them,
too, when it is told to, or its input is closed, as it is when whoever started it is gone. Elsewhere
than on Linux only the run's own session is ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import NoReturn

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
#: Found once, not in each child.
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
#: So long those that are left may take to end.
PATIENCE_S = 5.0


def keep(work: Callable[[], object]) -> NoReturn:
    """Do `work` in a child, and end as it does, with all that it has left."""
    _end_as(Keeper().keep(work, stop=0))


class Keeper:
    """Keeps one piece of work after another; a process is one at most."""

    def __init__(self) -> None:
        """From now on what is left without a parent below this process is this one's."""
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator decides
        _control(_SET_CHILD_SUBREAPER, 1)

    def keep(self, work: Callable[[], object], stop: int) -> int:
        """Do `work` in a child, until it ends or something comes from the file `stop`.

        All that it has left has ended, too, when its status is returned, as `os.wait` says it.
        """
        child = os.fork()
        if child == 0:
            _become_child(self._woken, self._wake)
            work()
            os._exit(0)
        ready = select.poll()  # `select` takes no file from 1024 on
        ready.register(stop, select.POLLIN)
        ready.register(self._woken, select.POLLIN)
        status = None
        while status is None:
            readable = dict(ready.poll())
            if self._woken in readable:
                os.read(self._woken, 4096)
                status = _ended(child)
            if stop in readable:
                os.read(stop, 1)
                status = signal.SIGKILL
        _end_all(child)
        return status


def _become_child(*pipe: int) -> None:
    """Leave to the parent what is the parent's."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _control(_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()  # so that its children can be ended with it
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for file in (*pipe, null):
        os.close(file)


def _control(option: int, value: int) -> None:
    if _prctl:
        _prctl(option, value, 0, 0, 0)


def _ended(child: int) -> int | None:
    """The status of the child if it has ended; others are buried."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return signal.SIGKILL
        if pid == 0:
            return None
        if pid == child:
            return status


def _end_all(child: int) -> None:
    """End what is left, and what becomes ours by that, until there is nothing."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        for pid in _children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def _children() -> list[int]:
    """This process's, where the kernel tells."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _end_as(status: int) -> NoReturn:
    """End with the status that a child had."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(OSError):  # SIGKILL's cannot be set
            signal.signal(number, signal.SIG_DFL)
        _no_core()
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _no_core() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    keep(lambda: os.execv(sys.argv[1], sys.argv[1:]))
